"""API tokens: create, find by hash, record use, revoke."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from audit import log, retention
from audit.models import Clock, RetainedData
from players import mail
from players.account import registration
from players.login import second_factor, sessions, who_asks
from players.login.current_user import actor_of, player_of, staff_of
from players.models import ApiToken, Ended, Player, Scope, User

PREFIX: Final = "sabot_"  # lets people and secret scanners recognise a leaked key
PER_MINUTE: Final = 600
MOST: Final = 20  # valid tokens per log-in at a time
LONGEST: Final = 365  # days
USE: Final = "players.use_tokens"  # permission of staff to have tokens
OF_PLAYERS: Final = (Scope.READ, Scope.PLAY, Scope.LIMITS)
# Scopes for tokens of staff -> permissions; the staff member needs one of them.
OF_STAFF: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.EVENTS: ("audit.view_event",),
    Scope.ROUNDS: ("audit.view_event", "games.view_incident"),
    Scope.REPORTS: ("audit.view_report",),
    Scope.CHECKPOINTS: ("audit.view_event",),
}


class TokenError(Exception):
    """No token was created."""


class TooMany(TokenError):
    """The user has as many valid tokens as allowed."""


class NotTheirs(TokenError):
    """The user may not create a token with these scopes, or with none.

    Tokens of players have no scopes of staff, and tokens of staff cannot play. Players of an
    operator wallet have no tokens.
    """


@transaction.atomic
def make(
    *, user: User, name: str, scopes: Iterable[Scope], days: int, ip: str = "", per_minute: int = PER_MINUTE
) -> tuple[ApiToken, str]:
    """Create a token of *user* that ends after *days*, mail its owner, and return it with its key.

    The key is not stored and cannot be shown again. *ip* is the owner's address. Each call checks
    the scopes against what the owner may do at that time.

    Raises TooMany, NotTheirs.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # serialises concurrent calls
    wanted = sorted(set(scopes))
    if not wanted or not may_have(user) or not set(wanted) <= set(OF_PLAYERS if player_of(user) else OF_STAFF):
        raise NotTheirs
    if running(user).count() >= MOST:
        raise TooMany
    key = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        start=key[:14],
        digest=digest_of(key),
        scopes=wanted,
        per_minute=per_minute,
        ends_at=Clock() + timedelta(days=days),
    )
    token.refresh_from_db()
    data: dict[str, log.Json] = {"token": token.pk, "scopes": list(token.scopes), "days": days}
    if staff_of(user):
        registration.record_change("staff.token_made", user=user, ip=ip, data=data, token=token)
    else:
        registration.record_change("token.made", user=user, ip=ip, data=data, token=token)
    return token, key


def find(key: str) -> ApiToken | None:
    """Return the valid token with this key. `may_use` says whether its owner may use it."""
    return who_asks.by_token(digest_of(key))


def scopes_for(user: User) -> tuple[Scope, ...]:
    """Return the scopes that *user* may give to a token: for staff, what they may read themselves."""
    if player_of(user):
        return OF_PLAYERS if may_have(user) else ()
    if not user.has_perm(USE):
        return ()
    return tuple(scope for scope, permissions in OF_STAFF.items() if any(map(user.has_perm, permissions)))


def may_have(user: User) -> bool:
    """Return whether *user* may have tokens.

    Players of an operator wallet play in visits, which end before a token would.
    """
    player = player_of(user)
    return player is None or not player.uses_operator_wallet


def may_use(user: User) -> bool:
    """Return whether *user* may use tokens now. Staff need the permission in their role and a second factor."""
    if player_of(user):
        return may_have(user)
    return staff_of(user) is not None and user.has_perm(USE) and second_factor.is_set_up(user)


def note_use(token: ApiToken, ip: str) -> None:
    """Record when and from where a token was used, unless the last record is recent."""
    if token.unused_for is None or token.unused_for > who_asks.LAG:
        ApiToken.objects.filter(pk=token.pk).update(used_at=Now(), used_from=ip)


def running(user: User) -> QuerySet[ApiToken]:
    """Return the user's valid tokens, newest first."""
    return _holding().filter(user=user).order_by("-pk")


def of_staff() -> QuerySet[ApiToken]:
    """Return the valid tokens of all staff, newest first."""
    return _holding().filter(user__staff__isnull=False).select_related("user__staff").order_by("-pk")


def revoke(*, token_id: int, by: str, ip: str = "", reason: str = "") -> bool:
    """Revoke a token and record it. Return whether it was valid. With a *reason*, mail its owner."""
    return bool(_revoke(ApiToken.objects.filter(pk=token_id), Ended.REVOKED, by, ip, reason))


def revoke_all(*, user: User, why: Ended, by: str) -> int:
    """Revoke all tokens of *user* and record each. Return how many were valid."""
    return _revoke(ApiToken.objects.filter(user=user), why, by)


def revoke_every(*, by: str, reason: str) -> int:
    """Revoke the tokens of all users, record each and mail their owners. Return how many were valid."""
    return _revoke(ApiToken.objects.all(), Ended.HOUSE, by, reason=reason)


def forget_addresses() -> int:
    """Delete IP addresses of old token uses. Return the number of tokens changed."""
    old = ApiToken.objects.filter(used_at__lt=Now() - retention.period(RetainedData.ADDRESS)).exclude(used_from="")
    return old.update(used_from="")


def forget(player: Player) -> None:
    """Erase the names of the player's tokens and the IP addresses of their use."""
    ApiToken.objects.filter(user=player.user_id).update(name="", used_from="")


def digest_of(key: str) -> bytes:
    """Return the stored hash of a key. Keys are random, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).digest()


def _holding() -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(revoked_at=None, ends_at__gt=Now())


@transaction.atomic
def _revoke(which: QuerySet[ApiToken], why: Ended, by: str, ip: str = "", reason: str = "") -> int:
    """Revoke the valid tokens among *which*, under lock, and record each.

    Ends the sessions that no valid token uses any more. With a *reason*, mails the owners.
    """
    held = which.filter(revoked_at=None, ends_at__gt=Now()).select_related("user__player", "user__staff")
    found = list(held.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    ApiToken.objects.filter(pk__in=[each.pk for each in found]).update(revoked_at=Clock())
    for each in found:
        data: dict[str, log.Json] = {"token": each.pk, "scopes": list(each.scopes), "why": why.value}
        data |= {"reason": reason} if reason else {}
        log.record("token.revoked", by=by, on=actor_of(each.user), data=data, personal={"ip": ip} if ip else None)
        if reason:  # the owner did not revoke it on the token page
            context = {"name": each.name, "support": settings.SUPPORT_EMAIL}
            mail.write(user=each.user, template="token_revoked", context=context)
        if each.session_id and not running(each.user).filter(session=each.session_id).exists():
            sessions.end(session_id=each.session_id, why=why, by=by, ip=ip, reason=reason)
    return len(found)
