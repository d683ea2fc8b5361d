"""A house for a drill: opened as `make run` opens one, for as long as the drill lasts. Its programs reach PostgreSQL by
a line that can be cut, and the bank reaches it by a post that is none too good.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from casino.embedded import Places
from casino.embedded.places import DATABASE, SOCKET_OF_POSTGRESQL, WEB_ROLE
from tests.drill.commits import Line, line_to
from tests.drill.postman import Postman, a_postman
from tests.start.support import House, fresh_var

PACE = {
    "REALITY_CHECK_MINUTES": "1000",  # a long drill is one sitting, and nobody there to answer
    "LOG_LEVEL": "DEBUG",  # every tick is in the logs, also those that found nothing
    "PAYMENT_ASK_SECONDS": "5",  # of a payment that no message comes about
}


@dataclass(frozen=True)
class Held:
    """A house that is open, and what can be done to its lines."""

    house: House
    line: Line
    postman: Postman

    @property
    def port(self) -> int:
        """Where web answers."""
        port = urlsplit(self.house.url).port
        assert port
        return port


@contextmanager
def held(seed: str) -> Iterator[Held]:
    """A house of its own that is open."""
    with fresh_var() as var, a_postman(seed) as postman:
        places = Places(var)
        with line_to(places.sockets / SOCKET_OF_POSTGRESQL) as line:
            address = f"postgresql://{WEB_ROLE}@127.0.0.1:{line.port}/{quote(DATABASE)}"
            lines = {
                "DATABASE_URL": f"{address}?sslmode=disable&gssencmode=disable",
                "DATABASE_OWNER_URL": places.addresses.database_owner_url,
                "PAYMENT_HOST": postman.address,
            }
            house = House(var, extra=PACE | lines)
            try:
                opened = Held(house.open(), line, postman)
                postman.house = opened.port
                yield opened
            finally:
                house.process.terminate()
                house.process.wait()
