"""Forms and views of identity verification: by a register, or with documents.

Text is stored as written; files are stored after an inspection. Submitted documents are listed but
never served. Otherwise a person at an unattended session could copy a passport.
"""

import re
import unicodedata
from collections.abc import Callable
from secrets import token_urlsafe
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players.access import PlayerRequest, page_after, player_required
from players.identity import confirmation, normalise, verification
from players.identity.confirmation import NUMBERS, LeftToStaff, NotConfirmed, RegisterSilent, Stated
from players.identity.uploads import (
    LARGEST,
    MESSAGES,
    SHORTEST_EDGE,
    TOO_MUCH,
    Evidence,
    Fault,
    UnfitFile,
    check_upload,
)
from players.identity.verification import DOCUMENT_KINDS, PARTS, REASONS, Details, IdentityStatus
from players.models import DocumentKind, Part, Player, RefusalReason, Submission
from players.models.identity import LONGEST_NAME
from players.protection import eligibility
from players.rates import now_and_then

ACCEPTED = "image/jpeg,image/png,application/pdf,.jpg,.jpeg,.png,.pdf"
MISSING = {"required": gettext_lazy("This field is required.")}
NAME = re.compile(r"[^\W\d_]+\.?(?:[ '’ʼ‐-]{1,2}[^\W\d_]+\.?)*")
NUMBER = re.compile(r"[A-Za-z0-9](?:[ /.-]?[A-Za-z0-9]){3,29}")
POSTAL_CODE = re.compile(r"[A-Za-z0-9](?:[ -]?[A-Za-z0-9]){2,9}")


def _kinds() -> list[tuple[str, str]]:
    return [("", _("Choose")), *((kind.value, str(word)) for kind, word in DOCUMENT_KINDS.items())]


class WrittenField(forms.CharField):
    """A line of text, normalised (NFC, single spaces), that must match *pattern* as a whole."""

    def __init__(
        self, *, complaint: Any = "", pattern: re.Pattern[str] | None = None, hint: str, **kwargs: Any
    ) -> None:
        widget = forms.TextInput(attrs={"autocomplete": hint})
        super().__init__(widget=widget, error_messages=MISSING, **kwargs)
        if pattern:
            self.validators.append(RegexValidator(re.compile(rf"\A(?:{pattern.pattern})\Z"), complaint))

    def to_python(self, value: Any) -> str:
        """Normalise to NFC and collapse white space."""
        return " ".join(unicodedata.normalize("NFC", super().to_python(value) or "").split())


class EvidenceField(forms.FileField):
    """A picture or PDF, cleaned to `Evidence`. The file name is ignored."""

    widget = forms.FileInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(error_messages={"required": gettext_lazy("Choose a file.")}, **kwargs)
        self.widget.attrs["accept"] = ACCEPTED

    def to_python(self, data: UploadedFile | None) -> Evidence | None:  # type: ignore[override]
        """Inspect the file. Raises ValidationError."""
        if data is None:
            return None
        if (data.size or 0) > LARGEST:
            raise ValidationError(str(MESSAGES[Fault.LARGE]))
        try:
            return check_upload(data.read())
        except UnfitFile as unfit:
            raise ValidationError(str(unfit)) from unfit


class PersonForm(forms.Form):
    """Name and address."""

    given_names = WrittenField(
        label=gettext_lazy("First names"),
        hint="given-name",
        max_length=LONGEST_NAME,
        pattern=NAME,
        complaint=gettext_lazy("Enter your first names in letters, as shown on your document."),
    )
    family_name = WrittenField(
        label=gettext_lazy("Last name"),
        hint="family-name",
        max_length=LONGEST_NAME,
        pattern=NAME,
        complaint=gettext_lazy("Enter your last name in letters, as shown on your document."),
    )
    street = WrittenField(
        label=gettext_lazy("Street and house number"),
        hint="street-address",
        max_length=200,
        pattern=re.compile(r".*\w.*"),
        complaint=gettext_lazy("Enter the street and house number."),
    )
    postal_code = WrittenField(
        label=gettext_lazy("Postal code"),
        hint="postal-code",
        max_length=20,
        pattern=POSTAL_CODE,
        complaint=gettext_lazy("This is not a valid postal code."),
    )
    city = WrittenField(
        label=gettext_lazy("Town or city"),
        hint="address-level2",
        max_length=120,
        pattern=re.compile(r".*[^\W\d_].*"),
        complaint=gettext_lazy("Enter your town or city."),
    )


class ClaimForm(PersonForm):
    """Name, address and, in countries that have one, the national number: what a register confirms."""

    def __init__(self, *args: Any, player: Player, latest: Submission | None, **kwargs: Any) -> None:
        known = {name: getattr(latest, name) for name in self.base_fields} if latest else None
        kwargs["initial"], kwargs["auto_id"] = known, "claim_%s"  # the other form has the same fields
        super().__init__(*args, **kwargs)
        asked = NUMBERS.get(player.jurisdiction_id)
        if asked and player.jurisdiction.identity_before_play:
            self.fields["number"] = WrittenField(
                label=asked.label,
                hint="off",
                max_length=20,
                pattern=asked.pattern,
                complaint=_("Enter the number with all its digits."),
            )

    @property
    def stated(self) -> Stated:
        """Return name and address, from a valid form."""
        return Stated(**{name: self.cleaned_data[name] for name in Stated.__dataclass_fields__})


class IdentityForm(PersonForm):
    """Name, address, document and pictures."""

    phone = WrittenField(label=gettext_lazy("Telephone number (optional)"), hint="tel", max_length=40, required=False)
    document_kind = forms.ChoiceField(label=gettext_lazy("Identity document"), choices=_kinds, error_messages=MISSING)
    document_number = WrittenField(
        label=pgettext_lazy("of an identity document", "Number"),
        hint="off",
        max_length=40,
        pattern=NUMBER,
        complaint=gettext_lazy("Enter the number as shown on your document: letters and digits."),
    )
    front = EvidenceField(
        label=gettext_lazy("Picture of the identity document"),
        help_text=gettext_lazy("The whole page with your photo, sharp and without glare."),
    )
    back = EvidenceField(
        label=gettext_lazy("Picture of the back"),
        required=False,
        help_text=gettext_lazy("For an identity card or a driving licence."),
    )
    address = EvidenceField(
        label=PARTS[Part.ADDRESS],
        help_text=gettext_lazy(
            "A bill, bank statement or official letter with your name and address, no more than three months old."
        ),
    )

    def __init__(self, *args: Any, player: Player, latest: Submission | None, **kwargs: Any) -> None:
        known = {name: getattr(latest, name) for name in Details.__dataclass_fields__} if latest else None
        kwargs["initial"] = known
        super().__init__(*args, **kwargs)
        self._player = player

    def clean_document_kind(self) -> DocumentKind:
        """Return the `DocumentKind`."""
        return DocumentKind(self.cleaned_data["document_kind"])

    def clean_phone(self) -> str:
        """Return the number in international format (E.164)."""
        typed: str = self.cleaned_data["phone"]
        if not typed:
            return ""
        number = normalise.phone(typed, self._player.jurisdiction.code)
        if number is None:
            raise ValidationError(
                _("This is not a valid telephone number. Enter it with the country code, such as +46 70 123 45 67.")
            )
        return number

    def clean(self) -> dict[str, Any]:
        """Require a picture of the back, except for a passport."""
        cleaned: dict[str, Any] = super().clean() or {}
        kind = cleaned.get("document_kind")
        if kind and kind != DocumentKind.PASSPORT and not cleaned.get("back") and "back" not in self.errors:
            self.add_error("back", _("Upload the back as well. Only a passport does not need it."))
        return cleaned

    @property
    def details(self) -> Details:
        """Return the player's details, from a valid form."""
        return Details(**{name: self.cleaned_data[name] for name in Details.__dataclass_fields__})

    @property
    def evidence(self) -> dict[Part, Evidence]:
        """Return the uploaded files by part, from a valid form. A passport has no back."""
        parts = {part: self.cleaned_data.get(part.value) for part in Part}
        return {part: file for part, file in parts.items() if file}


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def identity(request: PlayerRequest) -> HttpResponseBase:
    """Show the verification state and the form; on POST, submit it."""
    return _take_in(request) if request.method == "POST" else _render(request)


@now_and_then
def _take_in(request: PlayerRequest) -> HttpResponse:
    """Submit the form, or show its errors."""
    latest = verification.latest(request.player)
    form = IdentityForm(request.POST, request.FILES, player=request.player, latest=latest)
    if not form.is_valid():
        return _render(request, form)
    try:
        verification.submit(player=request.player, details=form.details, evidence=form.evidence)
    except verification.AlreadySubmitted:
        messages.error(request, _("We are still reviewing your earlier documents. Nothing was sent again."))
    else:
        messages.success(request, _("We have received everything. We will e-mail you as soon as we have reviewed it."))
    return redirect("identity")


@player_required
@require_POST
@now_and_then
def identity_confirm(request: PlayerRequest) -> HttpResponse:
    """Have the register confirm the player, or store the statement where that is enough, and go on to the page before.

    A player who is excluded under another account sees that instead.
    """
    player = request.player
    form = ClaimForm(request.POST, player=player, latest=None)
    if not form.is_valid():
        return _render(request, claim=form)
    if player.jurisdiction.identity_before_play:
        number = form.cleaned_data.get("number", "")
        refusal = _refusal_of(lambda: confirmation.confirm(player=player, stated=form.stated, number=number))
    else:
        refusal = _refusal_of(lambda: confirmation.state(player=player, stated=form.stated))
    if refusal:
        form.add_error(None, refusal)
        return _render(request, claim=form)
    return _lead_on(request, page_after(request))


EID: Final = "eid"  # in the session: state and next page of a visit to an eID


@player_required
@require_safe
def identity_eid(request: PlayerRequest) -> HttpResponse:
    """Lead to the page of the country's eID."""
    country = request.player.jurisdiction_id
    eid = confirmation.eid_of(country)
    if eid is None:
        return redirect("identity")
    state = token_urlsafe(16)
    request.session[EID] = [state, page_after(request)]
    return redirect(eid.page(state=state, country=country))


@player_required
@require_safe
@now_and_then
def identity_eid_back(request: PlayerRequest) -> HttpResponse:
    """Take the answer of the eID to the visit that this session began last, and go on to the page before.

    An answer counts once. Anybody could have another person's browser open this address, so an
    answer without the state of the session is ignored.
    """
    state, after = request.session.pop(EID, ["", ""])
    if not state or request.GET.get("state") != state:
        return redirect("identity")
    if "answer" not in request.GET:
        messages.info(request, _("You have not confirmed who you are. You can try again, or use another way."))
        return redirect("identity")
    query = {name: str(value) for name, value in request.GET.items()}
    refusal = _refusal_of(lambda: confirmation.confirm_by_eid(player=request.player, query=query, state=state))
    if refusal:
        messages.error(request, refusal)
        return redirect("identity")
    return _lead_on(request, after)


def _refusal_of(confirm: Callable[[], object]) -> str:
    """Return why a player is not confirmed; empty if they are."""
    try:
        confirm()
    except NotConfirmed:
        return _("These details could not be confirmed. Check them, or send us documents instead.")
    except RegisterSilent:
        return _("We cannot confirm identities at the moment. Try again later, or send us documents instead.")
    except LeftToStaff:
        return _("Your identity cannot be confirmed in this way. Send us documents instead.")
    return ""


def _lead_on(request: PlayerRequest, after: str) -> HttpResponse:
    """Lead a player who is confirmed to the page before, or to the page that says that they are excluded."""
    messages.success(request, _("Thank you. We now know who you are."))
    found = eligibility.check_deposit(request.player)
    is_elsewhere = found is not None and found.code is eligibility.Code.OTHER_ACCOUNT
    return redirect("protection" if is_elsewhere else after or "identity")


def _render(
    request: PlayerRequest, form: IdentityForm | None = None, *, claim: ClaimForm | None = None
) -> HttpResponse:
    latest = verification.latest(request.player)
    status = verification.identity_status(latest)
    law = request.player.jurisdiction
    if form is None and status is not IdentityStatus.SUBMITTED:
        form = IdentityForm(player=request.player, latest=latest)
    can_claim = confirmation.register_of(law.code) if law.identity_before_play else status is not IdentityStatus.STATED
    if claim is None and can_claim and status is not IdentityStatus.VERIFIED:
        claim = ClaimForm(player=request.player, latest=latest)
    eid = None if status is IdentityStatus.VERIFIED else confirmation.eid_of(law.code)
    context = {
        "claim": claim,
        "eid": eid.title(law.code) if eid else "",
        "before_play": law.identity_before_play,
        "birth_date": request.player.birth_date,
        "next": page_after(request),
        "latest": latest,
        "status": status.name.lower(),
        "form": form,
        "sent": _sent(latest) if latest else None,
        "too_much": TOO_MUCH in request.GET,
        "shortest_edge": SHORTEST_EDGE,
    }
    return render(request, "players/identity.html", context)


def _sent(submission: Submission) -> dict[str, object]:
    """Return a summary of a submission, in the reader's language."""
    parts = submission.document_set.values_list("part", flat=True)
    return {
        "kind": DOCUMENT_KINDS[DocumentKind(submission.document_kind)] if submission.document_kind else "",
        "parts": [PARTS[part] for part in Part if part in parts],
        "reason": REASONS[RefusalReason(submission.reason)] if submission.reason else "",
    }
