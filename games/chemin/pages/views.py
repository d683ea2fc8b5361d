"""Views of Chemin de Fer tables: the page, decisions, seats, and the refresh of a page that lost its stream."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from django import forms
from django.http import Http404, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from games.betting import idempotency
from games.betting.error_messages import refusal_at_chemin, voided
from games.chat.panel import chat_view
from games.chemin import play
from games.chemin.pages import messages, rendering
from games.chemin.pages.options import NAMES
from games.chemin.state import snapshots
from games.chemin.state.queries import PublicTable
from games.engine.chemin import Call
from games.engine.chemin.actions import MakeCall
from games.errors import CheminRefused, NotEligible, PlayError, StalePage
from games.models import LiveTable, Shape, Table
from games.rounds.void import take_void_notices
from games.shared.pages import stream_tokens
from games.shared.pages.panel_tabs import side_panels
from games.shared.pages.views import BOARD, WHOLE, around, live_table_of, render_around
from games.solo import seats
from games.tables.access import at_a_playable_table, demand_welcome
from games.tables.fragments import render_fragment
from games.tables.presentation import Notice
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login.current_user import session_id
from players.protection.eligibility import Code
from players.rates import at_a_human_pace
from wallet.cashier import MoneyField, MoneyForm
from wallet.models import Mode
from wallet.money import format_amount

KEEP: Final = "keep"  # the default button, pressed by Enter: does nothing
JOIN, LEAVE, STEP_AWAY, COME_BACK = "join", "leave", "step_away", "come_back"
AT: Final = "join:"  # prefix of a seat number


class SeatAction(NamedTuple):
    """A decision: the name of the action, and the call where it is one."""

    name: str
    call: Call | None


class ActForm(MoneyForm):
    """An answer: question, button, and the amount in the reader's notation where there is one to choose."""

    question = forms.IntegerField(min_value=0, max_value=2**63 - 1)
    action = forms.CharField(max_length=40)
    idempotency_key = forms.UUIDField(required=False)
    amount = MoneyField(required=False)

    def clean_action(self) -> SeatAction:
        """Return the decision of the button."""
        name, _, call = self.cleaned_data["action"].partition(":")
        if name not in NAMES.values() or (name == NAMES[MakeCall]) != (call in Call.__members__.values()):
            raise forms.ValidationError("unknown", code="unknown")
        return SeatAction(name, Call(call) if call else None)

    def clean(self) -> dict[str, Any]:
        """Bind the idempotency key to the answer."""
        said: dict[str, Any] = super().clean() or self.cleaned_data
        answer = (said.get(each) for each in ("question", "action", "amount"))
        return {**said, "idempotency_key": idempotency.bound(said.get("idempotency_key"), *answer)}

    @property
    def fault(self) -> str:
        """Return the error of the amount; "" where something else is wrong."""
        return str(self.errors["amount"][0]) if self.errors.keys() == {"amount"} else ""


class SeatForm(forms.Form):
    """Join at a given or random seat, step away, come back, leave."""

    action = forms.CharField(max_length=20)

    def clean_action(self) -> str | int:
        """Return the action, or the number of the seat to take."""
        action: str = self.cleaned_data["action"]
        if action in (KEEP, JOIN, LEAVE, STEP_AWAY, COME_BACK):
            return action
        number = action.removeprefix(AT)
        if number != action and number.isascii() and number.isdigit() and len(number) == 1:
            return int(number)
        raise forms.ValidationError("unknown", code="unknown")


def answer_of(form: ActForm) -> dict[str, Any]:
    """Return the arguments of `games.chemin.play.decide` from a valid form."""
    seat_action: SeatAction = form.cleaned_data["action"]
    return {
        "question": form.cleaned_data["question"],
        "action_name": seat_action.name,
        "call": seat_action.call,
        "amount": form.cleaned_data["amount"],
        "idempotency_key": form.cleaned_data["idempotency_key"],
    }


NOTICE: Final = "chemin_notice"  # session key: a message for the page after a redirect
REFRESH: Final = 5  # seconds until a page without a script reloads


def chemin_page(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show the page of a table, or why the player may not play.

    Where the jurisdiction allows play at one table at a time, this becomes that table.
    """
    demand_welcome(request.player, mode, session_id(request))
    live = live_table_of(found, mode)
    if not request.player.jurisdiction.may_play_in_parallel:
        seats.sit(request.player, live.table_id, mode)
    waiting = request.session.pop(NOTICE, None)
    return _page(request, live, Notice(**waiting) if waiting else None)


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def chemin_act(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Carry out the player's answer to the pending question."""
    live = _chemin_table(found, mode)
    form = ActForm(request.POST, currency=request.player.currency)
    if not form.is_valid():
        notice = Notice("error", form.fault) if form.fault else _refusal(StalePage(), live)
        return _answered(request, live, notice)
    return _answered(request, live, _done(partial(_act, request, live, form), request, live))


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def chemin_seat(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Have the player sit down, step away, come back or leave."""
    live = _chemin_table(found, mode)
    form = SeatForm(request.POST)
    if not form.is_valid():
        return _answered(request, live, _refusal(StalePage(), live))
    return _answered(request, live, _done(partial(_seat, request, live, form.cleaned_data["action"]), request, live))


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_playable_table
def chemin_now(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Return ``#live`` with a new stream ticket, and the log if the page shows an older one.

    Without a script, the browser itself asks and receives the whole page.
    """
    live = _chemin_table(found, mode)
    if WHOLE in request.GET:
        return _page(request, live, None)
    seen = snapshots.read_public(live.pk)
    parts = _parts(request, live, seen, _voided(request, live, seen))
    now = render_fragment(
        "chemin.html#now",
        state=seen,
        stream=parts["stream"],
        slug=parts["slug"],
        mode=parts["mode"],
        public=parts["public"],
        own=parts["own"],
    )
    if request.GET.get(BOARD) not in (None, rendering.page_board_key(seen)):
        now += rendering.render_board(seen, _language())
    return HttpResponse(now)


def _chemin_table(found: Table, mode: Mode) -> LiveTable:
    if found.shape != Shape.CHEMIN:
        raise Http404
    return live_table_of(found, mode)


# --- Actions ---------------------------------------------------------------------------------------------------------


def _act(request: PlayerRequest, live: LiveTable, form: ActForm) -> None:
    play.decide(player=request.player, live_table_id=live.pk, session=session_id(request), **answer_of(form))


def _seat(request: PlayerRequest, live: LiveTable, action: str | int) -> None:
    who: dict[str, Any] = {"player": request.player, "live_table_id": live.pk}
    match action:
        case int():
            play.join(**who, seat_number=action, session=session_id(request))
        case str() if action == JOIN:
            play.join(**who, session=session_id(request))
        case str() if action == LEAVE:
            play.leave(**who)
        case str() if action == STEP_AWAY:
            play.step_away(**who)
        case str() if action == COME_BACK:
            play.come_back(**who, session=session_id(request))
        case _:
            assert action == KEEP  # noqa: S101  (the form takes nothing else)


def _done(seat_action: Callable[[], None], request: PlayerRequest, live: LiveTable) -> Notice | None:
    """Carry out an action; return the refusal, if any. Raises NotEligible where the player may not play at all."""
    try:
        seat_action()
    except PlayError as error:
        if isinstance(error, NotEligible) and error.ineligibility.code is not Code.CHECK:
            raise
        if isinstance(error, CheminRefused) and error.reason in play.ALREADY:
            return None
        if isinstance(error, CheminRefused) and error.reason in play.INFORMATIVE and not request.htmx:
            error = StalePage()  # a notice stored in the session would reveal the hand to a reader of that row
        return _refusal(error, live)
    return None


def _refusal(error: PlayError, live: LiveTable) -> Notice:
    if isinstance(error, CheminRefused):
        rules = snapshots.read_public(live.pk).rules
        money = partial(format_amount, currency=rules.currency, language=_language())
        return Notice("error", messages.refused(error.reason, rules, money))
    return refusal_at_chemin(error, mode=Mode(live.mode))


def _answered(request: PlayerRequest, live: LiveTable, notice: Notice | None) -> HttpResponse:
    """Return the player's own part to htmx, or redirect to the page."""
    if not request.htmx:
        if notice:
            request.session[NOTICE] = vars(notice)
        return redirect("table", slug=live.table.slug, mode=live.mode)
    seen = snapshots.read_public(live.pk)
    own = snapshots.read_own(live.pk, request.player.pk)
    html = rendering.render_own(seen, own, _language(), notice=notice or _voided(request, live, seen))
    return HttpResponse(html.for_layout(request.POST.get("layout")) + render_around(request, live))


# --- Rendering -------------------------------------------------------------------------------------------------------


def _voided(request: PlayerRequest, live: LiveTable, seen: PublicTable) -> Notice | None:
    """Return a notice of void coups. The table itself reports the latest one."""
    rounds = take_void_notices(request.player, live.table_id, Mode(live.mode))
    return voided([each for each in rounds if each[0] != seen.round])


def _parts(
    request: PlayerRequest, live: LiveTable, seen: PublicTable, notice: Notice | None, token: str = ""
) -> dict[str, Any]:
    """Return the arguments of ``#live``; *token* is the CSRF token for forms sent without a script."""
    own = snapshots.read_own(live.pk, request.player.pk)
    return {
        "slug": live.table.slug,
        "mode": live.mode,
        "public": rendering.render_public(seen, _language()),
        "own": rendering.render_own(seen, own, _language(), notice=notice, csrf_token=token),
        "stream": _stream(request, seen),
        "state": seen,
    }


def _stream(request: PlayerRequest, seen: PublicTable) -> str:
    """Return the address of the page's stream."""
    session = session_id(request)
    if session is None:
        return ""
    player = request.player
    who = (player.pk, seen.live_table, session, _language())
    ticket = stream_tokens.Ticket(*who, made_at=seen.now, shape=Shape.CHEMIN, jurisdiction=player.jurisdiction_id)
    return stream_tokens.issue(ticket, request.session.session_key)


def _page(request: PlayerRequest, live: LiveTable, notice: Notice | None) -> HttpResponse:
    """Show the whole page of a table."""
    seen = snapshots.read_public(live.pk)
    context = {
        **_parts(request, live, seen, notice or _voided(request, live, seen), get_token(request)),
        **around(request, live),
        "board": rendering.render_board(seen, _language()),
        "live": live,  # tells the template that this page shows the balance itself
        "rules": seen.rules,
        "refresh": _refresh(seen, request.player.pk),
        "chat": chat_view(request.player, live),
        "panels": side_panels(live.table, Mode(live.mode)),
    }
    return render(request, "games/chemin.html", context)


def _refresh(seen: PublicTable, player_id: int) -> int:
    """Return the seconds until a page without a script reloads; not before the deadline of its reader."""
    asked = seen.seated_player(seen.table_state.turn) if seen.table_state.turn else None
    if asked is None or asked.player != player_id or seen.deadline is None:
        return REFRESH
    return max(REFRESH, round((seen.deadline - seen.now).total_seconds()) + 1)


def _language() -> str:
    return get_language() or "en"
