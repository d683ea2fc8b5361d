"""What a guest's pages show, composed from the guest's place as a player's is from theirs."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from games import errors
from games.betting.error_messages import refusal
from games.demo.play import GuestPlace, GuestRound, GuestTable
from games.demo.steps import Step, told
from games.engine.settle import SettlementError
from games.rounds.codes import round_code
from games.tables.board import Dealt, Seat, compose, round_view, spots
from games.tables.presentation import GameView, Notice, RoundView, SpotView
from wallet.cashier import FREE_MONEY
from wallet.models import Mode


@dataclass(frozen=True)
class GuestView:
    """What stands beside a guest's game: where the last round can be checked, and whether chips are missing."""

    check_url: str
    can_refill: bool


@dataclass(frozen=True)
class WatchedView:
    """A demonstration: the round, its bets, its story, and where to check it."""

    view: RoundView
    spots: tuple[SpotView, ...]
    steps: tuple[Step, ...]
    currency: str
    commitment: str
    seed: str
    check_url: str


def game_view(
    place: GuestPlace, table: GuestTable, *, language: str, notice: Notice | None = None, fresh: bool = False
) -> GameView:
    """Return everything inside ``#game`` for a guest."""
    seat = Seat(
        variant=table.variant,
        limits=table.limits,
        mode=Mode.FREE,
        takes_bets=table.refusal is None,
        is_paused=isinstance(table.refusal, errors.TablePaused | errors.HouseStopped),
        is_house_stopped=isinstance(table.refusal, errors.HouseStopped),
        table_version=table.version,
        round_id=place.next.round_id,
        commitment=place.next.commitment,
        slip=place.slip.stakes,
        slip_version=place.slip_version,
        can_undo=bool(place.slip.earlier),
        last_stakes=place.last_stakes,
        last_chip=place.last_chip,
        player_value=place.player_value,
        funds=place.chips,
    )
    last = _dealt(place.last) if place.last else None
    return compose(seat, language=language, notice=notice, dealt=last, is_last=True, fresh=fresh)


def guest_view(place: GuestPlace, table: GuestTable) -> GuestView:
    """Return what stands beside the game."""
    return GuestView(
        check_url=_check_url(place.last, table) if place.last else "",
        can_refill=place.chips < FREE_MONEY[place.currency],
    )


def watched_view(watched: GuestRound, table: GuestTable, language: str) -> WatchedView:
    """Return a demonstration, to be dealt step by step."""
    dealt = _dealt(watched)
    stakes = {line.bet: line.stake for line in watched.lines}
    return WatchedView(
        view=round_view(dealt, table.variant, language=language, fresh=True),
        spots=spots(table.variant, table.limits, stakes, dealt.bets, language),
        steps=told(dealt.coup, watched.lines, table.variant, watched.currency, language),
        currency=watched.currency,
        commitment=watched.commitment,
        seed=watched.seed,
        check_url=_check_url(watched, table),
    )


def refused(error: errors.PlayError | SettlementError, table: GuestTable, language: str) -> Notice:
    """Say why nothing happened; what leads a player to the cashier is a refill here."""
    if isinstance(error, errors.BalanceTooLow):
        return Notice("error", _("Your play chips do not cover this bet. Refill them, or bet less."))
    return refusal(error, variant=table.variant, mode=Mode.FREE, language=language)


def _dealt(played: GuestRound) -> Dealt:
    return Dealt(
        id=played.id,
        code=round_code(played.id),
        cards=played.cards,
        staked=played.staked,
        paid=played.paid,
        balance_before=played.balance_before,
        balance_after=played.balance_after,
        bets={line.bet: line for line in played.lines},
    )


def _check_url(played: GuestRound, table: GuestTable) -> str:
    query = {
        "commitment": played.commitment,
        "seed": played.seed,
        "value": played.player_value,
        "decks": table.variant.decks,
    }
    return f"{reverse('fair')}?{urlencode(query)}#check-result"
