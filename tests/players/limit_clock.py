"""Time travel for tests of limits: moves requests and movements into the past."""

import psycopg

from players.models import Player


def let_pass(owner: psycopg.Connection, player: Player, hours: int) -> None:
    """Move all limit requests of the player back by these hours."""
    owner.execute("ALTER TABLE players_limitchange DISABLE TRIGGER USER")
    owner.execute(
        "UPDATE players_limitchange SET asked_at = asked_at - make_interval(hours => %s),"
        " effective_at = effective_at - make_interval(hours => %s) WHERE player_id = %s",
        [hours, hours, player.pk],
    )
    owner.execute("ALTER TABLE players_limitchange ENABLE TRIGGER USER")


def a_day(owner: psycopg.Connection, player: Player, day: str, **changed: int) -> None:
    """Record moved real money of a day: ``a_day(owner, player, "2026-03-29", staked=100)``."""
    amounts = {"deposited": 0, "withdrawn": 0, "staked": 0, "paid": 0} | changed
    owner.execute("ALTER TABLE wallet_day DISABLE TRIGGER USER")
    owner.execute(
        "INSERT INTO wallet_day (player_id, day, deposited, withdrawn, staked, paid) VALUES (%s, %s, %s, %s, %s, %s)",
        [player.pk, day, *amounts.values()],
    )
    owner.execute("ALTER TABLE wallet_day ENABLE TRIGGER USER")
