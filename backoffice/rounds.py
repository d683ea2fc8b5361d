"""Pages of rounds: search rounds, and verify one round."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games.incidents import Line, lines
from games.lobby.selectors import find_round, read_id
from games.models import OPEN_PHASES, LiveRound, Participation, Table
from games.models.rounds import read_code
from games.variants import GAMES
from games.verification.search import END, OVER, PAGE, Status, Wanted, find, in_progress, players_called
from games.verification.service import going, verify_round
from players.access import StaffRequest, staff_required
from players.models import Conversation
from players.staff import access_log
from wallet.models import Currency, Mode

MINOR: Final = 100
OUTCOMES: Final = {"player": ("player", "punter"), "banker": ("banker",), "tie": ("tie", "draw")}
"""Outcome in the form -> stored outcomes. Chemin de Fer tables store their own values."""
AMOUNTS: Final = ("staked_least", "staked_most", "paid_least", "paid_most")


class When(forms.DateTimeField):
    """Moment to the second, in UTC."""

    def __init__(self, label: str) -> None:
        super().__init__(
            label=label, required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})
        )

    def clean(self, value: Any) -> datetime | None:
        """Read a moment.

        Raises ValidationError for a moment outside the range of dates in UTC, as in the year 1.
        """
        try:
            return super().clean(value)
        except OverflowError as error:
            raise forms.ValidationError("Invalid date and time.") from error


class Amount(forms.DecimalField):
    """Amount of money in whole units with two decimals."""

    def __init__(self, label: str) -> None:
        super().__init__(label=label, required=False, min_value=0, max_digits=15, decimal_places=2)


class RoundsForm(forms.Form):
    """Search for rounds. A code or an id finds one round; the other fields narrow the list."""

    round = forms.CharField(required=False, label="Code or id of the round", max_length=100)
    player = forms.CharField(required=False, label="Player", max_length=254)
    since = When("From (UTC)")
    until = When("Before (UTC)")
    table = forms.ModelChoiceField(Table.objects.order_by("name", "pk"), required=False, empty_label="All")
    game = forms.ChoiceField(
        required=False, choices=lambda: [("", "All"), *((slug, GAMES[slug].label("en", "name")) for slug in GAMES)]
    )
    mode = forms.ChoiceField(required=False, label="Money", choices=[("", "All"), ("R", "Real"), ("F", "Free")])
    status = forms.ChoiceField(
        required=False,
        choices=[("", "All finished"), *((each.value, each.value.capitalize()) for each in Status)],
    )
    ending = forms.ChoiceField(
        label="Won by",
        required=False,
        choices=[("", "All"), ("player", "Player, punters"), ("banker", "Banker, bank"), ("tie", "Tie, draw")],
    )
    currency = forms.ChoiceField(required=False, choices=[("", "All"), *((code, code) for code in Currency.values)])
    staked_least = Amount("Staked, minimum")
    staked_most = Amount("Staked, maximum")
    paid_least = Amount("Paid back, minimum")
    paid_most = Amount("Paid back, maximum")
    before = forms.IntegerField(required=False, min_value=1, max_value=END, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Require a currency for amounts, and ranges that begin before they end."""
        asked = super().clean() or {}
        if not asked.get("currency") and any(asked.get(name) is not None for name in AMOUNTS):
            self.add_error("currency", "Choose a currency.")
        for first, last in (("since", "until"), ("staked_least", "staked_most"), ("paid_least", "paid_most")):
            least, most = asked.get(first), asked.get(last)
            if least is not None and most is not None and least > most:
                self.add_error(last, "The end is before the start.")
        return asked

    def wanted(self, players: Iterable[int] | None) -> Wanted:
        """Return the search of a valid form.

        *players* are those that the player field matched, None if it is empty.
        """
        asked = self.cleaned_data
        return Wanted(
            players=None if players is None else tuple(players),
            since=asked["since"],
            before=asked["until"],
            tables=_tables(asked["table"], asked["game"]),
            modes=(Mode(asked["mode"]),) if asked["mode"] else tuple(Mode),
            currency=asked["currency"],
            staked=(_minor(asked["staked_least"]), _minor(asked["staked_most"])),
            paid=(_minor(asked["paid_least"]), _minor(asked["paid_most"])),
            outcome=OUTCOMES.get(asked["ending"], ()),
            status=Status(asked["status"]) if asked["status"] else None,
        )


def _tables(table: Table | None, game: str) -> tuple[int, ...] | None:
    if table is None and not game:
        return None
    found = Table.objects.filter(variant=game) if game else Table.objects.all()
    return tuple((found.filter(pk=table.pk) if table else found).values_list("pk", flat=True))


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount * MINOR)


Args = ParamSpec("Args")
StaffView = Callable[Concatenate[StaffRequest, Args], HttpResponse]

# Each of these roles works with rounds or with players. Pages that a round links to check their own
# permissions.
READERS = (
    "games.operate_table",
    "games.view_incident",
    "wallet.view_ledger",
    "audit.view_event",
    "players.view_player",
)
CHAT = ("games.moderate_chat", "games.read_chat")  # roles that know players by their chat names
UNKNOWN = "Round not found. Rounds without bets can only be found by id."
NOBODY = "Player not found."


@dataclass(frozen=True)
class Sum:
    """Total of the parts in rounds on a page, in one currency and mode. Amounts are minor units."""

    currency: str
    mode: str
    count: int = 0
    staked: int = 0
    paid: int = 0
    refunded: int = 0  # by voiding: stakes returned less payouts taken back


@staff_required(*READERS)
@access_log.listed("rounds")
@require_safe
def staff_rounds(request: StaffRequest) -> HttpResponse:
    """Search rounds. A code or an id redirects to its round."""
    form = RoundsForm(request.GET)
    is_valid = form.is_valid()
    if typed := form.cleaned_data.get("round", ""):
        if (round_id := find_round(typed) or _find_live(typed)) is not None:
            return redirect("staff_round", round_id=round_id)
        form.add_error("round", UNKNOWN)
        is_valid = False
    called = form.cleaned_data.get("player", "")
    players = _players(request, called) if called else None
    if called and not players:
        form.add_error("player", NOBODY)
    wanted = form.wanted(players) if is_valid and players != [] else None
    parts: list[Participation] = []
    live: Iterable[LiveRound] = ()
    if wanted is not None and wanted.status in OVER:
        parts = find(wanted, before=form.cleaned_data["before"])
    elif wanted is not None:
        live = in_progress(wanted)
    shown = lines(parts[:PAGE])
    access_log.shown(request, *(part.player_id for part in parts[:PAGE]))
    context = {
        "form": form,
        "lines": shown,
        "sums": _sums(shown),
        "older": parts[PAGE - 1].pk if len(parts) > PAGE else None,
        "live": live,
        "filtered": bool(request.GET),
    }
    return render(request, "staff/rounds.html", context)


@staff_required(*READERS)
@access_log.listed("verification of a round")
@require_safe
def staff_round(request: StaffRequest, round_id: UUID) -> HttpResponse:
    """Verify one round: deal it again from its seed and compare the result with what is stored."""
    found = verify_round(round_id)
    if found is None:
        playing = going(round_id)
        if playing is None:
            raise Http404
        access_log.shown(request, playing.laid)
        return render(request, "staff/round_going.html", {"going": playing, "round": playing.round})
    access_log.shown(request, *found.players, found.deal, found.events, found.journals)
    said = Conversation.objects.filter(player__in=found.players, round_id=round_id).order_by("pk")
    context = {
        "verification": found,
        "round": found.round,
        "said": said,
        "bet_heads": ("Stake", "Paid back", "Commission", "Result"),
        "stake_heads": ("Stake", "Returned", "Taken by the ledger", "Paid by the ledger"),
    }
    return render(request, "staff/round.html", context)


def _players(request: StaffRequest, called: str) -> Sequence[int]:
    may_see = request.user.has_perm("players.view_player")
    by_name = may_see or any(map(request.user.has_perm, CHAT))
    return players_called(called, by_address=may_see, by_name=by_name)


def _sums(shown: Sequence[Line]) -> Sequence[Sum]:
    sums: dict[tuple[str, str], Sum] = {}
    for line in shown:
        part, back = line.part, line.back
        key = part.currency, part.get_mode_display().lower()
        so_far = sums.get(key, Sum(*key))
        sums[key] = replace(
            so_far,
            count=so_far.count + 1,
            staked=so_far.staked + part.staked,
            paid=so_far.paid + part.paid,
            refunded=so_far.refunded + (back.returned if back else 0),
        )
    return [sums[key] for key in sorted(sums)]


def _find_live(text: str) -> UUID | None:
    """Return the id of a round at a live table, by id, or by code for a round in progress.

    Codes of these rounds have no index, but there is only one round in progress per table.
    """
    code, typed = read_code(text), read_id(text)
    if code:
        going_on = LiveRound.objects.filter(phase__in=OPEN_PHASES, code=code)
        return going_on.values_list("pk", flat=True).first()
    return LiveRound.objects.filter(pk=typed).values_list("pk", flat=True).first() if typed else None


def id_for_code(field: str, prefix: str = "") -> Callable[[StaffView[Args]], StaffView[Args]]:
    """Let the search *field* of a page that knows only ids accept the code of a round.

    Redirects to the same page with *prefix* and the round's id in place of the code.
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
