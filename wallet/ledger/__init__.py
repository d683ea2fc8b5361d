"""The ledger: every movement of money is posted here, with `post` or `reverse`.

Each call is one SQL statement in the caller's transaction. The statement that finishes a round
posts too: `request` builds its argument. PostgreSQL enforces the rules
(``sql/functions/ledger.sql``). This module calls the SQL functions and translates their errors.
After an error the caller must roll back the transaction.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid5

import psycopg
from django.db import DatabaseError, connection
from django.utils.translation import get_language

from players.login.credentials import content_proof
from players.models import LimitKind, Period
from players.protection.limits import LIMIT_KINDS
from wallet.models import Entry, PostingKey
from wallet.money import format_money


def reached(kind: str, period: str, limit: int, left: int, currency: str) -> str:
    """Return the message about a limit that would be exceeded. Amounts in minor units."""
    language = get_language() or "en"
    return str(LIMIT_KINDS[LimitKind(kind)].reached[Period(period)]) % {
        "limit": format_money(limit, currency, language),
        "left": format_money(left, currency, language),
    }


class LedgerError(Exception):
    """Base error: the ledger refused the posting and nothing moved."""


class InsufficientFunds(LedgerError):
    """A line would take a player's account below zero or below its held amount."""


class PostingConflict(LedgerError):
    """The idempotency key was used for a journal with other contents."""


class UnbalancedJournal(LedgerError):
    """The lines do not sum to zero in every currency and mode."""


class UnknownAccount(LedgerError):
    """The account does not exist, or not in this currency and mode."""


class UnknownJournal(LedgerError):
    """The journal to reverse does not exist."""


class AlreadyReversed(LedgerError):
    """The journal was already reversed under another key."""


class NotStaked(LedgerError):
    """A payout is negative, or goes to an account without a stake in the round."""


class WrongPurpose(LedgerError):
    """This kind of journal may not move a bank, stakes or a house player's chips."""


class BetweenPlayers(LedgerError):
    """The journal would pass money between players and is not the settlement of a coup."""


class HouseStopped(LedgerError):
    """The house is stopped (`wallet.house_stop`): no stake, bank, deposit or free money."""


class NotApproved(LedgerError):
    """The adjustment lacks an approval by two authorised people, or was posted before."""


class NotPaid(LedgerError):
    """Nothing proves that the deposit was paid or sent back, or it was decided already."""


class StillBarred(LedgerError):
    """No two people have decided this about a held deposit, or the player may still take none."""


class EnoughPlayMoney(LedgerError):
    """The player has as much play money as a top-up gives."""


class LimitReached(LedgerError):
    """A stake or deposit would exceed a limit of the player.

    The message is a sentence for the player, in the language that is active when it is read.
    Amounts are minor units of *currency*.
    """

    def __init__(self, kind: str, period: str, limit: int, left: int, currency: str) -> None:
        super().__init__(kind, period, limit, left, currency)
        self.kind = kind  # "deposit", "loss" or "stake"
        self.period = period
        self.limit = limit
        self.left = left  # what the limit still allowed before the refused amount
        self.currency = currency

    @classmethod
    def parse(cls, detail: str) -> "LimitReached":
        """Parse the detail of SB006: ``stake|week|10000|2500|SEK``."""
        kind, period, limit, left, currency = detail.split("|")
        return cls(kind, period, int(limit), int(left), currency)

    def __str__(self) -> str:
        return reached(self.kind, self.period, self.limit, self.left, self.currency)


def room(player_id: int, movement: str) -> LimitReached | None:
    """Return the limit that leaves least for a movement ("stake" or "deposit"), as LimitReached, or None."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_room(%s::bigint, %s::text)", [player_id, movement])
        (detail,) = cursor.fetchone()
    return LimitReached.parse(detail) if detail else None


LIMIT_REACHED = "SB006"  # the error detail says which limit
ERROR_OF_STATE = {
    "SB002": PostingConflict,
    "SB003": UnbalancedJournal,
    "SB005": UnknownJournal,
    "SB008": NotStaked,
    "SB009": WrongPurpose,
    "SB010": BetweenPlayers,
    "SB030": NotApproved,
    "SB040": HouseStopped,
    "SB132": NotPaid,
    "SB133": EnoughPlayMoney,
    "SB136": StillBarred,
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
    """A line of a journal: *amount* minor units into an account, negative for out of it.

    Never zero.
    """

    account_id: int
    currency: str
    mode: str
    amount: int


@dataclass(frozen=True)
class Journal:
    """A movement of money to post. The same idempotency *key* never moves money twice.

    *kind* is the purpose in lower case (``stake``, ``deposit``).
    """

    key: UUID
    kind: str
    lines: tuple[Line, ...]
    round_id: UUID | None = None


@dataclass(frozen=True)
class Posted:
    """A posted journal. ``balances`` are those of the players' accounts right after it.

    ``repeated`` is true if an earlier call with the same key posted it.
    """

    journal_id: int
    repeated: bool
    balances: Mapping[int, int] = field(default_factory=dict)


def post(*journals: Journal) -> tuple[Posted, ...]:
    """Post *journals* in order, all or none, and return the posted journal for each.

    Raises BetweenPlayers, HouseStopped, InsufficientFunds, LimitReached, PostingConflict,
    UnbalancedJournal, UnknownAccount, WrongPurpose.
    """
    return _call("SELECT * FROM wallet_post(%s::jsonb)", [request(*journals)])


def credit_deposit(payment_id: UUID, *, key: UUID, authorisation: str) -> tuple[int, int, str | None]:
    """Post the money of a deposit that its provider has confirmed.

    Returns the id of the journal, the balance after it, and why the money is held (a `HeldReason`), or None if it was
    credited. The payment is marked. Raises NotPaid.
    """
    proof = content_proof(f"deposit:{payment_id}", authorisation)
    statement = "SELECT journal, balance, held FROM wallet_credit_deposit(%s::uuid, %s::uuid, %s::text, %s::bytea)"
    with refusals(), connection.cursor() as cursor:
        cursor.execute(statement, [payment_id, key, authorisation, proof])
        journal_id, balance, held = cursor.fetchone()
    return journal_id, balance, held


def return_deposit(payment_id: UUID, *, reference: str) -> tuple[int, int]:
    """Post that the provider has sent a held deposit back, under its number *reference*.

    Returns the id of the journal and what is still to be sent back to the player. Raises NotPaid.
    """
    proof = content_proof(f"refund:{payment_id}", reference)
    statement = "SELECT journal, balance FROM wallet_return_deposit(%s::uuid, %s::text, %s::bytea)"
    return _journal_and_balance(statement, [payment_id, reference, proof])


def decide_deposit(approval_id: int) -> tuple[int, int]:
    """Post what two people have decided about a held deposit.

    Returns the id of the journal and the balance after it. Raises NotPaid, StillBarred, LimitReached.
    """
    return _journal_and_balance("SELECT journal, balance FROM wallet_decide_deposit(%s::bigint)", [approval_id])


def _journal_and_balance(statement: str, values: Sequence[UUID | str | bytes | int]) -> tuple[int, int]:
    with refusals(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        journal_id, balance = cursor.fetchone()
    return journal_id, balance


def top_up(player_id: int, *, key: UUID) -> tuple[int, int, int]:
    """Raise a player's play money to the standard amount; return the id of the journal, amount and balance after it.

    Raises EnoughPlayMoney, HouseStopped.
    """
    with refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT journal, amount, balance FROM wallet_top_up(%s::bigint, %s::uuid)", [player_id, key])
        journal_id, amount, balance = cursor.fetchone()
    return journal_id, amount, balance


def request(*journals: Journal) -> str:
    """Return the argument of ``wallet_post`` for *journals*.

    A larger statement that calls ``wallet_post`` uses it, such as the one that finishes a round.
    Run that statement inside `refusals`.
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
    """Post the exact opposite of each journal under its key, for the same round, all or none.

    Returns the posted journal for each. On every account, credits come before debits.

    Raises UnknownJournal, AlreadyReversed, InsufficientFunds, PostingConflict.
    """
    statement = "SELECT * FROM wallet_reverse(%s::bigint[], %s::uuid[], %s::text)"
    return _call(statement, [list(keys), list(keys.values()), kind])


def adjust(approval_id: int) -> Posted:
    """Post an approved adjustment and return the journal.

    Raises NotApproved, InsufficientFunds.
    """
    (posted,) = _call("SELECT * FROM wallet_adjust(%s::bigint)", [str(approval_id)])
    return posted


def find(key: UUID) -> Posted | None:
    """Return the journal that *key* posted, or None."""
    known = PostingKey.objects.filter(key=key).first()
    if known is None:
        return None
    entries = Entry.objects.filter(journal_id=known.journal_id).order_by("line")
    balances = entries.values_list("account_id", "balance_after")
    return Posted(known.journal_id, True, {account_id: after for account_id, after in balances if after is not None})


def system_key(round_id: UUID, purpose: str) -> UUID:
    """Return the house's idempotency key for a round: the same *purpose* gives the same key."""
    return uuid5(round_id, purpose)


@contextmanager
def refusals() -> Iterator[None]:
    """Translate the database errors of the ledger into LedgerError subclasses."""
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
    """Group the rows by journal. Rows of one account come in order, so its last balance is kept."""
    posted: dict[int, Posted] = {}
    balances: dict[int, dict[int, int]] = {}
    for place, journal_id, repeated, account_id, balance in rows:
        after = balances.setdefault(place, {})
        if balance is not None:
            after[account_id] = balance
        posted[place] = Posted(journal_id, repeated, after)
    return tuple(posted[place] for place in sorted(posted))


def _named(error: DatabaseError) -> LedgerError | None:
    """Return the LedgerError for a database error, or None if the error is not the ledger's."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.Error):
        return None
    if cause.sqlstate == LIMIT_REACHED:
        return LimitReached.parse(cause.diag.message_detail or "")
    named = ERROR_OF_STATE.get(cause.sqlstate or "") or ERROR_OF_CONSTRAINT.get(cause.diag.constraint_name or "")
    return named(str(error)) if named else None
