"""Forms for second factors."""

from typing import ClassVar

from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.utils.translation import gettext_lazy as _

from players.login import second_factor
from players.login.forms import Relabelled

LONGEST_NAME = 60  # characters


class OnlyOnce(base.BaseAuthenticateForm):
    """Accepts each code of an authenticator app only once."""

    def clean_code(self) -> str:
        """Raises ValidationError if the code is wrong or has been used."""
        with second_factor.belonging_to(self.user.pk):
            code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not second_factor.spend(self.authenticator, code):
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


class AddPasskeyForm(PasskeyName, webauthn.AddWebAuthnForm):
    """New passkey, as created by the browser."""

    passwordless = forms.BooleanField(
        label=_("Log in with this passkey only, without a password"), required=False, initial=True
    )


class RenamePasskeyForm(webauthn.EditWebAuthnForm):
    """New name of a passkey."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=LONGEST_NAME)
