"""Session store that keeps sessions under a digest of the cookie's key.

Someone who reads the table cannot take over a session, such as one of staff after the second
factor. What a row holds is signed for that row, so someone who can also write to the table cannot
copy a session of staff into a row of their own.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession

from players.login import who_asks
from players.login.current_user import SESSION_ID
from players.login.who_asks import Asker
from players.models import BrowserSession

LENGTH: Final = 40  # of 64 hex digits, 160 bits: the length of Django's column


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
        """Return what the signature of the data depends on: the row."""
        return f"{super().key_salt}.{self.row or row_key(self.session_key or '')}"

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
