"""Tickets that open a stream: who reads, at which table, in which session and language, signed and good for a minute.

A stream is opened past Django's request handler, which would hold a thread and a database connection for each; what a
request would have found out stands in the ticket. Whether the session still runs is asked anew where it is shown.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.core import signing

PATH: Final = "/live/"
MAX_AGE: Final = timedelta(seconds=60)
_SALT: Final = "games.live.tickets"


class BadTicket(Exception):
    """Not of this house, changed, or too old."""


@dataclass(frozen=True)
class Ticket:
    """What one page may open."""

    player: int
    live_table: int
    session: UUID
    language: str


def issue(ticket: Ticket) -> str:
    """Return the address at which the page opens its stream, within `MAX_AGE`."""
    named = [ticket.player, ticket.live_table, str(ticket.session), ticket.language]
    return f"{PATH}{signing.dumps(named, salt=_SALT)}/"


def read(address: str) -> Ticket:
    """Return the ticket that an address was made for. Raises BadTicket."""
    if not (address.startswith(PATH) and address.endswith("/")):
        raise BadTicket
    try:
        named = signing.loads(address[len(PATH) : -1], salt=_SALT, max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise BadTicket from error
    player, live_table, session, language = named
    return Ticket(player, live_table, UUID(session), language)
