"""Proofs for changes of credentials: password, e-mail address, second factors, API tokens; for
answers of registers of excluded players; and for requests and decisions of staff.

The database accepts such a change only with an HMAC under CREDENTIALS_KEY, which somebody who only
has the password of our database role cannot make (``sql/functions/credentials.sql``). allauth's
models save themselves, so proofs are made when Django announces that it is about to write or delete
a row. Statements for several rows, such as ``QuerySet.update``, announce nothing and are refused.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Collection
from typing import Any, Final

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.models.signals import ModelSignal, pre_delete, pre_save

from audit.models import Approval, Decision, Verdict
from audit.raw_rows import sqlstate
from players import key_rotation
from players.models import ApiToken, RegisterCheck, Staff, User

BLOCK: Final = 64  # bytes that SHA-256 hashes at a time
OWNER: Final = "owner"  # alias of the owner of the tables, who needs no proof
NOT_PROVEN: Final = "SB084"  # SQLSTATE of players_permit_change
PROVEN: Final = ("password", "email")  # columns of players_user
CHALLENGE: Final = "Does the database have the key of this process?"

Change = list[Any]
"""A change as ``sql/functions/credentials.sql`` describes it."""


class WrongCredentialsKey(Exception):
    """The database does not have the first key of CREDENTIALS_KEY."""


def connect() -> None:
    """Connect the receivers."""
    receivers: dict[tuple[ModelSignal, type[Model]], Callable[..., None]] = {
        (pre_save, User): prove_user,
        (pre_save, Authenticator): prove_factor,
        (pre_delete, Authenticator): prove_removed_factor,
        (pre_save, EmailAddress): prove_address,
        (pre_delete, EmailAddress): prove_removed_address,
        (pre_save, ApiToken): prove_token,
        (pre_save, RegisterCheck): prove_answer,
        (pre_save, Approval): prove_request,
        (pre_save, Decision): prove_decision,
    }
    for (signal, model), receiver in receivers.items():
        signal.connect(receiver, sender=model, dispatch_uid=f"players.login.credentials.{receiver.__name__}")


def prove(user_id: int, change: Change, using: str) -> None:
    """Permit one change on this connection. Raises WrongCredentialsKey."""
    if using == OWNER:
        return
    asked = json.dumps(change)
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            cursor.execute("SELECT players_credential_message(%s, %s::jsonb)", [user_id, asked])
            (message,) = cursor.fetchone()
            cursor.execute("SELECT players_permit_change(%s, %s::jsonb, %s)", [user_id, asked, proof(message)])
    except DatabaseError as error:
        if sqlstate(error) != NOT_PROVEN:
            raise
        raise WrongCredentialsKey from error


def proof(message: str) -> bytes:
    """Return the HMAC-SHA256 of a message under the first key."""
    first, *_older = key_rotation.keys_of(settings.CREDENTIALS_KEY)
    return hmac.digest(key_rotation.bytes_of(first), message.encode(), "sha256")


def content_proof(subject: str, content: str) -> bytes:
    """Return the proof of a text for what *subject* names, such as the next version of a table."""
    return proof(f"{subject}:{hashlib.sha256(content.encode()).hexdigest()}")


def proof_here(subject: str, content: str) -> bytes:
    """Return the proof of a text for the current transaction alone (`players_is_proven_here`)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")
        (number,) = cursor.fetchone()
    return content_proof(f"{subject}:{number}", content)


def store_keys(owner: BaseDatabaseWrapper) -> int:
    """Store the keys of CREDENTIALS_KEY, and no others, in the database, and return how many there are.

    *owner* is the owner's connection.
    """
    keys = [key_rotation.bytes_of(key) for key in key_rotation.keys_of(settings.CREDENTIALS_KEY)]
    rows = [(number, *padded(key)) for number, key in enumerate(keys)]
    with transaction.atomic(owner.alias), owner.cursor() as cursor:
        cursor.execute("DELETE FROM players_credential_key")
        cursor.executemany(
            "INSERT INTO players_credential_key (number, inner_pad, outer_pad) VALUES (%s, %s, %s)", rows
        )
    return len(rows)


def is_key_known(using: str) -> bool:
    """Return whether the database accepts proofs of this process."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT players_is_proven(%s, %s)", [CHALLENGE, proof(CHALLENGE)])
        (is_known,) = cursor.fetchone()
    return bool(is_known)


def prove_user(instance: User, using: str, update_fields: Collection[str] | None, **kwargs: object) -> None:
    """Prove another password or e-mail address. A new user needs no proof."""
    named = [name for name in PROVEN if update_fields is None or name in update_fields]
    if instance._state.adding or not named:
        return
    stored = User.objects.using(using).filter(pk=instance.pk).values(*named).first() or {}
    for name in named:
        if stored.get(name) != getattr(instance, name):
            prove(instance.pk, [name, getattr(instance, name)], using)


def prove_factor(instance: Authenticator, using: str, update_fields: Collection[str] | None, **kwargs: object) -> None:
    """Prove a new second factor, or other data of one."""
    if instance._state.adding:
        prove(instance.user_id, ["add factor", instance.type, instance.data], using)
    elif update_fields is None or "data" in update_fields:
        prove(instance.user_id, ["change factor", instance.pk, instance.data], using)


def prove_removed_factor(instance: Authenticator, using: str, **kwargs: object) -> None:
    """Prove the removal of a second factor."""
    prove(instance.user_id, ["remove factor", instance.pk], using)


def prove_address(instance: EmailAddress, using: str, **kwargs: object) -> None:
    """Prove a new or changed e-mail address."""
    said = [instance.email, instance.verified, instance.primary]
    change = ["add address", *said] if instance._state.adding else ["change address", instance.pk, *said]
    prove(instance.user_id, change, using)


def prove_removed_address(instance: EmailAddress, using: str, **kwargs: object) -> None:
    """Prove the removal of an e-mail address."""
    prove(instance.user_id, ["remove address", instance.pk], using)


def prove_token(instance: ApiToken, using: str, **kwargs: object) -> None:
    """Prove a new API token."""
    if instance._state.adding:
        prove(instance.user_id, ["add token", bytes(instance.digest).hex(), list(instance.scopes)], using)


def prove_answer(instance: RegisterCheck, using: str, **kwargs: object) -> None:
    """Prove the answer of a register."""
    prove(instance.player.user_id, ["register answer", instance.register, str(instance.outcome)], using)


def prove_request(instance: Approval, using: str, **kwargs: object) -> None:
    """Prove that a member of staff requests what two people have to agree on."""
    digest = hashlib.sha256(instance.request.encode()).hexdigest()
    _prove_for_staff(instance.by, ["ask", instance.kind, instance.on, digest], using)


def prove_decision(instance: Decision, using: str, **kwargs: object) -> None:
    """Prove the decision of a member of staff."""
    if instance.verdict != Verdict.EXPIRED:
        _prove_for_staff(instance.by, ["decide", instance.approval_id, str(instance.verdict)], using)


def _prove_for_staff(by: str, change: Change, using: str) -> None:
    """Prove a change in the name of a staff account. The database refuses any other name."""
    kind, _, number = by.partition(":")
    user_id = Staff.objects.filter(pk=number).values_list("user_id", flat=True).first() if kind == "staff" else None
    if user_id is not None:
        prove(user_id, change, using)


def padded(key: bytes) -> tuple[bytes, bytes]:
    """Return a key as HMAC-SHA256 uses it, and as the tables of keys have it: inner and outer pad."""
    return _combined(key, 0x36), _combined(key, 0x5C)


def _combined(key: bytes, pad: int) -> bytes:
    return bytes(byte ^ pad for byte in key.ljust(BLOCK, b"\0"))
