"""The end of an account: asked for, done, and in the end forgotten. Money's part in it stands in `casino.closing`."""

from datetime import timedelta

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now

from audit import log
from players import mail, sessions
from players.models import Closure, ClosureState, Ended, Player, Session, User


class AlreadyClosing(Exception):
    """The account is being closed, or is closed."""


def state_of(player: Player) -> ClosureState | None:
    """Return how far the closing of an account has come, None where it is open."""
    last = Closure.objects.filter(player=player).order_by("-pk").values_list("state", flat=True).first()
    return ClosureState(last) if last else None


def begin(*, player: Player, by: str, ip: str) -> None:
    """Close an account to play and deposits, in the caller's transaction; others who ask meanwhile wait for it.

    Raises AlreadyClosing.
    """
    _, is_new = Closure.objects.get_or_create(player=player, state=ClosureState.CLOSING, defaults={"by": by})
    if not is_new:
        raise AlreadyClosing
    log.record("account.closing", by=by, on=str(player), data={}, personal={"ip": ip})


@transaction.atomic
def finish(*, player: Player, by: str) -> None:
    """Close an account altogether: nobody logs in any more, and what need not be kept goes at once. Idempotent."""
    user = User.objects.select_for_update(no_key=True).get(pk=player.user_id)
    if state_of(player) is not ClosureState.CLOSING:
        return
    Closure.objects.create(player=player, state=ClosureState.CLOSED, by=by)
    User.objects.filter(pk=user.pk).update(is_active=False)
    sessions.end_all(user=user, why=Ended.CLOSED, by=by)
    Authenticator.objects.filter(user_id=user.pk).delete()
    EmailAddress.objects.filter(user_id=user.pk).delete()
    log.record("account.closed", by=by, on=str(player), data={})
    mail.write(user=user, template="account_closed", context={"years": settings.ERASE_AFTER_YEARS})


def to_finish() -> list[Player]:
    """Return whose accounts are being closed."""
    done = Closure.objects.filter(state=ClosureState.CLOSED).values("player")
    closing = Player.objects.filter(closure__state=ClosureState.CLOSING).exclude(pk__in=done)
    return list(closing.select_related("user", "jurisdiction").order_by("pk"))


def to_erase() -> list[Player]:
    """Return whose accounts have been closed for as long as the law has the house keep who they were."""
    done = Closure.objects.filter(state=ClosureState.ERASED).values("player")
    due = Player.objects.filter(closure__state=ClosureState.CLOSED, closure__at__lte=Now() - kept())
    return list(due.exclude(pk__in=done).select_related("user").order_by("pk"))


@transaction.atomic
def forget(player: Player) -> int:
    """Forget whose account this was; return how many personal values of events that erased. The database refuses
    where the account has not been closed for long enough.
    """
    Session.objects.filter(user=player.user_id).update(ip="", browser="")
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget(%s, %s)", [player.pk, f"{kept().days} days"])
        (erased,) = cursor.fetchone()
        cursor.execute("SELECT players_forget_flags(%s)", [player.pk])
    return int(erased)


def kept() -> timedelta:
    """Return how long after closing the house keeps who somebody was."""
    return timedelta(days=round(settings.ERASE_AFTER_YEARS * 365.25))
