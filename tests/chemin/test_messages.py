"""All messages at a Chemin de Fer table exist in five languages; the calls stay in French."""

import re
from collections.abc import Iterator
from random import Random
from typing import get_args

import pytest
from django.utils import translation

from games.chemin.pages import messages
from games.chemin.pages.options import NAMES, option_views
from games.chemin.pages.turns import Reading, of_a_player, of_a_spectator, turn
from games.engine.cards import Card
from games.engine.chemin import Call, Outcome, Phase, Refusal, Side, State, options, view
from games.engine.chemin import events as heard
from games.engine.chemin.actions import Action, BringShoe, Join, SetBalance, TableAction, TimeUp
from games.engine.chemin.events import Announced, Announcement, Event
from games.engine.chemin.state import Chips
from games.tables.chemin_rules import CheminRules
from tests.engine.chemin.evening import ANY_COUP, Evening, shoe_beginning
from tests.harness.sweeps import sweep_languages

LANGUAGES = ("sv", "da", "ro", "de", "en")
CALLS = {
    Announcement.FAITES_VOS_JEUX: ("Faites vos jeux", "fr"),
    Announcement.RIEN_NE_VA_PLUS: ("Rien ne va plus", "fr"),
    Announcement.BITTE_DIE_KARTEN: ("Bitte die Karten", "de"),
    Announcement.WHO_CALLS_BANCO: ("Banco?", "fr"),
    Announcement.BANK_AT_ITS_FULL_AMOUNT: ("Suite", "fr"),
}
RULES = CheminRules("SEK", 9, 10_000, 1_000_000)
CARDS = (Card.parse("9H"), Card.parse("TD"))
EVENTS: tuple[Event, ...] = (
    heard.PlayerWillLeave(2),
    heard.PlayerJoined(2, 77_777),
    heard.PlayerLeft(2, 77_777),
    heard.PlayerAway(2),
    heard.PlayerBack(2),
    heard.ShoeBrought(312),
    heard.Passed(seat=2, phase=Phase.CALLS),
    heard.BankTaken(2, 500),
    heard.BidMade(2, 500),
    heard.BidReturned(2, 500),
    heard.CallMade(2, Call.BANCO, 500),
    heard.StakeLaid(2, 500),
    heard.StakeRelieved(2, 500),
    heard.CardsDealt(seat=1, punter=2),
    heard.AdviceAsked(2, Side.PUNTER),
    heard.Declared(seat=2, side=Side.PUNTER, draws=True),
    heard.Declared(seat=2, side=Side.PUNTER, draws=False),
    heard.HandShown(Side.PUNTER, CARDS, 9, natural=True),
    heard.HandShown(Side.BANKER, CARDS, 9, natural=True),
    heard.HandShown(Side.PUNTER, CARDS, 9, natural=False),
    heard.HandShown(Side.BANKER, CARDS, 9, natural=False),
    heard.ThirdCard(Side.PUNTER, CARDS[0]),
    heard.ThirdCard(Side.BANKER, CARDS[0]),
    *(heard.Settled(outcome, 4, 4, (), 0, 500) for outcome in Outcome),
    heard.CoupVoided((Chips(2, 500),)),
    heard.BankKept(seat=2),
    heard.SuiteGiven(seat=2),
    heard.ExcessTakenHome(2, 500),
    heard.BankEnded(2, 500),
    heard.BankEnded(2, 0),
)


def who(number: int) -> str:
    return messages.seat_name(number)


def money(minor: int) -> str:
    """Format as in Danish, with a full stop in the amount."""
    return f"<{minor}> kr."


def moments(evenings: int, steps: int = 120) -> Iterator[State]:
    """Yield every state of some evenings with random actions."""
    for seed in range(evenings):
        chance, evening = Random(seed), Evening({1: 5_000, 2: 900, 3: 20_000, 4: 50}, seat_count=6)
        for _ in range(steps):
            yield evening.state
            evening.do(_anything(evening.state, chance))


def _anything(state: State, chance: Random) -> Action:
    if state.phase is Phase.SHOE:
        return BringShoe(shoe_beginning(ANY_COUP))
    asked = state.turn or chance.choice([seat.number for seat in state.seats])
    offered = options(state, asked)
    if not offered or (state.turn and chance.random() < 0.1):
        return TimeUp() if state.turn else Join(5, 5_000) if state.find(5) is None else SetBalance(asked, 5_000)
    option = chance.choice(offered)
    return option.at(chance.randint(option.lowest or 0, option.highest)) if option.highest else option.action


def texts_in(language: str) -> list[str]:
    """Return all messages in a language."""
    with translation.override(language):
        return [
            *(messages.describe_event(event, who, money) for event in EVENTS),
            *(messages.announcement(Announced(what, 500), money).text for what in Announcement),
            *(messages.refused(reason, RULES, money) for reason in Refusal),
        ]


def test_every_kind_of_event_is_announced_except_a_player_s_balance():
    shown = {type(event) for event in EVENTS} | {heard.Announced, heard.BalanceSet}
    assert shown == set(get_args(Event))
    assert messages.describe_event(heard.BalanceSet(2, 77_777), who, money) == ""


@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_every_sentence_is_whole_and_names_no_balance(language):
    for text in texts_in(language):
        assert text, language
        assert text[-1] in ".?…", text
        assert ".." not in text, text
        assert "%(" not in text, text
        assert "77777" not in text.replace(" ", ""), text


@pytest.mark.parametrize("language", sweep_languages([each for each in LANGUAGES if each != "en"]))
def test_no_english_is_left_over(language):
    for english, other in zip(texts_in("en"), texts_in(language), strict=True):
        assert english != other


@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
@pytest.mark.parametrize("what", list(Announcement))
def test_the_croupier_s_calls_are_the_same_in_every_language(what, language):
    with translation.override(language):
        said = messages.announcement(Announced(what, 500), money)
    assert (said.call, said.language) == CALLS.get(what, ("", ""))


def test_every_reason_to_refuse_has_a_sentence_of_its_own():
    said = [messages.refused(reason, RULES, money) for reason in Refusal]
    assert len(set(said)) == len(Refusal)


def test_every_decision_has_a_name_for_the_page():
    assert set(NAMES) == set(get_args(TableAction))
    assert len(set(NAMES.values())) == len(NAMES)


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_a_reader_gets_a_sentence_with_the_possible_actions(language):
    """At every moment every player and spectator has a message, and every option a button."""
    with translation.override(language):
        for state in moments(evenings=3):
            for seated_player in state.seats:
                table = view(state, seated_player.number)
                reading = Reading(table, state.last_banker, who, money)
                message = of_a_player(reading, None, "Europe/Stockholm")
                assert re.search(r"[.?]$", message), (state.phase, message)
                assert "%(" not in message
                assert ".." not in message, message
                buttons = option_views(table, money)
                assert len(buttons) == len(table.options)
                assert all(button.label for button in buttons)
            reading = Reading(view(state, None), state.last_banker, who, money)
            assert of_a_spectator(reading, free_seats=1, is_open=True)
            assert bool(turn(reading)) == (state.turn is not None)
            assert ".." not in turn(reading)
