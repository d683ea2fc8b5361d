"""Money and choices that pass between two players at a table, compared with chance.

Money can be given away by departing from the rule. Choices of players towards each other are the banks that they do
not stake against, and the banks that they call at once.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

from games.chemin.collusion.statistics import COUPS, WITHIN, Answers, Scope, ask, decisive, more_often, tail
from games.engine.chemin import Call, Phase
from games.engine.chemin.odds import departure_costs
from games.engine.chemin.rules import Side
from games.models import Decider

Pair = tuple[int, int]
"""Ids of two players; the lower one first where the order has no meaning."""

PLAIN_COST: Final = 0.2
"""The part of a stake that a departure must give away to count as plain.

Smaller ones are guesses about the cards; they are shown but never flagged. Standing on 0, 1 or 2
and drawing on 7 are plain departures.
"""

MONEY: Final = f"""
{COUPS}
, part AS (
    SELECT least(s.player_id, c.banker) AS first, greatest(s.player_id, c.banker) AS second,
        s.player_id < c.banker AS first_punts, s.stake, s.returned - s.stake AS won, s.stake = c.at_risk AS alone
    FROM coup AS c JOIN games_cheminstake AS s ON s.coup_id = c.round_id WHERE s.player_id IS NOT NULL
)
SELECT first, second, count(*) AS coups,
    count(*) FILTER (WHERE NOT first_punts) AS first_banked,
    count(*) FILTER (WHERE alone) AS alone,
    count(*) FILTER (WHERE won <> 0 AND (won < 0) = first_punts) AS lost_by_first,
    count(*) FILTER (WHERE won <> 0 AND (won > 0) = first_punts) AS lost_by_second,
    coalesce(sum(stake) FILTER (WHERE won <> 0 AND (won < 0) = first_punts), 0)::bigint AS to_second,
    coalesce(sum(stake) FILTER (WHERE won <> 0 AND (won > 0) = first_punts), 0)::bigint AS to_first,
    coalesce(sum(CASE WHEN first_punts THEN stake ELSE -stake END) FILTER (WHERE won <> 0), 0)::bigint AS tilt,
    coalesce(sum(stake::float8 * stake) FILTER (WHERE won <> 0), 0) AS squares
FROM part GROUP BY first, second
"""  # noqa: S608  (nothing but names of our own)

# Points of a card from its code. The cards of a round are in dealing order: punter, banker, punter,
# banker, third cards.
_CARD: Final = "strpos('A23456789', left(split_part(r.cards, ' ', {position}), 1))"
_TOTAL: Final = "mod(" + _CARD.format(position="{}") + " + " + _CARD.format(position="{}") + ", 10)"

DEPARTED: Final = f"""
{COUPS}
, departed AS (
    SELECT c.round_id, s.player_id AS giver, c.banker AS taker, s.stake, '{Side.PUNTER}' AS side,
        c.punter_draws AS draws, {_TOTAL.format(1, 3)} AS pair, NULL::int AS third
    FROM coup AS c JOIN games_cheminstake AS s ON s.coup_id = c.round_id JOIN games_round AS r ON r.id = c.round_id
    WHERE c.punter_departs AND s.player_id IS NOT NULL
    UNION ALL
    SELECT c.round_id, c.banker, s.player_id, s.stake, '{Side.BANKER}', c.banker_draws,
        {_TOTAL.format(2, 4)}, CASE WHEN c.punter_draws THEN {_CARD.format(position=5)} END
    FROM coup AS c JOIN games_cheminstake AS s ON s.coup_id = c.round_id JOIN games_round AS r ON r.id = c.round_id
    WHERE c.banker_departs AND s.player_id IS NOT NULL
), given AS (
    SELECT d.*, d.stake * k.cost AS cost, k.cost >= {PLAIN_COST} AS is_plain
    FROM departed AS d
    JOIN jsonb_to_recordset(%(costs)s) AS k (side text, pair int, third int, draws boolean, cost float8)
        ON (k.side, k.pair, k.draws) = (d.side, d.pair, d.draws) AND k.third IS NOT DISTINCT FROM d.third
)
"""  # noqa: S608  (nothing but names of our own)
"""Every departure from the rule with its cost to the player who departed, by exact chance."""

GIVEN: Final = f"""
{DEPARTED}
SELECT giver, taker, count(*) AS times, sum(cost) AS cost, count(*) FILTER (WHERE is_plain) AS plain,
    coalesce(sum(cost) FILTER (WHERE is_plain), 0) AS plain_cost
FROM given GROUP BY giver, taker
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Money:
    """Money between two players, in coups in which one held the bank and the other staked.

    Amounts are minor units, before tax.
    """

    coups: int
    first_banked: int
    alone: int  # coups in which only the other player staked
    lost_by_first: int  # coups
    lost_by_second: int
    to_first: int
    to_second: int
    expected: float  # the first player's net win from the second by chance
    deviation: float  # of the first player's actual net win from that, in standard deviations
    spread: float  # one standard deviation

    @property
    def net(self) -> int:
        """The first player's net win from the second."""
        return self.to_first - self.to_second

    @property
    def chance(self) -> float:
        """The probability of a deviation at least this large by chance, in either direction."""
        return tail(self.deviation)


@dataclass(frozen=True)
class Given:
    """Money that one player gave away to another by departing from the rule. Minor units, by exact chance."""

    times: int
    cost: float
    plain: int  # number of departures that no player makes to win
    plain_cost: float


def money(scope: Scope) -> dict[Pair, Money]:
    """Return the money between any two players."""
    by_chance = decisive()
    found: dict[Pair, Money] = {}
    for row in ask(MONEY, scope):
        expected, spread = by_chance.mean * row["tilt"], sqrt(by_chance.variance * row["squares"])
        won = row["to_first"] - row["to_second"]
        found[row["first"], row["second"]] = Money(
            coups=row["coups"],
            first_banked=row["first_banked"],
            alone=row["alone"],
            lost_by_first=row["lost_by_first"],
            lost_by_second=row["lost_by_second"],
            to_first=row["to_first"],
            to_second=row["to_second"],
            expected=expected,
            deviation=(won - expected) / spread if spread else 0.0,
            spread=spread,
        )
    return found


def given(scope: Scope) -> dict[Pair, Given]:
    """Return what was given away, by (giver, taker)."""
    rows = ask(GIVEN, scope, costs=costs())
    return {
        (row["giver"], row["taker"]): Given(row["times"], row["cost"], row["plain"], row["plain_cost"]) for row in rows
    }


def costs() -> str:
    """Return the exact cost of every departure as a JSON parameter of the queries."""
    return json.dumps(
        [
            {
                "side": decision.side,
                "pair": decision.pair_total,
                "third": decision.punter_third,
                "draws": decision.draws,
                "cost": float(cost),
            }
            for decision, cost in departure_costs().items()
        ]
    )


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
    """Counts of a player's action while one other player held the bank, and while others did."""

    done: int
    asked: int
    done_elsewhere: int
    asked_elsewhere: int
    chance: float  # probability of this count with that banker if all bankers were treated alike


@dataclass(frozen=True)
class Called(Habit):
    """Counts of a player covering the bank when first asked.

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
    """Choices of one player while one other player holds the bank."""

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
