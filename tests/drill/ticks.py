"""Ticks in the worker's log: which arrived, what each asked for, and what failed.

Ticks are counted where they arrive and not by the clock, so a busy machine causes no failure.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

LINE = re.compile(
    r"Task games\.tasks\.(?P<task>\w+)\[(?P<id>[\w-]+)\] "
    r"(?P<what>received|succeeded in [^:]+: (?P<result>.*)|raised .*|retry.*)"
)
SHARED = ("tick", "advance_live_table")
CHEMIN = ("tick_chemin", "advance_chemin_table")


@dataclass
class Tick:
    """One message of beat, as the worker took it."""

    received: datetime
    ended: datetime | None = None
    asked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ticks:
    """The ticks after a moment."""

    ticks: tuple[Tick, ...]
    failures: tuple[str, ...]

    def in_vain(self, table: int, until: datetime) -> int:
        """Return the number of ticks that ended before *until* and did not ask for the table."""
        ended = (tick for tick in self.ticks if tick.ended and tick.ended < until)
        return sum(table not in tick.asked for tick in ended)

    def before(self, until: datetime) -> int:
        """Return the number of ticks that had begun before *until*, without those that came too late to begin."""
        return sum(tick.received < until for tick in self.ticks if tick.ended)


def read(lines: Iterable[str], since: datetime, tasks: tuple[str, str] = SHARED) -> Ticks:
    """Read the worker's log from a moment on: the ticking task, and the task that it calls."""
    tick_task, advance_task = tasks
    ticks: dict[str, Tick] = {}
    advances = set()
    failures = []
    for line in lines:
        if not (found := LINE.search(line)) or found["task"] not in tasks:
            continue
        written = json.loads(line)
        found, at = LINE.match(written["event"]), datetime.fromisoformat(written["timestamp"])
        if found is None or at < since:
            continue
        if found["what"] == "received" and found["task"] == advance_task:
            advances.add(found["id"])
        elif found["what"] == "received" and found["task"] == tick_task:
            ticks[found["id"]] = Tick(at)
        elif found["what"].startswith("raised") and found["id"] in advances | ticks.keys():
            failures.append(line)
        elif found["id"] in ticks and found["result"] is not None:
            tick = ticks[found["id"]]
            tick.ended, tick.asked = at, tuple(int(each) for each in re.findall(r"\d+", found["result"]))
    return Ticks(tuple(ticks.values()), tuple(failures))
