"""Signatures of the seamless wallet, for whoever asks and whoever is asked (docs/seamless.md, "Signatures").

Signed are the time, the method, the path and the body as they are on the wire, so a request is only good for what it
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
    """Nothing that the owner of the key has said: a header is missing or malformed, or the signature another one's."""


class OutsideWindow(Exception):
    """Rightly signed, for another time than now, which is *now* here, in Unix seconds."""

    def __init__(self, now: int) -> None:
        super().__init__(f"signed for another time than {now}")
        self.now = now


def sign(secret: str, *, at: int, method: str, path: str, body: bytes) -> str:
    """Return the signature, in hex, of a request made at the Unix second *at*; *path* has no host and no query."""
    signed = f"{at}\n{method}\n{path}\n".encode() + body
    return hmac.digest(secret.encode(), signed, "sha256").hex()


def headers(key: str, secret: str, *, at: int, method: str, path: str, body: bytes) -> dict[str, str]:
    """Return the three headers of a request that is signed with *secret*, whose name is *key*."""
    return {
        KEY_HEADER: key,
        TIME_HEADER: str(at),
        SIGNATURE_HEADER: sign(secret, at=at, method=method, path=path, body=body),
    }


def check(secret: str, said: Mapping[str, str], *, now: datetime, method: str, path: str, body: bytes) -> None:
    """Accept a request whose headers are *said*, or raise NotSigned, OutsideWindow.

    Only who signed it rightly is told what time it is here.
    """
    time, signature = said.get(TIME_HEADER, ""), said.get(SIGNATURE_HEADER, "")
    if not TIME.fullmatch(time) or not signature.isascii():
        raise NotSigned
    if not hmac.compare_digest(signature, sign(secret, at=int(time), method=method, path=path, body=body)):
        raise NotSigned
    seconds = int(now.timestamp())
    if abs(seconds - int(time)) > WINDOW_SECONDS:
        raise OutsideWindow(seconds)
