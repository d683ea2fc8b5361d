"""Tickets that open a stream: who reads, of which table or lobby, in which session and language, signed and good for a
minute. Staff have one for the floor, programs one that they never see. Whoever opens any is also told what everybody
is.

A stream is opened past Django's request handler, which would hold a thread and a database connection for each; what a
request would have found out stands in the ticket. Whether the session still runs is asked anew where it is shown. The
signature holds for one session cookie, so whoever finds the address in a log opens nothing with it.
"""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, NamedTuple
from uuid import UUID

from django.core import signing

from games.models import Shape
from wallet.models import Mode

PATH: Final = "/live/"
MAX_AGE: Final = timedelta(seconds=60)
NOBODY: Final = 0  # no player has this number
_SALT: Final = "games.shared.stream_tokens"


class BadTicket(Exception):
    """Not of this house, changed, too old, or another browser's."""


@dataclass(frozen=True)
class Ticket:
    """What one page may open: a live table, the lobby of one kind of money, the floor, or what everybody is told."""

    is_program: ClassVar[bool] = False

    player: int  # `NOBODY` on the floor
    live_table: int | None
    session: UUID | None  # None: a program that has changed nothing lately
    language: str
    lobby: Mode | None = None
    made_at: datetime | None = None  # the page, by the database's clock: what was said since then it is told
    shape: Shape = Shape.SHARED  # of the table: what it shows follows from it
    currency: str = ""  # of whoever looks at a lobby: tables for one currency alone are shown to those who have it
    jurisdiction: str = ""  # theirs: so are tables that serve some jurisdictions alone; and its clocks show the times
    staff: int | None = None  # who looks at the floor

    @property
    def reader(self) -> tuple[int, int | None]:
        """Whose stream it is: one person has no more than a few."""
        return self.player, self.staff

    @property
    def only_listens(self) -> bool:
        """Whether the page is told what everybody is, and nothing else."""
        return self.live_table is None and self.lobby is None and self.staff is None


class Mark(NamedTuple):
    """A round at a table, by which those that follow it are found: they are played in this order."""

    shoe: int  # its number at the table
    round: int  # its number in the shoe


@dataclass(frozen=True)
class ProgramTicket(Ticket):
    """What a program opens with its token, of one table. It is not signed: the port has it from the view that let the
    program in.
    """

    is_program: ClassVar[bool] = True

    token: int = 0
    after: Mark | None = None  # the last round that the program knows of; None where it has just come


def floor_ticket(staff: int, session: UUID) -> Ticket:
    """Return the ticket of a page that shows the floor."""
    return Ticket(NOBODY, None, session, "en", staff=staff)


def lobby_ticket(player: int, mode: Mode, session: UUID, language: str, *, currency: str, jurisdiction: str) -> Ticket:
    """Return the ticket of a page that shows all tables for one kind of money."""
    return Ticket(player, None, session, language, mode, currency=currency, jurisdiction=jurisdiction)


def house_ticket(player: int, session: UUID, language: str, *, jurisdiction: str) -> Ticket:
    """Return the ticket of a page that is only told what everybody is."""
    return Ticket(player, None, session, language, jurisdiction=jurisdiction)


def issue(ticket: Ticket, cookie: str | None = None) -> str:
    """Return the address at which the page opens its stream, within `MAX_AGE`, with the session *cookie* of its
    reader (`request.session.session_key`).
    """
    made_at = ticket.made_at and ticket.made_at.timestamp()
    who = [ticket.player, ticket.live_table, str(ticket.session), ticket.language]
    named = [*who, ticket.lobby, made_at, ticket.shape, ticket.currency, ticket.jurisdiction, ticket.staff]
    return f"{PATH}{signing.dumps(named, salt=_salt(cookie))}/"


def read(address: str, cookie: str | None = None) -> Ticket:
    """Return the ticket that an address was made for, brought with *cookie*. Raises BadTicket."""
    if not (address.startswith(PATH) and address.endswith("/")):
        raise BadTicket
    try:
        named = signing.loads(address[len(PATH) : -1], salt=_salt(cookie), max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise BadTicket from error
    if len(named) != len(fields(Ticket)):  # of the program that ran here until a minute ago
        raise BadTicket
    player, live_table, session, language, lobby, made_at, shape, currency, jurisdiction, staff = named
    return Ticket(
        player,
        live_table,
        UUID(session),
        language,
        Mode(lobby) if lobby else None,
        datetime.fromtimestamp(made_at, UTC) if made_at else None,
        Shape(shape),
        currency,
        jurisdiction,
        staff,
    )


def _salt(cookie: str | None) -> str:
    return f"{_SALT}.{cookie}" if cookie else _SALT
