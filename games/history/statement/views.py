"""Views of the statement, and the movements of a period, one by one: a page for the screen, and all of them
as a CSV file.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from babel.numbers import get_decimal_symbol
from django import forms
from django.db import connection
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, pgettext, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from games.history.csv_export import BYTE_ORDER_MARK, Echo, amount, safe
from games.history.statement.figures import Choice, Period, chosen, figures, firsts, game_names, today_in
from players.access import PlayerRequest, player_required
from players.datetime_format import Day
from players.models import Player
from players.rates import at_a_human_pace, one_at_a_time
from wallet.ledger.statements import ASIDE, NAMES, OTHER, movement_name
from wallet.models import Mode

PAGE = 20

# The change of the player's total balance by each journal, with game and round code for rounds, and
# with the game for banks. Entries before the given first version of an account are left out.
# Journals are looked up one by one for the same reason as in `games.history.statement.figures`.
MOVEMENTS = """
SELECT posting.id, posting.at,
       CASE WHEN posting.kind = 'settle' AND bool_or(account.kind = 'bank') THEN 'coup' ELSE posting.kind END AS kind,
       posting.round_id, coalesce(round.code, live.code) AS code, game_table.variant, sum(entry.amount) AS amount,
       sum(greatest(entry.amount, 0)) AS within
FROM wallet_account AS account
LEFT JOIN unnest(%(accounts)s::bigint[], %(firsts)s::bigint[]) AS known (id, first) ON known.id = account.id
JOIN wallet_entry AS entry ON entry.account_id = account.id AND entry.version >= coalesce(known.first, 0)
CROSS JOIN LATERAL (SELECT * FROM wallet_journal WHERE id = entry.journal_id OFFSET 0) AS posting
LEFT JOIN games_round AS round ON round.id = posting.round_id
LEFT JOIN games_liveround AS live ON live.id = posting.round_id
LEFT JOIN games_tableversion AS version ON version.id = coalesce(round.table_version_id, live.version_id)
LEFT JOIN games_chemintenure AS tenure ON tenure.id = posting.round_id
LEFT JOIN games_livetable AS held_at ON held_at.id = tenure.live_table_id
LEFT JOIN games_table AS game_table ON game_table.id = coalesce(version.table_id, held_at.table_id)
WHERE account.owner_id = %(player)s AND account.mode = %(mode)s AND posting.at < %(end)s
"""
GROUPED = (
    " GROUP BY posting.id, posting.at, posting.kind, posting.round_id, coalesce(round.code, live.code),"
    " game_table.variant "
)

NEWEST = (
    MOVEMENTS
    + "AND posting.at >= %(begin)s AND (%(before)s::bigint IS NULL OR posting.id < %(before)s)"
    + GROUPED
    + "ORDER BY posting.id DESC LIMIT %(limit)s"
)

# The movements of the period with the balance after each. The opening balance is one row without an
# id.
RUNNING = f"""
WITH every AS ({MOVEMENTS}{GROUPED}), opening AS (
    SELECT coalesce(sum(amount), 0) AS owned FROM every WHERE at < %(begin)s
)
SELECT NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, owned FROM opening
UNION ALL (
    SELECT id, at, kind, round_id, code, variant, amount, within,
           (SELECT owned FROM opening) + sum(amount) OVER (ORDER BY at, id)
    FROM every WHERE at >= %(begin)s ORDER BY at, id
)
"""  # noqa: S608  (put together from constants)


@dataclass(frozen=True)
class Movement:
    """One journal from the player's view. Amounts in minor units.

    *within* is the amount moved between the player's own accounts.
    """

    journal_id: int
    at: datetime
    kind: str
    round_id: UUID | None
    code: str | None  # of the round, if it is known
    variant: str | None
    amount: int
    within: int

    @property
    def aside(self) -> int:
        """The amount that a withdrawal set aside or returned."""
        return self.within if self.kind in ASIDE else 0

    @property
    def name(self) -> Promise:
        """The name of the movement in the reader's language."""
        return NAMES.get(self.kind, OTHER)


@dataclass(frozen=True)
class Listing:
    """A page of movements, newest first, and the id to continue with (None: no older ones)."""

    movements: tuple[Movement, ...]
    older: int | None


def listing(player: Player, mode: Mode, period: Period, *, before: int | None = None) -> Listing:
    """Return a page of the movements of *period* that are older than journal *before*."""
    with connection.cursor() as cursor:
        asked = _asked(player, mode, period) | firsts(player, mode, period.begin)
        cursor.execute(NEWEST, asked | {"before": before, "limit": PAGE + 1})
        found = [_movement(row) for row in cursor.fetchall()]
    return Listing(tuple(found[:PAGE]), found[PAGE - 1].journal_id if len(found) > PAGE else None)


def running(player: Player, mode: Mode, period: Period) -> Iterator[tuple[Movement | None, int]]:
    """Yield the opening balance (None), then every movement of *period* with the balance after it.

    Oldest first. One statement reads all rows, a few at a time.
    """
    with connection.chunked_cursor() as cursor:
        cursor.execute(RUNNING, _asked(player, mode, period))
        for *row, owned in cursor:
            yield (_movement(tuple(row)) if row[0] is not None else None), int(owned)


def _asked(player: Player, mode: Mode, period: Period) -> dict[str, Any]:
    asked = {"player": player.pk, "mode": mode.value, "begin": period.begin, "end": period.end}
    return asked | {"accounts": [], "firsts": []}


def _movement(row: tuple[Any, ...]) -> Movement:
    journal_id, at, kind, round_id, code, variant, amount, into = row
    within = 0 if amount else int(into)
    return Movement(journal_id, at, movement_name(kind, int(amount)), round_id, code, variant, int(amount), within)


class StatementLabels(NamedTuple):
    """All texts of the file, in the reader's language."""

    headings: list[str]
    opening: str
    closing: str
    names: dict[str, str]  # by kind of movement
    other: str
    games: dict[str, str]


def lines(player: Player, mode: Mode, period: Period, language: str) -> Iterator[str]:
    """Return the file line by line, in the language that is active at the call."""
    labels = StatementLabels(
        headings=_headings(period.zone),
        opening=_("Opening balance"),
        closing=_("Closing balance"),
        names={kind: str(name) for kind, name in NAMES.items()},
        other=str(OTHER),
        games=game_names(language),
    )
    return _lines(player, mode, period, get_decimal_symbol(language), labels)


def _headings(zone: ZoneInfo) -> list[str]:
    return [
        _("Time (%(zone)s)") % {"zone": zone.key},
        pgettext("number of a journal", "No."),
        pgettext("table heading", "Description"),
        pgettext("table heading", "Game"),
        _("Round code"),
        _("Amount"),
        _("Transferred between your own balances"),
        _("Balance after"),
        pgettext("table heading", "Currency"),
    ]


def _lines(player: Player, mode: Mode, period: Period, decimal: str, labels: StatementLabels) -> Iterator[str]:
    writer = csv.writer(Echo(), delimiter=";" if decimal == "," else ",")
    yield BYTE_ORDER_MARK + writer.writerow(labels.headings)
    owned = 0
    for movement, owned in running(player, mode, period):
        row = _row(movement, labels, period.zone, decimal) if movement else _end(labels.opening)
        yield writer.writerow([*row, amount(owned, decimal), player.currency])
    yield writer.writerow([*_end(labels.closing), amount(owned, decimal), player.currency])


def _end(name: str) -> list[str]:
    return ["", "", name, "", "", "", ""]


def _row(movement: Movement, labels: StatementLabels, zone: ZoneInfo, decimal: str) -> list[str]:
    return [
        f"{movement.at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
        str(movement.journal_id),
        safe(labels.names.get(movement.kind, labels.other)),
        safe(labels.games.get(movement.variant or "", "")),
        movement.code or "",
        amount(movement.amount, decimal),
        amount(movement.within, decimal) if movement.within else "",
    ]


CHOICES = (
    (Choice.MONTH, gettext_lazy("This month")),
    (Choice.LAST_MONTH, gettext_lazy("Last month")),
    (Choice.THREE_MONTHS, gettext_lazy("Last 3 months")),
    (Choice.YEAR, gettext_lazy("This year")),
    (Choice.TWELVE_MONTHS, gettext_lazy("Last 12 months")),
)


class PeriodForm(forms.Form):
    """The period (by name, or by first and last day) and the kind of money."""

    period = forms.ChoiceField(choices=CHOICES, required=False)
    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode], required=False)
    since = Day(pgettext_lazy("first day of a period", "From"))
    until = Day(pgettext_lazy("last day of a period", "To"))
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, data: QueryDict, *, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone, self.today = zone, today_in(zone)
        self.full_clean()

    def clean(self) -> None:
        """Reject a period with only one day given, or one that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if not self.errors and bool(since) != bool(until):
            raise forms.ValidationError(_("Choose a start date and an end date. This month is shown."))
        if since and until and since > until:
            raise forms.ValidationError(_("The start date is after the end date. This month is shown."))

    @property
    def fault(self) -> str:
        """The error message of an invalid form, or ""."""
        if self.is_valid():
            return ""
        if "__all__" in self.errors:
            return str(self.errors["__all__"][0])
        return _("This period is not valid. This month is shown.")

    @property
    def chosen(self) -> Choice | None:
        """The name of the period; None if the player chose the days."""
        if not self.is_valid():
            return Choice.MONTH
        return None if self.cleaned_data["since"] else Choice(self.cleaned_data["period"] or Choice.MONTH)

    @property
    def shown(self) -> Period:
        """The period to show; this month if the form is not valid."""
        if self.chosen:
            return chosen(self.chosen, self.zone, self.today)
        return Period(self.cleaned_data["since"], self.cleaned_data["until"], self.zone)

    @property
    def money(self) -> Mode:
        """Real or free money."""
        asked = self.cleaned_data.get("mode")
        return Mode[asked.upper()] if asked else Mode.REAL

    @property
    def before_id(self) -> int | None:
        """The id of the journal above which the list ends."""
        return self.cleaned_data.get("before")

    @property
    def query(self) -> str:
        """The URL query string for exactly these days."""
        return urlencode({"mode": self.money.name.lower(), "since": self.shown.since, "until": self.shown.until})


@player_required
@require_safe
@at_a_human_pace
def statement(request: PlayerRequest) -> HttpResponse:
    """Show the player's statement for a period, with a page of its movements."""
    form = _form(request)
    period, mode = form.shown, form.money
    context = {
        "form": form,
        "choices": CHOICES,
        "period": period,
        "mode_word": mode.name.lower(),
        "currency": request.player.currency,
        "figures": figures(request.player, mode, period),
        "listing": listing(request.player, mode, period, before=form.before_id),
    }
    with timezone.override(period.zone):
        return render(request, "games/statement.html", context)


@player_required
@require_safe
@at_a_human_pace
@one_at_a_time
def statement_csv(request: PlayerRequest) -> HttpResponseBase:
    """Return every movement of the period as a CSV file."""
    form = _form(request)
    if form.fault:
        return _back(request)
    rows = lines(request.player, form.money, form.shown, get_language() or "en")
    response = StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
    return _named(response, form.shown, "csv")


@player_required
@require_safe
@at_a_human_pace
@one_at_a_time
def statement_pdf(request: PlayerRequest) -> HttpResponseBase:
    """Return the statement as a PDF."""
    from games.history.statement.pdf_file import Paper, document  # reportlab: 4.4 MB in each process

    form = _form(request)
    if form.fault:
        return _back(request)
    paper = Paper(
        player=request.player,
        mode=form.money,
        period=form.shown,
        figures=figures(request.player, form.money, form.shown),
        made_at=timezone.now(),
        language=get_language() or "en",
    )
    return _named(HttpResponse(document(paper), content_type="application/pdf"), form.shown, "pdf")


def _form(request: PlayerRequest) -> PeriodForm:
    return PeriodForm(request.GET, zone=ZoneInfo(request.player.jurisdiction.time_zone))


def _back(request: PlayerRequest) -> HttpResponse:
    return redirect(f"{reverse('statement')}?{request.GET.urlencode()}")


def _named(response: HttpResponseBase, period: Period, ending: str) -> HttpResponseBase:
    name = f"sabot-statement-{period.since}--{period.until}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
