"""Requests for a new table or a new table version.

One person requests and another decides (`audit.approvals`). The request is executed unchanged, at
once or at its time (`games.change_requests.execution`). A request that could not be executed is
refused at once, with a sentence for staff.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from audit import approvals
from audit.log import Json
from audit.models import Approval
from games.change_requests import differences, execution
from games.labels import names_of_games
from games.models import Shape, Table
from games.tables import clock as house_clock
from games.tables import versions
from games.tables.checks import TableClock, TableEligibility, TableError, TableLimits, check
from games.variants import GAMES
from players.models import Staff
from wallet.models import Mode

VERSION: Final = "table.version"
TABLE: Final = "table.make"
ASK: Final = "games.change_table"
DECIDE: Final = "games.decide_table"
LONGEST_NAME: Final = 80
LONGEST_ADDRESS: Final = 50
FURTHEST: Final = timedelta(days=366)


class UnusableAddress(TableError):
    """The address is not possible for a new table."""


class UnusableMoment(TableError):
    """The time is not possible for a change to go live."""


@transaction.atomic
def ask_version(
    *,
    table_id: int,
    limits: TableLimits,
    clock: TableClock | None = None,
    jurisdictions: Sequence[str] | None = None,
    modes: Sequence[Mode] | None = None,
    goes_live_at: datetime | None = None,
    reason: str,
    staff: Staff,
) -> Approval:
    """Request a new version of a table, from the decision or from *goes_live_at* on.

    None keeps the pace, the players or the money. Raises TableError with a sentence for staff (its
    subclasses NothingChanged, UnusableLimits, UnusableClock, NobodyEligible, ReturnTooLow,
    MissingLanguage; itself for the reason, the time, or another scheduled version),
    approvals.AskedTwice, Table.DoesNotExist.
    """
    request = version_request(
        table_id=table_id,
        limits=limits,
        clock=clock,
        jurisdictions=jurisdictions,
        modes=modes,
        goes_live_at=goes_live_at,
    )
    return _ask(VERSION, f"table:{table_id}", request, reason, staff)


def version_request(
    *,
    table_id: int,
    limits: TableLimits,
    clock: TableClock | None,
    jurisdictions: Sequence[str] | None,
    modes: Sequence[str] | None,
    goes_live_at: datetime | None,
) -> dict[str, Json]:
    """Return the request of `ask_version` if it is possible now.

    Raises the errors of `ask_version`.
    """
    table = Table.objects.select_related("version").get(pk=table_id)
    if table.version is None:
        raise TableError(gettext("This table has no version yet."))
    if execution.of_table(table).exists():
        raise TableError(gettext("Another version of this table is already scheduled. Withdraw it first."))
    before = TableEligibility.under(table.version)
    wanted = TableEligibility.of(
        before.jurisdictions if jurisdictions is None else jurisdictions, before.modes if modes is None else modes
    )
    pace, eligibility = versions.check_change(table, limits, clock, wanted)
    return {
        "table": table.pk,
        "based_on": table.version.number,
        **_frozen(table.variant, limits, pace, eligibility),
        "goes_live_at": _moment(goes_live_at),
    }


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
    """Request a new table.

    With *goes_live_at* the table is created and opened at that time. Otherwise the decision creates
    it, and it stays closed until someone opens it. Raises TableError with a sentence for staff, as
    `ask_version` does, also for an impossible name or address, an unknown game, jurisdiction or
    language, and for no kind of money; approvals.AskedTwice.
    """
    request = table_request(
        slug=slug,
        name=name,
        variant=variant,
        shape=shape,
        limits=limits,
        clock=clock,
        jurisdictions=jurisdictions,
        modes=modes,
        chat_language=chat_language,
        goes_live_at=goes_live_at,
    )
    return _ask(TABLE, f"new-table:{slug}", request, reason, staff)


def table_request(
    *,
    slug: str,
    name: str,
    variant: str,
    shape: Shape,
    limits: TableLimits,
    clock: TableClock | None,
    jurisdictions: Sequence[str],
    modes: Sequence[str],
    chat_language: str,
    goes_live_at: datetime | None,
) -> dict[str, Json]:
    """Return the request of `ask_table` if it is possible now. Raises the errors of `ask_table`."""
    request: dict[str, Json] = {
        "slug": slug,
        "name": name.strip(),
        "variant": variant,
        "shape": str(shape),
        "chat_language": chat_language,
    }
    eligibility = TableEligibility.of(jurisdictions, modes)
    check_table(request, limits, clock, eligibility)
    return request | _frozen(variant, limits, clock, eligibility) | {"goes_live_at": _moment(goes_live_at)}


def check_table(
    request: Mapping[str, Json], limits: TableLimits, clock: TableClock | None, eligibility: TableEligibility
) -> None:
    """Refuse a table that cannot be created now. Raises TableError, as `ask_table` does."""
    slug, name, variant = str(request["slug"]), str(request["name"]), str(request["variant"])
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise UnusableAddress(
            gettext("A URL name may contain only letters, digits, hyphens and underscores.")
        ) from error
    if len(slug) > LONGEST_ADDRESS:
        raise UnusableAddress(
            gettext("A URL name can have at most %(longest_address)s characters.")
            % {"longest_address": LONGEST_ADDRESS}
        )
    if not 0 < len(name) <= LONGEST_NAME:
        raise TableError(
            gettext("The name of a table can have at most %(longest_name)s characters.")
            % {"longest_name": LONGEST_NAME}
        )
    if Table.objects.filter(name__iexact=name).exists():
        raise TableError(gettext("Another table has this name. Reports name a table by it, so choose another name."))
    if name.lower() in names_of_games(without=variant):
        raise TableError(
            gettext("This is the name of another game. Choose a name by which players recognise the game.")
        )
    if Table.objects.filter(slug=slug).exists():
        raise UnusableAddress(gettext("This URL name is already in use."))
    if variant not in GAMES:
        raise TableError(gettext("Unknown game."))
    if request["chat_language"] not in {"", *dict(settings.LANGUAGES)}:
        raise TableError(gettext("Unknown language."))
    check(Table(slug=slug, name=name, variant=variant, shape=Shape(str(request["shape"]))), limits, clock, eligibility)


def _frozen(
    variant: str, limits: TableLimits, clock: TableClock | None, eligibility: TableEligibility
) -> dict[str, Json]:
    """Return the part of a request that decides about money and players.

    The database compares it with the execution.
    """
    game = GAMES[variant]
    return {
        "limits": cast("Json", limits),
        "clock": cast("Json", clock and clock.stored()),
        "jurisdictions": cast("Json", eligibility.jurisdictions),
        "modes": cast("Json", eligibility.modes),
        "digest": game.digest,
        "rules": game.version,
    }


def _moment(goes_live_at: datetime | None) -> str | None:
    """Format a future time. Raises TableError if it is not in the future or too far ahead."""
    if goes_live_at is None:
        return None
    if not timedelta(0) < goes_live_at - house_clock.now() <= FURTHEST:
        raise UnusableMoment(gettext("The go-live time must be in the future and within one year."))
    return goes_live_at.astimezone(UTC).isoformat()


def _ask(kind: str, on: str, request: Mapping[str, Json], reason: str, staff: Staff) -> Approval:
    if not reason.strip():
        raise TableError(gettext("Enter a reason. It is recorded in the audit log."))
    return approvals.ask(kind=kind, on=on, request=request, by=str(staff), person=staff.person, reason=reason.strip())


def ready() -> None:
    """Register the kinds of approvals for new tables and new table versions."""
    approvals.register(
        VERSION,
        title=gettext_noop("new version of a table"),
        then=gettext_noop(
            "The version goes live at the time shown above. A round in progress ends under its own version."
        ),
        execute=execution.execute,
        permission=DECIDE,
        describe=differences.describe_version,
    )
    approvals.register(
        TABLE,
        title=gettext_noop("new table"),
        then=gettext_noop(
            "The table is created. It opens at the time shown above; without a time it stays closed "
            "until staff open it."
        ),
        execute=execution.execute,
        permission=DECIDE,
        describe=differences.describe_table,
    )
