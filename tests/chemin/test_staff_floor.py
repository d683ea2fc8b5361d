"""Chemin de Fer tables in the back office: questions, banks and stakes, and no card too early."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.chemin import play
from games.engine.chemin import Call, Phase
from games.engine.chemin.state import there
from games.models import CheminTable, Incident, LiveRound, Round
from games.shared import malfunction
from games.shared.floor import floor
from games.shared.round_status import face_up
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_practice_table,
    a_staked_coup,
    answer,
    let_pass,
    seated_players,
    state_of,
    step_to,
)
from tests.chemin.hands import both_may_depart, next_seed, shoe_where, third_card_refused, third_cards_on_advice
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import drawn, sample
from tests.live.test_rulings import void_by_two
from tests.people import a_member_of_staff, a_visitor
from tests.voiding import void_as_two_agree

BANK, STAKE = 10_000, 4_000
CARD = re.compile(r"\b[2-9TJQKA][SHDC]\b")
READERS = ("operator", "supervisor", "compliance")


def reader(role="supervisor"):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def seen(answered) -> str:
    """Return the text without markup and with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answered.text)).split())


def floor_page(live_table, role="supervisor") -> str:
    """Return the part of the floor about a table, on its own page."""
    return seen(reader(role).get(f"/staff/floor/live-{live_table.pk}/"))


def coup_at(live_table) -> LiveRound:
    return LiveRound.objects.filter(live_table=live_table).latest("opened_at")


def floor_of(live_table):
    return next(on for tables in floor().values() for on in tables if on.live_table.pk == live_table.pk)


@pytest.fixture
def first(db, monkeypatch):
    """The first coup of the next shoe: punter and banker both take a third card."""
    seed, coup = shoe_where(third_cards_on_advice)
    next_seed(monkeypatch, seed)
    return coup


@pytest.fixture
def live_table(first):
    return a_chemin_table()


@pytest.fixture
def players(live_table):
    return seated_players(live_table)


class TestThePageOfATable:
    @pytest.mark.sweep
    def test_says_who_is_asked_what_until_when(self, live_table, players):
        page = floor_page(live_table)
        assert f"the bank is offered: seat 1, player:{players[0].pk} to act, until" in page
        for seat_number, player in enumerate(players, 1):
            assert f"seat {seat_number}, player:{player.pk}" in page

    @pytest.mark.sweep
    def test_shows_bank_and_stakes(self, live_table, players):
        a_bank(live_table, BANK)
        answer(players[1], live_table, "make_call", call=Call.BANCO)
        answer(players[2], live_table, "lay_stake", 3_000)
        page = floor_page(live_table)
        assert f"Bank seat 1, player:{players[0].pk}: SEK 100.00" in page
        assert f"Stakes seat 2, player:{players[1].pk}: SEK 70.00 seat 3, player:{players[2].pk}: " in page
        assert "waiting for the banker to draw the cards" in page
        assert coup_at(live_table).code in page

    @pytest.mark.sweep
    def test_shows_bids_for_a_bank_on_sale(self, live_table, players, monkeypatch):
        seed, _ = shoe_where(third_card_refused)
        next_seed(monkeypatch, seed)
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE)
        answer(players[0], live_table, "give_suite")
        while state_of(live_table).phase is Phase.SUITE:
            let_pass(live_table)
        answer(players[1], live_table, "make_bid", BANK)
        on = there(floor_of(live_table).chemin_state)
        assert (on.full_amount, [(bid.seated.number, bid.amount) for bid in on.bids]) == (
            BANK + STAKE * 19 // 20,
            [(2, BANK)],
        )
        assert f"Bids seat 2, player:{players[1].pk}" in floor_page(live_table)

    @pytest.mark.sweep
    def test_marks_house_players_and_players_who_are_away(self, db):

        live_table = a_practice_table()
        (player,) = seated_players(live_table, 1)
        play.step_away(player=player, live_table_id=live_table.pk)
        page = floor_page(live_table)
        assert f"player:{player.pk}, away" in page
        assert "house player" in page

    @pytest.mark.sweep
    def test_takes_the_same_number_of_queries_for_one_table_and_for_many(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        with CaptureQueriesContext(connection) as one:
            floor()
        for number in range(3):
            other = a_chemin_table(slug=f"other-{number}")
            seated_players(other)
            a_dealt_coup(other, BANK, STAKE)
        with CaptureQueriesContext(connection) as many:
            floor()
        assert len(many) == len(one)

    @pytest.mark.sweep
    def test_shows_a_table_whose_state_cannot_be_read(self, live_table, players):
        update_as_owner(CheminTable.objects.filter(pk=live_table.pk), state={})
        page = floor_page(live_table)
        assert "its state cannot be read" in page
        assert "Break up the table" in page

    @pytest.mark.parametrize(
        ("role", "offered"), sample([("operator", False), ("supervisor", True), ("compliance", False)], 1)
    )
    def test_offers_what_the_role_may_do(self, live_table, players, role, offered):
        a_staked_coup(live_table, BANK, STAKE)
        page = floor_page(live_table, role)
        assert ("Report round" in page) is (role != "compliance")
        for action in ("Cancel round", "Break up the table"):
            assert (action in page) is offered

    @pytest.mark.sweep
    def test_reopens_a_table_that_was_stopped(self, live_table, players):
        a_staked_coup(live_table, BANK, STAKE)
        boss, coup = reader(), coup_at(live_table)
        boss.post(f"/staff/rounds/{coup.pk}/report/", {"reason": "A quarrel.", "sure": "on"})
        incident = Incident.objects.get()
        page = floor_page(live_table)
        assert "awaits a ruling" in page
        assert "to act, until" not in page
        boss.post(f"/staff/incidents/{incident.pk}/ruling/", {"decision": "stands", "reason": "x", "sure": "on"})
        assert "Resume table" in floor_page(live_table)
        boss.post(f"/staff/tables/live/{live_table.pk}/reopen/", {"reason": "Settled."})
        answer(players[0], live_table, "deal_cards")

    @pytest.mark.sweep
    def test_sets_the_language_of_its_chat(self, live_table):
        url = f"/staff/tables/{live_table.table_id}/chat/"
        assert "Svenska." in seen(reader("operator").post(url, {"chat_language": "sv"}, follow=True))


class TestOpenCards:
    """Staff see the same cards as everyone at the table."""

    @pytest.mark.sweep
    def test_is_no_card_before_the_draw(self, live_table, players):
        a_staked_coup(live_table, BANK, STAKE)
        assert floor_of(live_table).turned == ""

    def test_is_nothing_but_backs_while_the_punter_decides(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        assert floor_of(live_table).turned == "– – – –"
        for role in READERS:
            assert not CARD.search(floor_page(live_table, role))

    @pytest.mark.sweep
    def test_is_the_banker_s_hand_and_a_third_card_while_the_banker_decides(self, live_table, players, first):
        a_dealt_coup(live_table, BANK, STAKE)
        answer(players[1], live_table, "draw_card")
        banker, third = first.banker, first.thirds[0]
        assert floor_of(live_table).turned == f"– {banker[0].code} – {banker[1].code} {third.code}"
        for role in READERS:
            page = floor_page(live_table, role)
            assert CARD.findall(page) == [banker[0].code, banker[1].code, third.code]

    @pytest.mark.sweep
    def test_is_everything_once_the_coup_is_over(self, live_table, players, first):
        a_dealt_coup(live_table, BANK, STAKE)
        answer(players[1], live_table, "draw_card")
        answer(players[0], live_table, "draw_card")
        assert floor_of(live_table).turned == " ".join(card.code for card in first.cards)
        assert floor_of(live_table).turned == Round.objects.get().cards

    @pytest.mark.sweep
    def test_needs_one_query_for_many_coups(self, live_table, players, django_assert_num_queries):
        for number in range(3):
            other = a_chemin_table(slug=f"other-{number}")
            seated_players(other)
            a_dealt_coup(other, BANK, STAKE)
            step_to(other, Phase.CHOICE, Phase.OFFER)
        kept = dict(Round.objects.values_list("pk", "cards"))
        with django_assert_num_queries(1):
            assert face_up(kept) == kept


class TestThePageOfIncidents:
    @pytest.mark.sweep
    def test_shows_seats_and_stakes_of_a_coup_in_progress_and_no_face_down_card(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        incident = malfunction.report(round_id=coup_at(live_table).pk, cause="A quarrel.", by="staff:1")
        for role in READERS:
            page = seen(reader(role).get(f"/staff/incidents/{incident.pk}/"))
            assert f"Bank seat 1, player:{players[0].pk}: SEK 100.00" in page
            assert f"Stakes seat 2, player:{players[1].pk}: SEK 40.00" in page
            assert "Cards so far – – – – (– is face down)" in page
            assert "cards are drawn; punter and banker decide" in page
            assert not CARD.search(page)
        answer_is = seen(reader().get(f"/staff/incidents/{incident.pk}/"))
        assert "Request to void the round" in answer_is
        assert "Cancel round" not in answer_is

    @pytest.mark.sweep
    def test_offers_to_cancel_a_coup_without_cards(self, live_table, players):
        a_staked_coup(live_table, BANK, STAKE)
        incident = malfunction.report(round_id=coup_at(live_table).pk, cause="A quarrel.", by="staff:1")
        boss = reader()
        assert "Cancel round" in seen(boss.get(f"/staff/incidents/{incident.pk}/"))
        boss.post(f"/staff/rounds/{incident.live_round_id}/cancel/", {"reason": "x", "sure": "on"})
        assert "The round was cancelled: " in seen(boss.get(f"/staff/incidents/{incident.pk}/"))

    @pytest.mark.sweep
    def test_shows_who_got_which_money_back(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        void_by_two(malfunction.report(round_id=coup_at(live_table).pk, cause="A quarrel.", by="staff:1"))
        page = seen(reader().get(f"/staff/incidents/{Incident.objects.get().pk}/"))
        assert f"player:{players[1].pk}: SEK 40.00 returned (real)" in page
        assert f"Bank seat 1, player:{players[0].pk}: SEK 100.00" in page
        assert f"Stakes seat 2, player:{players[1].pk}: SEK 40.00" in page


class TestThePageOfARound:
    @pytest.mark.sweep
    def test_shows_a_coup_as_it_was_between_players(self, live_table, players, first):
        a_dealt_coup(live_table, BANK, STAKE)
        answer(players[1], live_table, "draw_card")
        answer(players[0], live_table, "draw_card")
        page = seen(reader("compliance").get(f"/staff/rounds/{coup_at(live_table).pk}/"))
        dealt = [card for pair in zip(first.punter, first.banker, strict=True) for card in pair]
        cards = " ".join(card.code for card in (*dealt, *first.thirds[:2]))
        assert f"Cards, in dealing order {cards} {cards}" in page
        assert "Punter declared draws draws" in page
        assert "the player draw card draw card" in page
        for name in (f"seat 1, player:{players[0].pk}", f"seat 2, player:{players[1].pk}"):
            assert name in page

    @pytest.mark.sweep
    def test_says_who_departed_from_the_rule(self, monkeypatch, db):
        seed, _ = shoe_where(both_may_depart)
        next_seed(monkeypatch, seed)
        live_table = a_chemin_table()
        players = seated_players(live_table)
        a_dealt_coup(live_table, BANK, STAKE)
        answer(players[1], live_table, "stand")
        answer(players[0], live_table, "stand")
        page = seen(reader("compliance").get(f"/staff/rounds/{coup_at(live_table).pk}/"))
        assert "Punter acted against the rule yes yes" in page
        assert "Banker acted against the rule yes yes" in page

    @pytest.mark.sweep
    def test_shows_one_that_was_voided_with_its_cards_as_they_are_stored(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        coup = coup_at(live_table)
        void_as_two_agree(coup.pk)
        page = seen(reader("compliance").get(f"/staff/rounds/{coup.pk}/"))
        cards = Round.objects.get().cards
        assert f"Cards, in dealing order {cards} {cards}" in page
        assert "Outcome none not recomputed" in page
        assert "The round was voided before settlement." in page
        assert "void since" in page

    @pytest.mark.sweep
    def test_leads_to_its_void(self, live_table, players):
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE, Phase.OFFER)
        coup, boss = coup_at(live_table), reader()
        assert "Report round" in seen(boss.get(f"/staff/rounds/{coup.pk}/"))
        boss.post(f"/staff/rounds/{coup.pk}/report/", {"reason": "complained of", "sure": "on"})
        void_by_two(Incident.objects.get())
        assert "void since" in seen(boss.get(f"/staff/rounds/{coup.pk}/"))


def test_no_page_of_staff_reveals_a_face_down_card(live_table, players, first, is_sweep):
    a_dealt_coup(live_table, BANK, STAKE)
    coup = coup_at(live_table)
    incident = malfunction.report(round_id=coup.pk, cause="A quarrel.", by="staff:1")
    malfunction.ask_void(incident_id=incident.pk, reason="x", by=a_member_of_staff("supervisor"))
    hidden = {card.code for card in first.cards}
    pages = [
        "/staff/",
        "/staff/floor/",
        f"/staff/floor/live-{live_table.pk}/",
        "/staff/incidents/",
        f"/staff/incidents/{incident.pk}/",
        f"/staff/incidents/{incident.pk}/letter/",
        "/staff/approvals/",
        "/staff/rounds/?status=in+progress",
        f"/staff/rounds/{coup.pk}/",
        f"/staff/tables/live/{live_table.pk}/break-up/",
        "/staff/audit/",
        f"/staff/ledger/?round={coup.pk}",
    ]
    others = ("operator", "finance", "compliance", "support")
    for role in ("supervisor", *(others if is_sweep else drawn(others, 1))):
        browser = reader(role)
        for page in pages:
            assert not hidden & set(CARD.findall(seen(browser.get(page)))), (role, page)
