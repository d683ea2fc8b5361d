"""Dealing a finished round again, from its seed, under the rules it was played under, to compare it with what is kept.

Pure: it takes what is stored as plain values and returns what does not agree. It opens no sealed seed and can store
nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from games.engine.bets import Variant
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.settle import Settlement, SettlementError, settle
from games.engine.shoe import SeedError, commitment, shuffle


@dataclass(frozen=True)
class StoredWager:
    """One bet as it is kept. Amounts in minor units."""

    bet: str
    stake: int
    payout: int
    commission: int
    result: str


@dataclass(frozen=True)
class StoredPart:
    """One player's part as it is kept. Amounts in minor units."""

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
class Moved:
    """What the ledger moved for one player in one round, in minor units."""

    staked: int
    paid: int
    money: frozenset[tuple[str, str]]  # the currencies and modes it moved in


@dataclass(frozen=True)
class StoredRound:
    """A finished round as it is kept."""

    seed: bytes
    commitment: str
    player_value: str
    cards: str
    outcome: str
    mode: str
    parts: tuple[StoredPart, ...]
    moved: Mapping[int, Moved]  # by player


@dataclass(frozen=True)
class Finding:
    """Something kept that is not what follows from the seed."""

    what: str
    stored: str
    recomputed: str


def findings(stored: StoredRound, variant: Variant) -> tuple[Finding, ...]:
    """Deal the round again and return everything that is kept otherwise; nothing, where the seed reproduces it."""
    try:
        seal = commitment(stored.seed)
        coup = deal(shuffle(stored.seed, variant.decks, stored.player_value))
    except (SeedError, TooFewCards) as error:
        return (Finding("seed", stored.seed.hex(), str(error)),)
    return tuple(finding for finding in _compare(stored, variant, seal, coup) if finding.stored != finding.recomputed)


def _compare(stored: StoredRound, variant: Variant, seal: str, coup: Coup) -> Iterator[Finding]:
    yield Finding("commitment", stored.commitment, seal)
    yield Finding("cards", stored.cards, " ".join(card.code for card in coup.cards))
    yield Finding("outcome", stored.outcome, str(coup.outcome))
    for part in stored.parts:
        name = f"player:{part.player}"
        yield Finding(f"{name} mode", part.mode, stored.mode)
        try:
            settlement = settle(variant, coup, {wager.bet: wager.stake for wager in part.wagers})
        except SettlementError as error:
            yield Finding(f"{name} wagers", _wagers(part.wagers), f"{type(error).__name__}: {error}")
            continue
        yield from _compare_part(name, part, settlement)
        yield Finding(
            f"{name} ledger",
            _ledger(stored.moved.get(part.player)),
            _ledger(Moved(settlement.staked, settlement.paid, frozenset({(part.currency, stored.mode)}))),
        )
    for player in sorted(stored.moved.keys() - {part.player for part in stored.parts}):
        yield Finding(f"player:{player} ledger", _ledger(stored.moved[player]), _ledger(None))
    if not stored.parts:
        yield Finding("players", "none", "at least one")


def _compare_part(name: str, part: StoredPart, settlement: Settlement) -> Iterator[Finding]:
    lines = tuple(
        StoredWager(line.bet, line.stake, line.payout, line.commission, str(line.result)) for line in settlement.lines
    )
    yield Finding(f"{name} wagers", _wagers(part.wagers), _wagers(lines))
    yield Finding(f"{name} staked", str(part.staked), str(settlement.staked))
    yield Finding(f"{name} paid", str(part.paid), str(settlement.paid))
    yield Finding(f"{name} commission", str(part.commission), str(sum(line.commission for line in lines)))
    after = part.balance_before - settlement.staked + settlement.paid
    yield Finding(f"{name} balance after", str(part.balance_after), str(after))


def _wagers(wagers: tuple[StoredWager, ...]) -> str:
    """Write wagers as one line of text, in an order of its own."""
    return "; ".join(
        f"{wager.bet}: staked {wager.stake}, {wager.result}, paid {wager.payout}, commission {wager.commission}"
        for wager in sorted(wagers, key=lambda wager: wager.bet)
    )


def _ledger(moved: Moved | None) -> str:
    if moved is None:
        return "nothing"
    money = ", ".join(f"{currency} {mode}" for currency, mode in sorted(moved.money))
    return f"staked {moved.staked}, paid {moved.paid} in {money}"
