"""Solo rounds played with the money of an operator's player.

The operator is asked for the stake first. Only after its answer, the round runs between two
bookings in one transaction. The transaction never waits for the network.
"""

from uuid import UUID

from django.db import transaction
from django.urls import reverse

from games import solo
from games.betting.eligibility import is_eligible, is_played_for, uses_operator_wallet
from games.errors import (
    BetUnderWay,
    OperatorBalanceTooLow,
    OperatorBusy,
    OperatorRefuses,
    OperatorSilent,
    VisitOver,
)
from games.models import Table
from games.solo import Click, Played, seats
from games.solo.page import BalanceThere
from players.models import Player
from players.protection import registers
from wallet.models import Mode, OperatorBet
from wallet.operator_wallet import bets, operators, queue


def balance_there(player: Player, table: Table, mode: Mode) -> BalanceThere | None:
    """Return the operator's balance shown at a table, or None if the money is held here."""
    if not uses_operator_wallet(player, mode):
        return None
    address = reverse("operator_balance", args=[table.slug, mode])
    return BalanceThere(operators.funds(player, mode), player.currency, queue.is_waiting(player), address)


def play(click: Click) -> Played:
    """Play a round as `solo.play` does; for an operator's player, with the operator's money.

    Also raises BetUnderWay, OperatorBusy, OperatorRefuses, OperatorSilent,
    OperatorBalanceTooLow, VisitOver.
    """
    if not uses_operator_wallet(click.player, click.mode):
        return solo.play(click)
    registers.ask_where_due(click.player)
    with solo.on_record(click):
        amount = solo.asked_stake(click)
        if amount is None:
            return solo.play_within(click)
        bet = _ask(click, amount)
        try:
            played = _play(click, bet)
        except BaseException:  # after any error this bet plays no round
            bets.give_up(bet, "the round was refused here")
            raise
        if played.repeated:  # another click played the round with its own bet
            bets.give_up(bet, "the round was played before")
        return played


def is_open_to(table: Table, jurisdiction: str, currency: str) -> bool:
    """Return whether a table serves players of a jurisdiction with real money of that currency."""
    version = table.version
    return (
        version is not None
        and is_eligible(version, jurisdiction)
        and is_played_for(version, Mode.REAL)
        and currency in version.limits
    )


def refresh_operator_balance(player: Player, mode: Mode, session: UUID | None) -> None:
    """Ask the operator for the balance of a player who opens a table."""
    launch = operators.launch_of(player, session) if uses_operator_wallet(player, mode) else None
    if launch is not None:
        operators.refresh_balance(player, launch)


def _ask(click: Click, amount: int) -> OperatorBet:
    launch = operators.launch_of(click.player, click.session)
    if launch is None:
        raise VisitOver
    game = Table.objects.values_list("slug", flat=True).get(pk=click.table_id)
    try:
        return bets.ask(player=click.player, launch=launch, round_id=click.round_id, game=game, amount=amount)
    except bets.BetUnderWay as error:
        raise BetUnderWay from error
    except bets.BetNotAsked as error:
        raise OperatorBusy from error
    except bets.BetUnanswered as error:
        raise OperatorSilent from error
    except bets.BetRefused as refused:
        match refused.code:
            case bets.INSUFFICIENT:
                raise OperatorBalanceTooLow from refused
            case bets.SESSION_OVER:
                raise VisitOver from refused
            case _:
                raise OperatorRefuses from refused


@transaction.atomic
def _play(click: Click, bet: OperatorBet) -> Played:
    """Book the stake to the player, play, and book what is left back to the operator.

    Locks rows in the usual order: table and seat, then the account.
    """
    seats.lock(click.player, click.table_id, click.mode, click.session)
    try:
        before = bets.book(bet)
    except bets.BetUnanswered as error:
        raise OperatorSilent from error
    played = solo.play_within(click)
    if played.repeated:
        transaction.set_rollback(True)
    else:
        bets.give_back(bet, before)
    return played
