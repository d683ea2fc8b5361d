"""Two people or workers act on one complaint at the same moment: the first succeeds, the second gets
a message.
"""

from collections.abc import Callable

import pytest

from players import cases
from players.models import CaseAction, CaseEntry, CaseOutcome, Conversation, Mail, Player, Staff, Topic
from players.support import complaints, conversations
from players.support.conversations import ServiceError
from tests.builders import a_player, an_overdue_complaint
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


def deciding(case: Conversation, by: Staff, verdict: CaseOutcome) -> Callable[[], str]:
    seen = case.messages.latest("pk").pk

    def decide() -> str:
        try:
            complaints.decide(by=by, conversation_id=case.pk, verdict=verdict, reasons=verdict, seen=seen)
        except ServiceError as error:
            return str(error)
        return "decided"

    return decide


def test_one_decision_holds_and_the_other_is_not_sent(case, people):
    verdicts = (CaseOutcome.UPHELD, CaseOutcome.REJECTED)
    said = at_once([deciding(case, by, verdict) for by, verdict in zip(people, verdicts, strict=True)])
    assert sorted(said)[1] == "decided"
    assert "This conversation is closed." in sorted(said)[0]
    (entry,) = CaseEntry.objects.filter(action=CaseAction.CLOSED)
    assert entry.to == complaints.case_of(case).outcome
    assert Mail.objects.filter(template="complaint_decided").count() == 1


def test_a_decision_and_an_assignment_do_not_wait_for_each_other_for_ever(case, people):
    """Both lock the conversation before the case. The assignment comes first, or is refused."""

    def assign() -> str:
        try:
            found = complaints.case_of(case)
            cases.act(case=found, action=CaseAction.ASSIGNED, by=people[1], to=str(people[1]))
        except cases.AlreadyDone:
            return "closed"
        return "assigned"

    said = at_once([deciding(case, people[0], CaseOutcome.REJECTED), assign])
    assert "decided" in said
    assert complaints.case_of(case).owner == people[0]


def test_what_the_player_writes_while_it_is_decided_is_read_or_refused(case, player, people):
    """The second sees the first one's change: no decision is made without reading new messages."""

    def write() -> str:
        try:
            conversations.reply(player=player, conversation_id=case.pk, text="One more thing.")
        except ServiceError as error:
            return str(error)
        return "written"

    said = at_once([deciding(case, people[0], CaseOutcome.REJECTED), write])
    assert said.count("decided") + said.count("written") == 1


def test_of_two_workers_one_tells_of_what_is_overdue(player):
    for _ in range(3):
        an_overdue_complaint(player)
    shown = at_once([cases.enter_overdue] * 2)
    assert sum(shown) == 3
    assert len(events("complaint.overdue")) == 3
