"""AML alerts: signs of money laundering in deposits and withdrawals.

The signs are: money that passes through with little play, several deposits just under the
large-deposit threshold, and deposits far above the player's usual amount. Detection reads the
sealed event log and reports each sign with the rows that it follows from. Nothing is decided here.

Amounts derive from the thresholds for large deposits that compliance sets for each currency
(`audit.significant.detection`). The other numbers are the house's own choice. The law requires
such patterns to be looked for (Directive (EU) 2015/849, articles 13 and 18) and names no figures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from django.db import connection
from django.utils.translation import get_language, gettext_noop

from audit.models import Category, Event, Significant, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves, thresholds
from audit.staff_text import Stored, sentence
from wallet.models import Withdrawal, WithdrawalStatus
from wallet.money import format_money

UNPLAYED_WITHIN: Final = timedelta(days=30)
UNPLAYED_FROM: Final = Fraction(1, 4)  # of a large deposit: minimum that must pass through
UNPLAYED_STAKED: Final = Fraction(1, 2)  # of what passed through: fewer stakes than this are few

JUST_UNDER: Final = Fraction(4, 5)  # of a large deposit: from here up to a large one
SEVERAL: Final = 3  # deposits
SEVERAL_WITHIN: Final = timedelta(days=7)

SUDDEN_WITHIN: Final = timedelta(days=7)
MONTHS_BEFORE: Final = timedelta(days=84)  # period that shows what is usual for a player
MONTH: Final = timedelta(days=28)
TIMES: Final = 3  # times the usual monthly amount, in the last days


@dataclass(frozen=True)
class Movement:
    """A deposit or withdrawal of real money in minor units.

    *about* names it for staff: "payment …".
    """

    at: datetime
    amount: int
    about: str


def total(movements: Sequence[Movement]) -> int:
    """Return the sum of the amounts."""
    return sum(each.amount for each in movements)


def passed_through(deposits: Sequence[Movement], withdrawals: Sequence[Movement]) -> int:
    """Return how much of the deposits was requested for withdrawal."""
    return min(total(deposits), total(withdrawals))


def is_unplayed(passed: int, staked: int, large: int) -> bool:
    """Return whether a relevant amount passed through with few stakes."""
    return passed >= UNPLAYED_FROM * large and staked < UNPLAYED_STAKED * passed


def kept_under(deposits: Sequence[Movement], large: int) -> tuple[Movement, ...]:
    """Return the deposits just under a large one within `SEVERAL_WITHIN` of the last one.

    Returns none if they are fewer than `SEVERAL` or do not exceed a large deposit in total.
    *deposits* is ordered by time.
    """
    last = deposits[-1]
    found = tuple(each for each in deposits if each.at > last.at - SEVERAL_WITHIN and is_just_under(each.amount, large))
    return found if last in found and len(found) >= SEVERAL and total(found) > large else ()


def is_just_under(amount: int, large: int) -> bool:
    """Return whether a deposit is just under a large one."""
    return JUST_UNDER * large <= amount < large


def usual_monthly(before: Sequence[Movement], days: int) -> Fraction:
    """Return the usual deposits of a month, computed from the deposits of *days* days."""
    return Fraction(total(before) * MONTH.days, days)


def is_sudden(lately: Sequence[Movement], in_a_month: Fraction, large: int) -> bool:
    """Return whether the last days' deposits are far above usual and large enough to matter."""
    return total(lately) >= large and total(lately) > TIMES * in_a_month


DEPOSITED: Final = ("deposit.posted", "deposit.released")  # by the provider's word, by two people
ASKED: Final = "withdrawal.requested"
LARGE: Final = "deposit"  # the threshold for large deposits
TAKEN_BACK: Final = (WithdrawalStatus.CANCELLED, WithdrawalStatus.REFUSED, WithdrawalStatus.RETURNED)

UNPLAYED: Final = "unplayed"
UNDER: Final = "under"
SUDDEN: Final = "sudden"

# Stakes on whole days of the player's own calendar, including stakes against a bank.
STAKED: Final = """
    SELECT coalesce(sum(day.staked), 0)::bigint
    FROM players_player AS player JOIN players_jurisdiction AS home ON home.code = player.jurisdiction_id
    JOIN wallet_day AS day ON day.player_id = player.id
    WHERE player.id = %s AND day.day BETWEEN (%s AT TIME ZONE home.time_zone)::date
        AND (%s AT TIME ZONE home.time_zone)::date
"""


@dataclass(frozen=True)
class Case:
    """A deposit or withdrawal request to examine.

    *large* is the threshold for a large deposit, in minor units.
    """

    player: str
    currency: str
    event: Event
    large: int

    def money(self, amount: int) -> str:
        """Format an amount."""
        return format_money(amount, self.currency, get_language() or "en")


def register() -> None:
    """Register the detection."""
    detection.register("laundering", detect)


def detect(leaves: Leaves) -> Iterable[Found]:
    """Find signs of money laundering, in the order of the events."""
    limits = thresholds(LARGE)
    for event in detection.events(leaves, *DEPOSITED, ASKED):
        said = detection.data(event)
        currency = str(said["currency"])
        if currency not in limits:
            continue
        case = Case(str(said.get("player", event.on)), currency, event, limits[currency].single)
        if event.kind == ASKED:
            yield from _unplayed(case)
        else:
            yield from _under(case)
            yield from _sudden(case)


def _unplayed(case: Case) -> Iterable[Found]:
    """Find deposits that are withdrawn again with few stakes."""
    since = _since(case, UNPLAYED, UNPLAYED_WITHIN)
    deposits = _deposits(case, since)
    if not deposits:
        return
    withdrawals = _withdrawals(case, deposits[0].at)
    passed = passed_through(deposits, withdrawals)
    staked = _staked(case, deposits[0].at)
    if is_unplayed(passed, staked, case.large):
        yield _found(
            case,
            UNPLAYED,
            title=gettext_noop("Deposits withdrawn with little play"),
            amount=passed,
            because=sentence(
                gettext_noop(
                    "Of %(deposited)s deposited since %(since)s, %(passed)s were requested as withdrawals by "
                    "%(until)s. Stakes in that time: %(staked)s, less than half of that amount. Low play between "
                    "deposit and withdrawal is a sign of money laundering."
                ),
                deposited=_value(case, total(deposits)),
                since=_moment(deposits[0].at),
                passed=_value(case, passed),
                until=_moment(case.event.at),
                staked=_value(case, staked),
            ),
            rows=[
                *_rows(case, deposits, gettext_noop("Deposit")),
                *_rows(case, withdrawals, gettext_noop("Withdrawal requested")),
            ],
        )


def _under(case: Case) -> Iterable[Found]:
    """Find several deposits just under the threshold for a large one."""
    deposits = _deposits(case, _since(case, UNDER, SEVERAL_WITHIN))
    just_below = kept_under(deposits, case.large) if deposits else ()
    if just_below:
        yield _found(
            case,
            UNDER,
            title=gettext_noop("Deposits just below the threshold"),
            amount=total(just_below),
            because=sentence(
                gettext_noop(
                    "%(count)s deposits within %(days)s days are each just below %(threshold)s, the threshold for a "
                    "large deposit. Total: %(total)s."
                ),
                count=len(just_below),
                days=SEVERAL_WITHIN.days,
                threshold=_value(case, case.large),
                total=_value(case, total(just_below)),
            ),
            rows=_rows(case, just_below, gettext_noop("Deposit")),
        )


def _sudden(case: Case) -> Iterable[Found]:
    """Find deposits far above the player's usual amount."""
    begun = case.event.at - SUDDEN_WITHIN
    first = _first_deposit(case)
    if first is None or first > begun - MONTH or _since(case, SUDDEN, SUDDEN_WITHIN) > begun:
        return  # nothing is usual in the first month; and a recent alert is not repeated
    known = min(begun - first, MONTHS_BEFORE)
    lately, before = _deposits(case, begun), _deposits(case, begun - MONTHS_BEFORE, begun)
    usual = usual_monthly(before, known.days)
    if is_sudden(lately, usual, case.large):
        yield _found(
            case,
            SUDDEN,
            title=gettext_noop("Deposits far above the player’s usual amount"),
            amount=total(lately),
            because=sentence(
                gettext_noop(
                    "Deposits in %(days)s days: %(lately)s. In the %(known)s days before, the total was %(before)s, "
                    "equal to %(usual)s in %(month)s days. Reported from %(large)s and more than %(times)s times the "
                    "usual monthly amount."
                ),
                days=SUDDEN_WITHIN.days,
                lately=_value(case, total(lately)),
                known=known.days,
                before=_value(case, total(before)),
                usual=_value(case, int(usual)),
                month=MONTH.days,
                large=_value(case, case.large),
                times=TIMES,
            ),
            rows=[*_rows(case, lately, gettext_noop("Deposit")), *_rows(case, before, gettext_noop("Deposit before"))],
        )


def _since(case: Case, sign: str, within: timedelta) -> datetime:
    """Return the start of the period: *within* back, but not before the sign was last found."""
    known = Significant.objects.filter(on=case.player, key__startswith=f"{sign}:", happened_at__lt=case.event.at)
    last = known.order_by("-happened_at").values_list("happened_at", flat=True).first()
    since = case.event.at - within
    return since if last is None else max(since, last)


def _deposits(case: Case, since: datetime, until: datetime | None = None) -> list[Movement]:
    """Return the player's deposits after *since* up to *until*, or up to the event, oldest first."""
    found = Event.objects.filter(on=case.player, kind__in=DEPOSITED, at__gt=since, at__lte=until or case.event.at)
    said = [(event.at, detection.data(event)) for event in found.order_by("at", "pk")]
    return [Movement(at, int(str(data["amount"])), f"payment {data['payment']}") for at, data in said]


def _first_deposit(case: Case) -> datetime | None:
    found = Event.objects.filter(on=case.player, kind__in=DEPOSITED).order_by("pk")
    return found.values_list("at", flat=True).first()


def _withdrawals(case: Case, since: datetime) -> list[Movement]:
    """Return the player's withdrawals from *since* to the event.

    Cancelled, refused and returned ones are left out.
    """
    number = int(case.player.removeprefix("player:"))
    found = Withdrawal.objects.filter(player=number, at__gte=since, at__lte=case.event.at)
    return [
        Movement(each.at, each.amount, str(each)) for each in found.exclude(status__in=TAKEN_BACK).order_by("at", "pk")
    ]


def _staked(case: Case, since: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(STAKED, [int(case.player.removeprefix("player:")), since, case.event.at])
        staked: int = cursor.fetchone()[0]
    return staked


def _rows(case: Case, movements: Sequence[Movement], what: str) -> list[dict[str, str]]:
    return [
        {
            detection.WHAT: what,
            gettext_noop("When (UTC)"): _moment(each.at),
            gettext_noop("Amount"): case.money(each.amount),
            gettext_noop("Number"): each.about,
        }
        for each in movements
    ]


def _found(case: Case, sign: str, *, title: str, amount: int, because: Stored, rows: Sequence[dict[str, str]]) -> Found:
    return Found(
        key=f"{sign}:{case.player}:{case.event.pk}",
        category=Category.LAUNDERING,
        weight=Weight.ALERT,
        on=case.player,
        title=title,
        happened_at=case.event.at,
        event=case.event.pk,
        currency=case.currency,
        amount=amount,
        because=because,
        rows=rows,
    )


def _value(case: Case, amount: int) -> dict[str, list[int | str]]:
    return {"money": [amount, case.currency]}


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
