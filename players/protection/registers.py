"""Exclusion registers: a common interface, our own register, national ones, and stored answers.

``SABOT_REGISTERS`` configures the register of each jurisdiction by dotted path; see
``docs/registers.md``. Registers are asked at log-in and before play. An answer holds for as long as
a session can last. A missing answer is asked for again before the next game. The round's own
transaction reads the stored answers (``players_ineligibility``).

In our own register a player is excluded if another account of the same person is. Two accounts are
the same person if they have the same name and date of birth, unless staff found that they differ;
or if staff found them to be the same on any other ground.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Protocol

from django.conf import settings
from django.db import connection, transaction
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
    """Whether the register excludes this person, and *until* when if it says so."""

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


class HouseRegister:
    """Register of exclusions in this database. Always reachable."""

    name = "house"

    def check(self, person: Person) -> Finding:
        """Search for an exclusion of the same person under another account."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT until FROM players_excluded_elsewhere(%s)", [person.player_id])
            found = cursor.fetchone()
        return CLEAR if found is None else Finding(is_excluded=True, until=found[0])


HOLDS = timedelta(seconds=settings.SESSION_COOKIE_AGE)
UNANSWERED = (Outcome.UNREACHABLE, Outcome.DROPPED)


def registers_of(jurisdiction: str) -> tuple[Register, ...]:
    """Return the registers for a jurisdiction: our own first, then the national one if configured."""
    path = settings.PLAYER_REGISTERS.get(jurisdiction)
    return (HouseRegister(), _configured(path)) if path else (HouseRegister(),)


def ask(player: Player) -> None:
    """Ask every register for the player's jurisdiction, and store and record the answers."""
    for register in registers_of(player.jurisdiction_id):
        _keep(player, register)


def ask_where_stale(player: Player) -> None:
    """Ask again the registers whose answers may have changed.

    Our own register is always asked, and stored only if its answer changed. A national one is asked
    if its last answer is missing, too old, or a failure. An unreachable register that is no longer
    configured stops nobody; an exclusion that it reported stays in force.
    """
    last = {
        check.register: check
        for check in RegisterCheck.objects.filter(player=player).order_by("register", "-id").distinct("register")
    }
    house, *national = registers_of(player.jurisdiction_id)
    known = last.get(house.name)
    finding = house.check(person_of(player))
    if (known is not None and known.outcome == Outcome.EXCLUDED) != finding.is_excluded:
        _keep(player, house)
    for register in national:
        known = last.get(register.name)
        if known is None or known.outcome in UNANSWERED or now() - known.at > HOLDS:
            _keep(player, register)
    asked = {house.name, *(register.name for register in national)}
    for name, known in last.items():
        if name not in asked and known.outcome == Outcome.UNREACHABLE:
            _record(player, name, Outcome.DROPPED, None)


def ask_where_due(player: Player) -> None:
    """Ask the national register if it has no valid answer, for example because it was configured during play.

    Costs nothing if none is configured.
    """
    for register in registers_of(player.jurisdiction_id)[1:]:
        answers = RegisterCheck.objects.filter(player=player, register=register.name, at__gt=now() - HOLDS)
        if not answers.exclude(outcome=Outcome.DROPPED).exists():
            _keep(player, register)


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
