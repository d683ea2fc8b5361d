"""Ledger reconciliation: compares the ledger with the records of rounds, voids and payments.

Each line is a change of the money held for players, including house players at practice tables.
Opening amount plus all lines is the closing amount. If the records are correct, no line differs.

The time of a round is slightly earlier than that of its journals. Few rounds have their own time on
one side of an end of the interval and their journal on the other: only those being settled at that
moment. They are read one by one and counted where the ledger has them.

Every hour is reconciled once, as soon as nothing more can be written into it (`audit.hours`). A
difference is an alert.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils.translation import gettext_noop

from audit import id_ranges, log
from audit.hours import HOUR
from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, Column, Form, Interval, Row
from audit.staff_text import Stored, english, sentence
from games.fairness import hourly_totals
from games.models import Shape, TableVersion
from wallet import reports
from wallet.ledger import hourly_totals as ledger_totals
from wallet.ledger import round_reversal
from wallet.models import AccountKind, Currency, Mode
from wallet.operator_wallet import bets
from wallet.reports import CURRENCY, MODE, MODES

Money = tuple[str, str]  # currency and mode
LedgerTotals = Counter[Money]
"""Minor units."""

OUTSIDE: Final = (
    AccountKind.HOUSE,
    AccountKind.CASHIER,
    AccountKind.MINT,
    AccountKind.ADJUSTED,
    AccountKind.OPERATOR,
    AccountKind.STUDIO,
)  # accounts whose money is not held for players
FREE: Final = {"top_up", "seat_funded"}
ADJUSTED: Final = "adjustment"
OPERATOR_JOURNALS: Final = {kind for each in bets.JOURNALS for kind in (each, f"void_{each}")}
STUDIO: Final = {f"{back}studio_{kind}" for back in ("", "void_") for kind in ("stake", "win")}
HELD: Final = {"deposit_held", "deposit_returned"}
NAMED: Final = {
    "deposit",
    *HELD,
    "deposit_released",
    ADJUSTED,
    "withdraw_paid",
    "settle",
    round_reversal.SHORTFALL,
    *FREE,
    *OPERATOR_JOURNALS,
    *STUDIO,
}
HOURS: Final = "games.reconciled"
"""Name of the reconciled hours in `audit.hours`."""
DIFFERS: Final = "reconciliation.differs"  # event kind
OPENING: Final = gettext_noop("Opening balance")
CLOSING: Final = gettext_noop("Closing balance")
OTHER: Final = gettext_noop("Other")

COLUMNS: Final = (
    Column("currency", "Currency"),
    Column("mode", "Money", Form.WORD),
    Column("line", "Line", Form.WORD),
    Column("ledger", "Ledger", Form.MONEY),
    Column("records", "Rounds and payments", Form.MONEY),
    Column("difference", "Difference", Form.MONEY),
)

# Parts in rounds against the house that were voided before settlement: staked, but never posted as
# settled.
UNSETTLED = """
SELECT part.currency, part.mode, sum(part.staked)::bigint, sum(part.paid)::bigint
FROM games_void AS void
JOIN games_round AS round ON round.id = void.round_id
JOIN games_participation AS part ON part.round_id = round.id
WHERE round.at >= %(since)s AND round.at < %(until)s
  AND NOT EXISTS (SELECT FROM games_chemincoup AS coup WHERE coup.round_id = round.id)
  AND NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = round.id AND j.kind = 'settle')
GROUP BY 1, 2
"""
# Rounds played on one side of a moment and settled on the other: side 1 if settled after it, -1
# before.
PARTED = """
WITH settled AS MATERIALIZED (
    SELECT round_id, at FROM wallet_journal
    WHERE id >= %(first)s AND id < %(beyond)s AND kind = 'settle' AND reverses_id IS NULL
), parted AS (
    SELECT settled.round_id, CASE WHEN settled.at >= %(edge)s THEN 1 ELSE -1 END AS side
    FROM settled JOIN games_round AS round ON round.id = settled.round_id
    WHERE (settled.at >= %(edge)s) <> (round.at >= %(edge)s)
)
SELECT part.currency, part.mode, sum(parted.side * part.staked)::bigint, sum(parted.side * part.paid)::bigint
FROM parted JOIN games_participation AS part ON part.round_id = parted.round_id
WHERE NOT EXISTS (SELECT FROM games_chemincoup AS coup WHERE coup.round_id = parted.round_id)
GROUP BY 1, 2
"""
# The stakes of a coup are on an account of the coup. Its journal says when it was settled.
TAX = """
SELECT stakes.currency, stakes.mode, sum(coup.tax)::bigint
FROM games_chemincoup AS coup
JOIN wallet_account AS stakes ON stakes.subject_id = coup.round_id
JOIN wallet_journal AS settled ON settled.round_id = coup.round_id AND settled.kind = 'settle'
    AND settled.reverses_id IS NULL AND settled.at >= %(since)s AND settled.at < %(until)s
WHERE coup.at >= %(early)s AND coup.at < %(late)s AND coup.tax > 0
GROUP BY 1, 2
"""
HELD_DEPOSITS = """
SELECT currency, 'R', sum(amount)::bigint FROM (
    SELECT payment.currency, payment.amount
    FROM wallet_payment AS payment JOIN wallet_journal AS journal ON journal.id = payment.held_journal_id
    WHERE journal.at >= %(since)s AND journal.at < %(until)s
    UNION ALL
    SELECT payment.currency, -payment.amount
    FROM wallet_payment AS payment JOIN wallet_journal AS journal ON journal.id = payment.journal_id
    WHERE payment.state = 'returned' AND payment.decided_at >= %(early)s AND payment.decided_at < %(late)s
      AND journal.at >= %(since)s AND journal.at < %(until)s
) AS movements GROUP BY currency
"""

# The net result of settled rounds that were reversed in the interval. The tax of a coup is no
# player's money.
TAKEN_BACK = """
WITH voided AS MATERIALIZED (
    SELECT void.round_id FROM games_void AS void
    WHERE void.at >= %(early)s AND void.at < %(late)s AND EXISTS (
        SELECT FROM wallet_journal AS back
        JOIN wallet_journal AS was ON was.id = back.reverses_id AND was.kind = 'settle'
        WHERE back.round_id = void.round_id AND back.at >= %(since)s AND back.at < %(until)s)
)
SELECT currency, mode, sum(amount)::bigint FROM (
    SELECT part.currency, part.mode, part.staked - part.paid AS amount
    FROM voided JOIN games_participation AS part USING (round_id)
    WHERE NOT EXISTS (SELECT FROM games_chemincoup AS coup WHERE coup.round_id = voided.round_id)
    UNION ALL
    SELECT stakes.currency, stakes.mode, coup.tax
    FROM voided JOIN games_chemincoup AS coup USING (round_id)
    JOIN wallet_account AS stakes ON stakes.subject_id = coup.round_id
) AS each GROUP BY 1, 2
"""
SHORTFALLS = """
SELECT part.currency, round.mode, sum(part.shortfall)::bigint
FROM games_void AS void JOIN games_voidpart AS part ON part.void_id = void.round_id AND part.shortfall > 0
JOIN games_round AS round ON round.id = void.round_id
WHERE void.at >= %(early)s AND void.at < %(late)s AND EXISTS (
    SELECT FROM wallet_journal AS cover
    WHERE cover.round_id = void.round_id AND cover.kind = 'void_shortfall'
      AND cover.at >= %(since)s AND cover.at < %(until)s)
GROUP BY 1, 2
"""

# Adjustments approved by two people whose journal is in the interval.
AGREED_ON = """
SELECT account.currency, account.mode, sum(adjusted.amount)::bigint
FROM wallet_adjustment AS adjusted
JOIN wallet_account AS account ON account.id = adjusted.account_id
JOIN wallet_posting_key AS posted ON posted.key = adjusted.key
JOIN wallet_journal AS journal ON journal.id = posted.journal_id
    AND journal.at >= %(since)s AND journal.at < %(until)s
GROUP BY 1, 2
"""
# Bets and wins of operators' players whose journal is in the interval, and rollbacks sent to
# operators for voided rounds.
OPERATOR_STAKES = """
WITH said AS (
    SELECT bet.id AS key, bet.currency, bet.amount FROM wallet_operator_bet AS bet
    WHERE bet.state = 'played' AND bet.ended_at >= %(early)s AND bet.ended_at < %(late)s
    UNION ALL
    SELECT win.transaction, bet.currency, -win.amount
    FROM wallet_operator_message AS win JOIN wallet_operator_bet AS bet ON bet.id = win.bet_id
    WHERE win.kind = 'win' AND win.amount > 0 AND win.at >= %(early)s AND win.at < %(late)s
), taken_back AS (
    SELECT message.takes_back AS key, bet.currency, coalesce(win.amount, -bet.amount) AS amount
    FROM wallet_operator_message AS message JOIN wallet_operator_bet AS bet ON bet.id = message.bet_id
    LEFT JOIN wallet_operator_message AS win ON win.transaction = message.takes_back
    WHERE message.kind = 'rollback' AND message.at >= %(early)s AND message.at < %(late)s
)
SELECT currency, 'R', sum(amount)::bigint FROM (
    SELECT said.currency, said.amount FROM said
    JOIN wallet_posting_key AS posted ON posted.key = said.key
    JOIN wallet_journal AS journal ON journal.id = posted.journal_id
        AND journal.at >= %(since)s AND journal.at < %(until)s
    UNION ALL
    SELECT taken_back.currency, taken_back.amount FROM taken_back
    JOIN wallet_posting_key AS posted ON posted.key = taken_back.key
    JOIN wallet_journal AS journal ON journal.reverses_id = posted.journal_id
        AND journal.at >= %(since)s AND journal.at < %(until)s
) AS each GROUP BY 1
"""

# Bets, wins and reversals reported by studios whose journal is in the interval.
STUDIOS = """
WITH asked AS MATERIALIZED (
    SELECT * FROM wallet_studio_transaction WHERE id >= %(first)s AND id < %(beyond)s
), said AS (
    SELECT bet_key AS key, currency, mode, -bet AS amount FROM asked WHERE bet > 0
    UNION ALL
    SELECT win_key, currency, mode, win FROM asked WHERE win > 0
    UNION ALL
    SELECT back.key, asked.currency, asked.mode, back.amount
    FROM asked
    JOIN wallet_studio_transaction AS taken
        ON taken.partner_id = asked.partner_id AND taken.transaction = asked.takes_back
    CROSS JOIN LATERAL (VALUES (asked.bet_key, taken.bet), (asked.win_key, -taken.win)) AS back (key, amount)
    WHERE asked.takes_back <> '' AND back.amount <> 0
)
SELECT said.currency, said.mode, sum(said.amount)::bigint FROM said
JOIN wallet_posting_key AS posted ON posted.key = said.key
JOIN wallet_journal AS journal ON journal.id = posted.journal_id
    AND journal.at >= %(since)s AND journal.at < %(until)s
GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Line:
    """One kind of movement and its change of the money held.

    *records* is None if only the ledger has this movement.
    """

    name: str
    ledger: LedgerTotals
    records: LedgerTotals | None = None


def answer(asked: Asked) -> Answer:
    """Compare the ledger with the records for each currency and kind of money."""
    differing: list[str | Stored] = []
    return Answer(
        rows=_rows(asked, differing), notes=lambda: [*NOTES, *(differing or [gettext_noop("No differences.")])]
    )


NOTES: Final = (
    gettext_noop(
        "Every line shows its effect on the money held for players, including house players at practice tables."
    ),
    gettext_noop(
        "Pending withdrawals, game balances and banks count as cash: transfers between them have no effect here."
    ),
    gettext_noop("Payouts are net of commission and tax."),
)


def _rows(asked: Asked, differing: list[str | Stored]) -> Iterator[Row]:
    """Yield the lines for each currency and kind of money."""
    opening, lines, closing = reconcile(asked.interval)
    currencies = [code for code in Currency.values if asked.choices.get("currency", "") in ("", code)]
    modes = [mode for mode in Mode if asked.choices.get("mode", "") in ("", mode.value)]
    for money in ((currency, mode.value) for currency in currencies for mode in modes):
        if not any(totals[money] for totals in (opening, closing, *(line.ledger for line in lines))):
            continue
        yield _row(money, OPENING, opening[money], None)
        for line in lines:
            said = None if line.records is None else line.records[money]
            if said is not None and said != line.ledger[money]:
                differing.append(_difference_text(money, line, line.ledger[money] - said))
            yield _row(money, line.name, line.ledger[money], said)
        yield _row(money, CLOSING, closing[money], opening[money] + sum(line.ledger[money] for line in lines))


def _row(money: Money, name: str, ledger: int, records: int | None) -> Row:
    currency, mode = money
    difference = None if records is None else ledger - records
    return (currency, _mode(mode), name, ledger, records, difference)


def _difference_text(money: Money, line: Line, difference: int) -> Stored:
    currency, mode = money
    text = gettext_noop("%(currency)s, %(mode)s money, “%(line)s”: the ledger has %(amount)s more than recorded.")
    amount = {"money": [difference, currency]}
    return sentence(text, mode=[_mode(mode), {}], currency=currency, line=[line.name, {}], amount=amount)


def _mode(mode: str) -> str:
    return MODES[Mode(mode)]


def reconcile(interval: Interval) -> tuple[LedgerTotals, Sequence[Line], LedgerTotals]:
    """Return the opening amount, the change of each line, and the closing amount, in minor units."""
    lines = _lines(interval)
    return _held(ledger_totals.BEGINNING, interval.since), lines, _held(ledger_totals.BEGINNING, interval.until)


def reconcile_hour(hour: datetime) -> int:
    """Record `DIFFERS` if the ledger differs from the records of an hour; return the number of lines
    compared.
    """
    lines = _lines(Interval(hour, hour + HOUR))
    found: list[log.Json] = [
        english(_difference_text(money, line, line.ledger[money] - line.records[money]))
        for line in lines
        if line.records is not None
        for money in sorted(line.ledger.keys() | line.records.keys())
        if line.ledger[money] != line.records[money]
    ]
    if found:
        log.record(DIFFERS, by="system", on="ledger", data={"hour": hour.isoformat(), "differences": found})
    return len(lines)


def _lines(interval: Interval) -> Sequence[Line]:
    totals, around = ledger_totals.read_totals(interval), _around(interval)
    staked, paid = _settled(interval)
    tax = _read(TAX, around)
    money = reports.summed(interval)
    escrow = added(totals, {"settle"}, AccountKind.ESCROW)
    return [
        Line(gettext_noop("Deposits"), added(totals, {"deposit"}), _said(money, reports.DEPOSIT, "credited")),
        Line(gettext_noop("Deposits held, less those sent back"), added(totals, HELD), _read(HELD_DEPOSITS, around)),
        Line(
            gettext_noop("Withdrawals paid"),
            added(totals, {"withdraw_paid"}),
            _less(LedgerTotals(), _said(money, reports.WITHDRAWAL, "paid")),
        ),
        Line(gettext_noop("Free money"), added(totals, FREE)),
        Line(gettext_noop("Stakes settled against the house"), escrow, _less(LedgerTotals(), staked)),
        Line(
            gettext_noop("Payouts of the house, less tax on Chemin de Fer coups"),
            _less(added(totals, {"settle"}), escrow),
            _less(paid, tax),
        ),
        Line(gettext_noop("Voided rounds"), added(totals, _voids(totals)), _read(TAKEN_BACK, around)),
        Line(gettext_noop("Shortfalls covered"), added(totals, {round_reversal.SHORTFALL}), _read(SHORTFALLS, around)),
        Line(gettext_noop("Balance adjustments"), added(totals, {ADJUSTED}), _read(AGREED_ON, around)),
        Line(
            gettext_noop("Stakes of operators’ players, less returns"),
            added(totals, OPERATOR_JOURNALS),
            _read(OPERATOR_STAKES, around),
        ),
        Line(
            gettext_noop("Studios’ games: wins less stakes"),
            added(totals, STUDIO),
            _read(STUDIOS, around | _of_studios(interval)),
        ),
        Line(OTHER, added(totals, {each.journal_kind for each in totals} - NAMED - _voids(totals)), LedgerTotals()),
    ]


def _held(since: datetime, until: datetime) -> LedgerTotals:
    totals = ledger_totals.read_totals(Interval(since, until))
    return added(totals, {each.journal_kind for each in totals})


def added(
    totals: Iterable[ledger_totals.Sum], journals: AbstractSet[str], inside: AccountKind | None = None
) -> LedgerTotals:
    """Return the change by journals of these kinds.

    Counts what they took from accounts outside, or what they added to accounts of kind *inside*.
    """
    found = LedgerTotals()
    for each in totals:
        if each.journal_kind not in journals:
            continue
        if inside is None and each.account_kind in OUTSIDE:
            found[each.currency, each.mode] -= each.amount
        elif each.account_kind == inside:
            found[each.currency, each.mode] += each.amount
    return found


def _voids(totals: Iterable[ledger_totals.Sum]) -> AbstractSet[str]:
    """Return the journal kinds of reversals, without the covering of shortfalls."""
    excluded = {round_reversal.SHORTFALL, round_reversal.TRANSFER} | OPERATOR_JOURNALS | STUDIO
    return {each.journal_kind for each in totals if each.journal_kind.startswith("void_")}.difference(excluded)


def _said(money: Mapping[tuple[str, str, str], int], kind: str, what: str) -> LedgerTotals:
    return LedgerTotals(
        {(code, Mode.REAL.value): amount for (code, *said), amount in money.items() if said == [kind, what]}
    )


def _less(one: LedgerTotals, other: LedgerTotals) -> LedgerTotals:
    found = LedgerTotals(one)
    found.subtract(other)
    return found


def _settled(interval: Interval) -> tuple[LedgerTotals, LedgerTotals]:
    """Return stakes and payouts of rounds against the house that the ledger settled in *interval*."""
    staked, paid = LedgerTotals(), LedgerTotals()
    chemin_versions = set(TableVersion.objects.filter(table__shape=Shape.CHEMIN).values_list("pk", flat=True))
    for mode in Mode:
        for each in hourly_totals.played((interval.since, interval.until), mode):
            if each.version_id not in chemin_versions:
                staked[each.currency, mode.value] += each.staked
                paid[each.currency, mode.value] += each.paid
    for question, values, sign in (
        (UNSETTLED, {"since": interval.since, "until": interval.until}, -1),
        (PARTED, _at(interval.since), 1),
        (PARTED, _at(interval.until), -1),
    ):
        for currency, code, more_staked, more_paid in _rows_of(question, values):
            staked[currency, code] += sign * more_staked
            paid[currency, code] += sign * more_paid
    return staked, paid


def _read(question: str, values: Mapping[str, Any]) -> LedgerTotals:
    return LedgerTotals({(currency, mode): amount for currency, mode, amount in _rows_of(question, values)})


def _rows_of(question: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, values)
        return cursor.fetchall()


def _around(interval: Interval) -> dict[str, Any]:
    early, late = interval.since - id_ranges.SLACK, interval.until + id_ranges.SLACK
    return {"since": interval.since, "until": interval.until, "early": early, "late": late}


def _of_studios(interval: Interval) -> dict[str, Any]:
    ids = id_ranges.ids("wallet_studio_transaction", interval)
    return {"first": ids.start, "beyond": ids.stop}


def _at(edge: datetime) -> dict[str, Any]:
    ids = id_ranges.ids("wallet_journal", Interval(edge, edge))
    return {"edge": edge, "first": ids.start, "beyond": ids.stop}


KIND: Final = kinds.Kind(
    name="reconciliation",
    title=gettext_noop("Ledger reconciliation"),
    purpose=gettext_noop("Ledger totals compared with rounds, voids and payments. There should be no differences."),
    clause="",
    columns=COLUMNS,
    answer=answer,
    choices=(
        CURRENCY,
        MODE,
    ),
)
