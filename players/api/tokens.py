"""Tokens by which programs come in: made, shown once, looked up by their hash, used, revoked."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from audit import log, retention
from audit.models import Clock, Kept
from players import mail, registration
from players.login import second_factor, sessions
from players.login.current_user import actor_of, player_of, staff_of
from players.models import ApiToken, Ended, Player, Scope, User

MARK: Final = "sabot_"  # so that people, and programs that look for keys in what is published, see what it is
PER_MINUTE: Final = 600
MOST: Final = 20  # tokens of one log-in that hold at a time
LONGEST: Final = 365  # days
USE: Final = "players.use_tokens"  # the permission of staff to have tokens
OF_PLAYERS: Final = (Scope.READ, Scope.PLAY, Scope.LIMITS)
# What staff give to programs -> the permissions, any one of which lets them read it themselves.
OF_STAFF: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.EVENTS: ("audit.view_event",),
    Scope.ROUNDS: ("audit.view_event", "games.view_incident"),
    Scope.REPORTS: ("audit.view_report",),
    Scope.CHECKPOINTS: ("audit.view_event",),
}


class TokenError(Exception):
    """Nothing was made."""


class TooMany(TokenError):
    """As many tokens hold as one log-in may have."""


class NotTheirs(TokenError):
    """A program of a player never reads what staff read, and one of staff never plays. Each is for something; and an
    operator's player has none.
    """


@transaction.atomic
def make(
    *, user: User, name: str, scopes: Iterable[Scope], days: int, ip: str = "", per_minute: int = PER_MINUTE
) -> tuple[ApiToken, str]:
    """Make a token of *user*'s that ends after *days*, and tell them by mail; return it with its key, which nobody can
    read again. *ip* is where they are. What it is for is at each call no more than its owner may do then.

    Raises TooMany, NotTheirs.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one after another
    wanted = sorted(set(scopes))
    if not wanted or not may_have(user) or not set(wanted) <= set(OF_PLAYERS if player_of(user) else OF_STAFF):
        raise NotTheirs
    if running(user).count() >= MOST:
        raise TooMany
    key = MARK + secrets.token_urlsafe(32)
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
    """Return the token of this key, if it holds still; whether its owner may use it says `may_use`."""
    return _holding().filter(digest=digest_of(key)).first()


def scopes_for(user: User) -> tuple[Scope, ...]:
    """Return what *user* can have a program do: players what concerns them, staff what they may read themselves."""
    if player_of(user):
        return OF_PLAYERS if may_have(user) else ()
    if not user.has_perm(USE):
        return ()
    return tuple(scope for scope, permissions in OF_STAFF.items() if any(map(user.has_perm, permissions)))


def may_have(user: User) -> bool:
    """Say whether tokens can be theirs: an operator's player plays in visits, which no token outlives."""
    player = player_of(user)
    return player is None or not player.is_remote


def may_use(user: User) -> bool:
    """Say whether tokens of *user*'s hold now: those of staff while their role has them, and with a second factor."""
    if player_of(user):
        return may_have(user)
    return staff_of(user) is not None and user.has_perm(USE) and second_factor.is_set_up(user)


def note_use(token: ApiToken, ip: str) -> None:
    """Keep when and from where a token was used, unless what is kept is almost as new."""
    if token.used_at is None or token.unused_for > sessions.LAG:  # type: ignore[attr-defined]  # `find` asked
        ApiToken.objects.filter(pk=token.pk).update(used_at=Now(), used_from=ip)


def running(user: User) -> QuerySet[ApiToken]:
    """Return the tokens of *user* that hold, the newest first."""
    return _holding().filter(user=user).order_by("-pk")


def of_staff() -> QuerySet[ApiToken]:
    """Return the tokens of all staff that hold, the newest first."""
    return _holding().filter(user__staff__isnull=False).select_related("user__staff").order_by("-pk")


def revoke(*, token_id: int, by: str, ip: str = "", reason: str = "") -> bool:
    """Have a token hold no longer, on record; say whether it held. Where there is a *reason*, its owner is told."""
    return bool(_revoke(ApiToken.objects.filter(pk=token_id), Ended.REVOKED, by, ip, reason))


def revoke_all(*, user: User, why: Ended, by: str) -> int:
    """Have no token of *user*'s hold any longer, on record; return how many did."""
    return _revoke(ApiToken.objects.filter(user=user), why, by)


def revoke_every(*, by: str, reason: str) -> int:
    """Have no token of anybody's hold any longer, on record, and tell their owners; return how many did."""
    return _revoke(ApiToken.objects.all(), Ended.HOUSE, by, reason=reason)


def forget_addresses() -> int:
    """Forget from where tokens were used long enough ago; return of how many that was."""
    old = ApiToken.objects.filter(used_at__lt=Now() - retention.kept(Kept.ADDRESS)).exclude(used_from="")
    return old.update(used_from="")


def forget(player: Player) -> None:
    """Forget what the player called their tokens, and from where they were used."""
    ApiToken.objects.filter(user=player.user_id).update(name="", used_from="")


def digest_of(key: str) -> bytes:
    """Return what is kept of a key: it is random, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).digest()


def _holding() -> QuerySet[ApiToken]:
    unused = ExpressionWrapper(Now() - F("used_at"), output_field=DurationField())
    return ApiToken.objects.filter(Q(revoked_at=None), ends_at__gt=Now()).annotate(unused_for=unused)


@transaction.atomic
def _revoke(which: QuerySet[ApiToken], why: Ended, by: str, ip: str = "", reason: str = "") -> int:
    """Revoke those that hold, each on record, end the sessions of their programs, and where there is a *reason* tell
    their owners; they are looked at under lock.
    """
    held = which.filter(revoked_at=None, ends_at__gt=Now()).select_related("user__player", "user__staff")
    found = list(held.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    ApiToken.objects.filter(pk__in=[each.pk for each in found]).update(revoked_at=Clock())
    for each in found:
        data: dict[str, log.Json] = {"token": each.pk, "scopes": list(each.scopes), "why": why.value}
        data |= {"reason": reason} if reason else {}
        log.record("token.revoked", by=by, on=actor_of(each.user), data=data, personal={"ip": ip} if ip else None)
        if reason:  # it was not its owner, or not by a click of theirs
            told = {"name": each.name, "support": settings.SUPPORT_EMAIL}
            mail.write(user=each.user, template="token_revoked", context=told)
        if each.session_id and not running(each.user).filter(session=each.session_id).exists():
            sessions.end(session_id=each.session_id, why=why, by=by, ip=ip, reason=reason)
    return len(found)
