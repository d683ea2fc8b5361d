"""Where sessions lie: in the database, under a digest of what the cookie says, as tokens do. So whoever reads the table
gets into nobody's session, of staff past their second factor among them.
"""

from hashlib import sha256
from typing import Any, Final

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session
from django.utils import timezone

LENGTH: Final = 40  # of the 64 digits, 160 bits: as many as Django's column has room for


def row_key(session_key: str) -> str:
    """Return the key of the row in which a session lies."""
    return sha256(session_key.encode()).hexdigest()[:LENGTH]


class SessionStore(db.SessionStore):
    """Django's, with `row_key`. Of its methods for asynchronous views, which the house has none of, only those are here
    by which a row would come to be: they would leave a key in plain.
    """

    def _get_session_from_db(self) -> Session | None:
        found: Session | None = None
        if self.session_key is not None:
            running = Session.objects.filter(expire_date__gt=timezone.now())
            found = running.filter(pk=row_key(self.session_key)).first()
        if found is None:
            self._session_key = None
        return found

    def exists(self, session_key: str) -> bool:
        """Say whether there is a session of this key."""
        return Session.objects.filter(pk=row_key(session_key)).exists()

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row as it is to be written."""
        row = super().create_model_instance(data)
        row.session_key = row_key(row.session_key)
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the row as it is to be written."""
        row = await super().acreate_model_instance(data)
        row.session_key = row_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session of this key, or this session."""
        key = session_key or self.session_key
        if key is not None:
            Session.objects.filter(pk=row_key(key)).delete()
