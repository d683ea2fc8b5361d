"""Closing, reopening and erasing of accounts. `accounts.closing` handles the money of a closed account."""

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from audit import log, retention
from audit.models import RetainedData
from players import mail
from players.api import tokens
from players.login import credentials, sessions
from players.models import Closure, ClosureState, Ended, Player, Session, User


class AlreadyClosing(Exception):
    """The account is closing or closed."""


def state_of(player: Player) -> ClosureState | None:
    """Return the closure state of the account, or None if the account is open."""
    last = Closure.objects.filter(player=player).order_by("-pk").values_list("state", flat=True).first()
    return ClosureState(last) if last else None


def begin(*, player: Player, ip: str) -> None:
    """Begin to close an account, as its player asks: it refuses play and deposits from now on.

    Runs in the caller's transaction. Concurrent calls wait for it. Raises AlreadyClosing.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        proof = credentials.proof_here("close", str(player.pk))
        cursor.execute("SELECT players_begin_closure(%s, %s)", [player.pk, proof])
        (is_changed,) = cursor.fetchone()
    if not is_changed:
        raise AlreadyClosing
    log.record("account.closing", by=str(player), on=str(player), data={}, personal={"ip": ip})


def begin_as_asked(*, player: Player, approval: int, by: str) -> None:
    """Begin to close an account, as two people agreed in *approval* on a request of its player by law.

    Runs in the caller's transaction. Raises AlreadyClosing, and DatabaseError if they may not.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT players_close_as_asked(%s, %s)", [player.pk, approval])
        (is_changed,) = cursor.fetchone()
    if not is_changed:
        raise AlreadyClosing
    log.record("account.closing", by=by, on=str(player), data={"approval": approval})


@transaction.atomic
def finish(*, player: Player, by: str) -> None:
    """Close an account, or close it again after `let_in`. Idempotent.

    Nobody can log in afterwards. Data that need not be kept is deleted at once.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_finish_closure(%s, %s)", [player.pk, by])
        (is_changed,) = cursor.fetchone()
    if not is_changed:
        return
    user = User.objects.get(pk=player.user_id)
    sessions.end_all(user=user, why=Ended.CLOSED, by=by)
    tokens.revoke_all(user=user, why=Ended.CLOSED, by=by)
    log.record("account.closed", by=by, on=str(player), data={})
    mail.write(user=user, template="account_closed", context={"years": retention.years(RetainedData.ACCOUNT)})


@transaction.atomic
def let_in(*, player: Player, by: str) -> None:
    """Let the owner of a closed account log in again, until `finish` runs again. Idempotent.

    The account stays closed to play and deposits.
    """
    with connection.cursor() as cursor:
        proof = credentials.proof_here("let in", str(player.pk))
        cursor.execute("SELECT players_reopen_log_in(%s, %s)", [player.pk, proof])
        (is_changed,) = cursor.fetchone()
    if not is_changed:
        return
    user = User.objects.get(pk=player.user_id)
    log.record("account.let_in", by=by, on=str(player), data={})
    mail.write(user=user, template="account_let_in", context={})


def to_finish() -> list[Player]:
    """Return players whose accounts are closing, and players who may log in again to a closed account."""
    shut = Closure.objects.filter(state=ClosureState.CLOSED, player__user__is_active=False).values("player")
    closing = Player.objects.filter(closure__state=ClosureState.CLOSING).exclude(pk__in=shut)
    return list(closing.select_related("user", "jurisdiction").order_by("pk"))


def shut() -> QuerySet[Player]:
    """Return players whose accounts are closed, not erased, and closed to log-ins."""
    erased = Closure.objects.filter(state=ClosureState.ERASED).values("player")
    closed = Player.objects.filter(closure__state=ClosureState.CLOSED, user__is_active=False)
    return closed.exclude(pk__in=erased).select_related("user", "jurisdiction").order_by("pk")


def to_erase() -> list[Player]:
    """Return players whose accounts have been closed for the legal retention period."""
    done = Closure.objects.filter(state=ClosureState.ERASED).values("player")
    long_ago = Player.objects.filter(
        closure__state=ClosureState.CLOSED, closure__at__lte=Now() - retention.period(RetainedData.ACCOUNT)
    )
    due = long_ago.filter(user__is_active=False)
    return list(due.exclude(pk__in=done).select_related("user").order_by("pk"))


@transaction.atomic
def forget(player: Player) -> int:
    """Erase the personal data of a closed account. Return how many personal values of events were erased.

    The database refuses if the account has not been closed for long enough.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget(%s)", [player.pk])
        (erased,) = cursor.fetchone()
        cursor.execute("SELECT players_forget_markers(%s)", [player.pk])
    Session.objects.filter(user=player.user_id).update(ip="", browser="")
    return int(erased)
