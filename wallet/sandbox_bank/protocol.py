"""What the sandbox bank and its customers say to each other, and how either knows that it was the other."""

import hashlib
import hmac
from dataclasses import asdict, dataclass
from uuid import UUID

from django.core import signing
from django.db import connection

from players import key_rotation

HEADER = "Sandbox-Bank-Signature"
SECONDS_GOOD = 300  # how long a signed message may take: an older one is a replay
SALT = "sandbox-bank.request"


class BadRequestToBank(Exception):
    """What came is no request of a customer of the bank."""


class BadNotice(Exception):
    """A message is not from the bank, or not from now."""


@dataclass(frozen=True)
class PayRequest:
    """What a payee asks a payer for; it travels through the payer's browser, sealed."""

    reference: UUID  # the payee's own name for it
    payee: str
    amount: int  # minor units
    currency: str
    callback_url: str  # where the bank sends its messages
    return_path: str  # where the payer goes afterwards


def seal(request: PayRequest, key: str) -> str:
    """Write a request so that nobody without the key can write another one. *key* may name several here as below, so
    that one can be replaced: the first one writes, all of them are believed.
    """
    return signing.dumps(asdict(request) | {"reference": str(request.reference)}, key=_first(key), salt=SALT)


def unseal(text: str, key: str) -> PayRequest:
    """Read a request. Raises BadRequestToBank."""
    try:
        fields = signing.loads(text, key=_first(key), salt=SALT, fallback_keys=[*key_rotation.keys_of(key)[1:]])
    except signing.BadSignature as error:
        raise BadRequestToBank from error
    return PayRequest(**fields | {"reference": UUID(fields["reference"])})


def sign(body: bytes, key: str, *, at: int) -> str:
    """Return the header that goes with a message sent *at* (seconds since 1970)."""
    return f"t={at},v1={_digest(body, _first(key), at)}"


def check(body: bytes, header: str, key: str, *, now: int) -> None:
    """Hold a message to its signature and to the time. Raises BadNotice."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    at = parts.get("t", "")
    if not (at.isascii() and at.isdecimal() and len(at) < 12):
        raise BadNotice("no time")
    said = parts.get("v1", "").encode()
    if not any(hmac.compare_digest(_digest(body, each, int(at)).encode(), said) for each in key_rotation.keys_of(key)):
        raise BadNotice("wrong signature")
    if abs(now - int(at)) > SECONDS_GOOD:
        raise BadNotice("not of now")


def seconds_now() -> int:
    """Return the time by the database's clock, as seconds since 1970."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::bigint")
        (seconds,) = cursor.fetchone()
    return int(seconds)


def _digest(body: bytes, key: str, at: int) -> str:
    return hmac.new(key.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()


def _first(key: str) -> str:
    return key_rotation.keys_of(key)[0]
