"""Actual and exact returns of bets by game, rules version, bet and currency, and their course over
time.

Figures can also be split by table.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from math import log
from typing import Any, Final

from django.db.models import Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Trunc
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext

from games.engine.bets import Variant
from games.engine.evidence import LIMIT, OTHER, BetTest, bet_test, half_width, rounds_to_find
from games.fairness.returns.monitor import written
from games.labels import bet_name
from games.models import BetHourlyTotal, Evidence, ReturnsAlarm
from games.variants import VARIANTS
from wallet.models import Mode

FULL: Final = 100.0
# Share of the final stakes. Earlier points do not affect the scale, because they vary too much.
SETTLED: Final = 0.2
ROOM: Final = 1.15


@dataclass(frozen=True)
class Step:
    """Stakes and payouts of a bet in one time step, such as an hour or a day.

    Minor units.

    Steps can be added.
    """

    begins: datetime
    rounds: int
    staked: int
    paid: int
    squares: int

    def __add__(self, later: "Step") -> "Step":
        return Step(
            later.begins,
            self.rounds + later.rounds,
            self.staked + later.staked,
            self.paid + later.paid,
            self.squares + later.squares,
        )


@dataclass(frozen=True)
class Point:
    """The totals up to the end of a step. Returns are in percent."""

    begins: datetime
    rounds: int
    actual: float
    low: float
    high: float

    @property
    def is_inside(self) -> bool:
        """True if the actual return is within its band."""
        return self.low <= self.actual <= self.high

    @property
    def says(self) -> bool:
        """True if there are enough rounds for a band with a lower end above zero."""
        return self.low > 0


@dataclass(frozen=True)
class Chart:
    """A chart in a square of 100 by 100: points from left to right, and the shapes drawn.

    *band* is an outline, *actual* a line, and *middle* the vertical position of the exact return,
    measured from the top. *top*, *bottom* and *exact* are in percent. Values beyond *top* or
    *bottom* are drawn at the edge.
    """

    by: str
    points: Sequence[Point]
    exact: float
    top: float
    bottom: float
    middle: str
    band: str
    actual: str


def chart(test: BetTest, steps: Sequence[Step], *, by: str) -> Chart:
    """Return the chart of a bet for at least one step, in the order of time.

    *by* is the length of a step, such as "hour" or "day".
    """
    exact = FULL * float(1 + test.mean)
    sums = list(accumulate(steps, Step.__add__))
    points = [_point(test, each, exact) for each in sums]
    settled = [point for point, each in zip(points, sums, strict=True) if each.staked >= SETTLED * sums[-1].staked]
    reach = ROOM * max(max(abs(each.actual - exact), each.high - exact) for each in settled)
    top, bottom = exact + reach, max(exact - reach, 0)
    if len(points) == 1:
        points = [*points, *points]

    def height(share: float) -> str:
        return f"{min(max(FULL * (top - share) / (top - bottom), 0), FULL):.2f}"

    def line(shares: Sequence[float]) -> list[str]:
        return [f"{FULL * at / (len(points) - 1):.2f},{height(share)}" for at, share in enumerate(shares)]

    outline = line([each.high for each in points]) + line([each.low for each in points])[::-1]
    return Chart(
        by=by,
        points=points[: len(sums)],
        exact=exact,
        top=top,
        bottom=bottom,
        middle=height(exact),
        band=" ".join(outline),
        actual=" ".join(line([each.actual for each in points])),
    )


def _point(test: BetTest, sums: Step, exact: float) -> Point:
    width = FULL * half_width(test.variance, staked=sums.staked, squares=sums.squares)
    high = min(exact + width, FULL * test.most)
    return Point(sums.begins, sums.rounds, FULL * sums.paid / sums.staked, max(exact - width, 0), high)


STEPS: Final = (("hour", 1), ("day", 24), ("week", 7 * 24))  # steps of charts, in hours
LONGEST: Final = "month"  # the step for longer periods
MOST: Final = 60  # steps of a chart
HOURLY_TOTALS: Final = {each: Sum(each) for each in ("rounds", "staked", "paid", "squares")}


@dataclass(frozen=True)
class Scope:
    """The selected totals. None and "" mean all."""

    mode: Mode
    variant: str = ""
    currency: str = ""
    table: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def rounds(self) -> Q:
        """The condition on rows without a currency."""
        asked = {
            "version__table__variant": self.variant,
            "version__table": self.table,
            "hour__gte": self.since,
            "hour__lt": self.until,
        }
        return Q(
            mode=self.mode,
            version__table__variant__in=VARIANTS,
            **{field: value for field, value in asked.items() if value},
        )

    @property
    def money(self) -> QuerySet[BetHourlyTotal]:
        """The selected rows with money."""
        found = BetHourlyTotal.objects.filter(self.rounds)
        return found.filter(currency=self.currency) if self.currency else found


@dataclass(frozen=True)
class Line:
    """One bet in one currency, and at one table if figures are split by table.

    Amounts are in minor units. *actual*, *exact*, *band* (in percent) and *evidence* are texts; ""
    means unknown. *deviation* is the distance of the actual return from the exact one in half-widths of
    the band: 1 is the upper end.
    """

    table: str
    bet: str
    currency: str
    rounds: int
    staked: int
    paid: int
    actual: str
    exact: str
    band: str
    evidence: str
    is_odd: bool
    verdict: str
    deviation: float | None


@dataclass(frozen=True)
class Group:
    """A game under one version of its rules, and its lines.

    *alarm* covers the whole life of the version, whatever the scope.
    """

    variant: str
    rules_version: str
    rules_digest: str
    is_known: bool  # this release has these rules
    alarm: ReturnsAlarm | None
    lines: Sequence[Line]


def groups(scope: Scope, *, by_table: bool = False) -> list[Group]:
    """Return the groups of *scope*, in the order of games, with bets in the order of the table."""
    place = ["version__table__name"] if by_table else []
    rows = (
        scope.money.values("version__table__variant", "version__rules_digest", "bet", "currency", *place)
        .annotate(rules_version=Max("version__rules_version"), **HOURLY_TOTALS)
        .order_by()
    )
    ended = _endings(scope, place)
    lines: dict[tuple[str, str], list[tuple[tuple[str, int, str], Line]]] = defaultdict(list)
    versions: dict[tuple[str, str], str] = {}
    for row in rows:
        key = slug, digest = row["version__table__variant"], row["version__rules_digest"]
        versions[key] = max(versions.get(key, ""), row["rules_version"])
        variant, table = VARIANTS[slug], row.get("version__table__name", "")
        endings = ended.get((slug, digest, row["bet"], table), {})
        order = (table, _place(variant, row["bet"]), row["currency"])
        lines[key].append((order, _line(variant, row, table, endings, is_known=variant.digest == digest)))
    alarms = {(each.variant, each.rules_digest): each for each in ReturnsAlarm.objects.filter(mode=scope.mode)}
    order_of = list(VARIANTS).index
    return [
        Group(
            variant=slug,
            rules_version=versions[slug, digest],
            rules_digest=digest,
            is_known=VARIANTS[slug].digest == digest,
            alarm=alarms.get((slug, digest)),
            lines=[line for _order, line in sorted(lines[slug, digest], key=lambda each: each[0])],
        )
        for slug, digest in sorted(lines, key=lambda key: (order_of(key[0]), VARIANTS[key[0]].digest != key[1], key[1]))
    ]


def charts(scope: Scope) -> Iterator[tuple[str, Chart]]:
    """Yield the chart of each bet placed under the current rules, for the one game and currency in
    *scope*.
    """
    variant = VARIANTS[scope.variant]
    rows = scope.money.filter(version__rules_digest=variant.digest)
    span = rows.aggregate(first=Min("hour"), last=Max("hour"))
    if span["first"] is None:
        return
    hours = (span["last"] - span["first"]).total_seconds() / 3_600 + 1
    step = next((name for name, length in STEPS if hours / length <= MOST), LONGEST)
    keys = ["bet", "step"]
    sums = rows.annotate(step=Trunc("hour", step)).values(*keys).annotate(**HOURLY_TOTALS).order_by("step")
    steps: dict[str, list[Step]] = defaultdict(list)
    for row in sums:
        steps[row["bet"]].append(
            Step(row["step"], row["rounds"], row["staked"], row["paid"], squares=int(row["squares"]))
        )
    for bet in variant.bets:
        if bet.code in steps:
            yield (
                bet_name(variant, bet.code, get_language() or "en"),
                chart(bet_test(variant, bet.code), steps[bet.code], by=step),
            )


def percent(share: float) -> str:
    """Format a share of one in percent."""
    return number_format(f"{share * 100:.2f}")


def _endings(scope: Scope, place: Sequence[str]) -> Mapping[tuple[str, str, str, str], Mapping[str, int]]:
    """Return the counts of endings by game, rules, bet and table."""
    found: dict[tuple[str, str, str, str], dict[str, int]] = defaultdict(dict)
    fields = ("version__table__variant", "version__rules_digest", "bet", "gain")
    for row in Evidence.objects.filter(scope.rounds).values(*fields, *place).annotate(count=Sum("rounds")).order_by():
        slug, digest, bet, gain = (row[field] for field in fields)
        found[slug, digest, bet, row.get("version__table__name", "")][gain] = row["count"]
    return found


def _place(variant: Variant, bet: str) -> int:
    codes = [each.code for each in variant.bets]
    return codes.index(bet) if bet in codes else len(codes)


def _line(variant: Variant, row: Mapping[str, Any], table: str, endings: Mapping[str, int], *, is_known: bool) -> Line:
    actual = row["paid"] / row["staked"]
    exact = band = evidence = ""
    has_bet = _place(variant, row["bet"]) < len(variant.bets)
    deviation: float | None = None
    is_odd, verdict = False, gettext("Rules no longer installed; no comparison possible.")
    if is_known and not has_bet:
        is_odd, verdict = True, gettext("Not a bet of this game.")
    elif is_known:
        test = bet_test(variant, row["bet"])
        width = half_width(test.variance, staked=row["staked"], squares=int(row["squares"]))
        low, high = max(0.0, float(1 + test.mean) - width), min(float(1 + test.mean) + width, test.most)
        deviation = (actual - float(1 + test.mean)) / width if width else None
        exact, band = percent(float(1 + test.mean)), f"{percent(low)} – {percent(high)}" if low else ""
        evidence = written(test.log_evidence(endings))
        is_odd, verdict = _verdict(
            test,
            endings,
            is_inside=low <= actual <= high if low else None,
            still=rounds_to_find(variant, row["bet"]) - row["rounds"],
        )
    return Line(
        table=table,
        bet=bet_name(variant, row["bet"], get_language() or "en") if has_bet else row["bet"],
        currency=row["currency"],
        rounds=row["rounds"],
        staked=row["staked"],
        paid=row["paid"],
        actual=percent(actual),
        exact=exact,
        band=band,
        evidence=evidence,
        is_odd=is_odd,
        verdict=verdict,
        deviation=deviation,
    )


def _verdict(test: BetTest, endings: Mapping[str, int], *, is_inside: bool | None, still: int) -> tuple[bool, str]:
    """Return whether a bet needs attention, and the sentence about it.

    Only the rounds of this bet count; an alarm takes all bets of the game into account. *is_inside*
    is None if the band reaches down to zero.
    """
    if endings.get(OTHER):
        return True, gettext("Impossible payout. Check the rounds of this bet.")
    if test.log_evidence(endings) >= log(LIMIT):
        return True, gettext("Very unlikely by chance. Investigate.")
    if is_inside is None:
        return False, gettext("Too few rounds.")
    if not is_inside:
        return True, gettext("Outside the band, as one figure in a hundred is by chance.")
    if still > 0:
        return (
            False,
            (
                gettext(
                    "Inside the band. A deviation of two percentage points would be detected within "
                    "%(still)s more rounds."
                )
                % {"still": f"{still:,}"}
            ),
        )
    return False, gettext("Inside the band.")
