"""Statements that the role of web and workers sends to a table of Chemin de Fer without our code.

Each attack is refused, and succeeds once the right is granted or the condition is removed from the
function.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from hmac import digest
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, transaction
from pytest_django import DjangoDbBlocker

from audit.log import canonical
from audit.models import Event
from games.chemin import play
from games.deals import shoe_binding
from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.engine.commitments import coup_text
from games.models import CheminCoup, CheminSeat, CheminTenure, LiveRound, LiveTable
from players.account import terms
from players.models import Player
from players.protection import exclusions
from tests.attacks.statements import refused, send
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_seated_player,
    a_staked_coup,
    asked_at,
    cash,
    chemin_of,
    let_pass,
    seated_players,
    seen_of,
)
from tests.games.test_rounds_are_written_by_functions import dealer_key
from tests.harness.databases import kept_for_several_tests
from tests.harness.owner import as_owner, without
from wallet import ledger
from wallet.ledger import Journal, Line
from wallet.models import Account, AccountKind, Mode

pytestmark = pytest.mark.django_db

STORE = "SELECT games_store_move(%s, %s::jsonb, %s::jsonb)"


@pytest.fixture
def table() -> LiveTable:
    return a_chemin_table()


@pytest.fixture(scope="class")
def seated(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveTable]:
    """A table with players at which somebody is asked to take the bank."""
    with django_db_blocker.unblock(), kept_for_several_tests():
        live_table = a_chemin_table()
        seated_players(live_table)
        yield live_table


@pytest.fixture(scope="class")
def staked(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveTable]:
    """A table at which the banker is to deal the cards."""
    with django_db_blocker.unblock(), kept_for_several_tests():
        live_table = a_chemin_table()
        seated_players(live_table)
        a_staked_coup(live_table)
        yield live_table


def seat_of(player: Player) -> CheminSeat:
    return CheminSeat.objects.get(player=player, left_at=None)


def a_move(table: LiveTable, kind: str, seat: CheminSeat | None, **changes: object) -> str:
    """Return the next move of a table, as a player's decision."""
    move = {
        "number": chemin_of(table).move + 1,
        "kind": kind,
        "decider": "player",
        "seat": seat and seat.pk,
        "call": "",
        "events": [],
        "why": "wish",
        "terms": terms.VERSION,
        "minutes": 60,
        **changes,
    }
    return json.dumps(move, default=str)


def store(table: LiveTable, move: str, state: dict[str, object]) -> None:
    """Store a move at the time of its transaction, with any state."""
    send(
        "SELECT games_store_move(%s, %s::jsonb || jsonb_build_object('at', clock_timestamp()), %s::jsonb)",
        table.pk,
        move,
        json.dumps(state),
    )


def is_refused(table: LiveTable, move: str, state: dict[str, object], by: str) -> None:
    """Demand that a move is refused with this SQLSTATE."""
    with pytest.raises(DatabaseError) as error:
        store(table, move, state)
    assert isinstance(error.value.__cause__, psycopg.Error)
    assert (error.value.__cause__.sqlstate, str(error.value)) == (by, str(error.value))


DIRECT = {
    "games_chemintable": """
        UPDATE games_chemintable
        SET state = jsonb_set(state, '{bank,1}', '1000000'), deadline = deadline + interval '1 day'
    """,
    "games_cheminseat": "UPDATE games_cheminseat SET left_at = clock_timestamp()",
    "games_chemintenure": "UPDATE games_chemintenure SET home = home + 1",
    "games_cheminmove": """
        INSERT INTO games_cheminmove (live_table_id, number, seat_id, kind, call, decider, events, at)
        SELECT live_table_id, number + 1000, seat_id, 'stand', '', 'player', '[]', at FROM games_cheminmove
    """,
    "games_chemincoup": """
        INSERT INTO games_chemincoup (round_id, tenure_id, banker_id, bank, call, at_risk, outcome, punter_departs,
                                      banker_departs, tax, at)
        SELECT r.id, t.id, t.seat_id, 1, '', 1, 'punter', false, false, 0, now()
        FROM games_liveround AS r CROSS JOIN games_chemintenure AS t
    """,
}


class TestNothingIsWrittenDirectly:
    @pytest.mark.parametrize("table_name", DIRECT)
    def test_but_by_functions(self, staked, table_name):
        refused(DIRECT[table_name])
        as_owner(f"GRANT INSERT, UPDATE ON {table_name} TO sabot_app")
        send(DIRECT[table_name])

    def test_no_seat_and_no_stake_is_added(self, staked):
        refused("INSERT INTO games_cheminseat DEFAULT VALUES")
        refused("INSERT INTO games_cheminstake DEFAULT VALUES")


class TestADecision:
    def test_is_that_of_the_seat_that_is_asked(self, seated):
        asked, state = asked_at(seated), chemin_of(seated).state
        other = CheminSeat.objects.filter(left_at=None).exclude(player=asked).first()
        move = a_move(seated, "pass", other)
        is_refused(seated, move, state, "SB121")
        without("games_check_decision", "turn IS DISTINCT FROM seat.number")
        store(seated, move, state)

    @pytest.mark.parametrize("kind", ["deal_cards", "lay_stake", "make_bid", "keep_bank"])
    def test_fits_the_phase(self, seated, kind):
        is_refused(
            seated, a_move(seated, kind, seat_of(asked_at(seated)), amount=None), chemin_of(seated).state, "SB121"
        )

    def test_is_in_time(self, seated):
        move, state = a_move(seated, "pass", seat_of(asked_at(seated))), chemin_of(seated).state
        as_owner("UPDATE games_chemintable SET deadline = clock_timestamp()")
        is_refused(seated, move, state, "SB122")
        without("games_check_decision", "turn IS NOT NULL AND clock_timestamp() >= at_table.deadline")
        store(seated, move, state)

    def test_is_not_taken_by_the_croupier_before_its_time(self, seated):
        move, state = a_move(seated, "pass", seat_of(asked_at(seated)), decider="croupier"), chemin_of(seated).state
        is_refused(seated, move, state, "SB122")
        without("games_check_decision", "(clock_timestamp() >= at_table.deadline) IS NOT TRUE")
        store(seated, move, state)

    @pytest.mark.parametrize("amount", [999, 100_001, None])
    def test_keeps_to_the_limits_of_the_bank(self, seated, amount):
        move = a_move(seated, "take_bank", seat_of(asked_at(seated)), amount=amount)
        is_refused(seated, move, chemin_of(seated).state, "SB123")

    @pytest.mark.parametrize("amount", [10_001, 0, -1])
    def test_stakes_no_more_than_the_bank_covers(self, seated, amount):
        a_bank(seated)
        while seen_of(seated).phase is Phase.CALLS:
            let_pass(seated)
        move = a_move(seated, "lay_stake", seat_of(asked_at(seated)), amount=amount)
        is_refused(seated, move, chemin_of(seated).state, "SB123")

    def test_is_the_next_one(self, seated):
        move = a_move(seated, "pass", seat_of(asked_at(seated)), number=chemin_of(seated).move)
        is_refused(seated, move, chemin_of(seated).state, "SB120")

    def test_has_no_earlier_time(self, seated):
        move = json.loads(a_move(seated, "pass", seat_of(asked_at(seated))))
        move["at"] = (there(chemin_of(seated).asked_at) - timedelta(days=1)).isoformat()
        refused(STORE, seated.pk, json.dumps(move), json.dumps(chemin_of(seated).state), by="SB120")

    def test_is_not_taken_at_a_stopped_or_closed_table(self, seated):
        move, state = a_move(seated, "pass", seat_of(asked_at(seated))), chemin_of(seated).state
        as_owner("UPDATE games_table SET status = 'closed'")
        is_refused(seated, move, state, "SB120")
        as_owner("UPDATE games_table SET status = 'open'")
        store(seated, move, state)


class TestASeat:
    def a_join(self, table: LiveTable, who: Player, account_id: int, **changes: object) -> str:
        newcomer = {"number": 9, "player": who.pk, "account": account_id, "is_random": False, "session": None}
        return a_move(table, "join", None, newcomer={**newcomer, **changes})

    def test_has_the_account_of_its_player(self, table):
        a_seated_player(table, 1)
        thief, victim = a_player(real=MONEY), a_player(real=MONEY)
        state = chemin_of(table).state
        state["seats"].append([9, "playing"])
        move = self.a_join(table, thief, cash(victim).pk)
        is_refused(table, move, state, "SB124")
        without("games_store_move", "a.owner_id IS NOT DISTINCT FROM new.player", "true")
        store(table, move, state)
        assert seat_of(thief).account_id == cash(victim).pk

    @pytest.mark.parametrize("changes", [{"number": 10}, {"number": 0}, {"player": None}])
    def test_is_one_of_the_table_and_no_house_player_has_a_players_account(self, table, changes):
        player = a_player(real=MONEY)
        is_refused(table, self.a_join(table, player, cash(player).pk, **changes), chemin_of(table).state, "SB124")

    def test_is_for_the_money_of_the_table(self, table):
        player = a_player(real=MONEY, free=MONEY)
        free = cash(player, Mode.FREE).pk
        is_refused(table, self.a_join(table, player, free), chemin_of(table).state, "SB124")

    def test_has_no_session_of_somebody_else(self, table):
        player = a_seated_player(table, 1)
        move = a_move(table, "step_away", seat_of(player), session=uuid4())
        is_refused(table, move, chemin_of(table).state, "SB124")


class TestAPlayerWhoMayNotPlay:
    """Excluded, or without the newest terms: the player puts no money at risk and takes no seat."""

    def a_call(self, table: LiveTable) -> str:
        return a_move(table, "take_bank", seat_of(asked_at(table)), amount=10_000)

    def test_takes_no_bank(self, table):
        player, _ = seated_players(table, 2)
        state, move = chemin_of(table).state, self.a_call(table)
        exclusions.pause(player=player, by=str(player))
        is_refused(table, move, state, "SB102")
        without("games_store_move", "IF reason IS NOT NULL THEN", "IF false THEN")
        store(table, move, state)

    def test_has_agreed_to_the_terms(self, table):
        seated_players(table, 2)
        move = a_move(table, "take_bank", seat_of(asked_at(table)), amount=10_000, terms="another version")
        is_refused(table, move, chemin_of(table).state, "SB102")

    def test_sits_down_nowhere_and_does_not_come_back(self, table):
        _, second = seated_players(table, 2)
        play.step_away(player=second, live_table_id=table.pk)
        exclusions.pause(player=second, by=str(second))
        away = CheminSeat.objects.get(player=second)
        is_refused(table, a_move(table, "come_back", away), chemin_of(table).state, "SB102")
        newcomer = {"number": 5, "player": second.pk, "account": cash(second).pk, "is_random": False, "session": None}
        joins = a_move(table, "join", None, newcomer=newcomer, events=[{"event": "PlayerJoined", "seat": 5}])
        is_refused(table, joins, chemin_of(table).state, "SB102")
        is_refused(table, joins.replace('"player"', '"house"'), chemin_of(table).state, "SB124")


class TestTheState:
    @pytest.mark.parametrize(
        ("path", "becomes", "what"),
        [
            ("bank", [1, 10_000_000], "bank"),
            ("stakes", [[2, 4_001]], "stakes"),
            ("stakes", [[3, 4_000]], "stakes"),
            ("shoe", {"gone": 4, "cards": 312}, "cards"),
            ("hands", {"first": 0, "punter_drew": False, "banker_drew": False}, "cards"),
        ],
    )
    def test_has_the_money_of_the_ledger_and_the_cards_of_the_shoe(self, staked, path, becomes, what):
        state = chemin_of(staked).state
        (state["coup"] if path in ("stakes", "hands") else state)[path] = becomes
        seat = CheminSeat.objects.get(number=3)
        move = a_move(staked, "step_away", seat, events=[{"event": "PlayerAway", "seat": 3}])
        state["seats"][2] = [3, "away"]
        is_refused(staked, move, state, "SB125")
        without("games_check_chemin_state", f"THEN '{what}'", "THEN NULL")
        store(staked, move, state)

    def test_is_not_that_of_a_void_coup_whose_stakes_are_left(self, staked):
        void = "SELECT games_end_void(%s)"
        refused(void, LiveRound.objects.get().pk, by="SB075")
        without("games_end_void", "a.kind = 'stakes' AND a.balance <> 0", "false")
        send(void, LiveRound.objects.get().pk)

    def test_gives_nobody_more_time_within_a_coup(self, staked):
        refused("SELECT games_ask_again(%s)", staked.pk, by="SB122")
        without("games_ask_again", "(asked.deadline <= moment - interval '5 seconds') IS NOT TRUE")
        send("SELECT games_ask_again(%s)", staked.pk)


class TestTheStateBetweenCoups:
    def test_is_not_emptied_in_the_state_alone(self, seated):
        asked, state = asked_at(seated), chemin_of(seated).state
        state["seats"] = [seat for seat in state["seats"] if seat[0] == seat_of(asked).number]
        is_refused(seated, a_move(seated, "pass", seat_of(asked)), state, "SB125")
        without("games_check_chemin_state", "THEN 'seats'", "THEN NULL")
        store(seated, a_move(seated, "pass", seat_of(asked)), state)

    def test_goes_back_to_no_earlier_seat(self, seated):
        let_pass(seated)
        state = chemin_of(seated).state
        changed = a_move(seated, "pass", seat_of(asked_at(seated)))
        state["asked"] = 1
        is_refused(seated, changed, state, "SB125")

    def test_is_not_cleared_while_money_is_at_the_table(self, seated):
        refused("SELECT games_clear_table(%s)", seated.pk + 1000, by="SB120")
        a_bank(seated)
        refused("SELECT games_clear_table(%s)", seated.pk, by="SB120")
        as_owner("UPDATE games_liveround SET phase = 'void'")
        refused("SELECT games_clear_table(%s)", seated.pk, by="SB125")


class TestMoney:
    def test_of_a_coup_is_not_shared_out_by_the_application(self, staked):
        """The stakes and the bank go to the punter, although no card is dealt."""
        coup, punter = LiveRound.objects.get(), CheminSeat.objects.get(number=2)
        stakes = Account.objects.get(kind=AccountKind.STAKES)
        bank = Account.objects.get(kind=AccountKind.BANK)
        lines = [(stakes.pk, -4_000), (bank.pk, -10_000), (punter.account_id, 14_000)]
        payout = Journal(uuid4(), "settle", tuple(Line(at, "SEK", "R", amount) for at, amount in lines), coup.pk)
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(payout)
        without("wallet_write", "'withdraw_paid',", "'withdraw_paid', 'settle',")
        ledger.post(payout)

    def test_that_somebody_else_staked_is_not_returned_to_a_player(self, staked):
        lay = "SELECT games_lay_stake(%s, %s, %s)"
        without("games_lay_stake", "AND r.phase = 'betting'", "")
        refused(lay, LiveRound.objects.get().pk, 3, -4_000, by="SB009")
        without("wallet_table_account_allows", "HAVING sum(staked.amount) > 0", "HAVING false")
        send(lay, LiveRound.objects.get().pk, 3, -4_000)

    def test_is_staked_by_players_at_the_table_while_the_coup_takes_stakes(self, staked):
        lay, coup = "SELECT games_lay_stake(%s, %s, %s)", LiveRound.objects.get().pk
        refused(lay, coup, 3, 1_000, by="SB124")
        refused(lay, uuid4(), 3, 1_000, by="SB124")
        without("games_lay_stake", "AND r.phase = 'betting'", "")
        refused(lay, coup, 9, 1_000, by="SB124")
        send(lay, coup, 3, 1_000)

    def test_of_a_bank_does_not_go_home_while_stakes_wait_for_it(self, staked):
        home = "SELECT games_pay_home(%s, %s, 0)"
        tenure = CheminTenure.objects.get().pk
        refused(home, uuid4(), 10_000, by="SB124")
        refused(home, tenure, 10_000, by="SB009")
        without("wallet_table_account_allows", "pool.balance > 0", "false")
        send(home, tenure, 10_000)


class TestATableOfItsOwn:
    def test_gives_nobody_more_time_between_two_coups(self, table):
        seated_players(table)
        refused("SELECT games_ask_again(%s)", table.pk, by="SB122")
        before = chemin_of(table).asked_at
        as_owner("UPDATE games_table SET status = 'paused'")
        send("SELECT games_ask_again(%s)", table.pk)
        assert there(chemin_of(table).asked_at) > there(before)

    def test_keeps_the_seat_of_an_away_player_no_longer(self, table):
        _, second = seated_players(table, 2)
        play.step_away(player=second, live_table_id=table.pk)
        before = there(seat_of(second).away_since)
        send("SELECT games_keep_away_seats(%s)", table.pk)
        assert seat_of(second).away_since == before
        without("games_keep_away_seats", "g.status = 'paused'", "true")
        send("SELECT games_keep_away_seats(%s)", table.pk)
        assert there(seat_of(second).away_since) > before

    def test_is_not_a_bank_without_a_move(self, table):
        seated_players(table)
        begin = "SELECT games_begin_tenure(%s, %s, 1, %s, clock_timestamp())"
        refused(begin, table.pk, uuid4(), 1, by="SB124")
        refused(begin, table.pk + 1_000, uuid4(), 10_000, by="SB124")
        with transaction.atomic():
            send("SET CONSTRAINTS ALL IMMEDIATE")
            refused(begin, table.pk, uuid4(), 10_000, by="SB141")
        as_owner("DROP TRIGGER games_chemintenure_has_its_move ON games_chemintenure")
        send(begin, table.pk, uuid4(), 10_000)
        assert cash(asked_at(table)).balance == MONEY - 10_000

    def test_is_held_for_no_bid_where_nothing_is_for_sale(self, table):
        seated_players(table)
        bid = "SELECT games_hold_bid(%s, %s, 1, 10_000)"
        refused(bid, table.pk, uuid4(), by="SB120")
        without("games_hold_bid", "bidder.phase <> 'auction' OR", "")
        refused(bid, table.pk, uuid4(), by="SB123")
        without("games_hold_bid", "bidder.full_amount) IS NOT TRUE", "bidder.full_amount) IS NULL AND false")
        send(bid, table.pk, uuid4())
        assert cash(asked_at(table)).held == 10_000


FINISH = "SELECT games_finish_coup(%s, %s, %s, %s, %s, %s, %s, false, false, clock_timestamp(), %s)"


def proven(cards: str) -> bytes:
    """Return the proof of a dealer that has dealt these cards for the coup, from the first card of its shoe."""
    coup = LiveRound.objects.select_related("shoe__live_table__table").get()
    text = coup_text(shoe_binding(coup.shoe), str(coup.pk), 0, cards)
    return digest(dealer_key(), text.encode(), "sha256")


class TestACoup:
    """The cards, its declarations and its outcome, as the database can compare them."""

    @pytest.fixture
    def settled(self, staked: LiveTable) -> LiveRound:
        """A coup whose cards have left the shoe, and which is not paid."""
        as_owner("UPDATE games_liveround SET phase = 'closed' WHERE phase = 'betting'")
        as_owner("UPDATE games_liveround SET phase = 'dealt', first_card = 0")
        as_owner("UPDATE games_shoe SET gone = 4")
        as_owner("UPDATE games_liveround SET phase = 'settled'")
        return LiveRound.objects.get()

    @pytest.mark.parametrize(
        ("cards", "outcome", "punter_draws", "banker_draws"),
        [
            ("9H 2D KS 2C", "banker", None, None),  # 9 against 4
            ("9H 2D KS 2C", "punter", True, None),  # a natural declares nothing
            ("2H 2D KS 2C", "banker", False, None),  # the banker has to declare
            ("2H 2D KS 2C", "banker", True, False),  # a card is missing
            ("9H 2D KS 2C 3D", "punter", None, None),  # the shoe gave four
            ("9H 2D KS XX", "punter", None, None),
        ],
    )
    def test_ends_as_its_cards_say(self, settled, cards, outcome, punter_draws, banker_draws):
        tenure = CheminTenure.objects.get().pk
        refused(
            FINISH, settled.pk, tenure, uuid4(), cards, outcome, punter_draws, banker_draws, proven(cards), by="SB126"
        )

    def test_pays_what_the_rules_say_once(self, settled):
        tenure = CheminTenure.objects.get().pk
        proof = proven("9H 2D KS 2C")
        send(FINISH, settled.pk, tenure, uuid4(), "9H 2D KS 2C", "punter", None, None, proof)
        coup = CheminCoup.objects.get()
        assert [(stake.stake, stake.returned) for stake in coup.stakes.all()] == [(4_000, 8_000)]
        stored = bytes(Event.objects.get(kind="round.settled").body).decode()
        assert canonical(json.loads(stored)) == stored
        refused(FINISH, settled.pk, tenure, uuid4(), "9H 2D KS 2C", "punter", None, None, proof, by="SB060")

    def test_is_not_finished_without_the_dealer_s_proof(self, settled):
        arguments = [settled.pk, CheminTenure.objects.get().pk, uuid4(), "9H 2D KS 2C", "punter", None, None]
        for proof in (None, b"", proven("9H 2D KS 2C 3D")):
            refused(FINISH, *arguments, proof, by="SB126")
        without("games_finish_coup", "AND games_is_of_dealer(", "AND true IS DISTINCT FROM games_is_of_dealer(")
        send(FINISH, *arguments, b"")

    def test_is_not_paid_before_it_is_settled(self, staked):
        tenure = CheminTenure.objects.get().pk
        refused(
            FINISH, LiveRound.objects.get().pk, tenure, uuid4(), "9H 2D KS 2C", "punter", None, None, b"", by="SB060"
        )

    def test_that_is_void_has_returned_its_stakes(self, staked):
        tenure = CheminTenure.objects.get().pk
        refused(FINISH, LiveRound.objects.get().pk, tenure, uuid4(), "", "", None, None, None, by="SB064")
