"""A player who calls the service: `python -m bench.service_player PERSON`, where PERSON is JSON of `bench.people`."""

import json
import sys

import django

django.setup()

from bench.playing import play_when_told  # noqa: E402  (models need the set-up)
from games import solo  # noqa: E402
from games.betting.controls import Deal  # noqa: E402
from players.models import Player  # noqa: E402
from wallet.models import Mode  # noqa: E402

BET, CHIP = "player", 1000


class ServicePlayer:
    """Someone at the table who deals the same bet again and again."""

    def __init__(self, player_id: int, table_id: int) -> None:
        self._player = Player.objects.get(pk=player_id)
        self._table_id = table_id
        solo.place_at(player=self._player, table_id=table_id, mode=Mode.REAL)
        self._place = solo.add_chip(player=self._player, table_id=table_id, mode=Mode.REAL, bet=BET, chip=CHIP)
        self.play(Deal.AS_IT_LIES)

    def play(self, how: Deal = Deal.REPEATED) -> None:
        """Deal the round that the last answer said comes next, as a browser does."""
        played = solo.play_round(
            player=self._player,
            table_id=self._table_id,
            mode=Mode.REAL,
            round_id=self._place.round_id,
            slip_version=self._place.slip_version,
            how=how,
        )
        self._place = played.place


def main() -> None:
    """Sit down and play."""
    person = json.loads(sys.argv[1])
    play_when_told(ServicePlayer(person["player"], person["table"]).play)


if __name__ == "__main__":
    main()
