"""Second factors as people fill them in."""

from typing import ClassVar

from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.utils.translation import gettext_lazy as _

from players.login import second_factor
from players.login.account_forms import Relabelled

LONGEST_NAME = 60  # characters


class OnlyOnce(base.BaseAuthenticateForm):
    """Takes a code of an authenticator app once, however long it would be good for."""

    def clean_code(self) -> str:
        """Raises ValidationError where the code is wrong or has been used."""
        code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not second_factor.spend(self.authenticator, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class AuthenticateForm(Relabelled, OnlyOnce, base.AuthenticateForm):
    """A code, at log-in."""

    labels: ClassVar = {"code": _("Code")}


class ReauthenticateForm(Relabelled, OnlyOnce, base.ReauthenticateForm):
    """A code, before something that matters."""

    labels: ClassVar = {"code": _("Code")}


class ActivateForm(Relabelled, totp.ActivateTOTPForm):
    """The first code of an authenticator app, which shows that it has the secret."""

    labels: ClassVar = {"code": _("Code that the app shows")}


class PasskeyName(forms.Form):
    """What its owner calls a passkey."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=LONGEST_NAME, required=False)


class AddPasskeyForm(PasskeyName, webauthn.AddWebAuthnForm):
    """A new passkey, as the browser made it."""

    passwordless = forms.BooleanField(
        label=_("Log in with it alone, without the password"), required=False, initial=True
    )


class RenamePasskeyForm(webauthn.EditWebAuthnForm):
    """Another name for a passkey."""

    name = forms.CharField(label=_("Name of the passkey"), max_length=LONGEST_NAME)
