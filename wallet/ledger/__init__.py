"""The one door for money: every movement passes through `post` or `reverse`, each of them one SQL statement in the
transaction of what caused it; those of a round through the statement that finishes it, which asks with `request`.

PostgreSQL keeps the rules (``sql/functions/ledger.sql``); this module speaks to it and names its errors. An error
leaves the surrounding transaction to be rolled back.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid5

import psycopg
from django.db import DatabaseError, connection

from wallet.limits import messages
from wallet.models import Entry, PostingKey


class LedgerError(Exception):
    """The ledger refuses; nothing has moved."""


class InsufficientFunds(LedgerError):
    """A line would take a player's account below what is held on it, or below zero."""


class PostingConflict(LedgerError):
    """The key has posted a journal with other contents."""


class UnbalancedJournal(LedgerError):
    """The lines do not sum to zero in every currency and mode."""


class UnknownAccount(LedgerError):
    """There is no such account, or not in this currency and mode."""


class UnknownJournal(LedgerError):
    """There is no such journal to reverse."""


class AlreadyReversed(LedgerError):
    """The journal has been reversed under another key."""


class NotStaked(LedgerError):
    """A payout is below zero, or for an account that has staked nothing on the round."""


class WrongPurpose(LedgerError):
    """A bank, stakes or a house player's chips do not move by such a journal."""


class BetweenPlayers(LedgerError):
    """A journal would give one player's money to another, and is not the settlement of a coup."""


class HouseStopped(LedgerError):
    """A stake, a bank, a deposit or free money, while the whole house is stopped (`wallet.house_stop`)."""


class NotApproved(LedgerError):
    """No two people who may do so have agreed on this adjustment, or it was posted before."""


class LimitReached(LedgerError):
    """A stake or a deposit would pass a limit of the player's; the message is a sentence for them, in the language that
    is active when it is read. Amounts in minor units of *currency*.
    """

    def __init__(self, kind: str, period: str, limit: int, left: int, currency: str) -> None:
        super().__init__(kind, period, limit, left, currency)
        self.kind = kind  # "deposit", "loss" or "stake"
        self.period = period
        self.limit = limit
        self.left = left  # of the limit, before what was refused
        self.currency = currency

    @classmethod
    def parse(cls, detail: str) -> "LimitReached":
        """Read the detail of SB006: ``stake|week|10000|2500|SEK``."""
        kind, period, limit, left, currency = detail.split("|")
        return cls(kind, period, int(limit), int(left), currency)

    def __str__(self) -> str:
        return messages.reached(self.kind, self.period, self.limit, self.left, self.currency)


LIMIT_REACHED = "SB006"  # its detail says which
ERROR_OF_STATE = {
    "SB002": PostingConflict,
    "SB003": UnbalancedJournal,
    "SB005": UnknownJournal,
    "SB008": NotStaked,
    "SB009": WrongPurpose,
    "SB010": BetweenPlayers,
    "SB030": NotApproved,
    "SB040": HouseStopped,
}
ERROR_OF_CONSTRAINT = {
    "wallet_account_covered": InsufficientFunds,
    "wallet_entry_account": UnknownAccount,
    "wallet_hold_account": UnknownAccount,
    "wallet_reversal_pkey": AlreadyReversed,
    "wallet_adjustment_pkey": NotApproved,
}


@dataclass(frozen=True)
class Line:
    """*amount* minor units into an account, or out of it where negative. Never zero."""

    account_id: int
    currency: str
    mode: str
    amount: int


@dataclass(frozen=True)
class Journal:
    """One movement, asked for under a key of its own: the same key never moves money twice.

    *kind* says in lower case what it is for (``stake``, ``deposit``).
    """

    key: UUID
    kind: str
    lines: tuple[Line, ...]
    round_id: UUID | None = None


@dataclass(frozen=True)
class Posted:
    """A journal that stands in the ledger; ``balances`` are those of the players' accounts right after it.

    ``replayed`` tells that its key had posted it before.
    """

    journal_id: int
    replayed: bool
    balances: Mapping[int, int] = field(default_factory=dict)


def post(*journals: Journal) -> tuple[Posted, ...]:
    """Post *journals* in order, all or none, and return what stands in the ledger for each.

    Raises BetweenPlayers, HouseStopped, InsufficientFunds, LimitReached, PostingConflict, UnbalancedJournal,
    UnknownAccount, WrongPurpose.
    """
    return _call("SELECT * FROM wallet_post(%s::jsonb)", [request(*journals)])


def request(*journals: Journal) -> str:
    """Return the argument of ``wallet_post`` for *journals*, where it is called within a statement that does more, as
    the one that finishes a round. Such a statement runs inside `refusals`.
    """
    asked = [
        {
            "key": str(journal.key),
            "kind": journal.kind,
            "round": journal.round_id and str(journal.round_id),
            "lines": [(line.account_id, line.currency, line.mode, line.amount) for line in journal.lines],
        }
        for journal in journals
    ]
    return json.dumps(asked)


def reverse(keys: Mapping[int, UUID], *, kind: str) -> tuple[Posted, ...]:
    """Post the exact opposite of each journal under its key, for the same round, all or none, and return what stands in
    the ledger for each. On every account, what they bring comes before what they take.

    Raises UnknownJournal, AlreadyReversed, InsufficientFunds, PostingConflict.
    """
    statement = "SELECT * FROM wallet_reverse(%s::bigint[], %s::uuid[], %s::text)"
    return _call(statement, [list(keys), list(keys.values()), kind])


def stake_holds(round_id: UUID, *, key: UUID) -> Posted | None:
    """Post what is held for a round as its stakes and return the journal; None where nothing was held.

    The same *key* again returns the same journal.
    """
    posted = _call("SELECT * FROM wallet_stake_holds(%s::uuid, %s::uuid)", [round_id, key])
    return posted[0] if posted else None


def settle_stakes(round_id: UUID, *, key: UUID, paid: Mapping[int, int]) -> Posted | None:
    """Post what each account is *paid* out of the stakes that were held for a round, the house taking the rest, and
    return the journal; None where nothing was staked.

    The same *key* again returns the same journal. Raises NotStaked; UnknownJournal where the stakes have been taken
    back; PostingConflict.
    """
    statement = "SELECT * FROM wallet_settle_stakes(%s::uuid, %s::uuid, %s::bigint[], %s::bigint[])"
    posted = _call(statement, [round_id, key, list(paid), list(paid.values())])
    return posted[0] if posted else None


def adjust(approval_id: int) -> Posted:
    """Post what an approval of an adjustment says and return the journal.

    Raises NotApproved, InsufficientFunds.
    """
    (posted,) = _call("SELECT * FROM wallet_adjust(%s::bigint)", [str(approval_id)])
    return posted


def find(key: UUID) -> Posted | None:
    """Return what *key* has posted, if anything."""
    known = PostingKey.objects.filter(key=key).first()
    if known is None:
        return None
    entries = Entry.objects.filter(journal_id=known.journal_id).order_by("line")
    balances = entries.values_list("account_id", "balance_after")
    return Posted(known.journal_id, True, {account_id: after for account_id, after in balances if after is not None})


def system_key(round_id: UUID, purpose: str) -> UUID:
    """Return the key under which the house posts something for a round: always the same one for the same *purpose*."""
    return uuid5(round_id, purpose)


@contextmanager
def refusals() -> Iterator[None]:
    """Raise what the ledger refuses inside by the ledger's own names."""
    try:
        yield
    except DatabaseError as error:
        named = _named(error)
        if named is None:
            raise
        raise named from error


def _call(statement: str, parameters: Sequence[str | UUID | list[int] | list[UUID]]) -> tuple[Posted, ...]:
    with refusals(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return _read(cursor.fetchall())


def _read(rows: Iterable[tuple[int, int, bool, int, int | None]]) -> tuple[Posted, ...]:
    """Gather the rows of each journal. Those of one account come in their order: its last balance counts."""
    posted: dict[int, Posted] = {}
    balances: dict[int, dict[int, int]] = {}
    for place, journal_id, replayed, account_id, balance in rows:
        after = balances.setdefault(place, {})
        if balance is not None:
            after[account_id] = balance
        posted[place] = Posted(journal_id, replayed, after)
    return tuple(posted[place] for place in sorted(posted))


def _named(error: DatabaseError) -> LedgerError | None:
    """Return the ledger's own error for what PostgreSQL reports, or None where the ledger does not know it."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.Error):
        return None
    if cause.sqlstate == LIMIT_REACHED:
        return LimitReached.parse(cause.diag.message_detail or "")
    named = ERROR_OF_STATE.get(cause.sqlstate or "") or ERROR_OF_CONSTRAINT.get(cause.diag.constraint_name or "")
    return named(str(error)) if named else None
