"""The public view of a Chemin de Fer table, and the private view of each player."""

from dataclasses import replace

import pytest

from games.chemin.pages import board
from games.chemin.pages.presentation import OwnView, PublicView
from games.chemin.pages.rendering import log_view
from games.chemin.state.queries import Played
from games.chemin.state.snapshots import own_state, with_funds
from games.engine.chemin.actions import (
    AskCroupier,
    DealCards,
    DrawCard,
    GiveSuite,
    Join,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    Pass,
    Stand,
    StepAway,
    TakeBank,
    TimeUp,
)
from games.engine.chemin.rules import Call
from tests.chemin import shown
from tests.engine.chemin.evening import Evening, alone, bank_taken, for_others, play_out


def public(evening: Evening) -> PublicView:
    return board.public_view(shown.seen(evening.state, evening.events), "en")


def own(evening: Evening, number: int | None, last: Played | None = None) -> OwnView:
    seen = shown.seen(evening.state, evening.events)
    theirs = replace(own_state(seen, shown.own_row(number)), last=last)
    return board.own_view(with_funds(seen, theirs), theirs, "en", None)


def plain(text: str) -> str:
    """Return the text with ordinary spaces instead of no-break spaces."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def labels(view: OwnView) -> list[str]:
    return [option.label for option in view.options]


class TestForEverybody:
    def test_every_seat_shows_its_player_and_their_money_before_the_croupier(self):
        evening = bank_taken()
        evening.do(MakeCall(2, Call.BANCO))
        evening.do(LayStake(3, 300))
        positions = {seat_number.number: seat_number for seat_number in public(evening).seats}
        assert [seat_number.state for seat_number in positions.values()] == ["playing"] * 4 + ["free"]
        assert positions[1].bank == 1000
        assert (positions[2].stake, positions[2].call) == (700, "Banco")
        assert positions[3].stake == 300
        assert positions[4].is_turn
        assert not any(seat_number.is_house_player for seat_number in positions.values())

    def test_bids_are_at_their_seats_and_the_amount_on_sale_in_the_middle(self):
        evening = alone("2C 9C TC TD 3C 4C")
        play_out(evening, punter_draws=True, banker_draws=False)
        evening.do(GiveSuite(1))
        evening.all_pass()
        evening.do(MakeBid(2, 400))
        view = public(evening)
        assert view.bank is None
        assert view.for_sale == 1950  # the bank and what it won, less tax
        assert {seat_number.number: seat_number.bid for seat_number in view.seats if seat_number.bid} == {2: 400}

    def test_cards_that_lie_face_down_are_backs_without_a_total(self):
        view = public(for_others("3H 4D 2S 2C 5C"))
        assert view.punter.cards == (None, None)
        assert view.banker.cards == (None, None)
        assert (view.punter.total, view.banker.total) == (None, None)
        assert [seat_number.number for seat_number in view.seats if seat_number.holds_cards] == [2]

    def test_the_result_tells_totals_and_tax(self):
        evening = for_others("2C 9C TC TD 3C 4C")
        play_out(evening, punter_draws=True, banker_draws=False)
        view = public(evening)
        assert (view.outcome, view.result, view.tax) == ("banker", "The bank wins, 9 to 2.", 50)
        assert {seat_number.number: seat_number.outcome for seat_number in view.seats if seat_number.stake} == {
            2: "lost",
            3: "lost",
        }

    def test_what_was_staked_is_gone_once_the_next_thing_is_decided(self):
        evening = for_others("2C 9C TC TD 3C 4C")
        play_out(evening, punter_draws=True, banker_draws=False)
        evening.do(GiveSuite(1))
        assert not any(seat_number.stake for seat_number in public(evening).seats)

    def test_the_croupier_s_calls_are_next_to_the_local_words(self):
        evening = bank_taken()
        evening.all_pass()
        assert [(said.call, said.text) for said in public(evening).spoken] == [
            ("Faites vos jeux", "Place your stakes.")
        ]
        evening.do(LayStake(2, 600))
        assert plain(public(evening).latest) == "Seat 2 stakes SEK 6."
        evening.all_pass()
        assert [said.call for said in public(evening).spoken] == ["Rien ne va plus", "Bitte die Karten"]

    def test_a_stopped_table_asks_nobody(self):
        seen = replace(shown.seen(bank_taken().state, []), is_stopped=True)
        view = board.public_view(seen, "en")
        assert (view.phase, view.turn, view.countdown, view.turn_message) == ("stopped", None, None, "")
        theirs = own_state(seen, shown.own_row(2))
        mine = board.own_view(seen, theirs, "en", None)
        assert (mine.options, mine.is_asked, mine.may_sit) == ((), False, False)

    def test_the_key_changes_with_what_is_asked_and_not_with_the_time(self):
        evening = bank_taken()
        seen = shown.seen(evening.state, evening.events)
        first = board.public_view(seen, "en").key
        assert board.public_view(seen.at(seen.now.replace(second=9)), "en").key == first
        evening.do(Pass(2))
        assert public(evening).key != first


class TestForOnePlayer:
    def test_only_the_holder_of_the_punters_cards_sees_them(self):
        evening = for_others("3H 4D 2S 2C 5C")
        hand = own(evening, 2).hand
        assert hand is not None
        assert [card and card.code for card in hand.cards] == ["3H", "2S"]
        assert hand.total == 5
        assert [own(evening, number).hand for number in (1, 3, 4, None)] == [None] * 4

    def test_a_player_with_five_may_draw_or_stand_and_is_asked(self):
        mine = own(for_others("3H 4D 2S 2C 5C"), 2)
        assert mine.message == "You hold the punters’ cards: 5. Draw or stand?"
        assert labels(mine) == ["Card", "Stand", "Ask the croupier"]

    def test_where_the_rule_binds_there_is_one_button_in_brass(self):
        mine = own(for_others("2H 4D 2S 2C 5C"), 2)
        assert mine.message == "You hold the punters’ cards: 4. The rule says: draw."
        assert [option.label for option in mine.options if option.is_main] == ["Card"]

    def test_the_croupier_s_answer_is_for_the_player_who_asked(self):
        evening = for_others("3H 4D 2S 2C 5C")
        evening.do(AskCroupier(2))
        assert own(evening, 2).message.endswith("The croupier says: your choice.")
        assert own(evening, 2).advice == "as_you_please"
        assert own(evening, 1).advice == ""

    def test_the_banker_sees_what_the_punters_drew(self):
        evening = for_others("3H 4D 2S 2C 5C")
        evening.do(DrawCard(2))
        assert own(evening, 1).message == (
            "You hold the bank’s cards: 6. The punters drew a card worth 5. The rule says: stand."
        )
        evening = for_others("3H 4D 2S 2C 5C")
        evening.do(Stand(2))
        assert "The punters stood." in own(evening, 1).message

    @pytest.mark.parametrize(
        ("number", "ending"),
        [(1, "You hold the bank."), (3, "You are next."), (4, "There is one player before you.")],
    )
    def test_a_waiting_player_learns_when_the_turn_comes(self, number, ending):
        mine = own(bank_taken(), number)
        assert mine.message == f"Seat 2 may call banco. {ending}"
        assert not mine.is_asked

    def test_a_turn_that_is_over_is_over(self):
        evening = bank_taken()
        evening.do(Pass(2))
        assert own(evening, 2).message.endswith("You have had your turn.")

    def test_amounts_have_a_field_and_quick_choices_within_the_limits(self):
        evening = bank_taken(bank=1000)
        evening.all_pass()
        (stake, let_pass) = own(evening, 2).options
        assert plain(stake.prefilled) == "SEK 2"
        assert [(quick.word, plain(quick.text)) for quick in stake.quick] == [
            ("A quarter", "SEK 2"),
            ("Half", "SEK 5"),
            ("All", "SEK 10"),
        ]
        assert (let_pass.label, let_pass.prefilled) == ("Pass", "")

    def test_the_four_calls_come_with_what_they_mean(self):
        mine = own(bank_taken(), 2)
        assert labels(mine) == ["Banco solo", "Banco", "Banco et la table marche", "Pass", "Banco avec la table"]
        assert [option.id for option in mine.options][:2] == ["make_call-banco_solo", "make_call-banco"]

    def test_the_money_before_the_croupier_is_one_sum(self):
        assert own(bank_taken(), 1).on_table == 1000
        assert own(for_others("3H 4D 2S 2C 5C"), 3).on_table == 400

    def test_leaving_says_what_happens_to_money_on_the_table(self):
        evening = for_others("3H 4D 2S 2C 5C")
        assert "The coup will be completed" in own(evening, 1).leaving
        assert "The coup will be completed" in own(evening, 2).leaving
        assert own(evening, 4).leaving == ""
        evening.do(Leave(2))
        assert own(evening, 2).presence == "leaving"
        assert own(evening, 2).options == ()

    def test_a_player_who_is_away_is_informed_and_asked_nothing(self):
        evening = bank_taken()
        evening.do(StepAway(3))
        mine = own(evening, 3)
        assert (mine.presence, mine.is_asked) == ("away", False)
        assert mine.message.startswith("You are away")

    def test_a_spectator_may_sit_down_where_a_seat_is_free(self):
        evening = Evening({1: 5000, 2: 5000}, seat_count=3)
        watching = own(evening, None)
        assert (watching.may_sit, watching.may_sit_at_random, watching.seat) == (True, False, None)
        evening.do(Join(3, 5000))
        assert own(evening, None).may_sit is False
        assert own(evening, None).message == "All seats are taken. You may watch until one is free."

    def test_what_the_coup_came_to_is_said(self):
        evening = for_others("2C 9C TC TD 3C 4C")
        play_out(evening, punter_draws=True, banker_draws=False)
        lost = own(evening, 2, Played(shown.COUP, "0000", 600, 0, is_void=False))
        assert (lost.outcome, plain(lost.came_to)) == ("lost", "You lost SEK 6.00")


class TestLog:
    def test_tells_newest_first_who_did_what_and_where_the_croupier_decided(self):
        evening = bank_taken()
        evening.do(TimeUp())
        evening.do(MakeCall(3, Call.BANCO_SOLO))
        lines = [
            line for part in log_view(shown.seen(evening.state, evening.events), "en").parts for line in part.lines
        ]
        texts = [plain(line.text) for line in lines]
        assert texts.index("Seat 3 calls Banco solo and stakes SEK 10.") < texts.index("Seat 2 passes.")
        assert [line.text for line in lines if line.by_croupier] == ["Seat 2 passes."]

    def test_shows_no_card_before_it_is_turned_up(self):
        evening = bank_taken(cards="3H 4D 2S 2C 5C")
        evening.do(MakeCall(2, Call.BANCO_SOLO), DealCards(1))
        parts = log_view(shown.seen(evening.state, evening.events), "en").parts
        assert not any(line.cards for part in parts for line in part.lines)

    def test_no_player_s_money_is_shown(self):
        evening = Evening({1: 77_700, 2: 88_800})
        evening.do(TakeBank(1, 100), Leave(2))
        seen = shown.seen(evening.state, evening.events)
        assert "777" not in repr(log_view(seen, "en"))
        assert "888" not in repr(log_view(seen, "en"))
