"""Queries of exclusion registers, and storage of their answers.

Registers are asked at log-in and before play. An answer holds for as long as a session can last. A
missing answer is asked for again before the next game. The round's own transaction reads the stored
answers (``players_barred``).
"""

from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from audit import log
from players.models import Outcome, Player, RegisterCheck
from players.protection.exclusions import now
from players.protection.registers.house import HouseRegister
from players.protection.registers.interface import Register, RegisterUnreachable, person_of

HOLDS = timedelta(seconds=settings.SESSION_COOKIE_AGE)
UNANSWERED = (Outcome.UNREACHABLE, Outcome.DROPPED)


def serving(jurisdiction: str) -> tuple[Register, ...]:
    """Return the registers for a jurisdiction: our own first, then the national one if configured."""
    path = settings.PLAYER_REGISTERS.get(jurisdiction)
    return (HouseRegister(), _configured(path)) if path else (HouseRegister(),)


def ask(player: Player) -> None:
    """Ask every register for the player's jurisdiction, and store and record the answers."""
    for register in serving(player.jurisdiction_id):
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
    house, *national = serving(player.jurisdiction_id)
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
    for register in serving(player.jurisdiction_id)[1:]:
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
    RegisterCheck.objects.create(player=player, register=register, outcome=outcome, until=until)
    log.record(
        "register.checked",
        by="system",
        on=str(player),
        data={"register": register, "outcome": outcome.value, "until": until.isoformat() if until else None},
    )
