"""Agreement to the terms in force (GLI-19 v3.0, 2.8.5): asked for before play whenever they are new."""

from django.db import transaction

from audit import log
from players.account import terms
from players.models import Agreement, Player


class NotInForce(Exception):
    """Other terms have come into force since these were shown."""


def outstanding(player: Player) -> bool:
    """Say whether the terms in force are ones that the player has not agreed to."""
    return not Agreement.objects.filter(player=player, terms_version=terms.VERSION).exists()


@transaction.atomic
def agree(*, player: Player, version: str, ip: str) -> None:
    """Keep that the player agrees to this *version* of the terms; a second time says nothing new.

    Raises NotInForce.
    """
    if version != terms.VERSION:
        raise NotInForce
    _, is_new = Agreement.objects.get_or_create(player=player, terms_version=version)
    if is_new:
        log.record("terms.agreed", by=str(player), on=str(player), data={"terms": version}, personal={"ip": ip})
