"""The pages of a Chemin de Fer table: what each reader sees, and the answers to every form."""

import re
from html import unescape
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext, override

from games.engine.chemin import Call, Phase, Side
from games.engine.chemin.rules import Advice
from games.engine.chemin.steps.play import advice_to
from games.models import CheminMove, LiveTable
from games.tables.status import close_table
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_bank_to_keep,
    a_chemin_table,
    a_coup_without_a_natural,
    a_practice_table,
    a_seated_player,
    answer,
    answer_by_the_rule,
    asked_at,
    chemin_of,
    hurry,
    seated_players,
    sit,
    state_of,
    step,
    table_state_of,
)
from tests.harness.sweeps import sample, sweep_languages
from wallet.models import Mode

pytestmark = pytest.mark.django_db
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def live_table() -> LiveTable:
    return a_chemin_table()


def visitor_as(player: Player) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


def page(visitor: Client, live_table: LiveTable, language: str = "en", **options: Any) -> Any:
    mode = Mode(live_table.mode).name.lower()
    return visitor.get(f"/{language}/table/{live_table.table.slug}/{mode}/", **options)


def send(visitor: Client, live_table: LiveTable, what: str, *, htmx: bool = True, **data: Any) -> Any:
    headers = {"HX-Request": "true"} if htmx else {}
    return visitor.post(reverse(f"chemin_{what}", args=[live_table.table.slug, live_table.mode]), data, headers=headers)


def act(visitor: Client, live_table: LiveTable, action: str, **data: Any) -> Any:
    return send(visitor, live_table, "act", action=action, **{"question": chemin_of(live_table).question} | data)


def a_punter_bound_by_the_rule(live_table: LiveTable) -> tuple[Player, str]:
    """Play coups until the rule binds a punter; return that punter and the forbidden action."""
    while True:
        state = state_of(live_table)
        if state.phase is Phase.OFFER:
            a_bank(live_table)
        elif state.phase is Phase.STAKES:
            answer(asked_at(live_table), live_table, "lay_stake", 2_000)
        elif state.phase is Phase.PUNTER and (advice := advice_to(state, Side.PUNTER)) is not Advice.AS_YOU_PLEASE:
            return asked_at(live_table), "stand" if advice is Advice.DRAW else "draw_card"
        else:
            answer_by_the_rule(live_table)


def sentence_in(text: str) -> str:
    found = re.search(r'<p class="decide__sentence"[^>]*>(.*?)</p>', text)
    assert found
    return unescape(found[1]).replace("\N{NO-BREAK SPACE}", " ")


def notice_in(text: str) -> str:
    found = re.search(r'<div class="call__notice[^>]*>\s*<p>(.*?)</p>', text, re.DOTALL)
    assert found, text
    return unescape(found[1])


def moves(live_table: LiveTable) -> int:
    return CheminMove.objects.filter(live_table=live_table).count()


class TestWhoSeesWhat:
    @pytest.mark.sweep
    def test_a_spectator_is_offered_the_free_seats_and_nothing_else(self, live_table):
        seated_players(live_table)
        text = page(visitor_as(a_player(real=MONEY)), live_table).text
        assert "data-may-sit" in text
        assert 'value="join:4"' in text
        assert 'value="join:1"' not in text
        assert "data-seat" not in text.split('id="live-own"')[1][:300]
        assert 'class="options"' not in text

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    def test_gli19_4_11_1_a_player_who_may_sit_down_is_warned_of_api_clients_that_play(self, live_table, language):
        text = page(visitor_as(a_player(real=MONEY)), live_table, language).text
        warning = (
            "At this table, players play against each other. Automatic players are forbidden, but no one can see who "
        )
        with override(language):
            assert escape(gettext(f"{warning}uses one. If you suspect one, report the seat.")) in text
        seated = page(visitor_as(a_seated_player(live_table)), live_table, language).text
        practice = page(visitor_as(a_player(free=MONEY)), a_practice_table(slug="practice"), language).text
        for other in (seated, practice):
            assert other.count("decide__more") < text.count("decide__more")

    def test_a_player_who_is_asked_has_the_buttons(self, live_table):
        seated_players(live_table)
        asked = asked_at(live_table)
        text = page(visitor_as(asked), live_table).text
        assert f'data-asked="{chemin_of(live_table).question}"' in text
        assert sentence_in(text) == "The bank is offered to you for at least SEK 10. Do you want to take it?"
        assert 'value="take_bank"' in text
        assert 'name="csrfmiddlewaretoken"' in text

    @pytest.mark.sweep
    def test_a_visitor_who_is_not_logged_in_is_asked_to_log_in(self, live_table):
        answer = page(Client(), live_table)
        assert answer.status_code == 302
        assert "login" in answer["Location"]

    @pytest.mark.sweep
    def test_another_currency_is_turned_away(self, live_table):
        answer = page(visitor_as(a_player(jurisdiction="DK")), live_table)
        assert answer.status_code == 404
        assert "This table is not available in your currency." in answer.text

    @pytest.mark.sweep
    def test_a_player_who_may_not_play_is_informed(self, live_table):
        player = a_player(real=MONEY)
        exclusions.exclude_self(player=player, months=12, by=str(player))
        assert "decide__message" not in page(visitor_as(player), live_table).text

    def test_a_closed_table_takes_nobody(self, live_table):
        close_table(table_id=live_table.table_id, reason="test", by="staff:1")
        text = page(visitor_as(a_player(real=MONEY)), live_table).text
        assert sentence_in(text) == "The table is closed. You cannot sit down now."
        assert "data-may-sit" not in text

    def test_gli19_4_11_1_a_practice_table_marks_every_house_player(self):
        live_table = a_practice_table(seat_count=5)
        text = page(visitor_as(a_seated_player(live_table)), live_table).text
        assert "Play money only, against house players. Nothing to win or lose." in text
        assert text.count("House player") >= 3

    def test_the_punters_cards_are_only_on_the_page_of_their_holder(self, live_table):
        seated_players(live_table)
        punter = a_coup_without_a_natural(live_table)
        hands = state_of(live_table).dealt_hands
        faces = re.compile(r'class="card card--(?!back)')
        assert len(faces.findall(page(visitor_as(punter), live_table).text)) == len(hands.punter.pair)
        others = [seat.player for seat in table_state_of(live_table).seats.values() if seat.player != punter]
        for player in (*others, a_player(real=MONEY)):
            assert player is not None
            text = page(visitor_as(player), live_table).text
            assert faces.findall(text) == []
            assert text.count("card card--back") == 4

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages([each for each in LANGUAGES if each != "en"]))
    def test_the_page_has_no_english(self, live_table, language):
        seated_players(live_table)
        a_bank(live_table)
        answer(asked_at(live_table), live_table, "make_call", call=Call.BANCO)
        text = page(visitor_as(asked_at(live_table)), live_table, language).text
        assert "Faites vos jeux" in text
        for english in ("Your turn", "Seat 1", "The croupier", "Step away", "Pass<", "Stake<", "Open<", "At risk"):
            assert english not in text

    @pytest.mark.sweep
    def test_a_page_without_script_reloads_but_leaves_time_to_answer(self, live_table):
        seated_players(live_table)
        waiting = re.search(r'http-equiv="refresh" content="(\d+)', page(visitor_as(a_player(real=1)), live_table).text)
        asked = re.search(
            r'http-equiv="refresh" content="(\d+)', page(visitor_as(asked_at(live_table)), live_table).text
        )
        assert waiting
        assert asked
        assert int(waiting[1]) == 5
        assert int(asked[1]) > 5


class TestDeciding:
    @pytest.mark.sweep
    def test_an_amount_is_read_in_the_reader_s_notation(self, live_table):
        seated_players(live_table)
        visitor = visitor_as(asked_at(live_table))
        address = f"/sv/table/{live_table.table.slug}/real/act/"
        data = {"action": "take_bank", "question": chemin_of(live_table).question, "amount": "123,45 kr"}
        assert visitor.post(address, data, headers={"HX-Request": "true"}).status_code == 200
        assert state_of(live_table).held_bank.amount == 12_345

    @pytest.mark.parametrize(
        ("amount", "said"),
        sample(
            [
                ("a lot", "This is not a valid amount."),
                ("", "Choose an amount first."),
                ("5", "The smallest bank of this table is SEK 10."),
                ("99999", "The largest bank of this table is SEK 1,000."),
            ],
            1,
        ),
    )
    def test_a_wrong_amount_is_refused_with_a_sentence_and_changes_nothing(self, live_table, amount, said):
        seated_players(live_table)
        before = moves(live_table)
        text = act(visitor_as(asked_at(live_table)), live_table, "take_bank", amount=amount).text
        assert notice_in(text).replace("\N{NO-BREAK SPACE}", " ").startswith(said)
        assert moves(live_table) == before

    def test_the_answer_to_an_earlier_question_changes_nothing(self, live_table):
        seated_players(live_table)
        visitor, before = visitor_as(asked_at(live_table)), moves(live_table)
        text = act(visitor, live_table, "pass", question=chemin_of(live_table).question - 1).text
        assert (
            notice_in(text) == "This action came too late: the time for this decision has passed. Nothing was staked."
        )
        assert moves(live_table) == before

    def test_so_does_one_after_its_time(self, live_table):
        seated_players(live_table)
        visitor = visitor_as(asked_at(live_table))
        hurry(live_table, 1)
        assert "This action came too late" in notice_in(act(visitor, live_table, "pass").text)

    def test_out_of_turn_it_is_refused(self, live_table):
        at_seat = seated_players(live_table)
        other = next(player for player in at_seat if player != asked_at(live_table))
        assert notice_in(act(visitor_as(other), live_table, "pass").text) == "It is not your turn. Nothing was staked."

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "sent",
        sample(
            [
                {"action": "steal"},
                {"action": "make_call"},
                {"action": "make_call:everything"},
                {"action": "pass:banco"},
                {"action": ""},
                {"action": "pass", "question": "one"},
                {"action": "pass", "question": "-1"},
                {"action": "pass", "question": "9" * 20},
            ],
            3,
        ),
    )
    def test_nonsense_changes_nothing(self, live_table, sent):
        seated_players(live_table)
        before = moves(live_table)
        text = act(visitor_as(asked_at(live_table)), live_table, **sent).text
        assert notice_in(text).startswith("This page was out of date and has been updated.")
        assert moves(live_table) == before

    def test_a_call_is_made_with_one_button(self, live_table):
        seated_players(live_table)
        a_bank(live_table)
        caller = asked_at(live_table)
        assert act(visitor_as(caller), live_table, "make_call:banco_solo").status_code == 200
        assert state_of(live_table).running_coup.call is Call.BANCO_SOLO

    def test_without_script_no_row_keeps_a_refusal_that_tells_the_hand(self, live_table):
        seated_players(live_table, 3)
        punter, wrong = a_punter_bound_by_the_rule(live_table)
        visitor, stated = visitor_as(punter), "You must follow the rule here"
        assert stated in act(visitor, live_table, wrong).content.decode()
        assert act(visitor, live_table, wrong, htmx=False).status_code == HTTPStatus.FOUND
        assert "chemin_notice" in visitor.session
        assert stated not in str(dict(visitor.session))

    @pytest.mark.sweep
    def test_without_script_it_leads_back_to_the_table_which_says_why_not(self, live_table):
        seated_players(live_table)
        visitor = visitor_as(asked_at(live_table))
        answered = send(visitor, live_table, "act", htmx=False, action="take_bank", amount="x", question=1)
        assert answered.status_code == 302
        assert "call__notice--error" in page(visitor, live_table).text
        assert "call__notice--error" not in page(visitor, live_table).text


class TestSeats:
    @pytest.mark.sweep
    def test_a_player_sits_down_at_the_chosen_seat(self, live_table):
        player = a_player(real=MONEY)
        text = send(visitor_as(player), live_table, "seat", action="join:7").text
        assert 'data-seat="7"' in text
        assert sentence_in(text) == "Play begins as soon as a second player sits down."

    @pytest.mark.sweep
    def test_or_at_one_that_the_house_chooses(self, live_table):
        player = a_player(real=MONEY)
        send(visitor_as(player), live_table, "seat", action="join")
        seat = table_state_of(live_table).seat_of(player.pk)
        assert seat is not None
        assert seat.is_random

    def test_a_taken_seat_is_refused(self, live_table):
        seated_players(live_table)
        text = send(visitor_as(a_player(real=MONEY)), live_table, "seat", action="join:1").text
        assert notice_in(text) == "This seat is taken. Choose another seat."

    @pytest.mark.sweep
    def test_one_steps_away_and_comes_back(self, live_table):
        visitor = visitor_as(seated_players(live_table)[2])
        away = send(visitor, live_table, "seat", action="step_away").text
        assert sentence_in(away).startswith("You are away and not asked to decide. We are keeping your seat until")
        assert 'value="come_back"' in away
        assert 'value="step_away"' in send(visitor, live_table, "seat", action="come_back").text

    @pytest.mark.sweep
    def test_a_player_with_money_on_the_table_sees_before_leaving_what_happens_to_it(self, live_table):
        seated_players(live_table)
        banker = a_bank(live_table)
        text = page(visitor_as(banker), live_table).text
        assert 'popovertarget="leave-ask"' in text
        assert (
            "The coup will be completed, the croupier will decide for you, and you will then leave the table." in text
        )
        left = send(visitor_as(banker), live_table, "seat", action="leave").text
        assert (
            sentence_in(left) == "You will leave the table when the coup is over. Until then, the croupier decides "
            "for you."
        )

    @pytest.mark.sweep
    def test_a_player_without_money_leaves_at_once(self, live_table):
        player = seated_players(live_table)[2]
        assert 'popovertarget="leave-ask"' not in page(visitor_as(player), live_table).text
        send(visitor_as(player), live_table, "seat", action="leave")
        assert table_state_of(live_table).seat_of(player.pk) is None

    @pytest.mark.sweep
    @pytest.mark.parametrize("action", sample(["", "join:", "join:x", "join:99", "fly"], 1))
    def test_nonsense_seats_nobody(self, live_table, action):
        player = a_player(real=MONEY)
        assert "call__notice--error" in send(visitor_as(player), live_table, "seat", action=action).text
        assert table_state_of(live_table).seats == {}

    @pytest.mark.sweep
    def test_enter_does_nothing(self, live_table):
        assert send(visitor_as(a_player(real=MONEY)), live_table, "seat", action="keep").status_code == 200
        assert table_state_of(live_table).seats == {}


class TestAskingAgain:
    @pytest.mark.sweep
    def test_a_page_gets_the_current_state_and_the_log_where_it_differs(self, live_table):
        visitor = visitor_as(seated_players(live_table)[0])
        address = reverse("chemin_now", args=[live_table.table.slug, live_table.mode])
        assert 'id="live-board"' not in visitor.get(address).text
        fresh = visitor.get(address, {"board": "another"}).text
        assert fresh.index('id="live"') < fresh.index('id="live-board"')

    @pytest.mark.sweep
    def test_other_shapes_have_no_such_addresses(self, live_table):
        visitor = visitor_as(a_player(real=MONEY))
        for name in ("live_now", "live_statistics"):
            assert visitor.get(reverse(name, args=[live_table.table.slug, live_table.mode])).status_code == 404

    @pytest.mark.sweep
    @pytest.mark.parametrize("name", sample(["history", "cashier", "rules", "settings"], 2))
    def test_the_panels_next_to_it_load_when_they_are_opened(self, live_table, name):
        visitor = visitor_as(a_player(real=MONEY))
        answered = visitor.get(reverse("live_panel", args=[live_table.table.slug, live_table.mode, name]))
        assert answered.status_code == 200

    @pytest.mark.sweep
    def test_after_a_coup_the_player_reads_what_it_came_to(self, live_table):
        at_seat = seated_players(live_table)
        banker = a_bank(live_table)
        answer(asked_at(live_table), live_table, "make_call", call=Call.BANCO_SOLO)
        while state_of(live_table).phase in (Phase.CALLS, Phase.STAKES, Phase.CARDS, Phase.PUNTER, Phase.BANKER):
            assert step(live_table)
        text = page(visitor_as(banker), live_table).text
        assert re.search(r"You (won|lost|came out even)", text)
        assert "middle__result" in page(visitor_as(at_seat[2]), live_table).text


@pytest.mark.sweep
def test_a_seated_player_keeps_the_seat(live_table):
    player = a_seated_player(live_table, 3)
    assert sit(player, live_table, 5).number == 3


@pytest.mark.sweep
def test_a_bank_that_is_passed_on_is_taken_with_one_button_at_the_amount_it_held(live_table):
    seated_players(live_table, 3)
    a_bank_to_keep(live_table)
    answer(asked_at(live_table), live_table, "give_suite")
    taker, full = asked_at(live_table), state_of(live_table).offered_sale.full_amount
    visitor = visitor_as(taker)
    shown = page(visitor, live_table).content.decode()
    form = re.search(r'<form class="option"(?:(?!</form>).)*value="take_bank".*?</form>', shown, re.DOTALL)
    assert form
    sent = dict(re.findall(r'<input type="hidden" name="(question|amount)" value="([^"]*)"', form[0]))
    act(visitor, live_table, "take_bank", **{name: unescape(value) for name, value in sent.items()})
    bank = state_of(live_table).held_bank
    assert (live_table.chemin_seats.get(player=taker, left_at=None).number, full) == (bank.seat, bank.amount)
