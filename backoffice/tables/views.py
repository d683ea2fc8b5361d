"""Pages of tables: list, status changes and chat language.

The forms that change the status are on the floor (`backoffice.tables.floor`).
"""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from backoffice.tables.actions import ACTIONS, SUPERVISE, UNSURE, FinalForm, stands, to_the_table
from games.betting.limits import Limits
from games.labels import variant_label
from games.models import Shape, Table
from games.shared.floor import floor
from games.shared.floor.rows import READERS
from games.tables import status, versions
from games.tables.checks import TableError
from games.tables.chemin_rules import CheminRules
from games.variants import GAMES
from players.access import actor, staff_required
from wallet.money import format_money

LANGUAGES = [("", "any language"), *settings.LANGUAGES]
EVERY_GAME = ("all", "All games")
NOT_CHOSEN = f"Choose the tables to close. {UNSURE}"


class StatusForm(forms.Form):
    """Action on a table, with a reason."""

    action = forms.ChoiceField(choices=[(name, action.label) for name, action in ACTIONS.items()])
    reason = forms.CharField(max_length=300)


class CloseForm(FinalForm):
    """Choice of the game to close, or of all games, with a reason."""

    game = forms.ChoiceField(choices=lambda: [EVERY_GAME, *_games()])


class ChatLanguageForm(forms.Form):
    """Chat language of a table; empty for any."""

    chat_language = forms.ChoiceField(required=False, choices=LANGUAGES)


@staff_required(*READERS)
@require_safe
def staff_tables(request: HttpRequest) -> HttpResponse:
    """List every table with its version and limits."""
    live, found = floor(), Table.objects.select_related("version").order_by("name")
    rows = [
        (each, variant_label(GAMES[each.variant], "name", "en"), live.get(each.pk, ()), _ranges(each)) for each in found
    ]
    return render(request, "staff/tables.html", {"tables": rows, "languages": LANGUAGES})


@staff_required("games.operate_table")
@require_POST
@transaction.atomic
def staff_table_status(request: HttpRequest, table_id: int) -> HttpResponse:
    """Open, pause, resume or close a table. A round in progress is finished first.

    A warning is shown if the table is already in that state; an error is shown if the action is not
    possible.
    """
    form, row = StatusForm(request.POST), request.POST.get("back", "")
    table = status.locked(get_object_or_404(Table, pk=table_id).pk)
    if not form.is_valid():
        messages.error(request, "Enter a reason. It is recorded in the audit log.")
        return redirect("staff_floor")
    action = ACTIONS[form.cleaned_data["action"]]
    if table.status == action.leads_to:
        messages.warning(request, f"{table} is already {table.get_status_display()}. Your reason was not recorded.")
        return redirect("staff_floor")
    try:
        table = action.do(table_id=table_id, reason=form.cleaned_data["reason"], by=actor(request))
    except TableError as error:
        messages.error(request, str(error))
    else:
        show_outcome = messages.warning if table.live.filter(stopped_by__isnull=False).exists() else messages.success
        show_outcome(request, to_the_table(stands(table), row))
    return redirect("staff_floor")


@staff_required(SUPERVISE)
@require_POST
def staff_tables_close(request: HttpRequest) -> HttpResponse:
    """Close every table of a game, or all tables. Rounds in progress are finished first."""
    form = CloseForm(request.POST)
    if not form.is_valid():
        messages.error(request, NOT_CHOSEN)
        return redirect("staff_floor")
    given = form.cleaned_data
    variant = None if given["game"] == EVERY_GAME[0] else given["game"]
    closed = status.close_tables(variant=variant, reason=given["reason"], by=actor(request))
    if closed:
        messages.success(request, f"Closed: {', '.join(table.name for table in closed)}.")
    else:
        messages.warning(request, "All of these tables are already closed. Your reason was not recorded.")
    return redirect("staff_floor")


@staff_required("games.operate_table")
@require_POST
def staff_table_chat(request: HttpRequest, table_id: int) -> HttpResponse:
    """Set the chat language of a shared or Chemin de Fer table."""
    table = get_object_or_404(Table.objects.exclude(shape=Shape.SOLO), pk=table_id)
    form = ChatLanguageForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Unknown language.")
    else:
        language = form.cleaned_data["chat_language"]
        versions.set_chat_language(table_id=table.pk, language=language, by=actor(request))
        messages.success(request, f"Chat language of {table.name}: {dict(LANGUAGES)[language]}.")
    return redirect("staff_tables")


def _ranges(table: Table) -> list[str]:
    """Return the table's limits as text: Player and Banker by currency, or a bank."""
    if table.version is None:
        return []
    if table.shape == Shape.CHEMIN:
        rules = CheminRules.of(table.version.limits)
        return [f"{_range(rules.minimum, rules.maximum, rules.currency)} a bank"]
    allowed = ((currency, Limits.of(table.version.limits, currency).main) for currency in table.version.limits)
    return [_range(main.minimum, main.maximum, currency) for currency, main in allowed]


def _range(minimum: int, maximum: int, currency: str) -> str:
    return f"{format_money(minimum, currency, 'en')} to {format_money(maximum, currency, 'en')}"


def _games() -> list[tuple[str, str]]:
    return [(slug, variant_label(game, "name", "en")) for slug, game in GAMES.items()]
