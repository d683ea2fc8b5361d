"""Views of Re-buy and Leave game, for games with their own balance."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from games import solo
from games.models import Shape, Table
from games.shared import seats
from games.shared.views import NOTICE as LIVE_NOTICE
from games.shared.views import live_table_of
from games.solo.seats import ON_A_PURSE
from games.solo.views import NOTICE
from games.tables.access import at_a_playable_table
from games.tables.presentation import Notice
from players.access import PlayerRequest, player_required
from players.models import Player
from players.rates import at_a_human_pace
from wallet.cashier import AmountForm, KeyForm
from wallet.ledger import purse
from wallet.models import Mode
from wallet.money import format_money


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def table_rebuy(request: PlayerRequest, table: Table, mode: Mode) -> HttpResponse:
    """Move money from the account into the game, or say why not, on the table."""
    _demand_purse(table)
    prepare_seat(request.player, table, mode)
    request.session[_notice_of(table)] = vars(_rebuy(request, mode))
    return redirect("table", slug=table.slug, mode=mode)


@player_required
@require_POST
@at_a_human_pace
def table_leave(request: PlayerRequest, slug: str, mode: Mode) -> HttpResponse:
    """Move what is left in the game back to the account, and lead to the lobby. A table that the player cannot play any
    more holds nothing back.
    """
    table = get_object_or_404(Table, slug=slug)
    _demand_purse(table)
    form = KeyForm(request.POST)
    if not form.is_valid():
        request.session[_notice_of(table)] = vars(Notice("error", str(form.errors["key"][0])))
        return redirect("table", slug=slug, mode=mode)
    returned = purse.leave(player=request.player, mode=mode, key=form.cleaned_data["key"])
    if returned.amount:
        message = _("You left the game. %(amount)s was returned to your account.") % {
            "amount": format_money(returned.amount, request.player.currency, get_language() or "en")
        }
    else:
        message = _("You left the game. There was no balance left to return.")
    messages.success(request, message)
    return redirect("lobby")


def _notice_of(table: Table) -> str:
    """Return the session key of the message for the table's page."""
    return LIVE_NOTICE if table.shape == Shape.SHARED else NOTICE


def prepare_seat(player: Player, table: Table, mode: Mode) -> None:
    """Create the player's seat at the table, and the account that the game plays on, if they do not exist."""
    if table.shape == Shape.SHARED:
        seats.seat_at(player, live_table_of(table, mode))
    else:
        solo.solo_seat_at(player=player, table_id=table.pk, mode=mode)


def _rebuy(request: PlayerRequest, mode: Mode) -> Notice:
    player = request.player
    form = AmountForm(request.POST, currency=player.currency)
    if not form.is_valid():
        return Notice("error", str(next(iter(form.errors.values()))[0]))
    amount = form.cleaned_data["amount"]
    try:
        posted = purse.rebuy(player=player, mode=mode, amount=amount, key=form.cleaned_data["key"])
    except purse.MoreThanBalance as error:
        more = _("Deposit") if mode is Mode.REAL else _("Top up play money")
        return Notice("error", str(error), reverse("cashier"), more)
    except purse.PurseError as error:
        return Notice("error", str(error))
    if posted.replayed:
        return Notice("info", _("This transaction was already booked. Nothing was booked twice."))
    moved = format_money(amount, player.currency, get_language() or "en")
    return Notice("info", _("%(amount)s was transferred to the game.") % {"amount": moved})


def _demand_purse(table: Table) -> None:
    """Require a game with its own balance. Raises Http404."""
    if table.variant not in ON_A_PURSE:
        raise Http404
