"""The fragments of a shared table: what they contain at each moment, and what not yet."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from games.engine.cards import Card
from games.engine.chemin.state import there
from games.labels import card_name
from games.models import LiveTable, Phase, VoidReason
from games.shared import malfunction
from games.shared.pages import rendering
from games.shared.pages.views import read_own, read_public
from games.shared.state import State
from games.tables.status import close_table
from tests.builders import UNHURRIED, a_player
from tests.harness.sweeps import sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.voiding import cancel
from wallet.models import Mode

pytestmark = pytest.mark.django_db

LANGUAGES = [code for code, _name in settings.LANGUAGES]
CALLS = {
    "sv": "Inga fler insatser",
    "da": "Ikke flere indsatser",
    "ro": "Nu se mai plasează pariuri",
    "de": "Nichts geht mehr",
    "en": "No more bets",
}
MONEY = 1_000_000


def dealt_state(live_table: LiveTable, cards: str = "") -> State:
    """Return a round after its first card, with these cards instead of its own if given."""
    player = a_player(real=MONEY)
    bet(player, live_table, tie=5_000)
    advance_to(live_table, Phase.DEALT)
    state = read_public(live_table)
    assert state.round
    drawn = tuple(Card.parse(code) for code in cards.split()) or state.round.cards
    dealt_at = state.round.dealt_at
    assert dealt_at
    return replace(state, round=replace(state.round, cards=drawn)).at(dealt_at)


def later(state: State, cards: float) -> State:
    """Return the same table after the time of this many cards."""
    return state.at(state.now + timedelta(milliseconds=UNHURRIED.card * cards))


def names_of_cards(html: str) -> list[str]:
    return re.findall(r'class="card [^"]*" role="img" aria-label="([^"]+)"', html)


@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_a_card_is_shown_from_its_time_on_and_not_before(language):
    state = dealt_state(a_live_table(), "2H 3C 2D 2S 6H KC")  # Player draws a six, Banker a king
    assert state.round
    with override(language):
        names = [card_name(card) for card in state.round.cards]
    for turned in range(1, 7):
        for part in (turned - 1, turned - 0.001):
            seen = names_of_cards(rendering.render_public(later(state, part), language))
            assert sorted(seen) == sorted(names[:turned])
    assert len(names_of_cards(rendering.render_public(state.at(state.now - timedelta(seconds=1)), language))) <= 1


def test_nothing_shown_depends_on_a_face_down_card():
    state = dealt_state(a_live_table(), "2H 3C 2D 2S 6H KC")
    assert state.round
    for drawn in ("2H 3C 2D 2S 6H 8C", "2H 3C 2D 6S", "2H KC 9D 9S"):
        cards = tuple(Card.parse(code) for code in drawn.split())
        alike = next(i for i, (one, other) in enumerate(zip(state.round.cards, cards, strict=False)) if one != other)
        deadline = state.round.deadline + timedelta(seconds=len(cards))
        other = replace(state, round=replace(state.round, cards=cards, deadline=deadline))
        for turned in range(min(alike, 3)):
            assert rendering.render_public(later(state, turned), "en") == rendering.render_public(
                later(other, turned), "en"
            )


def test_scores_grow_with_the_cards_and_the_result_comes_with_the_last_one():
    state = dealt_state(a_live_table(), "2H 3C 2D 2S 6H KC")
    shown = [
        re.findall(r'<span aria-hidden="true">([\d:]+)</span>', rendering.render_public(later(state, k), "en"))
        for k in range(6)
    ]
    assert shown == [["2"], ["2", "3"], ["4", "3"], ["4", "5"], ["4:0", "5"], ["4:0", "5:5"]]
    assert "Banker wins with 5 over 0." in rendering.render_public(later(state, 5), "en")
    assert "wins" not in rendering.render_public(later(state, 4.999), "en").replace("hand--wins", "")
    assert "hand__won" not in rendering.render_public(later(state, 4.999), "en")


def test_the_end_of_the_deal_is_not_revealed_before_it_comes():
    state = dealt_state(a_live_table())
    assert "data-deadline" not in rendering.render_public(state, "en")


def test_the_next_change_is_the_next_card_until_the_last_one_is_open():
    state = dealt_state(a_live_table(), "2H 3C 2D 2S 6H KC")
    second = UNHURRIED.card / 1000
    assert state.next_change(state.now) == pytest.approx(second)
    assert state.next_change(later(state, 2.25).now) == pytest.approx(0.75 * second)
    assert state.next_change(later(state, 5).now) is None
    assert read_public(a_live_table(slug="other")).next_change(state.now) is None


def late_said(state: State, seconds: float) -> bool:
    """Return whether the page says this long after the deadline that cards do not come."""
    played = there(state.round)
    at = state.at(played.deadline + timedelta(seconds=seconds))
    html = rendering.render_public(at, "en")
    return "No cards can be dealt at the moment." in html or "as soon as cards can be dealt again" in html


def test_where_the_dealer_does_not_answer_the_page_says_so_after_three_seconds():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, tie=5_000)
    taking_bets = read_public(live_table)
    advance_to(live_table, Phase.CLOSED)
    closed = read_public(live_table)
    advance_to(live_table, Phase.DEALT)
    dealt = read_public(live_table)
    advance_to(live_table, Phase.SETTLED)
    settled = read_public(live_table)
    assert [late_said(state, 2.9) for state in (taking_bets, closed, dealt, settled)] == [False] * 4
    assert [late_said(state, 3.1) for state in (taking_bets, closed, dealt, settled)] == [False, True, False, True]
    for state in (closed, settled):
        deadline = there(state.round).deadline
        assert state.next_change(deadline) == 3.0
        assert state.next_change(deadline + timedelta(seconds=4)) is None
    assert not late_said(replace(settled, is_open=False), 3.1)


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_no_more_bets_is_called_in_the_readers_language_with_the_english_call(language):
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, tie=5_000)
    advance_to(live_table, Phase.CLOSED)
    html = rendering.render_public(read_public(live_table), language)
    assert CALLS[language] in html
    assert html.count('lang="en">No more bets<') == (0 if language == "en" else 1)


def test_the_public_part_is_the_same_for_everybody_and_has_nothing_of_anybody_in_it():
    live_table = a_live_table()
    players = [a_player(real=MONEY), a_player("DE", real=50_000)]
    bet(players[0], live_table, player=25_000)
    seen = []
    for player in players:
        visitor = Client()
        visitor.force_login(player.user)
        page = visitor.get("/en/table/live/real/").text
        cut = page[page.index('<div class="live-public"') : page.index('<div class="live-own"')]
        seen.append(re.sub(r'data-now="\d+"|data-seconds>\d+|dasharray="\d+ 100"', "", cut))
        for private in (player.user.email, player.currency, "csrf", "nonce", "/live/", str(player.user.pk) + ":"):
            assert private not in cut
    assert seen[0] == seen[1]


def test_one_part_is_the_players_own_and_no_other_players():
    live_table = a_live_table()
    rich, poor = a_player(real=MONEY), a_player(real=20_000)
    bet(rich, live_table, player=25_000)
    state = read_public(live_table)
    assert "9,750.00" in rendering.render_own(state, read_own(live_table, rich.pk), "en")
    bet(poor, live_table)
    theirs = rendering.render_own(state, read_own(live_table, poor.pk), "en")
    assert "200.00" in theirs
    assert "9,750.00" not in theirs


def test_nothing_counts_cards():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=25_000)
    advance_to(live_table, Phase.SETTLED)
    shoe = round_at(live_table).shoe
    html = rendering.render_public(read_public(live_table), "en").replace(shoe.commitment, "")
    texts = re.sub(r"<[^>]+>", " ", html)
    counts = {str(shoe.gone), str(416 - shoe.gone), str(shoe.cut), str(shoe.burned)} - {"10"}  # which is a rank, too
    assert not counts & set(re.findall(r"\d{2,}", texts))


def test_the_shoe_is_committed_to_in_view_and_its_seed_is_not():
    live_table = a_live_table()
    html = rendering.render_public(read_public(live_table), "en")
    assert round_at(live_table).shoe.commitment in html
    assert "Shoe 1" in html
    assert "A new shoe." in html


@pytest.mark.sweep
def test_the_last_round_of_a_shoe_is_announced():
    live_table = a_live_table()
    state = read_public(live_table)
    assert state.round
    last = replace(state, round=replace(state.round, is_last=True, number=60))
    assert "Last round of this shoe." in rendering.render_public(last, "en")
    assert "Last round" not in rendering.render_public(state, "en")


@pytest.mark.sweep
def test_a_table_that_closes_says_so_and_then_that_it_is_closed():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=25_000)
    close_table(table_id=live_table.table_id, reason="for a test", by="staff:test")
    assert "The table closes after this round." in rendering.render_public(read_public(live_table), "en")
    advance_to(live_table, Phase.SETTLED)
    html = rendering.render_public(read_public(live_table), "en")
    assert "The table is closed." in html
    assert "data-deadline" not in html


@pytest.mark.sweep
def test_a_stopped_table_says_that_the_supervisor_is_called_and_bets_are_safe():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=25_000)
    malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:test")
    state = read_public(live_table)
    html = rendering.render_public(state, "en")
    assert "The table is stopped" in html
    assert "Accepted bets are safe" in html
    assert "face up" not in html
    assert not state.takes_bets


@pytest.mark.sweep
def test_a_voided_round_is_shown_to_everybody_and_each_player_s_own_stakes():
    live_table = a_live_table()
    player = a_player(real=MONEY)
    bet(player, live_table, player=25_000)
    code = round_at(live_table).code
    cancel(round_id=round_at(live_table).pk, by="staff:test")
    state = read_public(live_table)
    shown = rendering.render_public(state, "en")
    assert "This round was voided" in shown
    assert "payout" not in shown  # there was none
    own = rendering.render_own(state, read_own(live_table, player.pk), "en")
    assert f"Round {code} was voided. Your stakes were returned." in own
    assert "10,000.00" in own


@pytest.mark.sweep
def test_free_play_has_a_table_of_its_own():
    live_table = a_live_table(mode=Mode.FREE)
    player = a_player(free=MONEY)
    bet(player, live_table, player=25_000)
    own = rendering.render_own(read_public(live_table), read_own(live_table, player.pk), "en")
    assert "Play money" in own
    assert "Top up" in own


@pytest.mark.sweep
def test_a_stopped_table_whose_round_is_voided_says_both_and_nothing_of_before():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=25_000)
    round_id = round_at(live_table).pk
    malfunction.report(round_id=round_id, cause="A card lay face up.", by="staff:test")
    cancel(round_id=round_id, by="staff:test")
    html = rendering.render_public(read_public(live_table), "en")
    assert "The table is stopped" in html
    assert "Something went wrong" not in html
    assert "All stakes were returned" in html
    assert html.count("This round was voided") == 2  # once visible, once for screen readers


@pytest.mark.sweep
def test_no_side_has_won_a_voided_round():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=25_000)
    advance_to(live_table, Phase.SETTLED)
    state = read_public(live_table)
    won = replace(there(state.round), cards=tuple(map(Card.parse, ["9H", "2D", "KS", "5C"])))
    assert "hand__won" in rendering.render_public(replace(state, round=won), "en")
    voided = replace(won, voided=VoidReason.DECIDED)
    html = rendering.render_public(replace(state, round=voided), "en")
    assert "hand__won" not in html
    assert "live-call__what--" not in html


@pytest.mark.sweep
def test_both_hands_are_named_before_any_card_is_dealt():
    html = rendering.render_public(read_public(a_live_table()), "sv")
    assert re.findall(r'hand__name">([^<]+)<', html) == ["Spelare", "Bank"]


@pytest.mark.sweep
def test_only_a_player_without_a_bet_reads_how_to_place_one():
    live_table, player = a_live_table(), a_player(real=MONEY)
    bet(player, live_table)
    hint = "Choose a chip, then put it on a bet."
    assert hint in rendering.render_own(read_public(live_table), read_own(live_table, player.pk), "en")
    bet(player, live_table, tie=5_000)
    assert hint not in rendering.render_own(read_public(live_table), read_own(live_table, player.pk), "en")


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_what_became_of_the_bets_ends_in_one_full_stop(language):
    live_table, player = a_live_table(), a_player("DK", real=MONEY)
    bet(player, live_table, player=25_000, banker=25_000, tie=25_000)  # so that something is paid back in any case
    advance_to(live_table, Phase.SETTLED)
    own = rendering.render_own(read_public(live_table), read_own(live_table, player.pk), language)
    [said] = re.findall(r'data-say="([^"]+)"', own)
    assert said.endswith(".")
    assert not said.endswith("..")


@pytest.mark.sweep
@pytest.mark.parametrize("address", ["/en/table/live/real/", "/en/"])
def test_the_range_of_player_and_banker_is_next_to_the_tables_name(address):
    a_live_table()
    visitor = Client()
    visitor.force_login(a_player(real=MONEY).user)
    assert "SEK\xa050 – SEK\xa0200,000<" in visitor.get(address).text
