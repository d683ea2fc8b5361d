"""Reports of revenue and voided rounds: every figure equals a sum of ledger entries."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.utils.translation import override

from audit import hours
from audit.reports.files import in_english
from audit.reports.kinds import Asked, Form, Interval, kind_of
from audit.staff_text import english, translated, word
from games.models import Void
from games.reports import performance, voids
from tests import played
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.hours import settle
from tests.people import a_member_of_staff
from wallet import exchange_rates
from wallet.exchange_rates import Rate

DAYS = Interval(played.BEGINS - timedelta(days=2), played.ENDS + timedelta(days=2))
ZONES = ("UTC", "Europe/Stockholm", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe")

# The revenue of valid rounds: what their journals moved onto the house's accounts. For a coup of
# Chemin de Fer that is the tax.
REVENUE = """
SELECT round.at, t.name, entry.currency, sum(entry.amount)::bigint
FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
JOIN wallet_account AS account ON account.id = entry.account_id AND account.kind = 'house'
JOIN games_round AS round ON round.id = journal.round_id
JOIN games_tableversion AS version ON version.id = round.table_version_id
JOIN games_table AS t ON t.id = version.table_id
WHERE entry.mode = 'R' AND journal.kind = 'settle' AND round.at >= %s AND round.at < %s
  AND NOT EXISTS (SELECT FROM wallet_journal AS back WHERE back.reverses_id = journal.id)
GROUP BY round.id, t.name, entry.currency
"""
# Stakes and payouts of players in rounds against the house.
STAKED = """
SELECT entry.currency, -sum(entry.amount) FILTER (WHERE journal.kind IN ('stake', 'held_stake'))::bigint,
    coalesce(sum(entry.amount) FILTER (WHERE journal.kind = 'settle'), 0)::bigint
FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
JOIN wallet_account AS account ON account.id = entry.account_id AND account.owner_id IS NOT NULL
JOIN games_round AS round ON round.id = journal.round_id
WHERE entry.mode = 'R' AND round.at >= %s AND round.at < %s
  AND NOT EXISTS (SELECT FROM wallet_journal AS back WHERE back.round_id = round.id AND back.reverses_id IS NOT NULL)
  AND NOT EXISTS (SELECT FROM games_void WHERE round_id = round.id)
  AND NOT EXISTS (SELECT FROM games_chemincoup WHERE round_id = round.id)
GROUP BY entry.currency
"""
# The money that the house paid in before rounds were reversed.
PUT_IN = """
SELECT entry.currency,
    coalesce(-sum(entry.amount) FILTER (WHERE journal.kind = 'void_shortfall' AND account.kind = 'house'), 0)::bigint
FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
JOIN wallet_account AS account ON account.id = entry.account_id
JOIN games_void AS void ON void.round_id = journal.round_id
WHERE entry.mode = 'R' AND void.at >= %s AND void.at < %s
GROUP BY entry.currency
"""


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), databases.clone("reported") as database:
        begun = played.House()
        begun.play()
        played.spread(database)
        settle(played.BEGINS + timedelta(hours=played.HOURS // 2))
        hours.roll_due()
        yield database


@pytest.fixture
def opened(house, django_db_blocker):
    with django_db_blocker.unblock():
        yield house


def query(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def read(kind, interval, zone="UTC", **choices):
    """Return rows and totals by column name."""
    answer = kind.answer(Asked(interval, choices, zone))
    names = [column.name for column in kind.columns]
    rows = [dict(zip(names, in_english(row), strict=True)) for row in answer.rows]
    assert answer.of == len(rows)
    return rows, [dict(zip(names, in_english(row), strict=True)) for row in answer.totals()]


def by_day(rows, zone):
    """Return the ledger's figures for each day, table and currency."""
    found: dict[tuple[str, str, str], int] = {}
    for at, table, currency, amount in rows:
        key = (at.astimezone(ZoneInfo(zone)).date().isoformat(), table, currency)
        found[key] = found.get(key, 0) + amount
    return found


@pytest.mark.parametrize("kind", sample(["revenue", "voids"], 1))
def test_totals_are_the_sums_of_their_columns(opened, kind):
    found = kind_of(kind)
    assert found is not None
    rows, totals = read(found, Interval(DAYS.since, datetime.now(UTC) + timedelta(hours=1)))
    assert {row["currency"] for row in totals} == {row["currency"] for row in rows} == {"SEK", "DKK"}
    for total in totals:
        for column in found.columns:
            if column.form in (Form.MONEY, Form.NUMBER):
                of_it = (row[column.name] for row in rows if row["currency"] == total["currency"])
                assert total[column.name] == sum(of_it), column.name


class TestRevenue:
    @pytest.mark.parametrize("zone", sample(ZONES, 2))
    def test_of_each_day_table_and_currency_is_what_the_ledger_says(self, opened, zone):
        rows, _ = read(performance.REVENUE, DAYS, zone)
        ledger = by_day(query(REVENUE, DAYS.since, DAYS.until), zone)
        found = {(row["day"], row["table"], row["currency"]): 0 for row in rows}
        for row in rows:
            found[row["day"], row["table"], row["currency"]] += row["revenue"]
        assert {key: amount for key, amount in found.items() if amount} == {
            key: amount for key, amount in ledger.items() if amount
        }
        assert len({day for day, _, _ in found}) >= 2

    def test_days_are_those_of_the_zone_and_lose_no_round(self, opened):
        """Also if a day has another length or begins between two hours."""
        sums = [
            [(row["currency"], row["rounds"], row["turnover"], row["paid"], row["revenue"]) for row in totals]
            for totals in (read(performance.REVENUE, DAYS, zone)[1] for zone in ZONES)
        ]
        assert all(each == sums[0] for each in sums)

    def test_of_all_currencies_is_that_of_each_at_the_rates_of_its_days(self, opened):
        first, last = played.BEGINS.date(), played.ENDS.date()
        with transaction.atomic():  # undone at the end: other tests see the same house
            exchange_rates.store(
                [Rate("SEK", first, Decimal("11.03"))], by=(by := a_member_of_staff("finance")), is_imported=False
            )
            _rows, (without,) = read(performance.REVENUE_TOGETHER, DAYS)
            assert (without["turnover"], without["revenue"]) == (None, None)
            exchange_rates.store(
                [Rate("DKK", first, Decimal("7.457")), Rate("SEK", last, Decimal("10.9"))], by=by, is_imported=False
            )
            rows, (total,) = read(performance.REVENUE_TOGETHER, DAYS)
            each, _totals = read(performance.REVENUE, DAYS)
            transaction.set_rollback(True)
        worth = [Fraction(Decimal(row["rate"])) for row in rows]
        for name in ("turnover", "between_players", "revenue"):
            parts = [Fraction(line[name]) / rate for line, rate in zip(each, worth, strict=True)]
            assert [row[name] for row in rows] == [round(part) for part in parts]
            assert total[name] == round(sum(parts))
        assert {(row["played_in"], row["rate"]) for row in rows} >= {("SEK", "11.03"), ("DKK", "7.457")}
        assert all(row["rate_day"] <= row["day"] and row["currency"] == "EUR" for row in rows)
        assert total["rounds"] == sum(row["rounds"] for row in rows)

    @pytest.mark.parametrize("language", ["sv", "da", "ro", "de"])
    def test_in_one_currency_is_explained_in_the_reader_s_language(self, opened, language):
        notes = performance.REVENUE_TOGETHER.answer(Asked(DAYS, {}, "UTC")).notes()
        assert any("SEK" in english(note) for note in notes)  # which has no rate
        with override(language):
            shown = [translated(word(note) if isinstance(note, str) else note) for note in notes]
        assert not {english(note) for note in notes} & set(shown)

    def test_stakes_and_payouts_are_those_of_the_ledger(self, opened):
        rows, _ = read(performance.REVENUE, DAYS)
        found = {
            currency: (sum(row["turnover"] for row in of_it), sum(row["paid"] for row in of_it))
            for currency, of_it in (
                (key, list(group))
                for key, group in groupby(
                    sorted(
                        (row for row in rows if not row["table"].startswith("Chemin")), key=lambda row: row["currency"]
                    ),
                    key=lambda row: row["currency"],
                )
            )
        }
        assert found == {currency: (staked, paid) for currency, staked, paid in query(STAKED, DAYS.since, DAYS.until)}

    def test_of_rounds_against_players_is_the_tax(self, opened):
        rows, _ = read(performance.REVENUE, DAYS)
        chemin = [row for row in rows if row["table"].startswith("Chemin")]
        assert all(row["revenue"] == row["commission"] for row in chemin)
        # They are stakes between players, and no turnover of the house.
        assert all(row["turnover"] == 0 for row in chemin)
        assert sum(row["between_players"] for row in chemin) > 0
        assert all(row["between_players"] == 0 for row in rows if row not in chemin)

    def test_voided_rounds_are_excluded_and_listed_separately(self, opened):
        rows, totals = read(performance.REVENUE, DAYS)
        voided = query(
            "SELECT count(*) FROM games_void JOIN games_round AS r ON r.id = round_id JOIN games_participation AS p"
            " ON p.round_id = r.id WHERE r.mode = 'R' AND p.currency = 'DKK' AND r.at < %s",
            DAYS.until,
        )
        assert [total["voided_rounds"] for total in totals if total["currency"] == "DKK"] == [voided[0][0]]
        assert all(row["turnover"] + row["between_players"] - row["paid"] == row["revenue"] for row in rows)

    def test_of_nothing_is_no_row(self, opened):
        for interval in (
            Interval(DAYS.since - timedelta(days=9), DAYS.since),
            Interval(DAYS.until, DAYS.until + timedelta(days=9)),
        ):
            assert read(performance.REVENUE, interval) == ([], [])

    def test_can_be_asked_for_one_game_and_currency(self, opened):
        rows, _ = read(performance.REVENUE, DAYS, game="golden", currency="DKK")
        assert {(row["game"], row["currency"]) for row in rows} == {("Golden Baccarat", "DKK")}


class TestVoidedRounds:
    def test_are_all_there_with_what_the_house_put_in(self, opened):
        now = datetime.now(UTC) + timedelta(hours=1)
        rows, totals = read(voids.KIND, Interval(DAYS.since, now))
        assert len({row["round"] for row in rows}) == Void.objects.filter(round__mode="R").count() >= 8
        ledger = dict(query(PUT_IN, DAYS.since, now))
        assert {total["currency"]: total["shortfall"] for total in totals} == ledger
        assert sum(total["shortfall"] for total in totals) > 0

    def test_say_what_lay_on_them_and_came_back(self, opened):
        rows, _ = read(voids.KIND, Interval(DAYS.since, datetime.now(UTC) + timedelta(hours=1)))
        solo = [row for row in rows if row["game"] in ("Baccarat", "Golden Baccarat")]
        assert solo
        assert all(row["returned"] == row["staked"] - row["paid"] for row in solo)
        assert {row["reason"] for row in solo} == {"seed does not reproduce the round"}

    def test_stand_where_they_were_voided_and_not_where_they_were_played(self, opened):
        assert read(voids.KIND, DAYS) == ([], [])
