"""A table rebuilt from rows and the ledger, to void a coup or break up the table.

Neither may fail because of corrupt data: a bad shoe, a wrong amount in the stored state, or a state
that cannot be read. The ledger knows the money on the table: bids are held for the sale, stakes are
on the account of the coup, a bank is on the account of its tenure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.db.models import Sum

from games.chemin import event_codec
from games.chemin.table_state import Standing, locked
from games.engine.chemin import State, new_table
from games.engine.chemin.events import GuestLeft
from games.engine.chemin.frozen import UNREADABLE, freeze
from games.engine.chemin.state import Chips, there
from games.models import CheminMove, CheminSeat, CheminTable, CheminTenure, Decider, LiveTable, WhyLeft
from games.tables import clock, notify
from games.tables.chemin_rules import GuestRules
from wallet import ledger
from wallet.ledger import holds
from wallet.models import Account, Entry, Hold

BACK, WON = "bank_back", "bank_won"
"""Kinds of journals: the part of a bank that was put up, and the part that was won."""


def at(live_table_id: int) -> Standing:
    """Lock a table and return it with the bank, bids and stakes of the ledger, without reading its shoe.

    A table whose state cannot be read, or contradicts its rows about seats, bank or coup, is
    returned as one without players. It must be cleared (`is_lost`, `clear`).
    """
    try:
        standing = locked(live_table_id, blind=True)
        if _agrees(standing):
            return replace(standing, state=_with_chips(standing))
    except UNREADABLE:
        pass
    live_table = LiveTable.objects.select_related("table__version").get(pk=live_table_id)
    rules = GuestRules.of(there(live_table.table.version).limits)
    CheminTable.objects.filter(pk=live_table_id).update(state=freeze(new_table(rules.table_rules)))
    return locked(live_table_id, blind=True)


def is_lost(standing: Standing) -> bool:
    """Return whether players sit at the table who are missing from its state."""
    return {seat.number for seat in standing.state.seats} != standing.seats.keys()


def stakes(standing: Standing) -> tuple[Chips, ...]:
    """Return the stakes of the coup in progress, in the order in which they were laid."""
    if standing.live_round is None:
        return ()
    places = _places(standing.seats)
    laid: dict[int, int] = {}
    entries = Entry.objects.filter(
        journal__round_id=standing.live_round.pk, journal__kind="stake", account_id__in=places
    ).order_by("journal_id")
    for account_id, amount in entries.values_list("account_id", "amount"):
        laid[places[account_id]] = laid.get(places[account_id], 0) - amount
    return tuple(Chips(place, amount) for place, amount in laid.items())


def send_home(tenure: CheminTenure) -> None:
    """Pay the balance of an ended tenure's account to its banker.

    First the rest of what was put up, then what was won.
    """
    bank = Account.objects.get(pk=tenure.account_id)
    if not bank.balance:
        return
    entries = Entry.objects.filter(account=bank, journal__kind=BACK).aggregate(total=Sum("amount", default=0))
    back = min(bank.balance, tenure.put_up + entries["total"])
    ledger.post(*_home(tenure, bank, {BACK: back, WON: bank.balance - back}))
    tenure.home += bank.balance
    tenure.save(update_fields=["home"])


def clear(standing: Standing) -> None:
    """Return all money at a table whose state is lost, and have all players leave.

    Bids are released and the bank goes to its owner. No coup is in progress at such a table.
    """
    chemin, moment = standing.chemin, clock.now()
    if chemin.sale_id:
        holds.release_all(chemin.sale_id)
    if tenure := standing.tenure:
        send_home(tenure)
        tenure.ended_at = moment
        tenure.save(update_fields=["ended_at"])
    for seat in standing.seats.values():
        seat.left_at, seat.why_left = moment, seat.why_left or WhyLeft.BROKEN_UP
        seat.save(update_fields=["left_at", "why_left"])
    chemin.move, chemin.question = chemin.move + 1, chemin.question + 1
    CheminMove.objects.create(
        live_table=standing.live_table,
        number=chemin.move,
        tenure_id=None if tenure is None else tenure.pk,
        kind="break_up",
        decider=Decider.HOUSE,
        events=[event_codec.write(GuestLeft(place, 0)) for place in standing.seats],
        at=moment,
    )
    chemin.tenure = chemin.sale_id = chemin.asked_at = chemin.deadline = None
    chemin.save(update_fields=["move", "question", "tenure", "sale_id", "asked_at", "deadline"])
    notify.tell(standing.live_table.pk)


def _agrees(standing: Standing) -> bool:
    """Return whether the state agrees with the rows about seats, bank and coup."""
    state, tenure = standing.state, standing.tenure
    banker = (
        None
        if tenure is None
        else next((place for place, seat in standing.seats.items() if seat.pk == tenure.seat_id), 0)
    )
    return (
        not is_lost(standing)
        and (state.bank and state.bank.seat) == banker
        and standing.in_coup is (standing.live_round is not None)
    )


def _with_chips(standing: Standing) -> State:
    state, sale = standing.state, standing.state.sale
    if standing.tenure is not None:
        amount = Account.objects.values_list("balance", flat=True).get(pk=standing.tenure.account_id)
        state = replace(state, bank=Chips(there(state.bank).seat, amount or 0))
    if standing.in_coup:
        state = replace(state, coup=replace(state.running_coup, stakes=stakes(standing)))
    if sale is not None and standing.chemin.sale_id is not None:
        state = replace(state, sale=replace(sale, bids=tuple(_bids(standing))))
    return state


def _bids(standing: Standing) -> Iterator[Chips]:
    """Yield the amounts held for the sale, in the order of the bids."""
    places = _places(standing.seats)
    held = Hold.objects.filter(round_id=there(standing.chemin.sale_id), account_id__in=places)
    amounts = {places[account_id]: amount for account_id, amount in held.values_list("account_id", "amount")}
    made = there(standing.state.sale).bids
    for place in dict.fromkeys([*(bid.seat for bid in made), *sorted(amounts)]):
        if place in amounts:
            yield Chips(place, amounts[place])


def _places(seats: Mapping[int, CheminSeat]) -> Mapping[int, int]:
    return {seat.account_id: place for place, seat in seats.items()}


def _home(tenure: CheminTenure, bank: Account, amounts: Mapping[str, int]) -> Iterator[ledger.Journal]:
    for kind, amount in amounts.items():
        if amount:
            key = ledger.system_key(tenure.pk, f"{kind} at {bank.version}")
            lines = (
                ledger.Line(bank.pk, bank.currency, bank.mode, -amount),
                ledger.Line(tenure.seat.account_id, bank.currency, bank.mode, amount),
            )
            yield ledger.Journal(key, kind, lines, tenure.pk)
