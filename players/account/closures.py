"""The end of an account: asked for, done, and in the end forgotten. Money's part in it stands in `accounts.closing`."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from audit import log, retention
from audit.models import Kept
from players import mail
from players.api import tokens
from players.login import sessions
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
    """Close an account altogether, or again: nobody logs in any more, and what need not be kept goes at once.
    Idempotent.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=player.user_id)
    state = state_of(player)
    if state is ClosureState.CLOSING:
        Closure.objects.create(player=player, state=ClosureState.CLOSED, by=by)
    elif state is not ClosureState.CLOSED or not user.is_active:
        return
    User.objects.filter(pk=user.pk).update(is_active=False)
    sessions.end_all(user=user, why=Ended.CLOSED, by=by)
    tokens.revoke_all(user=user, why=Ended.CLOSED, by=by)
    Authenticator.objects.filter(user_id=user.pk).delete()
    EmailAddress.objects.filter(user_id=user.pk).delete()
    log.record("account.closed", by=by, on=str(player), data={})
    mail.write(user=user, template="account_closed", context={"years": retention.years(Kept.ACCOUNT)})


@transaction.atomic
def let_in(*, player: Player, by: str) -> None:
    """Let the owner of a closed account log in again, until it is finished anew. It stays closed to play and deposits.
    Idempotent.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=player.user_id)
    if user.is_active or state_of(player) is not ClosureState.CLOSED:
        return
    User.objects.filter(pk=user.pk).update(is_active=True)
    EmailAddress.objects.create(user_id=user.pk, email=user.email, primary=True, verified=True)
    log.record("account.let_in", by=by, on=str(player), data={})
    mail.write(user=user, template="account_let_in", context={})


def to_finish() -> list[Player]:
    """Return whose accounts are being closed, and who was let in again to an account that is closed."""
    shut = Closure.objects.filter(state=ClosureState.CLOSED, player__user__is_active=False).values("player")
    closing = Player.objects.filter(closure__state=ClosureState.CLOSING).exclude(pk__in=shut)
    return list(closing.select_related("user", "jurisdiction").order_by("pk"))


def shut() -> QuerySet[Player]:
    """Return whose accounts are closed, known still, and let nobody log in."""
    erased = Closure.objects.filter(state=ClosureState.ERASED).values("player")
    closed = Player.objects.filter(closure__state=ClosureState.CLOSED, user__is_active=False)
    return closed.exclude(pk__in=erased).select_related("user", "jurisdiction").order_by("pk")


def to_erase() -> list[Player]:
    """Return whose accounts have been closed for as long as the law has the house keep who they were."""
    done = Closure.objects.filter(state=ClosureState.ERASED).values("player")
    long_ago = Player.objects.filter(
        closure__state=ClosureState.CLOSED, closure__at__lte=Now() - retention.kept(Kept.ACCOUNT)
    )
    due = long_ago.filter(user__is_active=False)
    return list(due.exclude(pk__in=done).select_related("user").order_by("pk"))


@transaction.atomic
def forget(player: Player) -> int:
    """Forget whose account this was; return how many personal values of events that erased. The database refuses
    where the account has not been closed for long enough.
    """
    Session.objects.filter(user=player.user_id).update(ip="", browser="")
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget(%s)", [player.pk])
        (erased,) = cursor.fetchone()
        cursor.execute("SELECT players_forget_flags(%s)", [player.pk])
    return int(erased)
