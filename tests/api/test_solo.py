"""Solo play through the API: a seat, chips, a deal, and the same figures as on the page and in the ledger."""

from typing import Any
from uuid import UUID

import pytest

from games import solo
from games.deals import Commitment, Deal, deal
from games.engine.commitments import Binding, Purpose
from games.engine.shoe import shuffle
from games.models import Participation, Round, SoloSeat, Table
from games.solo import solo_seat_at
from games.solo.page import game_view
from players.models import ApiToken, Player, Scope, Session
from tests.api.at_solo import Answer, AtTable, answered, refused
from tests.api.client import ApiClient
from tests.builders import a_golden_table, a_player, a_purse, a_table
from tests.people import events
from wallet.ledger import accounts, purse
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
CHIP = 5000


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def table() -> Table:
    return a_table()


@pytest.fixture
def at(player: Player, table: Table) -> AtTable:
    """An API client at its open seat."""
    seat = AtTable(ApiClient(player.user), table)
    answered(seat.open())
    return seat


def dealt_from(line: Answer) -> list[str]:
    """Return the cards of a round, dealt again from the data that the API has published about it."""
    cards = shuffle(bytes.fromhex(line["seed"]), line["decks"], line["player_value"])
    return [card.code for card in cards[: len(line["result"]["cards"])]]


class TestASeat:
    def test_is_opened_once_and_read_in_its_current_state(self, at, player):
        first = at.solo_seat
        assert answered(at.open()) == first == answered(at.api_client.get(at.base + "solo-seat/"))
        (solo_seat,) = SoloSeat.objects.filter(player=player)
        assert (first["round_id"], first["commitment"]) == (str(solo_seat.round_id), solo_seat.commitment)

    def test_is_not_opened_by_reading(self, player, table):
        refused(ApiClient(player.user).get(f"tables/{table.slug}/real/solo-seat/"), 404, "no-seat")
        assert not SoloSeat.objects.exists()

    def test_is_not_opened_by_a_api_client_that_only_reads(self, player, table):
        refused(ApiClient(player.user, Scope.READ).post(f"tables/{table.slug}/real/solo-seat/"), 403, "forbidden")
        assert not SoloSeat.objects.exists()

    @pytest.mark.sweep
    def test_has_the_figures_of_the_page(self, at, player, table):
        at.chip("player", CHIP)
        at.chip("tie", 1000)
        page = game_view(solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL), language="en")
        solo_seat = at.solo_seat
        assert solo_seat["slip"] == {spot.code: spot.stake for spot in page.spots if spot.stake}
        assert solo_seat["staked"] == page.bet_total
        assert solo_seat["balance"] - solo_seat["staked"] == page.balance
        assert solo_seat["chips"] == [chip.value for chip in page.tray]
        assert solo_seat["minimum"] == {spot.code: spot.minimum for spot in page.spots}
        assert solo_seat["maximum"] == {spot.code: spot.maximum for spot in page.spots}
        assert (solo_seat["round_id"], solo_seat["commitment"]) == (str(page.next_round_id), page.commitment)
        assert (solo_seat["slip_version"], solo_seat["table_version"]) == (page.slip_version, page.table_version)
        assert (solo_seat["status"] == "open", solo_seat["can_undo"]) == (page.is_open, page.can_undo)


class TestTheSlip:
    def test_is_composed_chip_by_chip_and_undone(self, at):
        at.chip("player", CHIP)
        at.chip("player", CHIP)
        assert answered(at.chip("tie", 1000))["slip"] == {"player": 2 * CHIP, "tie": 1000}
        assert answered(at.change("undo"))["slip"] == {"player": 2 * CHIP}
        assert answered(at.change("double"))["slip"] == {"player": 4 * CHIP}
        assert answered(at.change("clear"))["slip"] == {}

    @pytest.mark.sweep
    def test_is_the_one_that_every_window_sees(self, at, player, table):
        at.chip("banker", CHIP)
        assert solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL).slip == {"banker": CHIP}

    @pytest.mark.sweep
    def test_moves_no_money(self, at, player):
        at.chip("banker", CHIP)
        assert accounts.balance(player.pk, Mode.REAL) == MONEY


class TestADeal:
    def test_plays_the_round_that_was_committed_to_and_tells_the_next(self, at, player):
        before = answered(at.chip("player", CHIP))
        played = answered(at.deal())
        line = played["round"]
        assert (line["id"], line["commitment"]) == (before["round_id"], before["commitment"])
        binding = Binding(Purpose.SOLO, line["id"], line["table_id"], line["decks"], line["rules_digest"])
        assert binding.commitment(bytes.fromhex(line["seed"])) == before["commitment"]
        assert {name: before[name] for name in ("table_id", "decks", "rules_digest")} == {
            name: line[name] for name in ("table_id", "decks", "rules_digest")
        }
        assert dealt_from(line) == line["result"]["cards"]
        assert played["solo_seat"]["round_id"] != before["round_id"]
        assert played["repeated"] is False

    def test_is_answered_as_it_is_read_later(self, at):
        for bets in ({"banker": CHIP, "tie": 1000}, {"player": CHIP}):
            line = answered(at.play(bets, player_value="så här"))["round"]
            assert line == answered(at.api_client.get(f"rounds/{line['id']}/"))

    @pytest.mark.sweep
    def test_has_the_figures_of_the_ledger_and_of_what_is_stored(self, at, player):
        at.chip("player", CHIP)
        at.chip("tie", 1000)
        played = answered(at.deal())
        line, part = played["round"], Participation.objects.get(player=player)
        assert (line["staked"], line["paid"], line["commission"]) == (part.staked, part.paid, part.commission)
        assert (line["balance_before"], line["balance_after"]) == (part.balance_before, part.balance_after)
        assert played["solo_seat"]["balance"] == line["balance_after"] == accounts.balance(player.pk, Mode.REAL)
        assert {bet["bet"]: (bet["stake"], bet["payout"], bet["result"]) for bet in line["bets"]} == {
            wager.bet: (wager.stake, wager.payout, wager.result) for wager in part.wagers.all()
        }
        assert sum(bet["payout"] for bet in line["bets"]) == line["paid"]

    @pytest.mark.sweep
    def test_of_the_bets_of_a_whole_round_leaves_a_slip_alone_that_it_refuses(self, at, player):
        at.chip("banker", CHIP)
        refused(at.play({"tie": 10 * MONEY}), 422, "over-maximum")
        assert answered(at.api_client.get(at.base + "solo-seat/"))["slip"] == {"banker": CHIP}
        played = answered(at.play({"tie": 3000, "banker": 7000}))
        assert {bet["bet"]: bet["stake"] for bet in played["round"]["bets"]} == {"tie": 3000, "banker": 7000}
        assert played["solo_seat"]["slip"] == {}
        assert played["solo_seat"]["last_stakes"] == {"tie": 3000, "banker": 7000}

    @pytest.mark.sweep
    def test_stakes_what_no_chip_of_the_table_is_worth(self, at):
        assert answered(at.play({"player": 13_000}))["round"]["staked"] == 13_000

    @pytest.mark.sweep
    def test_doubles_and_repeats(self, at):
        at.chip("player", CHIP)
        at.deal()
        assert answered(at.deal(how="rebet_deal"))["round"]["staked"] == CHIP
        at.chip("tie", 1000)
        assert answered(at.deal(how="double_deal"))["round"]["staked"] == 2000

    @pytest.mark.sweep
    @pytest.mark.parametrize("said", ["räksmörgås", " a "])
    def test_mixes_in_what_the_player_says(self, at, said):
        played = answered(at.play({"player": CHIP}, player_value=said))["round"]
        assert played["player_value"] == said
        assert dealt_from(played) == played["result"]["cards"]

    def test_for_free_money_moves_no_other(self, player, table):
        seat = AtTable(ApiClient(player.user), table, "free")
        seat.open()
        answered(seat.play({"player": CHIP}))
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert Round.objects.get().mode == Mode.FREE

    def test_belongs_to_the_session_of_the_api_client(self, at, player):
        answered(at.play({"player": CHIP}))
        (session,) = Session.objects.filter(user=player.user)
        assert Participation.objects.get().session == session.pk == ApiToken.objects.get().session_id
        (event,) = events("round.settled")
        assert event["data"]["session"] == str(session.pk)

    def test_is_found_and_not_played_again_by_another_call(self, at, player):
        at.chip("player", CHIP)
        said = {name: at.solo_seat[name] for name in ("round_id", "slip_version")}
        first = answered(at.deal(**said))
        again = answered(at.deal(**said))
        assert again["repeated"] is True
        assert (again["round"], again["solo_seat"]) == (first["round"], first["solo_seat"])
        assert Round.objects.count() == 1


class TestABalanceOfTheGame:
    @pytest.fixture
    def golden(self, player) -> AtTable:
        seat = AtTable(ApiClient(player.user), a_golden_table())
        answered(seat.open())
        return seat

    def test_is_filled_and_emptied(self, golden, player):
        assert answered(golden.api_client.post(golden.base + "purse/re-buy/", {"amount": 20_000})) == {
            "amount": 20_000,
            "balance": 20_000,
            "account": MONEY - 20_000,
            "currency": "SEK",
        }
        solo_seat = answered(golden.api_client.get(golden.base + "solo-seat/"))
        assert (solo_seat["balance"], solo_seat["account"]) == (20_000, MONEY - 20_000)
        assert answered(golden.api_client.post(golden.base + "purse/leave/"))["amount"] == 20_000
        assert (purse.balance(player, Mode.REAL), accounts.balance(player.pk, Mode.REAL)) == (0, MONEY)

    def test_is_what_the_game_plays_on_and_its_bets_stand(self, golden, player):
        a_purse(player, 20_000)
        golden.chip("player", CHIP)
        played = answered(golden.deal())
        assert played["solo_seat"]["balance"] == played["round"]["balance_after"] == purse.balance(player, Mode.REAL)
        assert played["solo_seat"]["slip"] == {"player": CHIP}
        assert answered(golden.chip("player", 1000, take=True))["slip"] == {"player": CHIP - 1000}

    @pytest.mark.sweep
    def test_another_game_has_none(self, at):
        for path, body in (("purse/re-buy/", {"amount": 1000}), ("purse/leave/", {})):
            refused(at.api_client.post(at.base + path, body), 404, "not-found")


class TestNothingIsRevealedBeforeItsTime:
    def test_no_answer_has_the_seed_or_a_card_of_the_round_to_come(self, at, player, table, monkeypatch):
        """The dealer alone can open the seed, and is asked by no call but the deal."""
        dealt: list[UUID] = []

        def watched(purpose: Purpose, committed: Commitment, **asked: Any) -> Deal:
            dealt.append(committed.round_id)
            return deal(purpose, committed, **asked)

        monkeypatch.setattr(solo, "deal", watched)
        solo_seat = SoloSeat.objects.get(player=player)
        hidden = bytes(solo_seat.sealed_seed).hex()
        answers = [
            at.chip("player", CHIP),
            at.change("undo"),
            at.open(),
            *(
                at.api_client.get(path)
                for path in ("tables/", at.base, at.base + "solo-seat/", "rounds/", "rounds/playing/")
            ),
            at.api_client.get(f"rounds/{solo_seat.round_id}/"),
            at.play({"player": 1}),
        ]
        assert not dealt
        for answer in answers:
            assert hidden not in answer.content.decode()
        refused(answers[-2], 404, "not-found")
        seed = answered(at.play({"player": CHIP}))["round"]["seed"]
        assert dealt == [solo_seat.round_id]
        assert not [answer for answer in answers if seed in answer.content.decode()]
