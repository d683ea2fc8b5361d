"""Money of a move: each movement of the engine becomes a journal (``games/sql/functions/chemin_money.sql``).

    bank       a player's chips to the account of the tenure               BankTaken
    bank_back  what was put up goes back, bank_won  what was won           BankEnded, ExcessTakenHome
    stake      a player's chips to the stakes of the coup, or back         CallMade, StakeLaid, StakeRelieved

A settled coup is paid by PostgreSQL, before its bank goes home (`games_finish_coup`).

Bids are held, and released when the bank is sold. Voiding a coup posts nothing here: its journals
are reversed (`games.chemin.coups.void`).
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from games.chemin import moves
from games.chemin.state.table_state import Transition
from games.engine.chemin.events import (
    BankEnded,
    BankTaken,
    BidMade,
    BidReturned,
    CallMade,
    ExcessTakenHome,
    StakeLaid,
    StakeRelieved,
)
from games.engine.chemin.state import there
from games.models import CheminTenure
from wallet.ledger import InsufficientFunds, LimitReached

PAYS = (BankTaken, BidMade, CallMade, StakeLaid)
"""Events in which a player pays. A move has one payer: the player who decides, or the winning bidder."""


class Unpaid(Exception):
    """The ledger refuses the payment of the player; *cause* says why."""

    def __init__(self, seat_number: int, cause: InsufficientFunds | LimitReached) -> None:
        super().__init__(seat_number, cause)
        self.seat_number = seat_number
        self.cause = cause


@dataclass(frozen=True)
class Till:
    """References for the money of a move. *tenure* is the one that begins or continues in the move."""

    transition: Transition
    tenure: CheminTenure | None
    coup_id: UUID | None
    sale_id: UUID | None


def move(till: Till) -> None:
    """Hold and post what players pay in a move, on accounts that the caller has locked.

    Raises Unpaid where a player cannot pay, and LedgerError where the ledger refuses anything else.
    """
    payer = next((event.seat for event in till.transition.events if isinstance(event, PAYS)), None)
    try:
        _hold(till)
        _pay(till)
    except (InsufficientFunds, LimitReached) as cause:
        if payer is None:
            raise
        raise Unpaid(_winner(till.transition) or payer, cause) from cause


def pay_home(till: Till) -> None:
    """Post what goes from the bank to its banker in a move: first what was put up, the rest as won.

    Raises LedgerError.
    """
    for event in till.transition.events:
        if isinstance(event, BankEnded | ExcessTakenHome) and event.amount:
            tenure = there(till.tenure)
            back = min(event.amount, tenure.put_up) if isinstance(event, BankEnded) else 0
            moves.pay_home(tenure.pk, back=back, won=event.amount - back)


def _winner(transition: Transition) -> int | None:
    """Return the seat that the bank went to, whichever bidder decided last."""
    taken = transition.first(BankTaken)
    return taken.seat if taken else None


def _hold(till: Till) -> None:
    """Hold bids, and release those of a finished sale. A bid that is returned in the same move is not held."""
    held = {event.seat: event.amount for event in till.transition.events if isinstance(event, BidMade)}
    held |= {event.seat: 0 for event in till.transition.events if isinstance(event, BidReturned)}
    for seat_number, amount in held.items():
        moves.hold_bid(till.transition.before.live_table.pk, there(till.sale_id), seat_number, amount)


def _pay(till: Till) -> None:
    """Post what players pay in a move, in the order of its events."""
    for event in till.transition.events:
        match event:
            case BankTaken(seat, amount):
                tenure, at = there(till.tenure), till.transition.at
                tenure.account_id = moves.begin_tenure(tenure.live_table_id, tenure.pk, seat, amount, at)
            case CallMade(seat, _, amount) | StakeLaid(seat, amount):
                moves.lay_stake(there(till.coup_id), seat, amount)
            case StakeRelieved(seat, amount):
                moves.lay_stake(there(till.coup_id), seat, -amount)
            case _:
                pass
