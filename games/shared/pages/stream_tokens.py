"""Tickets that open a stream: signed, and valid for one minute.

A ticket names the reader, the table or lobby, the session and the language. Staff have tickets for
the floor. API clients have one that they never see. Every stream also carries messages to all
players.

Streams bypass Django's request handler, which would hold a thread and a database connection for
each. So the ticket holds what a request would have looked up. Whether the session is still valid is
checked again while the stream is open. The signature includes the session cookie, so an address
found in a log opens nothing.
"""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, NamedTuple
from uuid import UUID

from django.core import signing
from django.http import HttpResponse
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.models import Shape
from games.tables.fragments import render_fragment
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login.current_user import session_id
from wallet.models import Mode

PATH: Final = "/live/"
MAX_AGE: Final = timedelta(seconds=60)
NOBODY: Final = 0  # no player has this id
_SALT: Final = "games.shared.pages.stream_tokens"


class BadTicket(Exception):
    """The ticket is not signed here, was changed, is too old, or belongs to another browser."""


@dataclass(frozen=True)
class Ticket:
    """Permission of one page to open a stream: of a live table, a lobby, the floor, or of messages to all players."""

    is_api_client: ClassVar[bool] = False

    player: int  # `NOBODY` on the floor
    live_table: int | None
    session: UUID | None  # None: an API client that has changed nothing recently
    language: str
    lobby: Mode | None = None
    # time of the page by the database's clock; the stream sends messages from then on
    made_at: datetime | None = None
    shape: Shape = Shape.SHARED  # of the table; it decides what the stream sends
    currency: str = ""  # of the reader of a lobby, who sees only tables with that currency
    jurisdiction: str = ""  # of the reader: filters the tables of a lobby and sets the time zone
    staff: int | None = None  # the reader of the floor

    @property
    def reader(self) -> tuple[int, int | None]:
        """The person who reads the stream; each may open only a few."""
        return self.player, self.staff

    @property
    def only_listens(self) -> bool:
        """True if the page only receives messages to all players."""
        return self.live_table is None and self.lobby is None and self.staff is None


class RoundCursor(NamedTuple):
    """The position of a round at a table, used to find the rounds after it."""

    shoe: int  # number of the shoe at the table
    round: int  # number of the round in the shoe


@dataclass(frozen=True)
class ApiClientTicket(Ticket):
    """The stream of one table that an API client opens with its token.

    It is not signed: the view that authenticates the client passes it to the stream directly.
    """

    is_api_client: ClassVar[bool] = True

    token: int = 0
    after: RoundCursor | None = None  # the last round that the client knows; None for a new client


def floor_ticket(staff: int, session: UUID, language: str) -> Ticket:
    """Return the ticket of a page that shows the floor in *language*."""
    return Ticket(NOBODY, None, session, language, staff=staff)


def lobby_ticket(player: int, mode: Mode, session: UUID, language: str, *, currency: str, jurisdiction: str) -> Ticket:
    """Return the ticket of a page that shows all tables for one kind of money."""
    return Ticket(player, None, session, language, mode, currency=currency, jurisdiction=jurisdiction)


def house_ticket(player: int, session: UUID, language: str, *, jurisdiction: str) -> Ticket:
    """Return the ticket of a page that only receives messages to all players."""
    return Ticket(player, None, session, language, jurisdiction=jurisdiction)


def issue(ticket: Ticket, cookie: str | None = None) -> str:
    """Return the address at which the page opens its stream within `MAX_AGE`.

    *cookie* is the session cookie of the reader (`request.session.session_key`).
    """
    made_at = ticket.made_at and ticket.made_at.timestamp()
    who = [ticket.player, ticket.live_table, str(ticket.session), ticket.language]
    named = [*who, ticket.lobby, made_at, ticket.shape, ticket.currency, ticket.jurisdiction, ticket.staff]
    return f"{PATH}{signing.dumps(named, salt=_salt(cookie))}/"


def read(address: str, cookie: str | None = None) -> Ticket:
    """Return the ticket of an address that was requested with *cookie*. Raises BadTicket."""
    if not (address.startswith(PATH) and address.endswith("/")):
        raise BadTicket
    try:
        named = signing.loads(address[len(PATH) : -1], salt=_salt(cookie), max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise BadTicket from error
    # issued by an earlier version of the code, up to a minute before an upgrade
    if len(named) != len(fields(Ticket)):
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


def stream_of(request: PlayerRequest) -> str:
    """Return the address of the page's stream; empty where the reader has no log-in session."""
    player, session = request.player, session_id(request)
    if session is None:
        return ""
    ticket = house_ticket(player.pk, session, get_language() or "en", jurisdiction=player.jurisdiction_id)
    return issue(ticket, request.session.session_key)


@made_by_the_page
@player_required
@require_safe
@never_cache
def house_now(request: PlayerRequest) -> HttpResponse:
    """Return the current messages to all players, and a ticket for a stream."""
    return HttpResponse(render_fragment("banner.html#house_now", stream=stream_of(request), now=datetime.now(UTC)))
