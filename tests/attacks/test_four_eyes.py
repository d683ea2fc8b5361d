"""No statement of the role of web and workers approves a large withdrawal or lifts an exclusion
without two people who may.
"""

from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import approvals
from audit.models import Decision, Verdict
from players.models import ExclusionLift
from players.protection import exclusions
from tests.builders import a_verified_player
from tests.people import a_member_of_staff
from tests.wallet.payout_builders import a_withdrawal, an_account
from wallet import withdrawals
from wallet.models import Currency, Withdrawal, WithdrawalStatus

pytestmark = pytest.mark.django_db

ABOVE = withdrawals.TWO_PEOPLE_ABOVE["SEK"]
LARGE = ABOVE + 1
NOT_AGREED = "SB032"
NOT_LIFTED = "SB031"


@contextmanager
def refused(why):
    """Check that the database refuses, with this SQLSTATE or in these words."""
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        yield
    cause = error.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.sqlstate == why or why in str(error.value)


def agreed(kind, on, request, one, other, verdict=Verdict.APPROVED):
    """Write a request and its result as the login role could without our code. Both people must be staff."""
    frozen = approvals.ask(kind=kind, on=on, request=request, by=str(one), person=one.person, reason="for a test")
    Decision.objects.create(
        approval=frozen, verdict=verdict, by=str(other), asker=frozen.person, person=other.person, reason="x"
    )


class TestLargeWithdrawals:
    @pytest.fixture
    def player(self):
        return a_verified_player(real=3 * LARGE)

    @pytest.fixture
    def large(self, player):
        return a_withdrawal(player, LARGE)

    def write(self, player, amount, **changes):
        return Withdrawal.objects.create(
            **{
                "player": player,
                "account": an_account(player),
                "key": uuid4(),
                "amount": amount,
                "currency": "SEK",
                "takes_two": False,
            }
            | changes
        )

    def approve(self, withdrawal):
        Withdrawal.objects.filter(pk=withdrawal.pk).update(status=WithdrawalStatus.APPROVED)

    def test_need_two_people_whatever_the_asker_says(self, player):
        with refused(NOT_AGREED):
            self.write(player, LARGE)
        assert self.write(player, LARGE, takes_two=True).takes_two
        assert not self.write(a_verified_player(), ABOVE).takes_two

    def test_are_no_smaller_in_parts_within_a_day_nor_dated_back(self, player):
        self.write(player, ABOVE - 10, at=timezone.now() - timedelta(days=2))
        with refused(NOT_AGREED):
            self.write(player, 11)
        self.write(player, 10)

    def test_are_the_same_to_the_program_and_to_the_database(self):
        with connection.cursor() as cursor:
            cursor.execute("SELECT c, wallet_two_people_above(c) FROM unnest(%s::text[]) AS c", [list(Currency.values)])
            assert dict(cursor.fetchall()) == withdrawals.TWO_PEOPLE_ABOVE

    @pytest.mark.parametrize("verdict", [Verdict.REFUSED, None], ids=["refused", "undecided"])
    def test_are_not_approved_without_a_second_person(self, large, verdict):
        one, other = a_member_of_staff("finance"), a_member_of_staff("finance")
        if verdict:
            agreed(withdrawals.KIND, str(large), withdrawals.payment_of(large), one, other, verdict)
        else:
            withdrawals.approve(withdrawal_id=large.pk, by=str(one), person=one.person, reason="in order")
        with refused(NOT_AGREED):
            self.approve(large)

    @pytest.mark.parametrize(
        "roles", [("finance", "support"), ("operator", "finance"), ("operator", "operator")], ids="-".join
    )
    def test_are_not_approved_by_people_who_may_not(self, large, roles):
        one, other = map(a_member_of_staff, roles)
        agreed(withdrawals.KIND, str(large), withdrawals.payment_of(large), one, other)
        with refused(NOT_AGREED):
            self.approve(large)

    @pytest.mark.parametrize(
        "change",
        [{"amount": 1}, {"account_hash": "00"}, {"player": 0}, {"reference": str(uuid4())}],
        ids=lambda of: next(iter(of)),
    )
    def test_are_not_approved_as_another_payment_than_was_agreed_on(self, large, change):
        one, other = a_member_of_staff("finance"), a_member_of_staff("supervisor")
        agreed(withdrawals.KIND, str(large), withdrawals.payment_of(large) | change, one, other)
        with refused(NOT_AGREED):
            self.approve(large)

    def test_are_approved_as_two_people_agreed_who_may(self, large):
        one, other = a_member_of_staff("finance"), a_member_of_staff("supervisor")
        agreed(withdrawals.KIND, str(large), withdrawals.payment_of(large), one, other)
        self.approve(large)


class TestExclusions:
    @pytest.fixture
    def exclusion(self):
        return exclusions.exclude(
            player=a_verified_player(), days=30, reason="for a test", by=a_member_of_staff("compliance")
        )

    def lift(self, exclusion, one, other):
        return ExclusionLift.objects.create(exclusion=exclusion, reason="x", asked_by=str(one), decided_by=str(other))

    def request(self, exclusion):
        return {"exclusion": exclusion.pk, "player": exclusion.player_id}

    def agree(self, exclusion, one, other, changes=None):
        agreed("exclusion.lift", f"exclusion:{exclusion.pk}", self.request(exclusion) | (changes or {}), one, other)

    @pytest.mark.parametrize(
        "roles", [("compliance", "operator"), ("operator", "support"), ("finance", "supervisor")], ids="-".join
    )
    def test_are_not_lifted_by_people_who_may_not(self, exclusion, roles):
        one, other = map(a_member_of_staff, roles)
        self.agree(exclusion, one, other)
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, other)

    def test_are_not_lifted_by_one_person_with_two_accounts(self, exclusion):
        one = a_member_of_staff("compliance")
        twin = a_member_of_staff("support", person=one.person)
        with refused("audit_decision_other_person"):
            self.agree(exclusion, one, twin)
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, twin)

    @pytest.mark.parametrize(
        "verdict", [Verdict.REFUSED, Verdict.WITHDRAWN, None], ids=["refused", "withdrawn", "none"]
    )
    def test_are_not_lifted_without_a_second_persons_yes(self, exclusion, verdict):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("support")
        if verdict:
            decider = one if verdict is Verdict.WITHDRAWN else other
            agreed("exclusion.lift", f"exclusion:{exclusion.pk}", self.request(exclusion), one, decider, verdict)
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, other)

    def test_are_not_lifted_by_what_was_agreed_on_for_another(self, exclusion):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("support")
        self.agree(exclusion, one, other, {"exclusion": 0})
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, other)

    def test_are_not_lifted_in_other_names(self, exclusion):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("support")
        self.agree(exclusion, one, other)
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, a_member_of_staff("compliance"))

    def test_are_not_lifted_by_somebody_who_was_disabled_since(self, exclusion):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("support")
        self.agree(exclusion, one, other)
        disabled(other)
        with refused(NOT_LIFTED):
            self.lift(exclusion, one, other)

    def test_are_lifted_as_two_people_agreed_who_may(self, exclusion):
        one, other = a_member_of_staff("compliance"), a_member_of_staff("support")
        self.agree(exclusion, one, other)
        self.lift(exclusion, one, other)


def disabled(member):
    """Disable an account with the approval of two others."""
    one, other = a_member_of_staff("administrator"), a_member_of_staff("compliance")
    agreed("staff.disable", str(member), {"staff": member.pk}, one, other)
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_staff_execute(max(id), NULL) FROM audit_approval WHERE kind = 'staff.disable'")
