"""Forms for passwords, e-mail addresses and confirmation codes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from allauth.account import forms as allauth
from allauth.account.adapter import get_adapter
from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from players.login.forms import relabel

CODE = _("Code from the e-mail")
NEW = {"password1": _("New password"), "password2": _("Repeat new password")}


class Relabelled(forms.Form):
    """An allauth form with our labels and without placeholders that repeat them."""

    labels: ClassVar[Mapping[str, str | Promise]] = {}
    helps: ClassVar[Mapping[str, str | Promise]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        relabel(self.fields, self.labels)
        for name, text in self.helps.items():
            self.fields[name].help_text = str(text)


class ConfirmAddressForm(Relabelled, allauth.ConfirmEmailVerificationCodeForm):
    """Code that confirms an e-mail address."""

    labels: ClassVar = {"code": CODE}


class NewAddressForm(Relabelled, allauth.AddEmailForm):
    """New e-mail address, which replaces the present one."""

    labels: ClassVar = {"email": _("New e-mail address")}


class ChangePasswordForm(Relabelled, allauth.ChangePasswordForm):
    """Current password, and the new one twice."""

    labels: ClassVar = {"oldpassword": _("Current password"), **NEW}
    helps: ClassVar = {"password1": _("At least 10 characters.")}

    def clean_oldpassword(self) -> str:
        """Check the current password; a wrong one counts like a failed log-in. allauth's own check is not counted."""
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ForgottenPasswordForm(Relabelled, allauth.ResetPasswordForm):
    """E-mail address to which the reset code is sent."""

    labels: ClassVar = {"email": _("E-mail address")}


class ConfirmResetForm(Relabelled, allauth.ConfirmPasswordResetCodeForm):
    """Code that permits a new password."""

    labels: ClassVar = {"code": CODE}


class NewPasswordForm(Relabelled, allauth.ResetPasswordKeyForm):
    """New password, twice."""

    labels: ClassVar = NEW
    helps: ClassVar = {"password1": _("At least 10 characters.")}


class ReauthenticateForm(Relabelled, allauth.ReauthenticateForm):
    """Password again, before a sensitive action."""

    labels: ClassVar = {"password": _("Password")}


class UnlockForm(forms.Form):
    """Code that opens a lock: the mailed code, or one of the second factor."""

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        help_text=_("The code from the e-mail, or a code from your authenticator app."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
    )
