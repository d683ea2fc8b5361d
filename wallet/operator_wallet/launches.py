"""Launches: an operator sends its player to one of our tables with a one-time URL."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from audit import log
from audit.models import Clock
from players import registration
from players.models import Jurisdiction, Player
from wallet.ledger import accounts
from wallet.models import OperatorLaunch, OperatorPlayer, Partner

LASTS: Final = timedelta(minutes=1)


class PlayerChanged(Exception):
    """Currency, jurisdiction or date of birth differ from those at the player's first launch."""


@dataclass(frozen=True)
class Visit:
    """An operator's launch request: player and table."""

    player: str  # the operator's id for the player
    session: str  # token of the operator's game session
    currency: str
    jurisdiction: str
    language: str
    birth_date: date
    game: str  # slug of a table


@dataclass(frozen=True)
class Announced:
    """The code that the operator sends to its player's browser, and when it expires."""

    code: str
    ends_at: datetime


@transaction.atomic
def announce(partner: Partner, visit: Visit) -> Announced:
    """Create a launch, and the player at their first launch.

    Raises PlayerChanged, services.TooYoung, services.CurrencyNotOffered, and
    Jurisdiction.DoesNotExist for a jurisdiction where no table is offered.
    """
    with connection.cursor() as cursor:  # the second of two concurrent first launches finds the first one's player
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"remote:{partner.pk}:{visit.player}"])
    found = OperatorPlayer.objects.filter(partner=partner, name=visit.player).select_related("player").first()
    operator_player = found or _meet(partner, visit)
    known = operator_player.player
    if (known.currency, known.jurisdiction_id, known.birth_date) != (
        visit.currency,
        visit.jurisdiction,
        visit.birth_date,
    ):
        raise PlayerChanged
    registration.agree_through_operator(known)
    code = secrets.token_urlsafe(32)
    launch = OperatorLaunch.objects.create(
        operator_player=operator_player,
        token=visit.session,
        game=visit.game,
        language=visit.language,
        digest=_digest(code),
        ends_at=Clock() + LASTS,
    )
    launch.refresh_from_db(fields=["ends_at"])
    data: dict[str, log.Json] = {"operator": partner.code, "table": visit.game}
    log.record("remote.announced", by=str(partner), on=str(known), data=data)
    return Announced(code, launch.ends_at)


def use(code: str) -> OperatorLaunch | None:
    """Use up a code and return its launch.

    None if the code is unknown, used or expired, or if the operator is switched off.
    """
    off = OperatorPlayer.objects.filter(partner__off_at__isnull=False)
    fresh = OperatorLaunch.objects.filter(digest=_digest(code), used_at=None, ends_at__gt=Clock()).exclude(
        operator_player__in=off
    )
    if not fresh.update(used_at=Clock()):
        return None
    return OperatorLaunch.objects.select_related("operator_player__player__user").get(digest=_digest(code))


def begin(launch: OperatorLaunch, session: UUID) -> None:
    """Store the login session that the launch started."""
    launch.session = session
    launch.save(update_fields=["session"])


def _meet(partner: Partner, visit: Visit) -> OperatorPlayer:
    player: Player = registration.register_operator_player(
        jurisdiction=Jurisdiction.objects.get(pk=visit.jurisdiction),
        currency=visit.currency,
        birth_date=visit.birth_date,
        language=visit.language,
        operator=partner.code,
    )
    accounts.open_accounts(player)
    return OperatorPlayer.objects.create(player=player, partner=partner, name=visit.player)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
