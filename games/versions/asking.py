"""Asking for a table, or for another version of one. One person asks, another decides (`audit.approvals`), and what was
asked for is done as it stands: at once, or when its time comes (`games.versions.schedule`).

Whatever would be refused when it is done is refused when it is asked for, in a sentence for staff.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from audit import approvals
from audit.log import Json
from audit.models import Approval
from games.live import clock as house_clock
from games.models import Shape, Table
from games.tables import TableClock, TableError, TableLimits, check, check_change
from games.variants import GAMES
from games.versions import schedule
from players.models import Jurisdiction, Staff
from wallet.models import Mode

VERSION: Final = "table.version"
TABLE: Final = "table.make"
ASK: Final = "games.change_table"
DECIDE: Final = "games.decide_table"
LONGEST_NAME: Final = 80
LONGEST_ADDRESS: Final = 50
FURTHEST: Final = timedelta(days=366)


@transaction.atomic
def ask_version(
    *,
    table_id: int,
    limits: TableLimits,
    clock: TableClock | None = None,
    goes_live_at: datetime | None = None,
    reason: str,
    staff: Staff,
) -> Approval:
    """Ask for other limits or another pace (None keeps it) at a table, from the decision or from *goes_live_at* on.

    Raises TableError with a sentence for staff (its subclasses NothingChanged, UnusableLimits, UnusableClock,
    ReturnTooLow, MissingLanguage; itself for the reason, the moment, or another version that waits for its time),
    approvals.AskedTwice, Table.DoesNotExist.
    """
    table = Table.objects.select_related("version").get(pk=table_id)
    if table.version is None:
        raise TableError("This table has no version yet.")
    if schedule.of_table(table).exists():
        raise TableError("Another version of this table waits for its time. Withdraw it first.")
    pace = check_change(table, limits, clock)
    request: dict[str, Json] = {
        "table": table.pk,
        "based_on": table.version.number,
        **_money(table.variant, limits, pace),
        "goes_live_at": _moment(goes_live_at),
    }
    return _ask(VERSION, f"table:{table.pk}", request, reason, staff)


@transaction.atomic
def ask_table(
    *,
    slug: str,
    name: str,
    variant: str,
    shape: Shape,
    limits: TableLimits,
    clock: TableClock | None = None,
    jurisdictions: Sequence[str],
    modes: Sequence[Mode],
    chat_language: str = "",
    goes_live_at: datetime | None = None,
    reason: str,
    staff: Staff,
) -> Approval:
    """Ask for a table. With *goes_live_at* it is made and opened then; else it is made by the decision and stays closed
    until somebody opens it.

    Raises TableError with a sentence for staff, as `ask_version` does, also for a name or an address that cannot be,
    an unknown game, jurisdiction or language and for no kind of money; approvals.AskedTwice.
    """
    request: dict[str, Json] = {
        "slug": slug,
        "name": name.strip(),
        "variant": variant,
        "shape": str(shape),
        "jurisdictions": sorted(set(jurisdictions)),
        "modes": sorted({str(mode) for mode in modes}),
        "chat_language": chat_language,
    }
    check_table(request, limits, clock)
    request |= _money(variant, limits, clock)
    return _ask(TABLE, f"new-table:{slug}", request | {"goes_live_at": _moment(goes_live_at)}, reason, staff)


def check_table(request: Mapping[str, Json], limits: TableLimits, clock: TableClock | None) -> None:
    """Refuse a table that cannot be made as things stand. Raises TableError, as `ask_table` says."""
    slug, name, variant = str(request["slug"]), str(request["name"]), str(request["variant"])
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise TableError("An address has letters, digits, hyphens and underscores, and nothing else.") from error
    if len(slug) > LONGEST_ADDRESS:
        raise TableError(f"An address has {LONGEST_ADDRESS} characters at most.")
    if not 0 < len(name) <= LONGEST_NAME:
        raise TableError(f"A table has a name of {LONGEST_NAME} characters at most.")
    if Table.objects.filter(slug=slug).exists():
        raise TableError("Another table has this address.")
    if variant not in GAMES:
        raise TableError("The house has no such game.")
    if request["chat_language"] not in {"", *dict(settings.LANGUAGES)}:
        raise TableError("The house has no such language.")
    _check_for_whom(cast("Sequence[str]", request["jurisdictions"]), cast("Sequence[str]", request["modes"]))
    check(Table(slug=slug, name=name, variant=variant, shape=Shape(str(request["shape"]))), limits, clock)


def _check_for_whom(jurisdictions: Sequence[str], modes: Sequence[str]) -> None:
    if not jurisdictions or Jurisdiction.objects.filter(pk__in=jurisdictions).count() != len(jurisdictions):
        raise TableError("A table is for players of one jurisdiction of the house at least, and of no others.")
    if not modes or not set(modes) <= set(Mode.values):
        raise TableError("A table is for real money, for free money or for both.")


def _money(variant: str, limits: TableLimits, clock: TableClock | None) -> dict[str, Json]:
    """Return what decides money, as the request freezes it and the database compares it with what is done."""
    game = GAMES[variant]
    return {
        "limits": cast("Json", limits),
        "clock": cast("Json", clock and clock.stored()),
        "digest": game.digest,
        "rules": game.version,
    }


def _moment(goes_live_at: datetime | None) -> str | None:
    """Write a moment to come. Raises TableError where it is none."""
    if goes_live_at is None:
        return None
    if not timedelta(0) < goes_live_at - house_clock.now() <= FURTHEST:
        raise TableError("Something goes live at a moment to come, and within a year.")
    return goes_live_at.astimezone(UTC).isoformat()


def _ask(kind: str, on: str, request: Mapping[str, Json], reason: str, staff: Staff) -> Approval:
    if not reason.strip():
        raise TableError("Say why: the reason is kept in the log.")
    return approvals.ask(kind=kind, on=on, request=request, by=str(staff), person=staff.person, reason=reason.strip())
