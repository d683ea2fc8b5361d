"""Break up a table of Chemin de Fer: staff have all players leave between two coups, with their money."""

from django.db import transaction

from audit import log
from audit.log import Json
from games.chemin import ledger_view
from games.chemin.apply import carry_out
from games.engine.chemin.actions import BreakUp
from games.models import UNDEALT, CheminSeat, Decider, LiveTable, Phase, Shape, WhyLeft
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError, stated


@transaction.atomic
def break_up(*, live_table_id: int, reason: str, by: str) -> LiveTable:
    """Have every player leave a table. The table stays open or closed as it is.

    Bids and the bank go back to their owners. A coup without drawn cards is cancelled first. Raises
    MalfunctionError where there is no such table or nobody sits at it, and while cards are drawn:
    that coup must be played out, or voided by two people.
    """
    found = LiveTable.objects.filter(pk=live_table_id, table__shape=Shape.GUESTS).select_related("table", "round")
    live_table = found.select_for_update(of=("self",), no_key=True).first()
    if live_table is None:
        raise MalfunctionError("There is no such table of guests.")
    why = stated(reason)
    seated = CheminSeat.objects.filter(live_table=live_table, left_at=None).count()
    if not seated:
        raise MalfunctionError(f"Nobody sits at {live_table.table}.")
    live_round = live_table.round
    if live_round and live_round.phase == Phase.DEALT:
        raise MalfunctionError(f"The cards of coup {live_round.code} are drawn: it is played out first.")
    if live_round and live_round.phase in UNDEALT:
        malfunction.cancel(round_id=live_round.pk, reason=why, by=by)
    standing = ledger_view.at(live_table_id)
    if ledger_view.is_lost(standing):
        ledger_view.clear(standing)
    else:
        carry_out(standing, BreakUp(), decider=Decider.HOUSE, why=WhyLeft.BROKEN_UP)
    data: dict[str, Json] = {"guests": seated, "mode": live_table.mode, "reason": why}
    log.record("table.broken_up", by=by, on=f"table:{live_table.table_id}", data=data)
    return live_table
