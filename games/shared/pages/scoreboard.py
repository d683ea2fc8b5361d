"""The scoreboard of the shoe on a shared table: roads, counts and shares.

It shows past results only: no cards left and no prediction (GLI-19 v3.0, 4.18.2). A round is
included once it is settled, unless it is void.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from uuid import UUID

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Outcome, TooFewCards, deal
from games.engine.roads import (
    BIG_EYE_BOY,
    COCKROACH_PIG,
    SMALL_ROAD,
    Bead,
    GoodRoad,
    Regularity,
    Roads,
    big_road,
    good_road,
    next_marks,
)
from games.help.figures import percent
from games.labels import bet_name
from games.shared.state import State
from games.tables import roads_svg
from games.variants import VARIANTS

BIG_COLUMNS = 14  # of the bead plate and the big road: as many as are readable in the column next to the table
LONG_COLUMNS = 36  # of big eye boy
SHORT_COLUMNS = 18  # of small road and cockroach pig, which share a line
HELP_COLUMNS = 8  # of the pictures of good roads
PAIRS = ("player_pair", "banker_pair")


@dataclass(frozen=True)
class Share:
    """Frequency of a result, as a count and as a share of all rounds."""

    code: str
    name: str
    count: int
    share: str  # "45 %"


@dataclass(frozen=True)
class Asked:
    """The mark that a derived road would get if a side won next. ``drawn`` is empty where it gets none."""

    side: str  # "Player"
    said: str  # "red", "no mark"
    drawn: SafeString


@dataclass(frozen=True)
class Road:
    """A drawn road and its name."""

    code: str
    name: str
    drawn: SafeString
    asked: tuple[Asked, ...] = ()  # the next-road ask of a derived road, Player first


@dataclass(frozen=True)
class ResultsView:
    """The content of the scoreboard, the same for everybody."""

    shoe_number: int | None
    shoe_id: UUID | None
    rounds: int
    outcomes: tuple[Share, ...]
    pairs: tuple[Share, ...]  # where the game has bets on pairs
    roads: tuple[Road, ...]
    good_road: str  # the name of the shape of the latest streaks; "" if they have none

    @property
    def figures(self) -> tuple[tuple[str, int, str, str, str, str], ...]:
        """The outcomes as segments of a pie chart."""
        return tuple((e.name, e.count, str(e.count), e.code, e.name[:1], e.share) for e in self.outcomes)


def results_view(state: State, language: str) -> ResultsView:
    """Return the scoreboard of the shoe on the table."""
    beads, variant = beads_of(state.results), state.variant
    codes = {bet.code for bet in variant.bets}
    counted = Counter(bead.outcome.value for bead in beads)
    counted.update({"player_pair": sum(bead.player_pair for bead in beads)})
    counted.update({"banker_pair": sum(bead.banker_pair for bead in beads)})

    def share(code: str) -> Share:
        part = percent(Fraction(counted[code], len(beads)), language, 0) if beads else ""
        return Share(code, bet_name(variant, code, language), counted[code], part)

    return ResultsView(
        shoe_number=state.shoe.number if state.shoe else None,
        shoe_id=state.shoe.id if state.shoe else None,
        rounds=len(beads),
        outcomes=tuple(share(outcome.value) for outcome in Outcome),
        pairs=tuple(share(pair) for pair in PAIRS if pair in codes),
        roads=roads_of(beads, variant, language),
        good_road=good_road_label(good_road(beads)),
    )


def beads_of(results: str) -> tuple[Bead, ...]:
    """Return the beads of rounds whose cards are given in the form of `State.results`."""
    beads = (_bead(cards) for cards in results.split(",") if cards)
    return tuple(bead for bead in beads if bead)


@lru_cache(maxsize=4096)
def _bead(cards: str) -> Bead | None:
    """Return the bead of a round; None where the cards make no coup.

    Cached: a scoreboard repeats the rounds of the one before and adds one.
    """
    try:
        return Bead.of(deal([Card.parse(code) for code in cards.split()]))
    except (CardError, TooFewCards):
        return None


def roads_of(beads: Sequence[Bead], variant: Variant, language: str) -> tuple[Road, ...]:
    """Return the five roads of a shoe, drawn, with the next-road ask of the derived ones."""
    roads = Roads.of(beads)
    sides = {outcome: bet_name(variant, outcome.value, language) for outcome in Outcome}
    colours = regularity_names()
    plate, big, eye, small, pig = road_names()
    derived = (
        ("eye", eye, roads.big_eye_boy, BIG_EYE_BOY, LONG_COLUMNS, roads_svg.Shape.RINGS),
        ("small", small, roads.small_road, SMALL_ROAD, SHORT_COLUMNS, roads_svg.Shape.DOTS),
        ("pig", pig, roads.cockroach_pig, COCKROACH_PIG, SHORT_COLUMNS, roads_svg.Shape.SLASHES),
    )

    def asked(back: int, shape: roads_svg.Shape) -> tuple[Asked, ...]:
        marks = zip((Outcome.PLAYER, Outcome.BANKER), next_marks(beads, back), strict=True)
        return tuple(
            Asked(sides[side], colours[what], roads_svg.sign(what, shape))
            if what
            else Asked(sides[side], pgettext("on a derived road", "no mark"), SafeString())
            for side, what in marks
        )

    return (
        Road("plate", plate, roads_svg.bead_plate(roads.bead_plate, columns=BIG_COLUMNS, title=plate, names=sides)),
        Road("big", big, roads_svg.big_road(roads.big_road, columns=BIG_COLUMNS, title=big, names=sides)),
        *(
            Road(
                code,
                name,
                roads_svg.derived_road(road, columns=columns, title=name, names=colours, shape=shape),
                asked(back, shape),
            )
            for code, name, road, back, columns, shape in derived
        ),
    )


def road_names() -> tuple[str, str, str, str, str]:
    """Return the names of the five roads."""
    return _("Bead plate"), _("Big road"), _("Big eye boy"), _("Small road"), _("Cockroach pig")


def regularity_names() -> dict[Regularity, str]:
    """Return the names of the marks of derived roads."""
    return {
        Regularity.RED: pgettext("a mark of a derived road", "red"),
        Regularity.BLUE: pgettext("a mark of a derived road", "blue"),
    }


def good_road_label(road: GoodRoad | None) -> str:
    """Return the name of a good road in the active language; "" for none."""
    match road:
        case GoodRoad.DRAGON_TAIL:
            return pgettext("a good road", "Dragon tail")
        case GoodRoad.LONG_BANKER:
            return pgettext("a good road", "Long Banker")
        case GoodRoad.LONG_PLAYER:
            return pgettext("a good road", "Long Player")
        case GoodRoad.PING_PONG:
            return pgettext("a good road", "Ping-pong")
        case GoodRoad.TWO_TWO:
            return pgettext("a good road", "Two-two")
        case GoodRoad.ONE_TWO:
            return pgettext("a good road", "One-two")
        case GoodRoad.PAIRS:
            return pgettext("a good road", "Two or more")
    return ""


EXAMPLES: dict[GoodRoad, str] = {
    GoodRoad.DRAGON_TAIL: "BBBBBBBBBPPPPPPP",
    GoodRoad.LONG_BANKER: "PBBBB",
    GoodRoad.LONG_PLAYER: "BPPPP",
    GoodRoad.PING_PONG: "PBPB",
    GoodRoad.TWO_TWO: "PPBBPP",
    GoodRoad.ONE_TWO: "PBBPBB",
    GoodRoad.PAIRS: "PPBBBPPBBB",
}
"""A shoe for the picture of each good road. That of the dragon tail shows both of its turns: at the
bottom, and above the tail of another streak.
"""


@dataclass(frozen=True)
class Pictured:
    """A good road as the help shows it."""

    name: str
    rule: str
    drawn: SafeString


def pictured_good_roads(language: str) -> tuple[Pictured, ...]:
    """Return the name, the rule and a picture of every good road, in the active language."""
    sides = {outcome: bet_name(next(iter(VARIANTS.values())), outcome.value, language) for outcome in Outcome}
    outcomes = {"P": Outcome.PLAYER, "B": Outcome.BANKER}

    def drawn(road: GoodRoad) -> SafeString:
        marks = big_road([Bead(outcomes[letter]) for letter in EXAMPLES[road]])
        title = good_road_label(road)
        return roads_svg.big_road(marks, columns=HELP_COLUMNS, title=title, names=sides)

    return tuple(Pictured(good_road_label(road), _rule(road), drawn(road)) for road in GoodRoad)


def _rule(road: GoodRoad) -> str:
    match road:
        case GoodRoad.DRAGON_TAIL:
            return _(
                "At least seven wins in a row. At the bottom, or above the tail of another streak, a streak turns "
                "right and stays in that row. However long it is, the derived roads count it as one column."
            )
        case GoodRoad.LONG_BANKER:
            return _("Banker has won four to six times in a row.")
        case GoodRoad.LONG_PLAYER:
            return _("Player has won four to six times in a row.")
        case GoodRoad.PING_PONG:
            return _("At least four streaks of exactly one win.")
        case GoodRoad.TWO_TWO:
            return _("At least three streaks of exactly two wins.")
        case GoodRoad.ONE_TWO:
            return _("At least four streaks of one and two wins in turn.")
    return _("At least four streaks of two or more wins.")
