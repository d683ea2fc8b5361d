"""The drill: people play, deposit and withdraw, faults follow a plan, both tables must continue, and
at the end the state is checked.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import Error, connection

from audit.models import Event
from games.models import CheminTenure, Incident, LiveRound, LiveSeat, LiveTable, Phase, Round, VerificationDue
from players.demo import DOMAIN
from players.models import Staff
from tests.drill import reckoning, recovery, ticks
from tests.drill.api_players import REPEATED
from tests.drill.chemin_table import DrilledTable
from tests.drill.held import Held
from tests.drill.hits import missed
from tests.drill.people import BRISK, Party
from tests.drill.plan import Asked, Blow, Stage
from tests.drill.plan import Round as Blows
from tests.drill.records import at_a_loss, disagreements, nothing_done
from tests.drill.recovery import Recovery
from tests.drill.simulated_players import PATIENCE
from tests.drill.victims import LOOK, House, Log, wait_for
from wallet import withdrawals
from wallet.models import BankNotice, BankPayoutNotice, Hold, Payment, PaymentState, Withdrawal, WithdrawalStatus
from wallet.sandbox_bank.orders import MOST_TRIES

TICKS = 2  # the table must continue within so many after a recovery
ENDED = (Phase.SETTLED, Phase.VOID)
UNDER_WAY = (WithdrawalStatus.REQUESTED, WithdrawalStatus.APPROVED, WithdrawalStatus.SENDING)

Answer = TypeVar("Answer")


class Failed(Exception):
    """A check of the drill failed."""


class Drill:
    """The players, and the faults of the house."""

    def __init__(self, held: Held, seed: str, *, is_long: bool) -> None:
        self._held = held
        self._house = House(settings.VAR_DIR, held.house.process.pid, held.sealer, held.port, held.line)
        self._party = Party(held.house.url, seed, is_long=is_long)
        self._table, self._chemin_table = self._party.table, DrilledTable(self._party.chemin_table.pk)
        self._players = [client.simulated_player for client in self._party.clients]
        self._recoveries: list[Recovery] = []
        self._recovered: datetime | None = None  # when from the last blow
        self._wait(LiveRound.objects.filter(live_table=self._table).exists, "the table opens")
        for simulated_player in self._players:
            simulated_player.start()

    def play(self, number: int, blows: Blows) -> None:
        """Wait for bets, cause the planned faults, and wait until the round is over."""
        live_round = self._a_round_with_bets()
        for blow in blows:
            live_round = self._at(blow.stage, live_round)
            print(f"round {number}: {self._strike(blow, live_round)}", flush=True)
            self._steadily(_approve)
            self._demand_health()
        self._wait(lambda: self._round(live_round.pk).phase in ENDED, f"{live_round.pk} ends")

    def close(self) -> None:
        """Wait for one more deal at both tables, stop all players, wait until nothing is pending, and check the result.

        Raises Failed.
        """
        self._wait(lambda: self._chemin_table.coups_since(self._recovered), "players play a coup after the last blow")
        self._wait(self._has_dealt, "a round is dealt after the last blow")
        for simulated_player in self._players:
            simulated_player.go_home()
        for simulated_player in self._players:
            simulated_player.join(PATIENCE)
        late = [simulated_player.name for simulated_player in self._players if simulated_player.is_alive()]
        if late:
            raise Failed(f"never came home: {', '.join(late)}")
        self._demand_health()
        began = time.monotonic()
        self._wait(self._is_idle, "nothing is under way")
        print(f"nothing under way {time.monotonic() - began:.1f} s after everybody had left", flush=True)
        faults = [*self._of_records(), *reckoning.faults(), *self._of_money()]
        self._tell()
        if faults:
            raise Failed("\n".join(faults))

    def _of_records(self) -> Iterable[str]:
        """Compare every client's record with what the house reports to that client."""
        shown = []
        for client in self._party.clients:
            simulated_player, rounds = client.simulated_player, client.reader.rounds()
            shown.append(rounds)
            yield from disagreements(simulated_player.record, rounds, client.reader.has())
            yield from nothing_done(
                simulated_player.record,
                simulated_player.done[simulated_player.CONFIRMED],
                rounds,
                pays=simulated_player.PAYS,
            )
        yield from at_a_loss([client.simulated_player.record for client in self._party.clients], shown)

    def _of_money(self) -> Iterable[str]:
        repeated = sum(simulated_player.done[REPEATED] for simulated_player in self._players)
        return missed(self._held.postman.ways, self._states(), self._held.line.cuts, repeated)

    def _states(self) -> Counter[str]:
        """Return the states of deposits and withdrawals."""
        mine = {"player__in": self._party.players}
        states = Counter(Payment.objects.filter(**mine).values_list("state", flat=True))
        return states + Counter(Withdrawal.objects.filter(**mine).values_list("status", flat=True))

    def _tell(self) -> None:
        """Say what was done, and how long it took to recover."""
        kept = Round.objects.filter(participation__player__in=self._party.players).distinct()
        slugs = [slug for _, slug in kept.values_list("pk", "table_version__table__slug")]
        print("rounds:", ", ".join(f"{slug} {times}" for slug, times in sorted(Counter(slugs).items())))
        kinds: dict[str, Counter[str]] = {}
        for simulated_player in self._players:
            kinds.setdefault(type(simulated_player).__name__, Counter()).update(simulated_player.done)
        for kind, done in kinds.items():
            print(f"{kind}: {', '.join(f'{what} {times}' for what, times in done.most_common())}")
        print("payments:", ", ".join(f"{state} {times}" for state, times in self._states().most_common()))
        print("call-backs:", ", ".join(f"{way} {times}" for way, times in self._held.postman.ways.items()))
        cuts = sorted(self._held.line.cuts.items())
        print("cut at COMMIT:", ", ".join(f"{action} {fate} {times}" for (action, fate), times in cuts))
        print(*recovery.table(self._recoveries), sep="\n", flush=True)

    def _demand_health(self) -> None:
        """Raise Failed if a player has found a fault."""
        if faults := [fault for simulated_player in self._players for fault in simulated_player.faults]:
            raise Failed("\n".join(faults))
        if incidents := self._steadily(lambda: [each.cause for each in Incident.objects.all()]):
            raise Failed(f"a table stopped: {incidents}")

    def _a_round_with_bets(self) -> LiveRound:
        """The next round that takes bets, once there are some of several players."""
        self._wait(lambda: self._now().phase == Phase.BETTING and self._has_bets(self._now().pk), "somebody bets")
        return self._now()

    def _at(self, stage: Stage | Asked, live_round: LiveRound) -> LiveRound:
        """Wait for that phase of the round, or of a later one where it is over; or for that of Chemin de Fer."""
        if isinstance(stage, Asked):
            self._wait(lambda: self._chemin_table.state().phase == stage, f"players are at {stage}")
            return self._now()
        order = list(Stage)
        while (now := self._now()).pk != live_round.pk or now.phase != stage:
            if now.pk != live_round.pk or now.phase not in order or order.index(Stage(now.phase)) > order.index(stage):
                live_round = self._a_round_with_bets()
            time.sleep(LOOK)
        return now

    def _strike(self, blow: Blow, live_round: LiveRound) -> str:
        """Cause a fault; wait until all parts run again and the table continues; return a report. Raises Failed."""
        if isinstance(blow.stage, Stage):
            end = live_round.deadline.timestamp()
            time.sleep(max(end - (1 - blow.moment) * _lasts(live_round).total_seconds() - time.time(), 0))
        worker, beat = Log(self._house.var, "worker"), Log(self._house.var, "beat")
        phase, began = self._now().phase, time.monotonic()
        is_up = self._house.strike(blow.victim)
        wait_for(is_up, f"{blow.victim} is up again")
        current, recovered, up = self._now(), datetime.now(UTC), time.monotonic() - began
        seated_players = self._chemin_goes_on(blow, recovered, worker)
        self._wait(lambda: _has_advanced(current, self._now()), f"the table goes on after {blow}")
        due, changed = max(recovered, current.deadline), self._steadily(lambda: self._advanced_at(current))
        seen = ticks.read(worker.lines(), due)
        late = (changed - due).total_seconds()
        words = (
            f"{blow} ({phase}): up after {up:.1f} s; moved on {late:.1f} s after it was due "
            f"by tick {seen.before(changed)} of {beat.count('games.tasks.tick ')} sent since the blow;"
            f" players went on {seated_players:.1f} s after it was up"
        )
        if seen.in_vain(self._table.pk, changed) >= TICKS or seen.failures:
            raise Failed("\n".join((words, *seen.failures, *worker.lines())))
        wait = max(simulated_player.longest_wait(began, time.monotonic()) for simulated_player in self._players)
        self._recoveries.append(Recovery(blow.victim, up, max(late, 0.0), seated_players, wait))
        self._recovered = recovered
        return words

    def _chemin_goes_on(self, blow: Blow, recovered: datetime, worker: Log) -> float:
        """Wait until the Chemin de Fer table moves, by a player or by a tick; return how many seconds that
        took. Raises Failed if ticks skip the table.
        """
        stood = self._steadily(self._chemin_table.state)
        self._wait(lambda: self._chemin_table.changed_at(stood), f"the Chemin de Fer table goes on after {blow}")
        changed = self._steadily(lambda: self._chemin_table.changed_at(stood))
        vain = self._steadily(lambda: self._chemin_table.in_vain(stood, recovered, worker.lines()))
        failures = ticks.read(worker.lines(), recovered, ticks.CHEMIN).failures
        if changed is None or vain >= TICKS or failures:
            raise Failed("\n".join((f"{blow}: {vain} ticks passed the Chemin de Fer table over", *failures)))
        return max((changed - recovered).total_seconds(), 0.0)

    def _advanced_at(self, stood: LiveRound) -> datetime:
        """Return the time of the next phase after that round state, from the database."""
        now = self._round(stood.pk)
        if stood.phase in ENDED:
            after = LiveRound.objects.filter(live_table=self._table, opened_at__gt=stood.opened_at)
            return after.earliest("opened_at").opened_at
        found = {Phase.BETTING: now.closed_at, Phase.CLOSED: now.dealt_at, Phase.DEALT: now.ended_at}
        return found[Phase(stood.phase)] or now.ended_at or now.deadline - _lasts(now)

    def _has_dealt(self) -> bool:
        dealt = LiveRound.objects.filter(live_table=self._table, phase=Phase.SETTLED).exclude(cards="")
        return dealt.filter(opened_at__gt=self._recovered).exists() if self._recovered else dealt.exists()

    def _has_bets(self, round_id: UUID) -> bool:
        def ask() -> bool:
            return LiveSeat.objects.filter(round_id=round_id).exclude(stakes={}).exists()

        return self._steadily(ask)

    def _is_idle(self) -> bool:
        """Return whether nothing is pending at a table, a bank or the sealer. This process does the tasks of finance;
        the worker must finish its own.
        """
        _approve()
        playing = LiveRound.objects.filter(phase__in=(Phase.CLOSED, Phase.DEALT))
        tries = {"sent_at": None, "tries__lt": MOST_TRIES}
        return not (
            Hold.objects.exists()
            or playing.filter(live_table=self._table).exists()
            or CheminTenure.objects.filter(ended_at=None).exists()
            or Payment.objects.filter(state=PaymentState.WAITING).exists()
            or Withdrawal.objects.filter(status__in=UNDER_WAY).exists()
            or BankNotice.objects.filter(**tries).exists()
            or BankPayoutNotice.objects.filter(**tries).exists()
            or not self._held.postman.is_idle
            or VerificationDue.objects.exists()
            or Event.objects.filter(leaf=None).exists()
        )

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
        """Ask the database, and repeat while it is not available."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask()
            except Error:
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK)


def _approve() -> None:
    """Have finance approve every withdrawal that was asked for."""
    by = Staff.objects.get(user__email=f"finance@{DOMAIN}")
    for asked in Withdrawal.objects.filter(status=WithdrawalStatus.REQUESTED):
        withdrawals.approve(withdrawal_id=asked.pk, by=str(by), person=by.person, reason="all in order")


def _has_advanced(before: LiveRound, now: LiveRound) -> bool:
    return (before.pk, before.phase, before.deadline) != (now.pk, now.phase, now.deadline)


def _lasts(live_round: LiveRound) -> timedelta:
    """Return the length of the round's phase by the clock of the table."""
    if live_round.phase == Phase.DEALT:
        return BRISK.dealing(len(live_round.cards.split()))
    each = {Phase.BETTING: BRISK.betting, Phase.CLOSED: BRISK.call}.get(Phase(live_round.phase), BRISK.pause)
    return timedelta(milliseconds=each)
