"""What staff, programs and players read when the log's oldest months have gone to archives: what is missing is said to
be elsewhere, and is never taken for damage, nor for something that never was.
"""

import io
import zipfile
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from accounts import data_export
from audit import approvals, archiving, id_ranges, retention
from audit.models import Approval, ArchivedMonth, Event, Kept, Report, Significant
from audit.reports import heading, intervals, runner, verification
from audit.significant import detection as finding
from backoffice.incidents.timeline import timeline
from backoffice.tables import version_history
from games.models import Incident, Shoe, Table
from games.shared import shoes
from tests import annulling, old_months
from tests.api.client import Program
from tests.audit import reporting, sealed
from tests.audit.sealed import OCTOBER, SEPTEMBER
from tests.audit.signing import Pens
from tests.builders import a_player, a_round, a_table
from tests.harness import databases
from tests.people import a_member_of_staff, a_visitor
from wallet.models import Mode

FILES = ["sabot-before.zip", "sabot-2025-09.zip", "sabot-2025-10.zip"]


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker):
    """A house in which something of everything was done in September; two months have gone since."""
    pens = Pens()
    with django_db_blocker.unblock(), databases.clone("archived") as database, sealed.months_ago(database) as owner:
        old_months.go_to(owner, SEPTEMBER)
        staff, player, table = a_member_of_staff("compliance"), a_player(real=1_000_00), a_table()
        asked = retention.ask(what=Kept.CHAT, days=100, by=str(staff), person=staff.person, reason="for a test")
        with reporting.registered(reporting.a_kind()):
            report = reporting.asked()
            runner.make_open()
        owner.execute("SELECT audit_erase('player:13')")
        annulling.annul_unreproduced(a_round(player, table, Mode.REAL, player=1000).round_id)
        sealed.fill_months(owner, pens, SEPTEMBER, OCTOBER, None)
        finding.find()
        sealed.leave_months(owner, pens)
        yield SimpleNamespace(
            pens=pens, staff=staff, player=player, table=table, asked=asked, report=report, owner=owner
        )
        connections.close_all()


@pytest.fixture(autouse=True)
def believed(house, settings, django_db_blocker):
    settings.AUDIT_KEYS = house.pens.keys.replace("\n", ",")
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def visitor(house):
    opened = a_visitor()
    opened.force_login(house.staff.user)
    return opened


def last() -> ArchivedMonth:
    return ArchivedMonth.objects.latest("beyond")


def text(answer):
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


class TestPages:
    @pytest.mark.sweep
    def test_of_the_log_lists_the_archives_and_says_where_the_log_begins(self, visitor):
        said = text(visitor.get(reverse("staff_log")))
        for month in ArchivedMonth.objects.all():
            assert month.file in said
            assert month.sha256 in said
        assert f'from leaf <span class="num">{archiving.begins()}</span> on' in said

    def test_export_what_is_here_and_lead_from_what_is_not_to_the_archives(self, visitor):
        whole = visitor.get(reverse("staff_log_export"))
        assert whole["Content-Disposition"].startswith(f'attachment; filename="log-{archiving.begins()}-')
        assert b"".join(whole.streaming_content)
        gone = visitor.get(reverse("staff_log_export"), {"first": 0}, follow=True)
        assert gone.redirect_chain == [(f"{reverse('staff_log')}#archives", 302)]
        assert "Leaf 0 has gone to the archive of 2025-09, the file sabot-2025-09.zip." in text(gone)

    @pytest.mark.sweep
    def test_of_events_say_up_to_when_they_have_gone(self, visitor):
        said = text(visitor.get(reverse("staff_events"), {"on": "player:13"}))
        assert "UTC are no longer here but in archives" in said
        event = sealed.event_of(100)
        gone = visitor.get(reverse("staff_event_proof", args=[event]), follow=True)
        assert f"Event {event} has gone to the archive of 2025-09, the file sabot-2025-09.zip." in text(gone)

    @pytest.mark.sweep
    def test_of_a_significant_event_say_that_its_event_is_in_an_archive(self, visitor):
        found = Significant.objects.get(title="Personal data was erased")
        assert found.its_event is None
        said = text(visitor.get(reverse("staff_significant_event", args=[found.pk])))
        assert f"Event {found.event_id} is in an archive" in said

    def test_of_staff_do_not_say_that_a_password_was_never_changed(self, house, visitor):
        said = text(visitor.get(reverse("staff_person", args=[house.staff.pk])))
        assert "not by them since 20" in said
        assert "not by them yet" not in said

    @pytest.mark.sweep
    def test_of_looks_and_of_a_player_say_so_too(self, house, visitor):
        for name in (reverse("staff_looks"), f"{reverse('staff_player', args=[house.player.pk])}?section=events"):
            assert "UTC are no longer here but in archives" in text(visitor.get(name)), name


class TestPrograms:
    def test_are_told_to_which_archive_an_event_has_gone(self, house):
        program, event = Program(house.staff.user), sealed.event_of(100)
        answer = program.get(f"events/{event}/")
        month = ArchivedMonth.objects.get(month="2025-09")
        assert (answer.status_code, answer.json()["code"]) == (410, "archived")
        assert answer.json() | {"file": month.file, "sha256": month.sha256, "month": month.month} == answer.json()
        assert program.get(f"events/{event}/proof/").content.startswith(b"c2sp.org/tlog-proof@v1\nindex 100\n")
        assert program.get("events/5/").status_code == 404

    def test_are_told_from_which_leaf_on_entries_are_here(self, house):
        program = Program(house.staff.user)
        answer = program.get("log/tile/entries/000")
        assert (answer.status_code, answer.json()["first_leaf"]) == (410, archiving.begins())
        assert program.get("log/tile/0/000").status_code == 200

    def test_are_told_that_a_list_of_events_lacks_older_ones(self, house):
        answer = Program(house.staff.user).get("events/", first_leaf=0, end_leaf=10).json()
        assert answer["items"] == []
        assert answer["archived_until"] == last().until.isoformat().replace("+00:00", "Z")


class TestChecks:
    def test_of_a_request_believe_what_was_kept_of_it(self, house):
        assert not Event.objects.filter(kind="approval.asked").exists()
        assert approvals.thaw(Approval.objects.get(pk=house.asked.pk))["days"] == 100

    def test_of_a_report_find_nothing_wrong_and_yet_what_was_changed(self, house):
        assert list(verification.findings()) == []
        known = verification.said(Report.objects.get(pk=house.report.pk))
        assert known
        assert known.archive
        house.owner.execute("ALTER TABLE audit_report_part DISABLE TRIGGER USER")
        house.owner.execute("UPDATE audit_report_part SET content = 'x' WHERE format = 'csv'")
        assert [finding.stands for finding in verification.findings()] == [
            f"csv of report {house.report.pk} is another"
        ]

    def test_of_sums_leave_alone_what_has_gone(self):
        out = io.StringIO()
        call_command("verify_sums", stdout=out)
        assert "UTC are in archives: their sums were left alone.\nAll sums agree with their rows.\n" in out.getvalue()


class TestReports:
    def test_of_the_life_to_date_begin_with_the_first_archive(self):
        assert intervals.began() == ArchivedMonth.objects.get(month="2025-09").since

    def test_over_a_month_that_has_gone_say_so(self):
        month = last()
        (note,) = heading._archived(Report(since=month.since, until=month.until), "UTC")
        assert note.startswith("What was written up to 20")
        assert ": sabot-2025-10.zip. Sums of hours were kept; events and movements one by one are there" in note
        assert heading._archived(Report(since=month.until + timedelta(days=1), until=timezone.now()), "UTC") == []


class TestHistory:
    def test_of_a_table_says_where_the_reason_of_a_version_is(self, house):
        (line,), _ = version_history.of_table(Table.objects.get(pk=house.table.pk))
        assert line.reason == "What the log said of it is in the file sabot-2025-09.zip."

    def test_of_an_incident_says_what_is_missing(self, house):
        told = timeline(Incident.objects.get(), [])
        missing = [each.what for each in told if "has gone to an archive" in each.what]
        assert [each.rpartition(" ")[2] for each in missing] == FILES[1:]

    @pytest.mark.sweep
    def test_of_a_player_names_the_archives(self, house):
        with zipfile.ZipFile(io.BytesIO(b"".join(data_export.export(house.player)))) as told:
            assert all(name in told.read("archives.csv").decode() for name in FILES[1:])

    def test_a_shoe_that_was_open_while_it_was_written_may_be_known(self):
        opened = last().until
        assert shoes.is_known(Shoe(opened_at=opened))
        later = timezone.now() + id_ranges.SLACK + timedelta(days=1)
        assert not shoes.is_known(Shoe(opened_at=later))
