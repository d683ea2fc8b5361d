"""Two people or workers act on one complaint at the same moment: the first succeeds, the second is
told.
"""

from collections.abc import Callable
from threading import Barrier

import pytest
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from players.models import CaseStep, ComplaintStep, Conversation, Mail, Player, Staff, Topic, Verdict
from players.support import complaints, conversations
from players.support.conversations import ServiceError
from tests.builders import a_player
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once


@pytest.fixture
def player(cloned_db) -> Player:
    return Player.objects.select_related("jurisdiction").get(pk=a_player("SE").pk)


@pytest.fixture
def case(player) -> Conversation:
    return conversations.begin(player=player, topic=Topic.COMPLAINT, text="That was no natural.")


@pytest.fixture
def people(cloned_db) -> tuple[Staff, Staff]:
    return a_member_of_staff("support", name="Ulla"), a_member_of_staff("compliance", name="Bo")


def taking(case: Conversation, by: Staff) -> Callable[[], str]:
    def take() -> str:
        try:
            complaints.assign(by=by, conversation_id=case.pk, whose=0, to=by.pk)
        except ServiceError as error:
            return str(error)
        return "taken"

    return take


def deciding(case: Conversation, by: Staff, verdict: Verdict) -> Callable[[], str]:
    seen = case.messages.latest("pk").pk

    def decide() -> str:
        try:
            complaints.decide(by=by, conversation_id=case.pk, verdict=verdict, reasons=verdict, seen=seen)
        except ServiceError as error:
            return str(error)
        return "decided"

    return decide


def together(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Remove row locks, and let both arrive at *step* before either continues."""
    both, go_on = Barrier(2), getattr(complaints, step)

    def waiting(*one, **said):
        both.wait(timeout=30)
        return go_on(*one, **said)

    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_how: rows)
    monkeypatch.setattr(complaints, step, waiting)


def test_without_the_lock_two_would_take_it(case, people, monkeypatch):
    together(monkeypatch, "move")
    assert at_once([taking(case, each) for each in people]) == ["taken", "taken"]
    assert ComplaintStep.objects.filter(step=CaseStep.TAKEN).count() == 2


def test_one_takes_it_and_the_other_reads_who(case, people):
    said = at_once([taking(case, each) for each in people])
    case.refresh_from_db()
    assert case.assigned_to in people
    assert sorted(said) == sorted(
        ["taken", f"It is assigned to {case.assigned_to.name} now. Check the complaint and choose again."]
    )
    assert ComplaintStep.objects.count() == 1


def test_without_the_lock_two_decisions_would_be_written_and_one_fail_on_the_database(case, people, monkeypatch):
    """The database's trigger is the last defence; the error does not say who was first."""
    together(monkeypatch, "say")
    verdicts = (Verdict.UPHELD, Verdict.REJECTED)
    with pytest.raises(IntegrityError, match="ended stands"):
        at_once([deciding(case, by, verdict) for by, verdict in zip(people, verdicts, strict=True)])
    assert ComplaintStep.objects.filter(step=CaseStep.DECIDED).count() == 1


@pytest.mark.parametrize("again", [CaseStep.DECIDED, CaseStep.WITHDRAWN])
def test_equal_decisions_in_the_same_microsecond_are_one(case, people, again):
    """The trigger cannot tell them apart. That the complaint has ended is written once for each deadline."""
    assert deciding(case, people[0], Verdict.UPHELD)() == "decided"
    case.refresh_from_db()
    last, is_decision = case.messages.latest("pk"), again is CaseStep.DECIDED
    with pytest.raises(IntegrityError, match="players_complaint_ended_once"), transaction.atomic():
        ComplaintStep.objects.create(
            conversation=case,
            step=again,
            by=people[1] if is_decision else None,
            message=last if is_decision else None,
            verdict=Verdict.UPHELD if is_decision else Verdict.BY_PLAYER,
            due_at=case.due_at,
        )
    complaints.reopen_by_house(by=people[1], conversation_id=case.pk, text="We look at it again.")
    assert deciding(case, people[1], Verdict.UPHELD)() == "decided"


def test_one_decision_holds_and_the_other_is_not_sent(case, people):
    said = at_once(
        [deciding(case, by, verdict) for by, verdict in zip(people, (Verdict.UPHELD, Verdict.REJECTED), strict=True)]
    )
    assert sorted(said)[1] == "decided"
    assert "This conversation is closed." in sorted(said)[0]
    case.refresh_from_db()
    (step,) = ComplaintStep.objects.filter(step=CaseStep.DECIDED)
    assert step.verdict == case.verdict
    assert Mail.objects.filter(template="complaint_decided").count() == 1


def test_what_the_player_writes_while_it_is_decided_is_read_or_refused(case, player, people):
    """The second sees the first one's change: no decision is made without reading new messages."""

    def write() -> str:
        try:
            conversations.reply(player=player, conversation_id=case.pk, text="One more thing.")
        except ServiceError as error:
            return str(error)
        return "written"

    said = at_once([deciding(case, people[0], Verdict.REJECTED), write])
    assert said.count("decided") + said.count("written") == 1


def test_without_the_lock_two_workers_would_tell_of_one_complaint(player, monkeypatch):
    """The database's constraint is the last defence: one fails, the other notifies."""
    player.jurisdiction.complaint_days = -1
    conversations.begin(player=player, topic=Topic.COMPLAINT, text="Still nothing.")
    together(monkeypatch, "_enter")
    with pytest.raises(IntegrityError, match="players_complaint_overdue_once"):
        at_once([complaints.notify_overdue] * 2)


def test_of_two_workers_one_tells_of_what_is_overdue(player):
    player.jurisdiction.complaint_days = -1
    for _ in range(3):
        conversations.begin(player=player, topic=Topic.COMPLAINT, text="Still nothing.")
    told = at_once([complaints.notify_overdue] * 2)
    assert sum(told) == 3
    assert len(events("complaint.overdue")) == 3
