"""A large withdrawal without a second approval in time must be approved again, never by the
requester.
"""

import psycopg
import pytest

from audit import approvals
from audit.models import Approval
from audit.tasks import expire_approvals
from tests.builders import a_verified_player
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet import withdrawals
from wallet.ledger import accounts
from wallet.models import Mode, Withdrawal, WithdrawalStatus

LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1
AGO = "UPDATE audit_approval SET at = at - interval '4 days', expires_at = expires_at - interval '4 days'"


def second(asked, staff):
    return approvals.decide(
        approval_id=asked.pk, yes=True, by=str(staff), person=staff.person, reason="seen", may=staff.user.has_perm
    )


def let_it_expire(cloned_db) -> None:
    """Move the request into the past."""
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(AGO)


def test_what_nobody_seconds_in_time_is_asked_for_again(cloned_db):
    withdrawal = approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
    late, staff = Approval.objects.get(), a_member_of_staff("supervisor")
    let_it_expire(cloned_db)
    with pytest.raises(approvals.Expired):
        second(late, staff)
    expire_approvals()
    assert len(events("approval.expired")) == 1
    assert Withdrawal.objects.get().status == WithdrawalStatus.SECONDING
    assert approve(withdrawal).status == WithdrawalStatus.SECONDING
    second(Approval.objects.latest("pk"), staff)
    assert Withdrawal.objects.get().status == WithdrawalStatus.APPROVED
    assert list(withdrawal.steps.order_by("pk").values_list("after", flat=True)) == [
        "requested",
        "seconding",
        "seconding",
        "approved",
    ]


def refuse(withdrawal: Withdrawal, staff) -> Withdrawal:
    return withdrawals.refuse(withdrawal_id=withdrawal.pk, by=str(staff), code="identity", note="the passport")


@pytest.mark.sweep
def test_what_nobody_seconds_in_time_can_be_refused_in_the_queue(cloned_db):
    player, staff = a_verified_player(real=LARGE), a_member_of_staff("supervisor")
    withdrawal = approve(a_withdrawal(player, LARGE))
    with pytest.raises(withdrawals.NotOpen):
        refuse(withdrawal, staff)
    let_it_expire(cloned_db)
    visitor = a_visitor()
    visitor.force_login(staff.user)
    assert f"Refuse {withdrawal.pk}</button>" in visitor.get(f"/staff/withdrawals/{withdrawal.pk}/").text
    assert refuse(withdrawal, staff).status == WithdrawalStatus.REFUSED
    assert accounts.balance(player.pk, Mode.REAL) == LARGE
