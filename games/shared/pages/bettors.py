"""The people who bet on the round at a shared table, as everybody there sees them: names, totals, the share of each
bet, and who turns the cards.

Streams read this while bets are open, at most once a second, however many bets arrive.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override, pgettext

from games.help.figures import percent
from games.labels import bet_name
from games.shared.state import State
from games.tables.fragments import render_fragment

MOST: Final = 6  # people named; the others are counted

# Parameters: the live table, the most people to name. Stakes in several currencies are added and compared in smallest
# main bets of the table, as ``games_grant_squeezes`` does. People are called by their chat name, unless it was taken
# away, else by the number of their seat: nothing of the name on their account is shown.
READ: Final = """
WITH live AS MATERIALIZED (
    SELECT t.id AS live_table, r.id AS round, v.limits
    FROM games_livetable AS t JOIN games_liveround AS r ON r.id = t.round_id
    JOIN games_tableversion AS v ON v.id = r.version_id WHERE t.id = %s
), unit AS MATERIALIZED (
    SELECT c.currency, (c.limits -> 'bets' -> 'player' ->> 0)::numeric AS least
    FROM live CROSS JOIN LATERAL jsonb_each(live.limits) AS c (currency, limits)
), bettor AS MATERIALIZED (
    SELECT s.id AS seat, s.player_id, s.currency, bets.total, bets.total / unit.least AS weight, q.sides
    FROM live JOIN games_liveseat AS s ON s.round_id = live.round AND s.stakes <> '{}'
    JOIN unit ON unit.currency = s.currency
    CROSS JOIN LATERAL (SELECT sum(stake::bigint) AS total FROM jsonb_each_text(s.stakes) AS bet (code, stake)) AS bets
    LEFT JOIN (
        SELECT turns.player_id, string_agg(turns.side, ' ' ORDER BY turns.side DESC) AS sides
        FROM live JOIN games_squeeze AS turns ON turns.live_table_id = live.live_table AND turns.round_id = live.round
        GROUP BY turns.player_id
    ) AS q ON q.player_id = s.player_id
), named AS (
    SELECT b.*, (SELECT c.name FROM games_chatname AS c WHERE c.player_id = b.player_id AND NOT EXISTS (
            SELECT FROM games_chatnametaken AS taken WHERE lower(taken.name) = lower(c.name))) AS name
    FROM (SELECT * FROM bettor ORDER BY sides IS NULL, weight DESC, seat LIMIT %s) AS b
)
SELECT (SELECT count(*) FROM bettor) AS count,
    (SELECT jsonb_agg(jsonb_build_array(coalesce(n.name, ''), n.seat %% 1000, n.currency, n.total,
        coalesce(n.sides, '')) ORDER BY n.sides IS NULL, n.weight DESC, n.seat)::text FROM named AS n) AS people,
    (SELECT jsonb_object_agg(area.code, area.weight::text)::text FROM (
        SELECT bet.code, sum(bet.stake::numeric / unit.least) AS weight
        FROM live JOIN games_livetotal AS t ON t.round_id = live.round JOIN unit ON unit.currency = t.currency
        CROSS JOIN LATERAL jsonb_each_text(t.stakes) AS bet (code, stake) WHERE bet.stake::bigint > 0 GROUP BY bet.code
    ) AS area) AS weights
"""


@dataclass(frozen=True)
class BettorView:
    """A person with bets on the round."""

    name: str
    total: int  # minor units
    currency: str
    sides: tuple[str, ...]  # the hands whose cards they turn
    turns: str  # the same as text


@dataclass(frozen=True)
class ShareView:
    """The share that a bet has in all stakes of the round."""

    code: str
    name: str
    share: int  # percent, rounded
    text: str


def render_bettors(state: State, row: Mapping[str, Any], language: str) -> str:
    """Return ``#live-bettors`` for a row of `READ`, the same for everybody who reads *language*."""
    with override(language):
        people = tuple(_bettor(state, person, language) for person in json.loads(row["people"] or "[]"))
        count = row["count"]
        return render_fragment(
            "live.html#bettors",
            people=people,
            count=ngettext("%(count)d person", "%(count)d people", count) % {"count": count} if count else "",
            more=count - len(people),
            shares=_shares(state, json.loads(row["weights"] or "{}"), language),
        )


def _bettor(state: State, person: Sequence[Any], language: str) -> BettorView:
    name, seat, currency, total, sides = person
    hands = tuple(sides.split())
    turn = pgettext("a person at the table", "turns the cards: %(hand)s")
    return BettorView(
        name=name or _("Seat %(number)d") % {"number": seat},
        total=total,
        currency=currency,
        sides=hands,
        turns=", ".join(turn % {"hand": bet_name(state.variant, side, language)} for side in hands),
    )


def _shares(state: State, weights: Mapping[str, str], language: str) -> tuple[ShareView, ...]:
    stakes = {code: Fraction(weight) for code, weight in weights.items()}
    whole = sum(stakes.values())
    return tuple(
        ShareView(
            code,
            bet_name(state.variant, code, language),
            round(100 * stake / whole),
            percent(stake / whole, language, 0),
        )
        for code, stake in sorted(stakes.items())
    )
