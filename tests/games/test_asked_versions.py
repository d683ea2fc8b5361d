"""A version of a table needs two people, one who requests it and one who approves it."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import approvals
from audit.models import Approval
from audit.significant import detection
from games.change_requests import execution, requests, rules
from games.change_requests.execution import EndedAlready
from games.engine.odds import exact, percent
from games.models import HowEnded, RulesVersion, ScheduledVersion, ScheduleEnding, Shape, Table, TableVersion
from games.tables import clock, status, versions
from games.tables.checks import MissingLanguage, NothingChanged, ReturnTooLow, TableError, UnusableClock, UnusableLimits
from games.tables.clock import Clock
from games.tables.default_tables import PACE, baccarat_limits, chemin_limits, load_tables, pairs_limits
from games.tasks import put_versions_live
from games.variants import VARIANTS
from tests.ageing import age
from tests.builders import a_shared_table, a_table, approve, other_limits, scheduled
from tests.harness.owner import create_as_owner, one_as_owner, update_as_owner
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once
from wallet.models import Mode

CHEAP = {"EUR": {"step": 1, "chips": [1], "bets": {bet: [1, 100] for bet in ("player", "banker", "tie")}}}


def ask(table: Table, **changes: Any) -> Approval:
    given: dict[str, Any] = {
        "table_id": table.pk,
        "limits": other_limits(),
        "reason": "a new season",
        "staff": a_member_of_staff("supervisor", factor=False),
    }
    return requests.ask_version(**given | changes)


def ask_table(**changes: Any) -> Approval:
    given: dict[str, Any] = {
        "slug": "second",
        "name": "Second",
        "variant": "baccarat",
        "shape": Shape.SOLO,
        "limits": baccarat_limits(),
        "jurisdictions": ["SE", "DK"],
        "modes": [Mode.REAL, Mode.FREE],
        "reason": "more players",
        "staff": a_member_of_staff("supervisor", factor=False),
    }
    return requests.ask_table(**given | changes)


def number_of(table: Table) -> int:
    version = Table.objects.select_related("version").get(pk=table.pk).version
    assert version is not None
    return version.number


@pytest.mark.django_db
class TestOtherLimits:
    def test_gli19_b_2_3_of_a_table_come_into_force_by_a_second_person(self):
        table = a_table()
        asked = ask(table)
        assert number_of(table) == 1
        approve(asked)
        assert number_of(table) == 2
        version = TableVersion.objects.get(table=table, number=2)
        assert (version.approval_id, version.limits) == (asked.pk, other_limits())

    def test_gli19_b_2_3_are_not_decided_by_the_asker(self):
        table, staff = a_table(), a_member_of_staff("supervisor", factor=False)
        asked = ask(table, staff=staff)
        with pytest.raises(approvals.OwnRequest):
            approvals.decide(
                approval_id=asked.pk, yes=True, by=str(staff), person=staff.person, reason="mine", may=bool
            )
        assert number_of(table) == 1

    def test_do_not_overwrite_what_came_into_force_in_the_meantime(self, monkeypatch):
        table = a_table()
        asked = ask(table)
        with monkeypatch.context() as program:
            program.setitem(vars(VARIANTS["baccarat"]), "digest", "of other rules")
            versions.follow_rules(by="system")
        versions.follow_rules(by="system")
        assert number_of(table) == 3
        said = approvals.kind(asked.kind).describe(approvals.thaw(asked))
        assert "3 is now in force" in dict(said.facts)["Based on version"]
        with pytest.raises(approvals.CannotExecute, match="a newer version since"):
            approve(asked)
        assert number_of(table) == 3

    def test_are_not_put_live_by_a_api_client_with_other_rules(self, monkeypatch):
        table = a_table()
        asked = ask(table)
        monkeypatch.setitem(vars(VARIANTS["baccarat"]), "digest", "of other rules")
        with pytest.raises(approvals.CannotExecute, match="rules have changed since"):
            approve(asked)

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"limits": baccarat_limits()}, NothingChanged),
            ({"limits": baccarat_limits() | CHEAP}, ReturnTooLow),
            ({"limits": {"SEK": other_limits()["SEK"]}}, UnusableLimits),
            ({"clock": PACE}, UnusableClock),
            ({"reason": " "}, TableError),
            ({"goes_live_at": timezone.now() - timedelta(minutes=1)}, TableError),
            ({"goes_live_at": timezone.now() + timedelta(days=400)}, TableError),
        ],
        ids=["nothing", "too little", "gone currency", "clock", "reason", "past", "far"],
    )
    def test_gli19_4_7_1_that_cannot_be_are_refused_at_the_asking(self, changes, error):
        table = a_table()
        with pytest.raises(error, match=r"\.$"):
            ask(table, **changes)
        assert not Approval.objects.exists()

    def test_with_a_pace_that_no_table_can_keep_are_refused(self):
        table = a_shared_table("pairs")
        with pytest.raises(UnusableClock, match="milliseconds"):
            ask(table, limits=pairs_limits(), clock=Clock(betting=1, call=1000, card=1000, pause=1000))

    def test_of_a_game_that_lacks_a_language_are_refused(self, monkeypatch):
        table = a_table()
        labels = {code: dict(texts) for code, texts in VARIANTS["baccarat"].labels.items()}
        labels["ro"]["bet.tie"] = " "
        monkeypatch.setitem(vars(VARIANTS["baccarat"]), "labels", labels)
        assert rules.missing("baccarat") == {"ro": ["bet.tie"]}
        with pytest.raises(MissingLanguage, match=r"ro: bet\.tie"):
            ask(table)

    def test_are_described_to_the_decider_with_old_and_new_values_and_returns(self):
        asked = ask(a_table())
        said = approvals.kind(asked.kind).describe(approvals.thaw(asked))
        facts = dict(said.facts)
        assert said.title == "New version of Baccarat"
        assert facts["SEK: Tie"].replace("\xa0", " ") == "SEK 10 – SEK 2,500 → SEK 10 – SEK 50"
        assert "SEK: Player" not in facts
        assert facts["Goes live"] == "on approval"
        returned = exact(VARIANTS["baccarat"])["tie"].rtp
        assert facts["RTP of Tie"].startswith(f"{percent(returned, 4)} %; at the worst stake")


@pytest.mark.django_db
class TestATable:
    def test_gli19_b_2_3_is_made_by_a_second_person_and_stays_closed(self):
        asked = ask_table()
        assert not Table.objects.filter(slug="second").exists()
        approve(asked)
        table = Table.objects.get(slug="second")
        assert (table.is_open, table.name, number_of(table)) == (False, "Second", 1)
        version = TableVersion.objects.get(table=table)
        assert version.approval_id == asked.pk

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "changes",
        [
            {"slug": "two words"},
            {"slug": "baccarat"},
            {"name": " "},
            {"variant": "whist"},
            {"jurisdictions": []},
            {"jurisdictions": ["XX"]},
            {"modes": []},
            {"chat_language": "fr"},
            {"limits": baccarat_limits() | CHEAP},
            {"shape": Shape.CHEMIN},
            {"variant": "chemin_de_fer", "limits": chemin_limits("SEK")},
        ],
        ids=str,
    )
    def test_that_cannot_be_is_refused_at_the_asking(self, changes):
        a_table()
        with pytest.raises(TableError, match=r"\.$"):
            ask_table(**changes)


class TestWhatWaitsForItsTime:
    """Uses real commits; the owner of the tables moves time on."""

    def test_a_table_is_made_and_opened_then(self, cloned_db, owner):
        approve(ask_table(goes_live_at=timezone.now() + timedelta(hours=1)))
        put_versions_live()
        assert not Table.objects.filter(slug="second").exists()
        make_due(owner)
        put_versions_live()
        assert Table.objects.get(slug="second").is_open

    @pytest.mark.sweep
    def test_limits_go_live_late_by_a_late_worker_and_the_log_says_when_they_were_due(self, cloned_db, owner):
        table = a_table()
        waiting = scheduled(table)
        put_versions_live()
        assert number_of(table) == 1
        make_due(owner)
        put_versions_live()
        version = TableVersion.objects.get(table=table, number=2)
        event = events("table.version", on=f"table:{table.pk}")[-1]
        due = ScheduledVersion.objects.get().due_at
        assert event["data"]["due"] == due.isoformat()
        assert due < version.created_at
        assert (event["by"], event["data"]["asked_by"]) == (waiting.approval.decision.by, waiting.approval.by)
        assert ScheduleEnding.objects.get().how == HowEnded.LIVE

    @pytest.mark.sweep
    def test_limits_agreed_after_their_moment_go_live_at_once_as_the_decider_reads(self, cloned_db, monkeypatch):
        table, moment = a_table(), timezone.now() - timedelta(minutes=1)
        monkeypatch.setattr(clock, "now", lambda: moment - timedelta(hours=1))
        asked = ask(table, goes_live_at=moment)
        monkeypatch.undo()
        facts = dict(approvals.kind(asked.kind).describe(approvals.thaw(asked)).facts)
        assert facts["Goes live"] == f"{moment:%Y-%m-%d %H:%M} UTC, or on approval if later"
        approve(asked)
        put_versions_live()
        assert number_of(table) == 2

    def test_two_workers_at_once_put_them_live_once(self, cloned_db, owner):
        table = a_table()
        waiting = scheduled(table)
        make_due(owner)
        assert sorted(at_once([lambda: execution.go_live(waiting.pk)] * 4)) == [False, False, False, True]
        assert TableVersion.objects.filter(table=table).count() == 2
        assert ScheduleEnding.objects.count() == 1

    @pytest.mark.sweep
    def test_a_request_that_no_longer_fits_is_not_done_and_staff_review_it(self, cloned_db, owner, monkeypatch):
        table = a_table()
        waiting = scheduled(table)
        make_due(owner)
        monkeypatch.setitem(vars(VARIANTS["baccarat"]), "digest", "of other rules")
        put_versions_live()
        put_versions_live()
        ending = ScheduleEnding.objects.get()
        assert (ending.how, ending.reason.partition(".")[0]) == (
            HowEnded.FAILED,
            "The rules have changed since this request",
        )
        assert number_of(table) == 1
        (event,) = events("table.schedule_failed", on=f"table:{table.pk}")
        assert event["data"]["approval"] == waiting.pk
        assert detection.kinds()["table.schedule_failed"] is not None

    def test_is_withdrawn_with_a_reason_and_never_done(self, cloned_db, owner):
        table = a_table()
        waiting = scheduled(table)
        with pytest.raises(TableError, match="reason"):
            execution.withdraw(approval_id=waiting.pk, reason=" ", by="staff:1")
        execution.withdraw(approval_id=waiting.pk, reason="not yet", by="staff:1")
        with pytest.raises(EndedAlready):
            execution.withdraw(approval_id=waiting.pk, reason="again", by="staff:1")
        make_due(owner)
        put_versions_live()
        assert not execution.go_live(waiting.pk)
        assert number_of(table) == 1
        assert events("table.schedule_withdrawn", on=f"table:{table.pk}")[0]["data"]["reason"] == "not yet"

    @pytest.mark.sweep
    def test_nothing_else_can_be_requested_in_the_meantime(self, cloned_db):
        table = a_table()
        scheduled(table)
        with pytest.raises(TableError, match="is already scheduled"):
            ask(table)


@pytest.mark.django_db
class TestTheDatabase:
    """The database refuses it to every writer."""

    def refuses(self, match: str, **changes: Any) -> None:
        with pytest.raises(DatabaseError, match=match), transaction.atomic():
            create_as_owner(TableVersion(**changes))

    def a_version(self, table: Table, **changes: Any) -> dict[str, Any]:
        game = VARIANTS["baccarat"]
        assert table.version
        return {
            "table": table,
            "number": 2,
            "rules_version": game.version,
            "rules_digest": game.digest,
            "limits": other_limits(),
            "jurisdictions": table.version.jurisdictions,
            "modes": table.version.modes,
        } | changes

    def test_another_version_of_a_table_that_was_ever_opened_without_an_approval(self):
        table = a_table()
        status.close_table(table_id=table.pk, reason="for a test", by="staff:test")
        update_as_owner(Table.objects.filter(pk=table.pk), first_opened_at=None)
        self.refuses("takes two people", **self.a_version(table))

    def test_other_limits_with_the_api_client_s_rules(self):
        table = a_table()
        create_as_owner(RulesVersion(variant="baccarat", version="9", digest="9" * 64, body={}))
        self.refuses("takes two people", **self.a_version(table, rules_digest="9" * 64))
        self.refuses("takes two people", **self.a_version(table, rules_digest="8" * 64, limits=baccarat_limits()))
        create_as_owner(TableVersion(**self.a_version(table, rules_digest="9" * 64, limits=baccarat_limits())))

    def test_an_approval_that_is_not_decided_or_of_something_else(self):
        table, other = a_table(), a_table("other")
        asked = ask(table)
        self.refuses("is not of this version", **self.a_version(table, approval=asked))
        approve(asked)
        another = ask(other)
        approve(another)
        third = other_limits()
        third["SEK"]["bets"]["tie"] = [1000, 7000]
        self.refuses("is not of this version", **self.a_version(table, number=3, approval=another, limits=third))

    def test_what_waits_before_its_time(self):
        table = a_table()
        waiting = scheduled(table)
        self.refuses("is not due", **self.a_version(table, approval=waiting.approval))

    def test_a_moment_that_nobody_approved(self):
        asked = ask(a_table())
        approve(asked)
        with pytest.raises(DatabaseError, match="nobody approved"), transaction.atomic():
            ScheduledVersion.objects.create(approval=asked, due_at=timezone.now())

    def test_a_version_out_of_turn_and_one_that_is_not_the_newest(self):
        table = a_table(is_open=False)
        self.refuses("is not the next one", **self.a_version(table, number=3))
        first = table.version
        table.version = one_as_owner(TableVersion(**self.a_version(table)))
        update_as_owner(Table.objects.filter(pk=table.pk), version=table.version)
        table.version = first
        with pytest.raises(DatabaseError, match="is not the newest"), transaction.atomic():
            update_as_owner(Table.objects.filter(pk=table.pk), version=table.version)


@pytest.mark.django_db
class TestRulesAsData:
    def test_gli19_2_8_3_are_kept_with_their_returns_when_the_house_opens_and_once(self):
        load_tables()
        load_tables()
        kept = RulesVersion.objects.get(variant="baccarat")
        game = VARIANTS["baccarat"]
        assert (kept.version, kept.digest) == (game.version, game.digest)
        assert kept.body["bets"]["tie"]["pays"] == [["tie", "8:1"]]
        assert Fraction(kept.body["bets"]["tie"]["return"]) == exact(game)["tie"].rtp

    def test_gli19_2_8_3_end_when_others_come_and_the_change_is_reported(self, monkeypatch):
        rules.keep()
        with monkeypatch.context() as program:
            program.setitem(vars(VARIANTS["baccarat"]), "digest", "of other rules")
            (newest,) = rules.keep()
        later, earlier = rules.versions("baccarat")
        assert (later.stored, later.withdrawn_at) == (newest, None)
        assert earlier.withdrawn_at == newest.available_from
        event = events("rules.stored", on="game:baccarat")[-1]
        assert event["data"]["before"]["digest"] == VARIANTS["baccarat"].digest
        assert event["data"]["after"]["digest"] == "of other rules"

    def test_never_change(self):
        rules.keep()
        for action in ("UPDATE games_rulesversion SET version = '0'", "DELETE FROM games_rulesversion"):
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(action)


def make_due(owner: psycopg.Connection) -> None:
    age(owner, "games_scheduledversion", "due_at", 2)
