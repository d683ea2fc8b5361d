"""Rounds during a change of the served jurisdictions, with real threads and commits."""

from threading import Barrier, Thread

from django.db import connections

from games import solo
from games.betting.rules import Change
from games.errors import NotEligibleHere, PlayError, TableChanged
from games.models import Round
from players.models import Player
from tests.builders import a_player, a_seat, a_table
from tests.games.test_table_eligibility import MONEY, serve, stakes_at


def test_gli19_a_5_1_rounds_during_a_change_of_eligibility_are_played_before_it_alone(cloned_db):
    """Players deal while the table stops serving them."""
    table, barrier = a_table(), Barrier(5)
    players = [a_player(real=MONEY) for _ in range(4)]
    for each in players:
        a_seat(each, table, player=1000)
    refused: list[PlayError] = []

    def deal(player: Player) -> None:
        barrier.wait()
        try:
            while True:
                try:
                    seat = solo.change_slip(**stakes_at(table, player), change=Change.CLEAR)
                    seat = solo.add_chip(**stakes_at(table, player), bet="player", chip=1000)
                    solo.play_round(**stakes_at(table, player), round_id=seat.round_id, slip_version=seat.slip_version)
                except TableChanged:
                    continue
        except PlayError as error:
            refused.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=deal, args=(each,)) for each in players]
    for thread in threads:
        thread.start()
    barrier.wait()
    while Round.objects.count() < len(players):
        continue  # until all are playing
    version = serve(table, ["DE"])
    for thread in threads:
        thread.join()
    assert {type(error) for error in refused} == {NotEligibleHere}
    assert not Round.objects.filter(table_version=version).exists()
    assert not Round.objects.filter(at__gt=version.created_at).exists()
