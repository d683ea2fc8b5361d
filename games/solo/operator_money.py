"""A solo round with the money of an operator's player: the operator is asked for the stakes first, and only with its
answer the ordinary round runs, between two bookings, in one transaction. Nothing of it waits for the network.
"""

from uuid import UUID

from django.db import transaction

from games import solo
from games.betting.controls import plays_on
from games.betting.eligibility import is_played_for, serves
from games.errors import (
    BetUnderWay,
    NotHereRemotely,
    OperatorBusy,
    OperatorRefuses,
    OperatorSilent,
    RemoteBalanceTooLow,
    VisitOver,
)
from games.models import Shape, Table
from games.solo import Click, Played, seats
from games.variants import VARIANTS
from players.models import Player
from players.protection import registers
from wallet.models import AccountKind, Mode, RemoteBet
from wallet.operator_wallet import bets, operators


def play(click: Click) -> Played:
    """Play a round as `solo.play` does, of an operator's player with the operator's money.

    Raises besides BetUnderWay, OperatorBusy, OperatorRefuses, OperatorSilent, RemoteBalanceTooLow, VisitOver.
    """
    if not is_remote(click.player, click.mode):
        return solo.play(click)
    registers.ask_where_due(click.player)
    with solo.on_record(click):
        amount = solo.asked_stake(click)
        if amount is None:
            return solo.play_within(click)
        bet = _ask(click, amount)
        try:
            played = _play(click, bet)
        except BaseException:  # whatever it was: this bet plays no round
            bets.give_up(bet, "the round was refused here")
            raise
        if played.repeated:  # by another click, with a bet of its own
            bets.give_up(bet, "the round was played before")
        return played


def is_remote(player: Player, mode: Mode) -> bool:
    """Say whether this is played with an operator's money."""
    return player.is_remote and mode is Mode.REAL


def demand_possible(table: Table, player: Player, mode: Mode) -> None:
    """Raises NotHereRemotely where a table is not for players of operators: it holds money between rounds, or plays
    with more than one player's.
    """
    if is_remote(player, mode) and not is_possible(table):
        raise NotHereRemotely


def is_possible(table: Table) -> bool:
    """Say whether a table leaves nothing of a player's money here between its rounds, and plays with nobody else's."""
    return table.shape == Shape.SOLO and plays_on(VARIANTS[table.variant]) is AccountKind.CASH


def is_open_to(table: Table, jurisdiction: str, currency: str) -> bool:
    """Say whether a table serves players of a jurisdiction with real money of that currency."""
    version = table.version
    return (
        version is not None
        and serves(version, jurisdiction)
        and is_played_for(version, Mode.REAL)
        and currency in version.limits
    )


def look_at_balance(player: Player, mode: Mode, session: UUID | None) -> None:
    """Ask an operator what its player has, who opens a table."""
    launch = operators.launch_of(player, session) if is_remote(player, mode) else None
    if launch is not None:
        operators.refresh_balance(player, launch)


def _ask(click: Click, amount: int) -> RemoteBet:
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
                raise RemoteBalanceTooLow from refused
            case bets.SESSION_OVER:
                raise VisitOver from refused
            case _:
                raise OperatorRefuses from refused


@transaction.atomic
def _play(click: Click, bet: RemoteBet) -> Played:
    """Book, play and book back. Rows are locked in the order of every round: table and place, then the account."""
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
