"""Joint result of the randomness tests of a period, and the weekly test on record (GLI-19 v3.0,
3.2–3.3).
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

from django.db import connection, transaction
from django.db.models import Min

from audit import log
from audit.hours import rolled_until
from audit.models import Event
from audit.staff_text import marked
from games.fairness.randomness import cards, hourly_counts, shuffles
from games.fairness.randomness.cards import CardCounts
from games.fairness.randomness.shuffles import ShuffleCounts
from games.fairness.randomness.statistics import Test, failing_together
from games.models import CardHourlyTotal, ShuffleHourlyTotal, TableVersion

WEEK: Final = timedelta(days=7)
WEEKS: Final = 8  # tested in one run; the next run continues
LOCK: Final = 1021  # key of pg_advisory_xact_lock
TESTED: Final = "randomness.tested"
ALARM: Final = "randomness.alarm"

# Names of the tests: alarms hold them in English, and pages show them in the reader's language.
TEXTS: Final = (
    marked("finding", "Outcomes compared with exact probabilities"),
    marked("finding", "Runs of Banker and Player, without ties"),
    marked("finding", "Runs of high and low first cards, without sevens"),
    marked("finding", "First four cards of a round combined"),
    marked("finding", "Cards dealt first in a round"),
    marked("finding", "Cards dealt second in a round"),
    marked("finding", "Cards dealt third in a round"),
    marked("finding", "Cards dealt fourth in a round"),
    marked("finding", "Cards dealt fifth in a round"),
    marked("finding", "Cards dealt sixth in a round"),
    marked("finding", "Card position by thirteenths of the deck"),
    marked("finding", "Card position by thirteenths of the decks"),
    marked("finding", "The first card of a shuffle"),
    marked("finding", "The last card of a shuffle"),
    marked("finding", "Cards in the same position as before"),
    marked("finding", "Adjacent cards that were adjacent before"),
    marked("finding", "Cards followed by a higher position"),
    marked("finding", "Runs of red and black"),
)

ALARM_LEVEL: Final = 0.001
"""The probability that the tests of one table version and week raise a false alarm, all tests
together.

At 99 % confidence, each version would raise one every other year.
"""


@dataclass(frozen=True)
class Scope:
    """The tested rounds: one table version or all of a game, one kind of money, and a period.

    The period includes *since* and excludes *until*. None leaves it open.
    """

    mode: str
    variant: str
    version: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class OfCards:
    """Counts of cards dealt in one way, and their tests."""

    counted: CardCounts
    tests: Sequence[Test]


@dataclass(frozen=True)
class OfShuffles:
    """Counts of shuffles, and their tests."""

    counted: ShuffleCounts
    tests: Sequence[Test]


@dataclass(frozen=True)
class Judged:
    """All tests of a scope, and the tests that fail at 99 % jointly."""

    cards: Sequence[OfCards]
    shuffles: Sequence[OfShuffles]

    @cached_property
    def tests(self) -> list[Test]:
        """All tests."""
        return [*(t for part in self.cards for t in part.tests), *(t for part in self.shuffles for t in part.tests)]

    @cached_property
    def failing(self) -> tuple[Test, ...]:
        """The tests that fail jointly."""
        return failing_together(self.tests)


def judge(scope: Scope) -> Judged:
    """Test the cards of a scope, and all shuffles with the same number of decks, period and kind of
    money.
    """
    counted = _cards(scope)
    decks = sorted({each.decks for each in counted})
    found = [_shuffles(number, scope.mode, scope.since, scope.until) for number in decks]
    return Judged(
        cards=[OfCards(each, cards.tests(each)) for each in counted],
        shuffles=[OfShuffles(each, shuffles.tests(each)) for each in found if each.public],
    )


def _cards(scope: Scope) -> list[CardCounts]:
    """Add up the hours of a scope, by number of decks and by whether each round has a fresh
    shoe.
    """
    found = CardHourlyTotal.objects.filter(mode=scope.mode, version__table__variant=scope.variant)
    if scope.version is not None:
        found = found.filter(version=scope.version)
    if scope.since is not None:
        found = found.filter(hour__gte=scope.since)
    if scope.until is not None:
        found = found.filter(hour__lt=scope.until)
    kinds: defaultdict[tuple[int, bool, bool], list[CardCounts]] = defaultdict(list)
    for rounds, counts in found.order_by("hour", "version").values_list("rounds", "counts"):
        each = CardCounts.parse(rounds, counts)
        kinds[each.kind].append(each)
    return [cards.together(kinds[kind]) for kind in sorted(kinds)]


def _shuffles(decks: int, mode: str, since: datetime | None, until: datetime | None) -> ShuffleCounts:
    found = ShuffleHourlyTotal.objects.filter(decks=decks, mode=mode)
    if since is not None:
        found = found.filter(hour__gte=since)
    if until is not None:
        found = found.filter(hour__lt=until)
    hours = found.order_by("hour").values_list("shuffles", "counts")
    return shuffles.together(decks, [ShuffleCounts.parse(decks, number, counts) for number, counts in hours])


def check_randomness() -> int:
    """Test every finished and counted week once.

    Return the number of weeks tested.

    Concurrent calls test a week only once.
    """
    for tested in range(WEEKS):
        if not _check_next():
            return tested
    return WEEKS


@transaction.atomic
def _check_next() -> bool:
    """Test the next week. Return False if there is none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    since = _next_week()
    counted = [rolled_until(sums) for sums in (hourly_counts.CARDS, hourly_counts.SHUFFLES)]
    if since is None or any(until is None or until - since < WEEK for until in counted):
        return False
    families = [*_card_families(since), *_shuffle_families(since)]
    for on, about, tests in families:
        _raise_alarm(on, about | _facts(since), tests)
    made = sum(test.p is not None for _, _, tests in families for test in tests)
    facts: dict[str, log.Json] = {"families": len(families), "tests": made}
    log.record(TESTED, by="system", on="randomness", data=facts | _facts(since))
    return True


def _next_week() -> datetime | None:
    """Return the start of the first week with counts after the last tested week."""
    last = Event.objects.filter(kind=TESTED).order_by("-id").first()
    after = datetime.min.replace(tzinfo=UTC)
    if last is not None:
        after = datetime.fromisoformat(json.loads(bytes(last.body))["data"]["week"]).replace(tzinfo=UTC) + WEEK
    found = (
        model.objects.filter(hour__gte=after).aggregate(first=Min("hour"))["first"]
        for model in (CardHourlyTotal, ShuffleHourlyTotal)
    )
    first = min((hour for hour in found if hour is not None), default=None)
    return None if first is None else beginning_of_week(first)


def beginning_of_week(moment: datetime) -> datetime:
    """Return the Monday, 00:00 UTC, of the week of *moment*."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


Family = tuple[str, dict[str, log.Json], Sequence[Test]]
"""The subject of a group of tests as events name it, more facts about it, and the tests."""


def _card_families(since: datetime) -> list[Family]:
    of = (
        CardHourlyTotal.objects.filter(hour__gte=since, hour__lt=since + WEEK)
        .values_list("version_id", "mode")
        .distinct()
    )
    variants = dict(TableVersion.objects.values_list("pk", "table__variant"))
    found: list[Family] = []
    for version, mode in sorted(of):
        counted = _cards(Scope(mode, variants[version], version, since, since + WEEK))
        tests = [test for each in counted for test in cards.tests(each)]
        found.append((f"table_version:{version}", {"mode": mode, "variant": variants[version]}, tests))
    return found


def _shuffle_families(since: datetime) -> list[Family]:
    of = (
        ShuffleHourlyTotal.objects.filter(hour__gte=since, hour__lt=since + WEEK)
        .values_list("decks", "mode")
        .distinct()
    )
    return [
        (f"decks:{decks}", {"mode": mode}, shuffles.tests(_shuffles(decks, mode, since, since + WEEK)))
        for decks, mode in sorted(of)
    ]


def _facts(since: datetime) -> dict[str, log.Json]:
    return {"week": since.date().isoformat()}


def _raise_alarm(on: str, about: dict[str, log.Json], tests: Sequence[Test]) -> None:
    """Record an alarm if tests fail jointly at the alarm level."""
    failing = failing_together(tests, ALARM_LEVEL)
    if failing:
        said: list[log.Json] = [
            {"test": test.name, "statistic": f"{test.statistic:.4g}", "p": f"{test.p:.3g}", "sample": test.sample}
            for test in failing
        ]
        log.record(ALARM, by="system", on=on, data=about | {"tests": said})
