"""Money of a move: each movement of the engine becomes a journal, and those of each half are posted together.

    bank       a player's chips to the account of the tenure               BankTaken
    bank_back  what was put up goes back, bank_won  what was won           BankEnded, ExcessTakenHome
    stake      a player's chips to the stakes of the coup, or back         CallMade, StakeLaid, StakeRelieved

A settled coup is paid by PostgreSQL, before its bank goes home (`games_finish_coup`).

Bids are held, and released when the bank is sold. Voiding a coup posts nothing here: its journals
are reversed (`games.chemin.void`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from games.chemin.transition import Transition
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
from wallet import ledger
from wallet.ledger import InsufficientFunds, Journal, LimitReached, Line, accounts, holds, system_key
from wallet.models import AccountKind

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
    """The accounts of a move. *tenure* is the one that begins or goes on in the move."""

    transition: Transition
    tenure: CheminTenure | None
    coup_id: UUID | None
    sale_id: UUID | None

    def account_of(self, seat_number: int) -> int:
        """Return the account of the player at a seat."""
        return self.transition.before.seats[seat_number].account_id

    def stakes(self) -> int:
        """Return the account that holds the stakes of the coup."""
        before = self.transition.before
        return accounts.open_table_account(
            AccountKind.STAKES, there(self.coup_id), currency=before.rules.currency, mode=before.mode
        )

    def bank(self) -> int:
        """Return the account that holds the bank."""
        return there(self.tenure).account_id

    def journal(self, kind: str, key: str, of: UUID, *amounts: tuple[int, int]) -> Journal:
        """Return a journal for the tenure or coup with the id *of*."""
        before = self.transition.before
        lines = tuple(
            Line(account, before.rules.currency, before.mode, amount) for account, amount in amounts if amount
        )
        return Journal(system_key(of, key), kind, lines, of)


def move(till: Till) -> None:
    """Hold and post what players pay in a move, on accounts that the caller has locked.

    Raises Unpaid where a player cannot pay, and LedgerError where the ledger refuses anything else.
    """
    payer = next((event.seat for event in till.transition.events if isinstance(event, PAYS)), None)
    try:
        _hold(till)
        _post(_paid(till))
    except (InsufficientFunds, LimitReached) as cause:
        if payer is None:
            raise
        raise Unpaid(_winner(till.transition) or payer, cause) from cause


def pay_home(till: Till) -> None:
    """Post what goes from the bank to its banker in a move. Raises LedgerError."""
    _post(_home_journals(till))


def _post(journals: Iterator[Journal]) -> None:
    if posted := tuple(journals):
        ledger.post(*posted)


def _winner(transition: Transition) -> int | None:
    """Return the seat that the bank went to, whichever bidder decided last."""
    taken = transition.first(BankTaken)
    return taken.seat if taken else None


def _hold(till: Till) -> None:
    """Hold bids, and release those of a finished sale. A bid that is returned in the same move is not held."""
    held = {event.seat: event.amount for event in till.transition.events if isinstance(event, BidMade)}
    held |= {event.seat: 0 for event in till.transition.events if isinstance(event, BidReturned)}
    for seat_number, amount in held.items():
        holds.hold(there(till.sale_id), till.account_of(seat_number), amount)


def _paid(till: Till) -> Iterator[Journal]:
    """Yield the journals of what players pay in a move, in the order of its events."""
    for seat_number, event in enumerate(till.transition.events):
        match event:
            case BankTaken(seat, amount):
                tenure = there(till.tenure)
                lines = (till.account_of(seat), -amount), (till.bank(), amount)
                yield till.journal("bank", "bank", tenure.pk, *lines)
            case CallMade(seat, _, amount) | StakeLaid(seat, amount):
                yield _stake(till, seat_number, seat, amount)
            case StakeRelieved(seat, amount):
                yield _stake(till, seat_number, seat, -amount)
            case _:
                pass


def _home_journals(till: Till) -> Iterator[Journal]:
    """Yield the journals of what goes home in a move, in the order of its events."""
    for event in till.transition.events:
        match event:
            case ExcessTakenHome(seat, amount):
                yield _home(till, "bank_won", f"excess {till.transition.number}", seat, amount)
            case BankEnded(seat, amount):
                yield from _end_bank(till, seat, amount)
            case _:
                pass


def _stake(till: Till, event: int, seat_number: int, amount: int) -> Journal:
    lines = (till.account_of(seat_number), -amount), (till.stakes(), amount)
    return till.journal("stake", f"stake {till.transition.number} {event}", there(till.coup_id), *lines)


def _end_bank(till: Till, seat_number: int, amount: int) -> Iterator[Journal]:
    """Return the bank to its owner: first the part that was put up, the rest as won."""
    back = min(amount, there(till.tenure).put_up)
    if back:
        yield _home(till, "bank_back", f"back {till.transition.number}", seat_number, back)
    if amount > back:
        yield _home(till, "bank_won", f"won {till.transition.number}", seat_number, amount - back)


def _home(till: Till, kind: str, key: str, seat_number: int, amount: int) -> Journal:
    return till.journal(
        kind, key, there(till.tenure).pk, (till.bank(), -amount), (till.account_of(seat_number), amount)
    )
