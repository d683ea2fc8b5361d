"""Session store that keeps sessions under a digest of the cookie's key.

Someone who reads the table cannot take over a session, such as one of staff after the second
factor. What a row holds is signed for that row, so someone who can also write to the table cannot
copy a session of staff into a row of their own.
"""

from hashlib import sha256
from typing import Any, Final

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session

from audit.raw_rows import columns, fetch_one, instance

READ: Final = f"""
SELECT {columns(Session, "kept")} FROM django_session AS kept WHERE kept.session_key = %s AND kept.expire_date > now()
"""  # noqa: S608  (nothing but names of our own columns)
LENGTH: Final = 40  # of 64 hex digits, 160 bits: the length of Django's column


def row_key(session_key: str) -> str:
    """Return the primary key of a session's row."""
    return sha256(session_key.encode()).hexdigest()[:LENGTH]


def store_of(row: Session) -> "SessionStore":
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

    @property
    def key_salt(self) -> str:
        """Return what the signature of the data depends on: the row."""
        return f"{super().key_salt}.{self.row or row_key(self.session_key or '')}"

    def _get_session_from_db(self) -> Session | None:
        row = None if self.session_key is None else fetch_one(READ, [row_key(self.session_key)])
        if row is None:
            self._session_key = None
            return None
        return instance(Session, row)

    def exists(self, session_key: str) -> bool:
        """Return whether a session with this key exists."""
        return Session.objects.filter(pk=row_key(session_key)).exists()

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row to store."""
        row = super().create_model_instance(data)
        row.session_key = row_key(row.session_key)
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row to store."""
        row = await super().acreate_model_instance(data)
        row.session_key = row_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session with this key, or this session."""
        key = session_key or self.session_key
        if key is not None:
            Session.objects.filter(pk=row_key(key)).delete()
