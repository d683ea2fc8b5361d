"""Void a coup of Chemin de Fer in any phase: restore bank and stakes, store the coup, notify the players.

`games.shared.malfunction` decides who may void a coup, and when, as for every live table.
"""

from __future__ import annotations

from django.db.models import Q

from games.chemin import shoes
from games.chemin.apply import carry_out
from games.chemin.coups.progress import Finished, keep
from games.chemin.state import ledger_view
from games.chemin.state.table_state import TableState
from games.engine.cards import Card
from games.engine.chemin import Call
from games.engine.chemin.actions import EndBank, VoidCoup
from games.engine.chemin.events import SettledStake
from games.engine.chemin.state import Coup, there
from games.models import (
    OPEN_PHASES,
    CheminCoup,
    CheminMove,
    CheminSeat,
    Decider,
    LiveRound,
    LiveTable,
    Participation,
    Phase,
    Shoe,
    ShoeEnding,
    Void,
    VoidReason,
)
from games.rounds.integrity import Doubt
from games.rounds.void import keep_parts, void_round
from games.shared import moves
from games.shared.shoes import is_sound
from games.tables import clock
from wallet.ledger.round_reversal import undo_round
from wallet.models import Account, AccountKind


class AnotherCoup(Exception):
    """Another coup is in progress whose bank may hold the money to be reversed. The message is for staff."""


def void_coup(*, live_round: LiveRound, reason: VoidReason, by: str) -> LiveRound:
    """Void a coup, in the caller's transaction. Idempotent: the second call moves no money.

    Every stake goes back, and the bank is as before the coup. A shoe with drawn cards is retired.
    For a settled coup, the bank also goes to its owner and is offered again; this is possible only
    while no other coup is in progress. Locks the table, the round in progress, then accounts by
    ascending id. Raises AnotherCoup, LedgerError.
    """
    _lock(live_round)
    live = LiveRound.objects.select_related("shoe", "version", "live_table__table").get(pk=live_round.pk)
    if live.phase == Phase.VOID or Void.objects.filter(pk=live.pk).exists():
        return live
    table_state = ledger_view.at(live.live_table_id)
    if live.phase in OPEN_PHASES:
        _void(table_state, live, reason, by)
    else:
        _take_back(table_state, live, reason, by)
    return live


def _lock(live_round: LiveRound) -> None:
    """Lock the table, and then the accounts of players who sit there or had a part in the coup."""
    LiveTable.objects.select_for_update(no_key=True).get(pk=live_round.live_table_id)
    seated = CheminSeat.objects.filter(live_table=live_round.live_table_id, left_at=None)
    parts = Participation.objects.filter(round_id=live_round.pk)
    owners = Q(owner__in=seated.values("player")) | Q(owner__in=parts.values("player"))
    at_hand = Account.objects.filter(owners, kind__in=(AccountKind.CASH, AccountKind.PURSE))
    list(at_hand.order_by("pk").select_for_update().values_list("pk"))


def _void(table_state: TableState, live: LiveRound, reason: VoidReason, by: str) -> None:
    """Return the stakes, and store the coup if it had any."""
    is_dealt = live.phase == Phase.DEALT
    can_go_on = _is_sound(table_state, live.shoe)
    finished = _as_it_lay(table_state, live)
    undone = undo_round(live.pk)
    if finished.stakes:
        keep(finished)
        keep_parts(Void.objects.create(round_id=live.pk, reason=reason, by=by), undone)
    if table_state.in_coup:
        carry_out(table_state, VoidCoup(), decider=Decider.HOUSE)
    moves.end_void(live)
    if is_dealt or not can_go_on:
        shoes.end(live.shoe, ShoeEnding.RETIRED)
    if ledger_view.is_lost(table_state):
        ledger_view.clear(table_state)


def _take_back(table_state: TableState, live: LiveRound, reason: VoidReason, by: str) -> None:
    """Reverse a settled coup, and return its bank to its owner."""
    if table_state.live_round is not None:
        raise AnotherCoup(
            f"Coup {table_state.live_round.code} is in progress. {live.code} can be voided after it has ended."
        )
    void_round(round_id=live.pk, reason=reason, by=by)
    shoes.end(live.shoe, ShoeEnding.RETIRED)
    tenure = CheminCoup.objects.select_related("tenure__seat").get(pk=live.pk).tenure
    if tenure.ended_at is not None:
        ledger_view.send_home(tenure)
    if ledger_view.is_lost(table_state):
        ledger_view.clear(table_state)
    elif tenure.ended_at is None:
        carry_out(ledger_view.at(live.live_table_id), EndBank(), decider=Decider.HOUSE)


def _as_it_lay(table_state: TableState, live: LiveRound) -> Finished:
    """Return the coup in progress as a finished one without an outcome."""
    stakes, tenure = ledger_view.stakes(table_state), there(table_state.tenure)
    called = CheminMove.objects.filter(round_id=live.pk).exclude(call="").values_list("call", flat=True).first()
    call = Call(called) if called else None
    bank = Account.objects.values_list("balance", flat=True).get(pk=tenure.account_id)
    return Finished(
        live_round=live,
        tenure=tenure,
        banker=tenure.seat,
        bank=bank or 0,
        call=call,
        stakes=tuple(SettledStake(stake.seat, stake.amount, 0) for stake in stakes),
        seats=table_state.seats,
        punter=Coup(call, stakes).punter,
        at=clock.now(),
        cards=_drawn(live),
    )


def _drawn(live: LiveRound) -> tuple[Card, ...]:
    """Return the cards drawn in a coup, if its shoe can be read: after the coup they are no secret."""
    if live.first_card is None:
        return ()
    try:
        return shoes.cards_of(live.shoe)[live.first_card : live.shoe.gone]
    except Doubt:
        return ()


def _is_sound(table_state: TableState, shoe: Shoe) -> bool:
    """Return whether another coup can be dealt from a shoe, as far as is known while the dealer is away."""
    if not is_sound(shoe):
        return False
    try:
        shoes.demand_in_order(shoe)
    except Doubt:
        return False
    return table_state.state.shoe is None or table_state.state.shoe.drawn == shoe.gone
