"""Collusion review at Chemin de Fer: suspicious pairs, their coups, and players' reports.

No page here takes action against a player, apart from recording a finding about a report.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ORDER, ListForm
from backoffice.lists.paging import AFTER, BEFORE, Order
from backoffice.lists.staff_list import ComputedList, StaffList
from games.chemin.collusion import messages as integrity_messages
from games.chemin.collusion import player_reports
from games.chemin.collusion.measures import pace
from games.chemin.collusion.signals import AnalysedPair, PlayAnalysis, analyse_play
from games.chemin.collusion.statistics import Scope
from games.models import CheminStake, PlayFinding, PlayReport, Shape, Table
from players.access import StaffRequest, staff_required
from players.datetime_format import Day
from players.models import Player
from players.staff import access_log
from wallet.models import Currency, Mode
from wallet.money import format_money, format_signed_money

EXAMINE: Final = "games.examine_play"
DAYS: Final = 30  # default length of the period
PAIRS, REPORTS = 25, 20  # per page
SORTS: Final = [
    ("signs", gettext_lazy("Signal")),
    ("deviation", gettext_lazy("Deviation")),
    ("net", gettext_lazy("Money")),
]


class ScopeForm(ListForm):
    """Filter of play to examine. Defaults: the last month, real money."""

    since = Day(gettext_lazy("From (UTC)"))
    until = Day(gettext_lazy("To (inclusive)"))
    mode = forms.TypedChoiceField(
        label=gettext_lazy("Money"),
        required=False,
        choices=Mode.choices,
        coerce=Mode,
        empty_value=Mode.REAL,
        initial=Mode.REAL,
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("All")), *((code, code) for code in Currency.values)],
    )
    table = forms.ModelChoiceField(
        Table.objects.filter(shape=Shape.CHEMIN).order_by("name"),
        label=gettext_lazy("Table"),
        required=False,
        empty_label=gettext_lazy("All"),
    )

    def scope(self) -> Scope:
        """Return the scope that the form asks for.

        An invalid form yields the last month of real money.
        """
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        until = asked.get("until") or now().date()
        since = asked.get("since") or until - timedelta(days=DAYS)
        table = asked.get("table")
        return Scope(
            since=datetime.combine(since, time(), UTC),
            until=datetime.combine(until + timedelta(days=1), time(), UTC),
            mode=asked.get("mode") or Mode.REAL,
            currency=asked.get("currency") or None,
            table=table.pk if table else None,
        )


class PairsForm(ScopeForm):
    """Filter and order of pairs."""

    usual = gettext_noop("Most suspicious first")

    player = forms.CharField(label=gettext_lazy("Player number"), required=False, max_length=30)
    which = forms.ChoiceField(
        label=gettext_lazy("Pairs"),
        required=False,
        choices=[("", gettext_lazy("With signals")), ("all", gettext_lazy("All"))],
    )
    sort = forms.ChoiceField(label=gettext_lazy("Order"), required=False, choices=SORTS)

    def clean_player(self) -> int | None:
        """Return the player's number, or None."""
        known = self.cleaned_data["player"].strip().lower().removeprefix("player:")
        if not known:
            return None
        if not (known.isascii() and known.isdecimal() and len(known) < 19):
            raise forms.ValidationError(gettext("Enter a player number."))
        return int(known)


class FindingForm(forms.Form):
    """Finding about a report, with a note."""

    finding = forms.TypedChoiceField(choices=PlayFinding.choices, coerce=PlayFinding)
    note = forms.CharField(max_length=500)


@dataclass(frozen=True)
class PairLine:
    """A pair as a line of the list."""

    analysed: AnalysedPair
    currency: str

    @property
    def first(self) -> int:
        """The id of the first player."""
        return self.analysed.pair[0]

    @property
    def second(self) -> int:
        """The id of the second player."""
        return self.analysed.pair[1]


class Pairs(ComputedList):
    """Pairs of players, most suspicious first."""

    model = Player
    name = gettext_noop("Collusion")
    players = ("first", "second")
    key = ("first", "second")
    form_class = PairsForm
    size = PAIRS
    columns = (
        Column("pair", "Pair"),
        Column("signals", "Signal"),
        Column("coups", "Coups", Form.NUMBER),
        Column("to_first", "Net to first", Form.MONEY),
        Column("to_second", "Net to second", Form.MONEY),
        Column("deviation", "Deviation", Form.NUMBER),
    )
    file_columns = (*columns, Column("currency", "Currency"))
    currency = "currency"
    empty = gettext_noop("No signals in the last month.")
    unmatched = gettext_noop("No signals match this filter.")
    form: PairsForm

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events."""
        return "pairs"

    @cached_property
    def analysis(self) -> PlayAnalysis:
        """All pairs of the scope."""
        return analyse_play(self.form.scope())

    def usual_order(self) -> Order:
        """Return the order of the figure asked for, largest first."""
        return Order(self.key)

    def compute(self) -> Sequence[PairLine]:
        """Return the pairs of the filter."""
        asked, player = self.asked, self.asked.get("player")
        chosen = [
            pair
            for pair in self.analysis.pairs
            if (asked.get("which") or pair.signs) and (player is None or player in pair.pair)
        ]
        known = Player.objects.filter(pk__in=[pair.pair[0] for pair in chosen])
        currencies = dict(known.values_list("pk", "currency"))
        return [PairLine(pair, currencies[pair.pair[0]]) for pair in _sorted(chosen, asked.get("sort", ""))]

    def of_pair(self, line: PairLine) -> str:
        """Return the players."""
        return gettext("player:%(first)s and player:%(second)s") % {"first": line.first, "second": line.second}

    def of_signals(self, line: PairLine) -> str:
        """Return the names of the signals."""
        return ", ".join(integrity_messages.names(line.analysed)) or gettext("nothing")

    def of_coups(self, line: PairLine) -> int:
        """Return the number of coups between the two."""
        return line.analysed.money.coups if line.analysed.money else 0

    def of_to_first(self, line: PairLine) -> int | None:
        """Return what the first player won of the second."""
        return line.analysed.money.to_first if line.analysed.money else None

    def of_to_second(self, line: PairLine) -> int | None:
        """Return what the second player won of the first."""
        return line.analysed.money.to_second if line.analysed.money else None

    def of_deviation(self, line: PairLine) -> str | None:
        """Return the deviation from the expected result, in standard deviations."""
        return f"{line.analysed.money.deviation:.1f}" if line.analysed.money else None

    def show_pair(self, line: PairLine) -> str:
        """Return the players with a link to their coups in the same scope."""
        query = self.request.GET.copy()
        for name in ("player", "which", "sort", ORDER, BEFORE, AFTER):
            query.pop(name, None)
        address = reverse("staff_play_pair", args=[line.first, line.second])
        return cells.link(f"{address}?{query.urlencode()}" if query else address, self.of_pair(line), "num")

    def show_signals(self, line: PairLine) -> str:
        """Return the signals."""
        return cells.joined(
            *(cells.badge(name, "brass") for name in integrity_messages.names(line.analysed))
        ) or gettext("nothing")


class Coups(StaffList):
    """Stakes of one of two players against the other's bank, with their coups. *of* are the players."""

    model = CheminStake
    name = gettext_noop("Coups between the two")
    players = ("player_id", "coup__banker_player_id")
    key = ("coup__at", "id")
    form_class = ScopeForm
    columns = (
        Column("coup__at", "When", Form.TIME),
        Column("round", "Round, table"),
        Column("bank", "Bank"),
        Column("punter", "Punter, call"),
        Column("stake", "Stake", Form.MONEY),
        Column("won", "Won", Form.MONEY),
        Column("totals", "Totals, deviations from the rule"),
    )
    empty = gettext_noop("No stakes against the other’s bank in the last month.")
    unmatched = gettext_noop("No stakes against the other’s bank in this selection.")
    form: ScopeForm

    def found(self) -> QuerySet[CheminStake]:
        """Return the stakes of the scope."""
        return coups_between(self.form.scope(), *self.of)

    def about(self) -> Sequence[tuple[str, str]]:
        """Return the two players."""
        return [("Of", " and ".join(map(str, self.of)))]

    def of_round(self, stake: CheminStake) -> str:
        """Return the code of the round and the table."""
        played = stake.coup.round
        return f"{played.code}, {played.live_table.table.name}"

    def of_bank(self, stake: CheminStake) -> str:
        """Return the banker and the bank."""
        return gettext("player:%(banker_player_id)s, %(money)s") % {
            "banker_player_id": stake.coup.banker_player_id,
            "money": self._money(stake.coup.bank),
        }

    def of_punter(self, stake: CheminStake) -> str:
        """Return the punter and the call."""
        return f"player:{stake.player_id}" + (f", {stake.coup.call}" if stake.coup.call else "")

    def of_won(self, stake: Any) -> int | None:
        """Return what the punter won, None for a void coup."""
        return stake.won if stake.coup.outcome else None

    def of_totals(self, stake: CheminStake) -> str:
        """Return the totals, and who departed from the rule."""
        coup = stake.coup
        totals = " : ".join("–" if total is None else str(total) for total in (coup.punter_total, coup.banker_total))
        punter = gettext(", punter against the rule") * bool(coup.punter_departs)
        banker = gettext(", banker against the rule") * bool(coup.banker_departs)
        return f"{totals}{punter}{banker}"

    def show_round(self, stake: CheminStake) -> str:
        """Return the round with a link, and the table."""
        played = stake.coup.round
        link = cells.link(f"{reverse('staff_rounds')}?round={played.pk}", played.code or "round", "round-code")
        return cells.joined(link, played.live_table.table.name, by=", ")

    def show_stake(self, stake: CheminStake) -> str:
        """Return the stake with its currency."""
        return self._money(stake.stake)

    def show_won(self, stake: Any) -> str:
        """Return what the punter won, with its sign."""
        won = self.of_won(stake)
        return gettext("void") if won is None else format_signed_money(won, self.of[0].currency, get_language() or "en")

    def _money(self, amount: int) -> str:
        return format_money(amount, self.of[0].currency, get_language() or "en")


class WaitingReports(StaffList):
    """Reports of players without a finding, oldest first."""

    model = PlayReport
    name = gettext_noop("Open reports")
    players = ("seat__player_id", "reporter_id")
    key = ("at", "id")
    is_rising = True
    size = REPORTS
    columns = (
        Column("id", "Report", Form.NUMBER),
        Column("at", "Reported", Form.TIME),
        Column("player", "Player"),
        Column("reason", "Reason"),
        Column("reporter", "Reported by"),
        Column("live_table__table__name", "Table"),
        Column("text", "Text"),
        Column("round_id", "Coup"),
        Column("finding", "Finding"),
        Column("note", "Note"),
        Column("decided_at", "Decided", Form.TIME),
    )
    empty = gettext_noop("No open reports.")

    def found(self) -> QuerySet[PlayReport]:
        """Return the reports without a finding."""
        return player_reports.waiting()

    def of_player(self, report: PlayReport) -> str:
        """Return the reported player."""
        return f"player:{report.seat.player_id}"

    def of_reporter(self, report: PlayReport) -> str:
        """Return the player who reported."""
        return f"player:{report.reporter_id}"


class DecidedReports(WaitingReports):
    """Reports with a finding, last decided first."""

    name = gettext_noop("Recently decided")
    key = ("decided_at", "id")
    is_rising = False
    empty = gettext_noop("None yet.")

    def found(self) -> QuerySet[PlayReport]:
        """Return the reports with a finding."""
        return player_reports.all_reports().exclude(decided_at=None)


@staff_required(EXAMINE)
@access_log.listed("player pairs")
@require_safe
def staff_play(request: StaffRequest) -> HttpResponse:
    """List pairs of players, most suspicious first."""
    listing = Pairs(request)
    context = {
        "scope": listing.form.scope(),
        "pairs": sum(pair.money is not None for pair in listing.analysis.pairs),
        "waiting": player_reports.waiting().count(),
    }
    return listing.answer("staff/play.html", context)


@staff_required(EXAMINE)
@require_safe
def staff_play_pair(request: StaffRequest, first_id: int, second_id: int) -> HttpResponse:
    """Show the coups between two players. The access is recorded in the access log."""
    if first_id >= second_id:
        raise Http404
    first, second = (get_object_or_404(Player, pk=pk) for pk in (first_id, second_id))
    listing = Coups(request, (first, second))
    if listing.is_file:
        return listing.file()
    scope = listing.form.scope()
    found = analyse_play(scope)
    access_log.note(request, first, second, what=f"play from {scope.since:%Y-%m-%d} until {scope.until:%Y-%m-%d}")
    context = {
        "players": (first, second),
        "reasons": _reasons(found, (first_id, second_id), first.currency),
        "paces": pace(scope, (first_id, second_id)),
        "reports": player_reports.all_reports().filter(seat__player__in=(first, second))[:REPORTS],
    }
    return listing.answer("staff/play_pair.html", context)


@staff_required(EXAMINE)
@access_log.listed("player reports")
@require_safe
def staff_play_reports(request: StaffRequest) -> HttpResponse:
    """List players' reports: those without a finding, oldest first, then the latest findings."""
    listing = WaitingReports(request)
    if listing.is_file:
        return listing.file()
    decided = DecidedReports(request).first(REPORTS)
    access_log.shown(request, *decided.players_in(decided.shown))
    return listing.answer("staff/play_reports.html", {"decided": decided.shown, "findings": PlayFinding.choices})


@staff_required(EXAMINE)
@require_POST
def staff_play_decide(request: StaffRequest, report_id: int) -> HttpResponse:
    """Record a finding about a report."""
    get_object_or_404(PlayReport, pk=report_id)
    form = FindingForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose a finding and enter a reason. Both are recorded."))
        return redirect("staff_play_reports")
    try:
        found = player_reports.decide(report_id=report_id, by=request.staff, **form.cleaned_data)
    except player_reports.Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(
            request,
            (
                gettext("Report %(found)s is decided: %(finding)s.")
                % {"found": found.pk, "finding": found.get_finding_display()}
            ),
        )
    return redirect("staff_play_reports")


def coups_between(scope: Scope, first: Player, second: Player) -> QuerySet[CheminStake]:
    """Return the stakes of one player against the other's bank, with their coups."""
    ways = Q(player=first, coup__banker_player=second) | Q(player=second, coup__banker_player=first)
    found = CheminStake.objects.filter(
        ways,
        coup__at__gte=scope.since,
        coup__at__lt=scope.until,
        coup__round__live_table__mode=scope.mode,
    )
    if scope.table:
        found = found.filter(coup__round__live_table__table=scope.table)
    return found.annotate(won=F("returned") - F("stake")).select_related("coup__round__live_table__table")


def _sorted(pairs: Iterable[AnalysedPair], sort: str) -> list[AnalysedPair]:
    """Sort by deviation or by money, largest first; otherwise by the number of signs, most first."""
    if sort in ("deviation", "net"):
        return sorted(pairs, key=attrgetter(sort), reverse=True)
    return sorted(pairs, key=lambda pair: (len(pair.signs), pair.deviation), reverse=True)


def _reasons(found: PlayAnalysis, pair: tuple[int, int], currency: str) -> list[tuple[str, bool]]:
    known = next((each for each in found.pairs if each.pair == pair), None)
    return integrity_messages.reasons(known, found.test_counts, currency) if known else []
