"""Rounds as staff find them: by the code that players quote, or by id. In English, like all of the back office.

Everything is shown as it is stored and nothing is looked up in the rules, so that a round can be read whose rules the
program no longer knows or whose rows have been spoilt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django import forms
from django.db.models import Prefetch, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games.chemin.floor import Sitting
from games.chemin.history import Kept, kept
from games.chemin.rules import GuestRules
from games.codes import read_code
from games.engine.cards import Card, CardError
from games.engine.chemin.record import RecordError, deal_again
from games.engine.coup import TooFewCards, deal
from games.live.shoes import written
from games.models import CheminMove, CheminStake, Incident, Participation, Round, VoidPart, Wager
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
class Hand:
    """The cards of a side as stored, with their points."""

    whose: str
    cards: str
    total: int


@dataclass(frozen=True)
class Deed:
    """What somebody decided in a coup between guests. Minor units."""

    move: CheminMove
    who: str
    what: str
    waited: float | None  # seconds from the question to the answer


@dataclass(frozen=True)
class Between:
    """A coup as it was between guests. Amounts in minor units of *currency*."""

    kept: Kept
    currency: str
    banker: Sitting
    punter: Sitting | None
    stakes: Sequence[tuple[Sitting, CheminStake]]
    deeds: Sequence[Deed]


@staff_required(*READERS)
@require_safe
def staff_rounds(request: StaffRequest) -> HttpResponse:
    """Look a round up, and show everything that is kept of it."""
    form = RoundForm(request.GET)
    wanted = form.cleaned_data["round"] if form.is_valid() else ""
    round_id = find_round(wanted)
    played = _shown(round_id) if round_id else None
    coup = kept([played.pk]).get(played.pk) if played else None
    if wanted and played is None:
        form.add_error("round", UNKNOWN)
    context = {
        "form": form,
        "round": played,
        "hands": _hands(played, coup) if played else (),
        "coup": _between(coup, played) if played and coup else None,
        "incidents": Incident.objects.filter(Q(round=round_id) | Q(live_round=round_id)).order_by("pk"),
    }
    return render(request, "staff/rounds.html", context)


def _between(coup: Kept, played: Round) -> Between:
    row = coup.coup
    return Between(
        kept=coup,
        currency=GuestRules.of(played.table_version.limits).currency,
        banker=Sitting(row.banker.number, row.banker_player_id),
        punter=Sitting(row.punter.number, row.punter.player_id) if row.punter else None,
        stakes=[(Sitting(stake.seat.number, stake.player_id), stake) for stake in coup.stakes],
        deeds=[_deed(move) for move in coup.moves],
    )


def _deed(move: CheminMove) -> Deed:
    who = str(Sitting(move.seat.number, move.seat.player_id)) if move.seat else "the house"
    waited = (move.at - move.asked_at).total_seconds() if move.asked_at else None
    return Deed(move, who, " ".join([move.kind.replace("_", " "), move.call.replace("_", " ")]).strip(), waited)


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


def _hands(played: Round, coup: Kept | None) -> tuple[Hand, ...]:
    """Tell the cards of the two sides apart; nothing where they are no coup."""
    try:
        cards = [Card.parse(code) for code in played.cards.split()]
        if coup is not None:
            return _hands_of_guests(cards, coup)
        dealt = deal(cards)
    except (CardError, TooFewCards, RecordError):
        return ()
    return (
        Hand("Player’s", written(dealt.player), dealt.player_total),
        Hand("Banker’s", written(dealt.banker), dealt.banker_total),
    )


def _hands_of_guests(cards: Sequence[Card], coup: Kept) -> tuple[Hand, ...]:
    """Who got the third card follows from what was declared. Raises RecordError."""
    dealt = deal_again(cards, punter_draws=coup.coup.punter_draws, banker_draws=coup.coup.banker_draws)
    sides = (("Punters’", dealt.punter), ("Banker’s", dealt.banker))
    return tuple(Hand(whose, written(filter(None, (*hand.pair, hand.third))), hand.total) for whose, hand in sides)
