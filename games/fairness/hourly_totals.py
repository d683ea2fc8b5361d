"""Totals of play: complete hours from hourly totals (`audit.hours`), the rest from rows.

The result is exact for any interval and reads few rows. Rows are found by table, kind of money and
time, as in the index of the staff's round search. All rows of a round have the time of the round. A
voided round is included in the hourly totals, because it may be voided at any later time. Voided
rounds are few and are read as rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from django.db import connection

from audit import hours
from audit.hours import HOUR
from audit.reports.kinds import Interval
from wallet.models import Mode

HOURLY_TOTALS: Final = "games.rounds"
CHECKED: Final = 168  # hours that one statement recomputes

# All participations in the rounds of some time ranges. OFFSET 0 keeps PostgreSQL from turning a
# lookup by key into a join that scans a whole table.
PARTS = """
    SELECT piece.number, piece.since AS hour, found.*,
        (SELECT round.table_version_id FROM games_round AS round WHERE round.id = found.round_id) AS version_id
    FROM unnest(%(numbers)s::integer[], %(since)s::timestamptz[], %(until)s::timestamptz[])
        AS piece (number, since, until)
    CROSS JOIN games_table AS t CROSS JOIN unnest(%(modes)s::text[]) AS of (mode)
    CROSS JOIN LATERAL (
        SELECT part.id, part.round_id, part.player_id, part.mode, part.currency, part.staked, part.paid, part.commission
        FROM games_participation AS part
        WHERE part.table_id = t.id AND part.mode = of.mode AND part.at >= piece.since AND part.at < piece.until
        OFFSET 0
    ) AS found
"""
BETS = """
    SELECT part.number, part.hour, part.version_id, part.mode, part.currency, part.round_id, wager.bet,
        count(*) AS wagers, sum(wager.stake) AS staked, sum(wager.payout) AS paid,
        sum(wager.commission) AS commission
    FROM part CROSS JOIN LATERAL (
        SELECT bet, stake, payout, commission FROM games_wager WHERE participation_id = part.id OFFSET 0
    ) AS wager
    GROUP BY part.number, part.hour, part.version_id, part.mode, part.currency, part.round_id, wager.bet
"""
GAME_TOTALS = """
    SELECT number, hour, version_id, mode, currency, count(DISTINCT round_id) AS rounds, count(*) AS parts,
        sum(staked)::bigint AS staked, sum(paid)::bigint AS paid, sum(commission)::bigint AS commission
    FROM part GROUP BY number, hour, version_id, mode, currency
"""
PLAYER_TOTALS = """
    SELECT number, hour, player_id, version_id, currency, count(*) AS rounds, sum(staked)::bigint AS staked,
        sum(paid)::bigint AS paid
    FROM part WHERE mode = 'R' GROUP BY number, hour, player_id, version_id, currency
"""
BET_TOTALS = """
    SELECT number, hour, version_id, mode, currency, bet, count(*) AS rounds, sum(wagers)::bigint AS wagers,
        sum(staked)::bigint AS staked, sum(paid)::bigint AS paid, sum(commission)::bigint AS commission,
        sum(staked * staked) AS squares
    FROM placed GROUP BY number, hour, version_id, mode, currency, bet
"""

GAME_COLUMNS = "hour, version_id, mode, currency, rounds, parts, staked, paid, commission"
PLAYER_COLUMNS = "hour, player_id, version_id, currency, rounds, staked, paid"
BET_COLUMNS = "hour, version_id, mode, currency, bet, rounds, wagers, staked, paid, commission, squares"

ROLL = f"""
WITH part AS MATERIALIZED ({PARTS}), placed AS MATERIALIZED ({BETS}), bets AS (
    INSERT INTO games_bethourlytotal ({BET_COLUMNS}) SELECT {BET_COLUMNS} FROM ({BET_TOTALS}) AS made
), players AS (
    INSERT INTO games_playerhourlytotal ({PLAYER_COLUMNS}) SELECT {PLAYER_COLUMNS} FROM ({PLAYER_TOTALS}) AS made
), games AS (
    INSERT INTO games_gamehourlytotal ({GAME_COLUMNS}) SELECT {GAME_COLUMNS} FROM ({GAME_TOTALS}) AS made
)
SELECT count(*) FROM part
"""  # noqa: S608  (no user input)

FIRST = """
SELECT min(first.at) FROM games_table AS t CROSS JOIN unnest(%(modes)s::text[]) AS of (mode)
CROSS JOIN LATERAL (
    SELECT part.at FROM games_participation AS part
    WHERE part.table_id = t.id AND part.mode = of.mode AND part.at >= coalesce(%(since)s, '-infinity'::timestamptz)
    ORDER BY part.at LIMIT 1
) AS first
"""

DIFFERENCES = f"""
WITH part AS MATERIALIZED ({PARTS}), placed AS MATERIALIZED ({BETS}), found AS (
    SELECT 'totals' AS what, hour, concat_ws(' ', version_id, mode, currency) AS row,
        concat_ws(' ', rounds, parts, staked, paid, commission) AS says FROM ({GAME_TOTALS}) AS made
    UNION ALL
    SELECT 'player totals', hour, concat_ws(' ', player_id, version_id, currency),
        concat_ws(' ', rounds, staked, paid) FROM ({PLAYER_TOTALS}) AS made
    UNION ALL
    SELECT 'bet totals', hour, concat_ws(' ', version_id, mode, currency, bet),
        concat_ws(' ', rounds, wagers, staked, paid, commission, squares) FROM ({BET_TOTALS}) AS made
), kept AS (
    SELECT 'totals' AS what, hour, concat_ws(' ', version_id, mode, currency) AS row,
        concat_ws(' ', rounds, parts, staked, paid, commission) AS says
    FROM games_gamehourlytotal WHERE hour >= %(begins)s AND hour < %(ends)s
    UNION ALL
    SELECT 'player totals', hour, concat_ws(' ', player_id, version_id, currency),
        concat_ws(' ', rounds, staked, paid)
    FROM games_playerhourlytotal WHERE hour >= %(begins)s AND hour < %(ends)s
    UNION ALL
    SELECT 'bet totals', hour, concat_ws(' ', version_id, mode, currency, bet),
        concat_ws(' ', rounds, wagers, staked, paid, commission, squares)
    FROM games_bethourlytotal WHERE hour >= %(begins)s AND hour < %(ends)s
)
SELECT format('%%s of %%s, %%s: %%s is stored, the rows say %%s', what,
    to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), row, coalesce(kept.says, 'nothing'),
    coalesce(found.says, 'nothing'))
FROM kept FULL JOIN found USING (what, hour, row)
WHERE kept.says IS DISTINCT FROM found.says ORDER BY hour, what, row
"""  # noqa: S608  (no user input)

# Voided rounds by the time at which they were played, whenever they were voided.
VOIDED = """
    SELECT width_bucket(round.at, %(bounds)s::timestamptz[]) - 1 AS number, round.table_version_id AS version_id,
        part.id, part.round_id, part.player_id, part.currency, part.staked, part.paid, part.commission
    FROM games_void AS void
    CROSS JOIN LATERAL (SELECT * FROM games_round WHERE id = void.round_id OFFSET 0) AS round
    CROSS JOIN LATERAL (SELECT * FROM games_participation WHERE round_id = round.id OFFSET 0) AS part
    WHERE round.mode = %(mode)s AND round.at >= %(begins)s AND round.at < %(ends)s
"""

PLAYED = f"""
WITH part AS MATERIALIZED ({PARTS}), each AS (
    SELECT whole.number, total.version_id, total.currency, total.rounds, total.parts, total.staked, total.paid,
        total.commission, 0 AS voided, 0 AS taken_back, 0 AS returned, 0 AS waived
    FROM unnest(%(whole)s::integer[], %(whole_since)s::timestamptz[], %(whole_until)s::timestamptz[])
        AS whole (number, since, until)
    JOIN games_gamehourlytotal AS total ON total.hour >= whole.since AND total.hour < whole.until AND total.mode =
        %(mode)s
    UNION ALL
    SELECT number, version_id, currency, rounds, parts, staked, paid, commission, 0, 0, 0, 0 FROM ({GAME_TOTALS}) AS
        made
    UNION ALL
    SELECT number, version_id, currency, 0, 0, 0, 0, 0, count(DISTINCT round_id), sum(staked), sum(paid),
        sum(commission)
    FROM ({VOIDED}) AS voided GROUP BY number, version_id, currency
)
SELECT number, version_id, currency, sum(rounds)::bigint, sum(parts)::bigint, sum(staked)::bigint, sum(paid)::bigint,
    sum(commission)::bigint, sum(voided)::bigint, sum(taken_back)::bigint, sum(returned)::bigint,
    sum(waived)::bigint, (
        SELECT t.shape = 'chemin' FROM games_tableversion AS version JOIN games_table AS t ON t.id = version.table_id
        WHERE version.id = each.version_id
    )
FROM each GROUP BY number, version_id, currency ORDER BY number, version_id, currency
"""  # noqa: S608  (no user input)

# The players of each period and currency, without voided rounds. At Chemin de Fer the stakes are between players, so
# they are no turnover; the rake is what is left of them.
WHO_PLAYED = f"""
WITH part AS MATERIALIZED ({PARTS}), each AS (
    SELECT whole.number, total.player_id, total.version_id, total.currency, total.rounds, total.staked, total.paid
    FROM unnest(%(whole)s::integer[], %(whole_since)s::timestamptz[], %(whole_until)s::timestamptz[])
        AS whole (number, since, until)
    JOIN games_playerhourlytotal AS total ON total.hour >= whole.since AND total.hour < whole.until
    UNION ALL
    SELECT number, player_id, version_id, currency, rounds, staked, paid FROM ({PLAYER_TOTALS}) AS made
    UNION ALL
    SELECT number, player_id, version_id, currency, -count(*), -sum(staked), -sum(paid)
    FROM ({VOIDED}) AS voided GROUP BY number, player_id, version_id, currency
), played AS MATERIALIZED (
    SELECT each.number, each.player_id, each.currency, sum(each.rounds) AS rounds,
        coalesce(sum(each.staked) FILTER (WHERE t.shape <> 'chemin'), 0) AS turnover,
        sum(each.staked - each.paid) AS revenue
    FROM each
    JOIN games_tableversion AS version ON version.id = each.version_id
    JOIN games_table AS t ON t.id = version.table_id
    GROUP BY each.number, each.player_id, each.currency HAVING sum(each.rounds) > 0
)
"""  # noqa: S608  (no user input)

# The players of each period, country and currency, and the players who won and lost most in each currency.
PLAYERS = f"""
{WHO_PLAYED}, whole AS MATERIALIZED (
    SELECT player_id, currency, sum(rounds) AS rounds, sum(turnover) AS turnover, sum(revenue) AS revenue
    FROM played GROUP BY player_id, currency
), ranked AS (
    SELECT whole.*, row_number() OVER (PARTITION BY currency ORDER BY revenue, player_id) AS won,
        row_number() OVER (PARTITION BY currency ORDER BY revenue DESC, player_id) AS lost
    FROM whole
)
SELECT 'period', number::text, currency, count(*), sum(rounds)::bigint, sum(turnover)::bigint, sum(revenue)::bigint
FROM played GROUP BY number, currency
UNION ALL
SELECT 'country', player.jurisdiction_id, whole.currency, count(*), sum(rounds)::bigint, sum(turnover)::bigint,
    sum(revenue)::bigint
FROM whole JOIN players_player AS player ON player.id = whole.player_id
GROUP BY player.jurisdiction_id, whole.currency
UNION ALL
SELECT 'player', player_id::text, currency, 1, rounds::bigint, turnover::bigint, revenue::bigint
FROM ranked WHERE won <= %(most)s AND revenue < 0 OR lost <= %(most)s AND revenue > 0
"""  # noqa: S608  (no user input)

# The same in all currencies together. A rate is what a minor unit of a currency is worth in a period: it only orders
# the players, and the caller converts what they won and lost.
PLAYERS_TOGETHER = f"""
{WHO_PLAYED}, worth AS MATERIALIZED (
    SELECT played.player_id, sum(played.revenue * rated.rate) AS revenue
    FROM played JOIN unnest(%(rated)s::integer[], %(rated_in)s::text[], %(rates)s::numeric[])
        AS rated (number, currency, rate) USING (number, currency)
    GROUP BY played.player_id
), named AS (
    (SELECT player_id FROM worth WHERE revenue < 0 ORDER BY revenue, player_id LIMIT %(most)s)
    UNION ALL
    (SELECT player_id FROM worth WHERE revenue > 0 ORDER BY revenue DESC, player_id LIMIT %(most)s)
), home AS MATERIALIZED (
    SELECT played.*, player.jurisdiction_id FROM played JOIN players_player AS player ON player.id = played.player_id
)
SELECT 'step', (%(steps)s::integer[])[number + 1]::text, 0, '', count(DISTINCT player_id), 0, 0, 0
FROM played GROUP BY 2
UNION ALL
SELECT 'all', '', 0, '', count(DISTINCT player_id), 0, 0, 0 FROM played
UNION ALL
SELECT 'players', jurisdiction_id, 0, '', count(DISTINCT player_id), 0, 0, 0 FROM home GROUP BY jurisdiction_id
UNION ALL
SELECT 'country', jurisdiction_id, number, currency, 0, sum(rounds)::bigint, sum(turnover)::bigint,
    sum(revenue)::bigint
FROM home GROUP BY jurisdiction_id, number, currency
UNION ALL
SELECT 'player', player_id::text, number, currency, 1, rounds::bigint, turnover::bigint, revenue::bigint
FROM played WHERE player_id IN (SELECT player_id FROM named)
"""  # noqa: S608  (no user input)

STAKED = f"""
WITH part AS MATERIALIZED ({PARTS}), placed AS MATERIALIZED ({BETS}), each AS (
    SELECT total.version_id, total.currency, total.bet, total.staked
    FROM unnest(%(whole_since)s::timestamptz[], %(whole_until)s::timestamptz[]) AS whole (since, until)
    JOIN games_bethourlytotal AS total ON total.hour >= whole.since AND total.hour < whole.until AND total.mode =
        %(mode)s
    UNION ALL
    SELECT version_id, currency, bet, staked FROM placed
    UNION ALL
    SELECT part.version_id, part.currency, wager.bet, -wager.stake
    FROM ({VOIDED}) AS part JOIN games_wager AS wager ON wager.participation_id = part.id
)
SELECT version_id, currency, bet, sum(staked)::bigint FROM each GROUP BY version_id, currency, bet
"""  # noqa: S608  (no user input)


@dataclass(frozen=True)
class Played:
    """Totals of one period, table version and currency.

    Amounts are minor units.

    The first figures include voided rounds. The last four are the voided rounds alone.
    """

    period: int  # index of the period, from 0
    version_id: int
    currency: str
    rounds: int
    parts: int  # participations: each player counts once per round
    staked: int
    paid: int
    commission: int  # or tax
    voided: int  # rounds
    voided_staked: int
    voided_paid: int
    voided_commission: int
    is_between_players: bool  # Chemin de Fer: players stake against each other, not against the house

    @property
    def turnover(self) -> int:
        """Turnover: real stakes against the house in rounds that were not voided, at the time of the round.

        This is the one definition of turnover. Stakes between players (Chemin de Fer) are not part
        of it; see `between_players`.
        """
        return 0 if self.is_between_players else self.valid_staked

    @property
    def between_players(self) -> int:
        """The stakes of players against each other, bank and punters, in rounds that were not voided."""
        return self.valid_staked if self.is_between_players else 0

    @property
    def valid_rounds(self) -> int:
        """The number of rounds that were not voided."""
        return self.rounds - self.voided

    @property
    def valid_staked(self) -> int:
        """The stakes of rounds that were not voided."""
        return self.staked - self.voided_staked

    @property
    def valid_paid(self) -> int:
        """The payouts of rounds that were not voided, stakes included."""
        return self.paid - self.voided_paid

    @property
    def valid_commission(self) -> int:
        """The house's commission or tax in rounds that were not voided."""
        return self.commission - self.voided_commission

    @property
    def revenue(self) -> int:
        """Gross gaming revenue: stakes less payouts, without voided rounds."""
        return self.valid_staked - self.valid_paid


def played(bounds: Sequence[datetime], mode: Mode) -> list[Played]:
    """Return the totals of each period between two successive *bounds*, which ascend.

    A period includes its start and excludes its end. Periods, versions and currencies without a
    round are omitted.
    """
    with connection.cursor() as cursor:
        cursor.execute(PLAYED, _values(bounds, mode))
        return [Played(*row) for row in cursor.fetchall()]


@dataclass(frozen=True)
class PlayerTotals:
    """Totals of some players in one currency, in minor units of real money, without voided rounds."""

    currency: str
    players: int  # each counts once
    rounds: int  # rounds of each player, added up
    turnover: int  # see `Played.turnover`
    revenue: int  # the house's: stakes less payouts; negative if the players won


@dataclass(frozen=True)
class PlayersPlayed:
    """Players of some periods: the totals of each period and country, and the players who won and lost most."""

    periods: Sequence[Sequence[PlayerTotals]]  # by period, one for each currency
    countries: Sequence[tuple[str, PlayerTotals]]  # code of the jurisdiction
    players: Sequence[tuple[int, PlayerTotals]]  # player id; those who won most come first


def players_played(bounds: Sequence[datetime], most: int = 0) -> PlayersPlayed:
    """Return who played for real money between the first and the last of *bounds*, which ascend.

    Up to *most* players who won and *most* who lost are named in each currency.
    """
    periods: list[list[PlayerTotals]] = [[] for _ in bounds[1:]]
    countries, players = [], []
    with connection.cursor() as cursor:
        cursor.execute(PLAYERS, _values(bounds, Mode.REAL) | {"most": most})
        for what, key, *rest in cursor.fetchall():
            totals = PlayerTotals(*rest)
            match what:
                case "period":
                    periods[int(key)].append(totals)
                case "country":
                    countries.append((key, totals))
                case _:
                    players.append((int(key), totals))
    players.sort(key=lambda each: (each[1].revenue, each[0]))
    return PlayersPlayed(periods, sorted(countries, key=lambda each: (each[0], each[1].currency)), players)


@dataclass(frozen=True)
class PlayersTogether:
    """Players of some periods in any currency. A player who plays in two currencies counts once."""

    players: int
    steps: Mapping[int, int]  # players of each step
    by_country: Mapping[str, int]  # players by code of the jurisdiction
    countries: Sequence[tuple[str, int, PlayerTotals]]  # code of the jurisdiction, period
    named: Sequence[tuple[int, int, PlayerTotals]]  # id of a player who won or lost most, period


def players_together(
    bounds: Sequence[datetime], steps: Sequence[int], rates: Mapping[tuple[int, str], Fraction], most: int
) -> PlayersTogether:
    """Return who played for real money between the first and the last of *bounds*, which ascend.

    *steps* has the step of each period, and *rates* what a minor unit is worth, by period and currency. Up to *most*
    players who won and *most* who lost are named, by the sum of what is worth anything.
    """
    worth = sorted(rates.items())
    values = _values(bounds, Mode.REAL) | {
        "most": most,
        "steps": list(steps),
        "rated": [number for (number, _), _ in worth],
        "rated_in": [currency for (_, currency), _ in worth],
        "rates": [Decimal(rate.numerator) / rate.denominator for _, rate in worth],
    }
    players, by_step, by_country, countries, named = 0, dict[int, int](), dict[str, int](), [], []
    with connection.cursor() as cursor:
        cursor.execute(PLAYERS_TOGETHER, values)
        for what, key, number, *rest in cursor.fetchall():
            totals = PlayerTotals(*rest)
            match what:
                case "step":
                    by_step[int(key)] = totals.players
                case "all":
                    players = totals.players
                case "players":
                    by_country[key] = totals.players
                case "country":
                    countries.append((key, number, totals))
                case _:
                    named.append((int(key), number, totals))
    return PlayersTogether(players, by_step, by_country, countries, named)


def staked_on_bets(interval: Interval, mode: Mode) -> dict[tuple[int, str], dict[str, int]]:
    """Return the stakes on each bet, without voided rounds, by table version and currency."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(STAKED, _values((interval.since, interval.until), mode))
        for version_id, currency, bet, staked in cursor.fetchall():
            found.setdefault((version_id, currency), {})[bet] = staked
    return found


def first_played(since: datetime | None) -> datetime | None:
    """Return the time of the first round at or after *since*, or of the very first round if it is
    None.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIRST, {"since": since, "modes": list(Mode.values)})
        moment: datetime | None = cursor.fetchone()[0]
    return moment


def roll(hour: datetime) -> int:
    """Compute the totals of an hour. Return the number of participations read."""
    with connection.cursor() as cursor:
        cursor.execute(ROLL, _pieces([(0, Interval(hour, hour + HOUR))]) | {"modes": list(Mode.values)})
        read: int = cursor.fetchone()[0]
    return read


def differences(whole: Interval) -> Iterator[str]:
    """Recompute the totals of whole hours and yield a sentence for each difference to the stored
    ones.
    """
    begins = whole.since
    while begins < whole.until:
        ends = min(begins + CHECKED * HOUR, whole.until)
        hour, pieces = begins, []
        while hour < ends:
            pieces.append((0, Interval(hour, hour + HOUR)))
            hour += HOUR
        values = _pieces(pieces) | {"modes": list(Mode.values), "begins": begins, "ends": ends}
        with connection.cursor() as cursor:
            cursor.execute(DIFFERENCES, values)
            yield from (message for (message,) in cursor.fetchall())
        begins = ends


def _values(bounds: Sequence[datetime], mode: Mode) -> dict[str, Any]:
    """Return the query parameters of the periods: complete hours by totals, the rest by rows."""
    cuts = hours.cut(HOURLY_TOTALS, [Interval(since, until) for since, until in pairwise(bounds)])
    whole = [(number, cut.whole) for number, cut in enumerate(cuts) if cut.whole]
    return _pieces([(number, end) for number, cut in enumerate(cuts) for end in cut.ends]) | {
        "whole": [number for number, _ in whole],
        "whole_since": [interval.since for _, interval in whole],
        "whole_until": [interval.until for _, interval in whole],
        "bounds": list(bounds),
        "begins": bounds[0],
        "ends": bounds[-1],
        "mode": mode.value,
        "modes": [mode.value],
    }


def _pieces(pieces: Sequence[tuple[int, Interval]]) -> dict[str, Any]:
    return {
        "numbers": [number for number, _ in pieces],
        "since": [piece.since for _, piece in pieces],
        "until": [piece.until for _, piece in pieces],
    }
