"""Hourly totals of play: for any interval they agree exactly with the rows."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import psycopg
import pytest
from django.db import connection, connections

from audit import hours
from audit.hours import HOUR
from audit.models import Rolled
from audit.reports.kinds import Interval
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played
from games.models import BetHourlyTotal, GameHourlyTotal
from tests import played
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.hours import settle
from wallet.ledger import hourly_totals as ledger_totals
from wallet.models import Mode

# The same figures from all rows, without stored totals.
PLAINLY = """
SELECT round.table_version_id, part.currency, count(DISTINCT round.id), count(*), sum(part.staked)::bigint,
    sum(part.paid)::bigint, sum(part.commission)::bigint, count(DISTINCT round.id) FILTER (WHERE void IS NOT NULL),
    coalesce(sum(part.staked) FILTER (WHERE void IS NOT NULL), 0)::bigint,
    coalesce(sum(part.paid) FILTER (WHERE void IS NOT NULL), 0)::bigint,
    coalesce(sum(part.commission) FILTER (WHERE void IS NOT NULL), 0)::bigint,
    (SELECT shape = 'chemin' FROM games_table WHERE id = part.table_id)
FROM games_participation AS part JOIN games_round AS round ON round.id = part.round_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE round.at >= %s AND round.at < %s AND round.mode = %s GROUP BY 1, 2, part.table_id ORDER BY 1, 2
"""
PLAYERS = """
SELECT part.player_id, player.jurisdiction_id, part.currency, count(*),
    coalesce(sum(part.staked) FILTER (WHERE t.shape <> 'chemin'), 0)::bigint, sum(part.staked - part.paid)::bigint
FROM games_participation AS part JOIN games_table AS t ON t.id = part.table_id
JOIN players_player AS player ON player.id = part.player_id
WHERE part.at >= %s AND part.at < %s AND part.mode = 'R'
  AND NOT EXISTS (SELECT FROM games_void WHERE round_id = part.round_id)
GROUP BY 1, 2, 3
"""
STAKED = """
SELECT round.table_version_id, part.currency, wager.bet, sum(wager.stake)::bigint
FROM games_wager AS wager JOIN games_participation AS part ON part.id = wager.participation_id
JOIN games_round AS round ON round.id = part.round_id
WHERE round.at >= %s AND round.at < %s AND round.mode = %s
  AND NOT EXISTS (SELECT FROM games_void WHERE round_id = round.id)
GROUP BY 1, 2, 3
"""
SQUARES = """
SELECT date_trunc('hour', at, 'UTC'), version, mode, currency, bet, count(*), sum(lain * lain) FROM (
    SELECT round.at, round.table_version_id AS version, part.mode, part.currency, wager.bet, sum(wager.stake) AS lain
    FROM games_wager AS wager JOIN games_participation AS part ON part.id = wager.participation_id
    JOIN games_round AS round ON round.id = part.round_id
    GROUP BY round.id, part.mode, part.currency, wager.bet) AS bets
WHERE at < %s GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker):
    """Rounds in the past and a few recent ones; all but the last hours are in the totals."""
    with django_db_blocker.unblock(), databases.clone("played") as database:
        house = played.House()
        house.play()
        played.spread(database)
        house.play(rounds=1)
        settle(played.ENDS - 5 * HOUR)
        hours.roll_due()
        yield database


@pytest.fixture
def opened(house, django_db_blocker):
    with django_db_blocker.unblock():
        yield house


@pytest.fixture
def copied(house, django_db_blocker):
    """A copy that a test may change. No connection to the original may be open while it is made."""
    connections.close_all()
    with (
        django_db_blocker.unblock(),
        databases.clone("tampered", like=house.name) as database,
        psycopg.connect(database.superuser_url, autocommit=True) as superuser,
    ):
        superuser.execute("SET session_replication_role = replica")
        yield superuser


def query(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def plainly(bounds, mode):
    return [
        Played(period, *row)
        for period, (since, until) in enumerate(pairwise(bounds))
        for row in query(PLAINLY, since, until, mode)
    ]


def random_bounds(chance: Random, count: int) -> list[datetime]:
    """Return random moments around the first and last round, some on the hour."""
    span = played.ENDS - played.BEGINS + 4 * HOUR
    moments = [played.BEGINS - 2 * HOUR + span * chance.random() for _ in range(count)]
    moments = [moment if chance.random() < 0.6 else hours._hour_of(moment) for moment in moments]
    return sorted(moments + ([datetime.now(UTC) + HOUR] if chance.random() < 0.5 else []))


class TestTheSumsOfAnyInterval:
    @pytest.mark.parametrize("mode", list(Mode))
    @pytest.mark.parametrize("seed", sample(range(20), 2))
    def test_are_those_of_its_rows(self, opened, seed, mode):
        bounds = random_bounds(Random(seed), 2 + seed % 7)
        assert hourly_totals.played(bounds, mode) == plainly(bounds, mode)

    @pytest.mark.parametrize("mode", list(Mode))
    @pytest.mark.parametrize("seed", sample(range(20), 1))
    def test_are_those_of_its_bets(self, opened, seed, mode):
        bounds = random_bounds(Random(seed), 2)
        whole = Interval(bounds[0], bounds[-1])
        found = {
            (version, currency, bet): staked
            for (version, currency), bets in hourly_totals.staked_on_bets(whole, mode).items()
            for bet, staked in bets.items()
            if staked
        }
        assert found == {tuple(row[:3]): row[3] for row in query(STAKED, whole.since, whole.until, mode)}

    def test_are_read_from_sums_and_rows_alike(self, opened):
        """Otherwise the comparison would prove little."""
        first = query(
            "SELECT min(at) FROM games_participation WHERE mode = 'R' AND at <> date_trunc('hour', at, 'UTC')"
        )[0][0]
        (cut,) = hours.cut(hourly_totals.HOURLY_TOTALS, [Interval(first, datetime.now(UTC))])
        assert cut.whole is not None
        assert len(cut.ends) == 2
        assert all(plainly([end.since, end.until], Mode.REAL) for end in cut.ends)
        assert GameHourlyTotal.objects.filter(hour__gte=cut.whole.since).count() > 10

    def test_have_voided_rounds_of_every_kind_in_them(self, opened):
        of = hourly_totals.played([played.BEGINS, played.ENDS], Mode.REAL)
        assert sum(each.voided for each in of) >= 10
        assert sum(each.voided_paid for each in of) > 0
        assert any(each.commission for each in of)
        assert {each.currency for each in of} == {"SEK", "DKK"}


class TestPlayers:
    def test_are_those_of_a_plain_count_over_the_rows(self, opened):
        bounds = [played.BEGINS + number * timedelta(hours=3, minutes=7) for number in range(14)]
        found = hourly_totals.players_played(bounds, most=100)
        for since, until, of_period in zip(bounds, bounds[1:], found.periods, strict=False):
            by_currency = Counter(currency for _, _, currency, *_ in query(PLAYERS, since, until))
            assert {each.currency: each.players for each in of_period} == by_currency
        rows = query(PLAYERS, bounds[0], bounds[-1])
        assert rows
        named = {(player, each.currency, each.rounds, each.turnover, each.revenue) for player, each in found.players}
        assert named == {(player, *rest) for player, _, *rest in rows if rest[-1]}
        revenues = [each.revenue for _, each in found.players]
        assert revenues == sorted(revenues)
        assert revenues[0] < 0 < revenues[-1]
        for country, each in found.countries:
            of_it = [row[3:] for row in rows if row[1:3] == (country, each.currency)]
            assert (each.players, each.rounds, each.turnover, each.revenue) == (
                len(of_it),
                *map(sum, zip(*of_it, strict=True)),
            )
        assert sum(each.players for _, each in found.countries) == len(rows)

    def test_at_most_so_many_are_named_in_each_currency(self, opened):
        found = hourly_totals.players_played([played.BEGINS, played.ENDS], most=1).players
        for currency in ("SEK", "DKK"):
            revenues = [each.revenue for _, each in found if each.currency == currency]
            assert sum(revenue < 0 for revenue in revenues) <= 1
            assert sum(revenue > 0 for revenue in revenues) <= 1

    def test_staked_against_the_house_and_against_each_other_is_kept_apart(self, opened):
        found = hourly_totals.played([played.BEGINS, played.ENDS], Mode.REAL)
        chemin = [each for each in found if each.is_between_players]
        assert sum(each.between_players for each in chemin) > 0
        assert all(each.turnover == 0 and each.revenue == each.valid_commission for each in chemin)
        assert all(each.between_players == 0 for each in found if not each.is_between_players)


class TestAnHour:
    def test_keeps_for_each_bet_the_squares_of_what_lay_on_it_in_each_round(self, opened):
        until = hours.rolled_until(hourly_totals.HOURLY_TOTALS)
        kept = BetHourlyTotal.objects.order_by("hour", "version_id", "mode", "currency", "bet").values_list(
            "hour", "version_id", "mode", "currency", "bet", "rounds", "squares"
        )
        assert list(kept) == query(SQUARES, until)

    def test_says_how_many_rows_were_read(self, opened):
        read = {
            rolled.hour: rolled.rows
            for rolled in Rolled.objects.filter(totals=hourly_totals.HOURLY_TOTALS)
            if rolled.rows
        }
        found = query("SELECT date_trunc('hour', at, 'UTC'), count(*) FROM games_participation GROUP BY 1")
        until = hours.rolled_until(hourly_totals.HOURLY_TOTALS)
        assert read == {hour: rows for hour, rows in found if hour < until}

    def test_and_the_first_one_is_that_of_the_first_round(self, opened):
        ((first,),) = query("SELECT min(at) FROM games_participation")
        assert hourly_totals.first_played(None) == hourly_totals.first_played(first) == first
        assert Rolled.objects.filter(totals=hourly_totals.HOURLY_TOTALS).order_by("hour")[0].hour == hours._hour_of(
            first
        )
        ((later,),) = query("SELECT min(at) FROM games_participation WHERE at > %s", first)
        assert hourly_totals.first_played(first + timedelta.resolution) == later
        assert hourly_totals.first_played(datetime.now(UTC) + HOUR) is None


class TestTheCheck:
    def test_finds_nothing_where_nothing_is_wrong(self, opened):
        found = hours.verify(Interval(datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)))
        # Journals were spread without regard to their ids, so the ledger's totals miss some of them.
        assert [sentence for name, sentence in found if name != ledger_totals.HOURLY_TOTALS] == []

    @pytest.mark.parametrize(
        ("damage", "said"),
        sample(
            [
                (
                    (
                        "UPDATE games_gamehourlytotal SET staked = staked + 1 WHERE ctid = (SELECT min(ctid) "
                        "FROM games_gamehourlytotal)"
                    ),
                    "totals of",
                ),
                (
                    ("DELETE FROM games_gamehourlytotal WHERE ctid = (SELECT min(ctid) FROM games_gamehourlytotal)"),
                    "nothing is stored",
                ),
                (
                    (
                        "UPDATE games_playerhourlytotal SET paid = paid + 1 WHERE ctid = (SELECT min(ctid) "
                        "FROM games_playerhourlytotal)"
                    ),
                    "player totals of",
                ),
                (
                    (
                        "UPDATE games_bethourlytotal SET squares = 1 WHERE ctid = (SELECT min(ctid) "
                        "FROM games_bethourlytotal)"
                    ),
                    "bet totals of",
                ),
                (
                    "DELETE FROM games_participation WHERE at = (SELECT min(at) FROM games_participation)",
                    "the rows say",
                ),
            ],
            1,
        ),
    )
    def test_says_which_hour_is_not_what_its_rows_say(self, copied, damage, said):
        copied.execute(damage)
        found = hours.verify(Interval(datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)))
        assert any(said in sentence for name, sentence in found if name == hourly_totals.HOURLY_TOTALS)
