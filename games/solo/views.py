"""Views of solo tables, and of Re-buy and Leave game: parse, call one service or selector, render."""

from collections.abc import Callable
from functools import lru_cache
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.backends.utils import csrf_token_lazy
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from games import solo
from games.betting.error_messages import refusal, repeated, table_changed, voided
from games.betting.forms import BET, KEEP, TAKE, SlipForm
from games.betting.rules import Change, Deal
from games.engine.settle import SettlementError
from games.errors import NotEligible, PlayError, StalePage, TableChanged, TableWaits
from games.models import Shape, SoloSeat, Table
from games.rounds import unseen
from games.rounds.void import take_void_notices
from games.shared import seats
from games.shared.pages.stream_tokens import stream_of
from games.shared.pages.views import NOTICE as LIVE_NOTICE
from games.shared.pages.views import live_table_of
from games.solo import operator_money
from games.solo.page import SoloPage, game_view, play_session_view, render_answer, stage_on_page, table_limits
from games.solo.seats import ON_A_PURSE
from games.tables.access import at_a_playable_table, click_at_a, demand_playable, demand_welcome
from games.tables.presentation import Notice
from games.variants import VARIANTS
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login.current_user import session_id
from players.models import Player
from players.protection import play_sessions
from players.protection.eligibility import Code
from players.rates import at_a_human_pace
from wallet.cashier import AmountForm, KeyForm
from wallet.ledger import purse
from wallet.models import Mode
from wallet.money import format_money

NOTICE = "table_notice"  # session key: a message shown on the page after a redirect


def solo_page(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show a solo table's page with the player's seat, or the reason why the player may not play."""
    demand_welcome(request.player, mode, session_id(request))
    operator_money.refresh_operator_balance(request.player, mode, session_id(request))
    seat = solo.open_table(player=request.player, table_id=found.pk, mode=mode)
    waiting = request.session.pop(NOTICE, None)
    return _render(request, seat, Notice(**waiting) if waiting else None)


@player_required
@require_POST
@at_a_human_pace
@click_at_a(Shape.SOLO)
def table_play(request: PlayerRequest, table_id: int, mode: Mode) -> HttpResponse:
    """Answer a click at the table: a fragment for htmx, otherwise a redirect to the page."""
    return _answer(request, table_id, mode, _carry_out)


@made_by_the_page
@player_required
@require_POST
@at_a_human_pace
@click_at_a(Shape.SOLO)
def table_now(request: PlayerRequest, table_id: int, mode: Mode) -> HttpResponse:
    """Answer as after a click that has changed nothing: a page asks when it comes back to what it has not seen."""
    return _answer(request, table_id, mode, lambda *_: (_seat(request, table_id, mode), None))


def _answer(
    request: PlayerRequest,
    table_id: int,
    mode: Mode,
    carry_out: Callable[[PlayerRequest, int, Mode], tuple[SoloSeat, solo.Played | None]],
) -> HttpResponse:
    notice, played = None, None
    try:
        seat, played = carry_out(request, table_id, mode)
        if played is not None:
            notice = repeated() if played.repeated else None
    except TableChanged:
        seat = _seat(request, table_id, mode)
        misfits = table_limits(seat).misfits(seat.slip)
        notice = table_changed(misfits, variant=VARIANTS[seat.table.variant], language=_language())
    except (PlayError, SettlementError) as error:
        if isinstance(error, NotEligible) and error.ineligibility.code is not Code.CHECK:
            raise
        seat = _seat(request, table_id, mode)
        notice = refusal(error, variant=VARIANTS[seat.table.variant], mode=mode, language=_language())
        if isinstance(error, TableWaits) and not request.htmx:  # a redirect would open the table by itself
            return _render(request, seat, notice)
    if not request.htmx:
        if notice:
            request.session[NOTICE] = vars(notice)
        response = redirect("table", slug=seat.table.slug, mode=mode)
        unseen.remember(response, request, [played.round_id] if played else [])
        return response
    return _render(request, seat, notice, played)


def _carry_out(request: PlayerRequest, table_id: int, mode: Mode) -> tuple[SoloSeat, solo.Played | None]:
    """Carry out the button's action; return the seat and, if the button deals, what was played."""
    form = SlipForm(request.POST)
    if not form.is_valid():
        raise StalePage
    sent = form.cleaned_data
    action, version = sent["action"], sent["table_version"]
    played = None
    if action == KEEP:
        seat = _seat(request, table_id, mode)
    elif isinstance(action, Deal):
        click = solo.Click(
            player=request.player,
            table_id=table_id,
            mode=mode,
            round_id=sent["round_id"],
            slip_version=sent["slip_version"],
            table_version=version,
            how=action,
            player_value=sent["player_value"],
            session=session_id(request),
        )
        played = operator_money.play(click)
        seat = played.seat
    elif isinstance(action, Change):
        seat = solo.change_slip(
            player=request.player,
            table_id=table_id,
            mode=mode,
            change=action,
            table_version=version,
            idempotency_key=sent["idempotency_key"],
            session=session_id(request),
        )
    else:
        take_off = action.startswith(TAKE)
        move = solo.take_chip if take_off else solo.add_chip
        seat = move(
            player=request.player,
            table_id=table_id,
            mode=mode,
            bet=action.removeprefix(TAKE if take_off else BET),
            chip=sent["chip"] or 0,
            table_version=version,
            idempotency_key=sent["idempotency_key"],
            session=session_id(request),
        )
    return seat, played


def _seat(request: PlayerRequest, table_id: int, mode: Mode) -> SoloSeat:
    """Return the player's seat as it is now. Raises what `demand_playable` and `solo.solo_seat_at` raise."""
    demand_playable(Table.objects.select_related("version").get(pk=table_id), request.player, mode)
    return solo.solo_seat_at(player=request.player, table_id=table_id, mode=mode)


def _render(
    request: PlayerRequest, seat: SoloSeat, notice: Notice | None, played: solo.Played | None = None
) -> HttpResponse:
    """Return the page, or to htmx the answer to a click."""
    mode, known, language = Mode(seat.mode), seat.known, _language()
    if known is None or known.has_void_notices:
        notice = notice or voided(take_void_notices(seat.player, seat.table_id, mode))
    shown = played.round_id if played else None
    result_notices = unseen.result_notices([seat] if seat.unseen != shown else [], request, language)
    page_stage = stage_on_page(seat, request.POST) if request.htmx and played is None else ""
    game = game_view(seat, language=language, notice=notice, played=played, page_stage=page_stage)
    session = session_id(request)
    play_session = known.play_session if known else None
    if play_session is None and session:
        play_session = play_sessions.read_session(seat.player, session)
    page = SoloPage(
        game=game,
        slug=seat.table.slug,
        play_url=_play_url(seat.table.slug, mode, language),
        csrf_token=csrf_token_lazy(request),
        session=play_session_view(play_session, seat.player, mode, game) if play_session else None,
        there=operator_money.balance_there(seat.player, seat.table, mode),
        notices=tuple(result_notices.values()),
        idempotency_key=None if request.htmx else uuid4(),
        page_stage=page_stage,
        is_quiet=known is not None and not (known.is_stopped or known.has_announcements),
        wait=seat.wait,
        may_hurry=seat.player.jurisdiction.may_hurry_results,
    )
    response = HttpResponse(render_answer(request.POST, page)) if request.htmx else _whole(request, seat, page)
    unseen.remember(response, request, [*result_notices, shown] if shown else result_notices)
    return response


def _whole(request: PlayerRequest, seat: SoloSeat, page: SoloPage) -> HttpResponse:
    context = {
        "page": page,
        "play_session": page.session,
        "table": seat.table,
        "variant": VARIANTS[seat.table.variant],
        "game": page.game,
        "now_mode": Mode(seat.mode),
        "mode_word": page.mode_word,
        "stream": stream_of(request),
    }
    return render(request, "games/table.html", context)


@lru_cache(maxsize=1024)
def _play_url(slug: str, mode: Mode, _of_language: str) -> str:
    return reverse("table_play", args=[slug, mode])


def _language() -> str:
    return get_language() or "en"


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
    if posted.repeated:
        return Notice("info", _("This transaction was already booked. Nothing was booked twice."))
    transferred = format_money(amount, player.currency, get_language() or "en")
    return Notice("info", _("%(amount)s was transferred to the game.") % {"amount": transferred})


def _demand_purse(table: Table) -> None:
    """Require a game with its own balance. Raises Http404."""
    if table.variant not in ON_A_PURSE:
        raise Http404
