"""Whoever moves a shared table: `python -m bench.croupier_player TABLE NUMBER PHASE`, where TABLE is JSON of
`bench.crowd`.

Every round has bets of so many players and is played to its end by the product's own steps. What counts is the time of
the one step that ends in PHASE, as a worker does it: `closed`, from NO MORE BETS until all stakes are posted, or
`settled`, from the last card until all are paid. How many bettors that makes a second is the answer.
"""

import json
import os
import sys
import time
from uuid import UUID

import django

os.environ["PGOPTIONS"] = "-c statement_timeout=60s"  # a step that takes longer has nothing to tell but that
django.setup()

from django.db import connections, transaction  # noqa: E402  (models need the set-up)

from games.models import LiveRound, LiveTable, Phase  # noqa: E402
from games.shared import phases  # noqa: E402

STEPS = (Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED)

# Bets as chips leave them, one to three for each player, written by the owner of the tables: taking them is not
# measured here.
BETS = """
INSERT INTO games_liveseat AS seat (
    live_table_id, player_id, account_id, currency, round_id, stakes, version, undo, last_stakes, session
)
SELECT %(live_table)s, owner_id, id, currency, %(round)s,
    CASE id %% 3 WHEN 0 THEN '{"player": 2000}' WHEN 1 THEN '{"banker": 4000, "tie": 2000}'
        ELSE '{"player": 6000, "tie": 2000, "super_6": 2000}' END::jsonb,
    0, '[]', '{}', md5(owner_id::text)::uuid
FROM wallet_account WHERE kind = 'cash' AND mode = 'R' ORDER BY id LIMIT %(number)s
ON CONFLICT (live_table_id, player_id) DO UPDATE SET round_id = excluded.round_id, stakes = excluded.stakes
"""
HOLDS = """
INSERT INTO wallet_hold (round_id, account_id, amount)
SELECT seat.round_id, seat.account_id, (SELECT sum(value::bigint) FROM jsonb_each_text(seat.stakes))
FROM games_liveseat AS seat WHERE seat.round_id = %(round)s ORDER BY seat.account_id
"""
DUE = "UPDATE games_liveround SET deadline = clock_timestamp() WHERE id = %(round)s"


class Croupier:
    """Someone who plays round after round with so many bettors."""

    def __init__(self, live_table_id: int, bettors: int, measured: Phase) -> None:
        self._live_table_id = live_table_id
        self._bettors = bettors
        self._measured = measured

    def play(self) -> float:
        """Play a round, and return the seconds that the measured step took."""
        while self._step() != Phase.BETTING:  # from wherever the last player left the table
            pass
        self._take_bets()
        seconds = 0.0
        for due in STEPS[1:]:
            begun = time.perf_counter()
            reached = self._step()
            if reached == self._measured:
                seconds = time.perf_counter() - begun
            if reached != due:
                raise RuntimeError(f"the round is {reached}, not {due}")
        return seconds

    def rate(self, seconds: float) -> float:
        """Play until the measured steps alone have taken so long; return bettors a second."""
        rounds, spent = 0, 0.0
        while not rounds or spent < seconds:
            spent += self.play()
            rounds += 1
        return rounds * self._bettors / spent

    def _step(self) -> str:
        """Make the table due and move it on; return the phase it has come to."""
        live_round = self._round()
        if live_round:
            with connections["default"].cursor() as cursor:
                cursor.execute(DUE, {"round": live_round.pk})
        if not phases.advance(self._live_table_id):
            raise RuntimeError("the table does not move on")
        moved = self._round()
        return moved.phase if moved else ""

    def _round(self) -> LiveRound | None:
        return LiveTable.objects.select_related("round").get(pk=self._live_table_id).round

    def _take_bets(self) -> None:
        live_round = self._round()
        assert live_round is not None  # it takes bets
        values: dict[str, int | UUID] = {
            "live_table": self._live_table_id,
            "round": live_round.pk,
            "number": self._bettors,
        }
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(BETS, values)
            cursor.execute(HOLDS, values)


def main() -> None:
    """Play when told to."""
    table, number, phase = json.loads(sys.argv[1]), int(sys.argv[2]), Phase(sys.argv[3])
    croupier = Croupier(table["live_table"], number, phase)
    print("ready", flush=True)
    for line in sys.stdin:
        print(croupier.rate(float(line)), flush=True)


if __name__ == "__main__":
    main()
