"""Screening: who matches a list, what a match opens, who decides it, and what a list that cannot be read does."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from accounts import data_export
from audit import approvals
from audit.models import Approval, Category, Event
from audit.raw_rows import sqlstate
from audit.significant import detection
from players import cases
from players.identity import verification
from players.models import (
    Case,
    CaseAction,
    CaseKind,
    CaseOutcome,
    ListTopic,
    Player,
    ScreeningEntry,
    ScreeningReading,
    Submission,
)
from players.protection import screening
from players.protection.screening import Listed, ListUnreadable, Published
from tests.builders import a_player, a_submission
from tests.harness.owner import update_as_owner
from tests.people import a_member_of_staff, events
from tests.wallet.payout_builders import MONEY, a_withdrawal
from wallet.cashier import CashierError
from wallet.models import Withdrawal
from wallet.payments import deposits
from wallet.withdrawals import releases
from wallet.withdrawals.releases import facts_of, holds_of

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
LEAP_DAY = date(1960, 2, 29)
OLEG = Listed("S-7", ListTopic.SANCTIONS, ("Oleg Müllerovich Østergård", "Oleg Mullerovich Ostergaard"), "1960-02-29")


class TestList:
    """A list whose content a test sets."""

    __test__ = False
    name = "test"
    now: Published | Exception = Published(date(2026, 5, 1), [OLEG])

    def read(self) -> Published:
        if isinstance(self.now, Exception):
            raise self.now
        return self.now


@pytest.fixture(autouse=True)
def a_list(settings, monkeypatch):
    settings.SCREENING_LISTS = [f"{__name__}.TestList"]
    monkeypatch.setattr(TestList, "now", Published(date(2026, 5, 1), [OLEG]))
    screening._configured.cache_clear()
    yield
    screening._configured.cache_clear()


def publish(monkeypatch: pytest.MonkeyPatch, *people: Listed, on: date = date(2026, 5, 1)) -> None:
    monkeypatch.setattr(TestList, "now", Published(on, people))


def a_person(
    given: str = "Oleg", family: str = "Østergård", born: date = date(1960, 2, 29), *, real: int = 0
) -> Player:
    player = a_player(real=real)
    update_as_owner(Player.objects.filter(pk=player.pk), birth_date=born)
    player.refresh_from_db()
    a_submission(player, given_names=given, family_name=family)
    return player


def case_of(player: Player) -> Case:
    return Case.objects.get(player=player, kind=CaseKind.SCREENING)


def decide(asked: Approval) -> None:
    second = a_member_of_staff("compliance")
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )


def close(case: Case, outcome: CaseOutcome = CaseOutcome.OTHER_PERSON) -> None:
    decide(screening.ask(case=case, outcome=outcome, reason="another passport", by=a_member_of_staff("compliance")))


@pytest.mark.parametrize(
    ("given", "family", "born", "is_match"),
    [
        ("oleg", "OSTERGAARD", LEAP_DAY, True),
        ("Østergård", "Oleg", LEAP_DAY, True),
        ("Oleg Mullerovich Ivan", "Ostergaard", LEAP_DAY, True),
        ("Oleg", "Østergård", date(1961, 2, 28), False),
        ("Olga", "Østergård", LEAP_DAY, False),
        ("Oleg", "Bergström", LEAP_DAY, False),
    ],
)
def test_names_match_as_those_of_duplicates_do(given, family, born, is_match):
    screening.read_due(NOW)
    assert Case.objects.filter(player=a_person(given, family, born)).exists() is is_match


@pytest.mark.parametrize(("born", "is_match"), [("", True), ("1960", True), ("1961", False)])
def test_a_date_of_birth_counts_as_far_as_the_list_knows_it(monkeypatch, born, is_match):
    publish(monkeypatch, replace(OLEG, born=born))
    player = a_person()
    screening.read_due(NOW)
    assert Case.objects.filter(player=player).exists() is is_match


def test_a_single_word_matches_only_with_the_full_date(monkeypatch):
    publish(monkeypatch, Listed("S-8", ListTopic.PEP, ["Oleg"], "1960"))
    player = a_person()
    screening.read_due(NOW)
    assert not Case.objects.filter(player=player).exists()
    publish(monkeypatch, Listed("S-8", ListTopic.PEP, ["Oleg"], "1960-02-29"))
    screening.read_due(NOW + timedelta(days=400))
    assert case_of(player)


def test_a_match_holds_payouts_and_is_a_significant_event_that_the_player_does_not_read():
    player = a_person(real=MONEY)
    verification.verify(submission_id=Submission.objects.get(player=player).pk, by=a_member_of_staff("compliance"))
    withdrawal = a_withdrawal(player)
    screening.read_due(NOW)
    case = case_of(player)
    assert (case.holds, case.opened_by) == (True, "system")
    assert list(holds_of(withdrawal)) == [f"case:{case.pk}"]
    (matched,) = events("screening.matched")
    assert (matched["on"], matched["data"]["key"]) == (str(case), "S-7")
    kind = detection.kinds()["screening.matched"]
    assert kind is not None
    assert kind[0] is Category.LAUNDERING
    exported = str([row for part in data_export.PARTS for row in part.rows(player)])
    exported += str(list(data_export.events(player)))
    assert "Müllerovich" not in exported
    assert "screening" not in exported


def test_the_first_deposit_is_screened_and_so_is_a_stated_name(monkeypatch, settings):
    screening.read_due(NOW)
    player = a_person("Someone", "Else")
    assert not Case.objects.filter(player=player).exists()
    seen: list[int] = []
    monkeypatch.setattr(screening, "screen", lambda player: seen.append(player.pk))
    settings.PAYMENT_VARIANTS = {}
    with pytest.raises(CashierError):
        deposits.begin(player=player, amount=10_000, key=uuid4())
    assert seen == [player.pk]


def test_two_people_close_a_match_and_a_false_one_is_remembered_for_this_version_of_the_entry(monkeypatch):
    screening.read_due(NOW)
    player, by = a_person(), a_member_of_staff("compliance")
    case = case_of(player)
    with pytest.raises(cases.TakesTwo):
        cases.act(case=case, action=CaseAction.CLOSED, by=by, to="other_person", words="alone")
    desk = Client()
    desk.force_login(by.user)
    address = reverse("staff_case_act", args=[case.pk])
    desk.post(address, {"action": "closed", "to": "other_person", "words": "Born in another town."})
    asked = Approval.objects.get()
    case.refresh_from_db()
    assert case.closed_at is None
    with pytest.raises(approvals.OwnRequest):
        approvals.decide(
            approval_id=asked.pk, yes=True, by=str(by), person=by.person, reason="so", may=by.user.has_perm
        )
    decide(asked)
    case.refresh_from_db()
    assert case.outcome == CaseOutcome.OTHER_PERSON
    assert screening.screen(player) == 0
    publish(monkeypatch, replace(OLEG, names=[*OLEG.names, "Olle Ostergard"]), on=date(2026, 5, 2))
    assert screening.read_due(NOW + timedelta(days=400)) == 1
    assert Case.objects.filter(player=player).count() == 2


def test_an_approval_closes_a_case_once(monkeypatch):
    screening.read_due(NOW)
    case = case_of(a_person())
    close(case)
    by = a_member_of_staff("compliance")
    cases.act(case=case, action=CaseAction.REOPENED, by=by, words="a new paper")
    decider = Approval.objects.get().decision.by
    with pytest.raises(DatabaseError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT players_move_case(%s, %s, 'closed', 'other_person', 'x')", [case.pk, int(decider.partition(":")[2])]
        )
    assert sqlstate(refused.value) == "SB155"


def test_a_confirmed_match_holds_payouts_after_its_case_is_closed():
    player = a_person(real=MONEY)
    verification.verify(submission_id=Submission.objects.get(player=player).pk, by=a_member_of_staff("compliance"))
    withdrawal = a_withdrawal(player)
    screening.read_due(NOW)
    case = case_of(player)
    close(case, CaseOutcome.REPORTED)
    assert list(holds_of(withdrawal)) == [f"case:{case.pk}"]
    assert list(releases.held(Withdrawal.objects.all())) == [withdrawal]
    held = facts_of([withdrawal])[withdrawal.pk].lines[-1]
    assert held.text == str(case.pk)  # not "open"
    assert "Reported to the authority" in held.suspicion


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (ListUnreadable("The publisher answers 503."), "The publisher answers 503."),
        (TimeoutError("timed out"), "timed out"),
        (Published(date(2026, 5, 3), []), "It has 0 entries of 2026-05-03"),
        (Published(date(2026, 4, 1), [OLEG]), "It has 1 entries of 2026-04-01"),
        (Published(date(2062, 5, 1), [OLEG]), "It has 1 entries of 2062-05-01"),
        (
            Published(date(2026, 5, 3), [OLEG, *[replace(OLEG, key="S-8")] * 2]),
            "It has entries that cannot be stored: duplicate key",
        ),
        (Published(date(2026, 5, 3), [OLEG, replace(OLEG, key="S-8" * 40)]), "cannot be stored: value too long"),
    ],
)
def test_a_list_that_cannot_be_read_is_an_alarm_and_its_entries_stay_in_force(monkeypatch, now, why):
    screening.read_due(NOW - timedelta(days=400))
    monkeypatch.setattr(TestList, "now", now)
    screening.read_due(NOW + timedelta(days=400))
    (failed,) = events("screening.failed")
    assert why in failed["data"]["why"]
    assert detection.kinds()["screening.failed"] is not None
    assert case_of(a_person())
    assert [(each.published, bool(each.reason)) for each in screening.last_readings()] == [
        (date(2026, 5, 1), False),
        (None, True),
    ]


def test_a_list_is_read_once_a_night_and_again_hours_after_it_failed(monkeypatch):
    monkeypatch.setattr(TestList, "now", ListUnreadable("no answer"))
    today = datetime.now(UTC)
    for _ in range(2):
        screening.read_due(today)
    assert ScreeningReading.objects.count() == 1
    publish(monkeypatch, OLEG)
    screening.read_due(today + timedelta(hours=5))
    assert ScreeningReading.objects.filter(published__isnull=False).count() == 1


def test_who_left_the_list_is_no_longer_found(monkeypatch):
    screening.read_due(NOW)
    other = replace(OLEG, key="S-9", names=["Somebody Else"])
    publish(monkeypatch, other, on=date(2026, 5, 2))
    screening.read_due(NOW + timedelta(days=400))
    assert not Case.objects.filter(player=a_person()).exists()
    assert ScreeningEntry.objects.get(key="S-7").removed_at


def test_the_page_of_a_match_shows_the_entry_and_the_date_of_its_list():
    screening.read_due(NOW)
    case = case_of(a_person())
    desk = Client()
    desk.force_login(a_member_of_staff("compliance").user)
    page = desk.get(reverse("staff_case", args=[case.pk])).text
    for shown in ("Oleg Müllerovich Østergård", "S-7", "2026-05-01", "1960-02-29", "Oleg Østergård"):
        assert shown in page
    assert Event.objects.filter(kind="screening.read").exists()
