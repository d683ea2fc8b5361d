"""Time between two games: where the law sets one, the database enforces it at all tables of the player."""

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from threading import Barrier, Thread
from uuid import uuid4

import pytest
from django.db import connections, transaction
from django.test import Client

from games import solo
from games.betting.limits import Limits
from games.betting.rules import Change
from games.errors import ApiClientMayNotPlay, GameTooSoon
from games.models import LastGame, LiveSeat, LiveTable, Participation, Phase, SoloSeat
from games.shared.bets import change_slip
from games.solo import play_round, solo_seat_at
from games.tables.default_tables import baccarat_limits
from players.models import ApiToken, Jurisdiction, Player
from tests.api.at_live import at, client_of, refused
from tests.builders import a_golden_table, a_player, a_purse, a_seat, a_table
from tests.chemin.at_table import a_chemin_table, answer, sit
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import events
from tests.wallet.studios import Game, a_game
from wallet.models import Mode
from wallet.seamless_wallet.host import Refused

MONEY = 1_000_000  # minor units
PACED, FREELY = "GB", ["SE", "DK", "RO", "DE"]
SECONDS = 5
MANY = 20


def deal(seat: SoloSeat, stake: int = 1000) -> None:
    """Deal the current next round of a seat."""
    now = SoloSeat.objects.get(pk=seat.pk)
    play_round(
        player=seat.player, table_id=seat.table_id, mode=Mode(seat.mode), round_id=now.round_id, slip_version=None,
        bets={"player": stake},
    )  # fmt: skip


def make_older(player: Player, seconds: float = SECONDS) -> None:
    """Put the start of the player's last game back."""
    as_owner(
        "UPDATE games_lastgame SET began_at = began_at - make_interval(secs => %s) WHERE player_id = %s",
        [seconds, player.pk],
    )


def begun(*starts: Callable[[], object]) -> int:
    """Return how many games have begun."""
    number, waits = 0, []
    for start in starts:
        try:
            with transaction.atomic():
                start()
        except GameTooSoon as refusal:
            waits.append(refusal.seconds)
        else:
            number += 1
    assert all(0 < wait <= SECONDS for wait in waits)
    return number


@pytest.fixture
def player(db) -> Player:
    return a_player(PACED, real=MONEY, free=MONEY)


def seats_of(player: Player, mode: Mode = Mode.REAL) -> Sequence[SoloSeat]:
    return [a_seat(player, a_table(slug), mode, player=1000) for slug in ("one", "other")]


class TestEveryJurisdiction:
    def test_is_shown_here(self, db):
        said = dict(Jurisdiction.objects.values_list("code", "seconds_between_games"))
        assert said == dict.fromkeys(FREELY, 0) | {PACED: SECONDS}
        said = dict(Jurisdiction.objects.values_list("code", "api_clients_may_play"))
        assert said == dict.fromkeys(FREELY, True) | {PACED: False}
        said = dict(Jurisdiction.objects.values_list("code", "may_hurry_results"))
        assert said == dict.fromkeys(FREELY, True) | {PACED: False}

    @pytest.mark.parametrize("code", sample(FREELY, 1))
    def test_without_the_rule_games_follow_at_once(self, db, code):
        player = a_player(code, real=50_000)
        chip = Limits.of(baccarat_limits(), player.currency).chips[0]
        seat = a_seat(player, a_table(), Mode.REAL, player=chip)
        assert begun(*[lambda: deal(seat, chip)] * 3) == 3
        assert not LastGame.objects.exists()


class TestSoloTables:
    def test_of_many_deals_in_a_second_in_two_tabs_one_is_played(self, player):
        starts = [lambda seat=seat: deal(seat) for seat in islice(cycle(seats_of(player)), MANY)]
        assert begun(*starts) == Participation.objects.count() == 1

    def test_the_next_one_begins_after_the_time_and_not_before(self, player):
        one, other = seats_of(player)
        deal(one)
        make_older(player, SECONDS - 2)
        assert begun(lambda: deal(other)) == 0
        make_older(player, 2)
        assert begun(lambda: deal(other)) == 1

    def test_a_refused_deal_moves_nothing_and_is_on_record(self, player):
        one, _ = seats_of(player)
        deal(one)
        balance, round_id = Participation.objects.get().balance_after, SoloSeat.objects.get(pk=one.pk).round_id
        with pytest.raises(GameTooSoon):
            deal(one)
        (event,) = events("round.refused")
        assert event["data"] == {"reason": "GameTooSoon", "round": str(round_id)}
        make_older(player)
        deal(one)
        assert Participation.objects.latest("pk").balance_before == balance

    def test_chips_can_be_placed_and_a_played_round_is_still_found(self, player):
        one, other = seats_of(player)
        click = solo.Click(
            player=player,
            table_id=one.table_id,
            mode=Mode.REAL,
            round_id=one.round_id,
            slip_version=one.slip_version,
        )
        assert [solo.play(click).repeated for _ in range(2)] == [False, True]
        assert a_seat(player, other.table, Mode.REAL, tie=1000).slip

    def test_free_money_waits_for_nothing(self, player):
        free = seats_of(player, Mode.FREE)
        assert begun(*[lambda seat=seat: deal(seat) for seat in islice(cycle(free), 6)]) == 6


@pytest.mark.parametrize("golden", sample([True, False], 1), ids=["two accounts", "one account"])
def test_of_two_deals_at_once_only_one_is_played(cloned_db, golden):
    """Both have looked before either has played: at a table on another account, no lock on the account helps."""
    player = a_player(PACED, real=MONEY)
    one = a_seat(player, a_table(), Mode.REAL, player=1000)
    if golden:
        a_purse(player, 10_000)
    other = a_seat(player, a_golden_table() if golden else a_table("other"), Mode.REAL, player=1000)
    barrier, dealt = Barrier(2), []

    def run(seat: SoloSeat) -> None:
        barrier.wait()
        try:
            deal(seat)
            dealt.append(seat.pk)
        except GameTooSoon:
            pass
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=[seat]) for seat in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(dealt) == Participation.objects.count() == 1


class TestSharedTables:
    def test_the_first_bet_in_a_round_is_a_start(self, player):
        (one, _), live_table = seats_of(player), a_live_table()
        deal(one)
        assert begun(lambda: bet(player, live_table, player=2500)) == 0
        assert not LiveSeat.objects.exclude(stakes={}).exists()
        make_older(player)
        assert begun(lambda: bet(player, live_table, player=2500), lambda: deal(one)) == 1

    def test_further_chips_and_fewer_belong_to_the_same_game(self, player):
        live_table = a_live_table()
        for _ in range(3):
            bet(player, live_table, player=2500)
        said = {"player": player, "live_table_id": live_table.pk, "round_id": round_at(live_table).pk}
        for _ in range(3):
            change_slip(**said, change=Change.UNDO)
        assert bet(player, live_table, player=2500).stakes == {"player": 2500}
        assert LastGame.objects.get(player=player).game == said["round_id"]

    def test_a_second_table_is_a_second_game(self, player):
        one, other = a_live_table(), a_live_table(slug="second")
        positions = [lambda table=table: bet(player, table, player=2500) for table in (one, other)]
        assert begun(*positions) == 1
        assert begun(*positions) == 1, "another chip at the first"
        make_older(player)
        assert begun(positions[1]) == 1

    def test_rounds_of_a_quick_table_wait_too(self, player):
        live_table = a_live_table()
        bet(player, live_table, player=2500)
        advance_to(live_table, Phase.BETTING)
        assert begun(lambda: bet(player, live_table, player=2500)) == 0


class TestCheminDeFer:
    """No exception for games of players against each other is taken for granted."""

    @pytest.fixture
    def live_table(self, player) -> LiveTable:
        made = a_chemin_table(currency="GBP")
        sit(player, made, 1)
        sit(a_player(PACED, real=MONEY), made, 2)
        return made

    def test_a_bank_and_a_deal_elsewhere_count_together(self, player, live_table):
        take = lambda: answer(player, live_table, "take_bank", 10_000)  # noqa: E731  (the start of a game)
        one, _ = seats_of(player)
        deal(one)
        assert begun(take) == 0
        make_older(player)
        assert begun(take, lambda: deal(one)) == 1
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is None, "a refusal is no malfunction"


class TestApiClients:
    def test_play_for_free_only(self, player):
        solo, live_table = a_table(), a_live_table()
        client = client_of(player)
        for money, status in (("real", 403), ("free", 200)):
            seat = client.post(f"tables/{solo.slug}/{money}/solo-seat/").json()
            asked = {"round_id": seat["round_id"], "table_version": 1, "bets": {"player": 1000}}
            answered = client.post(f"tables/{solo.slug}/{money}/rounds/", asked)
            assert answered.status_code == status, answered.content
            if status != 200:
                refused(answered, 403, "api-clients-may-not-play")
        chip = {"round_id": str(round_at(live_table).pk), "table_version": 1, "bet": "player", "chip": 2500}
        refused(client.post(at(live_table, "bets"), chip), 403, "api-clients-may-not-play")

    def test_the_database_knows_their_sessions(self, player):
        seat = solo_seat_at(player=player, table_id=a_table().pk, mode=Mode.REAL)
        client_of(player).post(f"tables/{seat.table.slug}/free/solo-seat/")
        session = ApiToken.objects.get(user=player.user).session_id
        with pytest.raises(ApiClientMayNotPlay):
            play_round(
                player=player, table_id=seat.table_id, mode=Mode.REAL, round_id=seat.round_id, slip_version=None,
                bets={"player": 1000}, session=session,
            )  # fmt: skip
        assert not Participation.objects.exists()


class TestAStudio:
    """A round of a studio ends with its win."""

    ROUNDS = (lambda game: (game.bet(1000), game.win(0)), lambda game: game.both(1000, 0))

    @pytest.mark.parametrize("play", ROUNDS)
    def test_starts_another_game_by_the_next_bet_under_the_same_name(self, player, play: Callable[[Game], object]):
        game = a_game(player)
        play(game)
        with pytest.raises(Refused, match="too-soon"):
            play(game)
        make_older(player)
        play(game)
        assert game.now == MONEY - 2 * 1000

    def test_adds_to_a_game_whenever_it_likes(self, player):
        game = a_game(player)
        for _ in range(3):
            game.bet(1000)
        assert game.now == MONEY - 3 * 1000


class TestThePage:
    def test_says_how_long_to_wait_and_shows_no_error(self, player):
        seat = a_seat(player, a_table(), Mode.REAL, player=1000)
        browser = Client()
        browser.force_login(player.user)
        address = f"/en/table/{seat.table.slug}/real/"
        assert "data-wait" not in browser.get(address).text

        def press() -> str:
            now = SoloSeat.objects.get(pk=seat.pk)
            form = {"action": "rebet_deal" if now.last_stakes else "deal", "round_id": now.round_id, "table_version": 1}
            form |= {"slip_version": now.slip_version, "idempotency_key": uuid4()}
            return str(browser.post(f"{address}play/", form, headers={"HX-Request": "true"}).text)

        assert f'data-wait="{SECONDS}"' in press()
        page = press()
        assert "The next game can start in 5 seconds." in page
        assert "call__notice--error" not in page
        assert Participation.objects.count() == 1
        make_older(player)
        assert "The next game can start" not in press()
        assert Participation.objects.count() == 2
