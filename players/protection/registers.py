"""National exclusion registers: a common interface, and stored answers.

``SABOT_REGISTERS`` configures the register of each jurisdiction by dotted path; see
``docs/registers.md``. Registers are asked at log-in and before play. An answer holds for as long as
a session can last, and until midnight at most, because national exclusions begin then. A missing
answer is asked for again before the next game. An exclusion ends when the register says so, even if
it named a time. The round's own transaction reads the stored answers (``players_ineligibility``).

Exclusions under another account of the same person are not stored here: the database reads them
each time (``players_excluded_elsewhere``).
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Protocol
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from audit import log
from players.models import Outcome, Player, RegisterCheck
from players.protection.exclusions import now


@dataclass(frozen=True)
class Person:
    """The person that a register is asked about. Names are empty until the identity is known."""

    player_id: int
    jurisdiction: str
    birth_date: date
    first_name: str = ""
    last_name: str = ""


@dataclass(frozen=True)
class Finding:
    """Answer of a register: whether it excludes this person, and *until* when if it says so."""

    is_excluded: bool
    until: datetime | None = None


CLEAR = Finding(is_excluded=False)


class RegisterUnreachable(Exception):
    """The register gave no valid answer. The player may not play without one."""


class Register(Protocol):
    """An exclusion register. It is asked once per session and holds no state of a player."""

    name: str  # recorded with each answer, 40 characters at most

    def check(self, person: Person) -> Finding:
        """Look *person* up, within a few seconds. Raises RegisterUnreachable."""
        ...


def person_of(player: Player) -> Person:
    """Return the known data of a player."""
    return Person(player_id=player.pk, jurisdiction=player.jurisdiction_id, birth_date=player.birth_date)


HOLDS = timedelta(seconds=settings.SESSION_COOKIE_AGE)
UNANSWERED = (Outcome.UNREACHABLE, Outcome.DROPPED)


def registers_of(jurisdiction: str) -> tuple[Register, ...]:
    """Return the configured registers for a jurisdiction: one or none."""
    path = settings.PLAYER_REGISTERS.get(jurisdiction)
    return (_configured(path),) if path else ()


def ask(player: Player) -> None:
    """Ask every register for the player's jurisdiction, and store and record the answers."""
    for register in registers_of(player.jurisdiction_id):
        _keep(player, register)


def ask_where_stale(player: Player) -> None:
    """Ask again the registers whose answers are missing or no longer hold.

    A register that is no longer configured stops nobody if it was unreachable. An exclusion that it
    reported stays in force until the time that it named.
    """
    last = {
        check.register: check
        for check in RegisterCheck.objects.filter(player=player).order_by("register", "-id").distinct("register")
    }
    registers = registers_of(player.jurisdiction_id)
    for register in registers:
        known = last.get(register.name)
        if known is None or not _holds(known, player):
            _keep(player, register)
    asked = {register.name for register in registers}
    for name, known in last.items():
        if name not in asked and (known.outcome == Outcome.UNREACHABLE or _is_over(known, now())):
            _record(player, name, Outcome.DROPPED, None)


def ask_where_due(player: Player) -> None:
    """Ask the national register if it has no valid answer, for example because it was configured during play.

    An unreachable register is not asked again here. Costs nothing if none is configured.
    """
    for register in registers_of(player.jurisdiction_id):
        known = RegisterCheck.objects.filter(player=player, register=register.name).order_by("-id").first()
        if known is None or (known.outcome != Outcome.UNREACHABLE and not _holds(known, player)):
            _keep(player, register)


def _holds(known: RegisterCheck, player: Player) -> bool:
    """Return whether an answer still holds: not after the player's midnight, nor after the time that it names."""
    moment, zone = now(), ZoneInfo(player.jurisdiction.time_zone)
    midnight = datetime.combine(moment.astimezone(zone), time(), zone)
    is_of_today = known.at >= max(moment - HOLDS, midnight)
    return known.outcome not in UNANSWERED and is_of_today and not _is_over(known, moment)


def _is_over(known: RegisterCheck, moment: datetime) -> bool:
    return known.outcome == Outcome.EXCLUDED and known.until is not None and known.until <= moment


@cache
def _configured(path: str) -> Register:
    register: Register = import_string(path)()
    return register


@transaction.atomic
def _keep(player: Player, register: Register) -> None:
    until = None
    try:
        finding = register.check(person_of(player))
    except RegisterUnreachable:
        outcome = Outcome.UNREACHABLE
    else:
        outcome, until = (Outcome.EXCLUDED, finding.until) if finding.is_excluded else (Outcome.CLEAR, None)
    _record(player, register.name, outcome, until)


def _record(player: Player, register: str, outcome: Outcome, until: datetime | None) -> None:
    made = RegisterCheck.objects.create(player=player, register=register, outcome=outcome, until=until)
    log.record(
        "register.checked",
        by="system",
        on=str(player),
        data={
            "check": made.pk,
            "register": register,
            "outcome": outcome.value,
            "until": until.isoformat() if until else None,
        },
    )


__all__ = [
    "CLEAR",
    "Finding",
    "Person",
    "Register",
    "RegisterUnreachable",
    "ask",
    "ask_where_due",
    "ask_where_stale",
    "registers_of",
]
