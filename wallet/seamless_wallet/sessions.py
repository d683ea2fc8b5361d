"""Game sessions: a player opens one so that a studio can take bets."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from audit import log
from audit.models import Clock
from players.login import sessions
from players.models import Player
from players.protection import eligibility
from wallet import house_stop
from wallet.models import GameSession, Mode, Partner, PartnerKind, StudioPlayer

LASTS: Final = timedelta(hours=12)


class CannotOpen(Exception):
    """The player cannot open a studio's game now. The message is a sentence for the player."""


class HouseStopped(Exception):
    """The house is stopped."""


@dataclass(frozen=True)
class Opened:
    """A new game session.

    *player* is the studio's id for the player, *token* lets the studio take bets.

    The token is returned only once.
    """

    player: str
    token: str
    ends_at: datetime


def studios() -> list[Partner]:
    """Return the active studios, by name."""
    return list(Partner.objects.filter(kind=PartnerKind.STUDIO, off_at=None).order_by("name", "pk"))


@transaction.atomic
def open_session(*, player: Player, studio: Partner, mode: Mode, session: UUID) -> Opened:
    """Open a game session within the player's login *session*. Raises CannotOpen, HouseStopped."""
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL, session=session)
    if ineligibility:
        raise CannotOpen(ineligibility.message)
    if player.uses_operator_wallet and mode is Mode.REAL:
        raise CannotOpen(
            _(
                "You are playing with your balance at the site you came from. You can use it at "
                "single-player tables, but not at this table."
            )
        )
    if house_stop.is_stopped():
        raise HouseStopped
    theirs, _is_new = StudioPlayer.objects.get_or_create(
        partner=studio, player=player, defaults={"name": secrets.token_urlsafe(16)}
    )
    token = secrets.token_urlsafe(32)
    opened = GameSession.objects.create(
        studio_player=theirs, mode=mode, digest=digest_of(token), session_id=session, ends_at=Clock() + LASTS
    )
    opened.refresh_from_db(fields=["ends_at"])
    data: dict[str, log.Json] = {"game_session": opened.pk, "studio": studio.code, "mode": mode.value}
    log.record("studio.session_opened", by=str(player), on=str(player), data=data)
    return Opened(theirs.name, token, opened.ends_at)


def find(theirs: StudioPlayer, token: str | None) -> GameSession | None:
    """Return this player's game session with this token, ended or not, or None."""
    if token is None:
        return None
    return GameSession.objects.filter(studio_player=theirs, digest=digest_of(token)).first()


def runs(opened: GameSession) -> bool:
    """Return whether a game session is still open."""
    state = sessions.read_state(opened.session_id)
    is_in_time = GameSession.objects.filter(pk=opened.pk, ends_at__gt=Now()).exists()
    return is_in_time and state is not None and state.left > 0


def act(opened: GameSession) -> None:
    """Record a bet as activity in the player's login session."""
    state = sessions.read_state(opened.session_id)
    if state is not None:
        sessions.act(state)


def digest_of(token: str) -> bytes:
    """Return the stored hash of a token. The token is random, so no slow hash is needed."""
    return hashlib.sha256(token.encode()).digest()
