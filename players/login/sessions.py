"""Log-in sessions: start, time of the last action, end, time-out.

All times are the database's. A session that has been idle too long ends at its next request or by
the periodic task, whichever comes first. Requests that a page makes automatically are not actions:
see `players.access.made_by_the_page`.
"""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.db.models.query import QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from audit import log, retention
from audit.models import RetainedData
from audit.raw_rows import fetch_one
from players.login import who_asks
from players.login.current_user import SESSION_ID, actor_of, session_of, staff_of
from players.login.who_asks import Asker, SessionState, state_of
from players.models import BrowserSession, Ended, Session, User

LENGTH: Final = 40  # of 64 hex digits, 160 bits: the length of Django's column
NONCE: Final = 12  # bytes, as AES-GCM has them


def row_key(session_key: str) -> str:
    """Return the primary key of a session's row."""
    return sha256(session_key.encode()).hexdigest()[:LENGTH]


def store_of(row: BrowserSession) -> "SessionStore":
    """Return a store that decodes and encodes the data of a row."""
    store = SessionStore()
    store.row = row.session_key
    return store


class SessionStore(db.SessionStore):
    """Django's database store, with `row_key`.

    There are no asynchronous views. Of the asynchronous methods, only those that create a row are
    overridden, because they would store the plain key.
    """

    row: str | None = None  # primary key, where a row is read without its cookie
    asker: Asker | None = None  # whose session the row says it is, once it was read

    @classmethod
    def get_model_class(cls) -> type[BrowserSession]:
        """Return the model of the rows."""
        return BrowserSession

    @property
    def key_salt(self) -> str:
        """Return what the key of the data depends on: the row."""
        return f"{super().key_salt}.{self.row or row_key(self.session_key or '')}"

    def encode(self, session_dict: dict[str, Any]) -> str:
        """Encrypt the data of the session."""
        nonce, data = secrets.token_bytes(NONCE), self.serializer().dumps(session_dict)
        return b64encode(nonce + self._cipher(settings.SECRET_KEY).encrypt(nonce, data, None)).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Decrypt the data of the session; it is empty if no key of this row fits."""
        sealed = b64decode(session_data)
        for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
            try:
                data = self._cipher(secret).decrypt(sealed[:NONCE], sealed[NONCE:], None)
            except (InvalidTag, ValueError):  # ValueError where nothing is stored
                continue
            decoded: dict[str, Any] = self.serializer().loads(data)
            return decoded
        return {}

    def _cipher(self, secret: str) -> AESGCM:
        return AESGCM(salted_hmac(self.key_salt, b"", secret=secret, algorithm="sha256").digest())

    def _get_session_from_db(self) -> BrowserSession | None:
        found = None if self.session_key is None else who_asks.by_cookie(row_key(self.session_key))
        if found is None:
            self._session_key = None
            return None
        row, self.asker = found
        return row

    def exists(self, session_key: str) -> bool:
        """Return whether a session with this key exists."""
        return BrowserSession.objects.filter(pk=row_key(session_key)).exists()

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row to store."""
        return _to_store(super().create_model_instance(data), data)

    async def acreate_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row to store."""
        return _to_store(await super().acreate_model_instance(data), data)

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session with this key, or this session."""
        key = session_key or self.session_key
        if key is not None:
            BrowserSession.objects.filter(pk=row_key(key)).delete()


def _to_store(row: AbstractBaseSession, data: Mapping[str, Any]) -> AbstractBaseSession:
    row.session_key = row_key(row.session_key)
    vars(row)["log_in"] = data.get(SESSION_ID)
    return row


STATE: Final = """
SELECT statement_timestamp() - own.acted_at, own.ended_at IS NOT NULL, own.why,
    EXISTS (SELECT FROM players_staff AS staff WHERE staff.user_id = own.user_id)
FROM players_session AS own WHERE own.id = %s
"""
API_CLIENT: Final = "API client: "  # prefix of ``browser`` of an API session; the token's name follows


def limit_for(user: User) -> timedelta:
    """Return how long the user's session may be idle."""
    return timedelta(seconds=settings.STAFF_IDLE_SECONDS if staff_of(user) else settings.PLAYER_IDLE_SECONDS)


def begin(*, user: User, session: SessionBase, ip: str, browser: str) -> None:
    """Start a session after a log-in and store its id, which rounds and events use."""
    session[SESSION_ID] = str(_begin(uuid4(), user, ip, browser))


def begin_for_api_client(*, user: User, ip: str, name: str) -> UUID:
    """Start an API session for *user* and return its id. *name* is the name of the token."""
    return _begin(uuid4(), user, ip, API_CLIENT + name)


@transaction.atomic
def adopt(*, user: User, session: SessionBase, ip: str, browser: str) -> UUID:
    """Return the id of a logged-in session. Create the id and the row if they are missing."""
    known = session_of(session)
    if known is None:
        known = uuid5(NAMESPACE_URL, session.session_key or "")  # concurrent requests derive the same id
        _begin(known, user, ip, browser)
        session[SESSION_ID] = str(known)
    else:
        row = Session(id=known, user=user, ip=ip, browser=browser[:300])
        Session.objects.bulk_create([row], ignore_conflicts=True)
    return known


def read_state(session_id: UUID) -> SessionState | None:
    """Return the state of a session, or None if no session has this id."""
    row = fetch_one(STATE, [session_id])
    if row is None:
        return None
    return state_of(session_id, *row)


def find_running(cookie: str) -> UUID | None:
    """Return the id of the running log-in session with this session cookie, or None."""
    found = session_of(SessionStore(cookie)) if cookie else None
    return found if found and Session.objects.filter(pk=found, ended_at=None).exists() else None


def act(session: SessionState) -> None:
    """Store the time of an action, unless the stored time is recent."""
    if session.is_to_store:
        Session.objects.filter(pk=session.id, ended_at=None).update(acted_at=Now())


def running(user: User) -> list[Session]:
    """Return the user's running sessions, most recently used first."""
    return list(_not_idle(Session.objects.filter(user=user, ended_at=None), user).order_by("-acted_at", "id"))


def end(*, session_id: UUID, why: Ended, by: str, ip: str = "", reason: str = "") -> bool:
    """End a session and record it, with the *reason* if staff end it. Return whether it was running."""
    return bool(_end(Session.objects.filter(pk=session_id), why, by, ip, reason))


def end_if_idle(session_id: UUID) -> bool:
    """End a session if it has been idle too long. Return whether it was ended."""
    return bool(_end(_all_idle().filter(pk=session_id), Ended.IDLE, "system", ""))


def end_one_of(*, user: User, session_id: UUID, ip: str = "") -> bool:
    """End a session of *user* from another one. Return whether it was running."""
    return bool(_end(Session.objects.filter(pk=session_id, user=user), Ended.ELSEWHERE, actor_of(user), ip))


def end_others(*, user: User, here: UUID | None, why: Ended = Ended.ELSEWHERE, ip: str = "") -> int:
    """End all sessions of *user* except *here*. Return how many were running."""
    others = Session.objects.filter(user=user)
    return _end(others.exclude(pk=here) if here else others, why, actor_of(user), ip)


def end_all(*, user: User, why: Ended, by: str) -> int:
    """End all sessions of *user*. Return how many were running."""
    return _end(Session.objects.filter(user=user), why, by, "")


def end_idle() -> int:
    """End every session that has been idle too long. Return how many there were."""
    ids = list(_all_idle().values_list("pk", flat=True))
    return sum(map(end_if_idle, ids))


@transaction.atomic
def _begin(session_id: UUID, user: User, ip: str, browser: str) -> UUID:
    """Make the row of a session and record it, unless another request has, and return its id."""
    said = {"user": user, "ip": ip, "browser": browser[:300]}
    _row, is_new = Session.objects.get_or_create(id=session_id, defaults=said)
    if is_new:
        actor = actor_of(user)
        log.record("session.began", by=actor, on=actor, data={"session": str(session_id)}, personal={"ip": ip})
    return session_id


@transaction.atomic
def _end(which: QuerySet[Session], why: Ended, by: str, ip: str, reason: str = "") -> int:
    """End the sessions that still run, under lock, and record each."""
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
    """Erase IP address and browser of sessions that ended long enough ago. Return the number of sessions."""
    old = Session.objects.filter(ended_at__lt=Now() - retention.period(RetainedData.ADDRESS)).exclude(ip="", browser="")
    return old.update(ip="", browser="")


# The first match counts: most browsers also claim to be Chrome and Safari, most devices Linux or a Mac.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari", "Safari"),
)
_DEVICES: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_label(browser: str) -> str:
    """Return a name such as "Firefox, Windows" for a User-Agent header, as far as it is known.

    For an API session, return the name of its token.
    """
    if browser.startswith(API_CLIENT):
        return _("API client: %(name)s") % {"name": browser.removeprefix(API_CLIENT)}
    found = [_first(browser, names) for names in (_BROWSERS, _DEVICES)]
    return ", ".join(filter(None, found)) or _("Unknown browser")


def _first(browser: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for signature, name in names if signature in browser), "")
