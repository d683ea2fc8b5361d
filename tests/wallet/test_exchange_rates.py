"""Exchange rates: entered and imported by finance, all or none, each change in the log, and nothing written past the
function of the database.
"""

import io
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit.raw_rows import sqlstate
from audit.reports.requests import clock
from tests.harness.product import PROJECT
from tests.people import a_member_of_staff, a_visitor, events
from wallet import exchange_rates
from wallet.exchange_rates import BadFile, Rate, Rates
from wallet.models import ExchangeRate

ADDRESS = "/staff/exchange-rates/"
FRIDAY, SATURDAY, MONDAY = date(2026, 3, 20), date(2026, 3, 21), date(2026, 3, 23)
ECB = b"""Date,USD,DKK,GBP,RON,SEK,ISK,
2026-03-23,1.08,7.4579,0.8421,N/A,11.05,N/A,
2026-03-20,1.09,7.4580,,5.0762,11,150,
"""


def reader(role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def stored(*rates, imported=False):
    return exchange_rates.store(
        [Rate(code, day, Decimal(value)) for code, day, value in rates],
        by=a_member_of_staff("finance"),
        is_imported=imported,
    )


class TestAFile:
    def test_has_a_rate_on_each_line_with_a_point_or_a_comma(self):
        found = exchange_rates.read_file(
            "\ufeffdate;currency;rate\n2026-03-20;sek;11,0345\n\n2026-03-20;DKK;7.4579\n".encode(), today=MONDAY
        )
        assert found == [Rate("SEK", FRIDAY, Decimal("11.0345")), Rate("DKK", FRIDAY, Decimal("7.4579"))]

    def test_of_the_european_central_bank_is_read_as_it_is(self):
        found = {(rate.currency, rate.day): rate.value for rate in exchange_rates.read_file(ECB, today=MONDAY)}
        assert found == {
            ("SEK", MONDAY): Decimal("11.05"),
            ("DKK", MONDAY): Decimal("7.4579"),
            ("GBP", MONDAY): Decimal("0.8421"),
            ("SEK", FRIDAY): Decimal("11"),
            ("DKK", FRIDAY): Decimal("7.4580"),
            ("RON", FRIDAY): Decimal("5.0762"),
        }

    def test_with_wrong_lines_names_each_of_them(self):
        lines = [
            "date,currency,rate",
            "2026-03-20,SEK,11",
            "20.03.2026,SEK,11",
            "2026-03-24,SEK,11",
            "2026-03-20,USD,1.1",
            "2026-03-20,DKK,1.000,5",
            "2026-03-20,GBP,0",
            "2026-03-20,RON,five",
            "2026-03-20,SEK,11.1",
        ]
        with pytest.raises(BadFile) as refused:
            exchange_rates.read_file("\n".join(lines).encode(), today=MONDAY)
        assert list(refused.value.faults) == [
            "Line 3: “20.03.2026” is not a date. Write 2026-11-27.",
            "Line 4: 2026-03-24 is before the year 2000 or in the future.",
            "Line 5: “USD” is not one of SEK, DKK, RON, GBP.",
            "Line 6: 4 cells, but 3 columns in the header row.",
            "Line 7: The rate must be above zero and at most 1000000.",
            "Line 8: “five” is not a rate. Write 11.0345 or 11,0345.",
            "Line 9: 2026-03-20 has more than one rate for SEK.",
        ]

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "The file is empty."),
            (b"day,sek\n2026-03-20,11\n", "The header row must be"),
            (b"date,sek,sek\n2026-03-20,11,12\n", "The header row must be"),
            (b"date,usd\n2026-03-20,1.1\n", "The header row must be"),
            (b"date,sek\n2026-03-20,N/A\n", "The file has no rate"),
            (b"\xff\xfed\x00", "The file is not text"),
            (b'date,sek\n"2026-03-20,11\n', "Line 2: unexpected end of data"),
            (b"x" * (exchange_rates.MOST_BYTES + 1), "The file is larger than 1 MB."),
        ],
    )
    def test_that_is_none_is_refused_as_a_whole(self, content, fault):
        with pytest.raises(BadFile, match=fault):
            exchange_rates.read_file(content, today=MONDAY)


def test_some_years_of_rates_are_verified_without_a_file_of_their_events(cloned_db):
    days = [FRIDAY - timedelta(days=number) for number in range(exchange_rates.MOST)]
    for code in ("SEK", "DKK", "RON"):
        stored(*((code, day, "11") for day in days), imported=True)
    with psycopg.connect(cloned_db.superuser_url) as superuser:
        superuser.execute("SET temp_file_limit = '1MB'; SET work_mem = '16MB'")
        assert superuser.execute("SELECT * FROM wallet_verify_exchange_rates()").fetchall() == []


@pytest.mark.django_db
class TestThePage:
    def test_stores_the_rates_of_a_day_with_an_event_of_the_staff_member(self):
        finance, today = reader("finance"), clock().date()
        entered = {"day": today.isoformat(), "SEK": "11,0345", "DKK": "7.4579", "GBP": "", "RON": ""}
        assert "2 rates are stored." in finance.post(ADDRESS, entered, follow=True).text
        shown = finance.get(ADDRESS).text
        assert "11.0345" in shown
        assert ">SEK</" in shown
        assert "7.4579" in shown
        (event,) = events("exchange_rates.entered", on="exchange-rates:EUR")
        assert event["by"].startswith("staff:")
        assert event["data"] == {
            "imported": False,
            "rates": [[today.isoformat(), "DKK", "7.4579", None], [today.isoformat(), "SEK", "11.0345", None]],
        }
        assert "in force already" in finance.post(ADDRESS, entered, follow=True).text
        assert ExchangeRate.objects.count() == 2

    def test_a_correction_is_a_new_row_and_an_event_with_the_rate_before(self):
        stored(("SEK", FRIDAY, "11.1"))
        reader("finance").post(ADDRESS, {"day": FRIDAY.isoformat(), "SEK": "11.0"})
        (event,) = events("exchange_rates.corrected")
        assert event["data"]["rates"] == [["2026-03-20", "SEK", "11", "11.1"]]
        assert [f"{each:f}" for each in ExchangeRate.objects.order_by("pk").values_list("rate", flat=True)] == [
            "11.10000000",
            "11.00000000",
        ]
        assert Rates.read(FRIDAY, FRIDAY).factor("SEK", FRIDAY) == Fraction(1, 11)

    def test_a_file_is_imported_and_one_wrong_line_imports_nothing(self):
        finance = reader("finance")
        wrong = io.BytesIO(b"date,currency,rate\n2026-03-20,SEK,11\n2026-03-20,SEK,12\n")
        wrong.name = "rates.csv"
        shown = finance.post(ADDRESS, {"file": wrong}).text
        assert "Line 3: 2026-03-20 has more than one rate for SEK." in shown
        assert not ExchangeRate.objects.exists()
        right = io.BytesIO(ECB)
        right.name = "eurofxref-hist.csv"
        assert "6 rates are stored." in finance.post(ADDRESS, {"file": right}, follow=True).text
        assert events("exchange_rates.entered")[0]["data"]["imported"] is True

    @pytest.mark.parametrize(
        ("asked", "fault"),
        [
            ({"day": "2999-01-01", "SEK": "11"}, "This date is in the future."),
            ({"day": "2026-03-20"}, "Enter at least one rate."),
            ({"day": "2026-03-20", "SEK": "1.234,5"}, "is not a rate"),
        ],
    )
    def test_says_what_is_wrong(self, asked, fault):
        assert fault in reader("finance").post(ADDRESS, asked).text
        assert not ExchangeRate.objects.exists()

    def test_is_read_by_compliance_which_enters_nothing(self):
        compliance = reader("compliance")
        assert "Save rates" not in compliance.get(ADDRESS).text
        assert compliance.post(ADDRESS, {"day": "2026-03-20", "SEK": "11"}).status_code == 403


@pytest.mark.django_db
class TestTheDatabase:
    @pytest.mark.parametrize(
        ("role", "statement", "refusal"),
        [
            ("compliance", """SELECT {call}('[["2026-03-20","SEK","11"]]', false)""", "SB170"),
            ("finance", "SELECT {call}('[]', false)", "SB171"),
            ("finance", "SELECT {call}('{{}}', false)", "SB171"),
            ("finance", """SELECT {call}('[["2026-03-20","SEK","11"],["2026-03-20","SEK","12"]]', false)""", "SB171"),
            ("finance", """SELECT {call}('[["2999-03-20","SEK","11"]]', false)""", "SB171"),
            ("finance", """SELECT {call}('[["2026-03-20","SEK","0"]]', false)""", "SB171"),
            ("finance", """SELECT {call}('[["2026-03-20","SEK",null]]', false)""", "SB171"),
            ("finance", """SELECT {call}('[["2026-03-20","SEK","NaN"]]', false)""", "SB171"),
            ("finance", """SELECT {call}('[["2026-03-20","EUR","1"]]', false)""", "23514"),
            ("finance", """SELECT {call}('[["2026-03-20","USD","1"]]', false)""", "23514"),
            (
                "finance",
                (
                    "INSERT INTO wallet_exchange_rate (day, base, currency, rate, is_imported, by_id)"
                    " VALUES ('2026-03-20', 'EUR', 'SEK', 1, false, {staff})"
                ),
                "42501",
            ),
            ("finance", "UPDATE wallet_exchange_rate SET rate = 1", "42501"),
            ("finance", "DELETE FROM wallet_exchange_rate", "42501"),
        ],
    )
    def test_takes_no_rate_past_the_rules(self, role, statement, refusal):
        staff = a_member_of_staff(role).pk
        stored(("SEK", FRIDAY, "11"))
        said = statement.format(staff=staff, call=f"wallet_store_exchange_rates({staff}, 'EUR', ").replace(
            ", ('", ", '"
        )
        with pytest.raises(DatabaseError) as refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(said)
        assert sqlstate(refused.value) == refusal
        assert ExchangeRate.objects.count() == 1

    def test_stores_a_year_of_business_days_in_one_event(self):
        days = [FRIDAY - timedelta(days=number) for number in range(250)]
        assert (
            stored(*((code, day, "123456.12345678") for day in days for code in ("SEK", "DKK", "RON", "GBP"))) == 1000
        )
        (event,) = events("exchange_rates.entered")
        assert len(event["data"]["rates"]) == 1000


@pytest.mark.django_db
class TestRates:
    def test_of_a_day_without_one_are_those_of_the_last_day_before_it(self):
        stored(("SEK", FRIDAY, "11"), ("SEK", MONDAY, "12"), ("DKK", MONDAY, "7.5"))
        found = Rates.read(SATURDAY, MONDAY)
        assert found.on("SEK", SATURDAY) == Rate("SEK", FRIDAY, Decimal("11"))
        assert found.factor("SEK", MONDAY) == Fraction(1, 12)
        assert found.factor("DKK", SATURDAY) is None
        assert found.factor("EUR", SATURDAY) == 1
        used = found.used([("SEK", SATURDAY), ("SEK", MONDAY), ("DKK", SATURDAY)])
        assert [(each.rate.value, each.first, each.last, each.is_earlier) for each in used] == [
            (Decimal("11"), SATURDAY, SATURDAY, True),
            (Decimal("12"), MONDAY, MONDAY, False),
        ]

    def test_against_another_reporting_currency_are_left_alone(self, settings):
        stored(("SEK", FRIDAY, "11"))
        settings.REPORTING_CURRENCY = "SEK"
        assert Rates.read(FRIDAY, FRIDAY).factor("EUR", FRIDAY) is None


def test_no_function_of_the_database_but_one_names_rates():
    """The functions that move money are in the database; a contract in pyproject.toml checks the imports of Python."""
    named = [path.name for path in PROJECT.glob("*/sql/**/*.sql") if "wallet_exchange_rate" in path.read_text()]
    assert sorted(named) == ["exchange_rates.sql", "triggers.sql"]
