"""A history of everything that can be played, through the product's own services, and then spread over many hours."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final
from uuid import UUID

import psycopg

from games.models import Participation, Phase
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_table
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, a_staked_coup, play_out, seated_players
from tests.games.test_void import a_won_round, balance, spend
from tests.harness.databases import Database
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.voiding import void_as_two_agree, void_unreproduced
from wallet.models import Mode

MONEY: Final = 1_000_000
BEGINS: Final = datetime(2026, 3, 28, 20, tzinfo=UTC)  # clocks in Europe go forward five hours later
HOURS: Final = 40
ENDS: Final = BEGINS + timedelta(hours=HOURS)

# Every round is moved to a time in these hours, one in five on the hour itself, and its journals as it does; those
# of no round get a random time. Steps of the golden section put a few rounds of each player on every day.
SPREAD = """
CREATE TEMP TABLE moved AS
SELECT id, CASE WHEN n %% 5 = 0 THEN date_trunc('hour', place, 'UTC') ELSE place END - at
    AS by
FROM (SELECT id, at, n, %(begins)s + (n * 0.618034) %% 1 * make_interval(hours => %(hours)s) AS place
    FROM (SELECT id, at, row_number() OVER (ORDER BY at, id) AS n FROM games_round) AS numbered) AS round;
UPDATE games_round AS of SET at = at + moved.by FROM moved WHERE moved.id = of.id;
UPDATE games_participation AS of SET at = at + moved.by FROM moved WHERE moved.id = of.round_id;
UPDATE wallet_journal AS of SET at = at + coalesce(
    (SELECT moved.by FROM moved WHERE moved.id = of.round_id),
    %(begins)s + random() * make_interval(hours => %(hours)s) - at);
"""


def spread(database: Database) -> None:
    """Let everything have happened between `BEGINS` and `ENDS`."""
    with psycopg.connect(database.superuser_url, cursor_factory=psycopg.ClientCursor) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(SPREAD, {"begins": BEGINS, "hours": HOURS})


def void_round(round_id: UUID) -> None:
    """Void a round of a live table."""
    void_as_two_agree(round_id)


class House:
    """People and tables of every kind. Each `play` continues with them."""

    def __init__(self) -> None:
        self.people = [a_player(code, real=MONEY, free=MONEY) for code in ("SE", "DK")]
        self.table, self.golden, self.live_table = a_table(), a_golden_table(), a_live_table()
        self._numbers = count(1)

    def play(self, rounds: int = 2) -> None:
        """Play everywhere, in two currencies and both kinds of money, and void rounds of each kind in every phase in
        which it can be done, one of them after its winnings were spent. A round of the shared table is open at the end.
        """
        self._play_alone(rounds)
        self._play_until_one_won_and_one_lost()
        self._win_and_spend()
        self._win_less_commission()
        self._play_together(rounds)
        self._play_against_each_other(rounds)

    def _play_alone(self, rounds: int) -> None:
        for player in self.people:
            for _ in range(rounds):
                a_round(player, self.table, player=1000, banker=5000, tie=1000)
                a_round(player, self.table, Mode.FREE, banker=1000)
            a_purse(player, 100_000)
            played = [a_round(player, self.golden, player=1000).round_id for _ in range(rounds)]
            void_unreproduced(played[0])

    def _play_until_one_won_and_one_lost(self) -> None:
        won = set[bool]()
        while len(won) < 2:
            player = a_player(real=5_000)
            a_round(player, self.table, player=5_000)
            won |= {balance(player) > 5_000} if balance(player) != 5_000 else set()

    def _win_and_spend(self) -> None:
        part = a_won_round(self.people[0], self.table)
        void_unreproduced(part.round_id)
        won, poor = None, self.people[0]
        while won is None:
            poor = a_player(real=5_000)
            won = self._win(poor)
        spend(poor, balance(poor))
        void_unreproduced(won)

    def _win_less_commission(self) -> None:
        while True:
            played = a_round(self.people[1], self.table, banker=5000)
            if Participation.objects.get(round_id=played.round_id).commission:
                return

    def _win(self, player: Player) -> UUID | None:
        """Have the player put all they have on one bet; return the round where they win."""
        played = a_round(player, self.table, player=5_000)
        return played.round_id if balance(player) > 5_000 else None

    def _play_together(self, rounds: int) -> None:
        for number, phase in enumerate([Phase.SETTLED] * (rounds + 1) + [Phase.CLOSED, Phase.DEALT, Phase.BETTING]):
            if round_at(self.live_table).phase != Phase.BETTING:
                advance_to(self.live_table, Phase.BETTING)
            for player in self.people:
                bet(player, self.live_table, banker=5000, tie=5000)
            live_round = round_at(self.live_table)
            if phase is not Phase.BETTING:
                advance_to(self.live_table, phase)
            if number >= rounds:
                void_round(live_round.pk)
        advance_to(self.live_table, Phase.BETTING)
        bet(self.people[0], self.live_table, player=5000)

    def _play_against_each_other(self, rounds: int) -> None:
        """Play each round at a separate table, so that banks stay open."""
        for number in range(rounds + 1):
            live_table = a_chemin_table(slug=f"chemin{next(self._numbers)}")
            seated_players(live_table)
            if number == rounds:
                a_staked_coup(live_table)
            else:
                a_dealt_coup(live_table)
                play_out(live_table)
            if number in (0, rounds):
                void_round(round_at(live_table).pk)
