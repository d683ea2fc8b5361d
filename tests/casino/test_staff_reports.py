"""Reports in the back office: requested, waited for, read page by page, downloaded."""

import csv
import hashlib
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from openpyxl import load_workbook

from audit.models import Report, ReportState
from audit.reports import verification
from audit.reports.kinds import Answer, CannotMake, Column, Form, Interval, Row
from audit.reports.requests import clock
from audit.staff_text import sentence
from tests.audit.reporting import ROW, SHOP, a_kind, asked, made_here, registered
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

ASK = "/staff/reports/sales/"
ROWS = [(f"row {number}", number, "SEK", number * 100, None, None) for number in range(1, 251)]


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """Four report kinds: for all who make reports, for finance, with many rows, with names of
    players.
    """
    people = a_kind(
        "people",
        title="People",
        names_players=True,
        columns=[Column("who", "Who")],
        answer=lambda asked: Answer([["player:71"], ["player:72"]], totals=lambda: [["player:73"]]),
    )
    payouts = a_kind("payouts", title="Payouts", permission="wallet.approve_withdrawal")
    many = a_kind(
        "many", answer=lambda asked: Answer(ROWS, of=250, totals=lambda: [("all", 250, "SEK", 1, "0.5", None)])
    )
    with registered(a_kind(choices=[SHOP]), payouts, many, people):
        yield


@pytest.fixture
def reader() -> Client:
    return as_staff("compliance")


def as_staff(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def page(reader: Client, address: str, status: int = 200, **query: Any) -> str:
    answer = reader.get(address, query)
    assert answer.status_code == status
    return answer.content.decode()


@pytest.mark.sweep
def test_are_listed_and_shown_to_entitled_readers():
    report = made_here(asked("payouts"))
    finance = as_staff("finance")
    assert "Payouts" in page(finance, "/staff/reports/")
    assert "bread" in page(finance, f"/staff/reports/{report.pk}/")
    page(as_staff("supervisor"), "/staff/reports/", 403)


def test_of_a_kind_that_the_role_may_not_read_are_nowhere(reader):
    report = made_here(asked("payouts"))
    assert "Payouts" not in page(reader, "/staff/reports/")
    for address in ("payouts/", f"{report.pk}/", f"{report.pk}/state/", f"{report.pk}/report.csv"):
        page(reader, f"/staff/reports/{address}", 403)
    assert reader.post(f"/staff/reports/{report.pk}/retry/").status_code == 403


def test_gli19_2_9_1_are_made_on_demand_for_any_interval(reader):
    given = {"period": "own", "since": "2026-01-02T03:04", "until": "2026-02-03T04:05", "zone": "Europe/Stockholm"}
    answer = reader.post(ASK, {**given, "shop": "north"})
    report = Report.objects.get()
    assert answer.url == f"/staff/reports/{report.pk}/"
    assert f"{report.since:%Y-%m-%d %H:%M} {report.until:%Y-%m-%d %H:%M}" == "2026-01-02 02:04 2026-02-03 03:05"
    assert report.choices == {"zone": "Europe/Stockholm", "period": "own", "shop": "north"}
    assert report.by.startswith("staff:")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("given", "fault"),
    sample(
        [
            ({"period": "own"}, "Enter a date and time: From."),
            (
                {"period": "own", "since": "2026-01-01T00:00", "until": "2026-01-01T00:00"},
                "The start must be before the end.",
            ),
            (
                {"period": "own", "since": "2026-01-01T00:00", "until": "2999-01-01T00:00"},
                "The end must not be in the future.",
            ),
            (
                {"period": "own", "since": "0001-01-01T00:00", "until": "2026-01-01T00:00"},
                "The start must not be before the year 2000.",
            ),
            (
                {"period": "own", "since": "0001-01-01T00:00", "until": "2026-01-01T00:00", "zone": "Europe/Stockholm"},
                "The start must not be before the year 2000.",
            ),
            ({"period": "own", "since": "soon", "until": "2026-01-01T00:00"}, "Enter a valid date/time."),
            ({"period": "never"}, "Select a valid choice"),
            ({"period": "today", "zone": "Mars"}, "Select a valid choice"),
            ({"period": "yesterday", "shop": "east"}, "Select a valid choice"),
        ],
        3,
    ),
)
def test_that_cannot_be_are_refused_in_the_form(reader, given, fault):
    answer = reader.post(ASK, {"zone": "UTC", **given})
    assert answer.status_code == 200
    assert fault in answer.content.decode()
    assert not Report.objects.exists()


@pytest.mark.sweep
def test_that_wait_are_asked_after_until_they_are_there(reader):
    report = asked()
    address = f"/staff/reports/{report.pk}/"
    assert f'hx-get="{address}state/"' in page(reader, address)
    assert 'hx-trigger="every' in page(reader, f"{address}state/")
    Report.objects.filter(pk=report.pk).update(state=ReportState.MAKING, done=1200, of=30_000)
    assert '<progress class="report__progress" value="1200" max="30000"' in page(reader, f"{address}state/")
    made_here(report)
    answer = reader.get(f"{address}state/")
    assert (answer.content, answer["HX-Refresh"]) == (b"", "true")
    assert 'hx-trigger="every' not in page(reader, address)


def test_gli19_2_9_1_are_on_screen_as_csv_and_as_xlsx(reader):
    report = made_here(asked())
    shown = page(reader, f"/staff/reports/{report.pk}/")
    for text in ("bread", "SEK\xa01,234.56", "98.7600 %", "2026-07-01 12:00:00", "When (Europe/Stockholm)"):
        assert text in shown
    sheet = reader.get(f"/staff/reports/{report.pk}/report.xlsx")
    assert load_workbook(io.BytesIO(sheet.getvalue()))["Rows"]["A2"].value == ROW[0]
    lines = reader.get(f"/staff/reports/{report.pk}/report.csv")
    content = lines.getvalue()
    assert "bread" in next(row for row in csv.reader(io.StringIO(content.decode())) if "1234.56" in row)
    name = f"sales-{report.since:%Y-%m-%d}"
    assert name[:13] in lines["Content-Disposition"]
    assert lines["Content-Disposition"].endswith(f'-{report.pk}.csv"')
    page(reader, f"/staff/reports/{report.pk}/report.pdf", 404)
    rest = reader.get(f"/staff/reports/{report.pk}/report.json")
    assert rest["Content-Disposition"].endswith(f'-{report.pk}-about.json"')
    about = rest.json()
    assert about["heading"]["Number"] == str(report.pk)
    assert about["sha256"]["csv"] == hashlib.sha256(content).hexdigest()


def test_with_days_and_revenue_is_drawn_for_each_currency(reader):
    columns = [Column("day", "Day"), Column("currency", "Currency"), Column("revenue", "Revenue", Form.MONEY)]
    rows = [("2026-07-01", "SEK", 300), ("2026-07-01", "DKK", 500), ("2026-07-02", "SEK", 400)]
    with registered(a_kind(columns=columns, answer=lambda asked: Answer([*rows, ("2026-07-01", "SEK", 100)]))):
        report = made_here(asked())
        charts = reader.get(f"/staff/reports/{report.pk}/").context["charts"]
    drawn = {chart.title: [hit.point.value for hit in chart.hits] for chart in charts}
    assert drawn == {"Revenue by day, DKK": [500, 0], "Revenue by day, SEK": [400, 400]}


def test_has_totals_above_the_rows_and_ids_without_separators(reader):
    columns = [Column("event", "Event", Form.ID), Column("count", "Count", Form.NUMBER)]
    answer = Answer([(1234567, 7654321)], totals=lambda: [(None, 7654321)])
    with registered(a_kind(columns=columns, answer=lambda asked: answer)):
        report = made_here(asked())
        shown = page(reader, f"/staff/reports/{report.pk}/")
    assert ">1234567<" in shown
    assert shown.index("Totals") < shown.index(">1234567<")
    assert shown.count(">7,654,321<") == 2


@pytest.mark.sweep
def test_with_many_rows_are_read_a_page_at_a_time(reader):
    report = made_here(asked("many"))
    address = f"/staff/reports/{report.pk}/"
    first, last = page(reader, address), page(reader, address, page=3)
    assert ("row 1<" in first, "row 100<" in first, "row 101<" in first) == (True, True, False)
    assert ("row 201<" in last, "row 250<" in last, "row 200<" in last) == (True, True, False)
    assert ("Totals of all pages" in first, "50.0000 %" in first, "50.0000 %" in last) == (True, True, True)
    for odd in ("0", "99999999999999999999", "x", "-1", "²"):
        assert "of 3" in page(reader, address, page=odd)


@pytest.mark.sweep
def test_are_sorted_by_a_column_over_all_pages_and_files_stay_as_they_were(reader):
    rows: list[Row] = [
        (f"Row {number}", number, ("SEK", "EUR")[number % 2], 1_000 - number, None, None) for number in range(1, 121)
    ]
    rows[7] = ("row 8", 8, "SEK", None, None, None)
    with registered(a_kind(answer=lambda asked: Answer(rows, of=len(rows)))):
        report = made_here(asked())
        address = f"/staff/reports/{report.pk}/"

        def shown(**query):
            return [int(number) for number in re.findall(r">[Rr]ow (\d+)<", page(reader, address, **query))]

        assert shown() == list(range(1, 101))
        assert shown(order="-count") == list(range(120, 20, -1))
        assert shown(order="-count", page=2) == list(range(20, 0, -1))
        # Money is compared within its currency; who has no amount comes last.
        assert shown(order="amount") == [*range(119, 0, -2), *range(120, 40, -2)]
        assert shown(order="amount", page=2)[-1] == 8
        assert shown(order="what")[:3] == [1, 10, 100]
        assert shown(order="nothing") == shown()
        again = page(reader, address, order="count", page=2)
        assert 'aria-sort="ascending"><a class="sort" href="?order=-count#rows">' in again.replace("&amp;", "&")
        assert 'href="?order=count&page=1"' in again.replace("&amp;", "&")
        lines = reader.get(f"{address}report.csv", {"order": "-count"})
        assert b"".join(lines.streaming_content).splitlines()[1].startswith(b"Row 1,")


def test_in_which_nothing_happened_say_no_activity(reader):
    with registered(a_kind(answer=lambda asked: Answer([]))):
        report = made_here(asked())
        assert "No activity" in page(reader, f"/staff/reports/{report.pk}/")


@pytest.mark.sweep
def test_say_where_their_hashes_stand_and_are_checked(reader):
    report = made_here(asked())
    (said,) = events("report.made", on=f"report:{report.pk}")
    shown = page(reader, f"/staff/reports/{report.pk}/?check")
    assert said["data"]["digests"]["csv"] in shown
    assert "match the audit log" in shown


@pytest.mark.sweep
def test_link_to_the_log_only_for_its_readers(reader):
    report = made_here(asked("payouts"))
    said = verification.said(report)
    assert said
    address, event = f"/staff/reports/{report.pk}/", f"event {said.event_id}"
    shown = page(as_staff("finance"), address)
    assert f"Hashes recorded in: {event}." in shown
    assert "/staff/events/" not in shown
    with registered(a_kind("payouts")):
        shown = page(reader, address)
    assert f">{event}</a>" in shown


@pytest.mark.sweep
def test_say_on_screen_who_asked_and_when_as_the_rest_of_the_house_does(reader):
    clerk, now = a_member_of_staff("finance", name="Farah"), clock()
    report = made_here(asked(by=str(clerk), zone="UTC", interval=Interval(now - timedelta(hours=1), now)))
    shown = page(reader, f"/staff/reports/{report.pk}/")
    assert (
        f'<dt>Requested by</dt><dd><a class="link" href="/staff/people/{clerk.pk}/">Farah ({clerk})</a></dd>' in shown
    )
    assert f"<dd>{report.since:%Y-%m-%d %H:%M:%S} UTC</dd>" in shown
    assert f"Figures up to {report.until:%Y-%m-%d %H:%M:%S} UTC; transactions in progress at" in shown
    there = made_here(asked(interval=Interval(report.since, report.until), zone="Asia/Kolkata"))
    local = (report.since + timedelta(hours=5, minutes=30)).replace(tzinfo=None)
    assert f"<dd>{local:%Y-%m-%d %H:%M:%S} UTC+05:30</dd>" in page(reader, f"/staff/reports/{there.pk}/")


def test_access_to_named_players_is_recorded_before_they_are_shown(reader):
    report = made_here(asked("people"))
    for address in ("", "report.csv", "report.xlsx"):
        before = len(events("data.accessed"))
        assert reader.get(f"/staff/reports/{report.pk}/{address}").status_code == 200
        (look,) = events("data.accessed")[before:]
        assert look["data"]["players"] == ["player:71", "player:72", "player:73"]


@pytest.mark.sweep
def test_that_failed_say_why_and_are_asked_for_again(reader):
    def answer(asked):
        raise CannotMake("The shop was closed.")

    with registered(a_kind(answer=answer)):
        report = made_here(asked())
    address = f"/staff/reports/{report.pk}/"
    shown = page(reader, address)
    assert "The shop was closed." in shown
    again = reader.post(f"{address}retry/")
    assert again.url == f"/staff/reports/{Report.objects.latest('pk').pk}/" != address
    page(reader, f"{address}report.csv", 404)


def test_are_found_by_their_kind_and_a_page_at_a_time(reader, monkeypatch):
    monkeypatch.setattr("backoffice.audit.reports.RequestedReports.size", 2)
    sales = [asked().pk for _ in range(3)]
    asked("people")
    newest = reader.get("/staff/reports/", {"kind": "sales"})
    assert [report.pk for report in newest.context["page"].rows] == sales[:0:-1]
    older = reader.get("/staff/reports/", {"kind": "sales", "before": newest.context["page"].older})
    assert [report.pk for report in older.context["page"].rows] == sales[:1]
    assert len(reader.get("/staff/reports/", {"before": "y"}).context["page"].rows) == 2
    assert "Select a valid choice" in page(reader, "/staff/reports/?kind=x")


def test_of_a_kind_that_is_gone_are_not_shown(reader):
    report = made_here(asked())
    with registered():
        page(reader, f"/staff/reports/{report.pk}/", 404)
        assert page(reader, "/staff/reports/")


@pytest.mark.sweep
def test_that_reach_up_to_now_say_so(reader):
    now = clock()
    report = made_here(asked(interval=Interval(now - timedelta(hours=1), now)))
    assert "Figures up to" in page(reader, f"/staff/reports/{report.pk}/")


def test_are_read_in_the_reader_s_language_and_filed_in_english(reader):
    """Headings, words, stored sentences and notes are translated on the page; the file stays as it is."""
    text = sentence("%(count)s in total", count=7)
    columns = [Column("kind", "Kind", Form.WORD), Column("of", "Number", Form.WORD), Column("who", "Handled by")]
    kind = a_kind("words", columns=columns, answer=lambda _: Answer([["withdrawal", text, "deposit"]]))
    with registered(kind):
        report = made_here(asked("words"))
        reader.cookies["django_language"] = "de"
        german = page(reader, f"/staff/reports/{report.pk}/")
        content = b"".join(verification.pieces(report, "csv")).decode()
    for shown in ("Art", "Nummer", "Auszahlung", "insgesamt 7", "deposit"):  # the last is no word of ours
        assert f">{shown}<" in german
    assert content.splitlines() == ["Kind,Number,Handled by", "withdrawal,7 in total,deposit"]
