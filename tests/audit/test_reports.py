"""Reports are made once, by one worker, of one moment; they fulfil GLI-19 2.9.1 and never
change.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.db import connections
from openpyxl import load_workbook

from audit import log
from audit.models import Event, Report, ReportPage, ReportPart, ReportState
from audit.reports import runner
from audit.reports.files import about
from audit.reports.heading import Head
from audit.reports.kinds import Answer, CannotMake, Column, Form, Interval
from audit.reports.requests import CannotAsk, ask_again, clock
from audit.reports.verification import faults, findings, pieces, said
from audit.staff_text import english
from tests.audit.reporting import ROW, SHOP, a_kind, asked, registered
from tests.harness import databases, killed
from tests.harness.sweeps import sample

HOW_FAR = 'SELECT state, done, "of" FROM audit_report ORDER BY id DESC LIMIT 1'


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker) -> Iterator[databases.Database]:
    """A database in which reports are made by two sessions, with commits."""
    with django_db_blocker.unblock():
        with databases.clone("reports") as database:
            yield database
        databases.demand_untouched(django_db_setup)


@pytest.fixture
def kind(house) -> Iterator[None]:
    with registered(a_kind()):
        yield


def made(**more: Any) -> Report:
    """Return a report that was made, ready or failed."""
    report = asked(**more)
    assert runner.make_open() == 1
    report.refresh_from_db()
    return report


def head_of(report: Report) -> Head:
    """Return its heading after all rows were read."""
    assert report.head
    return Head.read(report.head)


def of_csv(report: Report) -> list[list[str]]:
    text = b"".join(pieces(report, "csv")).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


def of_xlsx(report: Report, sheet: str) -> list[tuple[object, ...]]:
    book = load_workbook(io.BytesIO(b"".join(pieces(report, "xlsx"))), read_only=True)
    return [tuple(cell for cell in row) for row in book[sheet].iter_rows(values_only=True)]


class TestAReport:
    def test_gli19_2_9_1_names_operator_title_interval_and_when_it_was_generated(self, kind, settings):
        settings.OPERATOR_NAME = "The House Ltd"
        report = made()
        head = head_of(report)
        shown = dict(head.lines)
        assert (shown["Operator"], shown["Report"]) == ("The House Ltd", "Sales")
        assert datetime.fromisoformat(shown["From"]) == report.since
        assert datetime.fromisoformat(shown["To (exclusive)"]) == report.until
        assert report.made_at
        assert datetime.fromisoformat(shown["Generated at"]) == report.made_at.replace(microsecond=0)
        assert list(about(head, report.done, {})["heading"].items()) == list(head.lines)
        assert of_xlsx(report, "Report")[: len(head.lines)] == list(head.lines)

    def test_gli19_2_9_1_says_no_activity_where_there_was_none(self, house):
        with registered(a_kind(answer=lambda asked: Answer([], of=0))):
            report = made()
        assert about(head_of(report), report.done, {})["activity"] == "No activity"
        assert of_csv(report) == [head_of(report).headings]
        assert of_xlsx(report, "Rows")[1][0] == "No activity"
        assert (report.state, report.done) == (ReportState.READY, 0)

    def test_gli19_2_9_1_has_exact_numbers_in_both_files(self, kind):
        report = made()
        headings, row = of_csv(report)
        assert headings[-1] == "When (Europe/Stockholm)"
        assert row == ["bread", "3", "SEK", "1234.56", "0.9876", "2026-07-01T12:00:00+02:00"]
        head, sold = of_xlsx(report, "Rows")
        assert head[-1] == "When (Europe/Stockholm)"
        assert sold[:3] == ("bread", 3, "SEK")
        assert (Decimal(str(sold[3])), Decimal(str(sold[4]))) == (Decimal("1234.56"), Decimal("0.9876"))
        assert sold[5] == datetime(2026, 7, 1, 12)  # noqa: DTZ001  (workbooks know no time zones)

    def test_keeps_more_digits_than_a_spreadsheet_does_as_text(self, house):
        large = 9_007_199_254_740_993
        with registered(a_kind(answer=lambda asked: Answer([("all", large, "SEK", large, None, None)]))):
            sold = of_xlsx(made(), "Rows")[1]
        assert sold[1:4] == (str(large), "SEK", "90071992547409.93")

    @pytest.mark.parametrize("text", sample(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"], 1))
    def test_begins_no_formula(self, house, text):
        with registered(a_kind(columns=[Column("what", "What")], answer=lambda asked: Answer([[text]]))):
            report = made()
        assert [f"'{text}"] in of_csv(report)
        book = load_workbook(io.BytesIO(b"".join(pieces(report, "xlsx"))))
        assert (book["Rows"]["A2"].value, book["Rows"]["A2"].data_type) == (text, "s")

    @pytest.mark.sweep
    def test_has_its_columns_in_view_and_wide_enough(self, kind):
        rows = load_workbook(io.BytesIO(b"".join(pieces(made(), "xlsx"))))["Rows"]
        assert rows.freeze_panes == "A2"
        assert rows.column_dimensions["D"].width >= len("1,234,567,890.12")
        assert rows["D2"].number_format == "#,##0.00"

    def test_has_totals_and_notes_that_are_known_when_all_rows_are_read(self, house):
        read: list[int] = []

        def rows():
            for number in (1, 2, 3):
                read.append(number)
                yield "each", number, "SEK", number, None, None

        def answer(asked):
            return Answer(
                rows(), totals=lambda: [("all", len(read), "SEK", sum(read), None, None)], notes=lambda: ["Add."]
            )

        with registered(a_kind(answer=answer)):
            report = made()
        head = head_of(report)
        assert head.totals == [["all", 3, "SEK", 6, None, None]]
        assert list(head.notes) == ["Add."]
        assert of_xlsx(report, "Totals")[1][:4] == ("all", 3, "SEK", 0.06)
        # A program that reads the CSV file finds rows and nothing else; totals and notes are in a separate file.
        assert [row[:2] for row in of_csv(report)[1:]] == [["each", "1"], ["each", "2"], ["each", "3"]]
        rest = about(head, report.done, {"csv": "0"})
        assert (rest["totals"], rest["notes"]) == ([["all", 3, "SEK", "0.06", "", ""]], ["Add."])
        assert (rest["rows"], rest["sha256"]) == (3, {"csv": "0"})

    def test_that_reaches_up_to_now_says_so(self, kind):
        now = clock()
        (note,) = head_of(made(interval=Interval(now - timedelta(hours=1), now))).notes
        assert english(note).startswith("Figures up to ")

    @pytest.mark.sweep
    def test_of_many_rows_has_pages_of_a_hundred_and_pieces_one_after_another(self, house, monkeypatch):
        monkeypatch.setattr("audit.reports.files.PIECE", 1000)
        monkeypatch.setattr("audit.reports.workbook.PIECE", 1000)
        monkeypatch.setattr("audit.reports.workbook.ROWS_OF_A_SHEET", 200)
        rows = [(f"{number}", number, "SEK", number, None, None) for number in range(250)]
        with registered(a_kind(answer=lambda asked: Answer(iter(rows), of=250))):
            report = made()
        pages = ReportPage.objects.filter(report=report).order_by("number").values_list("rows", flat=True)
        assert [len(page) for page in pages] == [100, 100, 50]
        assert [tuple(row) for page in pages for row in page] == rows
        assert ReportPart.objects.filter(report=report, format="csv").count() > 1
        assert [row[1] for sheet in ("Rows", "Rows 2") for row in of_xlsx(report, sheet)[1:]] == list(range(250))
        assert faults(report) == []

    def test_shows_one_moment_whatever_happens_while_it_is_made(self, house):
        def answer(asked):
            yield ("before", Event.objects.count(), "SEK", 0, None, None)
            log.record_refusal("test.happened", by="system", on="test:1", data={})
            yield ("after", Event.objects.count(), "SEK", 0, None, None)

        with registered(a_kind(answer=lambda asked: Answer(answer(asked)))):
            report = made()
        before, after = ReportPage.objects.get(report=report).rows
        assert before[1] == after[1]

    def test_writes_nothing_but_itself(self, house):
        def answer(asked):
            log.record("test.happened", by="system", on="test:1", data={})
            return Answer([])

        with registered(a_kind(answer=answer)):
            assert made().state == ReportState.FAILED

    @pytest.mark.sweep
    def test_shows_how_far_it_is_while_it_is_made(self, house, monkeypatch):
        monkeypatch.setattr("audit.reports.runner.PAGES_AT_ONCE", 1)
        seen = []

        def answer(asked):
            with psycopg.connect(house.web_url) as other:
                for number in range(301):
                    if number % 100 == 1:
                        seen.append(
                            other.execute('SELECT state, done, "of" FROM audit_report ORDER BY id DESC').fetchone()
                        )
                        other.rollback()
                    yield ("each", number, "SEK", 0, None, None)

        with registered(a_kind(answer=lambda asked: Answer(answer(asked), of=301))):
            made()
        assert seen == [("making", 0, 301), ("making", 100, 301), ("making", 200, 301)]

    def test_gli19_b_2_7_is_in_the_log_with_its_hashes(self, kind):
        report = made()
        event = Event.objects.get(kind="report.made", on=f"report:{report.pk}")
        data = json.loads(bytes(event.body))["data"]
        assert (event.by, data["kind"], data["rows"]) == ("staff:1", "sales", 1)
        assert data["choices"] == report.choices
        for name in ("csv", "xlsx"):
            assert data["digests"][name] == hashlib.sha256(b"".join(pieces(report, name))).hexdigest()
        of_the_log = said(report)
        assert of_the_log
        assert of_the_log.digests == report.digests
        assert faults(report) == []

    def test_gli19_b_2_7_that_somebody_with_all_rights_changed_is_found(self, kind, house):
        report, unready = made(), asked()
        assert list(findings()) == []
        with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute("UPDATE audit_report_part SET content = content || 'x' WHERE report_id = %s", [report.pk])
            assert faults(report) == ["csv", "xlsx"]
            superuser.execute("UPDATE audit_report_page SET rows = '[]' WHERE report_id = %s", [report.pk])
            assert faults(report) == ["csv", "xlsx", "screen"]
            superuser.execute("DELETE FROM audit_report WHERE id = %s", [report.pk])
            superuser.execute("UPDATE audit_report SET state = 'ready' WHERE id = %s", [unready.pk])
        event_id = Event.objects.get(kind="report.made", on=f"report:{report.pk}").pk
        assert {str(finding) for finding in findings()} == {
            f"event {event_id}: report {report.pk} is missing; it was created and then deleted.",
            f"report {unready.pk} is not recorded; no event records its creation.",
        }

    @pytest.mark.parametrize("table", sample(["audit_report_page", "audit_report_part"], 1))
    def test_of_which_something_is_missing_is_never_ready(self, house, table, monkeypatch):
        monkeypatch.setattr("audit.reports.files.PIECE", 100)
        monkeypatch.setattr("audit.reports.workbook.PIECE", 100)

        def lose_something():
            with psycopg.connect(house.web_url) as other:
                assert other.execute(f"DELETE FROM {table} WHERE number = 1 AND report_id = {report.pk}").rowcount
            return ()

        with registered(a_kind(answer=lambda asked: Answer([ROW] * 101, notes=lose_something))):
            report = asked()
            assert runner.make_open() == 1
        report.refresh_from_db()
        assert report.state == ReportState.FAILED


class TestWhatIsAskedFor:
    def test_may_not_end_in_the_future(self, kind):
        now = clock()
        with pytest.raises(CannotAsk, match="future"):
            asked(interval=Interval(now, now + timedelta(hours=1)))

    def test_begins_before_it_ends(self, kind):
        now = clock()
        with pytest.raises(CannotAsk, match="start must be before the end"):
            asked(interval=Interval(now, now))

    def test_is_a_report_that_there_is(self, kind):
        with pytest.raises(CannotAsk, match="Unknown report"):
            asked(kind="none")

    @pytest.mark.sweep
    def test_chooses_among_what_there_is(self, house):
        shown = []

        def answer(asked):
            shown.append(dict(asked.choices))
            return Answer([])

        with registered(a_kind(choices=[SHOP], answer=answer)):
            with pytest.raises(CannotAsk, match="Shop: unknown value “east”"):
                asked(choices={"shop": "east"})
            with pytest.raises(CannotAsk, match="Unknown option: door"):
                asked(choices={"door": "1"})
            report = made(choices={"shop": "north"})
            assert dict(head_of(report).lines)["Shop"] == "The northern one"
            assert dict(head_of(made()).lines)["Shop"] == "all"
        assert shown == [{"shop": "north"}, {"shop": ""}]

    @pytest.mark.sweep
    def test_can_be_asked_for_again(self, kind):
        report = made()
        again = ask_again(report, by="staff:2")
        assert runner.make_open() == 1
        again.refresh_from_db()
        assert (again.state, again.by) == (ReportState.READY, "staff:2")
        assert (again.kind, again.since, again.until, again.choices) == (
            report.kind,
            report.since,
            report.until,
            report.choices,
        )

    def test_has_a_column_for_the_currency_of_money(self):
        with pytest.raises(ValueError, match="currency"), registered(a_kind(columns=[Column("a", "A", Form.MONEY)])):
            pass


class TestAReportThatCannotBeMade:
    def test_says_why_in_the_words_of_its_kind(self, house):
        def answer(asked):
            yield ROW
            raise CannotMake("The shop was closed.")

        with registered(a_kind(answer=lambda asked: Answer(answer(asked)))):
            report = made()
        assert (report.state, report.failure) == (ReportState.FAILED, "The shop was closed.")
        assert not report.pages.exists()
        assert not report.parts.exists()
        event = Event.objects.get(kind="report.failed", on=f"report:{report.pk}")
        assert json.loads(bytes(event.body))["data"] == {"kind": "sales", "why": "The shop was closed."}

    def test_for_a_fault_of_the_house_says_so_and_nothing_of_the_fault(self, house):
        with registered(a_kind(answer=lambda asked: Answer([("too", "few")]))):
            report = made()
        assert (report.state, report.failure) == (ReportState.FAILED, runner.UNFORESEEN)

    def test_keeps_no_other_waiting(self, house):
        with registered(a_kind(answer=lambda asked: Answer([("row",)] * (1 // 0))), a_kind("other")):
            asked()
            other = asked("other")
            assert runner.make_open() == 2
        other.refresh_from_db()
        assert other.state == ReportState.READY

    @pytest.mark.sweep
    def test_because_its_kind_is_not_known_here_is_left_to_who_knows_it(self, house):
        with registered(a_kind()):
            report = asked()
        with registered(a_kind("other")):
            assert runner.make_open() == 0
        with registered(a_kind()):
            assert runner.make_open() == 1
        report.refresh_from_db()
        assert report.state == ReportState.READY

    def test_because_its_makers_die_is_given_up(self, kind):
        report = asked()
        Report.objects.filter(pk=report.pk).update(tries=runner.MOST_TRIES, state=ReportState.MAKING)
        assert runner.make_open() == 1
        report.refresh_from_db()
        assert report.state == ReportState.FAILED
        assert "was interrupted 5 times" in report.failure


class TestTwoMakers:
    def test_make_no_report_twice(self, house):
        """While one makes it, another finds nothing to do."""
        others = []

        def answer(asked):
            others.append(runner._one(another))
            return Answer([ROW])

        another = connections["default"].copy()
        with registered(a_kind(answer=answer)):
            report = made()
        another.close()
        assert others == [False]
        assert Event.objects.filter(kind="report.made", on=f"report:{report.pk}").count() == 1

    def test_are_as_many_as_may_be(self, kind, house):
        asked()
        with psycopg.connect(house.web_url) as other:
            for place in range(runner.AT_ONCE):
                other.execute("SELECT pg_advisory_lock(%s, %s)", [runner.MAKER, place])
            assert runner.make_open() == 0
        assert runner.make_open() == 1


@pytest.mark.parametrize("when", sample(["before", "after"], 1))
def test_a_crash_at_any_statement_leaves_a_report_that_another_process_makes(house, when, monkeypatch, is_sweep):
    monkeypatch.setattr("audit.reports.runner.PAGES_AT_ONCE", 1)
    monkeypatch.setattr("audit.reports.runner.MOST_TRIES", 1000)
    rows = [("each", number, "SEK", number, None, None) for number in range(150)]
    with registered(a_kind(answer=lambda asked: Answer(rows))):
        report = asked()
        number = 1
        while killed.dies(runner.make_open, when, number, every=is_sweep):
            report.refresh_from_db()
            is_made = Event.objects.filter(kind="report.made", on=f"report:{report.pk}").count()
            assert is_made == (report.state == ReportState.READY)
            if is_made:
                assert faults(report) == []
                report = asked()
            number += 1
        report.refresh_from_db()
        assert (report.state, faults(report), report.done) == (ReportState.READY, [], 150)
    assert number > (10 if is_sweep else 2)
    assert not Report.objects.filter(state__in=runner.OPEN).exists()
