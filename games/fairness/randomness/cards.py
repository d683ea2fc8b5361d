"""Counts of the cards dealt in rounds, and the tests of these counts (GLI-19 v3.0, 3.2–3.3).

Cards of one shoe are drawn without replacement, so they are not independent. The counts of a shoe
are closer to their mean than those of independent draws: for *n* of *N* cards by the factor (N −
n)/(N − 1). This holds for any choice of the counted cards, if the choice does not depend on their
values (predictable sampling theorem). Chi-square is divided by the resulting factor of all shoes
together. Rounds of a shared table are counted shoe by shoe.

A fifth or sixth card is dealt only if the first four cards require it. If every round has a fresh
shoe, the exact probabilities of these cards follow. In a shoe that is dealt through, the fifth
cards are distributed like any other cards.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement, groupby
from typing import Any, Final

from games.engine.cards import FULL_DECK, Card
from games.engine.coup import NATURALS, Outcome, TooFewCards, banker_draws, deal, player_draws
from games.engine.odds import count_outcomes
from games.fairness.randomness.statistics import Runs, Test, count_runs, of_counts, of_runs

CARDS: Final = len(FULL_DECK)
NUMBER: Final = {card.code: number for number, card in enumerate(FULL_DECK)}
POSITIONS: Final = 6
ALWAYS: Final = 4  # cards dealt in every round
FIRST_FOUR: Final = "first four"
LOW: Final = frozenset(NUMBER[card.code] for card in FULL_DECK if card.rank.value[0] in "A23456")
HIGH: Final = frozenset(NUMBER[card.code] for card in FULL_DECK if card.rank.value[0] in "89TJQK")
OUTCOMES: Final = tuple(str(each.value) for each in Outcome)


@dataclass(frozen=True)
class Dealt:
    """The counted data of a round: its card codes in dealing order, and the shoe."""

    shoe: object
    cards: str


@dataclass(frozen=True)
class Heap:
    """The counts of the 52 cards, and their spread: the sum of n(N − n) over shoes with n of N
    cards counted.
    """

    counts: tuple[int, ...] = (0,) * CARDS
    spread: int = 0


@dataclass(frozen=True)
class CardCounts:
    """The counts of rounds from shoes with this number of decks."""

    decks: int
    is_own_shoe: bool  # each round has a fresh shoe
    follows_tableau: bool  # no decision of a player affects the third cards
    rounds: int = 0
    heaps: Mapping[str, Heap] = field(default_factory=dict)  # by position, "1" to "6", and FIRST_FOUR
    outcomes: Mapping[str, int] = field(default_factory=dict)
    outcome_runs: Sequence[Runs] = ()
    card_runs: Sequence[Runs] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON-compatible data."""
        return {
            "decks": self.decks,
            "own_shoe": self.is_own_shoe,
            "tableau": self.follows_tableau,
            "heaps": {name: [heap.spread, *heap.counts] for name, heap in self.heaps.items()},
            "outcomes": dict(self.outcomes),
            "outcome_runs": [[row.ones, row.others, row.runs] for row in self.outcome_runs],
            "card_runs": [[row.ones, row.others, row.runs] for row in self.card_runs],
        }

    @classmethod
    def parse(cls, rounds: int, stored: Mapping[str, Any]) -> "CardCounts":
        """Read the data that `as_json` returns."""
        return cls(
            decks=stored["decks"],
            is_own_shoe=stored["own_shoe"],
            follows_tableau=stored["tableau"],
            rounds=rounds,
            heaps={name: Heap(tuple(counts), spread) for name, (spread, *counts) in stored["heaps"].items()},
            outcomes=stored["outcomes"],
            outcome_runs=[Runs(*row) for row in stored["outcome_runs"]],
            card_runs=[Runs(*row) for row in stored["card_runs"]],
        )

    @property
    def kind(self) -> tuple[int, bool, bool]:
        """The key by which counts may be added up."""
        return self.decks, self.is_own_shoe, self.follows_tableau


def count(rounds: Iterable[Dealt], *, decks: int, is_own_shoe: bool, follows_tableau: bool) -> CardCounts:
    """Count rounds in dealing order, grouped by shoe.

    Each shoe with many rounds is a sequence of its own; rounds with a fresh shoe each form one
    sequence. Rounds with invalid cards are omitted, and incomplete rounds have no outcome.
    Verification finds such rounds; they must not stop the count.
    """
    rows = [dealt for dealt in rounds if all(code in NUMBER for code in dealt.cards.split())]
    parts = [rows] if is_own_shoe else [list(part) for _, part in groupby(rows, key=lambda row: row.shoe)]
    kind = CardCounts(decks, is_own_shoe, follows_tableau)
    return together([kind, *(_count_part(part, kind) for part in parts if part)])


def together(counted: Sequence[CardCounts]) -> CardCounts:
    """Add up the counts of at least one part. All parts must have the same kind."""
    return CardCounts(
        *counted[0].kind,
        rounds=sum(each.rounds for each in counted),
        heaps={
            name: _one_heap([each.heaps[name] for each in counted if name in each.heaps]) for name in _names(counted)
        },
        outcomes=sum((Counter(each.outcomes) for each in counted), Counter()),
        outcome_runs=[row for each in counted for row in each.outcome_runs],
        card_runs=[row for each in counted for row in each.card_runs],
    )


def _names(counted: Sequence[CardCounts]) -> list[str]:
    return sorted({name for each in counted for name in each.heaps})


def _one_heap(heaps: Sequence[Heap]) -> Heap:
    counts = tuple(map(sum, zip(*(heap.counts for heap in heaps), strict=True)))
    return Heap(counts, sum(heap.spread for heap in heaps))


def _count_part(part: Sequence[Dealt], kind: CardCounts) -> CardCounts:
    """Count one sequence of rounds."""
    found = [_outcome(dealt.cards) for dealt in part] if kind.follows_tableau else []
    outcomes = [each for each in found if each is not None]
    firsts = [NUMBER[dealt.cards[:2]] for dealt in part]
    decided = [each is Outcome.BANKER for each in outcomes if each is not Outcome.TIE]
    return CardCounts(
        kind.decks,
        kind.is_own_shoe,
        kind.follows_tableau,
        rounds=len(part),
        heaps=_heaps(part, kind),
        outcomes=Counter(each.value for each in outcomes),
        outcome_runs=[count_runs(decided)] if decided else [],
        card_runs=[count_runs([card in HIGH for card in firsts if card in HIGH or card in LOW])],
    )


def _heaps(part: Sequence[Dealt], kind: CardCounts) -> dict[str, Heap]:
    rows = [dealt.cards.split() for dealt in part]
    came = {
        str(place): Counter(row[place - 1] for row in rows if len(row) >= place) for place in range(1, POSITIONS + 1)
    }
    came[FIRST_FOUR] = sum((came[str(place)] for place in range(1, ALWAYS + 1)), Counter())
    return {
        name: Heap(tuple(codes[card.code] for card in FULL_DECK), _spread(name, codes.total(), kind))
        for name, codes in came.items()
        if codes
    }


def _spread(name: str, counted: int, kind: CardCounts) -> int:
    """Return the sum of n(N - n) over the shoes of one sequence."""
    cards = kind.decks * CARDS
    if not kind.is_own_shoe:
        return counted * (cards - counted)
    of_each = ALWAYS if name == FIRST_FOUR else 1
    return counted * (cards - of_each)


def _outcome(cards: str) -> Outcome | None:
    try:
        return deal(Card.parse(code) for code in cards.split()).outcome
    except TooFewCards:
        return None


def tests(counted: CardCounts) -> list[Test]:
    """Return the tests of the counts, each at 99 %.

    For all together, see `statistics.failing_together`.
    """
    made = [_test_heap(counted, name) for name in (FIRST_FOUR, *map(str, range(1, POSITIONS + 1)))]
    if counted.follows_tableau:
        ways = count_outcomes(counted.decks)
        rounds = sum(counted.outcomes.values())
        made.append(
            of_counts(
                "Outcomes compared with exact probabilities",
                "rounds",
                rounds,
                observed=[counted.outcomes.get(each, 0) for each in OUTCOMES],
                expected=[rounds * ways[each] / sum(ways.values()) for each in OUTCOMES],
            )
        )
        made.append(of_runs("Runs of Banker and Player, without ties", "rounds", counted.outcome_runs))
    made.append(of_runs("Runs of high and low first cards, without sevens", "rounds", counted.card_runs))
    return made


NAMES: Final = {FIRST_FOUR: "First four cards of a round combined"}


def expected(counted: CardCounts, name: str) -> list[float]:
    """Return the expected count of each card at a position."""
    heap = counted.heaps.get(name, Heap())
    chances = (1 / CARDS,) * CARDS
    if counted.is_own_shoe and counted.follows_tableau and name in ("5", "6"):
        chances = third_card_chances(counted.decks)[int(name) - ALWAYS - 1]
    return [sum(heap.counts) * chance for chance in chances]


def spread(counted: CardCounts, name: str) -> float:
    """Return the variance of the counts at a position relative to independent draws."""
    heap = counted.heaps.get(name, Heap())
    return heap.spread / ((counted.decks * CARDS - 1) * sum(heap.counts)) if heap.spread else 1.0


def _test_heap(counted: CardCounts, name: str) -> Test:
    heap = counted.heaps.get(name, Heap())
    return of_counts(
        NAMES.get(name, f"Cards dealt {ORDINALS.get(name, name)} in a round"),
        "cards",
        sum(heap.counts),
        observed=heap.counts,
        expected=expected(counted, name),
        spread=spread(counted, name),
    )


ORDINALS: Final = dict(zip("123456", ("first", "second", "third", "fourth", "fifth", "sixth"), strict=True))


@cache
def third_card_chances(decks: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the probability of each of the 52 cards to be the fifth, and the sixth, card of a
    round from a fresh shoe.

    The probabilities are conditional on a fifth or sixth card being dealt.
    """
    left = [4 * decks] * 10
    left[0] = 16 * decks
    fifth, sixth = [0] * 10, [0] * 10
    for player, ways in _two_cards(left):
        rest = _without(left, player)
        for banker, more in _two_cards(rest):
            _add_third_cards(sum(player) % 10, sum(banker) % 10, _without(rest, banker), ways * more, (fifth, sixth))
    return _of_cards(fifth), _of_cards(sixth)


def _two_cards(left: Sequence[int]) -> Iterable[tuple[tuple[int, int], int]]:
    """Yield every pair of points with the number of ordered ways to draw it."""
    for one, other in combinations_with_replacement(range(10), 2):
        ways = left[one] * (left[one] - 1) if one == other else 2 * left[one] * left[other]
        yield (one, other), ways


def _without(left: Sequence[int], gone: Iterable[int]) -> list[int]:
    rest = list(left)
    for points in gone:
        rest[points] -= 1
    return rest


def _add_third_cards(player: int, banker: int, left: Sequence[int], ways: int, to: tuple[list[int], list[int]]) -> None:
    """Count the fifth and the sixth cards that follow these totals, in ways to draw two cards."""
    fifth, sixth = to
    if player in NATURALS or banker in NATURALS:
        return
    cards, draws = sum(left), player_draws(player)
    if not draws and not banker_draws(banker, None):
        return
    for third, thirds in enumerate(left):
        fifth[third] += ways * thirds * (cards - 1)
        if draws and banker_draws(banker, third):
            for fourth, fourths in enumerate(left):
                sixth[fourth] += ways * thirds * (fourths - (fourth == third))


def _of_cards(ways: Sequence[int]) -> tuple[float, ...]:
    """Split the ways of each point value among the cards with that value."""
    alike = Counter(card.points for card in FULL_DECK)
    return tuple(ways[card.points] / alike[card.points] / sum(ways) for card in FULL_DECK)
