"""Request signatures of the seamless wallet, for client and server (docs/seamless.md, "Signatures").

The signature covers time, method, path and the raw body. So a request is valid only for what it
asks, at its address, for a minute.
"""

import hmac
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

WINDOW_SECONDS: Final = 60
KEY_HEADER: Final = "Sabot-Key"
TIME_HEADER: Final = "Sabot-Time"
SIGNATURE_HEADER: Final = "Sabot-Signature"
TIME = re.compile(r"[0-9]{1,11}", re.ASCII)


class NotSigned(Exception):
    """The request is not signed by the key's owner: a header is missing or malformed, or the signature is wrong."""


class OutsideWindow(Exception):
    """The signature is valid but too old or too new. *now* is the server's time in Unix seconds."""

    def __init__(self, now: int) -> None:
        super().__init__(f"signed for another time than {now}")
        self.now = now


def sign(secret: str, *, at: int, method: str, path: str, body: bytes) -> str:
    """Return the signature in hex of a request at Unix second *at*. *path* has no host and no query."""
    signed = f"{at}\n{method}\n{path}\n".encode() + body
    return hmac.digest(secret.encode(), signed, "sha256").hex()


def headers(key: str, secret: str, *, at: int, method: str, path: str, body: bytes) -> dict[str, str]:
    """Return the three headers of a request signed with *secret*, whose name is *key*."""
    return {
        KEY_HEADER: key,
        TIME_HEADER: str(at),
        SIGNATURE_HEADER: sign(secret, at=at, method=method, path=path, body=body),
    }


def check(secret: str, said: Mapping[str, str], *, now: datetime, method: str, path: str, body: bytes) -> None:
    """Verify the signature in the headers *said*. Raises NotSigned, OutsideWindow.

    Only a caller with a valid signature learns the server's time.
    """
    time, signature = said.get(TIME_HEADER, ""), said.get(SIGNATURE_HEADER, "")
    if not TIME.fullmatch(time) or not signature.isascii():
        raise NotSigned
    if not hmac.compare_digest(signature, sign(secret, at=int(time), method=method, path=path, body=body)):
        raise NotSigned
    seconds = int(now.timestamp())
    if abs(seconds - int(time)) > WINDOW_SECONDS:
        raise OutsideWindow(seconds)
