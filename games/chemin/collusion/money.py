"""Money that passes between players compared with chance, and money given away by departing from the rule."""

import json
from dataclasses import dataclass
from math import sqrt
from typing import Final

from games.chemin.collusion.statistics import COUPS, Scope, ask, decisive, tail
from games.engine.chemin.odds import departure_costs
from games.engine.chemin.rules import Side

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
    """What one player gave away to another by departing from the rule. Minor units, by exact chance."""

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
