"""Pages of rounds: search rounds, and verify one round."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial, wraps
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, cast
from uuid import UUID

from django import forms
from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.views.decorators.http import require_safe

from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists import cells, files
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order, of_queryset
from backoffice.lists.staff_list import MOST_SORTED, NO_PLAYERS, StaffList
from backoffice.lists.totals import Sums
from games.incidents import Line, lines
from games.lobby.selectors import find_round, read_id
from games.models import OPEN_PHASES, LiveRound, Participation, Table, VoidPart
from games.models.rounds import read_code
from games.variants import GAMES
from games.verification.search import OVER, Status, Wanted, find, in_progress, players_called, query
from games.verification.service import going, verify_round
from players.access import StaffRequest, staff_required
from players.models import Conversation
from players.staff import access_log
from wallet.models import Currency, Mode

MINOR: Final = 100
OUTCOMES: Final = {"player": ("player", "punter"), "banker": ("banker",), "tie": ("tie", "draw")}
"""Outcome in the form -> stored outcomes. Chemin de Fer tables store their own values."""
OUTCOME_NAMES: Final[Mapping[str, Promise]] = {
    "player": pgettext_lazy("outcome of a round", "Player"),
    "punter": pgettext_lazy("outcome of a round", "Punters"),
    "banker": pgettext_lazy("outcome of a round", "Banker"),
    "tie": pgettext_lazy("outcome of a round", "Tie"),
    "draw": pgettext_lazy("outcome of a round", "Draw"),
}
STATUS_NAMES: Final[Mapping[Status, Promise]] = {
    Status.COMPLETE: pgettext_lazy("state of a round", "Complete"),
    Status.VOID: pgettext_lazy("state of a round", "Void"),
    Status.IN_PROGRESS: pgettext_lazy("state of a round", "In progress"),
    Status.INTERRUPTED: pgettext_lazy("state of a round", "Interrupted"),
}
AMOUNTS: Final = ("staked_least", "staked_most", "paid_least", "paid_most")


class When(forms.DateTimeField):
    """Moment to the second, in UTC."""

    def __init__(self, label: Any) -> None:
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
            raise forms.ValidationError(gettext("Invalid date and time.")) from error


class Amount(forms.DecimalField):
    """Amount of money in whole units with two decimals."""

    def __init__(self, label: Any) -> None:
        super().__init__(label=label, required=False, min_value=0, max_digits=15, decimal_places=2)


class RoundsForm(ListForm):
    """Search for rounds. A code or an id finds one round; the other fields narrow the list.

    *players_called* finds the players that the player field names.
    """

    round = forms.CharField(required=False, label=gettext_lazy("Code or id of the round"), max_length=100)
    player = forms.CharField(required=False, label=gettext_lazy("Player"), max_length=254)
    since = When(gettext_lazy("From (UTC)"))
    until = When(gettext_lazy("Before (UTC)"))
    table = forms.ModelChoiceField(
        Table.objects.order_by("name", "pk"),
        label=gettext_lazy("Table"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    game = forms.ChoiceField(
        label=gettext_lazy("Game"),
        required=False,
        choices=lambda: [
            ("", gettext("All")),
            *((slug, GAMES[slug].label(get_language() or "en", "name")) for slug in GAMES),
        ],
    )
    mode = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Money"),
        choices=[("", gettext_lazy("All")), ("R", gettext_lazy("Real")), ("F", gettext_lazy("Free"))],
    )
    status = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("All finished")), *((each.value, name) for each, name in STATUS_NAMES.items())],
    )
    ending = forms.ChoiceField(
        label=gettext_lazy("Won by"),
        required=False,
        choices=[
            ("", gettext_lazy("All")),
            ("player", gettext_lazy("Player, punters")),
            ("banker", gettext_lazy("Banker, bank")),
            ("tie", gettext_lazy("Tie, draw")),
        ],
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("All")), *((code, code) for code in Currency.values)],
    )
    staked_least = Amount(gettext_lazy("Staked, minimum"))
    staked_most = Amount(gettext_lazy("Staked, maximum"))
    paid_least = Amount(gettext_lazy("Paid back, minimum"))
    paid_most = Amount(gettext_lazy("Paid back, maximum"))

    def __init__(self, asked: Mapping[str, Any], players_called: Callable[[str], Sequence[int]]) -> None:
        super().__init__(asked)
        self._players_called = players_called

    def clean_round(self) -> UUID | None:
        """Return the id of the round with this code or id."""
        typed = self.cleaned_data["round"]
        found = (find_round(typed) or _find_live(typed)) if typed else None
        if typed and found is None:
            raise forms.ValidationError(UNKNOWN)
        return found

    def clean_player(self) -> Sequence[int] | None:
        """Return the players with this number, address or name, None if the field is empty."""
        typed = self.cleaned_data["player"]
        found = self._players_called(typed) if typed else None
        if found is not None and not found:
            raise forms.ValidationError(NOBODY)
        return found

    def clean(self) -> dict[str, Any]:
        """Require a currency for amounts, and ranges that begin before they end."""
        asked = super().clean() or {}
        if not asked.get("currency") and any(asked.get(name) is not None for name in AMOUNTS):
            self.add_error("currency", gettext("Choose a currency."))
        for first, last in (("since", "until"), ("staked_least", "staked_most"), ("paid_least", "paid_most")):
            least, most = asked.get(first), asked.get(last)
            if least is not None and most is not None and least > most:
                self.add_error(last, gettext("The end is before the start."))
        return asked

    @property
    def wanted(self) -> Wanted:
        """The search of a valid form."""
        asked = self.cleaned_data
        return Wanted(
            players=None if asked["player"] is None else tuple(asked["player"]),
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
UNKNOWN = gettext_lazy("Round not found. Rounds without bets can only be found by id.")
NOBODY = gettext_lazy("Player not found.")


class RoundList(StaffList):
    """Base class of the lists of finished rounds and of rounds in progress."""

    empty = gettext_noop("No rounds yet.")
    unmatched = gettext_noop("No rounds match this search.")
    form: RoundsForm

    def make_form(self) -> RoundsForm:
        """Return the search, with the ways to name a player that the reader has."""
        user = self.request.user
        may_see = user.has_perm("players.view_player")
        by_name = may_see or any(map(user.has_perm, CHAT))
        return RoundsForm(self.request.GET, partial(players_called, by_address=may_see, by_name=by_name))


class Rounds(RoundList):
    """Finished rounds, once for each player in them."""

    model = Participation
    name = gettext_noop("Rounds")
    players = ("part__player_id",)
    key = ("at", "id")
    columns = (
        Column("part__round__code", "Round"),
        Column("part__at", "When", Form.TIME),
        Column("table", "Table"),
        Column("player", "Player"),
        Column("part__round__outcome", "Outcome"),
        Column("part__staked", "Staked", Form.MONEY),
        Column("part__paid", "Paid back", Form.MONEY),
    )
    file_columns = (*columns, Column("part__currency", "Currency"), Column("words", "Corrections"))
    currency = "part__currency"
    links = {"part__round__code": ("staff_round", "round_id", "part__round_id")}
    sums = Sums({"Staked": "staked", "Paid back": "paid", "Reversed by voids": "reversed"}, mode="mode")
    timed = ("part__at",)
    sorts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "table": ("table__name", "mode", "id"),
        "player": ("player_id", "id"),
        "part__staked": ("staked", "id"),
        "part__paid": ("paid", "id"),
    }

    def __init__(self, request: StaffRequest, of: Any = None) -> None:
        """Read the query. Few rounds are sorted by a column: an index for each would cost every round a write."""
        super().__init__(request, of)
        if self.is_sorted:
            self.refuse_order_of_many(self._matching(MOST_SORTED))

    def filtered(self) -> QuerySet[Participation]:
        """Return the rounds of the search with what their voids reversed."""
        void = VoidPart.objects.filter(void__round=OuterRef("round"), player=OuterRef("player")).values("returned")
        return self._matching(files.MOST).annotate(reversed=Subquery(void))

    def _matching(self, most: int) -> QuerySet[Participation]:
        """Return the rounds of the search, and if they are more than *most*, one more than these."""
        asked = query(self.form.wanted, is_sorted=False, limit=most + 1)
        search = cast("Any", connection.ops).compose_sql(*asked)
        found = RawSQL(search.replace("%", "%%"), ())  # noqa: S611  (ours, and its values are escaped)
        return Participation.objects.filter(pk__in=found)

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Participation]:
        """Return rounds from the ranges of the index of each table and kind of money."""
        if order.key != self.key:
            found = self._matching(MOST_SORTED).select_related("round__void", "round__table_version__table", "table")
            return of_queryset(found)(order, start, most)
        from_here = cast("tuple[datetime, int]", tuple(start)) if start else None
        return find(self.form.wanted, start=from_here, is_rising=order.is_rising, limit=most)

    def items(self, rows: Sequence[Participation]) -> Sequence[Line]:
        """Return the rounds with what was corrected later."""
        return lines(rows)

    def of_table(self, line: Line) -> str:
        """Return the table and the kind of money."""
        return f"{line.part.round.table_version.table.name}, {in_sentence(line.part.get_mode_display())}"

    def of_player(self, line: Line) -> str:
        """Return the player's name in events."""
        return f"player:{line.part.player_id}"

    def show_part__round__code(self, line: Line) -> str:
        """Return the code with a link."""
        return cells.link(self.urls_of(line)["part__round__code"], line.part.round.code, "round-code")

    def show_part__round__outcome(self, line: Line) -> str:
        """Return the outcome, and whether the round is void."""
        is_void = hasattr(line.part.round, "void")
        return cells.joined(
            OUTCOME_NAMES.get(line.part.round.outcome, line.part.round.outcome) or gettext("none"),
            cells.badge(gettext("void"), "void") if is_void else "",
        )

    def show_part__paid(self, line: Line) -> str:
        """Return the amount paid back, with corrections."""
        return render_to_string("staff/rounds.html#paid_back", {"line": line})


class RoundsInProgress(RoundList):
    """Rounds in progress at live tables. There are few."""

    model = LiveRound
    name = gettext_noop("Rounds in progress")
    players = NO_PLAYERS
    key = ("opened_at", "id")
    columns = (
        Column("code", "Round"),
        Column("opened_at", "Since", Form.TIME),
        Column("live_table__table__name", "Table"),
        Column("live_table__mode", "Money"),
        Column("phase", "Phase"),
    )
    links = {"code": ("staff_round", "round_id", "pk")}

    def found(self) -> QuerySet[LiveRound]:
        """Return the rounds of the search."""
        return in_progress(self.form.wanted)

    def show_code(self, live_round: LiveRound) -> str:
        """Return the code with a link."""
        return cells.link(self.urls_of(live_round)["code"], live_round.code, "round-code")

    def show_phase(self, live_round: LiveRound) -> str:
        """Return the phase, and whether the table was stopped."""
        stopped = cells.badge(gettext("interrupted"), "void") if live_round.live_table.stopped_by_id else ""
        return cells.joined(live_round.get_phase_display(), stopped)


@staff_required(*READERS)
@access_log.listed("rounds")
@require_safe
def staff_rounds(request: StaffRequest) -> HttpResponse:
    """Search rounds. A code or an id redirects to its round."""
    listing = Rounds(request)
    if listing.form.is_valid() and listing.asked["round"]:
        return redirect("staff_round", round_id=listing.asked["round"])
    if listing.form.is_valid() and listing.form.wanted.status not in OVER:
        return RoundsInProgress(request).answer("staff/rounds.html")
    if listing.is_file:
        return listing.file()
    return listing.answer("staff/rounds.html")


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
        "bet_heads": (gettext("Stake"), gettext("Paid back"), gettext("Commission"), gettext("Result")),
        "stake_heads": (
            gettext("Stake"),
            gettext("Returned"),
            gettext("Taken, per ledger"),
            gettext("Paid, per ledger"),
        ),
    }
    return render(request, "staff/round.html", context)


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
