"""Verification of a round of a shared table finds every difference and reveals no seed."""

from dataclasses import replace
from hashlib import sha256

import pytest

from games.engine.dealing import coup_at
from games.engine.settle import settle
from games.engine.shoe import commitment, shuffle
from games.rounds.redeal import InShoe, LedgerTotals, StoredPart, StoredRound, StoredWager, findings
from games.variants import VARIANTS

NO_COMMISSION = VARIANTS["no_commission"]
SEED = sha256(b"a shoe").digest()
FIRST_CARD = 77
STAKES = {"banker": 5000, "tie": 1000, "either_pair": 1000}


def a_stored_round() -> StoredRound:
    """Return a stored shared round of a player who deposited between stakes and payouts."""
    coup = coup_at(shuffle(SEED, 8), FIRST_CARD)
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
        seed=SEED,
        commitment=commitment(SEED),
        player_value="",
        cards=" ".join(card.code for card in coup.cards),
        outcome=str(coup.outcome),
        mode="R",
        parts=(part,),
        ledger_totals={1: LedgerTotals(settled.staked, settled.paid, frozenset({("SEK", "R")}))},
        shoe=InShoe(8, FIRST_CARD),
    )


def found(**other: object) -> list[str]:
    """Return what is found if these values of the round are different."""
    return [each.what for each in findings(replace(a_stored_round(), **other), NO_COMMISSION)]  # type: ignore[arg-type]


def test_nothing_is_found_where_everything_follows_from_the_shoe() -> None:
    assert found() == []


@pytest.mark.parametrize("shoe", [InShoe(8, FIRST_CARD + 1), InShoe(8, 0), InShoe(7, FIRST_CARD), None])
def test_another_place_in_the_shoe_is_found(shoe: InShoe | None) -> None:
    assert "cards" in found(shoe=shoe)


def test_what_was_paid_otherwise_is_found() -> None:
    (part,) = a_stored_round().parts
    assert found(parts=(replace(part, paid=part.paid + 1),)) == ["player:1 paid"]
    ledger_totals = LedgerTotals(part.staked, part.paid + 1, frozenset({("SEK", "R")}))
    assert found(ledger_totals={1: ledger_totals}) == ["player:1 ledger"]


def test_a_balance_is_compared_only_where_nothing_comes_between_stakes_and_payouts() -> None:
    (part,) = a_stored_round().parts
    assert found(parts=(replace(part, balance_after=0),)) == []
    alone = replace(a_stored_round(), shoe=None)
    assert "player:1 balance after" in [each.what for each in findings(alone, NO_COMMISSION)]


def test_no_seed_is_told_where_the_cards_run_out() -> None:
    (only,) = findings(replace(a_stored_round(), shoe=InShoe(8, 415)), NO_COMMISSION)
    assert only.what == "seed"
    assert SEED.hex() not in f"{only.stored} {only.recomputed}"
