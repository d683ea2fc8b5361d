"""Session store that keeps sessions under a digest of the cookie's key, and encrypts their data.

Someone who reads the table cannot take over a session, such as one of staff after the second
factor, and learns no code that allauth keeps there and mails. What a row holds is encrypted for that
row, so someone who can also write to the table cannot copy a session of staff into a row of their
own.
"""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils.crypto import salted_hmac

from players.login import who_asks
from players.login.current_user import SESSION_ID
from players.login.who_asks import Asker
from players.models import BrowserSession

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
