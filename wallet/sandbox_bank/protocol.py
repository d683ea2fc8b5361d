"""Message formats and signatures between the sandbox bank and its customers."""

import hashlib
import hmac
from dataclasses import asdict, dataclass
from uuid import UUID

from django.core import signing
from django.db import connection

from players import key_rotation

HEADER = "Sandbox-Bank-Signature"
SECONDS_GOOD = 300  # maximum age of a signed message; an older one is a replay
SALT = "sandbox-bank.request"


class BadRequestToBank(Exception):
    """The text is not a valid request of a customer of the bank."""


class BadNotice(Exception):
    """The message is not from the bank, or its time is outside the window."""


@dataclass(frozen=True)
class PayRequest:
    """A payee's payment request, signed, passed through the payer's browser."""

    reference: UUID  # the payee's reference
    payee: str
    amount: int  # minor units
    currency: str
    callback_url: str  # URL for the bank's webhooks
    return_path: str  # path for the payer's return


def seal(request: PayRequest, key: str) -> str:
    """Serialise and sign a request.

    *key* may contain several keys, here and below, so that one can be replaced. The first one
    signs; all are accepted.
    """
    return signing.dumps(asdict(request) | {"reference": str(request.reference)}, key=_first(key), salt=SALT)


def unseal(text: str, key: str) -> PayRequest:
    """Verify and parse a request. Raises BadRequestToBank."""
    try:
        fields = signing.loads(text, key=_first(key), salt=SALT, fallback_keys=[*key_rotation.keys_of(key)[1:]])
    except signing.BadSignature as error:
        raise BadRequestToBank from error
    return PayRequest(**fields | {"reference": UUID(fields["reference"])})


def sign(body: bytes, key: str, *, at: int) -> str:
    """Return the signature header of a message sent *at* (seconds since 1970)."""
    return f"t={at},v1={_digest(body, _first(key), at)}"


def check(body: bytes, header: str, key: str, *, now: int) -> None:
    """Verify a message's signature and time. Raises BadNotice."""
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
    """Return the database's time as seconds since 1970."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::bigint")
        (seconds,) = cursor.fetchone()
    return int(seconds)


def _digest(body: bytes, key: str, at: int) -> str:
    return hmac.new(key.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()


def _first(key: str) -> str:
    return key_rotation.keys_of(key)[0]
