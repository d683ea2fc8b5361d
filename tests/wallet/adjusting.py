"""Balance adjustments for tests: support requests, finance decides."""

from audit import approvals
from audit.models import Approval, Decision
from players.models import Player, Staff
from tests.people import a_member_of_staff
from wallet.ledger import adjustments
from wallet.models import Mode, Why


def ask(player: Player, amount: int = 500, *, mode: Mode = Mode.REAL, by: Staff | None = None) -> Approval:
    """Request an adjustment in minor units."""
    staff = by or a_member_of_staff("support")
    return adjustments.ask(player=player, mode=mode, amount=amount, why=Why.ROUND, reason="ticket 12", by=staff)


def decide(asked: Approval, *, yes: bool = True, by: Staff | None = None) -> Decision:
    """Decide a request."""
    staff = by or a_member_of_staff("finance")
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(staff), person=staff.person, reason="looked", may=staff.user.has_perm
    )


def adjust(player: Player, amount: int = 500, *, mode: Mode = Mode.REAL) -> Decision:
    """Request and approve an adjustment."""
    return decide(ask(player, amount, mode=mode))
