"""Helpers for clicks at a shared table and for the amounts held on accounts."""

from typing import Any
from uuid import UUID, uuid4

from django.db.models import Sum

from games.betting.rules import Change
from games.models import LiveSeat, LiveTable, LiveTotal
from games.shared import bets
from players.models import Player
from tests.live.at_table import round_at
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Hold, Mode


def chip(player: Player, live_table: LiveTable, bet: str, value: int, **options: Any) -> LiveSeat:
    """Put one chip on the open round, or on a given one."""
    asked = {"round_id": round_at(live_table).pk, **options}
    return bets.add_chip(player=player, live_table_id=live_table.pk, bet=bet, chip=value, **asked)


def take(player: Player, live_table: LiveTable, bet: str, value: int) -> LiveSeat:
    """Take one chip off a bet on the open round."""
    round_id = round_at(live_table).pk
    return bets.take_chip(player=player, live_table_id=live_table.pk, round_id=round_id, bet=bet, chip=value)


def press(player: Player, live_table: LiveTable, change: Change, **options: Any) -> LiveSeat:
    """Press undo, clear, double or rebet."""
    asked = {"round_id": round_at(live_table).pk, **options}
    return bets.change_slip(player=player, live_table_id=live_table.pk, change=change, **asked)


def held(player: Player, mode: Mode = Mode.REAL, kind: AccountKind = AccountKind.CASH) -> int:
    """Return the amount held on the player's account, in minor units."""
    return Account.objects.get(owner=player, mode=mode, kind=kind).held


def held_for(round_id: UUID) -> int:
    """Return the amount held for a round on all accounts."""
    return Hold.objects.filter(round_id=round_id).aggregate(sum=Sum("amount"))["sum"] or 0


def balance(player: Player, mode: Mode = Mode.REAL) -> int:
    """Return the balance of the player's account, including held amounts."""
    return accounts.balance(player.pk, mode)


def total_of(round_id: UUID, currency: str) -> dict[str, int]:
    """Return the table's totals for a round in a currency, without bets of zero."""
    known = LiveTotal.objects.filter(round_id=round_id, currency=currency).first()
    return {bet: stake for bet, stake in (known.stakes if known else {}).items() if stake}


def stakes_of(player: Player, live_table: LiveTable) -> dict[str, int]:
    """Return the player's bets on the open round."""
    seat = LiveSeat.objects.get(player=player, live_table=live_table)
    return dict(seat.stakes) if seat.round_id == round_at(live_table).pk else {}


def stranger() -> UUID:
    """Return a round id that does not exist."""
    return uuid4()
