"""Writes a month into a file: its part of the event log as an export that `audit.verification.verify` checks, its
journals with all their entries, what each account held before and after, and what is carried forward.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit.sealing import keys
from audit.streamed_zip import zipped
from audit.verification import export, verify
from ops.archive import verify_archive
from wallet import carried

Lines: TypeAlias = Iterator[str]

AT_ONCE: Final = 2000  # rows that are fetched at a time
# The account of the house that keeps no balance has only sums; what archived months came to is carried forward.
ACCOUNTS: Final = """
    WITH moved AS (
        SELECT account_id, sum(amount)::bigint AS amount, count(*) AS entries FROM wallet_entry
        WHERE journal_id >= %(first)s AND journal_id < %(beyond)s GROUP BY account_id
    )
    SELECT account.id, account.kind, account.owner_id, account.currency, account.mode, account.balance IS NOT NULL,
        coalesce(before.amount, 0)::bigint, coalesce(before.entries, 0)::bigint, moved.amount, moved.entries
    FROM moved JOIN wallet_account AS account ON account.id = moved.account_id
    LEFT JOIN (SELECT account_id, sum(amount) AS amount, sum(entries) AS entries FROM wallet_archived_account
               WHERE month <> %(month)s GROUP BY account_id) AS before ON before.account_id = account.id
    ORDER BY account.id
"""
JOURNALS: Final = """
    SELECT journal.id, journal.key, journal.kind, journal.round_id, journal.reverses_id,
        to_char(journal.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), encode(journal.request_hash, 'hex'),
        (SELECT json_agg(json_build_array(line, account_id, amount, balance_after, version) ORDER BY line)
         FROM wallet_entry AS entry WHERE entry.journal_id = journal.id)
    FROM wallet_journal AS journal WHERE journal.id >= %(first)s AND journal.id < %(beyond)s ORDER BY journal.id
"""
README: Final = """\
What happened in {month} in the house of {origin}: {events:,} events, {journals:,} journals with {entries:,} entries.
They have left its database; this file is what there is of them.

To check it you need Python 3.11 or newer, and nothing else. Unpack the file, and from its folder:

    python3 -I verify_archive.py ARCHIVE --keys KEYS

ARCHIVE is the packed file. KEYS is a file with the public keys of the event log, a line each: take it from where you
trust it, not from here. The two programs are written to be read first. That this is the archive which the house made
says the event "month.archived" on "month:{month}" of its log, with the SHA-256 of this file as a whole.

manifest.json    which month, how much of what, and the SHA-256 of each of the files below
log.zip          the event log of the month as an export of its own, with its README; it begins and ends with a whole
                 tile, so it has some events of the months beside it
ledger/journals  the journals, a line each, in JSON: number, key, kind, round, what it reverses, when, SHA-256 of what
                 was asked for, and its entries: line, account, amount, balance after it and its number there
ledger/accounts  each account that moved: whose, what kind, currency, R for real money and F for free, and how much it
                 held after how many entries, when the month began (opening) and when it ended (closing)
ledger/carried   what is carried forward: for each account its amount and entries of this month; the journals of what
                 went on afterwards; for each player and day what was paid in and out, staked and won

Amounts are whole minor units (cents), times are UTC. Players are numbers here; the house knows whose they are. Keep the
file as you keep backups: whoever has it can read who played when, and for how much.
"""


@dataclass(frozen=True)
class Month:
    """A month that is to leave: ids from *first* up to *beyond*, when the first and the last of it happened, and how
    much there is of what.
    """

    name: str
    first: int
    beyond: int
    since: datetime
    until: datetime
    events: int
    journals: int
    entries: int

    @property
    def ids(self) -> dict[str, Any]:
        """As statements name them."""
        return {"month": self.name, "first": self.first, "beyond": self.beyond}


@dataclass(frozen=True)
class Written:
    """A file that was written: its SHA-256 and that of what is carried forward, both in hexadecimal."""

    sha256: str
    carried: str


class _Hashed:
    """A file within the archive that is hashed while it is written, or one whose digest is known."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}

    def of(self, name: str, pieces: Iterable[bytes]) -> tuple[str, Iterator[bytes]]:
        return name, self._hashing(name, pieces)

    def _hashing(self, name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
        found = hashlib.sha256()
        for piece in pieces:
            found.update(piece)
            yield piece
        self.digests[name] = found.hexdigest()


def write(month: Month, chosen: export.Part, file: IO[bytes], owner: BaseDatabaseWrapper) -> Written:
    """Write the archive of *month* into *file*; *chosen* are its leaves, *owner* is who has written what is carried
    forward in the transaction under way, and alone sees it. Raises OSError.
    """
    with transaction.atomic(using=owner.alias), owner.cursor() as cursor:
        digest = carried.digest(cursor, month.name)
        whole = hashlib.sha256()
        for piece in zipped(_files(month, chosen, owner, digest)):
            whole.update(piece)
            file.write(piece)
    return Written(whole.hexdigest(), digest)


def _files(
    month: Month, chosen: export.Part, owner: BaseDatabaseWrapper, digest: str
) -> Iterator[tuple[str, Iterable[bytes]]]:
    hashed = _Hashed()
    origin = chosen.checkpoint.note.partition("\n")[0]
    about = README.format(
        month=month.name, origin=origin, events=month.events, journals=month.journals, entries=month.entries
    )
    yield "README.txt", [about.encode()]
    for program in (verify_archive, verify):
        path = Path(program.__file__ or "")
        yield path.name, [path.read_bytes()]
    yield "keys", ["".join(f"{key.vkey}\n" for key in keys.known()).encode()]
    yield hashed.of(verify_archive.ACCOUNTS, _encoded(_accounts(month, owner)))
    yield hashed.of(verify_archive.JOURNALS, _encoded(_journals(month, owner)))
    yield hashed.of(verify_archive.CARRIED, _encoded(_carried(month, owner)))
    yield hashed.of(verify_archive.LOG, export.packed(chosen))
    yield verify_archive.MANIFEST, [_manifest(month, origin, digest, hashed.digests)]


def _manifest(month: Month, origin: str, digest: str, files: dict[str, str]) -> bytes:
    said = {
        "month": month.name,
        "house": origin,
        "first": month.first,
        "beyond": month.beyond,
        "since": month.since.isoformat(),
        "until": month.until.isoformat(),
        "events": month.events,
        "journals": month.journals,
        "entries": month.entries,
        "carried": digest,
        "files": files,
    }
    return json.dumps(said, indent=2).encode() + b"\n"


def _encoded(lines: Lines) -> Iterator[bytes]:
    return (f"{line}\n".encode() for line in lines)


def _rows(question: str, month: Month, owner: BaseDatabaseWrapper) -> Iterator[tuple[Any, ...]]:
    """Yield rows as they are read, however many there are."""
    with owner.chunked_cursor() as cursor:
        cursor.execute(question, month.ids)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from rows


def _accounts(month: Month, owner: BaseDatabaseWrapper) -> Lines:
    for number, kind, player, currency, mode, keeps, amount, entries, moved, more in _rows(ACCOUNTS, month, owner):
        said = {
            "account": number,
            "kind": kind,
            "player": player,
            "currency": currency,
            "mode": mode,
            "keeps_balance": keeps,
            "opening": [amount, entries],
            "closing": [amount + moved, entries + more],
        }
        yield json.dumps(said, separators=(",", ":"))


def _journals(month: Month, owner: BaseDatabaseWrapper) -> Lines:
    for number, key, kind, round_id, reverses, at, digest, entries in _rows(JOURNALS, month, owner):
        said = {
            "id": number,
            "key": str(key),
            "kind": kind,
            "round": round_id and str(round_id),
            "reverses": reverses,
            "at": at,
            "sha256": digest,
            "entries": json.loads(entries) if isinstance(entries, str) else entries,
        }
        yield json.dumps(said, separators=(",", ":"))


def _carried(month: Month, owner: BaseDatabaseWrapper) -> Lines:
    with owner.cursor() as cursor:
        yield from carried.lines(cursor, month.name)
