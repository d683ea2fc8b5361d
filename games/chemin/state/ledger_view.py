"""A table rebuilt from rows and the ledger, to void a coup or break up the table.

Neither may fail because of corrupt data: a bad shoe, a wrong amount in the stored state, or a state
that cannot be read. The ledger knows the money on the table: bids are held for the sale, stakes are
on the account of the coup, a bank is on the account of its tenure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.db.models import Sum

from games.chemin import moves
from games.chemin.state.table_state import TableState, locked
from games.engine.chemin import State
from games.engine.chemin.frozen import UNREADABLE
from games.engine.chemin.state import Chips, there
from games.models import CheminSeat, CheminTenure
from players import notify
from wallet.models import Account, Entry, Hold

BACK = "bank_back"
"""Kind of the journals that return what was put up as a bank."""


def at(live_table_id: int) -> TableState:
    """Lock a table and return it with the bank, bids and stakes of the ledger, without reading its shoe.

    A table whose state cannot be read, or contradicts its rows about seats, bank or coup, is
    returned as one without players. It must be cleared (`is_lost`, `clear`).
    """
    try:
        table_state = locked(live_table_id, blind=True)
        if _agrees(table_state):
            return replace(table_state, state=_with_chips(table_state))
    except UNREADABLE:
        pass
    return locked(live_table_id, blind=True, is_emptied=True)


def is_lost(table_state: TableState) -> bool:
    """Return whether the stored state is lost, or players sit at the table who are missing from it."""
    return table_state.is_emptied or {seat.number for seat in table_state.state.seats} != table_state.seats.keys()


def stakes(table_state: TableState) -> tuple[Chips, ...]:
    """Return the stakes of the coup in progress, in the order in which they were laid."""
    if table_state.live_round is None:
        return ()
    account_seats = _account_seats(table_state.seats)
    laid: dict[int, int] = {}
    entries = Entry.objects.filter(
        journal__round_id=table_state.live_round.pk, journal__kind="stake", account_id__in=account_seats
    ).order_by("journal_id")
    for account_id, amount in entries.values_list("account_id", "amount"):
        laid[account_seats[account_id]] = laid.get(account_seats[account_id], 0) - amount
    return tuple(Chips(seat_number, amount) for seat_number, amount in laid.items())


def send_home(tenure: CheminTenure) -> None:
    """Pay the balance of an ended tenure's account to its banker.

    First the rest of what was put up, then what was won.
    """
    bank = Account.objects.get(pk=tenure.account_id)
    if not bank.balance:
        return
    entries = Entry.objects.filter(account=bank, journal__kind=BACK).aggregate(total=Sum("amount", default=0))
    back = min(bank.balance, tenure.put_up + entries["total"])
    moves.pay_home(tenure.pk, back=back, won=bank.balance - back)


def clear(table_state: TableState) -> None:
    """Return all money at a table whose state is lost, and have all players leave.

    Bids are released and the bank goes to its owner. No coup is in progress at such a table.
    """
    if table_state.tenure is not None:
        send_home(table_state.tenure)
    moves.clear_table(table_state.live_table.pk)
    notify.notify_table(table_state.live_table.pk)


def _agrees(table_state: TableState) -> bool:
    """Return whether the state agrees with the rows about seats, bank and coup."""
    state, tenure = table_state.state, table_state.tenure
    banker = (
        None
        if tenure is None
        else next((seat_number for seat_number, seat in table_state.seats.items() if seat.pk == tenure.seat_id), 0)
    )
    return (
        not is_lost(table_state)
        and (state.bank and state.bank.seat) == banker
        and table_state.in_coup is (table_state.live_round is not None)
    )


def _with_chips(table_state: TableState) -> State:
    state, sale = table_state.state, table_state.state.sale
    if table_state.tenure is not None:
        amount = Account.objects.values_list("balance", flat=True).get(pk=table_state.tenure.account_id)
        state = replace(state, bank=Chips(there(state.bank).seat, amount or 0))
    if table_state.in_coup:
        state = replace(state, coup=replace(state.running_coup, stakes=stakes(table_state)))
    if sale is not None and table_state.chemin.sale_id is not None:
        state = replace(state, sale=replace(sale, bids=tuple(_bids(table_state))))
    return state


def _bids(table_state: TableState) -> Iterator[Chips]:
    """Yield the amounts held for the sale, in the order of the bids."""
    account_seats = _account_seats(table_state.seats)
    held = Hold.objects.filter(round_id=there(table_state.chemin.sale_id), account_id__in=account_seats)
    amounts = {account_seats[account_id]: amount for account_id, amount in held.values_list("account_id", "amount")}
    made = there(table_state.state.sale).bids
    for seat_number in dict.fromkeys([*(bid.seat for bid in made), *sorted(amounts)]):
        if seat_number in amounts:
            yield Chips(seat_number, amounts[seat_number])


def _account_seats(seats: Mapping[int, CheminSeat]) -> Mapping[int, int]:
    return {seat.account_id: seat_number for seat_number, seat in seats.items()}
