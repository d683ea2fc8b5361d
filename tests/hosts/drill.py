"""The drill: people bet at a live table, watch it and read the lobby while machines disappear and come back.

After each loss play must continue (`tests.hosts.play`); an answer alone would not show that.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from typing import Final, LiteralString
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import psycopg
from django.db import connection

from audit.models import Event, Report, ReportState
from audit.reports.heading import Head
from audit.reports.kinds import Interval
from audit.reports.requests import ask, clock
from audit.reports.runner import OF_REPLICA
from audit.sealing import checkpoints
from deploy.hosts.house import House
from games.betting.limits import Limits
from games.models import Incident, LiveRound, LiveTable, Phase
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from games.shared.seats import seat_at
from games.tables.clock import Clock
from ops.beat import ADVISORY_LOCK
from players.models import Player, Session
from tests.builders import a_player, a_shared_table
from tests.harness.databases import add_functions
from tests.harness.visitor import Visitor
from tests.hosts import play
from tests.hosts.onlookers import Bettor, Clicker, Looker, Viewer
from tests.wallet import wholeness
from wallet.models import Hold, Mode

BRISK = Clock(betting=3000, call=500, card=200, pause=500)
PATIENCE = 90.0  # seconds that a busy machine may take for anything
LOOK = 0.1
SLUG = "many-machines"
BEAT = """
SELECT activity.application_name, activity.client_port
FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
WHERE lock.locktype = 'advisory' AND lock.objsubid = 1 AND lock.classid = %s AND lock.objid = %s AND lock.granted
"""
READS: Final[LiteralString] = """
SELECT sum(seq_scan + coalesce(idx_scan, 0)) FROM pg_stat_user_tables WHERE relname = 'games_table'
"""
READERS: Final[LiteralString] = """
SELECT count(DISTINCT client_addr) FROM pg_stat_activity WHERE application_name = 'sabot replica'
"""


class Failed(Exception):
    """A check of the drill failed."""


class Loss(StrEnum):
    """Way in which a machine disappears. Without cables it can only be killed."""

    CABLE = "cable"  # its processes continue, and no connection is closed
    POWER = "power"  # its processes end, and no connection is closed
    KILLED = "killed"  # its processes end, and its kernel closes the connections


def _connects_from(port: int, program: "subprocess.Popen[bytes]") -> bool:
    try:
        return any(each.laddr and each.laddr.port == port for each in psutil.Process(program.pid).net_connections())
    except psutil.Error:
        return False


def _sees_the_table(visitor: Visitor) -> bool:
    try:
        return visitor.get(f"/en/table/{SLUG}/real/")[0] == HTTPStatus.OK
    except (OSError, HTTPException):
        return False


class Drill:
    """A table of the house, those who are there, and the machines."""

    def __init__(self, house: House, say: Callable[[str], object]) -> None:
        self._house, self._say = house, say
        add_functions()
        self._table = LiveTable.objects.get(table=a_shared_table(slug=SLUG, clock=BRISK), mode=Mode.REAL)
        self._clickers: list[Bettor] = []
        self._viewers: list[Viewer] = []
        address = urlsplit(house.url).netloc
        self._passers_by = [Looker(address, "/en/", patience=5) for _ in range(2)]
        for code in ("SE", "DK"):
            player = a_player(code, real=10**9)
            seat_at(player, self._table)
            visitor = Visitor(house.url, player.user, patience=3)
            self._until(partial(_sees_the_table, visitor), "the table is shown")
            page, form = f"/en/table/{SLUG}/real/bet/", self._form_of(player)
            self._clickers.append(Bettor(player.pk, visitor, page, form, lambda: str(self._table_state()[0])))
            self._viewers += [Viewer(house.url, self._address_of(player)) for _ in range(2)]

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Let all players play in the meantime; then check the result. Raises Failed."""
        self._until(lambda: LiveRound.objects.filter(live_table=self._table).exists(), "the table opens")
        everybody: tuple[Clicker | Viewer, ...] = (*self._clickers, *self._viewers, *self._passers_by)
        for each in everybody:
            each.start()
        began = time.monotonic()
        self._until(lambda: self._is_all_well(began), "everybody is served")
        self._say("people bet and watch")
        yield
        for each in everybody:
            each.go_home()
        # Between its close and its end a round's stakes lie in escrow, which the ledger is asked to have empty.
        self._until(self._is_idle, "nothing lies on the table")
        wholeness.assert_whole()
        if Incident.objects.exists():
            raise Failed("a table stopped")
        if faults := [*play.disagreements(self._table, self._clickers)]:
            raise Failed("\n".join(faults))
        clicks = sum(len(each.served) for each in self._clickers), sum(len(each.lost) for each in self._clickers)
        taken = sum(each.taken.total() for each in self._clickers)
        opened = sum(len(each.opened) for each in self._viewers)
        settled = LiveRound.objects.filter(live_table=self._table, phase=Phase.SETTLED).count()
        self._say(
            f"{settled} rounds settled; {clicks[0]} clicks answered, {taken} of them took a chip, {clicks[1]} not;"
            f" {opened} streams for {len(self._viewers)} viewers"
        )

    def lose_web(self, name: str) -> None:
        """Lose a machine with web, and get it back. A person who watched there has to watch on."""
        theirs = self._until_somebody_watches_at(name)
        lost_at, began = play.now(), self._lose(name)
        self._until(lambda: all(each.opened[-1] > began for each in theirs), "they watch at the other machine")
        self._until(lambda: self._is_all_well(began), "everybody is served by the other machine")
        gap = max(each.longest_gap(began) for each in self._clickers)
        self._say(
            f"{name} gone: all clicks answered and all streams back after {time.monotonic() - began:.1f} s,"
            f" {len(theirs)} of them opened again, the longest wait for an answer was {gap:.1f} s"
        )
        self._until_play_goes_on(lost_at)
        self._return(name)
        self._until(lambda: self._is_ready(name), f"{name} is ready")
        self._say(f"{name} is back after {time.monotonic() - began:.1f} s")

    def lose_beat(self, how: Loss) -> None:
        """Lose the machine whose beat works, with its worker, and get it back."""
        name = self._beat()
        began = self._lose(name, how)
        self._until(lambda: self._beat() not in ("", name), "another beat works")
        # Changes until now may come from messages that were on their way.
        taken, taken_at, stood = time.monotonic() - began, play.now(), self._table_state()
        self._until(lambda: self._table_state() != stood, "the table moves")
        self._say(
            f"{name} gone ({how}): beat of {self._beat()} took over after {taken:.1f} s,"
            f" the table moved after {time.monotonic() - began:.1f} s"
        )
        self._until_play_goes_on(taken_at)
        self._return(name, how)
        self._until(lambda: self._is_all_well(began), "everybody is served")

    def lose_sealer(self, how: Loss) -> None:
        """Lose the machine that seals, with its signer: play continues; the log is sealed after the recovery."""
        lost_at, began = play.now(), self._lose("sealer", how)
        self._until_play_goes_on(lost_at)
        self._until(lambda: Event.objects.filter(leaf=None).exists(), "something waits to be sealed")
        last, signed = Event.objects.latest("pk").pk, checkpoints.size()
        waiting = Event.objects.filter(leaf=None).count()
        back = time.monotonic()
        self._return("sealer", how)
        self._until(lambda: not Event.objects.filter(leaf=None, pk__lte=last).exists(), "what waited is sealed")
        self._until(lambda: checkpoints.size() >= signed + waiting, "what waited is signed")
        self._say(
            f"sealer gone ({how}) for {back - began:.1f} s: people played on, {waiting} events waited,"
            f" sealed and signed {time.monotonic() - back:.1f} s after it came back"
        )

    def stop_web(self, name: str) -> None:
        """Stop web of a machine as for an upgrade: players must not notice."""
        lost = sum(len(each.lost) for each in self._clickers)
        began, stopped_at = time.monotonic(), play.now()
        (web,) = self._house.hosts[name].programs
        os.killpg(web.pid, signal.SIGTERM)
        web.wait(PATIENCE)
        self._until(lambda: self._is_all_well(began), "everybody is served by the other machine")
        lost = sum(len(each.lost) for each in self._clickers) - lost
        self._say(f"{name} stopped for an upgrade: gone after {time.monotonic() - began:.1f} s, {lost} clicks lost")
        self._until_play_goes_on(stopped_at)
        self._return(name, Loss.KILLED)
        self._until(lambda: self._is_ready(name), f"{name} is ready")

    def read_replica(self) -> None:
        """See that lobby and reports come from the replica, and how far it is behind."""
        self._until_the_lobby_is_the_replica_s()
        if not self._report_is_of_replica():
            raise Failed("a report was made of the primary")
        web = self._house.ask_replica(READERS)
        self._say(f"lobby and report come from the replica, {self._house.lag():.1f} s behind; {web} machines read it")

    def lose_replica(self) -> None:
        """Lose the replica, and get it back: nobody must notice."""
        everybody: list[Clicker] = [*self._clickers, *self._passers_by]
        lost = sum(len(each.lost) for each in everybody)
        lost_at, began = play.now(), self._lose("replica")
        self._until(lambda: all(each.is_served_since(began) for each in self._passers_by), "the lobby is shown")
        served = time.monotonic() - began
        if self._report_is_of_replica():
            raise Failed("the replica is not lost")
        gap = max(each.longest_gap(began) for each in self._passers_by)
        lost = sum(len(each.lost) for each in everybody) - lost
        self._say(
            f"replica gone: lobby shown by the primary, all of it after {served:.1f} s, the longest wait for it"
            f" {gap:.1f} s, {lost} clicks lost; a report made of the primary"
        )
        self._until_play_goes_on(lost_at)
        back = time.monotonic()
        self._return("replica")
        self._until_the_lobby_is_the_replica_s()
        self._say(f"the replica shows the lobby again {time.monotonic() - back:.1f} s after it came back")

    def _until_the_lobby_is_the_replica_s(self) -> None:
        def reads() -> int:
            try:
                return int(self._house.ask_replica(READS) or 0)
            except psycopg.Error:
                return 0

        self._until(reads, "the replica answers")
        before = reads()
        self._until(lambda: reads() > before + len(self._passers_by), "the replica shows the lobby")

    def _report_is_of_replica(self) -> bool:
        """Have a worker make a report; say whether it is made of the replica."""
        now = clock()
        interval = Interval(now - timedelta(hours=1), now)
        report = ask(kind="liability", interval=interval, zone="UTC", by="system", choices={})

        def made() -> Report | None:
            return Report.objects.filter(pk=report.pk, state=ReportState.READY).first()

        self._until(made, "a report is made")
        found = made()
        assert found
        assert found.head
        return OF_REPLICA in Head.read(found.head).notes

    def _lose(self, name: str, how: Loss = Loss.CABLE) -> float:
        host, network = self._house.hosts[name], self._house.network
        began = time.monotonic()
        if how is Loss.CABLE and network.can_cut:
            network.cut(host)
        elif how is Loss.POWER:
            network.power_off(host)
        else:
            host.kill()
        return began

    def _return(self, name: str, how: Loss = Loss.CABLE) -> None:
        """Put the cable in again, and start again what has ended, as systemd would."""
        host, network = self._house.hosts[name], self._house.network
        if network.can_cut and how is not Loss.KILLED:
            network.mend(host)
            if how is Loss.CABLE and (name.startswith("web") or name == "replica"):
                return
        host.kill()
        self._house.start(name)

    def _until_somebody_watches_at(self, name: str) -> list[Viewer]:
        """Return the viewers whose streams come from that machine; while none does, have one ask again."""
        found: list[Viewer] = []

        def look() -> bool:
            found[:] = [each for each in self._viewers if each.opened and each.port and self._web_of(each) == name]
            if not found:
                self._viewers[0].hang_up()
            return bool(found)

        self._until(look, f"somebody watches at {name}")
        return found

    def _web_of(self, viewer: Viewer) -> str:
        return self._house.web_of(viewer.port)

    def _until_play_goes_on(self, since: datetime) -> None:
        """Wait until everybody has a bet settled in a round that was opened since, and has been shown one."""
        began = time.monotonic()
        try:
            self._until(lambda: not self._misses(since), "play goes on")
        except Failed as failed:
            raise Failed("\n".join((str(failed), *self._misses(since)))) from failed
        self._say(f"a round that was opened since is settled, with bets of all, after {time.monotonic() - began:.1f} s")

    def _misses(self, since: datetime) -> list[str]:
        return [*play.missing(self._table, since, self._clickers, self._viewers)]

    def _is_all_well(self, since: float) -> bool:
        served = all(each.is_served_since(since) for each in (*self._clickers, *self._passers_by))
        return served and all(each.heard > since + LOOK * 2 for each in self._viewers)

    def _is_ready(self, name: str) -> bool:
        try:
            self._house.demand_ready(name)
        except OSError:
            return False
        return True

    def _beat(self) -> str:
        """Return the machine whose beat works, "" while none does."""
        with connection.cursor() as cursor:
            cursor.execute(BEAT, [ADVISORY_LOCK >> 32, ADVISORY_LOCK & 0xFFFFFFFF])
            row = cursor.fetchone()
        if row is None:
            return ""
        name, port = row
        if self._house.network.can_cut:
            return str(name).rpartition(" ")[2]
        hosts = self._house.hosts.items()  # whose names are all that of this machine
        return next((each for each, host in hosts if any(_connects_from(port, it) for it in host.programs)), "")

    def _is_idle(self) -> bool:
        dealing = LiveRound.objects.filter(live_table=self._table, phase__in=(Phase.CLOSED, Phase.DEALT))
        return not (Hold.objects.exists() or dealing.exists())

    def _table_state(self) -> tuple[object, ...]:
        found = LiveTable.objects.filter(pk=self._table.pk).values_list("round_id", "round__phase", "round__deadline")
        return tuple(found.get())

    def _form_of(self, player: Player) -> dict[str, object]:
        version = self._table.table.version
        assert version
        chip = Limits.of(version.limits, player.currency).chips[2]
        return {"action": "bet:banker", "chip": chip, "table_version": version.number}

    def _address_of(self, player: Player) -> Callable[[], str]:
        session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
        return lambda: stream_tokens.issue(Ticket(player.pk, self._table.pk, session.pk, "en"))

    def _until(self, holds: Callable[[], object], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > until:
                raise Failed(f"in vain: {what}")
            time.sleep(LOOK)
