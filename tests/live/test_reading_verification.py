"""Verification of a round of a shared table finds every difference."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from games.engine.dealing import coup_at
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.rounds.redeal import InShoe, LedgerTotals, StoredPart, StoredRound, StoredWager, findings
from games.variants import VARIANTS

NO_COMMISSION = VARIANTS["no_commission"]
CARDS = shuffle(sha256(b"a shoe").digest(), 8)
COMMITMENT = "c" * 64
FIRST_CARD = 77
IN_SHOE = InShoe(CARDS, FIRST_CARD, COMMITMENT)
STAKES = {"banker": 5000, "tie": 1000, "either_pair": 1000}


def a_stored_round() -> StoredRound:
    """Return a stored shared round of a player who deposited between stakes and payouts."""
    coup = coup_at(CARDS, FIRST_CARD)
    settled = settle(NO_COMMISSION, coup, STAKES)
    wagers = tuple(StoredWager(e.bet, e.stake, e.payout, e.commission, str(e.result)) for e in settled.lines)
    part = StoredPart(
        player=1,
        currency="SEK",
        mode="R",
        staked=settled.staked,
        paid=settled.paid,
        commission=0,
        balance_before=100_000,
        balance_after=100_000 - settled.staked + settled.paid + 50_000,
        wagers=wagers,
    )
    return StoredRound(
        seed=b"",
        commitment=COMMITMENT,
        player_value="",
        cards=" ".join(card.code for card in coup.cards),
        outcome=str(coup.outcome),
        mode="R",
        parts=(part,),
        ledger_totals={1: LedgerTotals(settled.staked, settled.paid, frozenset({("SEK", "R")}))},
        shoe=IN_SHOE,
    )


def found(**other: object) -> list[str]:
    """Return what is found if these values of the round are different."""
    return [each.what for each in findings(replace(a_stored_round(), **other), NO_COMMISSION)]  # type: ignore[arg-type]


def test_nothing_is_found_where_everything_follows_from_the_shoe() -> None:
    assert found() == []


@pytest.mark.parametrize(
    "other",
    [{"first_card": FIRST_CARD + 1}, {"first_card": 0}, {"cards": CARDS[:FIRST_CARD] + CARDS[FIRST_CARD + 1 :]}],
)
def test_another_position_in_the_shoe_or_other_cards_are_found(other: dict[str, Any]) -> None:
    assert "cards" in found(shoe=replace(IN_SHOE, **other))


def test_another_commitment_than_that_of_the_shoe_is_found() -> None:
    assert found(commitment="0" * 64) == ["commitment"]


def test_what_was_paid_otherwise_is_found() -> None:
    (part,) = a_stored_round().parts
    assert found(parts=(replace(part, paid=part.paid + 1),)) == ["player:1 paid"]
    ledger_totals = LedgerTotals(part.staked, part.paid + 1, frozenset({("SEK", "R")}))
    assert found(ledger_totals={1: ledger_totals}) == ["player:1 ledger"]


def test_a_balance_is_compared_only_where_nothing_comes_between_stakes_and_payouts() -> None:
    (part,) = a_stored_round().parts
    assert found(parts=(replace(part, balance_after=0),)) == []
    alone = replace(a_stored_round(), shoe=None, seed=bytes(32))
    assert "player:1 balance after" in [each.what for each in findings(alone, NO_COMMISSION)]


@pytest.mark.parametrize("in_shoe", [replace(IN_SHOE, first_card=415), replace(IN_SHOE, cards=CARDS[: FIRST_CARD + 3])])
def test_no_card_is_revealed_where_they_run_out(in_shoe: InShoe) -> None:
    (only,) = findings(replace(a_stored_round(), shoe=in_shoe), NO_COMMISSION)
    assert (only.what, only.stored) == ("first card", str(in_shoe.first_card))
    assert not any(card.code in only.recomputed for card in CARDS)
