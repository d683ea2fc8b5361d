"""Reports on money outside play: operator liability, deposits and withdrawals, alterations.

Balances are sums of entries, so they are exact for any moment. Money on hold for bets on shared
tables is current state. It is known exactly for each full hour (UTC), as which days begin and end in the
time zones of Europe, and for the present moment; for another moment, as of the full hour before it.

Times are those of the ledger's journals: a deposit is decided when its journal is posted; a
withdrawal is requested, paid or returned with one. So the totals equal those of the journals, to
the minor unit.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Sum
from django.utils.translation import gettext, gettext_noop

from audit import replica
from audit.id_ranges import SLACK
from audit.reports import kinds
from audit.reports.alterations import Change, Data, added, changed
from audit.reports.alterations import register as register_alteration
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Interval, Row
from audit.staff_text import marked, sentence, word
from wallet.ledger import hourly_totals
from wallet.models import Account, Currency, Mode, PaymentState, WithdrawalStatus

CURRENCY: Final = Choice("currency", "Currency", lambda: tuple((code, code) for code in Currency.values))
MODE: Final = Choice("mode", "Money", lambda: tuple((mode.value, str(mode.label)) for mode in Mode))
MODES: Final = {Mode.REAL: marked("report", "real"), Mode.FREE: marked("report", "free")}


NOW: Final = timedelta(minutes=1)  # an interval that ended less than this ago counts as ending now

LIABILITY_COLUMNS: Final = (
    Column("currency", "Currency"),
    Column("moment", "Point", Form.WORD),
    Column("at", "Time", Form.TIME),
    Column("total", "Total held for players", Form.MONEY),
    Column("available", "Available", Form.MONEY),
    Column("held", "Held", Form.MONEY),
    Column("pending", "Pending withdrawal", Form.MONEY),
    Column("refund", "Deposits to send back", Form.MONEY),
    Column("cash", "Cash", Form.MONEY),
    Column("purse", "In Golden Baccarat", Form.MONEY),
    Column("set_aside", "Held for bets", Form.MONEY),
    Column("stakes", "Stakes in rounds", Form.MONEY),
    Column("banks", "Banks at Chemin de Fer", Form.MONEY),
    Column("set_aside_at", "Held as of", Form.TIME),
)


@dataclass(frozen=True)
class Aside:
    """The amounts on hold for bets at a moment, by currency, in minor units."""

    at: datetime
    amounts: Mapping[str, int]


def liability(asked: Asked) -> Answer:
    """Return what was held for players by currency at both ends of the interval."""
    return Answer(rows=_liability_rows(asked), notes=lambda: LIABILITY_NOTES)


LIABILITY_NOTES: Final = (
    gettext_noop("Real money only. All amounts except held bets are the sum of ledger entries before that time."),
    gettext_noop("Held is the sum of held bets, stakes in unsettled rounds and banks at Chemin de Fer."),
    gettext_noop(
        "Held bets are not recorded in the ledger; they are as of the time in the last column, exact at full hours."
    ),
)


def _liability_rows(asked: Asked) -> Iterator[Row]:
    chosen = asked.choices.get("currency", "")
    opening = _lying(asked.interval.since)
    closing = opening + _read_totals(asked.interval)
    for point, moment, lying in (
        (marked("report", "beginning"), asked.interval.since, opening),
        (marked("report", "end"), asked.interval.until, closing),
    ):
        aside = _aside(moment)
        for currency in Currency.values:
            if chosen in ("", currency) and any(code == currency for code, _ in opening | closing):
                yield _row(point, moment, currency, lying, aside)


def _row(point: str, moment: datetime, currency: str, lying: "Lying", aside: Aside) -> Row:
    cash, purse, bank, escrow, stakes, pending, refund = (
        lying[currency, kind] for kind in hourly_totals.HELD_FOR_PLAYERS
    )
    spendable = cash + purse
    set_aside = min(aside.amounts.get(currency, 0), spendable)
    held = set_aside + escrow + stakes + bank
    return (
        currency,
        point,
        moment.astimezone(UTC).isoformat(),
        spendable + bank + escrow + stakes + pending + refund,
        spendable - set_aside,
        held,
        pending,
        refund,
        cash,
        purse,
        set_aside,
        escrow + stakes,
        bank,
        aside.at.astimezone(UTC).isoformat(),
    )


Lying = Counter[tuple[str, str]]
"""Minor units by currency and kind of account."""


def _lying(moment: datetime) -> Lying:
    return _read_totals(Interval(hourly_totals.BEGINNING, moment))


def _read_totals(interval: Interval) -> Lying:
    found = Lying()
    for sums in hourly_totals.read_totals(interval):
        if sums.mode == Mode.REAL and sums.account_kind in hourly_totals.HELD_FOR_PLAYERS:
            found[sums.currency, sums.account_kind] += sums.amount
    return found


def _aside(moment: datetime) -> Aside:
    """Return the amounts on hold at *moment*: exact at a full hour, current if it has just been."""
    now = replica.as_of()
    hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if hour < moment and moment > now - NOW:
        held = Account.objects.filter(owner__isnull=False, mode=Mode.REAL).values("currency").annotate(sum=Sum("held"))
        return Aside(now, {row["currency"]: row["sum"] for row in held})
    return Aside(hour, hourly_totals.held_at(hour))


LIABILITY: Final = kinds.Kind(
    name="liability",
    title=gettext_noop("Operator liability"),
    purpose=gettext_noop("Player liability by currency at the start and end of the interval."),
    clause="GLI-19 v3.0, 2.9.3",
    columns=LIABILITY_COLUMNS,
    answer=liability,
    choices=(CURRENCY,),
)


DEPOSIT: Final = marked("report", "deposit")
WITHDRAWAL: Final = marked("report", "withdrawal")

PAYMENT_COLUMNS: Final = (
    Column("asked_at", "Requested", Form.TIME),
    Column("decided_at", "Decided", Form.TIME),
    Column("id", "Number", Form.WORD),
    Column("player", "Player"),
    Column("kind", "Kind", Form.WORD),
    Column("method", "Method", Form.WORD),
    Column("currency", "Currency"),
    Column("amount", "Amount", Form.MONEY),
    Column("status", "Status", Form.WORD),
    Column("authorisation", "Authorisation number"),
    Column("handler", "Handled by"),
    Column("approved_by", "Approved by"),
    Column("reason", "Reason"),
    Column("before", "Balance before", Form.MONEY),
    Column("after", "Balance after", Form.MONEY),
)

# The tables store when a transaction began, the ledger the actual time. They differ by at most the
# length of a transaction. So rows are found by index on the former, then filtered exactly by the
# latter.
DEPOSITS = """
SELECT payment.begun_at AS asked_at, coalesce(journal.at, arrived.at, payment.decided_at) AS decided_at,
       'payment:' || payment.id, payment.player_id, %(deposit)s AS kind, payment.variant, payment.currency,
       payment.amount, payment.state,
       payment.authorisation, payment.variant, '', payment.held_because,
       entry.balance_after - entry.amount, entry.balance_after
FROM (
    SELECT id FROM wallet_payment WHERE begun_at >= %(since)s AND begun_at < %(until)s
    UNION SELECT id FROM wallet_payment WHERE decided_at >= %(early)s AND decided_at < %(until)s
) AS found
JOIN wallet_payment AS payment USING (id)
LEFT JOIN wallet_journal AS journal ON journal.id = payment.journal_id
LEFT JOIN wallet_journal AS arrived ON arrived.id = payment.held_journal_id
LEFT JOIN LATERAL (
    SELECT posting.amount, posting.balance_after
    FROM wallet_entry AS posting JOIN wallet_account AS account ON account.id = posting.account_id AND account.kind =
        'cash'
    WHERE posting.journal_id = payment.journal_id
) AS entry ON true
"""
WITHDRAWALS = """
SELECT asked.at AS asked_at, decided.at AS decided_at, 'withdrawal:' || withdrawal.id, withdrawal.player_id,
       %(withdrawal)s, 'bank transfer', withdrawal.currency, withdrawal.amount, withdrawal.status,
       CASE WHEN withdrawal.status = 'paid' THEN last.reason ELSE '' END,
       last.handler, approval.by, CASE WHEN withdrawal.status = 'paid' THEN '' ELSE last.reason END,
       taken.balance_after - taken.amount, taken.balance_after
FROM (
    SELECT id FROM wallet_withdrawal WHERE at >= %(early)s AND at < %(until)s
    UNION SELECT withdrawal_id FROM wallet_withdrawal_step WHERE at >= %(early)s AND at < %(until)s
) AS found
JOIN wallet_withdrawal AS withdrawal USING (id)
JOIN LATERAL (
    SELECT step.journal_id, journal.at
    FROM wallet_withdrawal_step AS step JOIN wallet_journal AS journal ON journal.id = step.journal_id
    WHERE step.withdrawal_id = withdrawal.id ORDER BY step.id LIMIT 1
) AS asked ON true
LEFT JOIN LATERAL (
    SELECT posting.amount, posting.balance_after
    FROM wallet_entry AS posting JOIN wallet_account AS account ON account.id = posting.account_id AND account.kind =
        'cash'
    WHERE posting.journal_id = asked.journal_id
) AS taken ON true
JOIN LATERAL (
    SELECT step.handler, step.reason, step.journal_id
    FROM wallet_withdrawal_step AS step WHERE step.withdrawal_id = withdrawal.id ORDER BY step.id DESC LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
    SELECT journal.at FROM wallet_journal AS journal
    WHERE journal.id = last.journal_id AND withdrawal.status IN ('paid', 'returned', 'refused', 'cancelled')
) AS decided ON true
LEFT JOIN LATERAL (
    SELECT string_agg(step.by, ', ' ORDER BY step.id) AS by
    FROM wallet_withdrawal_step AS step
    WHERE step.withdrawal_id = withdrawal.id AND step.after IN ('seconding', 'approved')
) AS approval ON true
"""
FOUND = f"""
SELECT * FROM ({DEPOSITS} UNION ALL {WITHDRAWALS}) AS every
WHERE (asked_at >= %(since)s AND asked_at < %(until)s OR decided_at >= %(since)s AND decided_at < %(until)s)
  AND (%(kind)s = '' OR kind = %(kind)s) AND (%(currency)s = '' OR currency = %(currency)s)
  AND (%(status)s = '' OR state = %(status)s)
ORDER BY asked_at, 3
"""  # noqa: S608  (put together from constants)


def payments(asked: Asked) -> Answer:
    """Return the rows, oldest first, and their totals."""
    sums = OutcomeTotals(asked.interval)
    return Answer(rows=_payment_rows(asked, sums), totals=sums.rows, notes=lambda: PAYMENT_NOTES)


def summed(interval: Interval) -> Mapping[tuple[str, str, str], int]:
    """Return the moved amounts in minor units, by currency, kind and outcome.

    Covers deposits and withdrawals.
    """
    sums = OutcomeTotals(interval)
    for _row in _payment_rows(Asked(interval, {}, "UTC"), sums):
        pass
    return sums.amounts


PAYMENT_NOTES: Final = (
    gettext_noop("Payments requested or decided in the interval. The status is the current one."),
    gettext_noop(
        "Totals count money at the time of posting: deposits credited; withdrawals requested, paid or returned."
    ),
    gettext_noop("The balance is the player’s cash balance when a deposit was credited or a withdrawal requested."),
)


class OutcomeTotals:
    """Totals of an interval by currency, kind and outcome, counted while the rows are read."""

    def __init__(self, interval: Interval) -> None:
        self._interval = interval
        self._count: Counter[tuple[str, str, str]] = Counter()
        self.amounts: Counter[tuple[str, str, str]] = Counter()

    def take(self, row: Sequence[Any]) -> None:
        """Add a row of `FOUND`."""
        (
            asked_at,
            decided_at,
            _id,
            _player,
            kind,
            _method,
            currency,
            amount,
            status,
            _number,
            _by,
            _approval,
            reason,
            *_,
        ) = row
        if kind == WITHDRAWAL and self._has(asked_at):
            self._add((currency, kind, marked("report", "requested")), amount)
        if (kind, status) in OUTCOME and self._has(decided_at):
            was_held = status == PaymentState.CREDITED and bool(reason)
            self._add((currency, kind, RELEASED if was_held else OUTCOME[kind, status]), amount)

    def rows(self) -> Sequence[Row]:
        """Return a row for each total. The column of ids contains the count."""
        return [
            (
                "",
                "",
                sentence(gettext_noop("%(count)s in total"), count=self._count[key]),
                "",
                kind,
                "",
                currency,
                amount,
                said,
                "",
                "",
                "",
                "",
                None,
                None,
            )
            for key, amount in sorted(self.amounts.items())
            for currency, kind, said in (key,)
        ]

    def _has(self, moment: datetime | None) -> bool:
        return moment is not None and self._interval.since <= moment < self._interval.until

    def _add(self, key: tuple[str, str, str], amount: int) -> None:
        self._count[key] += 1
        self.amounts[key] += amount


STATUSES: Final = (  # those of payments and withdrawals that are not in `OUTCOME`
    marked("report", "abandoned"),
    marked("report", "approved"),
    marked("report", "cancelled"),
    marked("report", "declined"),
    marked("report", "error"),
    marked("report", "expired"),
    marked("report", "refused"),
    marked("report", "returned"),
    marked("report", "sending"),
    marked("report", "waiting"),
)
SECONDING: Final = marked("report", "awaiting second approval")
METHODS: Final = (marked("report", "bank transfer"),)
RELEASED: Final = marked("report", "credited by two people")
OUTCOME: Final[Mapping[tuple[str, str], str]] = {  # by kind too: both know a status "returned"
    (DEPOSIT, PaymentState.CREDITED): marked("report", "credited"),
    (DEPOSIT, PaymentState.HELD): marked("report", "held"),
    (DEPOSIT, PaymentState.RETURNED): marked("report", "sent back"),
    (WITHDRAWAL, WithdrawalStatus.PAID): marked("report", "paid"),
    (WITHDRAWAL, WithdrawalStatus.RETURNED): marked("report", "returned to balance"),
    (WITHDRAWAL, WithdrawalStatus.REFUSED): marked("report", "returned to balance"),
    (WITHDRAWAL, WithdrawalStatus.CANCELLED): marked("report", "returned to balance"),
}


def _payment_rows(asked: Asked, sums: OutcomeTotals) -> Iterator[Row]:
    wanted: dict[str, Any] = {
        "since": asked.interval.since,
        "until": asked.interval.until,
        "early": asked.interval.since - SLACK,
        "deposit": DEPOSIT,
        "withdrawal": WITHDRAWAL,
        **{name: asked.choices.get(name, "") for name in ("kind", "currency", "status")},
    }
    with connection.chunked_cursor() as cursor:
        cursor.execute(FOUND, wanted)
        for row in cursor:
            sums.take(row)
            asked_at, decided_at, number, player_id, kind, method, currency, amount, status, *rest = row
            known = (f"player:{player_id}", kind, method, currency, amount, status_word(status))
            yield (_moment(asked_at), _moment(decided_at), number, *known, *rest)


def status_word(status: str) -> str:
    """Return the status of a payment or withdrawal as an English word of reports."""
    return SECONDING if status == WithdrawalStatus.SECONDING else status


def _moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None


def _kinds() -> Sequence[tuple[str, str]]:
    return ((DEPOSIT, gettext("Deposits")), (WITHDRAWAL, gettext("Withdrawals")))


def _statuses() -> Sequence[tuple[str, str]]:
    statuses = sorted({*PaymentState.values, *WithdrawalStatus.values})
    return tuple((status, word(status_word(status))) for status in statuses)


PAYMENTS: Final = kinds.Kind(
    name="payments",
    title=gettext_noop("Deposits and withdrawals"),
    purpose=gettext_noop("All deposits and withdrawals with request, decision, method, person and balance."),
    clause="",
    columns=PAYMENT_COLUMNS,
    answer=payments,
    choices=(
        Choice("kind", "Kind", _kinds),
        CURRENCY,
        Choice("status", "Status", _statuses),
    ),
    names_players=True,
)


def register() -> None:
    """Register the reports."""
    for kind in (LIABILITY, PAYMENTS):
        kinds.register(kind)


TITLES = {
    WithdrawalStatus.REQUESTED: gettext_noop("Withdrawal requested"),
    WithdrawalStatus.SECONDING: gettext_noop("Withdrawal approved by the first of two people"),
    WithdrawalStatus.APPROVED: gettext_noop("Withdrawal approved"),
    WithdrawalStatus.SENDING: gettext_noop("Payout sent to the bank"),
    WithdrawalStatus.PAID: gettext_noop("Withdrawal paid"),
    WithdrawalStatus.RETURNED: gettext_noop("Payout returned by the bank"),
    WithdrawalStatus.REFUSED: gettext_noop("Withdrawal refused"),
    WithdrawalStatus.CANCELLED: gettext_noop("Withdrawal cancelled"),
}


def register_alterations() -> None:
    """Register these events with the report of events and alterations."""
    register_alteration(gettext_noop("Balances"), {"balance.adjusted": (gettext_noop("Balance adjusted"), _adjusted)})
    register_alteration(
        gettext_noop("House stop"),
        {
            "house.stopped": (
                gettext_noop("House stop started"),
                changed("in play", "stopped"),
            ),
            "house.resumed": (
                gettext_noop("House stop ended"),
                changed("stopped", "in play"),
            ),
        },
    )
    register_alteration(
        gettext_noop("Partners"),
        {
            "partner.added": (gettext_noop("Partner added"), added("code")),
            "partner.key_made": (gettext_noop("Partner key created"), added("key")),
            "partner.key_ended": (
                gettext_noop("Partner key revoked"),
                changed("in use", "ended"),
            ),
            "partner.switched_off": (
                gettext_noop("Partner deactivated"),
                changed("on", "off"),
            ),
        },
    )
    register_alteration(
        gettext_noop("Webhooks"),
        {
            "webhook.added": (gettext_noop("Webhook added"), added("name", "address", "kinds")),
            "webhook.changed": (
                gettext_noop("Webhook changed"),
                lambda data: Change(data.get("before"), data.get("after"), ""),
            ),
            "webhook.secret_replaced": (
                gettext_noop("Secret of a webhook replaced"),
                changed("another secret", "a secret"),
            ),
            "webhook.secret_ended": (
                gettext_noop("Replaced secret of a webhook ended"),
                changed("in use", "ended"),
            ),
            "webhook.switched_off": (
                gettext_noop("Webhook switched off"),
                changed("on", "off"),
            ),
            "webhook.switched_on": (
                gettext_noop("Webhook switched on"),
                changed("off", "on"),
            ),
        },
    )
    register_alteration(
        gettext_noop("Exchange rates"),
        {"exchange_rates.corrected": (gettext_noop("Exchange rate corrected"), _corrected)},
    )
    register_alteration(
        gettext_noop("Operators"),
        {
            "operator_message.settled": (
                gettext_noop("Refused operator message settled manually"),
                changed("refused", "settled"),
            )
        },
    )
    register_alteration(
        gettext_noop("Bank accounts of players"),
        {"payout_account.added": (gettext_noop("Bank account added"), added("account"))},
    )
    register_alteration(
        gettext_noop("Withdrawals"),
        {f"withdrawal.{status}": (title, _status(status)) for status, title in TITLES.items()}
        | {
            "withdrawal.released": (
                gettext_noop("Held withdrawal released"),
                changed("held", "released"),
            )
        },
    )
    register_alteration(
        gettext_noop("Deposits"),
        {
            "deposit.returned": (
                gettext_noop("Held deposit sent back"),
                changed("held", "returned"),
            ),
            "deposit.released": (
                gettext_noop("Held deposit credited"),
                changed("held", "credited"),
            ),
        },
    )


def _corrected(data: Data) -> Change:
    """Return the rates that were in force before, and those that are now."""
    given: Any = data["rates"]
    rates = [(f"{day} {currency}", rate, before) for day, currency, rate, before in given if before is not None]
    return Change({name: before for name, _, before in rates}, {name: rate for name, rate, _ in rates}, "")


def _adjusted(data: Data) -> Change:
    names = ("currency", "mode")
    before, after = (
        {"balance": data.get(f"balance_{end}")} | {name: data.get(name) for name in names}
        for end in ("before", "after")
    )
    return Change(before, after, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _status(status: WithdrawalStatus) -> Callable[[Data], Change]:
    return lambda data: Change(
        status_word(str(data.get("before") or "")), status_word(status.value), str(data.get("reason", ""))
    )
