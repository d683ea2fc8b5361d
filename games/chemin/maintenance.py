"""Upkeep of a table after every move: bring a new shoe, and seat house players at practice tables."""

from __future__ import annotations

import secrets
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from games.chemin import shoes
from games.chemin.apply import carry_out
from games.chemin.availability import may_begin
from games.chemin.table_state import Standing
from games.engine.chemin import Phase
from games.engine.chemin.actions import BringShoe, Join, Leave, SetBalance
from games.engine.chemin.state import there
from games.models import CheminSeat, Decider, ShoeEnding, WhyLeft
from games.rounds.integrity import NotReproduced
from games.shared import malfunction
from games.shared.shoes import SYSTEM
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind

FUNDS: Final = 20
"""A house player starts with this many of the table's largest banks, so that it does not run out of money."""


def see_to(standing: Standing) -> Standing:
    """Carry out what the table needs from the house, and return the new table state."""
    standing = _company(standing)
    if standing.state.phase is Phase.SHOE and may_begin(standing):
        standing = _bring_shoe(standing)
    return standing


def _bring_shoe(standing: Standing) -> Standing:
    """End the used shoe and bring a new one.

    If stored coups do not follow from the seed of the old shoe, which is public from now on, the
    table is stopped instead.
    """
    spent, live_table = standing.shoe, standing.live_table
    found = shoes.end(spent, ShoeEnding.CUT_CARD) if spent else ()
    if found:
        doubt = NotReproduced("The coups do not match the seed of the shoe.", *found)
        live_round = there(live_table.round)
        malfunction.stop(live_round=live_round, kind=doubt.kind, cause=str(doubt), found=found, by=SYSTEM)
        return standing
    shoe = shoes.open_shoe(live_table)
    return carry_out(standing, BringShoe(shoes.cards_of(shoe)), decider=Decider.HOUSE)


def _company(standing: Standing) -> Standing:
    """Seat house players when the first player sits down, fund them between coups, and remove them with the last."""
    if not standing.rules.is_practice:
        return standing
    if all(seat.player_id is None for seat in standing.seats.values()):
        asked = standing.state.asked
        # the player who is asked leaves last
        for seat in sorted(_house_seats(standing), key=lambda each: each.number == asked):
            standing = carry_out(standing, Leave(seat.number), decider=Decider.HOUSE, why=WhyLeft.ALONE)
        return standing
    if may_begin(standing):
        while len(_house_seats(standing)) < standing.rules.house_players and standing.free_places():
            standing = _sit_down(standing)
    if not standing.in_coup:
        for seat in _house_seats(standing):
            standing = _keep_in_funds(standing, seat)
    return standing


def _house_seats(standing: Standing) -> list[CheminSeat]:
    """Return the house players who are not about to leave."""
    return [seat for seat in standing.seats.values() if seat.player_id is None and seat.why_left == ""]


def _sit_down(standing: Standing) -> Standing:
    """Seat a house player at a free seat. Each seat has its own account, funded up to the same amount."""
    place, live_table = secrets.choice(standing.free_places()), standing.live_table
    account_id = accounts.open_standing(
        AccountKind.SEAT, _house_player(live_table.pk, place), currency=standing.rules.currency, mode=standing.mode
    )
    has = Account.objects.select_for_update().get(pk=account_id).balance or 0
    wanted = max(has, FUNDS * standing.rules.maximum)
    _fund(standing, account_id, wanted - has)
    newcomer = CheminSeat(live_table=live_table, number=place, account_id=account_id, is_random=True)
    return carry_out(standing, Join(place, wanted), decider=Decider.HOUSE, newcomer=newcomer)


def _keep_in_funds(standing: Standing, seat: CheminSeat) -> Standing:
    """Fund a house player that could not cover the largest bank."""
    has, wanted = standing.state.seat(seat.number).balance, FUNDS * standing.rules.maximum
    if has >= standing.rules.maximum:
        return standing
    _fund(standing, seat.account_id, wanted - has)
    return carry_out(standing, SetBalance(seat.number, wanted), decider=Decider.HOUSE)


def _house_player(live_table_id: int, place: int) -> UUID:
    return uuid5(NAMESPACE_URL, f"sabot:live_table:{live_table_id}:house_player:{place}")


def _fund(standing: Standing, account_id: int, amount: int) -> None:
    currency, mode = standing.rules.currency, standing.mode
    if amount:
        mint = accounts.house_account(AccountKind.MINT, currency, mode)
        lines = ledger.Line(mint, currency, mode, -amount), ledger.Line(account_id, currency, mode, amount)
        ledger.post(ledger.Journal(uuid4(), "seat_funded", lines))
