"""Panels next to a live table that are loaded when the player opens them.

They do not leave the table or change a bet. Links to other pages open in a new tab.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from babel.numbers import format_decimal
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from games import history
from games.betting.limits import Limits
from games.chemin.state import snapshots
from games.engine.bets import BetRule, Variant
from games.help import rules_panel
from games.help.figures import percent
from games.help.placeholders import odds_of
from games.help.tables import waiting
from games.history.search import Search, find
from games.labels import bet_name, variant_label
from games.models import LiveTable, Shape, Table
from games.shared.pages import chips
from games.shared.pages.panel_tabs import WITH_THE_PAGE, panel_names
from games.shared.pages.views import read_public
from games.tables.access import at_a_playable_table
from games.tables.clock import Clock
from games.variants import GAMES, VARIANTS
from players.access import PlayerRequest, made_by_the_page, player_required
from players.models import Player
from players.rates import at_a_human_pace
from wallet import cashier
from wallet.cashier import AmountForm, KeyForm, topped_up, what_a_player_has
from wallet.ledger import statements
from wallet.models import Mode

ROUNDS = 20
MOVEMENTS = 6

Context = dict[str, Any]


@player_required
@require_safe
@never_cache
@at_a_playable_table
def live_panel(request: PlayerRequest, found: Table, mode: Mode, name: str) -> HttpResponse:
    """Show the content of a panel as an HTML fragment."""
    return _shown(request, found, mode, name)


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_playable_table
def live_panel_now(request: PlayerRequest, found: Table, mode: Mode, name: str) -> HttpResponse:
    """Show a panel again when the page reloads it by itself after an event."""
    return _shown(request, found, mode, name)


@player_required
@require_safe
@never_cache
@at_a_playable_table
def live_panel_round(request: PlayerRequest, found: Table, mode: Mode, round_id: UUID) -> HttpResponse:
    """Show one of the player's rounds at this table inside the history panel."""
    shown = history.round_of(request.player, round_id, _language())
    if shown is None or shown.table_slug != found.slug:
        raise Http404
    return render(request, "games/panels.html#round", _at(found, mode) | {"round": shown})


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def live_top_up(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Top up free money without leaving the table, or show why that is refused."""
    form = KeyForm(request.POST)
    if not form.is_valid():
        said = {"error": str(form.errors["key"][0])}
    else:
        try:
            said = {"said": topped_up(request.player, cashier.top_up_free(player=request.player, **form.cleaned_data))}
        except cashier.CashierError as error:
            said = {"error": str(error)}
    return render(request, "games/panels.html#cashier", _at(found, mode) | _cashier(request.player, found, mode) | said)


def _shown(request: PlayerRequest, found: Table, mode: Mode, name: str) -> HttpResponse:
    if found.shape == Shape.SOLO or name in WITH_THE_PAGE or name not in panel_names(found):
        raise Http404
    contexts = {**CONTEXTS, **OF_CHEMIN} if found.shape == Shape.CHEMIN else CONTEXTS
    context = _at(found, mode) | contexts[name](request.player, found, mode)
    return render(request, f"games/panels.html#{name}", context)


def _at(table: Table, mode: Mode) -> Context:
    return {
        "table": table,
        "now_mode": mode,
        "mode_word": mode.name.lower(),
        "at_table": True,
        "next": reverse("table", args=[table.slug, mode]),
    }


def _limits(player: Player, table: Table, mode: Mode) -> Context:
    """Return the limits of the round in progress, which apply until it ends."""
    limits = read_public(get_object_or_404(LiveTable, table=table, mode=mode)).limits(player.currency)
    return {"limits": limits, "bets": payouts(VARIANTS[table.variant], limits, _language())}


def _history(player: Player, table: Table, mode: Mode) -> Context:
    parts = find(player, Search(table=table.slug, mode=mode), limit=ROUNDS)
    return {"rounds": history.history_lines(parts, _language())}


def _cashier(player: Player, table: Table, mode: Mode) -> Context:
    return {
        **what_a_player_has(player),
        "form": AmountForm(currency=player.currency),
        "movements": statements.statement(player.pk, mode).movements[:MOVEMENTS],
    }


def _rules(player: Player, table: Table, mode: Mode) -> Context:
    state = read_public(get_object_or_404(LiveTable, table=table, mode=mode))
    return {"page": rules_panel(VARIANTS[table.variant], _language()), "pace": _pace(state.clock)}


def _pace(clock: Clock | None) -> list[tuple[str, str]]:
    """Return the name and length of each phase of a round."""
    if clock is None:
        return []
    lengths = (
        (_("Betting time"), clock.betting),
        (_("From “No more bets” to the first card"), clock.call),
        (_("From card to card"), clock.card),
        (_("From the payouts to the next round"), clock.pause),
    )
    return [
        (name, f"{format_decimal(length / 1000, locale=_language())}\N{NO-BREAK SPACE}s") for name, length in lengths
    ]


def _rules_of_chemin(player: Player, table: Table, mode: Mode) -> Context:
    seen = snapshots.read_public(get_object_or_404(LiveTable, table=table, mode=mode).pk)
    return {"page": rules_panel(GAMES[table.variant], _language()), "pace": waiting(seen.clock) if seen.clock else []}


def _settings(player: Player, table: Table, mode: Mode) -> Context:
    limits = read_public(get_object_or_404(LiveTable, table=table, mode=mode)).limits(player.currency)
    return {"choice": chips.choice(player, limits)}


CONTEXTS: Mapping[str, Callable[[Player, Table, Mode], Context]] = {
    "limits": _limits,
    "history": _history,
    "cashier": _cashier,
    "rules": _rules,
    "settings": _settings,
}
OF_CHEMIN: Mapping[str, Callable[[Player, Table, Mode], Context]] = {
    "rules": _rules_of_chemin,
    "settings": lambda player, table, mode: {},
}
"""Panels with other content at Chemin de Fer."""


def _language() -> str:
    return get_language() or "en"


@dataclass(frozen=True)
class PrizeLine:
    """Payout of a bet in one case; `pays` is empty where the stake is returned."""

    when: str
    pays: str


@dataclass(frozen=True)
class BetLine:
    """A bet with its range in minor units of the player's currency, and its return to player."""

    code: str
    name: str
    minimum: int
    maximum: int
    pays: str  # short form of all prizes
    prizes: tuple[PrizeLine, ...]  # empty where there is only one prize
    rtp: str


def payouts(variant: Variant, limits: Limits, language: str) -> tuple[BetLine, ...]:
    """Return every bet of the game, in the game's order."""
    return tuple(_line(variant, bet, limits, language) for bet in variant.bets)


def _line(variant: Variant, bet: BetRule, limits: Limits, language: str) -> BetLine:
    allowed = limits.bets[bet.code]
    return BetLine(
        code=bet.code,
        name=bet_name(variant, bet.code, language),
        minimum=allowed.minimum,
        maximum=allowed.maximum,
        pays=bet.pays_text,
        prizes=_prizes(variant, bet, language) if len(bet.prizes) > 1 else (),
        rtp=percent(odds_of(variant.slug)[bet.code].rtp, language),
    )


def _prizes(variant: Variant, bet: BetRule, language: str) -> tuple[PrizeLine, ...]:
    return tuple(
        PrizeLine(
            when=variant_label(variant, f"when.{prize.when.name}", language),
            pays=str(prize.pays) if prize.pays.win else "",
        )
        for prize in bet.prizes
    )
