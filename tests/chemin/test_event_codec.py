"""Events of a move are encoded as JSON that decodes to the same events, without balances."""

import json
from random import Random
from typing import get_args

import pytest

from games.chemin.event_codec import read, write
from games.engine.cards import FULL_DECK
from games.engine.chemin import Call, Outcome, Phase, Side, TableRules, apply, default_action, new_table
from games.engine.chemin.actions import Action, BringShoe, Join, KeepBank, LayStake, MakeBid, MakeCall, Pass, TakeBank
from games.engine.chemin.events import (
    AdviceAsked,
    Announced,
    Announcement,
    BalanceSet,
    BankEnded,
    BankKept,
    BankTaken,
    BidMade,
    BidReturned,
    CallMade,
    CardsDealt,
    CoupVoided,
    Declared,
    Event,
    ExcessTakenHome,
    HandShown,
    Passed,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerLeft,
    PlayerWillLeave,
    Settled,
    SettledStake,
    ShoeBrought,
    StakeLaid,
    StakeRelieved,
    SuiteGiven,
    ThirdCard,
)
from games.engine.chemin.state import Chips, there

ONE_OF_EACH = (
    Announced(Announcement.FAITES_VOS_JEUX, 500),
    Announced(Announcement.BITTE_DIE_KARTEN),
    PlayerWillLeave(1),
    PlayerAway(2),
    PlayerBack(2),
    ShoeBrought(312),
    Passed(seat=3, phase=Phase.CALLS),
    Passed(seat=3, phase=Phase.AUCTION, by_house=True),
    BankTaken(1, 1000),
    BidMade(2, 700),
    BidReturned(2, 700),
    CallMade(3, Call.BANCO_ET_LA_TABLE_MARCHE, 1000),
    StakeLaid(4, 1),
    StakeRelieved(3, 1),
    CardsDealt(seat=1, punter=3),
    AdviceAsked(3, Side.PUNTER),
    Declared(seat=3, side=Side.PUNTER, draws=False),
    Declared(seat=1, side=Side.BANKER, draws=True, by_house=True),
    HandShown(Side.BANKER, FULL_DECK[:2], 3, natural=False),
    ThirdCard(Side.PUNTER, FULL_DECK[17]),
    Settled(Outcome.BANKER, 3, 5, (SettledStake(3, 999, 0), SettledStake(4, 1, 0)), 50, 1950),
    CoupVoided((Chips(3, 999), Chips(4, 1))),
    BankKept(seat=1),
    SuiteGiven(seat=1, by_house=True),
    ExcessTakenHome(1, 950),
    BankEnded(1, 0),
)


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=repr)
def test_an_event_is_the_same_when_it_is_read_again(event):
    assert read(json.loads(json.dumps(write(event)))) == event


@pytest.mark.parametrize("event", [PlayerJoined(5, 12_345), PlayerLeft(5, 12_345), BalanceSet(5, 12_345)], ids=repr)
def test_a_player_s_balance_is_shown_to_nobody(event):
    assert "12345" not in json.dumps(write(event))
    assert read(write(event)) == type(event)(5, 0)


def test_there_is_one_of_each_here():
    assert {type(event) for event in ONE_OF_EACH} | {PlayerJoined, PlayerLeft, BalanceSet} == set(get_args(Event))


def test_every_event_of_an_evening_is_announced():
    chance, state, shown = Random(7), new_table(TableRules(5, 1000, 50_000)), 0
    for seat_number in (1, 2, 3):
        state, _ = apply(state, Join(seat_number, 500_000))
    for _ in range(200):
        action: Action
        if state.phase is Phase.SHOE:
            cards = list(FULL_DECK * 6)
            chance.shuffle(cards)
            action = BringShoe(tuple(cards))
        elif state.phase in (Phase.OFFER, Phase.FREE):
            action = TakeBank(state.turn or 1, 2000)
        elif state.phase is Phase.STAKES:
            action = LayStake(there(state.turn), 10)
        elif state.phase is Phase.AUCTION:
            turn = there(state.turn)
            action = MakeBid(turn, 1000) if state.offered_sale.full_amount > 1000 else Pass(turn)
        elif state.phase is Phase.CALLS and chance.random() < 0.2:
            action = MakeCall(there(state.turn), Call.BANCO)
        elif state.phase is Phase.CHOICE and chance.random() < 0.7:
            action = KeepBank(there(state.turn))
        else:
            default = default_action(state)
            assert default is not None
            action = default
        state, events = apply(state, action)
        for event in events:
            assert read(json.loads(json.dumps(write(event)))) == event
            shown += 1
    assert shown > 300
