"""The dashboard: its figures equal the reports, its links lead to what they count, each role has
its panels.
"""

import html
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from socket import socket
from time import monotonic
from uuid import uuid4
from zoneinfo import ZoneInfo

import psycopg
import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.db import connection, connections
from django.db.models import Count
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from kombu import Connection

from audit import hours, log
from audit.models import Report, ReportState, Rolled, Watermark
from audit.reports.kinds import Asked, Interval
from audit.reports.requests import ask, clock
from backoffice.dashboard import breakdowns, figures, views
from backoffice.dashboard import money as money
from backoffice.dashboard import queues as waiting
from backoffice.dashboard.period import PeriodForm
from games.models import LiveRound, Participation, Phase
from games.reports import performance
from games.shared import phases
from ops import beat
from players.mail import write_to
from players.models import Mail
from tests import played, reports_history
from tests.audit.reporting import a_broken_kind, made_here, registered
from tests.builders import a_player, a_round, a_table
from tests.harness import databases
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.hours import LONG_AGO, settle
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import a_member_of_staff, a_visitor, events
from tests.returns.sums import HOUR, summed_up
from tests.voiding import void_unreproduced
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.payout_builders import a_withdrawal
from tests.wallet.statement_builders import confirmed, named
from wallet import exchange_rates, reports
from wallet.models import Mode
from wallet.money import format_money

ADDRESS = "/staff/dashboard/"
FRIDAY, SATURDAY, MONDAY = date(2026, 3, 20), date(2026, 3, 21), date(2026, 3, 23)
DAYS = {"period": "own", "since": "2026-03-27", "until": "2026-03-31"}
ZONES = ("UTC", "Europe/Stockholm", "Asia/Kathmandu")
STATEMENTS = 21  # of the figures of a period and of the period before
PLAINLY = """
SELECT part.currency, count(DISTINCT part.player_id), count(DISTINCT part.round_id),
    coalesce(sum(part.staked) FILTER (WHERE t.shape <> 'chemin'), 0),
    coalesce(sum(part.staked - part.paid) FILTER (WHERE t.shape <> 'chemin'), 0),
    coalesce(sum(part.staked - part.paid) FILTER (WHERE t.shape = 'chemin'), 0)
FROM (VALUES (%s::timestamptz, %s::timestamptz)) AS span (since, until)
JOIN games_participation AS part ON part.at >= span.since AND part.at < span.until AND part.mode = 'R'
JOIN games_table AS t ON t.id = part.table_id
WHERE NOT EXISTS (SELECT FROM games_void WHERE round_id = part.round_id)
GROUP BY part.currency, span.since, span.until
"""
CHANGED = """
SELECT entry.currency, coalesce(sum(entry.amount) FILTER (WHERE a.kind = 'cash' AND j.kind LIKE 'deposit%%'), 0),
    coalesce(-sum(entry.amount) FILTER (WHERE a.kind = 'pending' AND j.kind = 'withdraw_paid'), 0),
    coalesce(-sum(entry.amount) FILTER (WHERE a.kind IN ('house', 'adjusted')
        AND j.kind IN ('adjustment', 'void_shortfall')), 0)
FROM wallet_entry AS entry JOIN wallet_journal AS j ON j.id = entry.journal_id
JOIN wallet_account AS a ON a.id = entry.account_id
WHERE entry.mode = 'R' AND j.at >= %s AND j.at < %s GROUP BY entry.currency
"""


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), databases.clone("dashboard") as database:
        played.House().play()
        played.spread(database)
        settle(played.BEGINS + timedelta(hours=played.HOURS // 2))
        hours.roll_due()
        yield database


@pytest.fixture
def opened(house, django_db_blocker):
    with django_db_blocker.unblock():
        yield house


def as_staff(role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def page(reader, address=ADDRESS, status=200, **query):
    answer = reader.get(address, query)
    assert answer.status_code == status
    return html.unescape(answer.content.decode())


def span_of(now, **asked):
    form = PeriodForm(asked, now=now)
    assert form.is_valid(), form.errors
    return form.span(now)


def board_of(span, currency):
    board = money.read_board(span, currency)
    assert board is not None
    return board


def around_now():
    """Yesterday and today, until a minute from now, so that everything is included."""
    now = clock() + timedelta(minutes=1)
    return span_of(now, period="own", since=(now - timedelta(days=1)).date(), until=now.date())


def totals(kind, span, **choices):
    answer = kind.answer(Asked(span.interval, choices, span.zone))
    list(answer.rows)
    names = [column.name for column in kind.columns]
    return [dict(zip(names, row, strict=True)) for row in answer.totals()]


def linked(shown, report, what):
    """Return the figure on a dashboard that links to a report, "" if none does."""
    link = rf'href="/staff/reports/{report.pk}/">([^<]*)<span class="visually-hidden">, {what}: report {report.pk},'
    found = re.search(link, shown)
    return found[1] if found else ""


class TestPlay:
    @pytest.mark.sweep
    @pytest.mark.parametrize("zone", sample(ZONES, 1))
    def test_comes_to_what_the_report_of_the_same_days_says(self, opened, settings, zone):
        settings.OPERATOR_TIME_ZONE = zone
        span = span_of(clock(), **DAYS)
        sums = figures.Figures.read(span.bounds()).whole
        reported = totals(performance.REVENUE, span)
        assert {row["currency"] for row in reported} == set(sums) == {"SEK", "DKK"}
        for row in reported:
            found = sums[row["currency"]]
            assert (found.rounds, found.turnover, found.between_players, found.ggr) == (
                row["rounds"],
                row["turnover"],
                row["between_players"],
                row["revenue"],
            )

    @pytest.mark.parametrize("days", [DAYS, DAYS | {"since": "2026-03-29", "until": "2026-03-29"}])
    def test_comes_to_a_plain_count_over_the_rows(self, opened, settings, days):
        settings.OPERATOR_TIME_ZONE = "Europe/Stockholm"
        span = span_of(clock(), **days)
        found_by_step = figures.Figures.read(span.bounds())
        with connection.cursor() as cursor:
            cursor.execute(PLAINLY, [span.interval.since, span.interval.until])
            rows = {currency: figures for currency, *figures in cursor.fetchall()}
        assert set(rows) == set(found_by_step.whole)
        for currency, row in rows.items():
            found = found_by_step.whole[currency]
            assert [found.players, found.rounds, found.turnover, found.won, found.rake] == row
            steps = [step[currency] for step in found_by_step.steps if currency in step]
            assert sum(step.turnover for step in steps) == found.turnover
            assert sum(step.ggr for step in steps) == found.ggr == found.won + found.rake

    def test_takes_as_many_statements_for_a_month_as_for_a_day(self, opened):
        """A statement for each step would make a long period slow; a scan of rounds would too."""

        def statements(**days):
            span = span_of(clock(), **DAYS | days)
            with CaptureQueriesContext(connection) as sent:
                board = board_of(span, "SEK")
                board.figures()
                board.charts()
            return [each["sql"] for each in sent]

        month = statements(since="2026-03-01")
        assert len(month) <= len(statements(since="2026-03-31")) <= STATEMENTS
        for sql in month:
            assert "FROM games_round AS" not in sql or "games_void" in sql, sql

    @pytest.mark.parametrize("days", [DAYS, DAYS | {"since": "2026-03-29", "until": "2026-03-29"}])
    def test_charts_have_it_by_day_or_by_hour(self, opened, settings, days):
        settings.OPERATOR_TIME_ZONE = "Europe/Stockholm"
        span = span_of(clock(), **days)
        board = board_of(span, "SEK")
        made, turnover = board.charts()
        assert sum(hit.point.value for hit in turnover.hits if hit.point.value) == board.totals.turnover > 0
        assert sum(hit.point.value for hit in made.hits if hit.point.value) == board.totals.ggr
        # Clocks go forward on that day in Europe; the day before it has an hour more.
        assert len([hit for hit in turnover.hits if hit.point.value is not None]) == (
            23 if span.first == span.last else 5
        )

    @pytest.mark.sweep
    def test_leads_to_the_very_same_report_filled_in(self, opened):
        reader = as_staff("finance")
        shown = page(reader, **DAYS, currency="SEK")
        found = re.search(r'href="(/staff/reports/revenue/\?[^"]*currency=SEK[^"]*)">([^<]*)<', shown)
        assert found
        form = reader.get(found[1]).context["form"]
        asked = {field.name: field.value() or "" for field in form}
        assert asked == {
            "period": "own",
            "since": "2026-03-27T00:00",
            "until": "2026-04-01T00:00",
            "zone": "UTC",
            "currency": "SEK",
            "game": "",
        }
        assert reader.post(reverse("staff_report_ask", args=["revenue"]), asked).status_code == 302
        report = made_here(Report.objects.latest("pk"))
        assert found[2] in page(reader, reverse("staff_report", args=[report.pk]))
        again = page(reader, **DAYS, currency="SEK")
        assert linked(again, report, "GGR, SEK") == found[2]  # no second report is made
        assert "currency=DKK" in page(reader, **DAYS, currency="DKK")

    @pytest.mark.sweep
    def test_leads_to_a_report_of_more_where_none_tells_of_just_that(self, opened):
        days = DAYS | {"until": "2026-03-30"}  # no other test requests a report for them
        reader, span = as_staff("finance"), span_of(clock(), **days)
        given = {"interval": span.interval, "zone": span.zone, "by": "staff:1"}
        all_of_it = ask(kind="revenue", choices={}, **given | {"by": "system"})
        danish = ask(kind="revenue", choices={"currency": "DKK"}, **given)
        ask(kind="revenue", choices={"game": "baccarat"}, **given)
        ask(kind="revenue", choices={}, **given | {"zone": "Asia/Tokyo"})
        failed = ask(kind="payments", choices={}, **given)
        with registered(a_broken_kind("payments")):
            assert made_here(failed).state == ReportState.FAILED
        for currency, report in (("SEK", all_of_it), ("DKK", danish)):
            shown = page(reader, **days, currency=currency)
            assert linked(shown, report, f"Turnover, {currency}")
        assert "form to request the report “Deposits and withdrawals”" in shown


@pytest.mark.django_db
class TestPlayers:
    def test_who_staked_real_money_in_rounds_that_count_are_counted_once_each(self):
        table = a_table()
        often, once, dane, seated_player, voided = (
            a_player(code, real=10_000, free=10_000) for code in ("SE", "SE", "DK", "SE", "SE")
        )
        for player in (often, often, once, dane):
            a_round(player, table, player=1_000)
        a_round(seated_player, table, Mode.FREE, player=1_000)
        void_unreproduced(a_round(voided, table, player=1_000).round_id)
        span = around_now()
        listed = Participation.objects.filter(mode=Mode.REAL, round__void=None, at__gte=span.interval.since)
        by_list = listed.values_list("currency").annotate(Count("player", distinct=True)).order_by()
        found = {code: each.players for code, each in figures.Figures.read(span.bounds()).whole.items() if each.players}
        assert found == dict(by_list) == {"SEK": 2, "DKK": 1}

    @pytest.mark.sweep
    def test_are_led_to_by_the_list_of_their_rounds_and_of_no_others(self):
        table = a_table()
        player = a_player(real=10_000, free=10_000)
        part = a_round(player, table, player=1_000)
        others = [
            a_round(a_player("DK", real=10_000), table, player=1_000),
            a_round(player, table, Mode.FREE, player=1_000),
        ]
        board = board_of(around_now(), "SEK")
        active = next(each for each in board.figures() if each.name == "Active players")
        shown = page(as_staff("finance"), active.address)
        assert Participation.objects.get(round_id=part.round_id).round.code in shown
        for other in others:
            assert Participation.objects.get(round_id=other.round_id).round.code not in shown


def test_players_count_in_the_operators_days_and_not_in_their_own(cloned_db):
    """A player in Bucharest who plays at 23:30 in UTC plays today, although it is tomorrow there."""
    a_round(a_player("RO", real=10_000), a_table(), player=500)
    with psycopg.connect(cloned_db.superuser_url) as superuser:
        superuser.execute("SET session_replication_role = replica")
        for rows in ("games_round", "games_participation"):
            superuser.execute(f"UPDATE {rows} SET at = '2026-03-30 23:30Z'")
    found = figures.Figures.read(span_of(clock(), period="own", since="2026-03-30", until="2026-03-30").bounds())
    assert (found.whole["RON"].rounds, found.whole["RON"].players) == (1, 1)


class TestBreakdowns:
    def test_add_up_to_the_totals(self, opened):
        board = board_of(span_of(clock(), **DAYS), "SEK")
        game, table, country = breakdowns.breakdowns(board)
        assert sum(int(line.cells[-1]) for line in game.lines) == board.totals.rounds
        assert sum(int(line.cells[-1]) for line in table.lines) == board.totals.rounds
        assert sum(int(line.cells[0]) for line in country.lines) == board.totals.players
        assert "Sweden" in {line.name for line in country.lines}
        assert all("currency=SEK" in line.address and "table=" in line.address for line in table.lines)

    @pytest.mark.parametrize(
        ("language", "turnover"), [("sv", "Omsättning"), ("da", "Omsætning"), ("ro", "Rulaj"), ("de", "Umsatz")]
    )
    def test_and_figures_are_in_the_readers_language(self, opened, settings, language, turnover):
        reader = as_staff("finance")
        reader.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        shown = page(reader, **DAYS, currency="SEK")
        assert f"<dt>{turnover}</dt>" in shown
        board = board_of(span_of(clock(), **DAYS), "SEK")
        assert f">{format_money(board.totals.turnover, 'SEK', language)}<" in shown

    def test_winners_and_losers_are_named_once_to_those_who_may_see_players(self, opened):
        shown = page(as_staff("finance"), **DAYS, currency="SEK")
        named = set(re.findall(r'<a class="link" href="/staff/players/(\d+)/">', shown))
        assert named
        before = events("data.accessed")
        assert before[-1]["data"]["page"] == "staff_dashboard"
        assert set(before[-1]["data"]["players"]) == {f"player:{number}" for number in named}
        # A refresh shows no players, so that it need not be recorded each minute.
        assert "/staff/players/" not in page(as_staff("finance"), f"{ADDRESS}now/", **DAYS)
        assert events("data.accessed") == before


def test_all_currencies_together_are_converted_day_by_day_and_rounded_once(cloned_db):
    """By hand: 10 SEK on Friday at 22.50 and on Saturday at Friday's rate, 10 SEK at 25.00, 10 DKK at 15.00 and 5 EUR
    on Monday: 44.444 + 44.444 + 40 + 66.667 + 500 = 695.556 cents. Rounded one by one, they would be 695.
    """
    table, swede = a_table(), a_player("SE", real=10_000)
    played_on = [
        (FRIDAY, a_round(swede, table, player=1_000)),
        (SATURDAY, a_round(swede, table, player=1_000)),
        (MONDAY, a_round(swede, table, player=1_000)),
        (MONDAY, a_round(a_player("DK", real=10_000), table, player=1_000)),
        (MONDAY, a_round(a_player("DE", real=10_000), table, player=500)),
    ]
    with psycopg.connect(cloned_db.superuser_url) as superuser:
        superuser.execute("SET session_replication_role = replica")
        for day, part in played_on:
            at = f"{day} 12:00Z"
            superuser.execute("UPDATE games_round SET at = %s WHERE id = %s", [at, part.round_id])
            superuser.execute("UPDATE games_participation SET at = %s WHERE round_id = %s", [at, part.round_id])
    finance = a_member_of_staff("finance")

    def enter(currency, day, rate):
        exchange_rates.store([exchange_rates.Rate(currency, day, Decimal(rate))], by=finance, is_imported=False)

    enter("SEK", FRIDAY, "22.5")
    enter("SEK", MONDAY, "25")
    enter("DKK", MONDAY + timedelta(days=1), "14")  # too late for Monday
    span = span_of(clock(), period="own", since=FRIDAY, until=MONDAY)
    board = board_of(span, money.TOGETHER)
    assert board.now.missing == [("DKK", MONDAY)]
    assert {figure.text for figure in board.figures() if figure.name in ("GGR", "NGR", "Turnover", "Hold")} == {
        "no rate"
    }
    assert [hit.point.value for hit in board.charts()[1].hits][-1] is None  # and no guess in the chart
    enter("DKK", MONDAY, "15")

    board = board_of(span, money.TOGETHER)
    by_name = {figure.name: figure.text for figure in board.figures()}
    assert by_name["Turnover"] == "€6.96"
    assert by_name["Active players"] == "3"
    worth = {("SEK", FRIDAY): "22.5", ("SEK", SATURDAY): "22.5", ("SEK", MONDAY): "25"}
    worth |= {("DKK", MONDAY): "15", ("EUR", MONDAY): "1"}
    parts = [(day, Participation.objects.get(round_id=part.round_id)) for day, part in played_on]
    ggr = sum(Fraction(part.staked - part.paid) / Fraction(worth[part.currency, day]) for day, part in parts)
    assert board.totals.ggr == ggr
    used = [(each.rate.currency, each.first, each.is_earlier) for each in board.now.used]
    assert used == [("DKK", MONDAY, False), ("SEK", FRIDAY, True), ("SEK", MONDAY, False)]
    # The tables add up to the same, and so do weeks.
    assert sum(totals.turnover for _, totals in board.now.countries("")) == board.totals.turnover
    assert sum(totals.turnover for _, totals in board.now.play("")) == board.totals.turnover
    assert sum(totals.ggr for _, totals in board.now.players("")) == ggr
    weeks = board_of(span_of(clock(), period="own", since="2026-02-02", until=MONDAY), money.TOGETHER)
    assert weeks.span.step == "week"
    assert weeks.totals == board.totals
    assert [step["EUR"].players for step in weeks.now.steps][-2:] == [1, 3]

    shown = page(as_staff("finance"), period="own", since=FRIDAY, until=MONDAY, currency=money.TOGETHER)
    assert ">€6.96<" in shown
    assert "some days use an earlier rate" in shown
    for text in ("25</span> SEK", "15</span> DKK", "2026-03-20 – 2026-03-21", "no rate for this day"):
        assert text in shown, text


@pytest.mark.django_db
class TestPayments:
    @pytest.mark.sweep
    def test_come_to_what_the_report_of_the_same_interval_says(self):
        reports_history.make()
        span = around_now()
        sums = figures.Figures.read([span.interval.since, span.interval.until]).whole
        reported = {
            (row["currency"], row["kind"], row["status"]): row["amount"] for row in totals(reports.PAYMENTS, span)
        }
        assert reported["SEK", "withdrawal", "paid"]
        for currency in ("SEK", "RON"):
            assert sums[currency].deposits == reported[currency, "deposit", "credited"] > 0
            assert sums[currency].withdrawals == reported.get((currency, "withdrawal", "paid"), 0)

    def test_come_to_a_plain_sum_of_the_entries_and_lower_ngr(self):
        reports_history.make()
        span = around_now()
        with connection.cursor() as cursor:
            cursor.execute(CHANGED, [span.interval.since, span.interval.until])
            rows = {currency: tuple(sums) for currency, *sums in cursor.fetchall()}
        assert any(deposits and withdrawals for deposits, withdrawals, _ in rows.values())
        assert any(given for *_, given in rows.values())
        found_by_step = figures.Figures.read(span.bounds())
        for currency, sums in rows.items():
            found = found_by_step.whole.get(currency, figures.NOTHING)
            assert (found.deposits, found.withdrawals, found.credits) == sums
            assert found.ngr == found.ggr - found.credits
            steps = [step[currency] for step in found_by_step.steps if currency in step]
            assert sum(step.net for step in steps) == found.net

    def test_each_currency_is_shown_separately_with_its_change(self):
        reports_history.a_depositor("SE", 70_000)
        reports_history.a_depositor("RO", 50_000)
        span = around_now()
        for currency, amount in (("SEK", 70_000), ("RON", 50_000)):
            board = board_of(span, currency)
            net = next(each for each in board.figures() if each.name == "Net deposits")
            assert net.text == format_money(amount, currency, "en")
            assert (net.change, net.before) == ("", format_money(0, currency, "en"))
            assert f"currency={currency}" in net.address


@pytest.mark.django_db
class TestReturns:
    def test_are_those_of_the_page_of_returns_of_the_same_days(self):
        summed_up(a_table("no_commission"), paid=40_000_000)
        summed_up(a_table("baccarat"), mode="F")
        day = HOUR.date().isoformat()
        (game,) = views.figures_by_game(span_of(clock(), period="own", since=day, until=day))
        (bet,) = game.bets
        shown = page(as_staff("supervisor"), game.address)
        assert f"{bet.line.actual}</td>" in shown
        assert bet.line.band in shown
        assert (bet.line.actual, bet.line.is_odd, game.odd) == ("80.00", True, 1)
        assert bet.at == 1  # below the band, at the edge of the chart
        assert views.figures_by_game(span_of(clock(), period="own", since="2026-02-01", until="2026-02-02")) == []


PANELS = {
    "operator": {"waits", "health"},
    "supervisor": {"waits", "returns", "health"},
    "finance": {"waits", "money"},
    "compliance": {"waits", "money", "returns", "health"},
    "support": {"waits"},
    "administrator": {"waits"},
}


@pytest.fixture
def no_broker(settings):
    """An unreachable broker, so that nobody waits a second for workers."""
    with socket() as shut:
        shut.bind(("127.0.0.1", 0))
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{shut.getsockname()[1]}/0"
        yield


@pytest.mark.django_db
@pytest.mark.usefixtures("no_broker")
class TestPanels:
    @pytest.mark.parametrize("role", sample(PANELS, 3))
    def test_are_those_whose_rows_the_role_may_see(self, role):
        shown = page(as_staff(role))
        assert set(re.findall(r'<h2 id="dashboard-(\w+)"', shown)) == PANELS[role]

    @pytest.mark.sweep
    @pytest.mark.parametrize("role", sample(PANELS, 1))
    def test_lead_nowhere_that_is_shut(self, role):
        reader = as_staff(role)
        shown = page(reader)
        main = shown[shown.index('id="dashboard"') :]
        for address in set(re.findall(r'href="(/staff/[^"]+)"', main)):
            assert reader.get(address).status_code == 200, address

    @pytest.mark.sweep
    def test_of_an_empty_house_say_so(self):
        shown = page(as_staff("compliance"))
        assert "No stakes, deposits or withdrawals in this period or the previous one." in shown
        assert "No play in the hours summed up for these days." in shown

    def test_what_waits_is_counted(self):
        a_withdrawal(reports_history.a_depositor("SE"))
        shown = page(as_staff("finance"))
        assert re.search(r'>Withdrawals to approve</a>\s*<span><span class="num">1</span>', shown)
        assert re.search(r">Deposits: [^<]*</a>", shown)

    def test_a_deposit_in_doubt_and_a_statement_that_differs_are_wrong(self):
        payment = a_payment(a_player())
        call_back(statement(payment, amount=payment.amount + 1))
        confirmed([named(uuid4())])
        wrong = {
            str(each.name) for each in waiting.counts(a_member_of_staff("finance")) if each.count and each.is_wrong
        }
        assert wrong == {
            "Deposits: overdue or disputed",
            "Provider statements with open differences",
        }

    def test_a_part_of_the_page_is_asked_for_by_the_page(self):
        shown = page(as_staff("support"), f"{ADDRESS}now/", period="yesterday")
        assert "<html" not in shown
        assert 'hx-get="/staff/dashboard/now/?period=yesterday" hx-trigger="every 60s"' in shown


@pytest.mark.django_db
class TestPeriod:
    NOW = datetime(2026, 3, 31, 10, 30, 45, tzinfo=UTC)  # a Tuesday

    @pytest.mark.parametrize(
        ("period", "since", "before_since", "before_until"),
        [
            ("", "2026-03-30T22:00", "2026-03-29T22:00", "2026-03-30T10:30"),
            ("today", "2026-03-30T22:00", "2026-03-29T22:00", "2026-03-30T10:30"),
            ("this_week", "2026-03-29T22:00", "2026-03-22T23:00", "2026-03-24T11:30"),
            ("this_month", "2026-02-28T23:00", "2026-01-31T23:00", "2026-02-28T23:00"),
            ("last_30_days", "2026-03-01T23:00", "2026-01-30T23:00", "2026-03-01T10:30"),
        ],
    )
    def test_goes_up_to_the_minute_and_is_compared_with_as_much(
        self, settings, period, since, before_since, before_until
    ):
        settings.OPERATOR_TIME_ZONE = "Europe/Stockholm"
        span = span_of(self.NOW, period=period)
        assert span.interval == Interval(moment(since), moment("2026-03-31T10:30"))
        assert span.before == Interval(moment(before_since), moment(before_until))

    def test_that_is_over_is_compared_with_as_many_whole_days(self, settings):
        settings.OPERATOR_TIME_ZONE = "Europe/Stockholm"
        yesterday = span_of(self.NOW, period="yesterday")
        assert yesterday.interval == Interval(moment("2026-03-29T22:00"), moment("2026-03-30T22:00"))
        assert yesterday.before == Interval(moment("2026-03-28T23:00"), moment("2026-03-29T22:00"))  # 23 hours
        own = span_of(self.NOW, period="own", since="2026-03-01", until="2026-03-10")
        assert own.before == Interval(moment("2026-02-18T23:00"), moment("2026-02-28T23:00"))
        assert own.before_label == "the 10 days before"

    def test_of_more_than_a_month_has_a_point_for_each_week(self):
        span = span_of(self.NOW, period="own", since="2025-12-01", until="2026-03-31")
        assert span.step == "week"
        assert span.label(span.bounds()[1]) == "2025-12-08"
        assert span.bounds()[-1] == span.interval.until

    def test_that_has_just_begun_is_empty(self):
        midnight = datetime(2026, 3, 31, 0, 0, 30, tzinfo=ZoneInfo("UTC"))
        span = span_of(midnight, period="today")
        assert span.is_empty
        assert money.read_board(span, "SEK") is None

    @pytest.mark.parametrize(
        ("asked", "fault"),
        sample(
            [
                ({"since": "2026-03-02"}, "Enter a date: To (inclusive)."),
                ({"since": "2026-03-02", "until": "2026-03-01"}, "The end date is before the start date."),
                ({"since": "2999-03-02", "until": "2999-03-02"}, "This date is in the future."),
                ({"since": "2020-01-01", "until": "2026-03-01"}, "The period is longer than 366 days"),
            ],
            1,
        ),
    )
    def test_an_invalid_one_is_refused_and_today_shown(self, asked, fault):
        shown = page(as_staff("finance"), period="own", **asked)
        assert fault in shown
        assert f"{clock():%Y-%m-%d}, UTC · as of" in shown


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.django_db
class TestHealth:
    def health(self):
        return {line.name: line for line in views.lines()}

    def test_a_broker_that_is_down_is_said_and_the_page_is_served(self, settings):
        with socket() as shut:
            shut.bind(("127.0.0.1", 0))
            settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{shut.getsockname()[1]}/0"
            shown = page(as_staff("operator"))
        assert re.search(r"Broker</dt>\s*<dd><span class=\"badge badge--off\">check</span> not reachable", shown)
        assert "unknown, the broker is not reachable" in shown

    @pytest.mark.sweep
    def test_a_broker_that_says_nothing_is_waited_for_a_moment(self, settings):
        with socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
            began = monotonic()
            assert self.health()["Broker"].is_wrong
            assert monotonic() - began < 30

    @pytest.mark.sweep
    def test_messages_that_wait_are_counted_and_that_no_worker_answers_is_wrong(self):
        name = current_app.conf.task_default_queue
        with Connection(django_settings.CELERY_BROKER_URL) as broker, broker.SimpleQueue(name) as queue:
            queue.clear()  # messages of other tests
            before = self.health()["Broker"].text
            queue.put({})
            during = self.health()
            queue.get(timeout=10).ack()
        assert before == "0 messages waiting for a worker"
        assert during["Broker"].text == "1 message waiting for a worker"
        assert during["Workers"].text == "no worker answers"
        assert during["Workers"].is_wrong

    @pytest.mark.usefixtures("no_broker")
    def test_no_clock_at_work_is_wrong_and_one_that_is_is_not(self):
        assert self.health()["Scheduler"].is_wrong
        turn = beat.Turn(connections["default"].settings_dict)
        turn.wait(str)
        try:
            assert self.health()["Scheduler"].text == "running"
        finally:
            turn.connection.close()

    @pytest.mark.usefixtures("no_broker")
    def test_the_last_tick_is_the_last_label(self):
        assert not self.health()["Last scheduled task"].is_wrong
        Watermark.objects.create(at=clock() - timedelta(minutes=10), transaction=LONG_AGO)
        line = self.health()["Last scheduled task"]
        assert (line.text, line.is_wrong) == ("10 minutes ago", True)
        settle()
        assert self.health()["Last scheduled task"].text == "0 s ago"

    @pytest.mark.usefixtures("no_broker")
    def test_tables_that_are_late_are_counted(self):
        assert self.health()["Shared tables"].text == "on time"
        live_table = a_live_table()
        advance_to(live_table, Phase.BETTING)
        update_as_owner(LiveRound.objects.filter(live_table=live_table), deadline=clock() - timedelta(seconds=90))
        assert self.health()["Shared tables"].text.startswith(f"{len(phases.due()) - 1} overdue")  # nobody has bet
        live_table = a_live_table(slug="another")
        bet(a_player(real=100_00), live_table, banker=50_00)
        update_as_owner(LiveRound.objects.filter(live_table=live_table), deadline=clock() - timedelta(seconds=90))
        line = self.health()["Shared tables"]
        waiting = len(phases.late())  # the other money's table waits for its first round
        assert (line.text, line.is_wrong) == (f"{waiting} overdue, the longest by 90 s", True)

    @pytest.mark.usefixtures("no_broker")
    def test_a_ledger_that_is_broken_is_wrong_until_it_is_verified(self):
        assert self.health()["Ledger verified"].text == "never"
        log.record("ledger.broken", by="system", on="ledger", data={"sum": []})
        assert self.health()["Ledger"].is_wrong
        log.record("ledger.verified", by="system", on="ledger", data={"invariants": 1})
        assert self.health()["Ledger verified"].text == "0 s ago"

    @pytest.mark.usefixtures("no_broker")
    def test_hours_are_summed_up_as_far_as_the_last_of_all_sums(self):
        assert self.health()["Hourly totals"].text == "none yet"
        settle()
        assert self.health()["Hourly totals"].text.startswith("none yet")
        Rolled.objects.create(totals="games.rounds", hour=HOUR, rows=1)
        Rolled.objects.create(totals="wallet.ledger", hour=HOUR + timedelta(hours=5), rows=1)
        line = self.health()["Hourly totals"]
        assert (line.text, line.is_wrong) == ("up to 2026-03-01 13:00 UTC", True)

    @pytest.mark.usefixtures("no_broker")
    def test_mail_that_waits_and_mail_given_up_are_counted(self):
        write_to(address="someone@example.com", language="en", template="already_registered", context={})
        assert self.health()["E-mail"].text.startswith("1 message queued, ")
        Mail.objects.update(next_try_at=None)
        assert self.health()["E-mail"].text == "none queued"
        assert self.health()["Undeliverable e-mails"].text == "1"

    @pytest.mark.usefixtures("no_broker")
    def test_a_seal_that_lags_is_wrong(self, settings):
        settings.AUDIT_LAG_SECONDS = -1
        log.record("ledger.verified", by="system", on="ledger", data={"invariants": 1})
        assert self.health()["Log signing"].is_wrong


def test_a_share_is_rounded_and_has_the_minus_sign_of_amounts():
    assert [money.percent(Fraction(number, 3)) for number in (2, -2)] == ["66.67 %", "−66.67 %"]
