"""Hourly counts of cards and shuffles (`audit.hours`).

A round of a solo table counts in the hour in which it was played. A round of a shared table counts
in the hour in which its shoe ended, since only complete shoes can be compared with draws without
replacement. A round voided after the deal counts, because its cards were dealt.

Shuffles are counted when their seeds are public: all of shoes, in the hour in which the log says so,
which can be later than that in which the shoe ended; and of solo rounds at most
`MOST` per hour, number of decks and kind of money, in the order of the random round ids. Repeating
a shuffle of eight decks takes a tenth of a millisecond, and more shuffles would add little
information.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Min, QuerySet

from audit.hours import HOUR
from audit.models import Event
from audit.reports.kinds import Interval
from games.engine.bets import Variant
from games.fairness import hourly_totals
from games.fairness.randomness import cards, shuffles
from games.fairness.randomness.cards import CardCounts, Dealt
from games.fairness.randomness.shuffles import ShuffleCounts
from games.models import CardHourlyTotal, LiveRound, Participation, Round, Shape, Shoe, ShuffleHourlyTotal, Table
from games.variants import GAMES
from wallet.models import Mode

CARDS: Final = "games.cards"
SHUFFLES: Final = "games.shuffles"
MOST: Final = 1000
PUBLISHED: Final = "shoe.published"  # kind of the event in the audit log

Of = tuple[int, str]
"""A table version or a number of decks, and a kind of money."""


class _Played(NamedTuple):
    """A round of a solo table under rules that this release has."""

    id: UUID
    version: int
    mode: str
    decks: int
    cards: str


def roll_cards(hour: datetime) -> int:
    """Count the cards of the hour that starts at *hour*. Return the number of rounds read."""
    counted = count_cards(hour)
    CardHourlyTotal.objects.bulk_create(
        CardHourlyTotal(hour=hour, version_id=version, mode=mode, rounds=each.rounds, counts=each.as_json())
        for (version, mode), each in sorted(counted.items())
    )
    return sum(each.rounds for each in counted.values())


def roll_shuffles(hour: datetime) -> int:
    """Count the shuffles published in the hour that starts at *hour*. Return the number counted."""
    counted = count_shuffles(hour)
    ShuffleHourlyTotal.objects.bulk_create(
        ShuffleHourlyTotal(hour=hour, decks=decks, mode=mode, shuffles=each.shuffles, counts=each.as_json())
        for (decks, mode), each in sorted(counted.items())
    )
    return sum(each.shuffles for each in counted.values())


def count_cards(hour: datetime) -> dict[Of, CardCounts]:
    """Count the cards of an hour by table version and kind of money."""
    own: defaultdict[tuple[int, str, int], list[Dealt]] = defaultdict(list)
    for played in _solo_rounds(hour):
        own[played.version, played.mode, played.decks].append(Dealt(played.id, played.cards))
    counted = {
        (version, mode): cards.count(rounds, decks=decks, is_own_shoe=True, follows_tableau=True)
        for (version, mode, decks), rounds in own.items()
    }
    from_shoes: defaultdict[tuple[int, str, int, bool], list[Dealt]] = defaultdict(list)
    found = LiveRound.objects.filter(shoe__ended_at__gte=hour, shoe__ended_at__lt=hour + HOUR).exclude(cards="")
    columns = ("shoe_id", "version_id", "shoe__live_table__mode", "shoe__decks", "version__table__variant", "cards")
    for shoe, version, mode, decks, variant, dealt in found.order_by("shoe_id", "number").values_list(*columns):
        from_shoes[version, mode, decks, isinstance(GAMES.get(variant), Variant)].append(Dealt(shoe, dealt))
    for (version, mode, decks, follows_tableau), rounds in from_shoes.items():
        counted[version, mode] = cards.count(rounds, decks=decks, is_own_shoe=False, follows_tableau=follows_tableau)
    return counted


def count_shuffles(hour: datetime) -> dict[Of, ShuffleCounts]:
    """Count the shuffles of an hour by decks and kind of money."""
    ids: defaultdict[Of, list[UUID]] = defaultdict(list)
    for played in _solo_rounds(hour):
        ids[played.decks, played.mode].append(played.id)
    counted = {
        of: shuffles.count_seeds(_seeds(sorted(rounds)[:MOST]), decks=of[0], public=len(rounds))
        for of, rounds in ids.items()
    }
    published: defaultdict[Of, list[tuple[bytes, str]]] = defaultdict(list)
    moments = _published(Shoe.objects.filter(ended_at__gte=hour - Shoe.SEED_ASKED_FOR, ended_at__lt=hour + HOUR))
    found = Shoe.objects.filter(pk__in=[pk for pk, at in moments.items() if hour <= at < hour + HOUR])
    for decks, mode, seed, value in found.order_by("pk").values_list("decks", "live_table__mode", "seed", "entropy"):
        published[decks, mode].append((bytes(seed or b""), value))
    for of, seeds in published.items():
        more = shuffles.count_seeds(seeds, decks=of[0])
        counted[of] = shuffles.together(of[0], [counted[of], more]) if of in counted else more
    return counted


def _published(ended: QuerySet[Shoe]) -> dict[str, datetime]:
    """Return when the seeds of shoes were published, by the id of the shoe."""
    on = [f"shoe:{pk}" for pk in ended.filter(seed__isnull=False).values_list("pk", flat=True)]
    said = Event.objects.filter(kind=PUBLISHED, on__in=on).values_list("on", "at")
    return {subject.removeprefix("shoe:"): at for subject, at in said}


def _seeds(rounds: list[UUID]) -> Iterator[tuple[bytes, str]]:
    """Yield the seed and the player's text of each round that has its own seed."""
    found = Round.objects.filter(pk__in=rounds, seed__isnull=False).order_by("pk")
    for seed, value in found.values_list("seed", "player_value"):
        yield bytes(seed or b""), value


def _solo_rounds(hour: datetime) -> Iterator[_Played]:
    """Yield the rounds of solo tables in the order of play.

    Rounds under rules that this release does not have are omitted, because their number of decks is
    unknown.
    """
    known = {game.digest: game.decks for game in GAMES.values()}
    columns = ("round_id", "round__table_version_id", "mode", "round__table_version__rules_digest", "round__cards")
    # Uses the index of the round search, which starts with the table and the kind of money.
    for table in Table.objects.filter(shape=Shape.SOLO).order_by("pk"):
        for mode in Mode:
            parts = Participation.objects.filter(table=table, mode=mode, at__gte=hour, at__lt=hour + HOUR)
            for id_, version, of, digest, dealt in parts.order_by("at", "id").values_list(*columns):
                if digest in known and dealt:
                    yield _Played(id_, version, of, known[digest], dealt)


def first(since: datetime | None) -> datetime | None:
    """Return the time of the first round, or of the first end of a shoe or publication of its seed, at or
    after *since*.
    """
    ended, published = Shoe.objects.filter(ended_at__isnull=False), list[datetime]()
    if since is not None:
        before = ended.filter(ended_at__gte=since - Shoe.SEED_ASKED_FOR, ended_at__lt=since)
        published = [at for at in _published(before).values() if at >= since]
        ended = ended.filter(ended_at__gte=since)
    moments = (hourly_totals.first_played(since), ended.aggregate(first=Min("ended_at"))["first"], *published)
    return min((moment for moment in moments if moment is not None), default=None)


def card_differences(interval: Interval) -> Iterable[str]:
    """Recount the cards of whole hours and yield a sentence for each difference to the stored
    counts.
    """
    for hour in _hours(interval):
        stored = {(each.version_id, each.mode): each.counts for each in CardHourlyTotal.objects.filter(hour=hour)}
        counted = {of: each.as_json() for of, each in count_cards(hour).items()}
        for version, mode in sorted(stored.keys() | counted.keys()):
            if stored.get((version, mode)) != counted.get((version, mode)):
                yield f"{hour:%Y-%m-%d %H}:00, table version {version}, mode {mode}: other cards are kept than counted"


def shuffle_differences(interval: Interval) -> Iterable[str]:
    """Recount the shuffles of whole hours and yield a sentence for each difference to the stored
    counts.
    """
    for hour in _hours(interval):
        stored = {(each.decks, each.mode): each.counts for each in ShuffleHourlyTotal.objects.filter(hour=hour)}
        counted = {of: each.as_json() for of, each in count_shuffles(hour).items()}
        for decks, mode in sorted(stored.keys() | counted.keys()):
            if stored.get((decks, mode)) != counted.get((decks, mode)):
                yield f"{hour:%Y-%m-%d %H}:00, {decks} decks, mode {mode}: other shuffles are kept than counted"


def _hours(interval: Interval) -> Iterator[datetime]:
    hour = interval.since
    while hour < interval.until:
        yield hour
        hour += timedelta(hours=1)
