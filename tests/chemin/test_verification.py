"""Verification of a coup with shoe, stakes and decisions finds every changed record."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

import pytest

from games.chemin.coups.redeal import StoredCoup, StoredPlay, StoredStake, findings
from games.engine.chemin.record import Played, recompute_coup
from games.engine.chemin.rules import DECKS, Outcome
from games.engine.chemin.state import Chips
from games.engine.shoe import shuffle
from games.rounds.redeal import LedgerTotals, StoredPart, StoredWager

SEED = sha256(b"a shoe of six decks").digest()
CARDS = shuffle(SEED, DECKS)
BANK = 10_000
MONEY = frozenset({("SEK", "F")})

# Seat 2 is a house player's, seat 3 player 7's; player 1 is the banker.
STAKES = (Chips(2, 2_500), Chips(3, 4_001))


def by_the_rule(first: int) -> Played:
    """Return the coup that begins at this card of the shoe, played by the rule."""
    found = []
    for punter in (None, True, False):
        for banker in (None, True, False):
            try:
                found.append(
                    recompute_coup(CARDS[first:], stakes=STAKES, bank=BANK, punter_draws=punter, banker_draws=banker)
                )
            except ValueError:
                continue
    return found[0]


def first_card_of(outcome: Outcome, cards: int = 6) -> int:
    """Return the position in the shoe of a coup with this outcome and number of cards."""
    return next(
        first
        for first in range(200)
        if (played := by_the_rule(first)).outcome is outcome and len(played.cards) == cards
    )


def stored(outcome: Outcome = Outcome.BANKER) -> StoredCoup:
    """Return a coup as a table stores it."""
    first = first_card_of(outcome)
    played = by_the_rule(first)
    house, seated_player = played.stakes
    at_risk, to_bank = 6_501, played.bank - BANK
    result = {Outcome.PUNTER: ("win", "lose"), Outcome.BANKER: ("lose", "win"), Outcome.DRAW: ("push", "push")}[outcome]
    ledger_totals = {
        "seat:2": LedgerTotals(house.stake, house.returned, MONEY),
        "player:7": LedgerTotals(seated_player.stake, seated_player.returned, MONEY),
        "stakes": LedgerTotals(-at_risk, -at_risk, MONEY),
        "house": LedgerTotals(0, played.tax, MONEY),
        "bank": LedgerTotals(0, to_bank, MONEY),
    }
    return StoredCoup(
        shoe_cards=CARDS,
        shoe_commitment="c" * 64,
        commitment="c" * 64,
        first_card=first,
        cards=" ".join(card.code for card in played.cards),
        outcome=str(outcome),
        currency="SEK",
        mode="F",
        play=StoredPlay(
            banker_player=1,
            bank=BANK,
            call="",
            at_risk=at_risk,
            punter=3,
            outcome=str(outcome),
            punter_total=played.punter.total,
            banker_total=played.banker.total,
            punter_draws=True,
            banker_draws=True,
            punter_departs=played.punter_departs,
            banker_departs=played.banker_departs,
            tax=played.tax,
            stakes=(StoredStake(2, None, 2_500, house.returned), StoredStake(3, 7, 4_001, seated_player.returned)),
        ),
        parts=(
            part(7, "punter", seated_player.stake, seated_player.returned, 0, result[0]),
            part(1, "bank", at_risk, at_risk + to_bank, played.tax, result[1]),
        ),
        ledger_totals={name: each for name, each in ledger_totals.items() if each.staked or each.paid},
        bank=(BANK, played.bank),
    )


def part(player: int, bet: str, stake: int, paid: int, tax: int, result: str) -> StoredPart:
    wager = StoredWager(bet, stake, paid, tax, result)
    return StoredPart(player, "SEK", "F", stake, paid, tax, 50_000, 50_000 - stake + paid, (wager,))


def found(coup: StoredCoup) -> list[str]:
    return [each.what for each in findings(coup)]


def with_play(**other: object) -> StoredCoup:
    """Return the coup with other stored values of the play."""
    coup = stored()
    assert coup.play
    return replace(coup, play=replace(coup.play, **other))  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", Outcome)
def test_nothing_is_found_where_everything_follows(outcome: Outcome) -> None:
    assert found(stored(outcome)) == []


@pytest.mark.parametrize(
    ("other", "names"),
    [
        ({"commitment": "0" * 64}, ["commitment"]),
        ({"cards": "9H 9D KS QC"}, ["cards"]),
        ({"outcome": "draw"}, ["outcome"]),
        ({"bank": (BANK, BANK)}, ["bank"]),
        ({"bank": None}, ["bank"]),
        ({"mode": "R"}, ["player:7 money", "player:1 money"]),
        ({"parts": ()}, ["player:7 part", "player:1 part"]),
        ({"play": None}, ["coup"]),
        ({"shoe_commitment": "0" * 64}, ["commitment"]),
    ],
)
def test_what_is_kept_otherwise_is_found(other: Mapping[str, object], names: list[str]) -> None:
    assert found(replace(stored(), **other))[: len(names)] == names  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"outcome": "punter"}, "coup"),
        ({"punter": 2}, "coup"),
        ({"punter_total": 0, "banker_total": 0}, "coup"),
        ({"tax": 0}, "coup"),
        ({"at_risk": 1}, "coup"),
        ({"punter_departs": True}, "coup"),
        ({"banker_departs": True}, "coup"),
        ({"call": "banco"}, "call"),
        ({"bank": BANK + 1}, "bank"),
        ({"banker_player": 8}, "player:1 part"),
        ({"banker_player": None}, "player:1 part"),
        ({"punter_draws": None}, "declared"),
        ({"banker_draws": None}, "declared"),
        ({"stakes": ()}, "declared"),
    ],
)
def test_what_is_kept_otherwise_of_what_players_did_is_found(other: Mapping[str, object], name: str) -> None:
    assert name in found(with_play(**other))


def test_a_stake_that_is_another_is_found_in_all_that_followed_from_it() -> None:
    house, seated_player = stored().play.stakes  # type: ignore[union-attr]
    names = found(with_play(stakes=(house, replace(seated_player, stake=4_101))))
    assert {"coup", "bank", "player:7 wagers", "player:7 ledger", "player:1 wagers", "stakes ledger"} <= set(names)


def test_what_came_back_to_a_house_player_otherwise_is_found() -> None:
    house, seated_player = stored().play.stakes  # type: ignore[union-attr]
    assert found(with_play(stakes=(replace(house, returned=1), seated_player))) == ["seat:2 returned"]


@pytest.mark.parametrize("name", ["player:7", "seat:2", "stakes", "house", "bank"])
def test_other_movements_of_money_are_found(name: str) -> None:
    coup = stored()
    was = coup.ledger_totals[name]
    assert found(replace(coup, ledger_totals={**coup.ledger_totals, name: replace(was, paid=was.paid + 1)})) == [
        f"{name} ledger"
    ]
    without = {other: each for other, each in coup.ledger_totals.items() if other != name}
    assert found(replace(coup, ledger_totals=without)) == [f"{name} ledger"]


def test_money_of_somebody_who_had_no_part_is_found() -> None:
    coup = stored()
    assert found(replace(coup, ledger_totals={**coup.ledger_totals, "account:9": LedgerTotals(0, 5, MONEY)})) == [
        "account:9 ledger"
    ]


def test_real_money_in_a_coup_for_free_money_is_found() -> None:
    coup = stored()
    mixed = replace(coup.ledger_totals["house"], money=frozenset({("SEK", "R"), ("SEK", "F")}))
    assert found(replace(coup, ledger_totals={**coup.ledger_totals, "house": mixed})) == ["house ledger"]


def test_what_was_paid_otherwise_is_found() -> None:
    coup = stored()
    seated_player, banker = coup.parts
    assert found(replace(coup, parts=(seated_player, replace(banker, commission=0)))) == ["player:1 commission"]
    assert found(replace(coup, parts=(replace(seated_player, paid=1), banker))) == ["player:7 paid"]
    assert found(replace(coup, parts=(seated_player, banker, replace(seated_player, player=9)))) == ["player:9 part"]


@pytest.mark.parametrize("first", [0, 306, 311, 400])
def test_another_position_in_the_shoe_is_found_and_reveals_only_stored_cards(first: int) -> None:
    coup = replace(stored(), first_card=first)
    (cards,) = [each for each in findings(coup) if each.what == "cards"]
    assert len(cards.recomputed.split()) <= 6
