"""The house is verified while several people play: what is not sealed or not committed yet is no finding."""

from threading import Event, Thread

from django.db import connections

from audit.sealing import sealer
from audit.verification import house
from games.models import Participation, Table
from players.models import Player
from tests.builders import a_round, a_table
from tests.recorded import a_recorded_player

PLAYERS, RUNS = 3, 4


def play(player: Player, table: Table, enough: Event) -> None:
    """Play rounds until it is enough, and give the thread's connection back."""
    try:
        while not enough.is_set():
            a_round(player, table, player=1_000)
    finally:
        connections.close_all()


def test_nothing_is_found_while_rounds_are_played(cloned_db):
    table, players, enough = a_table(), [a_recorded_player(1_000_000) for _ in range(PLAYERS)], Event()
    threads = [Thread(target=play, args=(player, table, enough)) for player in players]
    for thread in threads:
        thread.start()
    found = []
    for number in range(RUNS):
        sealer.seal()
        found += house.run(is_whole=number % 2 == 1)
    enough.set()
    for thread in threads:
        thread.join()
    assert Participation.objects.count() >= PLAYERS
    sealer.seal()
    assert [each.text for each in [*found, *house.run(is_whole=False), *house.run(is_whole=True)]] == []
