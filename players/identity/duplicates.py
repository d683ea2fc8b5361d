"""Likely duplicates: pairs of players who share an identifying value.

Values are compared as keyed hashes, so the search reads no names. All writers take one lock until
they commit. Otherwise two players who submit the same passport at once would each search before the
other's row is visible.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import or_
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from audit import log
from players.encryption import fingerprints, fingerprints_with_keys
from players.identity import normalise
from players.login import credentials
from players.models import Duplicate, Ground, Player, Resolution, Staff, Submission, Trait

LOCK = 0x5AB0_D0B1  # of pg_advisory_xact_lock

FIND = """
INSERT INTO players_duplicate (first_id, second_id, ground, resolution, note)
SELECT DISTINCT one.player_id, other.player_id, one.ground, '', ''
FROM players_trait AS one
JOIN players_trait AS other ON (other.ground, other.fingerprint) = (one.ground, one.fingerprint)
WHERE one.player_id < other.player_id AND (%(player)s::bigint IS NULL OR %(player)s IN (one.player_id, other.player_id))
ON CONFLICT (first_id, second_id, ground) DO NOTHING
RETURNING first_id, second_id, ground
"""


class AlreadyResolved(Exception):
    """Another staff member has resolved this already."""


@dataclass(frozen=True)
class Pair:
    """Two players and everything that they were found to share, oldest first."""

    first: Player
    second: Player
    flags: tuple[Duplicate, ...]

    @property
    def open(self) -> list[Duplicate]:
        """Return the flags that staff have not resolved yet."""
        return [flag for flag in self.flags if not flag.resolution]

    @property
    def finding(self) -> str:
        """Return staff's latest resolution, which decides, or ""."""
        resolved = [flag for flag in self.flags if flag.resolved_at]
        last = max(resolved, key=lambda flag: (flag.resolved_at, flag.pk), default=None)
        return last.resolution if last else ""

    @property
    def is_same(self) -> bool:
        """Return whether staff's latest resolution says that the two are one person."""
        return self.finding == Resolution.SAME

    def other(self, player: Player) -> Player:
        """Return the other player of the pair."""
        return self.second if self.first == player else self.first


def hold_still(using: str = DEFAULT_DB_ALIAS) -> None:
    """Take the lock for adding and resolving flags, until the current transaction ends."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


@transaction.atomic
def note(*, player: Player, ground: Ground, value: str) -> None:
    """Store that *player* has *value*, such as a bank account number, and flag other players who have it.

    Holds the lock until the current transaction ends, so call it late in a transaction.
    """
    keep(player, [(ground, normalise.number(value).encode())])


@transaction.atomic
def note_submission(submission: Submission, pictures: Iterable[bytes] = ()) -> None:
    """Store the identifying values of a submission, and flag other players who have them, or the same national number.

    *pictures* are those sent with it. `players.identity.verification.keep_confirmation` has stored the number.
    """
    keep(submission.player, [*_said(submission), *((Ground.PICTURE, picture) for picture in pictures)])


def hashes_of_number(player: Player, number: str) -> list[bytes]:
    """Return the hashes of a national number under every key, each with what tells its key. None if it is empty."""
    person = normalise.national_number(number, player.jurisdiction_id).encode()
    return fingerprints_with_keys(Ground.PERSON, person) if person else []


@transaction.atomic
def keep(player: Player, values: Iterable[tuple[Ground, bytes]]) -> None:
    """Store values of *player* as hashes, and flag other players who have one of them."""
    hold_still()
    _keep(player, values)
    _flag(player)


@transaction.atomic
def search_all() -> int:
    """Compare all players with each other, with today's rules for names. Return the number of new flags."""
    hold_still()
    for submission in Submission.objects.exclude(family_name="").select_related("player"):
        _keep(submission.player, _said(submission))
    return _flag(None)


@transaction.atomic(using=credentials.OWNER)
def reseal(player: Player, values: Iterable[tuple[Ground, bytes]] = ()) -> int:
    """Replace hashes under older keys by hashes under the first key. Return how many were deleted.

    Covers what *player* submitted and the given *values*. Other hashes cannot be recomputed. Only the
    owner of the tables can delete a hash.
    """
    hold_still(credentials.OWNER)
    earlier = [
        each for sent in Submission.objects.filter(player=player).exclude(family_name="") for each in _said(sent)
    ]
    found = [(ground, fingerprints(ground, value)) for ground, value in [*earlier, *values]]
    _insert(player, [(ground, digests[0]) for ground, digests in found], credentials.OWNER)
    older = reduce(or_, (Q(ground=ground, fingerprint__in=digests[1:]) for ground, digests in found), Q(pk=None))
    gone, _ = Trait.objects.using(credentials.OWNER).filter(older, player=player).delete()
    return gone


def pairs_of(player: Player) -> list[Pair]:
    """Return the pairs of which *player* is part."""
    return _pairs(Duplicate.objects.filter(Q(first=player) | Q(second=player)))


def waiting() -> QuerySet[Any, Any]:
    """Return the pairs with unresolved flags, oldest first: numbers of the two players, and since when."""
    pairs = Duplicate.objects.filter(resolution="").values("first_id", "second_id").annotate(since=Min("found_at"))
    return pairs.order_by("since", "first_id", "second_id")


def same_pair() -> QuerySet[Duplicate]:
    """Return the flags of the same two players, for a subquery of flags."""
    return Duplicate.objects.filter(first=OuterRef("first"), second=OuterRef("second"))


def waiting_flags() -> QuerySet[Duplicate]:
    """Return the newest unresolved flag of each pair: one row for each pair of `waiting`."""
    newer = same_pair().filter(resolution="", pk__gt=OuterRef("pk"))
    return Duplicate.objects.filter(~Exists(newer), resolution="")


def resolved_flags() -> QuerySet[Duplicate]:
    """Return the flag of each pair that staff resolved last, whose resolution decides."""
    later = Q(resolved_at__gt=OuterRef("resolved_at")) | Q(resolved_at=OuterRef("resolved_at"), pk__gt=OuterRef("pk"))
    return Duplicate.objects.exclude(resolution="").filter(~Exists(same_pair().exclude(resolution="").filter(later)))


def pairs_with(flags: Iterable[Duplicate]) -> dict[tuple[int, int], Pair]:
    """Return the pairs of *flags*, by the numbers of the two players."""
    keys = {(flag.first_id, flag.second_id) for flag in flags}
    found = reduce(or_, (Q(first=first_id, second=second_id) for first_id, second_id in keys), Q(pk=None))
    return {(pair.first.pk, pair.second.pk): pair for pair in _pairs(Duplicate.objects.filter(found))}


@transaction.atomic
def resolve(
    *,
    first_id: int,
    second_id: int,
    shown: Collection[int],
    resolution: Resolution,
    note: str,
    by: Staff,
    before: str = "",
) -> None:
    """Resolve the flags that were *shown* to staff for two players. A flag found since then stays open.

    *before* is the resolution to correct, empty for open flags. Raises AlreadyResolved if none of
    them has it any more, or if it is the same.
    """
    hold_still()
    flags = Duplicate.objects.filter(first_id=first_id, second_id=second_id, pk__in=shown, resolution=before)
    flags = flags.exclude(resolution=resolution)
    grounds = sorted(flags.values_list("ground", flat=True))
    if not flags.update(resolution=resolution, note=note, resolved_by=by, resolved_at=Now()):
        raise AlreadyResolved
    log.record(
        "duplicate.resolved",
        by=str(by),
        on=f"player:{second_id}",
        data={"other": f"player:{first_id}", "grounds": grounds, "resolution": resolution.value}
        | ({"before": before} if before else {}),
        personal={"note": note},
    )


def _keep(player: Player, values: Iterable[tuple[Ground, bytes]]) -> None:
    """Store values under every key, because the same value may have been stored under any of them."""
    prints = [(ground, digest) for ground, value in values if value for digest in fingerprints(ground, value)]
    _insert(player, prints)


def _insert(player: Player, digests: Collection[tuple[Ground, bytes]], using: str = DEFAULT_DB_ALIAS) -> None:
    traits = [Trait(player_id=player.pk, ground=ground, fingerprint=digest) for ground, digest in digests]
    Trait.objects.using(using).bulk_create(traits, ignore_conflicts=True)


def _said(submission: Submission) -> list[tuple[Ground, bytes]]:
    """Return the identifying values of a submission, normalised so that equal values compare equal."""
    born = submission.player.birth_date.isoformat()
    address = normalise.text(f"{submission.street} {submission.postal_code} {submission.city}")
    said = {
        Ground.NAME: f"{normalise.name(submission.given_names, submission.family_name)} {born}",
        Ground.ADDRESS: f"{normalise.name(submission.family_name)} {address} {born}",
        Ground.NUMBER: normalise.number(submission.document_number),
        Ground.PHONE: submission.phone,
    }
    return [(ground, value.encode()) for ground, value in said.items() if value]


def _flag(player: Player | None) -> int:
    """Flag players who share a value with *player*, or any two players if None.

    Return the number of new flags.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"player": player.pk if player else None})
        found = cursor.fetchall()
    for first_id, second_id, ground in found:
        log.record(
            "duplicate.found",
            by="system",
            on=f"player:{second_id}",
            data={"other": f"player:{first_id}", "ground": ground},
        )
    return len(found)


def _pairs(flags: Iterable[Duplicate]) -> list[Pair]:
    ordered = sorted(flags, key=lambda flag: (flag.first_id, flag.second_id, flag.found_at, flag.pk))
    people = Player.objects.select_related("user", "jurisdiction").in_bulk(
        {player_id for flag in ordered for player_id in (flag.first_id, flag.second_id)}
    )
    return [
        Pair(people[first_id], people[second_id], tuple(group))
        for (first_id, second_id), group in groupby(ordered, key=lambda flag: (flag.first_id, flag.second_id))
    ]
