"""Forms of log-in: registration, addresses, passwords."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from allauth.account import forms as allauth
from allauth.account.adapter import get_adapter
from babel import Locale
from django import forms
from django.contrib.auth.hashers import make_password
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from players.account import registration
from players.models import Jurisdiction, User

OLDEST = 125  # years; an older age is a typing error
LONGEST_EMAIL = User._meta.get_field("email").max_length  # characters; allauth's form would accept more
INTERNATIONAL = "GB"  # the profile that also serves countries without a profile of their own


@dataclass(frozen=True)
class Residence:
    """A supported country with one of its currencies."""

    jurisdiction: Jurisdiction
    currency: str
    country: str  # name in the reader's language

    @property
    def label(self) -> str:
        """Return the label of the choice: "Rumänien, EUR"."""
        return f"{self.country}, {self.currency}"


class LoginForm(allauth.LoginForm):
    """E-mail address and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        relabel(self.fields, {"login": _("E-mail address"), "password": _("Password")})


class RegistrationForm(allauth.SignupForm):
    """E-mail address, password, residence, date of birth, and the terms.

    Country and currency are one choice, so that only supported pairs can be chosen.
    """

    residence = forms.ChoiceField(
        label=gettext_lazy("Country and currency"),
        error_messages={"required": gettext_lazy("Choose the country where you live.")},
    )
    birth_date = forms.DateField(
        label=gettext_lazy("Date of birth"),
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date", "autocomplete": "bday"}),
    )
    agrees = forms.BooleanField(
        label=gettext_lazy("I have read and agree to the terms."),
        error_messages={"required": gettext_lazy("You must agree to the terms to play.")},
    )
    field_order = ("email", "password1", "residence", "birth_date", "agrees")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        relabel(self.fields, {"email": _("E-mail address"), "password1": _("Password")})
        self.fields["password1"].help_text = _("At least 10 characters.")
        self.fields["email"].validators.append(MaxLengthValidator(LONGEST_EMAIL))
        self.residences = _residences()
        offered = [(key, residence.label) for key, residence in self.residences.items()]
        self.fields["residence"].choices = [("", _("Choose")), *offered]

    def clean_residence(self) -> Residence:
        """Return the `Residence` of the choice."""
        return self.residences[self.cleaned_data["residence"]]

    def clean_birth_date(self) -> date:
        """Refuse an impossible date of birth."""
        born: date = self.cleaned_data["birth_date"]
        if not 0 <= registration.age(born, registration.today()) <= OLDEST:
            raise forms.ValidationError(_("Enter your date of birth."))
        return born

    def clean(self) -> dict[str, Any]:
        """Refuse a player below the minimum age of the jurisdiction."""
        cleaned: dict[str, Any] = super().clean()
        born, residence = cleaned.get("birth_date"), cleaned.get("residence")
        if born and residence and not registration.old_enough(born, residence.jurisdiction):
            years = residence.jurisdiction.minimum_age
            message = ngettext("You must be at least %d year old.", "You must be at least %d years old.", years)
            self.add_error("birth_date", message % years)
        return cleaned

    def save(self, request: HttpRequest) -> User:
        """Register the player. Raises EmailTaken if another request registered the address first."""
        residence: Residence = self.cleaned_data["residence"]
        player = registration.register(
            email=self.cleaned_data["email"],
            password=self.cleaned_data["password1"],
            jurisdiction=residence.jurisdiction,
            currency=residence.currency,
            birth_date=self.cleaned_data["birth_date"],
            language=get_language() or "en",
            ip=get_adapter().get_client_ip(request),
        )
        return player.user

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Register the player, or pretend to if the address has an account already.

        The password is hashed in both cases, so that the time of the answer reveals nothing.
        """
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        saved: tuple[User | None, HttpResponse | None] = super().try_save(request)
        return saved


def _residences() -> dict[str, Residence]:
    """Return every country and currency on offer, by option value.

    Countries of the reader's language come first, then the others, both in alphabetical order. The
    default currency of each country comes first.
    """
    language = get_language() or "en"
    territories = Locale.parse(language).territories
    offered = {}
    for jurisdiction in Jurisdiction.objects.all():
        country = (
            _("United Kingdom and other countries")
            if jurisdiction.code == INTERNATIONAL
            else territories[jurisdiction.code]
        )
        for currency in jurisdiction.currencies:
            offered[f"{jurisdiction.code}:{currency}"] = Residence(jurisdiction, currency, country)
    return dict(sorted(offered.items(), key=lambda item: (item[1].jurisdiction.language != language, item[1].country)))


def relabel(fields: Mapping[str, forms.Field], labels: Mapping[str, str | Promise]) -> None:
    """Set our labels on allauth's fields and remove placeholders and help texts that repeat them."""
    for name, label in labels.items():
        fields[name].label = str(label)
        fields[name].widget.attrs.pop("placeholder", None)
        fields[name].help_text = ""


CODE = gettext_lazy("Code from the e-mail")
CODE_LENGTH = 8  # letters and digits, without the dash: allauth's USER_CODE_FORMAT
NEW = {"password1": gettext_lazy("New password"), "password2": gettext_lazy("Repeat new password")}


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
    helps: ClassVar = {"code": gettext_lazy("The page continues by itself when the code is complete.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs["data-complete"] = CODE_LENGTH


class NewAddressForm(Relabelled, allauth.AddEmailForm):
    """New e-mail address, which replaces the present one."""

    labels: ClassVar = {"email": gettext_lazy("New e-mail address")}


class ChangePasswordForm(Relabelled, allauth.ChangePasswordForm):
    """Current password, and the new one twice."""

    labels: ClassVar = {"oldpassword": gettext_lazy("Current password"), **NEW}
    helps: ClassVar = {"password1": gettext_lazy("At least 10 characters.")}

    def clean_oldpassword(self) -> str:
        """Check the current password; a wrong one counts like a failed log-in. allauth's own check is not counted."""
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ForgottenPasswordForm(Relabelled, allauth.ResetPasswordForm):
    """E-mail address to which the reset code is sent."""

    labels: ClassVar = {"email": gettext_lazy("E-mail address")}


class ConfirmResetForm(Relabelled, allauth.ConfirmPasswordResetCodeForm):
    """Code that permits a new password."""

    labels: ClassVar = {"code": CODE}


class NewPasswordForm(Relabelled, allauth.ResetPasswordKeyForm):
    """New password, twice."""

    labels: ClassVar = NEW
    helps: ClassVar = {"password1": gettext_lazy("At least 10 characters.")}


class ReauthenticateForm(Relabelled, allauth.ReauthenticateForm):
    """Password again, before a sensitive action."""

    labels: ClassVar = {"password": gettext_lazy("Password")}


class UnlockForm(forms.Form):
    """Code that opens a lock: the mailed code, or one of the second factor."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=20,
        help_text=gettext_lazy("The code from the e-mail, or a code from your authenticator app."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
    )
