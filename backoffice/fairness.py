"""Staff pages of fairness: tests of cards and shuffles, and the returns of games.

The chart shows how often each card came, as deviations from the expected count. Its lengths are per
cent of the chart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from math import sqrt
from statistics import NormalDist
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import Sum
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from audit.hours import rolled_until
from games.engine.cards import FULL_DECK
from games.engine.evidence import CONFIDENCE, LIMIT, rounds_to_find
from games.fairness.randomness import cards, hourly_counts
from games.fairness.randomness.judgement import Judged, OfCards, OfShuffles, Scope, judge
from games.fairness.randomness.statistics import LEAST_EXPECTED, LEVEL, Test
from games.fairness.returns.figures import Scope as ReturnScope
from games.fairness.returns.figures import charts, groups
from games.fairness.returns.monitor import HOURLY_TOTALS, set_stop
from games.labels import bet_name, variant_label
from games.models import ReturnsAlarm, StopPolicy, Table, TableVersion
from games.variants import GAMES, VARIANTS
from players.access import StaffRequest, staff_required
from players.datetime_format import Day
from players.login.current_user import actor
from wallet.models import Currency, Mode

MIDDLE: Final = 50.0
WIDTH: Final = 100 / len(FULL_DECK)
BAR: Final = 0.7  # part of a card's width
WIDEST: Final = NormalDist().inv_cdf(1 - LEVEL / 2)
"""Standard deviations from the mean that one card in a hundred exceeds by chance."""


@dataclass(frozen=True)
class CardBar:
    """One card: its count, the expected count, the deviation in standard deviations, and its bar."""

    card: str
    count: int
    expected: float
    away: float
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """Chart of all cards.

    By chance, 99 of 100 cards are between *low* and *high*. Half the chart's height is *reach*
    standard deviations.
    """

    bars: Sequence[CardBar]
    low: float
    high: float
    reach: float
    width: float = WIDTH * BAR

    @property
    def outside(self) -> int:
        """Number of cards outside the 99 per cent band."""
        return sum(abs(bar.away) > WIDEST for bar in self.bars)

    @property
    def band(self) -> float:
        """Height of the band in the chart."""
        return self.low - self.high


def chart(counts: Sequence[int], expected: Sequence[float], spread: float = 1.0) -> Chart | None:
    """Return a chart of the counts of the 52 cards, or None if there are too few to test.

    *spread* is that of `statistics.of_counts`.
    """
    whole = sum(expected)
    if min(expected) < LEAST_EXPECTED or spread <= 0:
        return None
    away = [
        (count - mean) / sqrt(mean * (1 - mean / whole) * spread) for count, mean in zip(counts, expected, strict=True)
    ]
    reach = max(WIDEST, *(abs(each) for each in away)) * 1.1
    scale = MIDDLE / reach
    bars = [
        CardBar(
            f"{card.code[0].replace('T', '10')}{card.suit.value[1]}",
            counts[number],
            expected[number],
            away[number],
            x=round((number + (1 - BAR) / 2) * WIDTH, 2),
            y=round(MIDDLE - max(away[number], 0) * scale, 2),
            height=round(abs(away[number]) * scale, 2),
        )
        for number, card in enumerate(FULL_DECK)
    ]
    return Chart(bars, round(MIDDLE + WIDEST * scale, 2), round(MIDDLE - WIDEST * scale, 2), reach)


SEE: Final = "games.view_returns"
SMALLEST: Final = 0.0001  # smallest p-value that is shown as a number
NAMES: Final = {slug: variant_label(game, "name", get_language() or "en") for slug, game in GAMES.items()}


class _VersionField(forms.ModelChoiceField):
    def label_from_instance(self, obj: TableVersion) -> str:
        """Return the label of a version."""
        return gettext("%(name)s, version %(number)s") % {"name": obj.table.name, "number": obj.number}


class RandomnessForm(forms.Form):
    """Filter of rounds to test. An empty field means all; the default for money is real."""

    game = forms.ChoiceField(label=gettext_lazy("Game"), required=False, choices=list(NAMES.items()))
    version = _VersionField(
        TableVersion.objects.select_related("table").order_by("table__name", "-number"),
        label=gettext_lazy("Version"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    mode = forms.ChoiceField(label=gettext_lazy("Money"), required=False, choices=Mode.choices)
    since = Day(gettext_lazy("From (UTC)"))
    until = Day(gettext_lazy("To (inclusive)"))

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
        number = self.test.sample
        match self.test.of:
            case "cards":
                return ngettext("%(count)s card", "%(count)s cards", number) % {"count": number}
            case "rounds":
                return ngettext("%(count)s round", "%(count)s rounds", number) % {"count": number}
            case _:
                return ngettext("%(count)s shuffle", "%(count)s shuffles", number) % {"count": number}


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
    shoe = gettext("each from its own shoe") if counted.is_own_shoe else gettext("from shoes dealt to the end")
    heap = counted.heaps.get(cards.FIRST_FOUR, cards.Heap())
    return Group(
        gettext("Dealt cards"),
        (
            ngettext(
                "%(rounds)s round, %(shoe)s, %(decks)s.", "%(rounds)s rounds, %(shoe)s, %(decks)s.", counted.rounds
            )
            % {"rounds": counted.rounds, "shoe": shoe, "decks": _decks(counted.decks)}
        ),
        [_line(test, judged) for test in part.tests],
        gettext("Frequency of each card among the first four of a round"),
        chart(heap.counts, cards.expected(counted, cards.FIRST_FOUR), cards.spread(counted, cards.FIRST_FOUR)),
    )


def _of_shuffles(part: OfShuffles, judged: Judged) -> Group:
    counted = part.counted
    shuffles = (
        (gettext("%(shuffles)s of %(public)s") % {"shuffles": counted.shuffles, "public": counted.public})
        if counted.shuffles < counted.public
        else f"{counted.public}"
    )

    return Group(
        gettext("Complete shuffles"),
        (
            gettext("With a public seed: %(looked)s, %(decks)s, at any table with this kind of money.")
            % {"looked": shuffles, "decks": _decks(counted.decks)}
        ),
        [_line(test, judged) for test in part.tests],
        gettext("Frequency of each card as the last of a shuffle"),
        chart(counted.last, [counted.shuffles / cards.CARDS] * cards.CARDS),
    )


def _decks(number: int) -> str:
    return gettext("1 deck") if number == 1 else (gettext("%(number)s decks") % {"number": number})


def _line(test: Test, judged: Judged) -> Line:
    if test.p is None:
        return Line(test, "–", gettext("not enough data"), "")
    written = number_format(f"{test.p:.4f}") if test.p >= SMALLEST else f"< {number_format(str(SMALLEST))}"
    if test in judged.failing:
        return Line(test, written, gettext("failed"), "badge--off")
    if test.fails:
        return Line(test, written, gettext("outside the band, single test"), "badge--brass")
    return Line(test, written, gettext("passed"), "badge--on")


CHOOSE: Final = "games.change_stoppolicy"
RETURN_NAMES: Final = {
    slug: variant_label(variant, "name", get_language() or "en") for slug, variant in VARIANTS.items()
}


class GameForm(forms.Form):
    """Filter of a game's rounds. An empty field means all; the default for money is real."""

    table = forms.ModelChoiceField(
        Table.objects.filter(variant__in=VARIANTS).order_by("name"),
        label=gettext_lazy("Table"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    mode = forms.TypedChoiceField(
        label=gettext_lazy("Money"),
        required=False,
        choices=Mode.choices,
        coerce=Mode,
        empty_value=Mode.REAL,
        initial=Mode.REAL,
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("Most played")), *((each, each) for each in Currency.values)],
    )
    since = Day(gettext_lazy("From (UTC)"))
    until = Day(gettext_lazy("To (inclusive)"))

    def __init__(self, data: Mapping[str, str], variant: str = "") -> None:
        super().__init__(data)
        if game := variant or data.get("game", ""):  # tables of other games have no rounds of this one
            self.fields["table"].queryset = Table.objects.filter(variant=game).order_by("name")  # type: ignore[attr-defined]

    def scope(self, variant: str = "") -> ReturnScope:
        """Return the scope that the form asks for. An invalid form yields all real-money play."""
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        since, until, table = asked.get("since"), asked.get("until"), asked.get("table")
        return ReturnScope(
            mode=asked.get("mode") or Mode.REAL,
            variant=asked.get("game") or variant,
            currency=asked.get("currency") or "",
            table=table.pk if table else None,
            since=since and datetime.combine(since, time(), UTC),
            until=until and datetime.combine(until, time.max, UTC),
        )


class ReturnsForm(GameForm):
    """Filter of the rounds of all games, optionally table by table."""

    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("All")), *((each, each) for each in Currency.values)],
    )
    game = forms.ChoiceField(
        label=gettext_lazy("Game"), required=False, choices=[("", gettext_lazy("All")), *RETURN_NAMES.items()]
    )
    apart = forms.BooleanField(label=gettext_lazy("Table by table"), required=False)
    field_order = ("game", "table", "mode", "currency", "since", "until", "apart")


class StopForm(forms.Form):
    """Form to choose whether an alarm closes tables, with the reason."""

    stops = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=300)


@staff_required(SEE)
@require_safe
def staff_returns(request: StaffRequest) -> HttpResponse:
    """Show the actual and expected return of every bet, and what an alarm does."""
    form = ReturnsForm(request.GET)
    scope = form.scope()
    context = {
        "form": form,
        "scope": scope,
        "groups": groups(scope, by_table=bool(form.is_valid() and form.cleaned_data["apart"])),
        "alarms": [(alarm, _alarm_lines(alarm)) for alarm in ReturnsAlarm.objects.order_by("-pk")],
        "policies": _policies(),
        "times": [
            (
                RETURN_NAMES[slug],
                [
                    (bet_name(game, bet.code, get_language() or "en"), rounds_to_find(game, bet.code))
                    for bet in game.bets
                ],
            )
            for slug, game in VARIANTS.items()
        ],
        "may_choose": request.user.has_perm(CHOOSE),
        **_words(),
    }
    return render(request, "staff/returns.html", context)


@staff_required(SEE)
@require_safe
def staff_returns_game(request: StaffRequest, variant: str) -> HttpResponse:
    """Show the return of each bet of a game over time, in one currency."""
    if variant not in VARIANTS:
        raise Http404
    form = GameForm(request.GET, variant)
    scope = form.scope(variant)
    if not scope.currency:
        # Currencies cannot be added up: use the currency with the most rounds.
        scope = replace(scope, currency=_busiest(scope))
    context = {
        "form": form,
        "scope": scope,
        "variant": variant,
        "rules_version": VARIANTS[variant].version,
        "charts": list(charts(scope)),
        **_words(),
    }
    return render(request, "staff/returns_game.html", context)


@staff_required(CHOOSE)
@require_POST
def staff_returns_stop(request: StaffRequest, variant: str) -> HttpResponse:
    """Set whether an alarm closes the tables of a game."""
    if variant not in VARIANTS:
        raise Http404
    form = StopForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_returns")
    text = (
        gettext("An alarm closes the tables of %(game)s")
        if form.cleaned_data["stops"]
        else gettext("An alarm closes no tables of %(game)s")
    )
    message = text % {"game": RETURN_NAMES[variant]}
    if set_stop(variant=variant, by=actor(request), **form.cleaned_data):
        messages.success(request, f"{message}.")
    else:
        messages.warning(
            request, gettext("%(message)s. This was already set; your reason was not recorded.") % {"message": message}
        )
    return redirect("staff_returns")


def _busiest(scope: ReturnScope) -> str:
    row = scope.money.values("currency").annotate(total=Sum("rounds")).order_by("-total", "currency").first()
    return row["currency"] if row else ""


def _policies() -> list[tuple[str, str, StopPolicy | None]]:
    said = StopPolicy.objects.in_bulk()
    return [(slug, name, said.get(slug)) for slug, name in RETURN_NAMES.items()]


def _alarm_lines(alarm: ReturnsAlarm) -> list[tuple[str, list[str]]]:
    """Return the alarm's figures for each bet, in the order of the table.

    Bets unknown to the game come last.
    """
    names = {
        bet.code: bet_name(VARIANTS[alarm.variant], bet.code, get_language() or "en")
        for bet in VARIANTS[alarm.variant].bets
    }
    known = [(name, alarm.bets[bet]) for bet, name in names.items() if bet in alarm.bets]
    return known + [(bet, said) for bet, said in alarm.bets.items() if bet not in names]


def _words() -> dict[str, object]:
    """Return the template context that both pages share."""
    return {
        "summed_until": rolled_until(HOURLY_TOTALS),
        "limit": LIMIT,
        "confidence": f"{CONFIDENCE:.0%}",
        "names": RETURN_NAMES,
    }
