"""Sessions end: by a log-out, from another browser, and after a time without an action.

Time is the database's, and the end is decided here, at the next request or by beat, whichever comes first. Requests
that a page makes by itself are no actions: see `players.access.made_by_the_page`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from audit import log, retention
from audit.models import Kept
from players.login.current_user import SESSION_ID, actor_of, session_of, staff_of
from players.models import Ended, Session, User

LAG: Final = timedelta(seconds=5)  # an action is written down when the last one stored is older than this
PROGRAM: Final = "program: "  # how the browser of a program's session calls itself, before the name of its token
WARNING: Final = timedelta(minutes=1)  # before the end the page asks whether anyone is there


@dataclass(frozen=True)
class Standing:
    """How a session stands: seconds left, 0 where it is over, and why it is over ("" while it runs)."""

    id: UUID
    left: float
    idle: timedelta
    limit: timedelta
    why: str

    @property
    def warning(self) -> float:
        """Return how many seconds before the end the page warns."""
        return min(WARNING, self.limit / 3).total_seconds()


def limit_for(user: User) -> timedelta:
    """Return how long someone may do nothing until their session ends."""
    return timedelta(seconds=settings.STAFF_IDLE_SECONDS if staff_of(user) else settings.PLAYER_IDLE_SECONDS)


def begin(*, user: User, session: SessionBase, ip: str, browser: str) -> None:
    """Give a session that has just logged in the id by which rounds and events name it."""
    session[SESSION_ID] = str(_begin(uuid4(), user, ip, browser))


def begin_for_program(*, user: User, ip: str, name: str) -> UUID:
    """Begin a session in which a program of *user*'s acts, whose token is called *name*; return its id."""
    return _begin(uuid4(), user, ip, PROGRAM + name)


@transaction.atomic
def adopt(*, user: User, session: SessionBase, ip: str, browser: str) -> UUID:
    """Return the id of a session that is logged in, and see to it that it has one and is known."""
    known = session_of(session)
    if known is None:
        known = uuid5(NAMESPACE_URL, session.session_key or "")  # requests at the same moment find the same
        if not Session.objects.filter(pk=known).exists():
            _begin(known, user, ip, browser)
        session[SESSION_ID] = str(known)
    else:
        row = Session(id=known, user=user, ip=ip, browser=browser[:300])
        Session.objects.bulk_create([row], ignore_conflicts=True)
    return known


def standing(session_id: UUID) -> Standing | None:
    """Return how a session stands, None where there never was one of this id."""
    asked = Session.objects.filter(pk=session_id).select_related("user__staff", "user__player")
    found = asked.annotate(idle=ExpressionWrapper(Now() - F("acted_at"), output_field=DurationField())).first()
    if found is None:
        return None
    limit = limit_for(found.user)
    left = 0.0 if found.ended_at else max(0.0, (limit - found.idle).total_seconds())
    return Standing(found.pk, left, found.idle, limit, found.why)


def act(session: Standing) -> None:
    """Keep the time of an action, unless the one kept is almost as new."""
    if session.idle > LAG:
        Session.objects.filter(pk=session.id, ended_at=None).update(acted_at=Now())


def running(user: User) -> list[Session]:
    """Return the sessions of someone that are not over, the one used last first."""
    return list(_not_idle(Session.objects.filter(user=user, ended_at=None), user).order_by("-acted_at", "id"))


def end(*, session_id: UUID, why: Ended, by: str, ip: str = "", reason: str = "") -> bool:
    """End a session, on record, with the *reason* where staff do so; say whether it was running."""
    return bool(_end(Session.objects.filter(pk=session_id), why, by, ip, reason))


def end_if_idle(session_id: UUID) -> bool:
    """End a session in which nobody has done anything for too long; say whether it was one."""
    return bool(_end(_all_idle().filter(pk=session_id), Ended.IDLE, "system", ""))


def end_one_of(*, user: User, session_id: UUID, ip: str = "") -> bool:
    """End a session of *user*'s from another; say whether there was such a one."""
    return bool(_end(Session.objects.filter(pk=session_id, user=user), Ended.ELSEWHERE, actor_of(user), ip))


def end_others(*, user: User, here: UUID | None, why: Ended = Ended.ELSEWHERE, ip: str = "") -> int:
    """End all sessions of *user* but the one *here*, from which they ask for it; return how many were running."""
    others = Session.objects.filter(user=user)
    return _end(others.exclude(pk=here) if here else others, why, actor_of(user), ip)


def end_all(*, user: User, why: Ended, by: str) -> int:
    """End all sessions of *user*; return how many were running."""
    return _end(Session.objects.filter(user=user), why, by, "")


def end_idle() -> int:
    """End every session in which nobody has done anything for too long; return how many there were."""
    ids = list(_all_idle().values_list("pk", flat=True))
    return sum(map(end_if_idle, ids))


@transaction.atomic
def _begin(session_id: UUID, user: User, ip: str, browser: str) -> UUID:
    Session.objects.create(id=session_id, user=user, ip=ip, browser=browser[:300])
    actor = actor_of(user)
    log.record("session.began", by=actor, on=actor, data={"session": str(session_id)}, personal={"ip": ip})
    return session_id


@transaction.atomic
def _end(which: QuerySet[Session], why: Ended, by: str, ip: str, reason: str = "") -> int:
    """End those that run still, each on record; they are looked at again under lock."""
    locked = which.filter(ended_at=None).select_related("user").select_for_update(of=("self",)).order_by("pk")
    ended: Iterable[Session] = list(locked)
    Session.objects.filter(pk__in=[each.pk for each in ended]).update(ended_at=Now(), why=why)
    for each in ended:
        data: dict[str, log.Json] = {"session": str(each.pk), "why": why.value}
        data |= {"reason": reason} if reason else {}
        log.record("session.ended", by=by, on=actor_of(each.user), data=data, personal={"ip": ip} if ip else None)
    return len(list(ended))


def _not_idle(sessions: QuerySet[Session], user: User) -> QuerySet[Session]:
    return sessions.filter(acted_at__gt=Now() - limit_for(user))


def _all_idle() -> QuerySet[Session]:
    of_staff = Q(user__staff__isnull=False, acted_at__lte=Now() - timedelta(seconds=settings.STAFF_IDLE_SECONDS))
    of_players = Q(user__staff=None, acted_at__lte=Now() - timedelta(seconds=settings.PLAYER_IDLE_SECONDS))
    return Session.objects.filter(of_staff | of_players, ended_at=None)


def forget_addresses() -> int:
    """Forget from where and with which browser people logged in whose sessions ended long enough ago; return how many
    sessions those were.
    """
    old = Session.objects.filter(ended_at__lt=Now() - retention.kept(Kept.ADDRESS)).exclude(ip="", browser="")
    return old.update(ip="", browser="")
