"""Choices of players towards each other: banks they do not stake against, and banks they call at once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.chemin.collusion.money import Pair
from games.chemin.collusion.statistics import WITHIN, Answers, Scope, ask, more_often
from games.engine.chemin import Call, Phase
from games.models import Decider

COVERING: Final = tuple(call.value for call in Call if call.covers_the_bank)

# Answers of players who were asked to call or to stake against a bank. Decisions of the croupier
# are left out, because they show nothing about the player. The event of a pass comes first and says
# what was asked. Each player is asked once a coup to call and once to stake; a caller is not asked
# to stake. Banks are compared with banks of about the same amount, because fewer players stake
# against large ones.
CHOICES: Final = f"""
WITH answer AS (
    SELECT m.seat_id, m.tenure_id, m.kind, m.number,
        m.kind = 'make_call' OR m.kind = 'pass' AND m.events #>> '{{0,phase}}' = '{Phase.CALLS}' AS about_call,
        m.kind = 'make_call' AND m.call = ANY(%(covering)s::text[]) AS covers
    FROM games_cheminmove AS m
    WHERE m.at >= %(since)s AND m.at < %(until)s AND m.kind IN ('pass', 'make_call', 'lay_stake')
        AND m.decider = '{Decider.PLAYER}' AND m.round_id IS NOT NULL
), spoken AS (
    SELECT seat_id, tenure_id, count(*) FILTER (WHERE kind <> 'pass' OR NOT about_call) AS asked,
        count(*) FILTER (WHERE kind = 'pass' AND NOT about_call) AS let_go,
        min(number) FILTER (WHERE about_call) AS first_asked, min(number) FILTER (WHERE covers) AS first_covered
    FROM answer GROUP BY seat_id, tenure_id
), bank AS (
    SELECT s.player_id AS who, h.player_id AS towards, floor(ln(t.put_up) / ln(2))::int AS size, t.put_up,
        k.let_go, k.asked, k.first_asked, k.first_asked = k.first_covered AS at_once
    FROM spoken AS k
    JOIN games_cheminseat AS s ON s.id = k.seat_id
    JOIN games_chemintenure AS t ON t.id = k.tenure_id
    JOIN games_cheminseat AS h ON h.id = t.seat_id
    JOIN games_livetable AS l ON l.id = t.live_table_id
    JOIN players_player AS p ON p.id = s.player_id
    WHERE {WITHIN}
), pair AS (
    SELECT who, towards, size, sum(let_go)::bigint AS let_go, sum(asked)::bigint AS asked,
        count(*) FILTER (WHERE at_once) AS called, count(first_asked) AS to_call,
        coalesce(sum(put_up) FILTER (WHERE at_once), 0)::bigint AS bank_called,
        coalesce(sum(put_up) FILTER (WHERE NOT at_once OR at_once IS NULL), 0)::bigint AS bank_not_called
    FROM bank GROUP BY who, towards, size
), compared AS (
    SELECT pair.*, (sum(let_go) OVER same - let_go)::bigint AS let_go_elsewhere,
        (sum(asked) OVER same - asked)::bigint AS asked_elsewhere,
        (sum(called) OVER same - called)::bigint AS called_elsewhere,
        (sum(to_call) OVER same - to_call)::bigint AS to_call_elsewhere
    FROM pair WINDOW same AS (PARTITION BY who, size)
)
SELECT * FROM compared WHERE towards IS NOT NULL
"""  # noqa: S608  (nothing but names of our own)

PACE: Final = f"""
SELECT s.player_id AS who, coalesce(h.player_id = ANY(%(pair)s::bigint[]), false) AS is_other,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM m.at - m.asked_at)) AS median
FROM games_cheminmove AS m
JOIN games_cheminseat AS s ON s.id = m.seat_id AND s.player_id = ANY(%(pair)s::bigint[])
JOIN games_chemintenure AS t ON t.id = m.tenure_id
JOIN games_cheminseat AS h ON h.id = t.seat_id AND h.player_id IS DISTINCT FROM s.player_id
JOIN games_livetable AS l ON l.id = m.live_table_id
JOIN players_player AS p ON p.id = s.player_id
WHERE m.at >= %(since)s AND m.at < %(until)s AND m.kind IN ('pass', 'make_call', 'lay_stake')
    AND m.decider = '{Decider.PLAYER}' AND m.asked_at IS NOT NULL AND m.round_id IS NOT NULL AND {WITHIN}
GROUP BY 1, 2
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Habit:
    """How often a player did something while one other player held the bank, and while others did."""

    done: int
    asked: int
    done_elsewhere: int
    asked_elsewhere: int
    chance: float  # probability of this count with that banker if all bankers were treated alike


@dataclass(frozen=True)
class Called(Habit):
    """How often a player covered the bank when first asked.

    The averages of what was put up, in minor units, are for banks covered and not covered.
    """

    bank_called: int
    bank_not_called: int


@dataclass(frozen=True)
class Pace:
    """Median time to answer a call or stake question, in seconds; None if there is none."""

    with_the_other: float | None
    with_others: float | None


@dataclass(frozen=True)
class Choices:
    """What one player chooses while one other player holds the bank."""

    let_go: Habit  # nothing staked, although asked
    called: Called  # the bank covered at the first question


def choices(scope: Scope) -> dict[Pair, Choices]:
    """Return the choices of every player against each banker, by (player, banker)."""
    rows: dict[Pair, list[Mapping[str, Any]]] = defaultdict(list)
    for row in ask(CHOICES, scope, covering=list(COVERING)):
        rows[row["who"], row["towards"]].append(row)
    return {pair: Choices(let_go=_let_go(each), called=_called(each)) for pair, each in rows.items()}


def pace(scope: Scope, pair: Pair) -> dict[int, Pace]:
    """Return how fast each of two players answers while the other holds the bank, and while others do."""
    medians: dict[int, dict[bool, float]] = {player: {} for player in pair}
    for row in ask(PACE, scope, pair=list(pair)):
        medians[row["who"]][row["is_other"]] = row["median"]
    return {player: Pace(found.get(True), found.get(False)) for player, found in medians.items()}


def _let_go(rows: Sequence[Mapping[str, Any]]) -> Habit:
    strata = [Answers(row["let_go"], row["asked"], row["let_go_elsewhere"], row["asked_elsewhere"]) for row in rows]
    return Habit(**_sums(strata), chance=more_often(strata))


def _called(rows: Sequence[Mapping[str, Any]]) -> Called:
    """Return the calls over banks of all sizes together.

    Sizes are not separated: large banks are called less often, and a player who hands over money
    puts up large ones.
    """
    strata = [Answers(row["called"], row["to_call"], row["called_elsewhere"], row["to_call_elsewhere"]) for row in rows]
    sums = _sums(strata)
    return Called(
        **sums,
        chance=more_often([Answers(**sums)]),
        bank_called=sum(row["bank_called"] for row in rows) // max(1, sums["done"]),
        bank_not_called=sum(row["bank_not_called"] for row in rows) // max(1, sums["asked"] - sums["done"]),
    )


def _sums(strata: Sequence[Answers]) -> dict[str, int]:
    names = ("done", "asked", "done_elsewhere", "asked_elsewhere")
    return {name: sum(getattr(each, name) for each in strata) for name in names}
