"""Player summaries: a player's name and account status, for one player or a list."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Now

from players.identity import verification
from players.login.account_locks import locked_among
from players.models import Closure, Exclusion, Flag, Player, Submission, User
from players.search import NAMES

SEE_FLAGS = "players.see_flags"
EXCLUDE = "players.exclude_player"


@dataclass(frozen=True)
class Badge:
    """Status in a word or two. *kind* is the CSS class that colours it ("": none)."""

    name: str
    kind: str = ""


@dataclass(frozen=True)
class Summary:
    """Player summary. The name is "" if unknown or if the reader may not see it."""

    player: Player
    name: str
    badges: tuple[Badge, ...]


def may(user: User, permissions: Iterable[str]) -> bool:
    """Return whether a member of staff has any of *permissions*."""
    return any(map(user.has_perm, permissions))


def summaries(numbers: Collection[int], reader: User) -> dict[int, Summary]:
    """Return player summaries by number, as *reader* may see them.

    The number of queries does not depend on the number of players.
    """
    people = Player.objects.select_related("user", "jurisdiction").in_bulk(numbers)
    names = _names(numbers) if may(reader, NAMES) else {}
    badges = _badges(people, reader)
    return {number: Summary(player, names.get(number, ""), badges[number]) for number, player in people.items()}


def _names(numbers: Collection[int]) -> dict[int, str]:
    newest = Submission.objects.filter(player__in=numbers).order_by("player", "-id").distinct("player")
    said = newest.values_list("player_id", "given_names", "family_name")
    return {number: f"{given} {family}".strip() for number, given, family in said}


def _badges(people: dict[int, Player], reader: User) -> dict[int, tuple[Badge, ...]]:
    numbers = list(people)
    closed = dict(Closure.objects.filter(player__in=numbers).order_by("pk").values_list("player_id", "state"))
    locked = locked_among(numbers)
    verified = verification.verified_among(numbers)
    excluded: set[int] = set()
    if reader.has_perm(EXCLUDE):
        standing = Exclusion.objects.filter(Q(until=None) | Q(until__gt=Now()), player__in=numbers, lift=None)
        excluded = set(standing.values_list("player_id", flat=True))
    flagged: set[int] = set()
    if reader.has_perm(SEE_FLAGS):
        flagged = set(Flag.objects.filter(player__in=numbers, closed_at=None).values_list("player_id", flat=True))
    return {
        number: tuple(
            badge
            for holds, badge in (
                (number in locked, Badge("locked", "badge--off")),
                (number in closed, Badge(closed.get(number, ""), "badge--off")),
                (number in excluded, Badge("excluded", "badge--off")),
                (number in verified, Badge("verified", "badge--on")),
                (number not in verified, Badge("not verified")),
                (number in flagged, Badge("marker of harm", "badge--void")),
                (player.user.is_demo, Badge("demo")),
            )
            if holds
        )
        for number, player in people.items()
    }
