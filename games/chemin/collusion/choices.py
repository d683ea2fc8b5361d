"""What players choose towards each other: banks they let go by, and banks that one puts up as the other calls banco."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.chemin.collusion.money import Pair
from games.chemin.collusion.scope import WITHIN, Scope, ask
from games.chemin.collusion.statistics import Answers, more_often
from games.engine.chemin import Call, Phase
from games.models import Decider

COVERING: Final = tuple(call.value for call in Call if call.covers_the_bank)

# What guests answered who were asked to call or to stake against a bank; what the croupier answered for them tells
# nothing of their mind. The event of a pass stands first and says what was asked. Each guest is asked once a coup to
# call and once to stake, and who has called is not asked to stake. Banks compare with those that were put up at about
# the same amount: fewer stake against large ones.
CHOICES: Final = f"""
WITH answer AS (
    SELECT m.seat_id, m.tenure_id, m.kind, m.number,
        m.kind = 'make_call' OR m.kind = 'pass' AND m.events #>> '{{0,phase}}' = '{Phase.CALLS}' AS about_call,
        m.kind = 'make_call' AND m.call = ANY(%(covering)s::text[]) AS covers
    FROM games_cheminmove AS m
    WHERE m.at >= %(since)s AND m.at < %(until)s AND m.kind IN ('pass', 'make_call', 'lay_stake')
        AND m.decider = '{Decider.GUEST}' AND m.round_id IS NOT NULL
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
    AND m.decider = '{Decider.GUEST}' AND m.asked_at IS NOT NULL AND m.round_id IS NOT NULL AND {WITHIN}
GROUP BY 1, 2
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Habit:
    """How often a player did something while one certain other held the bank, and while others did."""

    done: int
    asked: int
    done_elsewhere: int
    asked_elsewhere: int
    chance: float  # of doing it so often with that one, for somebody to whom all bankers are alike


@dataclass(frozen=True)
class Called(Habit):
    """The same for covering a bank as soon as it is put up; with what was put up on average, in minor units, where the
    bank was covered and where it was not.
    """

    bank_called: int
    bank_not_called: int


@dataclass(frozen=True)
class Pace:
    """How long a player takes to answer whether to call or to stake: medians in seconds, None where there is none."""

    with_the_other: float | None
    with_others: float | None


@dataclass(frozen=True)
class Choices:
    """What one player chooses while one certain other holds the bank."""

    let_go: Habit  # nothing staked, though asked
    called: Called  # the bank covered the first time that a call was asked for


def choices(scope: Scope) -> dict[Pair, Choices]:
    """Return what every player chose against each banker: by who chose and whose bank it was."""
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
    """Banks of all sizes together: a large one is called less often, and who hands money over puts up large ones."""
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
