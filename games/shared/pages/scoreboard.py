"""The scoreboard of the shoe on a shared table: roads, counts and shares.

It shows past results only: no cards left and no prediction (GLI-19 v3.0, 4.18.2). A round is
included once it is settled, unless it is void.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Outcome, TooFewCards, deal
from games.engine.roads import Bead, Regularity, Roads
from games.help.figures import percent
from games.labels import bet_name
from games.shared.state import State
from games.tables import roads_svg

BIG_COLUMNS = 14  # of the bead plate and the big road: as many as are readable in the column next to the table
LONG_COLUMNS = 36  # of big eye boy
SHORT_COLUMNS = 18  # of small road and cockroach pig, which share a line
PAIRS = ("player_pair", "banker_pair")


@dataclass(frozen=True)
class Share:
    """How often a result occurred, as a count and as a share of all rounds."""

    code: str
    name: str
    count: int
    share: str  # "45 %"


@dataclass(frozen=True)
class Road:
    """A drawn road and its name."""

    code: str
    name: str
    drawn: SafeString


@dataclass(frozen=True)
class ResultsView:
    """The content of the scoreboard, the same for everybody."""

    shoe_number: int | None
    rounds: int
    outcomes: tuple[Share, ...]
    pairs: tuple[Share, ...]  # where the game has bets on pairs
    roads: tuple[Road, ...]

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
        rounds=len(beads),
        outcomes=tuple(share(outcome.value) for outcome in Outcome),
        pairs=tuple(share(pair) for pair in PAIRS if pair in codes),
        roads=_roads(beads, variant, language),
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


def _roads(beads: Sequence[Bead], variant: Variant, language: str) -> tuple[Road, ...]:
    roads = Roads.of(beads)
    sides = {outcome: bet_name(variant, outcome.value, language) for outcome in Outcome}
    colours = {
        Regularity.RED: pgettext("a mark of a derived road", "red"),
        Regularity.BLUE: pgettext("a mark of a derived road", "blue"),
    }
    plate, big, eye, small, pig = road_names()
    long = (("eye", eye, roads.big_eye_boy, LONG_COLUMNS, roads_svg.Shape.RINGS),)
    short = (
        ("small", small, roads.small_road, SHORT_COLUMNS, roads_svg.Shape.DOTS),
        ("pig", pig, roads.cockroach_pig, SHORT_COLUMNS, roads_svg.Shape.SLASHES),
    )
    return (
        Road("plate", plate, roads_svg.bead_plate(roads.bead_plate, columns=BIG_COLUMNS, title=plate, names=sides)),
        Road("big", big, roads_svg.big_road(roads.big_road, columns=BIG_COLUMNS, title=big, names=sides)),
        *(
            Road(code, name, roads_svg.derived_road(road, columns=columns, title=name, names=colours, shape=shape))
            for code, name, road, columns, shape in (*long, *short)
        ),
    )


def road_names() -> tuple[str, str, str, str, str]:
    """Return the names of the five roads."""
    return _("Bead plate"), _("Big road"), _("Big eye boy"), _("Small road"), _("Cockroach pig")
