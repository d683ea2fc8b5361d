"""The drill itself: players bet at a shared table, programs are killed as planned, and the table has to go on; when a
round is over, everything is reckoned up.
"""

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from games.limits import Limits
from games.live.clock import Clock
from games.live.seats import seat_at
from games.models import LiveRound, LiveSeat, LiveTable, Phase
from tests.builders import a_player, a_shared_table
from tests.drill import ticks
from tests.drill.bettors import Bettor
from tests.drill.plan import SHORT, Blow, Round, Stage, chosen
from tests.drill.reckoning import Reckoning
from tests.drill.victims import LOOK, PATIENCE, House, Log, wait_for
from tests.harness.visitor import Visitor
from wallet.models import Hold, Mode

BRISK = Clock(betting=3000, call=500, card=200, pause=500)
PLAYERS = {
    "SE": 10**9,
    "DK": 10**9,
    "RO": 10**9,
    "DE": 100_000,
    "GB": 10**9,
}  # minor units; a German may deposit no more
TICKS = 2  # within so many after a recovery the table goes on
ENDED = (Phase.SETTLED, Phase.VOID)

Answer = TypeVar("Answer")


class Failed(Exception):
    """Something was not as it has to be."""


def hold(launcher: int, port: int, seed: int = 0, rounds: int = 0) -> None:
    """Hold a drill of so many rounds, or the short one. Raises Failed."""
    drill = Drill(House(settings.VAR_DIR, launcher, port), f"http://127.0.0.1:{port}", str(seed))
    for number, each in enumerate(chosen(seed, rounds) if rounds else SHORT, 1):
        drill.play(number, each)
    drill.close()


class Drill:
    """A table, those who bet at it, and what dies around them."""

    def __init__(self, house: House, url: str, seed: str) -> None:
        self._house = house
        page = f"/en/table/{(slug := f'drill-{uuid4().hex[:6]}')}/real/"
        self._table = LiveTable.objects.get(table=a_shared_table(slug=slug, clock=BRISK), mode=Mode.REAL)
        version = self._table.table.version
        assert version
        self._bettors, accounts = [], {}
        for code, money in PLAYERS.items():
            player = a_player(code, real=money)
            accounts[player.pk] = seat_at(player, self._table).account_id
            chips = list(Limits.of(version.limits, player.currency).chips[:3])
            visitor = Visitor(url, player.user, PATIENCE)
            visitor.get(page)
            self._bettors.append(Bettor(visitor, player.pk, f"{page}bet/", chips, f"{seed} {code}"))
        self._reckoning = Reckoning(self._table, accounts)
        rounds = LiveRound.objects.filter(live_table=self._table)
        self._wait(rounds.exists, "the table opens")
        for bettor in self._bettors:
            bettor.start()

    def play(self, number: int, blows: Round) -> None:
        """Have bets placed, have programs die as planned, and see that all is well when the round is over."""
        live_round = self._a_round_with_bets()
        for blow in blows:
            live_round = self._at(blow.stage, live_round)
            print(f"round {number}: {self._strike(blow, live_round)}", flush=True)
        self._wait(lambda: self._round(live_round.pk).phase in ENDED, f"{live_round.pk} ends")
        for bettor in self._bettors:
            bettor.bet_on(None)
        self._wait(lambda: self._now().phase == Phase.BETTING and self._is_idle(), "nothing lies on the table")
        if faults := self._steadily(lambda: self._reckoning.faults(self._bettors)):
            raise Failed("\n".join(faults))

    def close(self) -> None:
        """Send everybody home, and say what they were told."""
        for bettor in self._bettors:
            bettor.close()
        answers = sum((Counter(bettor.answers) for bettor in self._bettors), Counter())
        rounds = LiveRound.objects.filter(live_table=self._table, phase=Phase.SETTLED).count()
        print(f"{rounds} rounds settled; clicks: {dict(answers.most_common())}", flush=True)

    def _a_round_with_bets(self) -> LiveRound:
        """The next round that takes bets, once there are some of several players."""
        self._wait(lambda: self._now().phase == Phase.BETTING, "bets are taken")
        live_round = self._now()
        for bettor in self._bettors:
            bettor.bet_on(live_round.pk)
        self._wait(lambda: self._has_bets(live_round.pk), f"somebody bets on {live_round.pk}")
        return self._now()

    def _at(self, stage: Stage, live_round: LiveRound) -> LiveRound:
        """Wait for that phase of the round, or of a later one where it is over."""
        order = list(Stage)
        while (now := self._now()).pk != live_round.pk or now.phase != stage:
            if now.pk != live_round.pk or now.phase not in order or order.index(Stage(now.phase)) > order.index(stage):
                live_round = self._a_round_with_bets()
            time.sleep(LOOK)
        return now

    def _strike(self, blow: Blow, live_round: LiveRound) -> str:
        """Kill as planned; wait until all is up again and the table goes on; say how. Raises Failed."""
        end = live_round.deadline.timestamp()
        time.sleep(max(end - (1 - blow.moment) * _lasts(live_round).total_seconds() - time.time(), 0))
        assert self._has_bets(live_round.pk)
        worker, beat = Log(self._house.var, "worker"), Log(self._house.var, "beat")
        phase, began = self._now().phase, time.monotonic()
        is_up = self._house.kill(blow.victim)
        wait_for(is_up, f"{blow.victim} is up again")
        stands, recovered, took = self._now(), datetime.now(UTC), time.monotonic() - began
        self._wait(lambda: _moved(stands, self._now()), f"the table goes on after {blow}")
        due, moved = max(recovered, stands.deadline), self._steadily(lambda: self._moved_at(stands))
        seen = ticks.read(worker.lines(), due)
        words = (
            f"{blow} ({phase}): up after {took:.1f} s; moved on {(moved - due).total_seconds():.1f} s after it was due "
            f"by tick {seen.before(moved)} of {beat.count('games.tasks.tick')} sent since the blow"
        )
        if seen.in_vain(self._table.pk, moved) >= TICKS or seen.failures:
            raise Failed("\n".join((words, *seen.failures, *worker.lines())))
        return words

    def _moved_at(self, stood: LiveRound) -> datetime:
        """When the table moved on from there, as the database says."""
        now = self._round(stood.pk)
        if stood.phase in ENDED:
            after = LiveRound.objects.filter(live_table=self._table, opened_at__gt=stood.opened_at)
            return after.earliest("opened_at").opened_at
        found = {Phase.BETTING: now.closed_at, Phase.CLOSED: now.dealt_at, Phase.DEALT: now.ended_at}
        return found[Phase(stood.phase)] or now.ended_at or now.deadline - _lasts(now)

    def _has_bets(self, round_id: UUID) -> bool:
        def ask() -> bool:
            return LiveSeat.objects.filter(round_id=round_id).exclude(stakes={}).exists()

        return self._steadily(ask)

    def _is_idle(self) -> bool:
        return not Hold.objects.filter(round_id=self._now().pk).exists()

    def _now(self) -> LiveRound:
        return self._steadily(
            lambda: LiveRound.objects.get(pk=LiveTable.objects.values_list("round", flat=True).get(pk=self._table.pk))
        )

    def _round(self, round_id: UUID) -> LiveRound:
        return self._steadily(lambda: LiveRound.objects.get(pk=round_id))

    def _wait(self, condition: Callable[[], object], what: str) -> None:
        wait_for(lambda: self._steadily(condition), what)

    @staticmethod
    def _steadily(ask: Callable[[], Answer]) -> Answer:
        """Ask the database, again and again while it is away."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask()
            except (OperationalError, InterfaceError):
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK)


def _moved(before: LiveRound, now: LiveRound) -> bool:
    return (before.pk, before.phase, before.deadline) != (now.pk, now.phase, now.deadline)


def _lasts(live_round: LiveRound) -> timedelta:
    """How long its phase lasts by the clock of the table."""
    if live_round.phase == Phase.DEALT:
        return BRISK.dealing(len(live_round.cards.split()))
    each = {Phase.BETTING: BRISK.betting, Phase.CLOSED: BRISK.call}.get(Phase(live_round.phase), BRISK.pause)
    return timedelta(milliseconds=each)
