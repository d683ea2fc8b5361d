"""The lobby card of a live table: what it shows to everyone, and when."""

import pytest
from django.db import connection

from audit.raw_rows import named
from games.models import LiveTable, Phase
from games.shared.pages.lobby_card import READ_CARDS, READ_LOBBY, card_key, card_state, render_card
from tests.builders import a_player
from tests.live.at_table import a_live_table, advance_to, bet, step
from tests.voiding import void_as_two_agree
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 10_000_000


def card_of(live_table: LiveTable):
    (card,) = cards_of([live_table.pk])
    return card


def cards_of(numbers):
    """Return the cards of these live tables."""
    with connection.cursor() as cursor:
        cursor.execute(READ_CARDS, [list(numbers)])
        columns = [column.name for column in cursor.description]
        return [card_state(named(columns, row)) for row in cursor.fetchall()]


class TestPlayers:
    def test_are_those_with_bets_in_this_round_or_the_one_before(self):
        live_table = a_live_table()
        first, second = a_player(real=MONEY), a_player(real=MONEY)
        counts = [card_of(live_table).players]
        bet(first, live_table, player=5000)
        bet(second, live_table, banker=5000)
        counts.append(card_of(live_table).players)
        advance_to(live_table, Phase.BETTING)
        counts.append(card_of(live_table).players)
        bet(second, live_table, banker=5000)
        counts.append(card_of(live_table).players)
        advance_to(live_table, Phase.BETTING)
        counts.append(card_of(live_table).players)
        assert counts == [0, 2, 2, 2, 1]


class TestResults:
    def test_stand_on_the_road_when_their_round_is_settled_and_not_before(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=5000)
        seen = {}
        for _ in range(4):
            card = card_of(live_table)
            seen[card.status] = len(card.beads)
            step(live_table)
        assert seen == {"betting": 0, "closed": 0, "dealt": 0, "settled": 1}
        assert len(card_of(live_table).beads) == 1

    def test_of_a_round_in_play_are_not_even_read(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=5000)
        live_round = advance_to(live_table, Phase.DEALT)
        state = card_of(live_table)
        assert live_round.cards
        assert live_round.cards not in repr(state)
        assert "No results in this shoe yet" in render_card(state, "en")

    @pytest.mark.sweep
    def test_of_a_voided_round_are_left_out(self):
        live_table = a_live_table()
        for _ in range(2):
            bet(a_player(real=MONEY), live_table, player=5000)
            live_round = advance_to(live_table, Phase.SETTLED)
            advance_to(live_table, Phase.BETTING)
        before = len(card_of(live_table).beads)
        void_as_two_agree(live_round.pk)
        assert (before, len(card_of(live_table).beads)) == (2, 1)


@pytest.mark.sweep
def test_each_kind_of_money_has_cards_of_its_own():
    live_table = a_live_table()
    with connection.cursor() as cursor:
        cursor.execute(READ_LOBBY, [Mode.FREE.value])
        numbers = [number for (number,) in cursor.fetchall()]
    assert {card.mode for card in cards_of(numbers)} == {Mode.FREE}
    assert live_table.pk not in numbers
    assert card_key(cards_of(numbers)[0]) != card_key(card_of(live_table))
