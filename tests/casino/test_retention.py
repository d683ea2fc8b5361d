"""Retention times are data that two people change; older records are deleted automatically in
batches.
"""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
import time_machine
from django.db import connection, transaction
from django.db.utils import IntegrityError, ProgrammingError
from django.utils.timezone import now
from psycopg.sql import SQL, Identifier

from accounts import retention as expiry
from accounts.tasks import expire
from audit import approvals, log, retention
from audit.models import Approval, Event, Personal, RetainedData, Retention
from players.account import closures
from players.identity import verification
from players.models import DocumentContent, Mail, Part, Player, RefusalReason, Session, Staff
from tests.ageing import age
from tests.builders import a_player, a_submission
from tests.people import a_member_of_staff, a_visitor, events
from tests.players.test_sessions import a_browser

ADDRESS = 730  # days
TABLES = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"


def an_event(**personal: str) -> int:
    """Record an event with personal values."""
    return log.record("x.y", by="player:1", on="player:1", data={}, personal=personal)


def ask(days: int, what: RetainedData = RetainedData.MAIL, by: Staff | None = None) -> Approval:
    """Request a retention time."""
    by = by or a_member_of_staff("compliance")
    return retention.ask(what=what, days=days, by=str(by), person=by.person, reason="for a test")


def decide(asked: Approval, by: Staff | None = None, *, yes: bool = True) -> Any:
    """Decide a request as another person."""
    by = by or a_member_of_staff("compliance")
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(by), person=by.person, reason="agreed", may=by.user.has_perm
    )


def left() -> set[tuple[int, str]]:
    return set(Personal.objects.values_list("event_id", "field"))


def kept_for(what: RetainedData) -> int:
    return retention.period(what).days


@pytest.mark.django_db
class TestThePeriods:
    def test_are_there_for_everything_that_goes_by_itself(self):
        rules = Retention.objects.in_bulk()
        assert set(rules) == set(RetainedData) == set(expiry.STEPS)
        assert all(rule.source.startswith(("Law: ", "Own choice: ")) for rule in rules.values())

    def test_are_those_that_the_law_demands(self):
        assert (
            kept_for(RetainedData.CHAT),
            retention.years(RetainedData.ACCOUNT),
            retention.years(RetainedData.CONVERSATION),
        ) == (90, 5, 5)

    def test_gli19_b_3_2_are_changed_by_two_people_and_each_change_is_on_record(self):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("compliance")
        asked = ask(400, by=one)
        assert kept_for(RetainedData.MAIL) == 365
        decide(asked, other)
        assert kept_for(RetainedData.MAIL) == 400
        (event,) = events("retention.changed", on="retention:mail")
        assert event["data"] == {"approval": asked.pk, "before": 365, "days": 400}
        said = {kind: events(kind, on=f"approval:{asked.pk}") for kind in ("approval.asked", "approval.decided")}
        assert {kind: each["by"] for kind, (each,) in said.items()} == {
            "approval.asked": str(one),
            "approval.decided": str(other),
        }
        assert said["approval.asked"][0]["at"] <= event["at"]

    def test_are_not_changed_by_one(self):
        one = a_member_of_staff("compliance")
        with pytest.raises(approvals.OwnRequest):
            decide(ask(400, by=one), one)
        with pytest.raises(approvals.NotAllowed):
            decide(Approval.objects.get(), a_member_of_staff("supervisor"))
        assert kept_for(RetainedData.MAIL) == 365

    def test_stay_where_the_second_person_refuses(self):
        decide(ask(400), yes=False)
        assert kept_for(RetainedData.MAIL) == 365

    def test_are_never_shorter_than_the_law_demands(self):
        with pytest.raises(retention.TooShort, match="minimum period is 90 days"):
            ask(89, RetainedData.CHAT)

    def test_are_refused_by_the_database_too_despite_an_agreement(self):
        by = a_member_of_staff("compliance")
        request: dict[str, log.Json] = {"what": "chat", "before": 90, "days": 1}
        asked = approvals.ask(
            kind=retention.KIND, on="retention:chat", request=request, by=str(by), person=by.person, reason="x"
        )
        with pytest.raises(IntegrityError, match="audit_retention_long_enough"):
            decide(asked)

    def test_are_changed_in_no_other_way(self):
        asked = ask(400)
        for statement, refusal in (
            ("UPDATE audit_retention SET days = 9999", ProgrammingError),
            (f"SELECT audit_keep_for({asked.pk})", IntegrityError),  # nobody has approved
        ):
            with pytest.raises(refusal), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)

    def test_are_not_changed_back_by_what_was_agreed_to_before(self):
        first = ask(400)
        decide(first)
        decide(ask(365))
        with (
            pytest.raises(Exception, match="does not fit any more"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT audit_keep_for(%s)", [first.pk])
        assert kept_for(RetainedData.MAIL) == 365

    @pytest.mark.sweep
    def test_are_asked_for_and_agreed_to_on_pages(self):
        one, other = a_visitor(), a_visitor()
        for visitor in (one, other):
            visitor.force_login(a_member_of_staff("compliance").user)
        page = one.post("/staff/retention/", {"what": "mail", "days": 400, "reason": "complaints"}, follow=True).text
        assert "awaits a second person" in page
        assert (
            "minimum period is 90 days"
            in one.post("/staff/retention/", {"what": "chat", "days": 3, "reason": "less"}, follow=True).text
        )
        assert "Keep for 400 days: Recipients and subjects of e-mails" in other.get("/staff/approvals/").text
        other.post(f"/staff/approvals/{Approval.objects.get().pk}/decide/", {"yes": "1", "reason": "agreed"})
        assert ">400<" in one.get("/staff/retention/").text


class TestExpiry:
    """Uses its own database, since the owner makes rows older."""

    def test_takes_the_values_whose_time_is_over_and_no_others(self, cloned_db, owner: psycopg.Connection):
        old, edge, young = an_event(ip="a", email="b"), an_event(ip="c"), an_event(ip="d")
        tried = an_event(ip="e", tried="f")
        before = {event.pk: bytes(event.body) for event in Event.objects.all()}
        age(owner, "audit_event", "at", ADDRESS + 1, f"id = {old}")
        age(owner, "audit_event", "at", ADDRESS - 1, f"id = {edge}")
        age(owner, "audit_event", "at", 91, f"id = {tried}")
        expire()
        assert left() == {(old, "email"), (edge, "ip"), (young, "ip"), (tried, "ip")}
        assert before == {event.pk: bytes(event.body) for event in Event.objects.filter(pk__in=before)}
        (address,) = events("personal.expired", on="retention:address")
        assert {key: address["data"][key] for key in ("days", "fields", "values")} == {
            "days": ADDRESS,
            "fields": ["ip"],
            "values": 1,
        }
        (run,) = events("retention.applied")
        assert {what: count for what, count in run["data"]["gone"].items() if count} == {
            "address": 1,
            "wrong log-in": 1,
        }
        assert run["data"]["failed"] == []

    def test_goes_by_the_clock_of_the_database_alone(self, cloned_db, owner: psycopg.Connection):
        an_event(ip="a", tried="b")
        with time_machine.travel(now() + timedelta(days=9 * 365)):
            assert sum(expiry.expire().values()) == 0

    @pytest.mark.sweep
    def test_twice_takes_nothing_more(self, cloned_db, owner: psycopg.Connection):
        an_event(ip="a")
        age(owner, "audit_event", "at", ADDRESS + 1)
        assert [expiry.expire()[RetainedData.ADDRESS] for _ in range(2)] == [1, 0]
        assert len(events("personal.expired")) == 1
        assert len(events("retention.applied")) == 2

    def test_interrupted_goes_on_where_it_ended(
        self, cloned_db, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
    ):
        numbers = [an_event(ip=str(number)) for number in range(5)]
        age(owner, "audit_event", "at", ADDRESS + 1)
        monkeypatch.setattr(retention, "BATCH", 2)
        turns, some = iter([True]), retention._expire_some

        def once(what: RetainedData) -> int:
            if not next(turns, False):
                raise InterruptedError
            return some(what)

        with monkeypatch.context() as broken:
            broken.setattr(retention, "_expire_some", once)
            with pytest.raises(InterruptedError):
                retention.expire(RetainedData.ADDRESS)
        assert left() == {(number, "ip") for number in numbers[2:]}  # the oldest were deleted first
        assert retention.expire(RetainedData.ADDRESS) == 3
        assert [event["data"]["values"] for event in events("personal.expired")] == [2, 2, 1]

    @pytest.mark.sweep
    def test_of_one_kind_that_fails_keeps_no_other_from_going(
        self, cloned_db, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
    ):
        def fail() -> int:
            raise OSError

        an_event(tried="a")
        age(owner, "audit_event", "at", 91)
        monkeypatch.setitem(expiry.STEPS, RetainedData.CHAT, fail)
        with pytest.raises(ExceptionGroup):
            expiry.expire()
        (run,) = events("retention.applied")
        assert run["data"]["failed"] == ["chat"]
        assert run["data"]["gone"]["wrong log-in"] == 1

    def test_removes_rows(self, cloned_db, owner: psycopg.Connection):
        player = a_player()
        a_browser(player.user)
        Session.objects.update(ended_at=now())
        sent, staff = a_submission(player), a_member_of_staff("support")
        verification.refuse(submission_id=sent.pk, reason=RefusalReason.UNREADABLE, note="", by=staff)
        waiting = a_submission(a_player())
        Mail.objects.update(next_try_at=None)
        expire()
        assert DocumentContent.objects.filter(document__submission=sent).exists()
        for column in ("began_at", "ended_at"):
            age(owner, "players_session", column, ADDRESS + 1)
        age(owner, "players_submission", "reviewed_at", 366)
        age(owner, "players_mail", "written_at", 366)
        expire()
        assert set(Session.objects.filter(user=player.user_id).values_list("ip", "browser")) == {("", "")}
        assert not Mail.objects.exclude(address="", subject="", sealed_body=b"").exists()
        kept = DocumentContent.objects.values_list("document__submission", flat=True)
        assert set(kept) == {waiting.pk}
        assert sent.document_set.filter(part=Part.FRONT).exists()


def test_who_was_let_in_shortly_before_is_erased_with_the_address_of_that_visit(cloned_db, owner: psycopg.Connection):
    player = a_player()
    closures.begin(player=player, ip="192.0.2.1")
    closures.finish(player=player, by="system")
    age(owner, "players_closure", "at", 1827)
    closures.let_in(player=player, by="system")
    a_browser(Player.objects.get(pk=player.pk).user)
    closures.finish(player=player, by="system")
    assert Session.objects.filter(user=player.user_id).exclude(ended_at=None).exclude(browser="").exists()
    assert expiry.expire()[RetainedData.ACCOUNT] == 1
    assert set(Session.objects.filter(user=player.user_id).values_list("ip", "browser")) == {("", "")}


def test_a_searched_address_is_nowhere_after_the_erasure(cloned_db, owner: psycopg.Connection):
    """Nor in the search text, which is recorded with the view of a list or of another player."""
    player, other, staff = a_player(), a_player(), a_visitor()
    address = player.user.email
    closures.begin(player=player, ip="192.0.2.1")
    closures.finish(player=player, by="system")
    staff.force_login(a_member_of_staff("support").user)
    staff.get("/staff/players/", {"who": address})
    staff.get("/staff/exclusions/", {"player": str(other.pk), "text": address})
    staff.get(f"/staff/players/{other.pk}/", {"back": f"/staff/players/?who={address}"})
    assert Personal.objects.filter(field="asked").count() == 4  # exclusions are a list with a viewed player
    assert sorted(tables_with(owner, address)) == ["players_mail", "players_user"]
    age(owner, "players_closure", "at", 1827)
    age(owner, "players_mail", "written_at", 1827)
    assert expiry.expire()[RetainedData.ACCOUNT] == 1
    assert tables_with(owner, address) == []
    assert Player.objects.get(pk=player.pk).user.email != address


def tables_with(owner: psycopg.Connection, text: str) -> list[str]:
    """Return the tables that contain the text in any column of any row."""
    has = "SELECT 1 FROM {} AS t WHERE strpos(t::text, %s) > 0 LIMIT 1"
    tables = [table for (table,) in owner.execute(TABLES)]
    return [each for each in tables if owner.execute(SQL(has).format(Identifier(each)), [text]).fetchone()]
