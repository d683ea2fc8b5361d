"""Views of shared tables: the page, a click, the chips, and the refresh after a lost stream."""

from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.template.backends.utils import csrf_token_lazy
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from audit.raw_rows import fetch_named
from games.betting.eligibility import is_played_for
from games.betting.error_messages import refusal, table_changed, voided
from games.betting.forms import BET, KEEP, TAKE, ClickForm
from games.betting.limits import Limits
from games.betting.rules import Change, plays_on
from games.chat.panel import chat_view
from games.engine.coup import Side
from games.engine.settle import SettlementError
from games.errors import NoChipChosen, NotEligible, PlayError, StalePage, TableChanged, TooManyChips, UnknownChip
from games.models import LiveTable, Shape, Table
from games.rounds import receipts
from games.rounds.void import take_void_notices
from games.shared import bets, moves, phases, seats
from games.shared.favourites import panel
from games.shared.pages import chips, rendering, stream_tokens
from games.shared.pages.panel_tabs import side_panels
from games.shared.state import READ_OWN, READ_PUBLIC, State, public_state
from games.solo.page import play_session_view, purse_forms
from games.tables.access import at_a_shared_table, click_at_a, demand_playable, demand_welcome, table_at
from games.tables.fragments import render_fragment
from games.tables.presentation import Notice, PurseForms
from games.variants import VARIANTS
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login.current_user import session_id
from players.protection import play_sessions
from players.protection.eligibility import Code
from players.rates import at_a_human_pace, at_the_pace_of_watchers
from wallet.models import AccountKind, Mode

WHOLE = "page"  # query parameter: return the whole page
BOARD = "board"  # query parameter: key of the scoreboard that the page shows
A_MOMENT = 1  # seconds that a cache may keep what a visitor's page asks for every two
NOTICE = "live_notice"  # session key: a message for the page after a redirect


def live_page(request: PlayerRequest, found: Table, mode: Mode, template: str = "games/live.html") -> HttpResponse:
    """Show the page of a shared table, or why the player may not play."""
    demand_welcome(request.player, mode, session_id(request))
    live = live_table_of(found, mode)
    seats.open_seat(request.player, live)
    waiting = request.session.pop(NOTICE, None)
    notice = Notice(**waiting) if waiting else _voided(request, live)
    return render(request, template, _page(request, live, notice))


@player_required
@require_POST
@at_a_human_pace
@click_at_a(Shape.SHARED)
def live_bet(request: PlayerRequest, live_table_id: int, mode: Mode) -> HttpResponse:
    """Carry out one click, and return the player's own part to htmx or redirect to the page."""
    language, notice, shown = get_language() or "en", None, None
    try:
        shown = _carry_out(request, live_table_id)
    except (PlayError, SettlementError) as error:
        if isinstance(error, NotEligible) and error.ineligibility.code is not Code.CHECK:
            raise
        table = _playable(request, live_table_id, mode)
        if isinstance(error, TableChanged):
            notice = table_changed((), variant=VARIANTS[table.variant], language=language)
        else:
            notice = refusal(error, variant=VARIANTS[table.variant], mode=mode, language=language)
    session = session_id(request)
    shown = shown or _shown(request, live_table_id)
    slug = shown.public["slug"]
    if not request.htmx:
        if notice:
            request.session[NOTICE] = vars(notice)
        return redirect("table", slug=slug, mode=mode)
    if notice is None and shown.has_void_notices:
        notice = _voided(request, LiveTable.objects.get(pk=live_table_id))
    own = rendering.render_own(public_state(shown.public), shown.own, language, notice=notice)
    play_session = shown.play_session or (play_sessions.read_session(request.player, session) if session else None)
    session_view = play_session_view(play_session, request.player, mode) if play_session else None
    token = csrf_token_lazy(request)
    around_it = render_fragment("live.html#around", session=session_view, slug=slug, mode=mode, csrf_token=token)
    receipt = render_fragment(
        "live.html#receipt",
        bets_on=_bets_on(shown.own),
        version=shown.own["version"],
        note=receipts.note_of(shown.receipt),
    )
    return HttpResponse("".join([own.for_layout(request.POST.get("layout")), around_it, receipt]))


class CutForm(forms.Form):
    """Contribution of a player's browser to the shuffle of a shoe: first the digest, then the value."""

    cut = forms.UUIDField()  # the shoe that it becomes
    digest = forms.RegexField(r"\A[0-9a-f]{64}\Z", required=False)
    value = forms.RegexField(r"\A[0-9a-f]{32}\Z", required=False)


@player_required
@require_POST
@at_a_human_pace
@click_at_a(Shape.SHARED, Shape.CHEMIN)
def live_cut(request: PlayerRequest, live_table_id: int, mode: Mode) -> HttpResponse:
    """Bind the player to a value for the shoe that is being cut, or open it. Answers whether that was in time."""
    form = CutForm(request.POST)
    if not form.is_valid() or bool(form.cleaned_data["digest"]) == bool(form.cleaned_data["value"]):
        return HttpResponse(status=400)
    shoe, digest, value = (form.cleaned_data[name] for name in ("cut", "digest", "value"))
    player = request.player.pk
    if digest:
        is_in_time = moves.bind_chance(live_table_id, shoe, player, digest)
    else:
        is_in_time = moves.open_chance(live_table_id, shoe, player, value)
    return JsonResponse({"is_in_time": is_in_time})


class SqueezeForm(forms.Form):
    """Progress of a squeeze: how far the player has lifted a card of the hand that they turn."""

    round_id = forms.UUIDField()
    side = forms.ChoiceField(choices=[(side.value, side.value) for side in Side])
    place = forms.IntegerField(min_value=0, max_value=3)  # in the hand
    share = forms.IntegerField(min_value=0, max_value=100)


@player_required
@require_POST
@at_a_human_pace
@click_at_a(Shape.SHARED)
def live_squeeze(request: PlayerRequest, live_table_id: int, mode: Mode) -> HttpResponse:
    """Show the others at the table how far the player has lifted a card. Answers whether it was theirs to lift."""
    form = SqueezeForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=400)
    said = form.cleaned_data
    with transaction.atomic():
        is_noted = moves.squeeze(
            live_table_id, said["round_id"], request.player.pk, said["side"], said["place"], said["share"]
        )
    return JsonResponse({"is_noted": is_noted})


def _shown(request: PlayerRequest, live_table_id: int) -> seats.Shown:
    """Return what the table shows to the player, who gets a seat if they have none. Raises Http404."""
    session = session_id(request)
    shown = seats.read_shown(live_table_id, request.player, session)
    if shown is None:
        seats.seat_at(request.player, LiveTable.objects.select_related("table__version").get(pk=live_table_id))
        shown = seats.read_shown(live_table_id, request.player, session)
    if shown is None:
        raise Http404
    return shown


def _playable(request: PlayerRequest, live_table_id: int, mode: Mode) -> Table:
    """Return the table. Raises what `demand_playable` raises."""
    table = Table.objects.select_related("version").get(live=live_table_id)
    demand_playable(table, request.player, mode)
    return table


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_shared_table
def live_now(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Return ``#live`` with a new stream ticket, and the scoreboard if the page shows an older one.

    Without a script, the browser itself asks and receives the whole page.
    """
    live = live_table_of(found, mode)
    seats.seat_at(request.player, live)
    if WHOLE in request.GET:
        return render(request, "games/live.html", _page(request, live, _voided(request, live)))
    parts = _parts(request, live, _voided(request, live))
    state = parts["state"]
    now = render_fragment(
        "live.html#now",
        state=state,
        stream=parts["stream"],
        slug=parts["slug"],
        mode=parts["mode"],
        public=parts["public"],
        own=parts["own"],
    )
    if request.GET.get(BOARD) not in (None, rendering.page_board_key(state)):
        now += rendering.render_board(state, get_language() or "en")
    return HttpResponse(now)


@made_by_the_page
@require_safe
@at_the_pace_of_watchers
def live_watch(request: HttpRequest, slug: str, mode: Mode) -> HttpResponse:
    """Show a shared table to a visitor: the cards and the scoreboard, and nobody's bets. It has no
    stream: htmx asks for the public part again, and gets the scoreboard if that has changed.

    It does not wake a table that rests. A logged-in player is led to the table. A cache may keep the public part for
    a second, for those who send the same cookies, or none.
    """
    if request.user.is_authenticated:
        return redirect("table", slug=slug, mode=mode)
    found = table_at(slug)
    if found.shape != Shape.SHARED or found.version is None or not is_played_for(found.version, mode):
        raise Http404
    live = live_table_of(found, mode)
    state, language = read_public(live), get_language() or "en"
    key = rendering.page_board_key(state)
    context = {
        "table": found,
        "mode": mode,
        "is_real": mode is Mode.REAL,
        "public": rendering.render_public(state, language),
        "board": rendering.render_board(state, language) if request.GET.get(BOARD) != key else "",
        "key": key,
    }
    if BOARD not in request.GET:
        return render(request, "games/live_watch.html", context)
    part = render(request, "games/live_watch.html#watched", context)
    patch_cache_control(part, public=True, max_age=A_MOMENT)
    return part


def read_public(live: LiveTable) -> State:
    """Return the public state of a shared table at this moment."""
    return public_state(_row(READ_PUBLIC, [live.pk]))


def read_own(live: LiveTable, player_id: int) -> dict[str, Any]:
    """Return a player's own row at a shared table."""
    return _row(READ_OWN, [live.pk, [player_id]])


def _row(question: str, parameters: list[Any]) -> dict[str, Any]:
    row = fetch_named(question, parameters)
    if row is None:
        raise Http404
    return row


def _voided(request: PlayerRequest, live: LiveTable) -> Notice | None:
    """Return a notice of void rounds. The player's own part reports the last round played."""
    latest = seats.seat_at(request.player, live).round_id
    rounds = take_void_notices(request.player, live.table_id, Mode(live.mode))
    return voided([each for each in rounds if each[0] != latest])


def live_table_of(found: Table, mode: Mode) -> LiveTable:
    """Return the live table for one kind of money. Raises Http404 for a solo table."""
    live = get_object_or_404(LiveTable, table=found, mode=mode)
    live.table = found
    return live


def _carry_out(request: PlayerRequest, live_table_id: int) -> seats.Shown | None:
    """Carry out the button that was pressed; return what the table then shows if it changed the bets.

    Raises PlayError, SettlementError.
    """
    form = ClickForm(request.POST)
    if not form.is_valid():
        raise StalePage
    action = form.cleaned_data["action"]
    if action == KEEP:
        return None
    click = {
        "player": request.player,
        "live_table_id": live_table_id,
        "round_id": form.cleaned_data["round_id"],
        "table_version": form.cleaned_data["table_version"],
        "session": session_id(request),
        "shows": True,
        "idempotency_key": form.cleaned_data["idempotency_key"],
    }
    if isinstance(action, Change):
        seat = bets.change_slip(**click, change=action)
    elif isinstance(action, int):
        seat = bets.place_favourite(**click, favourite_id=action)
    else:
        take_off = action.startswith(TAKE)
        move = bets.take_chip if take_off else bets.add_chip
        seat = move(**click, bet=action.removeprefix(TAKE if take_off else BET), chip=form.cleaned_data["chip"] or 0)
    shown: seats.Shown | None = seat.shown
    return shown


def _parts(request: PlayerRequest, live: LiveTable, notice: Notice | None, token: str = "") -> dict[str, Any]:
    """Return the arguments of ``#live``; *token* is the CSRF token for a form sent without a script."""
    language, state = get_language() or "en", phases.read_awake(live.pk)
    own = read_own(live, request.player.pk)
    return {
        "bets_on": _bets_on(own),
        "version": own["version"],
        "slug": live.table.slug,
        "mode": live.mode,
        "public": rendering.render_public(state, language),
        "own": rendering.render_own(state, own, language, notice=notice, csrf_token=token),
        "stream": _stream(request, state, language),
        "state": state,
    }


def _bets_on(own: dict[str, Any]) -> UUID | None:
    """Return the round that goes on and that the player of a row of `READ_OWN` has bet on."""
    round_id: UUID | None = own["round"]
    return round_id if own["is_recent"] and own["paid"] is None else None


def _stream(request: PlayerRequest, state: State, language: str) -> str:
    """Return the address of the page's stream."""
    session = session_id(request)
    if session is None:
        return ""
    player = request.player
    who = (player.pk, state.live_table, session, language)
    ticket = stream_tokens.Ticket(*who, made_at=state.now, jurisdiction=player.jurisdiction_id)
    return stream_tokens.issue(ticket, request.session.session_key)


def _page(request: PlayerRequest, live: LiveTable, notice: Notice | None) -> dict[str, Any]:
    """Return the context of the whole page of a table."""
    parts = _parts(request, live, notice, get_token(request))
    limits, language = parts["state"].limits(request.player.currency), get_language() or "en"
    return {
        **parts,
        **around(request, live),
        "board": rendering.render_board(parts["state"], language),
        "live": live,  # tells the template that this page shows the balance itself
        "variant": VARIANTS[live.table.variant],
        "limits": limits,
        "purse": _purse(request, live, limits),
        "favourites": panel(request.session, request.player, live, parts["state"], language),
        "chat": chat_view(request.player, live),
        "panels": side_panels(live.table, Mode(live.mode)),
    }


def _purse(request: PlayerRequest, live: LiveTable, limits: Limits) -> PurseForms | None:
    """Return the forms that move money into and out of the game, where it has a separate balance."""
    if plays_on(VARIANTS[live.table.variant]) is not AccountKind.PURSE:
        return None
    return purse_forms(request.player.pk, Mode(live.mode), limits)


def render_around(request: PlayerRequest, live: LiveTable) -> str:
    """Return what changes around the table with a click, for htmx."""
    session = around(request, live)["play_session"]
    token = csrf_token_lazy(request)
    return render_fragment("live.html#around", session=session, slug=live.table.slug, mode=live.mode, csrf_token=token)


def around(request: PlayerRequest, live: LiveTable) -> dict[str, Any]:
    """Return what changes around the table with a bet: the play session, and a due reality check."""
    session, mode = session_id(request), Mode(live.mode)
    play_session = play_sessions.read_session(request.player, session) if session else None
    return {
        "table": live.table,
        "now_mode": mode,
        "mode_word": mode.name.lower(),
        "play_session": play_session_view(play_session, request.player, mode) if play_session else None,
    }


class ChipsForm(forms.Form):
    """The chips that were ticked, or the button that resets the tray."""

    reset = forms.BooleanField(required=False)

    def __init__(self, data: QueryDict, allowed: tuple[int, ...]) -> None:
        super().__init__(data)
        choices = [(chip, str(chip)) for chip in allowed]
        self.fields["chips"] = forms.TypedMultipleChoiceField(coerce=int, required=False, choices=choices)


@player_required
@require_POST
@at_a_human_pace
@at_a_shared_table
def live_chips(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Change the player's chips, and return the panel to htmx or redirect to the table."""
    demand_welcome(request.player, mode, session_id(request))
    limits = read_public(get_object_or_404(LiveTable, table=found, mode=mode)).limits(request.player.currency)
    form = ChipsForm(request.POST, limits.chips)
    try:
        if not form.is_valid():
            raise UnknownChip
        if form.cleaned_data["reset"]:
            chips.reset(player=request.player, limits=limits)
        else:
            chips.choose_chips(player=request.player, limits=limits, chips=form.cleaned_data["chips"])
        said = Notice("info", _("The chips in your tray have been changed."))
    except PlayError as error:
        said = Notice("error", _message(error))
    if not request.htmx:
        request.session[NOTICE] = vars(said)
        return redirect("table", slug=found.slug, mode=mode)
    choice = chips.choice(request.player, limits)
    return render(
        request, "games/panels.html#chips", {"table": found, "now_mode": mode, "choice": choice, "said": said}
    )


def _message(error: PlayError) -> str:
    if isinstance(error, TooManyChips):
        return ngettext(
            "You can choose at most %(number)d chip.", "You can choose at most %(number)d chips.", chips.MOST
        ) % {"number": chips.MOST}
    if isinstance(error, NoChipChosen):
        return _("Choose at least one chip of this table.")
    return _("This table does not have this chip. Choose one from the tray.")
