"""Verify a finished round: deal it again from its seed under its rules and compare it with what is
stored.

Pure: takes stored values and returns the differences. It reads and stores nothing. Voided
rounds are not verified, because their money was returned.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.commitments import Binding
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.dealing import coup_at
from games.engine.settle import Settlement, SettlementError, settle
from games.engine.shoe import SeedError, shuffle

VALID: Final = "valid"
NOTHING: Final = "none"
COMMITTED: Final = "commitment in the event log before the bets"
SIGNATURE: Final = "signature of the dealer"


@dataclass(frozen=True)
class StoredWager:
    """One bet as stored. Amounts in minor units."""

    bet: str
    stake: int
    payout: int
    commission: int
    result: str


@dataclass(frozen=True)
class StoredPart:
    """One player's part as stored. Amounts in minor units."""

    player: int
    currency: str
    mode: str
    staked: int
    paid: int
    commission: int
    balance_before: int
    balance_after: int
    wagers: tuple[StoredWager, ...]


@dataclass(frozen=True)
class LedgerTotals:
    """Money that the ledger moved for one player in one round, in minor units."""

    staked: int
    paid: int
    money: frozenset[tuple[str, str]]  # the currencies and modes it moved in


@dataclass(frozen=True)
class InShoe:
    """Position of a shared table's round in its shoe."""

    cards: tuple[Card, ...]  # of the shoe, in dealing order
    first_card: int  # number of cards dealt from the shoe before the round
    commitment: str  # of the shoe


@dataclass(frozen=True)
class Evidence:
    """Evidence in the event log about the deal of a round."""

    committed: str  # the commitment to the round in an event before its bets; "none"
    signature: str  # what is wrong with the dealer's signature; "valid"


@dataclass(frozen=True)
class StoredRound:
    """A finished round as stored."""

    seed: bytes  # empty in a shoe
    commitment: str
    player_value: str
    cards: str
    outcome: str
    mode: str
    parts: tuple[StoredPart, ...]
    ledger_totals: Mapping[int, LedgerTotals]  # by player
    shoe: InShoe | None = None  # None: the cards were shuffled for this round only
    binding: Binding | None = None  # what the commitment names; None in a shoe
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Finding:
    """A stored value that differs from the value recomputed from the seed."""

    what: str
    stored: str
    recomputed: str


def findings(stored: StoredRound, variant: Variant) -> tuple[Finding, ...]:
    """Deal the round again and return every difference; empty if the seed reproduces the round."""
    try:
        seal = stored.binding.commitment(stored.seed) if stored.binding else ""
        if stored.shoe is not None:
            seal = stored.shoe.commitment
        coup = _redeal(stored, variant)
    except (SeedError, TooFewCards) as error:
        if stored.shoe is not None:
            return (Finding("first card", str(stored.shoe.first_card), str(error)),)
        return (Finding("seed", stored.seed.hex(), str(error)),)
    return tuple(finding for finding in _compare(stored, variant, seal, coup) if finding.stored != finding.recomputed)


def unproven(evidence: Evidence | None, seal: str) -> Iterator[Finding]:
    """Yield what the event log does not prove about a deal; *seal* is the commitment."""
    if evidence is not None:
        if evidence.committed != seal:
            yield Finding(COMMITTED, evidence.committed, seal)
        if evidence.signature != VALID:
            yield Finding(SIGNATURE, evidence.signature, VALID)


def _redeal(stored: StoredRound, variant: Variant) -> Coup:
    if stored.shoe is None:
        return deal(shuffle(stored.seed, variant.decks, stored.player_value))
    return coup_at(stored.shoe.cards, stored.shoe.first_card)


def _compare(stored: StoredRound, variant: Variant, seal: str, coup: Coup) -> Iterator[Finding]:
    yield Finding("commitment", stored.commitment, seal)
    yield Finding("cards", stored.cards, " ".join(card.code for card in coup.cards))
    yield Finding("outcome", stored.outcome, str(coup.outcome))
    yield from unproven(stored.evidence, seal)
    for part in stored.parts:
        name = f"player:{part.player}"
        yield Finding(f"{name} mode", part.mode, stored.mode)
        try:
            settlement = settle(variant, coup, {wager.bet: wager.stake for wager in part.wagers})
        except SettlementError as error:
            yield Finding(f"{name} wagers", _wagers(part.wagers), f"{type(error).__name__}: {error}")
            continue
        yield from compare_part(name, part, settlement)
        if stored.shoe is None:  # at a shared table other movements may change the account between stakes and payouts
            after = part.balance_before - settlement.staked + settlement.paid
            yield Finding(f"{name} balance after", str(part.balance_after), str(after))
        yield Finding(
            f"{name} ledger",
            ledger_text(stored.ledger_totals.get(part.player)),
            ledger_text(LedgerTotals(settlement.staked, settlement.paid, frozenset({(part.currency, stored.mode)}))),
        )
    for player in sorted(stored.ledger_totals.keys() - {part.player for part in stored.parts}):
        yield Finding(f"player:{player} ledger", ledger_text(stored.ledger_totals[player]), ledger_text(None))
    if not stored.parts:
        yield Finding("players", "none", "at least one")


def compare_part(name: str, part: StoredPart, settlement: Settlement) -> Iterator[Finding]:
    """Yield each stored value of a player's part with the recomputed one, equal or not."""
    lines = tuple(
        StoredWager(line.bet, line.stake, line.payout, line.commission, str(line.result)) for line in settlement.lines
    )
    yield Finding(f"{name} wagers", _wagers(part.wagers), _wagers(lines))
    yield Finding(f"{name} staked", str(part.staked), str(settlement.staked))
    yield Finding(f"{name} paid", str(part.paid), str(settlement.paid))
    yield Finding(f"{name} commission", str(part.commission), str(sum(line.commission for line in lines)))


def _wagers(wagers: tuple[StoredWager, ...]) -> str:
    """Format wagers as one line of text, sorted by bet."""
    return "; ".join(
        f"{wager.bet}: staked {wager.stake}, {wager.result}, paid {wager.payout}, commission {wager.commission}"
        for wager in sorted(wagers, key=lambda wager: wager.bet)
    )


def ledger_text(ledger_totals: LedgerTotals | None) -> str:
    """Format what the ledger moved as one line of text; None is "nothing"."""
    if ledger_totals is None:
        return "nothing"
    money = ", ".join(f"{currency} {mode}" for currency, mode in sorted(ledger_totals.money))
    return f"staked {ledger_totals.staked}, paid {ledger_totals.paid} in {money}"
