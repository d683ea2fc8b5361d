"""Limits that staff set for a player. They hold at once, and the player is told by mail.

Staff also lift them at once: the player's own limits stay as they are, and the strictest limit
decides (GLI-19 v3.0, 2.5.5).
"""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.utils.translation import override

from players import mail
from players.models import LimitKind, LimitSource, Period, Player, Staff
from players.protection import limits
from wallet.limits.page import what, written


@transaction.atomic
def set_for_the_house(
    *, player: Player, kind: LimitKind, amounts: Mapping[Period, int | None], reason: str, by: Staff
) -> None:
    """Set the house's limits of one *kind*, and write to the player. None removes a limit.

    Raises limits.NothingChanges.
    """
    for period, amount in amounts.items():
        limits.set_limit(
            player=player,
            kind=kind,
            period=period,
            amount=amount,
            by=str(by),
            source=LimitSource.HOUSE,
            reason=reason,
        )
    with override(player.user.language):
        lines = [
            (what(kind, period), "" if amount is None else written(player, kind, amount))
            for period, amount in amounts.items()
        ]
    if lines:
        context = {"lines": lines, "support": settings.SUPPORT_EMAIL}
        mail.write(user=player.user, template="limits_by_house", context=context)
