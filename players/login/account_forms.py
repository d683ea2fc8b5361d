"""Passwords, addresses and the codes that confirm them, as people fill them in."""

from collections.abc import Mapping
from typing import Any, ClassVar

from allauth.account import forms as allauth
from allauth.account.adapter import get_adapter
from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from players.login.forms import relabel

CODE = _("Code from the mail")
NEW = {"password1": _("New password"), "password2": _("New password again")}


class Relabelled(forms.Form):
    """A form of allauth's under our labels, without placeholders that say the same again."""

    labels: ClassVar[Mapping[str, str | Promise]] = {}
    helps: ClassVar[Mapping[str, str | Promise]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        relabel(self.fields, self.labels)
        for name, text in self.helps.items():
            self.fields[name].help_text = str(text)


class ConfirmAddressForm(Relabelled, allauth.ConfirmEmailVerificationCodeForm):
    """The code that shows that an address is someone's."""

    labels: ClassVar = {"code": CODE}


class NewAddressForm(Relabelled, allauth.AddEmailForm):
    """The address that is to take the place of the present one."""

    labels: ClassVar = {"email": _("New e-mail address")}


class ChangePasswordForm(Relabelled, allauth.ChangePasswordForm):
    """The password so far, and the next one twice."""

    labels: ClassVar = {"oldpassword": _("Current password"), **NEW}
    helps: ClassVar = {"password1": _("At least 10 characters.")}

    def clean_oldpassword(self) -> str:
        """Hold it to the user's own, counted as at the log-in: allauth's would tell, uncounted, whether it is right."""
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ForgottenPasswordForm(Relabelled, allauth.ResetPasswordForm):
    """Where to send the code."""

    labels: ClassVar = {"email": _("E-mail address")}


class ConfirmResetForm(Relabelled, allauth.ConfirmPasswordResetCodeForm):
    """The code that allows a new password."""

    labels: ClassVar = {"code": CODE}


class NewPasswordForm(Relabelled, allauth.ResetPasswordKeyForm):
    """The next password, twice."""

    labels: ClassVar = NEW
    helps: ClassVar = {"password1": _("At least 10 characters.")}


class ReauthenticateForm(Relabelled, allauth.ReauthenticateForm):
    """The password once more, before something that matters."""

    labels: ClassVar = {"password": _("Password")}


class UnlockForm(forms.Form):
    """The code that opens a lock: the mailed one, or one of the second factor."""

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        help_text=_("The code from the mail, or one from your authenticator app."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
    )
