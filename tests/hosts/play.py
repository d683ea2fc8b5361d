"""Check that play continues: a bet was accepted, a round that began afterwards was dealt, and a
watcher was shown it.

An answer alone proves nothing, because a refusal is an answer.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.db import connection

from games.models import LiveRound, LiveTable, Participation, Phase
from tests.hosts.onlookers import Bettor, Viewer


def now() -> datetime:
    """Return the time by the clock of the database, which is that of rounds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (at,) = cursor.fetchone()
    assert isinstance(at, datetime)
    return at


def settled_since(live_table: LiveTable, moment: datetime) -> list[str]:
    """Return the rounds that were opened after that moment and are settled, with cards."""
    found = LiveRound.objects.filter(live_table=live_table, phase=Phase.SETTLED, opened_at__gt=moment).exclude(cards="")
    return [str(pk) for pk in found.values_list("pk", flat=True)]


def missing(
    live_table: LiveTable, moment: datetime, bettors: Iterable[Bettor], viewers: Sequence[Viewer]
) -> Iterator[str]:
    """Say what play has not done since: a bet of each bettor's was taken in a round that was opened since, and settled,
    and each viewer was shown such a round.
    """
    rounds = settled_since(live_table, moment)
    for bettor in bettors:
        taken = [round_id for round_id in rounds if bettor.taken[round_id]]
        if not Participation.objects.filter(round_id__in=taken, player=bettor.player, staked__gt=0).exists():
            yield f"player {bettor.player} has no bet in a round that was opened since and is settled"
    for number, viewer in enumerate(viewers, 1):
        if not any(round_id in viewer.rounds for round_id in rounds):
            yield f"viewer {number} was not shown a round that was opened since and is settled"


def disagreements(live_table: LiveTable, bettors: Iterable[Bettor]) -> Iterator[str]:
    """Yield settled rounds in which the house has different stakes than it had answered."""
    settled = LiveRound.objects.filter(live_table=live_table, phase=Phase.SETTLED)
    rounds = [*settled.values_list("pk", flat=True)]
    for bettor in bettors:
        parts = Participation.objects.filter(player=bettor.player, round__in=rounds).values_list("round_id", "staked")
        staked = dict(parts)
        for round_id in rounds:
            least = bettor.taken[str(round_id)] * bettor.chip
            most = least + bettor.doubtful[str(round_id)] * bettor.chip
            if not least <= staked.get(round_id, 0) <= most:
                yield f"{round_id}: player {bettor.player} staked {staked.get(round_id, 0)}, told {least} to {most}"
