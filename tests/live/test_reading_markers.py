"""Markers of harm count stakes and payouts of shared rounds like all others, without voided rounds."""

import pytest
from django.db import connection

from accounts.harm_markers import ROUNDS
from games.models import LiveTable, Participation, Phase
from players.models import Player
from tests.builders import a_player
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.voiding import cancel
from wallet.models import Mode

pytestmark = pytest.mark.django_db

STAKE = 25_000
SEEN = f"""
WITH who AS (SELECT %s::bigint AS player_id, clock_timestamp() - interval '1 day' AS since)
{ROUNDS}
SELECT (item ->> 'id')::uuid, staked, paid, balance_after FROM round ORDER BY at, id
"""


def seen(player: Player) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(SEEN, [player.pk])
        return list(cursor.fetchall())


def play(player: Player, live_table: LiveTable) -> None:
    bet(player, live_table, player=STAKE)
    advance_to(live_table, Phase.SETTLED)
    step(live_table)


def test_they_read_what_was_staked_and_paid_at_a_shared_table_and_no_voided_round() -> None:
    live_table, player = a_live_table(), a_player(real=1_000_000)
    play(player, live_table)
    bet(player, live_table, player=STAKE)
    cancel(round_id=round_at(live_table).pk, by="staff:1")
    step(live_table)
    play(player, live_table)
    kept = Participation.objects.filter(round__void=None).order_by("at")
    assert seen(player) == [(each.round_id, STAKE, each.paid, each.balance_after) for each in kept]
    assert len(kept) == 2


def test_they_read_real_money_only() -> None:
    live_table, player = a_live_table(mode=Mode.FREE), a_player(free=1_000_000)
    play(player, live_table)
    assert seen(player) == []
