"""The sandbox identity register and the sandbox eID: they confirm everybody at once, for demos and tests.

As at other sandboxes, the data decide the answer of the register: the postal code `UNKNOWN` belongs
to nobody, and `SILENT` gets no answer. A national number has to contain the player's date of birth.
The eID's page shows a made-up person, who can be changed.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.core import signing
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods

from players.access import PlayerRequest, player_required
from players.identity.confirmation import Claim, Identified, RegisterSilent, Stated
from players.identity.views import PersonForm
from players.models import Player
from players.rates import at_a_human_pace

UNKNOWN: Final = "00000"
SILENT: Final = "99999"
SEALED: Final = "players.sandbox_eid"  # salt of the eID's answers
LASTS: Final = 300  # seconds for which an answer counts

FIRST_NAMES: Final = ("Alex", "Kim", "Robin", "Mika", "Noa", "Sasha", "Toni", "Eden", "Luca", "Jamie", "Elia", "Sam")
LAST_NAMES: Final = ("Lind", "Berg", "Dahl", "Holm", "Ionescu", "Popa", "Weber", "Vogel", "Moore", "Hill", "Reed")
ADDRESSES: Final[Mapping[str, tuple[str, str, str]]] = {
    "SE": ("Demogatan", "111 22", "Stockholm"),
    "DK": ("Demovej", "1050", "København"),
    "RO": ("Strada Demo", "010011", "București"),
    "DE": ("Demoweg", "10115", "Berlin"),
    "GB": ("Demo Street", "EC1A 1BB", "London"),
}
TITLES: Final[Mapping[str, str]] = {"SE": "BankID", "DK": "MitID", "RO": "ROeID", "DE": "Online-Ausweis"}


class SandboxRegister:
    """Knows every person whose data are consistent."""

    name = "sandbox"

    def confirm(self, claim: Claim) -> bool:
        """Confirm at once. Raises RegisterSilent for the postal code `SILENT`."""
        postal_code = re.sub(r"\W", "", claim.stated.postal_code)
        if postal_code == SILENT:
            raise RegisterSilent
        return postal_code != UNKNOWN and _is_of_birth(claim.number, claim.birth_date, claim.country)


def number_of(country: str, born: date, serial: int = 1234) -> str:
    """Return a national number of somebody born on that day, for demo players and tests; "" if the country has none."""
    return {
        "SE": f"{born:%y%m%d}-{serial:04}",
        "DK": f"{born:%d%m%y}-{serial:04}",
        "RO": f"{1 if born.year < 2000 else 5}{born:%y%m%d}{serial:06}",
    }.get(country, "")


def _is_of_birth(number: str, born: date, country: str) -> bool:
    """Return whether a national number has the date of birth in it, as it does in every country that has one here."""
    digits = re.sub(r"\D", "", number)
    found = {"SE": digits[-10:-4], "DK": digits[:6], "RO": digits[1:7]}.get(country)
    return found is None or found == (f"{born:%d%m%y}" if country == "DK" else f"{born:%y%m%d}")


class SandboxEid:
    """Confirms the identity that is typed on its own page."""

    name = "sandbox"

    def title(self, country: str) -> str:
        """Return the name of a country's eID, or the general word."""
        return TITLES.get(country) or _("digital identity")

    def page(self, *, state: str, country: str) -> str:
        """Return the address of `sandbox_eid`."""
        return f"{reverse('sandbox_eid')}?{urlencode({'state': state})}"

    def read_answer(self, query: Mapping[str, str], *, state: str) -> Identified:
        """Unseal the answer. Raises RegisterSilent if it is altered, old or of another state."""
        try:
            said = signing.loads(query.get("answer", ""), salt=SEALED, max_age=LASTS)
        except signing.BadSignature as error:
            raise RegisterSilent from error
        if said["state"] != state:
            raise RegisterSilent
        return Identified(date.fromisoformat(said["birth_date"]), Stated(**said["stated"]), said["number"])


class SandboxPersonForm(PersonForm):
    """The person that the sandbox eID confirms."""

    birth_date = forms.DateField(
        label=gettext_lazy("Date of birth"),
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    number = forms.CharField(label=pgettext_lazy("of a person", "National number"), max_length=20, required=False)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def sandbox_eid(request: PlayerRequest) -> HttpResponse:
    """Show the person that the sandbox eID confirms, or lead back with the answer. Raises Http404 outside demos."""
    if not settings.DEMO:
        raise Http404
    state, back = request.GET.get("state", ""), reverse("identity_eid_back")
    form = SandboxPersonForm(request.POST or None, initial=_a_person(request.player))
    if request.method == "POST" and request.POST.get("say") != "approve":
        return redirect(f"{back}?{urlencode({'state': state, 'error': 'cancelled'})}")
    if form.is_valid():
        stated = {name: form.cleaned_data[name] for name in Stated.__dataclass_fields__}
        said = {"state": state, "stated": stated, "number": form.cleaned_data["number"]}
        answer = signing.dumps(said | {"birth_date": form.cleaned_data["birth_date"].isoformat()}, salt=SEALED)
        return redirect(f"{back}?{urlencode({'state': state, 'answer': answer})}")
    title = SandboxEid().title(request.player.jurisdiction_id)
    return render(request, "players/sandbox_eid.html", {"form": form, "title": title})


def _a_person(player: Player) -> dict[str, Any]:
    """Return a made-up person with the player's date of birth: the same one each time, and one for each player."""
    country = player.jurisdiction_id
    rest, first = divmod(player.pk, len(FIRST_NAMES))
    rest, second = divmod(rest, len(FIRST_NAMES) - 1)
    house_number, last = divmod(rest, len(LAST_NAMES))
    street, postal_code, city = ADDRESSES.get(country, ADDRESSES["GB"])
    return {
        "given_names": f"{FIRST_NAMES[first]} {FIRST_NAMES[first - 1 - second]}",
        "family_name": LAST_NAMES[last],
        "street": f"{street} {1 + house_number % 199}",
        "postal_code": postal_code,
        "city": city,
        "birth_date": player.birth_date,
        "number": number_of(country, player.birth_date, 1000 + player.pk % 9000),
    }
