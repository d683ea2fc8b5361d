"""Request signatures of the seamless wallet, for client and server, and the secrets they need.

Source: docs/seamless.md, "Signatures". The signature covers time, method, path and the raw body. So
a request is valid only for what it asks, at its address, for a minute. Secrets shared with partners
sign in both directions. They are encrypted with PARTNER_KEY, which the database never sees and
which may contain several keys (`players.key_rotation`).
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import DateTimeField, ExpressionWrapper, Q

from audit.models import Clock
from players import key_rotation
from wallet.models import Partner, PartnerKey, PartnerKind

WINDOW_SECONDS: Final = 60
KEY_HEADER: Final = "Sabot-Key"
TIME_HEADER: Final = "Sabot-Time"
SIGNATURE_HEADER: Final = "Sabot-Signature"
TIME = re.compile(r"[0-9]{1,11}", re.ASCII)


class NotSigned(Exception):
    """The request lacks a valid signature of the key's owner.

    A header is missing or malformed, or the signature is wrong.
    """


class OutsideWindow(Exception):
    """The signature is valid but too old or too new. *now* is the server's time in Unix seconds."""

    def __init__(self, now: int) -> None:
        super().__init__(f"signed for another time than {now}")
        self.now = now


def sign(secret: str, *, at: int, method: str, path: str, body: bytes) -> str:
    """Return the signature in hex of a request at Unix second *at*.

    *path* has no host and no query.
    """
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


LAG: Final = timedelta(seconds=5)  # a use is stored only if the stored one is older than this


def new_name() -> str:
    """Generate the name of a key."""
    return f"sabot-{secrets.token_hex(8)}"


def new_sealed(partner_id: int, name: str) -> bytes:
    """Generate the secret of the partner's key called *name* and return it encrypted."""
    return key_rotation.seal(settings.PARTNER_KEY, secrets.token_urlsafe(32).encode(), _bound(partner_id, name))


def secret_of(key: PartnerKey) -> str:
    """Return the secret.

    Raises cryptography's InvalidTag if ciphertext, PARTNER_KEY, partner and name do not match.
    """
    return key_rotation.unseal(settings.PARTNER_KEY, bytes(key.sealed), _bound(key.partner_id, key.name)).decode()


def resealed(partner_id: int, name: str, sealed: bytes) -> bytes | None:
    """Return a secret re-encrypted with the first key, None if it already is. Raises InvalidTag."""
    return key_rotation.resealed(settings.PARTNER_KEY, sealed, _bound(partner_id, name))


def _bound(partner_id: int, name: str) -> bytes:
    """Return the associated data of a secret: its partner and the name of its key."""
    return f"partner key:{partner_id}:{name}".encode()


def signing_key(partner: Partner) -> PartnerKey:
    """Return the key that signs requests to *partner*. Raises PartnerKey.DoesNotExist.

    It is the oldest active key, because the partner may not have installed a newer one yet.
    """
    found = PartnerKey.objects.filter(partner=partner, ended_at=None).order_by("pk").first()
    if found is None:
        raise PartnerKey.DoesNotExist
    return found


def caller(kind: PartnerKind, said: Mapping[str, str], *, method: str, path: str, body: bytes) -> Partner:
    """Return the partner of this kind that signed the request, even if it is switched off.

    *said* are the request's headers. Raises signing.NotSigned, signing.OutsideWindow.
    """
    running = PartnerKey.objects.select_related("partner").filter(partner__kind=kind, ended_at=None)
    now = ExpressionWrapper(Clock(), output_field=DateTimeField())
    key = running.filter(name=said.get(KEY_HEADER, "")[:64]).annotate(now=now).first()
    if key is None:
        raise NotSigned
    check(secret_of(key), said, now=key.now, method=method, path=path, body=body)
    stale = Q(used_at=None) | Q(used_at__lt=Clock() - LAG)
    if key.used_at is None or key.now - key.used_at > LAG:
        PartnerKey.objects.filter(stale, pk=key.pk).update(used_at=Clock())
    return key.partner
