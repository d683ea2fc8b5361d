"""Notices of maintenance: published and withdrawn by permitted staff, guarded by the database."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import Client

from ops.i18n import sources
from players.datetime_format import written_span
from players.models import Notice, Staff
from players.protection import exclusions
from players.staff import notices
from players.staff.notices import LANGUAGES, LONGEST, WHEN, Refused, State
from tests.harness.sweeps import sample
from tests.notices import HOUR, a_notice, planned
from tests.people import a_member_of_staff, a_visitor, events

DAY = timedelta(days=1)


def at(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


@pytest.fixture
def operator(db) -> Staff:
    return a_member_of_staff("operator", name="Olga Post")


def change(notice: Notice, columns: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE players_notice SET {columns} WHERE id = %s", [notice.pk])


@pytest.mark.django_db
class TestWords:
    def test_the_house_ships_them_in_every_language(self):
        shipped = notices.shipped()
        assert set(shipped) == set(LANGUAGES) == {code for code, _ in settings.LANGUAGES}
        assert not any(notices.fault(text) for text in shipped.values())
        assert all(text.count(WHEN) == 1 for text in shipped.values())

    def test_they_are_held_to_how_each_language_is_set(self):
        held = {path.name for path, _ in sources.project().prose()}
        assert {f"notice.{language}.md" for language in LANGUAGES} <= held

    @pytest.mark.parametrize(
        ("text", "what"),
        [("Closed.", WHEN), (f"{WHEN}\nagain", "one line"), (f"{WHEN}{'x' * LONGEST}", str(LONGEST))],
        ids=["no time", "two lines", "too long"],
    )
    def test_what_is_wrong_with_them_is_said(self, text, what):
        assert what in notices.fault(text)

    @pytest.mark.parametrize(
        ("language", "zone", "written"),
        [
            ("en", "Europe/London", "1 July 2026, 13:00–14:30 BST"),
            ("sv", "Europe/Stockholm", "1 juli 2026, 14:00–15:30 CEST"),
            ("da", "Europe/Copenhagen", "1. juli 2026, 14.00–15.30 CEST"),
            ("ro", "Europe/Bucharest", "1 iulie 2026, 15:00–16:30 EEST"),
            ("de", "Europe/Berlin", "1. Juli 2026, 14:00–15:30 CEST"),
            ("de", "UTC", "1. Juli 2026, 12:00–13:30 UTC"),
        ],
    )
    def test_they_say_the_time_as_each_readers_clocks_do(self, language, zone, written):
        begins = datetime(2026, 7, 1, 12, tzinfo=UTC)
        notice = planned(begins_at=begins, ends_at=begins + 1.5 * HOUR)
        assert written in notices.notice_text(notice, language, zone)

    def test_the_day_of_the_end_is_said_where_it_is_another(self):
        begins = datetime(2026, 7, 1, 23, tzinfo=UTC)
        assert written_span(begins, begins + 2 * HOUR, "en") == "1 July 2026, 23:00 UTC – 2 July 2026, 01:00 UTC"


@pytest.mark.django_db
class TestPublishing:
    def test_it_is_in_force_between_its_times_by_the_clock_of_the_database(self, operator):
        now = exclusions.now()
        notice = a_notice(DAY, by=operator, shown_from=now + HOUR, shown_until=now + 2 * HOUR)
        states = [notices.state_of(notice, now + hours * HOUR) for hours in (0, 1, 2)]
        assert states == [State.COMING, State.IN_FORCE, State.OVER]

    def test_the_log_says_who_published_what(self, operator):
        notice = a_notice(by=operator)
        (event,) = events("notice.published", on=str(notice))
        assert event["by"] == str(operator)
        assert event["data"]["texts"] == notices.shipped()
        assert event["data"]["begins_at"] == notice.begins_at.isoformat()

    def test_a_second_one_for_the_same_time_is_refused_until_the_first_is_withdrawn(self, operator):
        first = a_notice(by=operator)
        with pytest.raises(Refused, match="Another notice"):
            a_notice(by=operator)
        assert len(events("notice.published")) == 1
        notices.withdraw(notice_id=first.pk, reason="other hours", by=operator)
        a_notice(by=operator)
        a_notice(DAY, by=operator)

    @pytest.mark.parametrize(
        "changes",
        [
            {"shown_until": datetime(2026, 1, 1, tzinfo=UTC)},
            {"texts": {}},
            {"texts": dict.fromkeys(LANGUAGES, f"{WHEN}") | {"ro": "Mâine"}},
            {"texts": dict.fromkeys(LANGUAGES, f"{WHEN}") | {"ro": f"{WHEN}{'x' * LONGEST}"}},
            {"texts": dict.fromkeys(LANGUAGES, f"{WHEN}") | {"ro": f"{WHEN}\n"}},
            {"begins_at": datetime(2090, 1, 1, tzinfo=UTC)},
            {"shown_from": datetime(2090, 1, 1, tzinfo=UTC)},
        ],
        ids=["over", "no words", "no time", "too long", "two lines", "ends first", "shown backwards"],
    )
    def test_the_database_takes_none_that_is_no_notice(self, operator, changes):
        with pytest.raises(Refused):
            a_notice(by=operator, **changes)
        assert not Notice.objects.exists()

    def test_nor_one_by_somebody_whose_role_may_not(self, db):
        with pytest.raises(Refused):
            a_notice(by=a_member_of_staff("support"))


@pytest.mark.django_db
class TestWithdrawing:
    def test_it_is_shown_no_more_and_stays_on_record(self, operator):
        notice = a_notice(by=operator)
        supervisor = a_member_of_staff("supervisor")
        gone = notices.withdraw(notice_id=notice.pk, reason="not tonight", by=supervisor)
        assert notices.state_of(gone, exclusions.now()) is State.WITHDRAWN
        assert (gone.withdrawn_by, gone.reason) == (supervisor, "not tonight")
        (event,) = events("notice.withdrawn", on=str(notice))
        assert (event["by"], event["data"]) == (str(supervisor), {"was": "shown now", "reason": "not tonight"})

    def test_once(self, operator):
        notice = a_notice(by=operator)
        notices.withdraw(notice_id=notice.pk, reason="not tonight", by=operator)
        with pytest.raises(Refused, match="already withdrawn"):
            notices.withdraw(notice_id=notice.pk, reason="again", by=operator)
        assert len(events("notice.withdrawn")) == 1

    def test_the_database_changes_nothing_else_about_it(self, operator):
        notice = a_notice(by=operator)
        for columns in (
            "texts = '{}'",
            "shown_until = shown_until + interval '1 day'",
            "withdrawn_at = NULL",
            "withdrawn_at = now()",
            f"withdrawn_at = now(), withdrawn_by_id = {operator.pk}",
            f"withdrawn_at = now(), reason = 'x', withdrawn_by_id = {operator.pk}, ends_at = ends_at + interval '1 h'",
            f"withdrawn_at = now(), reason = 'x', withdrawn_by_id = {a_member_of_staff('support').pk}",
        ):
            with pytest.raises(DatabaseError):
                change(notice, columns)
        with pytest.raises(DatabaseError), transaction.atomic():
            notice.delete()


def sent(step: str = "see", **changes: object) -> dict[str, object]:
    now = exclusions.now()
    times = {"begins_at": HOUR, "ends_at": 2 * HOUR, "shown_from": -HOUR, "shown_until": 2 * HOUR}
    written = {name: f"{now + later:%Y-%m-%dT%H:%M}" for name, later in times.items()}
    return written | notices.shipped() | {"step": step} | changes


@pytest.mark.django_db
class TestPages:
    @pytest.mark.sweep
    def test_the_form_begins_with_words_in_every_language(self):
        page = at("operator").get("/staff/notices/new/").content.decode()
        assert all(text in page for text in notices.shipped().values())

    def test_nothing_is_published_before_it_was_seen_in_every_language_and_time_zone(self):
        desk = at("supervisor")
        page = desk.post("/staff/notices/new/", sent()).content.decode()
        assert not Notice.objects.exists()
        begins = datetime.fromisoformat(str(sent()["begins_at"])).replace(tzinfo=UTC)
        for language in LANGUAGES:
            for zone in ("UTC", "Europe/Stockholm", "Europe/Bucharest", "Europe/London"):
                there = begins.astimezone(ZoneInfo(zone))
                assert written_span(there, there + HOUR, language) in page
        answer = desk.post("/staff/notices/new/", sent("publish"))
        assert answer["Location"] == "/staff/notices/"
        assert Notice.objects.get().texts == notices.shipped()

    @pytest.mark.sweep
    def test_what_was_written_comes_back_to_be_changed(self):
        page = at("operator").post("/staff/notices/new/", sent("mend", en=f"Closed {WHEN}, sorry")).content.decode()
        assert "sorry</textarea>" in page
        assert ">Preview<" in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "said"),
        sample(
            [
                ({"da": ""}, "This field is required."),
                ({"ends_at": "2020-01-01T10:00"}, "This time is in the past."),
                ({"ends_at": "2090-01-01T10:00"}, "more than one year ahead"),
                ({"shown_until": "2020-01-01T10:00"}, "would never be shown"),
                ({"shown_until": "x"}, "Enter a valid date/time."),
                ({"de": "x" * (LONGEST + 1)}, f"The maximum is {LONGEST}."),
                ({"de": "Bald"}, "The time is missing."),
            ],
            3,
        ),
        ids=["a language", "past", "far", "read by nobody", "no time", "long", "when"],
    )
    @pytest.mark.parametrize("step", sample(["see", "publish"], 1))
    def test_what_is_wrong_is_said_and_what_was_typed_is_kept(self, changes, said, step):
        page = at("operator").post("/staff/notices/new/", sent(step, sv=f"Stängt {WHEN}, tyvärr", **changes))
        html = page.content.decode()
        assert said in html
        assert "tyvärr" in html
        assert not Notice.objects.exists()

    def test_a_window_that_ends_before_it_begins_is_refused(self):
        wrong = sent()
        wrong |= {"ends_at": wrong["begins_at"]}
        assert "The end must be after the start." in at("operator").post("/staff/notices/new/", wrong).content.decode()

    def test_one_that_goes_before_work_ends_is_refused(self):
        wrong = sent()
        wrong |= {"shown_until": wrong["begins_at"]}
        assert "The maintenance ends later." in at("operator").post("/staff/notices/new/", wrong).text

    @pytest.mark.sweep
    def test_is_shown_until_work_ends_unless_something_else_is_asked_for(self):
        assert 'name="shown_until"' in (form := at("operator").get("/staff/notices/new/").text)
        assert "Leave empty to show it until the maintenance ends." in form
        assert re.findall(r'<input[^>]*name="shown_until"[^>]* value=', form) == []
        at("operator").post("/staff/notices/new/", sent("publish", shown_until=""))
        made = Notice.objects.get()
        assert made.shown_until == made.ends_at

    def test_of_two_for_the_same_time_the_second_is_refused(self):
        a_notice()
        page = at("operator").post("/staff/notices/new/", sent("publish")).content.decode()
        assert "Another notice covers this time" in page
        assert Notice.objects.count() == 1

    @pytest.mark.sweep
    def test_the_list_says_who_published_and_withdrew_what_and_when(self, operator):
        over = a_notice(by=operator)
        notices.withdraw(notice_id=over.pk, reason="postponed", by=operator)
        a_notice(3 * DAY, by=operator, shown_from=exclusions.now() + DAY)
        a_notice(by=operator)
        page = at("compliance").get("/staff/notices/").content.decode()
        positions = [page.index(f">{state}<") for state in ("shown now", "coming", "withdrawn")]
        assert positions == sorted(positions)
        assert "Olga Post" in page
        assert "<q>postponed</q>" in page
        assert "Withdraw notice" not in page  # a reader may lack the permission

    @pytest.mark.sweep
    def test_it_is_withdrawn_with_a_reason(self, operator):
        notice, desk = a_notice(by=operator), at("supervisor")
        address = f"/staff/notices/{notice.pk}/withdraw/"
        desk.post(address, {"reason": " "})
        assert Notice.objects.filter(withdrawn_at=None).exists()
        assert (
            "removed from all tables and lobbies"
            in desk.post(address, {"reason": "postponed"}, follow=True).content.decode()
        )
        assert "already withdrawn" in desk.post(address, {"reason": "postponed"}, follow=True).content.decode()
        assert desk.post("/staff/notices/0/withdraw/", {"reason": "postponed"}).status_code == 404
