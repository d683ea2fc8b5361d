"""Second factors: authenticator app codes (TOTP, RFC 6238), passkeys, and recovery codes.

allauth stores them. This module encrypts their secrets, accepts each code once, and says who must
have one.

A secret is encrypted (AES-256-GCM) with a key derived from ``SECOND_FACTOR_KEY`` and bound to its
owner: copied to another user, it cannot be decrypted. allauth's calls do not name the owner, so they
run inside `belonging_to`.
"""

import base64
import binascii
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.totp.internal.auth import yield_hotp_counters_from_time as steps_around_now
from allauth.mfa.webauthn import forms as webauthn
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django import forms
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from players import key_rotation
from players.login.current_user import staff_of
from players.login.forms import Relabelled
from players.models import User

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
SECRETS: Final = ("secret", "seed", "migrated_codes")  # keys of the data under which allauth stores encrypted values
SPENT = "spent_step"  # key of the data: the newest time step whose code has been used
_owner: ContextVar[int | None] = ContextVar("owner of the second factors in use")


@contextmanager
def belonging_to(user_id: int | None) -> Iterator[None]:
    """Encrypt and decrypt the secrets of this user in the block."""
    token = _owner.set(user_id)
    try:
        yield
    finally:
        _owner.reset(token)


class MFAAdapter(DefaultMFAAdapter):
    """Overrides of allauth's MFA adapter."""

    error_messages: ClassVar[dict[str, str | Promise]] = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("This code is incorrect or has expired. Try the next code."),
        "cannot_delete_authenticator": _("Staff must have at least one second factor. Set up another one first."),
    }

    def encrypt(self, text: str) -> str:
        """Encrypt a secret before it is stored. Raises LookupError outside `belonging_to`."""
        return base64.b64encode(
            key_rotation.seal(settings.SECOND_FACTOR_KEY, text.encode(), _bound(), _cipher)
        ).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt with any of the keys.

        Raises cryptography's InvalidTag if none fits or the secret is another user's, LookupError
        outside `belonging_to`.
        """
        return key_rotation.unseal(settings.SECOND_FACTOR_KEY, _bytes(encrypted_text), _bound(), _cipher).decode()

    def get_totp_issuer(self) -> str:
        """Return the name of this site in an authenticator app."""
        return "Sabot"

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Return whether this factor may be removed: staff keep at least one."""
        others = Authenticator.objects.filter(user=authenticator.user_id, type__in=FACTORS).exclude(pk=authenticator.pk)
        return staff_of(authenticator.user) is None or others.exists()

    def generate_authenticator_name(
        self,
        user: AbstractBaseUser,
        type: Authenticator.Type,  # noqa: A002  (allauth's name)
    ) -> str:
        """Return the default name of a new passkey."""
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return gettext("Passkey %d") % number


def is_set_up(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether the user has a second factor. `HouseBackend` has set it for the user of a request."""
    known: bool | None = getattr(user, "has_second_factor", None)
    return Authenticator.objects.filter(user=user.pk, type__in=FACTORS).exists() if known is None else known


def has_only_passkeys(user: User) -> bool:
    """Return whether the user has passkeys but no authenticator app."""
    kinds = set(Authenticator.objects.filter(user=user, type__in=FACTORS).values_list("type", flat=True))
    return kinds == {Authenticator.Type.WEBAUTHN}


def was_shown_again(request: HttpRequest) -> bool:
    """Return whether a second factor was confirmed again in this session within the reauthentication timeout."""
    shown = [
        record["at"]
        for record in get_authentication_records(request, request.user)
        if record["method"] == "mfa" and record.get("reauthenticated")
    ]
    return bool(shown) and time.time() - shown[-1] < REAUTHENTICATION_TIMEOUT


def give(user: User) -> Authenticator:
    """Create an authenticator with a random secret, as for staff of the demo."""
    with belonging_to(user.pk):
        authenticator: Authenticator = TOTP.activate(user, generate_totp_secret()).instance
    return authenticator


def code_of(user: User) -> str | None:
    """Return a valid unused code, or None if all are used or there is no authenticator app."""
    held = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
    if held is None:
        return None
    past, now, next_one = steps_around_now()
    free = [step for step in (now, next_one, past) if step > held.data.get(SPENT, 0)]
    return _code(held, free[0]) if free else None


@transaction.atomic
def spend(authenticator: Authenticator, code: str) -> bool:
    """Use up a code of an authenticator app. Return whether it was valid.

    Neither this code nor an earlier one is accepted again (RFC 6238, 5.2).
    """
    held = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    for step in steps_around_now():
        if step > held.data.get(SPENT, 0) and compare_user_code(actual=code, expected=_code(held, step)):
            held.data[SPENT] = step
            held.save(update_fields=["data"])
            return True
    return False


def accepts(user: User, code: str) -> bool:
    """Use up a code of the authenticator app or a recovery code. Return whether it was valid."""
    with belonging_to(user.pk):
        for held in Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.WEBAUTHN):
            if spend(held, code) if held.type == Authenticator.Type.TOTP else held.wrap().validate_code(code):
                return True
    return False


def secret_of(authenticator: Authenticator) -> str:
    """Return the secret of an authenticator app. Raises InvalidTag."""
    with belonging_to(authenticator.user_id):
        return MFAAdapter().decrypt(authenticator.data["secret"])


def resealed(authenticator: Authenticator) -> dict[str, Any] | None:
    """Return the data of an authenticator with its secrets re-encrypted under the first key.

    Return None if they are already. Raises InvalidTag.
    """
    found = {name: authenticator.data[name] for name in SECRETS if name in authenticator.data}
    with belonging_to(authenticator.user_id):
        changed = {
            name: [_resealed(each) for each in value] if isinstance(value, list) else _resealed(value)
            for name, value in found.items()
        }
    return None if changed == found else {**authenticator.data, **changed}


def _resealed(secret: str) -> str:
    new = key_rotation.resealed(settings.SECOND_FACTOR_KEY, _bytes(secret), _bound(), _cipher)
    return secret if new is None else base64.b64encode(new).decode()


def _code(authenticator: Authenticator, step: int) -> str:
    return format_hotp_value(hotp_value(secret_of(authenticator), step))


def _bytes(encrypted: str) -> bytes:
    """Return the bytes of a stored secret. Raises InvalidTag if the text is not a stored secret."""
    try:
        return base64.b64decode(encrypted, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidTag from error


def _bound() -> bytes:
    """Return the associated data of a secret."""
    return f"second factor:{_owner.get()}".encode()


def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key_rotation.derived_of(key, b"second factors"))


LONGEST_NAME = 60  # characters
LONGEST_CREDENTIAL = 32 * 1024  # characters
# Raised by fido2 for a malformed credential, and RuntimeError for too deep a nesting or an unknown kind of key.
UNREADABLE: Final = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class OnlyOnce(base.BaseAuthenticateForm):
    """Accepts each code of an authenticator app only once."""

    def clean_code(self) -> str:
        """Raises ValidationError if the code is wrong or has been used."""
        with belonging_to(self.user.pk):
            code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not spend(self.authenticator, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class AuthenticateForm(Relabelled, OnlyOnce, base.AuthenticateForm):
    """Code at log-in."""

    labels: ClassVar = {"code": _("Code")}


class ReauthenticateForm(Relabelled, OnlyOnce, base.ReauthenticateForm):
    """Code before a sensitive action."""

    labels: ClassVar = {"code": _("Code")}


class ActivateForm(Relabelled, totp.ActivateTOTPForm):
    """First code of an authenticator app, which proves that it has the secret."""

    labels: ClassVar = {"code": _("Code shown in the app")}


class PasskeyName(forms.Form):
    """Name of a passkey."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=LONGEST_NAME, required=False)


class CredentialField(forms.CharField):
    """A credential as the browser gives it: a JSON object that PostgreSQL can store."""

    def clean(self, value: object) -> dict[str, Any]:
        """Return the object. Raises ValidationError."""
        text = super().clean(value)
        try:
            found = json.loads(text)
            json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # no lone surrogate, no infinity
        except (RecursionError, ValueError) as error:
            raise get_adapter().validation_error("incorrect_code") from error
        if not found or not isinstance(found, dict) or "\\u0000" in text:
            raise get_adapter().validation_error("incorrect_code")
        return found


class PasskeyCredential(forms.Form):
    """The signed answer of a passkey."""

    credential = CredentialField(widget=forms.HiddenInput, max_length=LONGEST_CREDENTIAL)


@contextmanager
def _reading_credential() -> Iterator[None]:
    """Raise ValidationError for a credential that fido2 or allauth cannot read."""
    try:
        yield
    except UNREADABLE as error:
        raise get_adapter().validation_error("incorrect_code") from error


class AddPasskeyForm(PasskeyName, PasskeyCredential, webauthn.AddWebAuthnForm):
    """New passkey, as created by the browser."""

    passwordless = forms.BooleanField(
        label=_("Log in with this passkey only, without a password"), required=False, initial=True
    )

    def clean(self) -> dict[str, Any] | None:
        """Check the credential. Raises ValidationError."""
        with _reading_credential():
            cleaned: dict[str, Any] | None = super().clean()
        return cleaned


class PasskeyForm(PasskeyCredential, webauthn.AuthenticateWebAuthnForm):
    """Passkey as the second factor at log-in."""

    def clean_credential(self) -> Authenticator:
        """Return the passkey that has signed. Raises ValidationError."""
        with _reading_credential():
            found: Authenticator = super().clean_credential()
        return found


class PasskeyLoginForm(PasskeyForm, webauthn.LoginWebAuthnForm):
    """Passkey instead of a password."""


class PasskeyReauthenticateForm(PasskeyForm, webauthn.ReauthenticateWebAuthnForm):
    """Passkey before a sensitive action."""


class RenamePasskeyForm(webauthn.EditWebAuthnForm):
    """New name of a passkey."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=LONGEST_NAME)
