"""Views of the demo game: start page, table, demonstration, and the content of its pages."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.backends.utils import csrf_token_lazy
from django.urls import reverse
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from games import errors
from games.betting.error_messages import refusal, refusal_at_chemin, repeated, table_changed
from games.betting.forms import BET, KEEP, TAKE, SlipForm
from games.betting.limits import Limits
from games.betting.rules import Change, Deal
from games.demo import play, session_state
from games.demo.play import Click, DemoRound, DemoSeat, DemoTable
from games.demo.steps import Step, explain_steps
from games.engine.commitments import Purpose
from games.engine.settle import SettlementError
from games.errors import (
    CommitmentSpent,
    DealerAway,
    HouseStopped,
    PlayError,
    StalePage,
    TableChanged,
    TableClosed,
    TablePaused,
)
from games.models import Shape, Table
from games.models.rounds import round_code
from games.solo import seats
from games.solo.page import DemoView, SoloPage, render_answer
from games.tables.board import Dealt, Seat, compose, round_view, spots
from games.tables.presentation import GameView, Notice, RoundView, SignedDeal, SpotView
from games.variants import VARIANTS
from players.access import HouseRequest
from players.account.registration import currency_of, highest_minimum_age
from players.login.current_user import player_of
from players.rates import at_a_human_pace, now_and_then
from wallet import house_stop
from wallet.cashier import FREE_MONEY
from wallet.models import Mode


@dataclass(frozen=True)
class WatchedView:
    """A demonstration round: table view, bets, explanation, and the link to check it."""

    view: RoundView
    spots: tuple[SpotView, ...]
    steps: tuple[Step, ...]
    currency: str
    commitment: str
    seed: str
    check_url: str


def game_view(
    demo_seat: DemoSeat, table: DemoTable, *, language: str, notice: Notice | None = None, fresh: bool = False
) -> GameView:
    """Return the content of ``#game`` for a visitor."""
    seat = Seat(
        variant=table.variant,
        limits=table.limits,
        mode=Mode.FREE,
        takes_bets=table.refusal is None,
        is_paused=isinstance(table.refusal, errors.TablePaused | errors.HouseStopped),
        is_house_stopped=isinstance(table.refusal, errors.HouseStopped),
        table_version=table.version,
        round_id=demo_seat.next.round_id,
        commitment=demo_seat.next.commitment,
        slip=demo_seat.slip.stakes,
        slip_version=demo_seat.slip_version,
        can_undo=bool(demo_seat.slip.earlier),
        last_stakes=demo_seat.last_stakes,
        last_chip=demo_seat.last_chip,
        table_id=table.id,
        funds=demo_seat.chips,
    )
    last = _dealt(demo_seat.last) if demo_seat.last else None
    return compose(seat, language=language, notice=notice, dealt=last, is_last=True, fresh=fresh)


def demo_view(demo_seat: DemoSeat, table: DemoTable) -> DemoView:
    """Return what the page shows next to the game."""
    return DemoView(
        check_url=_check_url(demo_seat.last, table) if demo_seat.last else "",
        can_refill=demo_seat.chips < FREE_MONEY[demo_seat.currency],
    )


def watched_view(watched: DemoRound, table: DemoTable, language: str) -> WatchedView:
    """Return the view of a demonstration, to be shown step by step."""
    dealt = _dealt(watched)
    stakes = {line.bet: line.stake for line in watched.lines}
    return WatchedView(
        view=round_view(dealt, table.variant, language=language, fresh=True),
        spots=spots(table.variant, table.limits, stakes, dealt.bets, language),
        steps=explain_steps(dealt.coup, watched.lines, table.variant, watched.currency, language),
        currency=watched.currency,
        commitment=watched.commitment,
        seed=watched.seed,
        check_url=_check_url(watched, table),
    )


def refused(error: errors.PlayError | SettlementError, table: DemoTable, language: str) -> Notice:
    """Return the message for a refused action. It offers a refill instead of the cashier."""
    if isinstance(error, errors.BalanceTooLow):
        return Notice("error", _("You do not have enough play chips for this bet. Refill your play chips or bet less."))
    return refusal(error, variant=table.variant, mode=Mode.FREE, language=language)


def _dealt(played: DemoRound) -> Dealt:
    return Dealt(
        id=played.id,
        code=round_code(played.id),
        cards=played.cards,
        staked=played.staked,
        paid=played.paid,
        balance_before=played.balance_before,
        balance_after=played.balance_after,
        bets={line.bet: line for line in played.lines},
        seed=played.seed,
        player_value=played.player_value,
        signed=SignedDeal.of(
            played.epoch,
            played.deal,
            {line.bet: line.stake for line in played.lines},
            bytes.fromhex(played.signature),
        ),
    )


def _check_url(played: DemoRound, table: DemoTable) -> str:
    query = {
        "commitment": played.commitment,
        "seed": played.seed,
        "value": played.player_value,
        "decks": table.variant.decks,
        "purpose": Purpose.DEMO.value,
        "round": played.id,
        "table": table.id,
        "rules": played.rules,
    }
    return f"{reverse('fair')}?{urlencode(query)}#check-result"


REFILL = "refill"
PLAY, WATCH = "play", "watch"


class DemoSlipForm(SlipForm):
    """A click on the table. Visitors can also refill."""

    def clean_action(self) -> str | Deal | Change:
        """Return what `SlipForm` returns, or `REFILL`."""
        return REFILL if self.cleaned_data["action"] == REFILL else super().clean_action()


class DoorForm(forms.Form):
    """The start form: confirms the visitor's age once, and asks whether to play or watch."""

    adult = forms.BooleanField(required=False)
    to = forms.ChoiceField(choices=[(PLAY, PLAY), (WATCH, WATCH)], required=False)

    def __init__(self, *args: Any, confirmed: bool, minimum_age: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.confirmed, self.minimum_age = confirmed, minimum_age

    def clean_adult(self) -> bool:
        """Refuse a visitor who has not confirmed their age."""
        if not (self.confirmed or self.cleaned_data["adult"]):
            message = ngettext(
                "First confirm that you are at least %d year old.",
                "First confirm that you are at least %d years old.",
                self.minimum_age,
            )
            raise forms.ValidationError(message % self.minimum_age)
        return True

    @property
    def fault(self) -> str:
        """The error message of an invalid form, or ""."""
        return "" if not self.is_bound or self.is_valid() else str(next(iter(self.errors.values()))[0])


Args = ParamSpec("Args")
DemoPage = Callable[Concatenate[HouseRequest, Table, Args], HttpResponseBase]
View = Callable[Concatenate[HttpRequest, str, Args], HttpResponseBase]


def demo_only(view: DemoPage[Args]) -> View[Args]:
    """Pass visitors to the view with the requested table.

    Players are redirected to the table, staff to the lobby. Raises Http404 if the demo game is
    disabled or the table is not a solo table.
    """

    @wraps(view)
    def open_demo(request: HttpRequest, slug: str, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        table = get_object_or_404(Table.objects.select_related("version"), slug=slug, version__isnull=False)
        if not settings.DEMO_PLAY or table.shape != Shape.SOLO:
            raise Http404
        inside = cast("HouseRequest", request)
        if request.user.is_authenticated:
            is_player = player_of(request.user) is not None
            return _lead(inside, reverse("table", args=[slug, Mode.FREE]) if is_player else reverse("lobby"))
        return view(inside, table, *args, **kwargs)

    return open_demo


@require_safe
@demo_only
def demo_table(request: HouseRequest, table: Table) -> HttpResponse:
    """Show the visitor's table, or the start page."""
    found = session_state.read(request.session)
    if found is None or table.slug not in found.demo_seats:
        return _door(request, table, DoorForm(confirmed=found is not None, minimum_age=highest_minimum_age()))
    if found.notice:
        with suppress(session_state.NoDemo), session_state.changing(request.session) as notes:
            notes.notice = None
    page = _page(request, table, found.demo_seats[table.slug], found.notice)
    context = {
        "page": page,
        "table": table,
        "variant": VARIANTS[table.variant],
        "game": page.game,
        "demo_game": page.demo,
        "mode_word": page.mode_word,
    }
    return render(request, "games/demo.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@demo_only
def demo_start(request: HouseRequest, table: Table) -> HttpResponseBase:
    """Handle the start form. A GET is redirected to the start page.

    After an error the start page has this URL, so the language switch requests it by GET.
    """
    return _begin(request, table) if request.method == "POST" else redirect("demo_table", slug=table.slug)


@now_and_then
def _begin(request: HouseRequest, table: Table) -> HttpResponse:
    """Confirm the visitor's age, then redirect to the table or to a demonstration."""
    confirmed = session_state.read(request.session) is not None
    form = DoorForm(request.POST, confirmed=confirmed, minimum_age=highest_minimum_age())
    if not form.is_valid() or _refusal(table):
        return _door(request, table, form)
    session_state.begin(request.session)
    try:
        with session_state.changing(request.session) as notes:
            now = _demo_table(table)
            if form.cleaned_data["to"] == WATCH:
                notes.watched[table.slug] = play.demonstration(now)
            elif table.slug not in notes.demo_seats:
                notes.demo_seats[table.slug] = play.sit_down(now, FREE_MONEY[now.limits.currency])
    except session_state.NoDemo:
        pass  # the visitor has logged in at this moment
    except DealerAway as away:
        return _door(request, table, form, away)
    return redirect("demo_watch" if form.cleaned_data["to"] == WATCH else "demo_table", slug=table.slug)


@require_POST
@demo_only
@at_a_human_pace
def demo_play(request: HouseRequest, table: Table) -> HttpResponse:
    """Apply a click and return the table: a fragment for htmx, otherwise a redirect."""
    try:
        with session_state.changing(request.session) as notes:
            before = notes.demo_seats.get(table.slug)
            if before is None:
                raise session_state.NoDemo
            demo_seat, notice = _answer(request, before, _demo_table(table, before.currency))
            notes.demo_seats[table.slug], notes.notice = demo_seat, None if request.htmx else notice
    except session_state.NoDemo:
        return _lead(request, reverse("demo_table", args=[table.slug]))
    if not request.htmx:
        return redirect("demo_table", slug=table.slug)
    fresh = demo_seat.last != before.last or notice == repeated()
    page = _page(request, table, demo_seat, notice, fresh=fresh)
    return HttpResponse(render_answer(request.POST, page))


@require_http_methods(["GET", "HEAD", "POST"])
@demo_only
def demo_watch(request: HouseRequest, table: Table) -> HttpResponseBase:
    """Show a demonstration. A POST deals a new one."""
    if request.method == "POST":
        return _deal_to_watch(request, table)
    found = session_state.read(request.session)
    watched = found.watched.get(table.slug) if found else None
    if watched is None:
        return redirect("demo_table", slug=table.slug)
    shown = watched_view(watched, _demo_table(table, watched.currency), _language())
    return render(request, "games/demo_watch.html", {"table": table, "watched": shown})


@now_and_then
def _deal_to_watch(request: HouseRequest, table: Table) -> HttpResponse:
    try:
        with session_state.changing(request.session) as notes:
            notes.watched[table.slug] = play.demonstration(_demo_table(table))
    except DealerAway as away:
        return _door(request, table, DoorForm(confirmed=True, minimum_age=highest_minimum_age()), away)
    except (session_state.NoDemo, PlayError):
        return redirect("demo_table", slug=table.slug)
    return redirect("demo_watch", slug=table.slug)


def _answer(request: HouseRequest, demo_seat: DemoSeat, table: DemoTable) -> tuple[DemoSeat, Notice | None]:
    """Return the seat after a click and a notice.

    After a refusal the seat is unchanged and the notice has the reason.
    """
    form = DemoSlipForm(request.POST)
    if not form.is_valid():
        return demo_seat, refused(StalePage(), table, _language())
    try:
        return _carry_out(form.cleaned_data, demo_seat, table)
    except TableChanged:
        misfits = table.limits.misfits(demo_seat.slip.stakes)
        return demo_seat, table_changed(misfits, variant=table.variant, language=_language())
    except CommitmentSpent as spent:
        with suppress(DealerAway):
            demo_seat = play.renew(demo_seat, table)
        return demo_seat, refused(spent, table, _language())
    except (PlayError, SettlementError) as error:
        return demo_seat, refused(error, table, _language())


def _carry_out(sent: Mapping[str, Any], demo_seat: DemoSeat, table: DemoTable) -> tuple[DemoSeat, Notice | None]:
    """Carry out the action of the button. Raises PlayError, SettlementError."""
    action = sent["action"]
    click = Click(sent["round_id"], sent["slip_version"], sent["table_version"], sent["player_value"])
    if isinstance(action, Deal):
        if play.was_played(demo_seat, click):
            return demo_seat, repeated()
        return play.play_round(demo_seat, table, click, action), None
    if action == KEEP:
        return demo_seat, None
    if action == REFILL:
        return play.refill(demo_seat, FREE_MONEY[demo_seat.currency]), None
    play.check_version(table, click)
    if isinstance(action, Change):
        return play.change_slip(demo_seat, table, action), None
    take_off = action.startswith(TAKE)
    move = play.take_chip if take_off else play.add_chip
    return move(demo_seat, table, action.removeprefix(TAKE if take_off else BET), sent["chip"] or 0), None


def _door(request: HouseRequest, table: Table, form: DoorForm, refusal: PlayError | None = None) -> HttpResponse:
    refusal = refusal or _refusal(table)
    why = ""
    if isinstance(refusal, HouseStopped | TablePaused | DealerAway):
        why = refusal_at_chemin(refusal, mode=Mode.FREE).text
    context = {"table": table, "form": form, "is_open": refusal is None, "why_not": why}
    return render(request, "games/demo_start.html", context)


def _page(
    request: HouseRequest, table: Table, demo_seat: DemoSeat, notice: Notice | None, *, fresh: bool = False
) -> SoloPage:
    now = _demo_table(table, demo_seat.currency)
    return SoloPage(
        game=game_view(demo_seat, now, language=_language(), notice=notice, fresh=fresh),
        slug=table.slug,
        play_url=reverse("demo_play", args=[table.slug]),
        csrf_token=csrf_token_lazy(request),
        demo=demo_view(demo_seat, now),
    )


def _demo_table(table: Table, currency: str | None = None) -> DemoTable:
    """Return the table's state, in the seat's currency or that of the reader's language."""
    assert table.version is not None  # noqa: S101  (the query requires it)
    limits = table.version.limits
    wanted = currency or currency_of(_language()) or ""
    return DemoTable(
        id=table.pk,
        variant=VARIANTS[table.variant],
        limits=Limits.of(limits, wanted if wanted in limits else next(iter(limits))),
        version=table.version.number,
        refusal=_refusal(table),
    )


def _refusal(table: Table) -> PlayError | None:
    """Return why the table takes no bets now, by the same rules as for money."""
    if house_stop.current():
        return HouseStopped()
    if seats.pauses(table, Mode.FREE):
        return TablePaused()
    return None if seats.takes_bets(table, Mode.FREE) else TableClosed()


def _lead(request: HouseRequest, address: str) -> HttpResponse:
    """Redirect. htmx needs its own header, otherwise it would insert the target page as a fragment."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def _language() -> str:
    return get_language() or "en"
