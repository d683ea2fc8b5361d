"""Rounds as staff find them: by the code that players quote, or by id. In English, like all of the back office.

Everything is shown as it is stored and nothing is looked up in the rules, so that a round can be read whose rules the
program no longer knows or whose rows have been spoilt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django import forms
from django.db.models import Prefetch, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games.codes import read_code
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, TooFewCards, deal
from games.models import Incident, Participation, Round, VoidPart, Wager
from players.access import StaffRequest, staff_required

Args = ParamSpec("Args")
StaffView = Callable[Concatenate[StaffRequest, Args], HttpResponse]

# Whoever has one of these works with rounds or with those who play them; what else a role may read is behind the links.
READERS = (
    "games.operate_table",
    "games.view_incident",
    "wallet.view_ledger",
    "audit.view_event",
    "players.view_player",
)
UNKNOWN = "No finished round has this code or id. A round in progress stands on the page of tables."


class RoundForm(forms.Form):
    """Which round: a code or an id, as somebody typed it."""

    round = forms.CharField(required=False, label="Code or id of the round", max_length=100)


@dataclass(frozen=True)
class Hands:
    """The cards of both sides as stored, with their points."""

    player: str
    player_total: int
    banker: str
    banker_total: int


@staff_required(*READERS)
@require_safe
def staff_rounds(request: StaffRequest) -> HttpResponse:
    """Look a round up, and show everything that is kept of it."""
    form = RoundForm(request.GET)
    wanted = form.cleaned_data["round"] if form.is_valid() else ""
    round_id = find_round(wanted)
    played = _shown(round_id) if round_id else None
    if wanted and played is None:
        form.add_error("round", UNKNOWN)
    context = {
        "form": form,
        "round": played,
        "hands": _hands(played.cards) if played else None,
        "incidents": Incident.objects.filter(Q(round=round_id) | Q(live_round=round_id)).order_by("pk"),
    }
    return render(request, "staff/rounds.html", context)


def find_round(text: str) -> UUID | None:
    """Return the id of the finished round with this code, an id as it is, None where the text is neither."""
    code = read_code(text)
    if code:
        return Round.objects.filter(code=code).values_list("pk", flat=True).first()
    try:
        return UUID(text.strip())
    except ValueError:
        return None


def id_for_code(field: str, prefix: str = "") -> Callable[[StaffView[Args]], StaffView[Args]]:
    """Let the search *field* of a lower floor's page take the code of a round, though that floor knows only ids: lead
    to the same page with *prefix* and the id in the code's place.
    """

    def above(view: StaffView[Args]) -> StaffView[Args]:
        @wraps(view)
        def asked(request: StaffRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
            typed = request.GET.get(field, "")
            round_id = find_round(typed) if read_code(typed) else None
            if round_id is None:
                return view(request, *args, **kwargs)
            query = request.GET.copy()
            query[field] = f"{prefix}{round_id}"
            return redirect(f"{request.path}?{query.urlencode()}")

        return asked

    return above


def _shown(round_id: UUID) -> Round | None:
    """Return a round with all that the page shows of it, in a fixed number of queries."""
    wagers = Prefetch("wagers", Wager.objects.order_by("pk"))
    parts = Prefetch("participation_set", Participation.objects.order_by("player_id").prefetch_related(wagers))
    back = Prefetch("void__parts", VoidPart.objects.order_by("player_id"))
    found = Round.objects.select_related("table_version__table", "shoe", "void")
    return found.prefetch_related(parts, back).filter(pk=round_id).first()


def _hands(cards: str) -> Hands | None:
    """Tell the cards of the two sides apart; None where they are no coup."""
    try:
        coup: Coup = deal([Card.parse(code) for code in cards.split()])
    except (CardError, TooFewCards):
        return None
    player, banker = (" ".join(card.code for card in hand) for hand in (coup.player, coup.banker))
    return Hands(player, coup.player_total, banker, coup.banker_total)
