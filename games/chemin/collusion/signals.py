"""Signals of collusion: pairs of players whose results against each other chance does not explain.

This module decides nothing and blocks nobody. It compares figures with chance, and with the same
players' behaviour towards others, for staff to look into. All thresholds are defined here. GLI-19
v3.0, A.8.1.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from games.chemin.collusion.measures import Choices, Given, Money, Pair, choices, given, money
from games.chemin.collusion.statistics import WITHIN, Scope, ask, for_all
from players.models import Resolution

# Players who sat at the same table at the same time. A session's address is that of its log-in; it
# is "" after erasure.
TOGETHER: Final = f"""
WITH sat AS MATERIALIZED (
    SELECT s.player_id, s.live_table_id, s.joined_at, coalesce(s.left_at, 'infinity') AS left_at,
        nullif(n.ip, '') AS ip, n.browser
    FROM games_cheminseat AS s
    JOIN games_livetable AS l ON l.id = s.live_table_id
    JOIN players_player AS p ON p.id = s.player_id
    LEFT JOIN players_session AS n ON n.id = s.session
    WHERE s.joined_at < %(until)s AND (s.left_at IS NULL OR s.left_at >= %(since)s) AND {WITHIN}
), together AS (
    SELECT a.player_id AS first, b.player_id AS second, bool_or(coalesce(a.ip = b.ip, false)) AS address,
        bool_or(coalesce(a.ip = b.ip AND a.browser = b.browser, false)) AS device
    FROM sat AS a JOIN sat AS b ON b.live_table_id = a.live_table_id AND b.player_id > a.player_id
        AND b.joined_at < a.left_at AND a.joined_at < b.left_at
    GROUP BY a.player_id, b.player_id
)
SELECT t.*, EXISTS (SELECT FROM players_duplicate AS d
    WHERE (d.first_id, d.second_id) = (t.first, t.second) AND d.resolution <> '{Resolution.DIFFERENT}') AS same
FROM together AS t
"""  # noqa: S608  (nothing but names of our own)

REPORTED: Final = f"""
SELECT s.player_id AS player, count(*) AS reports
FROM games_playreport AS r
JOIN games_livetable AS l ON l.id = r.live_table_id
JOIN games_cheminseat AS s ON s.id = r.seat_id
JOIN players_player AS p ON p.id = s.player_id
WHERE r.at >= %(since)s AND r.at < %(until)s AND {WITHIN}
GROUP BY s.player_id
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Tie:
    """Connections between two players who sat at one table together."""

    address: bool  # logged in from one address
    device: bool  # and with browsers that send the same identification
    same: bool  # found as possible duplicates, and not resolved as different persons

    def __bool__(self) -> bool:
        return self.address or self.same


def ties(scope: Scope) -> dict[Pair, Tie]:
    """Return all pairs who sat at one table at the same time, and what they have in common."""
    return {
        (row["first"], row["second"]): Tie(row["address"], row["device"], row["same"]) for row in ask(TOGETHER, scope)
    }


def reported(scope: Scope) -> dict[int, int]:
    """Return how many reports were made about each player."""
    return {row["player"]: row["reports"] for row in ask(REPORTED, scope)}


FALSE_ALARM: Final = 0.01
"""Probability of flagging anybody when all play is honest, for each kind of test.

The tests are: money between two players, banks not staked against, and banks called at once. At one
in a hundred, a flag is worth an hour of investigation.
"""

FEWEST_PLAIN: Final = 3
"""Plain departures against one opponent that make a sign.

One is a slip and two are bad luck. Three are detected long before the money itself would show.
"""

PLAIN_RATIO: Final = 2
"""Minimum ratio of plain departures against one opponent to those against others.

Both are relative to coups between two players alone. A player who does not know the game departs
against everybody.
"""


class Sign(StrEnum):
    """Reason for which a pair is flagged."""

    MONEY = "money"
    """More money passed from one to the other than chance explains."""
    GIVEN = "given"
    """One departed from the rule against the other where that plainly gives money away."""
    LET_GO = "let_go"
    """One stakes less often against the other than against other bankers."""
    CALLED = "called"
    """One covers the other's banks at once, more often than others' banks."""
    ADDRESS = "address"
    """They sat at one table, logged in from one address."""
    SAME = "same"
    """They may be one person."""
    REPORTED = "reported"
    """Players reported one of them."""


@dataclass(frozen=True)
class TestCounts:
    """Number of pairs tested for each question: the more pairs, the larger the deviations chance produces."""

    money: int
    choices: int


@dataclass(frozen=True)
class AnalysedPair:
    """Two players and everything known of how they play against each other.

    Directed figures are keyed by the id of the player who acted.
    """

    pair: Pair
    money: Money | None
    given: Mapping[int, Given]
    choices: Mapping[int, Choices]
    tie: Tie | None
    reports: int
    signs: tuple[Sign, ...]

    @property
    def net(self) -> int:
        """The net money between them, in minor units."""
        return abs(self.money.net) if self.money else 0

    @property
    def deviation(self) -> float:
        """The deviation of that money from the expected, in standard deviations, without sign."""
        return abs(self.money.deviation) if self.money else 0.0


@dataclass(frozen=True)
class PlayAnalysis:
    """All pairs of players with figures or ties, and the number of pairs tested."""

    pairs: tuple[AnalysedPair, ...]
    test_counts: TestCounts


def analyse_play(scope: Scope) -> PlayAnalysis:
    """Analyse all pairs of players within a scope."""
    passed, gave, chosen = money(scope), given(scope), choices(scope)
    tied, reports = ties(scope), reported(scope)
    plain = _stand_out(passed, gave)
    test_counts = TestCounts(money=len(passed), choices=len(chosen))
    found = {*passed, *map(_ordered, chosen), *(pair for pair, tie in tied.items() if tie)}
    analysed = []
    for pair in sorted(found):
        ways = {pair[0]: pair, pair[1]: (pair[1], pair[0])}
        known = AnalysedPair(
            pair=pair,
            money=passed.get(pair),
            given={who: gave[way] for who, way in ways.items() if way in gave},
            choices={who: chosen[way] for who, way in ways.items() if way in chosen},
            tie=tied.get(pair),
            reports=sum(reports.get(player, 0) for player in pair),
            signs=(),
        )
        gives = any(way in plain for way in ways.values())
        analysed.append(replace(known, signs=tuple(_signs(known, test_counts, gives_away=gives))))
    return PlayAnalysis(tuple(analysed), test_counts)


def _signs(known: AnalysedPair, test_counts: TestCounts, *, gives_away: bool) -> Iterator[Sign]:
    if known.money and for_all(known.money.chance, test_counts.money) <= FALSE_ALARM:
        yield Sign.MONEY
    if gives_away:
        yield Sign.GIVEN
    if any(for_all(each.let_go.chance, test_counts.choices) <= FALSE_ALARM for each in known.choices.values()):
        yield Sign.LET_GO
    if any(for_all(each.called.chance, test_counts.choices) <= FALSE_ALARM for each in known.choices.values()):
        yield Sign.CALLED
    if known.tie and known.tie.address:
        yield Sign.ADDRESS
    if known.tie and known.tie.same:
        yield Sign.SAME
    if known.reports:
        yield Sign.REPORTED


def _ordered(pair: Pair) -> Pair:
    return (min(pair), max(pair))


def _stand_out(passed: Mapping[Pair, Money], gave: Mapping[Pair, Given]) -> set[Pair]:
    """Return pairs (giver, taker) with plain departures beyond what the giver does against everybody."""
    alone: dict[int, Counter[int]] = defaultdict(Counter)
    for (first, second), between in passed.items():
        alone[first][second] = alone[second][first] = between.alone
    times: Counter[int] = Counter()
    for (giver, _taker), what in gave.items():
        times[giver] += what.plain
    found = set()
    for (giver, taker), what in gave.items():
        here, everywhere = alone[giver][taker], alone[giver].total()
        elsewhere = times[giver] - what.plain
        if what.plain >= FEWEST_PLAIN and what.plain * (everywhere - here) >= PLAIN_RATIO * elsewhere * here:
            found.add((giver, taker))
    return found
