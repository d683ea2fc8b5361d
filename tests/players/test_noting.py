"""A round adds the same to session and play time, at a shared table for many players as at a solo
table for one.
"""

from uuid import UUID, uuid4

import pytest

from players.models import Player, PlaySession, PlayTime
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample

pytestmark = pytest.mark.django_db

SESSIONS = ("open", "of somebody else", "none")
LAST_ACTIONS = (None, 3, 8, 10, 60 * 24)  # minutes ago


def a_history(minutes_ago: int | None, session: str) -> tuple[Player, UUID | None]:
    """A player whose last action was so long ago, and their current session."""
    player, owner = a_player(), a_player()
    if minutes_ago is not None:
        as_owner(
            "INSERT INTO players_playtime (player_id, day, seconds, last_at)"
            " SELECT %s, (past AT TIME ZONE 'Europe/Stockholm')::date, 40, past"
            " FROM (SELECT clock_timestamp() - make_interval(mins => %s) AS past) AS moment",
            [player.pk, minutes_ago],
        )
    if session == "none":
        return player, None
    playing = uuid4()
    as_owner(
        "INSERT INTO players_playsession (session, player_id, rounds, staked_real, paid_free)"
        " VALUES (%s, %s, 4, 100, 7)",
        [playing, (player if session == "open" else owner).pk],
    )
    return player, playing


def known(player: Player, session: UUID | None) -> list[tuple[object, ...]]:
    """Return the stored totals; whole minutes, since the two are not recorded in the same
    instant.
    """
    sat = PlaySession.objects.filter(session__in=[session] if session else []).values_list(
        "rounds", "staked_real", "paid_real", "staked_free", "paid_free"
    )
    played = PlayTime.objects.filter(player=player).order_by("day").values_list("day", "seconds")
    return [*sat, *((day, seconds // 60) for day, seconds in played)]


@pytest.mark.parametrize("mode", sample(["R", "F"], 1))
@pytest.mark.parametrize("session", SESSIONS)
def test_all_at_once_are_noted_as_each_alone(mode, session):
    alone = [a_history(minutes, session) for minutes in LAST_ACTIONS]
    together = [a_history(minutes, session) for minutes in LAST_ACTIONS]
    for player, playing in alone:
        as_owner("SELECT players_note_round(%s, %s, %s, 2500, 4000)", [player.pk, playing, mode])
    rows = [(player.pk, playing, mode, 2500, 4000) for player, playing in together]
    as_owner(
        "SELECT players_note_rounds(%s::bigint[], %s::uuid[], %s::text[], %s::bigint[], %s::bigint[])",
        [list(column) for column in zip(*rows, strict=True)],
    )
    assert [known(*each) for each in together] == [known(*each) for each in alone]
    assert PlayTime.objects.filter(player__in=[player for player, _ in together]).count() >= len(LAST_ACTIONS)


# A zone where it is four minutes past midnight.
MIDNIGHT = """
UPDATE players_jurisdiction SET time_zone = (
    SELECT concat('XXX', CASE WHEN east < 0 THEN '+' ELSE '-' END, abs(east) / 60, ':', abs(east) % 60)
    FROM (SELECT mod(2 * 1440 + 720 + 4 - mod(extract(epoch FROM clock_timestamp())::bigint / 60, 1440), 1440) - 720)
        AS now_is (east))
"""
NOTE = {
    "one": "SELECT players_note_round({player}, NULL, 'R', 100, 0)",
    "all": "SELECT players_note_rounds('{{{player}}}', '{{NULL}}', '{{R}}', '{{100}}', '{{0}}')",
}


@pytest.mark.parametrize("many", NOTE)
@pytest.mark.parametrize(("minutes_ago", "counted"), [(6, 6), (10, 0)])
def test_time_since_the_day_before_counts_in_the_first_minutes_of_a_day(many, minutes_ago, counted):
    player = a_player()
    as_owner(MIDNIGHT)
    as_owner(
        "INSERT INTO players_playtime (player_id, day, seconds, last_at)"
        " SELECT p.id, (past AT TIME ZONE j.time_zone)::date, 40, past FROM players_player AS p"
        " JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id,"
        " (SELECT clock_timestamp() - make_interval(mins => %s) AS past) AS moment WHERE p.id = %s",
        [minutes_ago, player.pk],
    )
    for _ in range(2):
        as_owner(NOTE[many].format(player=player.pk))
    before, after = PlayTime.objects.filter(player=player).order_by("day").values_list("day", "seconds")
    assert (after[0] - before[0]).days == 1
    assert (before[1], after[1] // 60) == (40, counted)
