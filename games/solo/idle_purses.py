"""Return the money of idle purses to their owners' cash accounts."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from games.models import LiveSeat, SoloSeat
from games.solo.seats import ON_A_PURSE
from players.models import Player, Session
from wallet.ledger import accounts, purse
from wallet.models import Account, AccountKind, Mode

IDLE = timedelta(seconds=settings.PLAYER_IDLE_SECONDS)  # equals the idle time of a session


def return_idle_purses() -> int:
    """Return the money of every idle purse (`IDLE`); return the number of purses."""
    idle = list(_idle().values_list("owner_id", "mode"))
    return sum(_return_if_idle(owner_id, Mode(mode)) for owner_id, mode in idle)


@transaction.atomic
def _return_if_idle(owner_id: int, mode: Mode) -> bool:
    """Check again with the purse locked, because its owner may have come back."""
    accounts.lock_cash_and(AccountKind.PURSE, owner_id, mode)
    if not _idle().filter(owner_id=owner_id, mode=mode).exists():
        return False
    player = Player.objects.get(pk=owner_id)
    return purse.give_back(player=player, mode=mode, why=purse.Leaving.IDLE, by="system") > 0


def _idle() -> QuerySet[Account]:
    """Return purses with money whose owner was idle by the database clock.

    A player with a seat at a shared table may be waiting for the next round; there the session
    decides.
    """
    used = SoloSeat.objects.filter(player=OuterRef("owner"), used_at__gt=Now() - IDLE)
    seat = LiveSeat.objects.filter(
        player=OuterRef("owner"), live_table__mode=OuterRef("mode"), live_table__table__variant__in=ON_A_PURSE
    )
    there = Session.objects.filter(user__player=OuterRef("owner"), ended_at=None, acted_at__gt=Now() - IDLE)
    found = Account.objects.filter(kind=AccountKind.PURSE, balance__gt=0, held=0).order_by("pk")
    return found.exclude(Exists(used)).exclude(Exists(seat), Exists(there))
