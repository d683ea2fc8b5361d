"""Verify the ledger's invariants, those of banks and stakes at Chemin de Fer included.

Each query returns the rows that break it; no row means that it holds. `wallet.invariants` checks
all accounts with a balance: it equals the sum of entries and is never negative.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper

from audit import log
from audit.verification import house
from wallet import invariants
from wallet.invariants import Invariant

STAKES = Invariant(
    "stakes_are_paid_out",
    "nothing is left of the stakes of a coup once it is settled or voided",
    """
    SELECT format('coup %s: %s %s left of its stakes', a.subject_id, a.balance, a.currency)
    FROM wallet_account AS a
    WHERE a.kind = 'stakes' AND a.balance <> 0 AND EXISTS (
        SELECT FROM wallet_journal AS j
        WHERE j.round_id = a.subject_id AND (j.kind = 'settle' OR j.reverses_id IS NOT NULL))
    """,
)

APART = Invariant(
    "money_stays_with_its_owner",
    "nobody's money becomes another player's, but for what a bank loses where a coup is settled, and gets back",
)

COUPS = Invariant(
    "coups_pay_who_staked",
    "a coup pays its stakes, and what its bank loses, to that bank, to those who staked, at most twice their stake,"
    " and to the house",
    """
    WITH line AS (
        SELECT j.id AS journal_id, j.round_id, e.account_id, a.kind, e.amount, (
                   SELECT coalesce(-sum(s.amount), 0) FROM wallet_journal AS laid
                   JOIN wallet_entry AS s ON s.journal_id = laid.id AND s.account_id = e.account_id
                   WHERE laid.round_id = j.round_id AND laid.kind = 'stake') AS staked
        FROM wallet_account AS stakes
        JOIN wallet_journal AS j ON j.round_id = stakes.subject_id AND j.kind = 'settle'
        JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
        WHERE stakes.kind = 'stakes'
    )
    SELECT format('coup %s: journal %s gives account %s %s, which staked %s', round_id, journal_id, account_id, amount,
                  staked)
    FROM line
    WHERE CASE kind WHEN 'bank' THEN false WHEN 'stakes' THEN amount > 0 WHEN 'house' THEN amount < 0
               ELSE amount < 0 OR amount > 2 * staked END
    UNION ALL
    SELECT format('coup %s: journal %s is of %s banks', round_id, journal_id, count(*) FILTER (WHERE kind = 'bank'))
    FROM line GROUP BY round_id, journal_id HAVING count(*) FILTER (WHERE kind = 'bank') > 1
    UNION ALL
    SELECT format('bank %s: journal %s is not the settlement of a coup', a.subject_id, j.id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id AND j.kind = 'settle'
    WHERE a.kind = 'bank'
      AND NOT EXISTS (SELECT FROM wallet_account AS s WHERE s.kind = 'stakes' AND s.subject_id = j.round_id)
    """,
)

BANKS = Invariant(
    "banks_go_home_once",
    "a bank returns no more put-up money than was put up, and between coups it moves to and from nobody but its banker",
    """
    SELECT format('bank %s: %s was put up, %s of it was returned', a.subject_id,
                  coalesce(sum(e.amount) FILTER (WHERE j.kind = 'bank'), 0),
                  -sum(e.amount) FILTER (WHERE j.kind = 'bank_back'))
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' GROUP BY a.id HAVING sum(e.amount) FILTER (WHERE j.kind IN ('bank', 'bank_back')) < 0
    UNION ALL
    SELECT format('bank %s: journal %s is a %s of %s', a.subject_id, j.id, j.kind, e.amount)
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' AND j.kind IN ('bank', 'bank_back', 'bank_won')
      AND (j.round_id <> a.subject_id OR (e.amount > 0) <> (j.kind = 'bank'))
    """,
)

HOUSE_PLAYERS = Invariant(
    "house_players_play_for_nothing",
    "the money of house players and of their banks is free money",
    """
    SELECT format('account %s: a %s account without an owner in %s', a.id, a.kind, a.mode) FROM wallet_account AS a
    WHERE (a.kind = 'seat' OR a.kind = 'bank' AND a.owner_id IS NULL) AND a.mode <> 'F'
    """,
)


STUDIOS = Invariant(
    "studios_move_what_they_said",
    "each journal of a studio's game is the one that a transaction says, each transaction is booked, and no win comes"
    " without a bet",
    """
    SELECT format('journal %s: no transaction of a studio records this %s', j.id, j.kind)
    FROM wallet_journal AS j
    WHERE j.kind IN ('studio_stake', 'studio_win', 'studio_rollback') AND NOT wallet_studio_moves_so(j.id)
    UNION ALL
    SELECT format('journal %s: this %s moves the account of studios', j.id, j.kind)
    FROM wallet_journal AS j
    JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
    WHERE j.kind NOT IN ('stake', 'settle') AND j.kind NOT IN ('studio_stake', 'studio_win', 'studio_rollback')
      AND a.kind = 'studio'
    UNION ALL
    SELECT format('transaction %s of partner %s: not in the ledger: %s', t.transaction, t.partner_id, missing.what)
    FROM wallet_studio_transaction AS t CROSS JOIN wallet_studio_unbooked(t) AS missing (what)
    WHERE missing.what IS NOT NULL
    UNION ALL
    SELECT format('transaction %s of partner %s: a win without a bet', t.transaction, t.partner_id)
    FROM wallet_studio_transaction AS t
    WHERE t.operation = 'win' AND t.win > 0 AND NOT wallet_studio_taken_back(t.partner_id, t.transaction)
      AND NOT wallet_studio_has_bet(t, '')
    """,
)


OPERATORS = Invariant(
    "operators_rounds_are_booked",
    "what an operator's player plays with comes with a bet that is played and goes back with its win, each booked once;"
    " nothing else moves operators' account, and nothing of it is left with the player",
    """
    SELECT format('bet %s: is played, but its stake is not booked as recorded', b.id)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'played' AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'operator_bet'
        WHERE k.key = b.id AND wallet_operator_journal_matches(j.id))
    UNION ALL
    SELECT format('message %s: its win of %s is not booked as recorded', m.id, m.amount)
    FROM wallet_operator_message AS m
    WHERE m.kind = 'win' AND m.amount > 0 AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'operator_return'
        WHERE k.key = m.transaction AND wallet_operator_journal_matches(j.id))
    UNION ALL
    SELECT format('bet %s: is %s, but the operator was not notified', b.id, b.state)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.takes_back = b.id)
       OR b.state = 'played' AND NOT EXISTS (
            SELECT FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.kind = 'win')
    UNION ALL
    SELECT format('journal %s: moves the operators'' account without a round of an operator', e.journal_id)
    FROM wallet_journal AS j
    JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
    WHERE j.kind NOT IN ('stake', 'settle')
      AND CASE a.kind WHEN 'operator' THEN NOT wallet_operator_journal_matches(e.journal_id) END
    -- not verified for other entries
    UNION ALL
    SELECT format('account %s: %s of an operator''s money is left with player %s', a.id, a.balance, p.id)
    FROM players_player AS p JOIN wallet_account AS a ON a.owner_id = p.id AND a.mode = 'R'
    WHERE p.uses_operator_wallet AND a.balance <> 0
    UNION ALL
    SELECT format('round %s: is taken back, but the operator was not notified of both transactions', b.round_id)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'played'
      AND EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = b.round_id AND j.reverses_id IS NOT NULL)
      AND (SELECT count(*) FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.kind = 'rollback') <> 2
    """,
)


MOST_ROWS: Final = 100  # per broken invariant; run again after a repair
AT_ONCE: Final = 200_000  # ids of journals per transaction
ALARM: Final = "ledger.broken"  # event kind
PART: Final = "ledger"  # of the verification of the house

INVARIANTS: Final = [
    invariants.SUMS,
    invariants.BALANCES,
    invariants.CHAINS,
    invariants.COVERED,
    invariants.HELD,
    invariants.KINDS,
    invariants.KEYS,
    invariants.HOMES,
    invariants.STAY,
    invariants.REVERSALS,
    invariants.ADJUSTMENTS,
    invariants.ESCROW,
    invariants.PURSES,
    invariants.PENDING,
    invariants.VOIDS,
    APART,
    STAKES,
    COUPS,
    BANKS,
    HOUSE_PLAYERS,
    STUDIOS,
    OPERATORS,
    invariants.DAYS,
    invariants.PAYMENTS,
    invariants.GUARDS,
    invariants.RIGHTS,
]


def register(*more: Invariant) -> None:
    """Verify these invariants too: those of an app above, about what the ledger moved for it."""
    INVARIANTS.extend(each for each in more if each not in INVARIANTS)


@dataclass(frozen=True)
class Check:
    """The result of one invariant. ``rows`` is empty if it holds."""

    invariant: Invariant
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """Progress of a verification, in ids of journals. Ids of months without journals are left out."""

    next: int
    beyond: int


class VerificationEnded(Exception):
    """Another process has ended this verification, has begun another one, or has found faults in it."""


Tell = Callable[[Progress], object]
"""Called after each range of journals."""
Rows = Iterable[tuple[str, str]]
"""Names of invariants, each with a sentence about a row that breaks it."""


def run(
    *,
    is_whole: bool = True,
    from_start: bool = False,
    asks: bool = True,
    tell: Tell | None = None,
    most: int = AT_ONCE,
) -> list[Check]:
    """Verify the ledger and return the result of each invariant.

    Journals are verified from the mark on (`wallet_begin_verification`). If *is_whole*, totals of
    all accounts and days are verified too, and all earlier rows are compared with the checkpoint.
    If rows differ from it, every journal is verified again. *from_start* does that too, and forgets the
    checkpoint: changed rows are accepted if nothing else is wrong with them. *asks*: also ask the
    invariants that are queries about all rows. *most*: ids of journals per transaction.

    What is found is recorded in the event log as `ALARM`, in the transaction that found it: an
    interrupted verification continues after its last range, and loses nothing.

    Raises VerificationEnded.
    """
    found: dict[str, list[str]] = defaultdict(list)
    _verify_journals(
        found, _begin(from_start=from_start, forgets=from_start), chains=not is_whole, tell=tell, most=most
    )
    if is_whole:
        with transaction.atomic(), connection.cursor() as cursor:
            # It writes at its end only, so it holds back neither the log nor the hourly totals.
            cursor.execute("SET LOCAL transaction_timeout = 0")
            cursor.execute("SELECT invariant, finding FROM wallet_verify_totals()")
            _note(found, cursor.fetchall())
        if found[invariants.STAY.name]:
            _verify_journals(found, _begin(from_start=True, forgets=False), chains=False, tell=tell, most=most)
    if asks:
        with transaction.atomic(), connection.cursor() as cursor:
            _note(found, _answers(cursor))
    return [Check(each, tuple(found[each.name][:MOST_ROWS])) for each in INVARIANTS]


def _begin(*, from_start: bool, forgets: bool) -> tuple[int, int, int]:
    """Return the id of a verification, and the range of ids of journals that it has to read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT verification, first, beyond FROM wallet_begin_verification(%s, %s)", [from_start, forgets]
        )
        verification, first, beyond = cursor.fetchone()
    return verification, first, beyond


def _verify_journals(
    found: dict[str, list[str]], begun: tuple[int, int, int], *, chains: bool, tell: Tell | None, most: int
) -> None:
    """Verify journals range by range, each in a transaction.

    Raises VerificationEnded, also at the end if there were more findings than these: another process
    verified ranges too.
    """
    verification, first, beyond = begun
    own = 0
    while first < beyond:
        with transaction.atomic():
            rows = _verify_next(verification, chains=chains, most=most)
            findings = [(name, sentence) for *_, name, sentence in rows if name and sentence]
            _note(found, findings)
        first, before, *_ = rows[0]
        if first >= beyond and before > own:
            raise VerificationEnded("Another process has found faults in this verification.")
        own += len(findings)
        if tell:
            tell(Progress(first, beyond))


def _verify_next(verification: int, *, chains: bool, most: int) -> list[tuple[int, int, str | None, str | None]]:
    """Verify the next range of journals and return the findings.

    Each row begins with the first id that is left, and the number of earlier findings.

    Raises VerificationEnded.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT next, broken, invariant, finding FROM wallet_verify_next(%s, %s, %s)",
                [verification, most, chains],
            )
            return cursor.fetchall()
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", "") == "SB140":
            raise VerificationEnded(str(error)) from error
        raise


def _answers(cursor: CursorWrapper) -> Iterator[tuple[str, str]]:
    """Ask every query."""
    for each in INVARIANTS:
        if each.question:
            cursor.execute(each.question, [each.due()] if each.due else None)
            yield from ((each.name, row) for (row,) in cursor.fetchmany(MOST_ROWS))


def _note(found: dict[str, list[str]], rows: Rows) -> None:
    """Add new findings to *found*, and record those that are not open in the verification of the house."""
    new: dict[str, list[str]] = defaultdict(list)
    for name, sentence in rows:
        if sentence not in found[name] and sentence not in new[name]:
            new[name].append(sentence)
    for name, sentences in new.items():
        found[name] += sentences
    known = house.open_texts(PART) if new else set()
    unsaid = {name: [each for each in rows if f"{name}: {each}" not in known] for name, rows in new.items()}
    if any(unsaid.values()):
        data: dict[str, log.Json] = {name: list(each[:MOST_ROWS]) for name, each in unsaid.items() if each}
        log.record(ALARM, by="system", on="ledger", data=data)
