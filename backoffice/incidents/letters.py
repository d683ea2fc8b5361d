"""Letters to the players of an incident's round: choose, preview as the players will read it, send once."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.incidents.views import READ, case_or_404
from games.incidents import Case
from games.incidents.letters import delivery
from games.incidents.letters.delivery import LetterError, Offer
from games.incidents.letters.messages import LONGEST_SENTENCE, Written
from games.models import LetterKind
from games.shared.malfunction import PERMISSION
from players.access import StaffRequest, made_by_the_page, staff_required
from players.staff import access_log

SEND: Final = "send"


class LetterForm(forms.Form):
    """Choice of a letter, sentences to add in each language, and the player whose letter is previewed."""

    kind = forms.ChoiceField(label="Letter")
    player = forms.IntegerField(
        label="Show it as this player gets it (number)", required=False, min_value=1, max_value=2**63 - 1
    )

    def __init__(self, *args: Any, offers: Mapping[LetterKind, Offer], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = [  # type: ignore[attr-defined]  # django-stubs know no choices of a plain field
            (kind.value, f"{kind.label}{' (sent)' if offer.sent else ''}") for kind, offer in offers.items()
        ]
        read = {language for offer in offers.values() for language in offer.languages}
        self.added = [language for language, _name in settings.LANGUAGES if language in read]
        for language in self.added:
            self.fields[f"added_{language}"] = forms.CharField(
                label=f"A sentence of your own, {dict(settings.LANGUAGES)[language]}",
                required=False,
                max_length=LONGEST_SENTENCE,
                widget=forms.Textarea({"rows": 2, "lang": language}),
            )

    @property
    def sentences(self) -> dict[str, str]:
        """Sentences that staff add, by language."""
        return {language: self.cleaned_data.get(f"added_{language}", "") for language in self.added}


@staff_required(PERMISSION)
@staff_required(READ)
@access_log.listed("a letter to the players of a round")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_incident_letter(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Choose, preview and send a letter."""
    case = case_or_404(incident_id)
    offers = delivery.offers(case)
    if request.method != "POST":
        return _page(request, case, offers, LetterForm(offers=offers))
    form = LetterForm(request.POST, offers=offers)
    if not form.is_valid():
        return _page(request, case, offers, form)
    kind = LetterKind(form.cleaned_data["kind"])
    try:
        if request.POST.get("action") != SEND:
            shown = delivery.preview(case, offers[kind], form.sentences, form.cleaned_data["player"])
            return _page(request, case, offers, form, offers[kind], shown)
        if "sure" not in request.POST:
            raise LetterError("Confirm that it is to be sent: it cannot be taken back.")
        delivery.send(case=case, kind=kind, sentences=form.sentences, staff=request.staff)
    except LetterError as error:
        messages.error(request, str(error))
        return _page(request, case, offers, form)
    count = len(offers[kind].people)
    messages.success(request, f"It goes to {count} player{'' if count == 1 else 's'}. This page shows how far it is.")
    return redirect("staff_incident", incident_id)


@made_by_the_page
@staff_required(READ)
@require_safe
def staff_incident_letters(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Show the delivery of an incident's letters.

    The page refreshes this part while letters go out.
    """
    case = case_or_404(incident_id)
    return render(request, "staff/_incident_letters.html", {"case": case, **delivery.on_page(case)})


def _page(
    request: StaffRequest,
    case: Case,
    offers: Mapping[LetterKind, Offer],
    form: LetterForm,
    offer: Offer | None = None,
    shown: list[Written] | None = None,
) -> HttpResponse:
    names = dict(settings.LANGUAGES)
    access_log.shown(request, shown)
    context = {
        "case": case,
        "form": form,
        "offers": [
            (each, [(names[language], count) for language, count in each.languages.items()]) for each in offers.values()
        ],
        "offer": offer,
        "shown": [(names[each.language], each) for each in shown or ()],
    }
    return render(request, "staff/incident_letter.html", context)
