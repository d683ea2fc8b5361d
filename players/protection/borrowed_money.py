"""Borrowed money: staff who know that a player deposits borrowed money mark that, and deposits end.

Swedish law refuses such money; the mark works in every jurisdiction. One person sets it with a reason, two people
remove it. The database enforces both (`players_begin_borrowed_money`). Error messages are for staff.
"""

from collections.abc import Mapping
from typing import Final

from django.db import DatabaseError, transaction
from django.utils.translation import gettext

from audit import approvals, log
from audit.models import Approval
from audit.raw_rows import sqlstate
from players.models import BorrowedMoney, Player, Staff, User

KIND: Final = "borrowed.remove"  # kind of the approval
PERMISSION: Final = "players.set_limits"
REFUSED: Final = "23001"  # SQLSTATE of players_begin_borrowed_money


class BorrowedMoneyError(Exception):
    """Nothing was changed. The message is for staff."""


def block_of(player: Player) -> BorrowedMoney | None:
    """Return the mark of a player, or None."""
    last = BorrowedMoney.objects.filter(player=player).select_related("by").order_by("-pk").first()
    return last if last and last.is_marked else None


@transaction.atomic
def block_deposits(*, player: Player, reason: str, by: Staff) -> BorrowedMoney:
    """Mark a player, which blocks deposits. Raises BorrowedMoneyError if the player is marked already."""
    _lock(player)
    if block_of(player) is not None:
        raise BorrowedMoneyError(gettext("This player is already marked."))
    made = BorrowedMoney.objects.create(player=player, is_marked=True, reason=reason.strip(), by=by)
    log.record("borrowed.marked", by=str(by), on=str(player), data={"mark": made.pk, "reason": made.reason})
    return made


@transaction.atomic
def ask_removal(*, player: Player, reason: str, by: Staff) -> Approval:
    """Request that the mark be removed. Raises BorrowedMoneyError if there is no mark, and approvals.AskedTwice."""
    _lock(player)
    found = block_of(player)
    if found is None:
        raise BorrowedMoneyError(gettext("This player is not marked."))
    request: dict[str, log.Json] = {"player": player.pk, "mark": found.pk}
    return approvals.ask(kind=KIND, on=str(player), request=request, by=str(by), person=by.person, reason=reason)


def execute(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Remove the mark. Raises approvals.CannotExecute."""
    player = _player(frozen)
    _lock(player)
    found = block_of(player)
    if found is None or found.pk != frozen["mark"]:
        raise approvals.CannotExecute(gettext("The mark has changed since this request."))
    by = Staff.objects.get(pk=int(verdict.by.removeprefix("staff:")))
    try:
        with transaction.atomic():
            made = BorrowedMoney.objects.create(
                player=player, is_marked=False, reason=verdict.reason, by=by, approval_id=verdict.approval_id
            )
    except DatabaseError as error:
        if sqlstate(error) != REFUSED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error
    log.record("borrowed.removed", by=verdict.by, on=str(player), data={"mark": made.pk, "reason": verdict.reason})


def describe(frozen: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the removal for the approver."""
    return approvals.Description(
        (gettext("Allow deposits of player:%(player)s again") % {"player": frozen["player"]}), ()
    )


def current_facts(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return who marked the player, when and why."""
    found = block_of(_player(frozen))
    if found is None:
        return ((gettext("Mark"), gettext("none")),)
    return (
        (gettext("Marked since"), f"{found.at:%Y-%m-%d %H:%M} UTC"),
        (gettext("Marked by"), str(found.by)),
        (gettext("Original reason"), found.reason),
    )


def _player(frozen: Mapping[str, log.Json]) -> Player:
    return Player.objects.get(pk=int(str(frozen["player"])))


def _lock(player: Player) -> None:
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # serialises concurrent calls
