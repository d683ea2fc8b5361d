"""Records everything that is sent or stored during a coup, and finds cards a reader may not see."""

import base64
import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from zlib import crc32

import psycopg
import redis
from pypdf import PdfReader

from games.engine.cards import Card
from players.login.sessions import store_of
from players.models import BrowserSession
from tests.chemin.spelling import cards_in
from tests.harness.databases import Database
from tests.harness.sweeps import IS_SWEEP, TURN
from tests.harness.visitor import Visitor

EVERYBODY = "everybody"
CACHE = "what is kept outside the database"
HOUSE = "the house"  # rows, logs, cache: no content there may depend on one player

NUMBER = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")  # the id of the subject of a page
LINK = re.compile(r'(?:href|src|data-[a-z-]+|hx-get)="(/[^"#]*)')
# Random letters that spell a card by chance: tokens, tickets, signatures.
RANDOM = re.compile(
    r'(?:name="csrfmiddlewaretoken" value="|nonce="|data-stream="|/live/|X-CSRFToken&quot;: &quot;)[\w:+/=.-]+'
    r"|[\w-]{40,}"
)
# Columns that contain only such letters.
TOKENS = {
    ("players_browsersession", "session_key"),
    ("players_browsersession", "session_data"),
    ("mfa_authenticator", "data"),
    ("players_api_token", "start"),
    ("players_api_token", "digest"),
    ("players_user", "password"),
}
TRANSACTION = "xid"  # a column with a transaction number
ELSEWHERE = ("/static/", "/live/", "/en/account/", "/en/language/", "/en/help/", "/en/protection/", "/styleguide/")
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"


class Record:
    """Compares what each reader was sent with the cards that were face up for them."""

    def __init__(self, always: Mapping[str, set[Card]] = MappingProxyType({})) -> None:
        self.always: defaultdict[str, set[Card]] = defaultdict(set, always)
        """Cards that are pictures, for example in a help page, by place. They existed before any
        card was drawn.
        """
        self.leaks: list[str] = []
        self.heard: defaultdict[str, set[Card]] = defaultdict(set)  # every card that was sent to a reader
        self.pieces: defaultdict[str, int] = defaultdict(int)  # number of examined pieces, by reader
        self._open: defaultdict[str, set[Card]] = defaultdict(set)
        self._secrets: list[str] = []
        self._examined: set[tuple[str, str, str]] = set()  # cards are only turned up, so a text is examined once

    def keep(self, secret: bytes) -> None:
        """Also look for these bytes in any encoding."""
        encoded = (base64.b64encode(secret), base64.urlsafe_b64encode(secret))
        written = (secret.hex(), repr(secret)[2:-1], *(each.decode().rstrip("=") for each in encoded))
        self._secrets.extend(each.casefold() for each in written)
        self._examined.clear()

    def turn_up(self, cards: Iterable[Card], who: str = EVERYBODY) -> None:
        """From now on these cards are face up, for everyone or for one reader."""
        self._open[who].update(cards)

    def before(self, where: str, said: bytes | str) -> None:
        """Record the content of a place before any card is drawn."""
        self.always[where] |= cards_in(RANDOM.sub(" ", _plain(said)))

    def hear(self, who: str, where: str, said: bytes | str) -> None:
        """Examine what a reader can read now."""
        text = _plain(said)
        self.pieces[who] += 1
        if (who, where, text) in self._examined:
            return
        self._examined.add((who, where, text))
        found = cards_in(RANDOM.sub(" ", text)) - self.always[where]
        self.heard[who] |= found
        for card in found - self._open[EVERYBODY] - self._open[who]:
            self.leaks.append(f"{who} reads {card} in {where}")
        if any(written in text.casefold() for written in self._secrets):
            self.leaks.append(f"{who} reads a seed in {where}")


def pages(visitor: Visitor, *first: str, most: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Follow all links from the *first* pages and yield what is read.

    Of pages whose URLs differ only in a number, follow at most *most*. `make test` follows every
    other kind of link, the others on the next day.
    """
    seen, waiting = set(first), list(first)
    kinds = Counter(NUMBER.sub("*", address) for address in first)
    while waiting:
        address = waiting.pop()
        status, body = visitor.read(address)
        assert status < 500, (address, status)
        yield address, body
        for link in LINK.findall(body.decode(errors="ignore")) if body[:4] not in (b"%PDF", b"PK\x03\x04") else ():
            path = link.replace("&amp;", "&").partition("?")[0]
            kind = NUMBER.sub("*", path)
            if path in seen or path.startswith(ELSEWHERE) or not path.startswith(("/en/", "/staff/")):
                continue
            if not IS_SWEEP and (crc32(kind.encode()) + TURN) % 2:
                continue
            if most is None or kinds[kind] < most:
                kinds[kind] += 1
                seen.add(path)
                waiting.append(path)


def rows(database: Database) -> Iterator[tuple[str, str]]:
    """Yield every row of every table, and the content of cache and broker, as text."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        for (table,) in superuser.execute(TABLES).fetchall():
            cursor = superuser.execute(psycopg.sql.SQL("SELECT * FROM {}").format(psycopg.sql.Identifier(table)))
            names = [column.name for column in cursor.description or ()]
            for row in cursor.fetchall():
                named = zip(names, row, strict=True)
                kept = [_value(v) for name, v in named if (table, name) not in TOKENS and name != TRANSACTION]
                yield table, " | ".join(kept)
    for session in BrowserSession.objects.all():
        yield "players_browsersession", str(store_of(session).decode(session.session_data))
    for url in (database.cache_url, database.addresses.cache(database.number)):
        with redis.Redis.from_url(url) as valkey:
            for key in valkey.scan_iter():
                yield CACHE, f"{key!r} {_dumped(valkey, key)!r}"


def _dumped(valkey: "redis.Redis", key: bytes) -> object:
    return valkey.get(key) if valkey.type(key) == b"string" else valkey.dump(key)


def _value(value: object) -> str:
    """Decode bytes that are text, such as events of the log."""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _plain(said: bytes | str) -> str:
    """Return the readable text of an answer of any file type."""
    if isinstance(said, bytes):
        if said.startswith(b"%PDF"):
            said = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(said)).pages)
        elif said.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(said)) as packed:
                said = "\n".join(_plain(packed.read(name)) for name in packed.namelist())
        else:
            said = said.decode(errors="replace")
    return said
