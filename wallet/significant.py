"""Significant events about money (GLI-19 v3.0, 2.8.8): errors, and large deposits and withdrawals.

Compliance sets a threshold for each currency. It applies to a single amount, and to the sum over a
number of days of the player's own calendar. Only real money counts. A sum is reported once, and
again at the earliest after that number of days.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from django.db import connection
from django.utils.translation import get_language, gettext_noop

from audit import log
from audit.models import Category, Event, Significant, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves, Limit, thresholds
from audit.staff_text import sentence
from wallet.invariants import COVERED
from wallet.money import format_money

KINDS: Final[dict[str, detection.Significance]] = {
    "payment.contradicted": (Category.ERROR, Weight.ALERT, gettext_noop("Contradictory provider messages")),
    "payment.mismatched": (Category.ERROR, Weight.ALERT, gettext_noop("Provider reports a different amount")),
    "payment.error": (Category.ERROR, Weight.ALERT, gettext_noop("Deposit amount changed")),
    "deposit.held": (Category.ERROR, Weight.ALERT, gettext_noop("Deposit arrived, but may not be credited")),
    "deposit.returned": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Held deposit sent back")),
    "deposit.released": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Held deposit credited by two people")),
    "payment.not_cancelled": (Category.ERROR, Weight.NOTICE, gettext_noop("Payment provider cannot cancel a deposit")),
    "payment.not_answered": (Category.ERROR, Weight.NOTICE, gettext_noop("Payment provider does not answer")),
    "payout.notice_refused": (Category.ERROR, Weight.NOTICE, gettext_noop("Unauthenticated payout message")),
    "withdrawal.released": (Category.CORRECTION, Weight.NOTICE, gettext_noop("Held withdrawal released by two people")),
    "withdrawal.returned": (Category.ERROR, Weight.NOTICE, gettext_noop("Payout returned by the bank")),
    "balance.adjusted": (Category.ADJUSTMENT, Weight.NOTICE, gettext_noop("Balance adjusted")),
    "house.stopped": (Category.DEACTIVATION, Weight.ALERT, gettext_noop("House stop started")),
    "house.resumed": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("House stop ended")),
    "partner.added": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Seamless wallet partner added")),
    "partner.key_made": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Partner key created")),
    "partner.switched_off": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Partner deactivated")),
    "operator_message.refused": (Category.ERROR, Weight.NOTICE, gettext_noop("Operator refuses a round result")),
    "operator_message.settled": (
        Category.CORRECTION,
        Weight.NOTICE,
        gettext_noop("Refused operator message settled manually"),
    ),
    "operator_message.unanswered": (
        Category.ERROR,
        Weight.ALERT,
        gettext_noop("Operator has not answered for an hour"),
    ),
    "operator_message.not_recognised": (
        Category.ERROR,
        Weight.ALERT,
        gettext_noop("Operator rejects our key or timestamp"),
    ),
    "payout_account.added": (Category.PERSONAL, Weight.NOTICE, gettext_noop("Bank account added by a player")),
}
CHECK: Final = gettext_noop("Failed check")  # headings of evidence
ROW: Final = gettext_noop("Row")
DAY: Final = gettext_noop("Day")
AMOUNT: Final = gettext_noop("Amount")
BROKEN: Final = "ledger.broken"
DEPOSITED: Final = "deposit.posted"
RELEASED: Final = "deposit.released"  # held, then credited by two people
PAID: Final = "withdrawal.paid"
ORDINARY: Final = (
    # Reported by the finders in this module.
    BROKEN,
    DEPOSITED,
    PAID,
    "accounts.snapshot",
    # Normal actions of players, and the steps that follow.
    "deposit.begun",
    "deposit.refused",
    "ledger.digested",
    "ledger.verified",
    "payment.abandoned",
    "payment.declined",
    "payment.expired",
    "purse.filled",
    "purse.refused",
    "purse.returned",
    "top_up.posted",
    "withdrawal.approved",
    "withdrawal.cancelled",
    "withdrawal.not_taken",
    "withdrawal.refused",
    "withdrawal.requested",
    "withdrawal.seconding",
    "withdrawal.sending",
    # Games of studios, and partner keys.
    "partner.key_ended",
    "partner.key_shown",
    "studio.bet",
    "studio.bet_and_won",
    "studio.refused",
    "studio.rolled_back",
    "studio.session_opened",
    "studio.won",
    # Players of operators. Refused messages have a queue of their own.
    "operator_launch.announced",
    "operator_bet.given_up",
    "operator_message.tried_again",
    # Work of finance staff on deposits in doubt and provider statements.
    "deposit.asked_about",
    "deposit.noted",
    "difference.noted",
    "difference.settled",
    "statement.confirmed",
    "statement.exported",
)

DAYS: Final = """
    SELECT player.id, player.currency, day.day, day.deposited, day.withdrawn, day.staked, day.paid
    FROM unnest(%(players)s::bigint[], %(moments)s::timestamptz[]) AS asked (id, at)
    JOIN players_player AS player USING (id)
    JOIN players_jurisdiction AS home ON home.code = player.jurisdiction_id
    JOIN audit_threshold AS threshold ON threshold.what = %(what)s AND threshold.currency = player.currency
    JOIN wallet_day AS day ON day.player_id = player.id
        AND day.day > (asked.at AT TIME ZONE home.time_zone)::date - threshold.days
        AND day.day <= (asked.at AT TIME ZONE home.time_zone)::date
    ORDER BY player.id, day.day
"""


@dataclass(frozen=True)
class What:
    """A kind of amount that may be large.

    *name* is the name of its thresholds. *single* and *sum* are the titles that staff read for a
    single large amount and for a large sum.
    """

    name: str
    category: Category
    single: str
    sum: str


@dataclass(frozen=True)
class Movement:
    """An amount of a player's money that moved, in minor units.

    *event* is the id of its event. *about* names the payment, withdrawal or round.
    """

    player: str
    currency: str
    amount: int
    at: datetime
    event: int
    about: str


@dataclass(frozen=True)
class Day:
    """A player's real-money totals of one day, in minor units."""

    day: date
    deposited: int
    withdrawn: int
    staked: int
    paid: int

    def of(self, what: What) -> int:
        """Return the amount of *what*.

        A win is what was paid minus what was staked, so it may be negative.
        """
        amounts = {
            "deposit": self.deposited,
            "withdrawal": self.withdrawn,
            "wager": self.staked,
            "win": self.paid - self.staked,
        }
        return amounts[what.name]


DEPOSIT: Final = What(
    "deposit", Category.LARGE_PAYMENT, gettext_noop("Large deposit"), gettext_noop("Large deposits in total")
)
WITHDRAWAL: Final = What(
    "withdrawal", Category.LARGE_PAYMENT, gettext_noop("Large withdrawal"), gettext_noop("Large withdrawals in total")
)


def register() -> None:
    """Register the kinds and finders with the detection of significant events."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register("ledger", broken)
    detection.register("large payments", large_payments)


def broken(leaves: Leaves) -> Iterable[Found]:
    """Find broken invariants of the ledger. A negative balance gets its own category."""
    for event in detection.events(leaves, BROKEN):
        rows = [
            {gettext_noop("Failed check"): name, gettext_noop("Row"): str(row)}
            for name, row in _lines(detection.data(event))
        ]
        is_negative = COVERED.name in detection.data(event)
        yield Found(
            key=f"event:{event.pk}",
            category=Category.NEGATIVE if is_negative else Category.ERROR,
            weight=Weight.ALERT,
            on=event.on,
            title=gettext_noop("Balance below the held amount") if is_negative else gettext_noop("Ledger inconsistent"),
            happened_at=event.at,
            event=event.pk,
            because=sentence(
                gettext_noop(
                    "The hourly ledger check found inconsistent rows. No money was moved by this. "
                    "Find the cause and correct it with a reversing entry."
                )
            ),
            rows=rows,
        )


def large_payments(leaves: Leaves) -> Iterable[Found]:
    """Find large deposits and withdrawals."""
    for kinds, what in (((DEPOSITED, RELEASED), DEPOSIT), ((PAID,), WITHDRAWAL)):
        yield from large(what, [_payment(event) for event in detection.events(leaves, *kinds)])


def large(what: What, movement: Collection[Movement]) -> Iterable[Found]:
    """Find single large amounts in *movement*, and players whose sum is large."""
    limits = thresholds(what.name)
    for each in movement:
        limit = limits.get(each.currency)
        if limit and each.amount >= limit.single:
            yield _single(what, each, limit)
    yield from _summed(what, {each.player: each for each in movement}, limits)


def _single(what: What, movement: Movement, limit: Limit) -> Found:
    return Found(
        key=f"{what.name}:{movement.about}:{movement.player}",
        category=what.category,
        weight=Weight.NOTICE,
        on=movement.player,
        title=what.single,
        happened_at=movement.at,
        event=movement.event,
        currency=movement.currency,
        amount=movement.amount,
        because=sentence(
            gettext_noop("Amount: %(amount)s; threshold: %(threshold)s."),
            amount={"money": [movement.amount, movement.currency]},
            threshold={"money": [limit.single, movement.currency]},
        ),
        rows=[
            {
                detection.WHAT: movement.about,
                gettext_noop("When (UTC)"): _moment(movement.at),
                AMOUNT: _money(movement.amount, movement.currency),
            }
        ],
    )


def _summed(what: What, last: Mapping[str, Movement], limits: Mapping[str, Limit]) -> Iterable[Found]:
    """Find each player whose sum, over the days up to the last amount, is large."""
    for player, (currency, days) in _days(what, last).items():
        limit, movement = limits[currency], last[player]
        amount = sum(day.of(what) for day in days)
        if amount < limit.summed or _is_known(what, movement, limit):
            continue
        yield Found(
            key=f"{what.name}s:{player}:{movement.event}",
            category=what.category,
            weight=Weight.NOTICE,
            on=player,
            title=what.sum,
            happened_at=movement.at,
            event=movement.event,
            currency=currency,
            amount=amount,
            because=sentence(
                gettext_noop(
                    "In %(days)s days the total was %(amount)s; the threshold is %(threshold)s. "
                    "It is reported again after %(days)s days at the earliest."
                ),
                days=limit.days,
                amount={"money": [amount, currency]},
                threshold={"money": [limit.summed, currency]},
            ),
            rows=[{gettext_noop("Day"): day.day.isoformat(), AMOUNT: _money(day.of(what), currency)} for day in days],
        )


def _days(what: What, last: Mapping[str, Movement]) -> dict[str, tuple[str, list[Day]]]:
    """Return for each player the currency and the days that count."""
    values: dict[str, list[int] | list[datetime] | str] = {
        "players": [int(player.removeprefix("player:")) for player in last],
        "moments": [movement.at for movement in last.values()],
        "what": what.name,
    }
    found: dict[str, tuple[str, list[Day]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(DAYS, values)
        for player, currency, *amounts in cursor:
            found.setdefault(f"player:{player}", (currency, []))[1].append(Day(*amounts))
    return found


def _is_known(what: What, movement: Movement, limit: Limit) -> bool:
    """Return whether this sum was already reported within the limit's days."""
    since = movement.at - timedelta(days=limit.days)
    known = Significant.objects.filter(on=movement.player, key__startswith=f"{what.name}s:", happened_at__gt=since)
    return known.exists()


def _payment(event: Event) -> Movement:
    said = detection.data(event)
    about = f"payment {said['payment']}" if event.kind in (DEPOSITED, RELEASED) else event.on
    return Movement(
        player=str(said.get("player", event.on)),
        currency=str(said["currency"]),
        amount=int(str(said["amount"])),
        at=event.at,
        event=event.pk,
        about=about,
    )


def _lines(said: Mapping[str, log.Json]) -> Iterable[tuple[str, log.Json]]:
    for name, rows in said.items():
        yield from ((name, row) for row in (rows if isinstance(rows, list) else [rows]))


def _money(amount: int, currency: str) -> str:
    return format_money(amount, currency, get_language() or "en")


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
