"""The visible cards at every moment, for the punter, the banker, other players and spectators."""

from games.engine.chemin import Phase, State, view
from games.engine.chemin.actions import AskCroupier, DrawCard, MakeCall, Stand
from games.engine.chemin.rules import Call, Side
from games.engine.chemin.state import Presence
from games.engine.chemin.views import HandView, PlayerView
from tests.engine.chemin.evening import alone, bank_taken, for_others

EVERYONE = (1, 2, 3, 4, 5, None)
"""Seat 1 is banker, seat 2 plays for the punters, seat 5 is free, None is a spectator."""

DOWN = HandView((None, None), None, natural=False)


def seen(state: State, side: Side, viewer: int | None) -> str:
    """Return a hand as a viewer sees it, with ?? for a face-down card."""
    coup = view(state, viewer).coup
    assert coup is not None
    hand = coup.punter if side is Side.PUNTER else coup.banker
    assert hand is not None
    return " ".join("??" if card is None else card.code for card in hand.cards)


def test_before_the_punter_has_declared_he_alone_sees_his_two_cards() -> None:
    state = for_others("2C 3C 3D TC").state
    assert {viewer: seen(state, Side.PUNTER, viewer) for viewer in EVERYONE} == {
        1: "?? ??",
        2: "2C 3D",
        3: "?? ??",
        4: "?? ??",
        5: "?? ??",
        None: "?? ??",
    }


def test_the_bankers_two_are_hidden_from_everyone_the_banker_included_until_the_punter_has_declared() -> None:
    evening = for_others("2C 3C 3D TC")
    assert {seen(evening.state, Side.BANKER, viewer) for viewer in EVERYONE} == {"?? ??"}
    evening.do(Stand(2))
    assert {seen(evening.state, Side.BANKER, viewer) for viewer in EVERYONE} == {"3C TC"}


def test_the_punters_two_cards_stay_hidden_from_the_others_while_the_banker_decides() -> None:
    evening = for_others("2C 3C 3D TC 4H")
    evening.do(DrawCard(2))
    assert seen(evening.state, Side.PUNTER, 2) == "2C 3D 4H"
    assert {seen(evening.state, Side.PUNTER, viewer) for viewer in EVERYONE if viewer != 2} == {"?? ?? 4H"}


def test_a_total_is_shown_only_with_its_cards() -> None:
    evening = for_others("2C 3C 3D TC 4H")
    hidden, own = view(evening.state, 1).coup, view(evening.state, 2).coup
    assert hidden is not None
    assert own is not None
    assert hidden.punter == DOWN
    assert own.punter is not None
    assert own.punter.total == 5


def test_when_the_coup_is_over_everyone_sees_all() -> None:
    evening = for_others("2C 3C 3D TC 4H 5H")
    evening.do(DrawCard(2), DrawCard(1))
    assert {seen(evening.state, Side.PUNTER, viewer) for viewer in EVERYONE} == {"2C 3D 4H"}
    assert {seen(evening.state, Side.BANKER, viewer) for viewer in EVERYONE} == {"3C TC 5H"}


def test_nobody_sees_what_somebody_else_has_to_play_with() -> None:
    seen_by_two = view(bank_taken().state, 2)
    assert seen_by_two.balance == 10_000
    assert seen_by_two.seated_players[0] == PlayerView(1, Presence.PLAYING)
    assert view(bank_taken().state, None).balance is None


def test_possible_actions_are_shown_only_to_the_player_who_is_asked() -> None:
    evening = for_others("2C 3C 3D TC")
    assert [viewer for viewer in EVERYONE if view(evening.state, viewer).options] == [2]


def test_only_who_asked_hears_the_advice() -> None:
    evening = alone("2C 3C 3D TC")
    evening.do(AskCroupier(2))
    assert [viewer for viewer in EVERYONE if view(evening.state, viewer).advice] == [2]
    coup = view(evening.state, None).coup
    assert coup is not None
    assert coup.advised == {Side.PUNTER}


def test_what_is_open_is_in_view_until_the_stakes_are_closed() -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, Call.BANCO))
    coup = view(evening.state, None).coup
    assert coup is not None
    assert (coup.at_risk, coup.open) == (1000, 500)
    evening.all_pass()
    coup = view(evening.state, None).coup
    assert coup is not None
    assert evening.state.phase is Phase.CARDS
    assert coup.open == 0


def test_no_printed_form_of_a_state_or_of_a_shoe_tells_a_hidden_card() -> None:
    evening = alone("2C 3C 3D TC 9S")
    printed = repr(evening.state)
    assert not any(code in printed for code in ("2C", "3C", "3D", "TC", "9S", "Card("))
