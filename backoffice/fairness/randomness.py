"""Randomness tests of dealt cards and whole shuffles."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any, Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.hours import rolled_until
from backoffice.fairness.randomness_chart import Chart, chart
from games.fairness.randomness import cards, hourly_counts
from games.fairness.randomness.judgement import Judged, OfCards, OfShuffles, Scope, judge
from games.fairness.randomness.statistics import Test
from games.labels import variant_label
from games.models import TableVersion
from games.variants import GAMES
from players.access import StaffRequest, staff_required
from players.date_field import Day
from wallet.models import Mode

SEE: Final = "games.view_returns"
SMALLEST: Final = 0.0001  # smallest p-value that is shown as a number
NAMES: Final = {slug: variant_label(game, "name", "en") for slug, game in GAMES.items()}


class _VersionField(forms.ModelChoiceField):
    def label_from_instance(self, obj: TableVersion) -> str:
        """Return the label of a version."""
        return f"{obj.table.name}, version {obj.number}"


class RandomnessForm(forms.Form):
    """Filter of rounds to test. An empty field means all; the default for money is real."""

    game = forms.ChoiceField(label="Game", required=False, choices=list(NAMES.items()))
    version = _VersionField(
        TableVersion.objects.select_related("table").order_by("table__name", "-number"),
        label="Version",
        required=False,
        empty_label="All",
    )
    mode = forms.ChoiceField(label="Money", required=False, choices=Mode.choices)
    since = Day("From (UTC)")
    until = Day("To, that day included")

    def scope(self) -> Scope:
        """Return the scope that the form asks for. An invalid form yields the defaults."""
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        since, until, version = asked.get("since"), asked.get("until"), asked.get("version")
        return Scope(
            mode=asked.get("mode") or Mode.REAL.value,
            variant=version.table.variant if version else asked.get("game") or next(iter(NAMES)),
            version=version.pk if version else None,
            since=since and datetime.combine(since, time(), UTC),
            until=until and datetime.combine(until, time.max, UTC),
        )


@dataclass(frozen=True)
class Line:
    """A test with its result in words. *tone* is the colour of its badge."""

    test: Test
    p: str
    verdict: str
    tone: str

    @property
    def sample(self) -> str:
        """Size of the sample, in words."""
        return f"{self.test.sample} {self.test.of.removesuffix('s') if self.test.sample == 1 else self.test.of}"


@dataclass(frozen=True)
class Group:
    """Tests of one kind, with a chart of the counts."""

    title: str
    words: str
    lines: list[Line]
    figure: str
    chart: Chart | None


@staff_required(SEE)
@require_safe
def staff_randomness(request: StaffRequest) -> HttpResponse:
    """Test the cards of a game or a version, and the shuffles of as many decks."""
    form = RandomnessForm(request.GET)
    scope = form.scope()
    judged = judge(scope)
    context = {
        "form": form,
        "scope": scope,
        "name": NAMES[scope.variant],
        "mode": Mode(scope.mode).label,
        "made": sum(test.p is not None for test in judged.tests),
        "alone": [test for test in judged.tests if test.fails and test not in judged.failing],
        "failing": judged.failing,
        "groups": list(_groups(judged)),
        "most": hourly_counts.MOST,
        "counted_until": rolled_until(hourly_counts.CARDS),
    }
    return render(request, "staff/randomness.html", context)


def _groups(judged: Judged) -> Iterator[Group]:
    yield from (_of_cards(part, judged) for part in judged.cards)
    yield from (_of_shuffles(part, judged) for part in judged.shuffles)


def _of_cards(part: OfCards, judged: Judged) -> Group:
    counted = part.counted
    shoe = "each from a shoe of its own" if counted.is_own_shoe else "from shoes dealt through"
    heap = counted.heaps.get(cards.FIRST_FOUR, cards.Heap())
    return Group(
        "Cards as they were dealt",
        f"{counted.rounds} round{'' if counted.rounds == 1 else 's'}, {shoe}, {_decks(counted.decks)}.",
        [_line(test, judged) for test in part.tests],
        "How often each card was among the first four of a round",
        chart(heap.counts, cards.expected(counted, cards.FIRST_FOUR), cards.spread(counted, cards.FIRST_FOUR)),
    )


def _of_shuffles(part: OfShuffles, judged: Judged) -> Group:
    counted = part.counted
    looked = f"{counted.shuffles} of {counted.public}" if counted.shuffles < counted.public else f"{counted.public}"
    seeds = "seed is" if counted.public == 1 else "seeds are"
    return Group(
        "Whole shuffles",
        f"{looked} whose {seeds} public, {_decks(counted.decks)}, at whatever table in this kind of money.",
        [_line(test, judged) for test in part.tests],
        "How often each card was the last of a shuffle",
        chart(counted.last, [counted.shuffles / cards.CARDS] * cards.CARDS),
    )


def _decks(number: int) -> str:
    return "1 deck" if number == 1 else f"{number} decks"


def _line(test: Test, judged: Judged) -> Line:
    if test.p is None:
        return Line(test, "–", "too few to say", "")
    written = f"{test.p:.4f}" if test.p >= SMALLEST else f"< {SMALLEST}"
    if test in judged.failing:
        return Line(test, written, "not what chance gives", "badge--off")
    if test.fails:
        return Line(test, written, "outside, by itself", "badge--brass")
    return Line(test, written, "as chance gives", "badge--on")
