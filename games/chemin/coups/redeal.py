"""Verify a finished coup of Chemin de Fer: deal it again, settle it again, compare with the stored one.

A pure function, as `games.rounds.redeal` is for other games: plain values in, differences out.
Cards, stakes and declarations determine everything else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from games.engine.cards import Card
from games.engine.chemin.record import Played, RecordError, recompute_coup
from games.engine.chemin.rules import Call, Outcome
from games.engine.chemin.state import Chips, Coup
from games.engine.settle import Line, Result, Settlement
from games.rounds.redeal import Finding, LedgerTotals, StoredPart, compare_part, ledger_text

PUNTER: Final = "punter"
BANK: Final = "bank"
"""The covered part of a bank."""

RESULTS: Final[Mapping[tuple[str, Outcome | None], str]] = {
    (PUNTER, Outcome.PUNTER): "win",
    (PUNTER, Outcome.BANKER): "lose",
    (BANK, Outcome.BANKER): "win",
    (BANK, Outcome.PUNTER): "lose",
    (PUNTER, Outcome.DRAW): "push",
    (BANK, Outcome.DRAW): "push",
    (PUNTER, None): "void",
    (BANK, None): "void",
}
"""Result of a bet, by the outcome of its coup; no outcome means the coup is void."""


COVERING: Final = frozenset(call.value for call in Call if call.covers_the_bank)


@dataclass(frozen=True)
class StoredStake:
    """One stored stake; without a player it is a house player's. Minor units."""

    seat: int
    player: int | None
    stake: int
    returned: int

    @property
    def name(self) -> str:
        """Return the name of the stake's owner."""
        return f"seat:{self.seat}" if self.player is None else f"player:{self.player}"


@dataclass(frozen=True)
class StoredPlay:
    """The stored bank, stakes, decisions and results of a coup. Minor units."""

    banker_player: int | None
    bank: int  # at the opening of the coup
    call: str
    at_risk: int
    punter: int | None  # the seat that held the punters' cards
    outcome: str
    punter_total: int | None
    banker_total: int | None
    punter_draws: bool | None
    banker_draws: bool | None
    punter_departs: bool
    banker_departs: bool
    tax: int
    stakes: tuple[StoredStake, ...]

    @property
    def chips(self) -> tuple[Chips, ...]:
        """Return the stakes in the engine's form."""
        return tuple(Chips(stake.seat, stake.stake) for stake in self.stakes)


@dataclass(frozen=True)
class StoredCoup:
    """A stored finished coup."""

    shoe_cards: tuple[Card, ...]  # of its shoe, in dealing order
    shoe_commitment: str
    commitment: str
    first_card: int  # number of cards that had left the shoe before
    cards: str
    outcome: str
    currency: str
    mode: str
    play: StoredPlay | None  # None where the row is missing
    parts: tuple[StoredPart, ...]
    ledger_totals: Mapping[str, LedgerTotals]  # by owner: "player:7", "seat:3", "bank", "stakes", "house"
    bank: tuple[int, int] | None  # the bank before and after the settlement, from the ledger


def findings(stored: StoredCoup) -> tuple[Finding, ...]:
    """Recompute the coup and return every difference; empty where it is verified."""
    if stored.play is None:
        return (Finding("coup", "none", "one"),)
    cards = stored.shoe_cards[stored.first_card :]
    compared = (Finding("commitment", stored.commitment, stored.shoe_commitment), *_compare(stored, stored.play, cards))
    return tuple(finding for finding in compared if finding.stored != finding.recomputed)


def _compare(stored: StoredCoup, play: StoredPlay, cards: tuple[Card, ...]) -> Iterator[Finding]:
    try:
        played = recompute_coup(
            cards,
            stakes=play.chips,
            bank=play.bank,
            punter_draws=play.punter_draws,
            banker_draws=play.banker_draws,
        )
    except RecordError as error:
        yield Finding("cards", stored.cards, _written(cards[: len(stored.cards.split())]))
        yield Finding("declared", _declared(play), str(error))
        return
    yield Finding("cards", stored.cards, _written(played.cards))
    yield Finding("outcome", stored.outcome, played.outcome.value)
    yield Finding("coup", _stored(play), _again(play, played))
    if play.call in COVERING and play.at_risk != play.bank:
        yield Finding("call", play.call, f"{play.at_risk} of {play.bank} at risk")
    for stake, settled in zip(play.stakes, played.stakes, strict=True):
        yield Finding(f"{stake.name} returned", str(stake.returned), str(settled.returned))
    yield Finding("bank", "none" if stored.bank is None else _bank(*stored.bank), _bank(play.bank, played.bank))
    yield from _compare_parts(stored, play, played)
    yield from _compare_ledger(stored, play, played)


def _compare_parts(stored: StoredCoup, play: StoredPlay, played: Played) -> Iterator[Finding]:
    settlements = dict(_settlements(play, played))
    for part in stored.parts:
        name = f"player:{part.player}"
        yield Finding(f"{name} money", f"{part.currency} {part.mode}", f"{stored.currency} {stored.mode}")
        settlement = settlements.pop(part.player, None)
        if settlement is None:
            yield Finding(f"{name} part", "one", "none")
        else:
            yield from compare_part(name, part, settlement)
    for player in settlements:
        yield Finding(f"player:{player} part", "none", "one")


def _settlements(play: StoredPlay, played: Played) -> Iterator[tuple[int, Settlement]]:
    """Yield each player's settlement of the coup; house players are left out."""
    of_punters, of_banker = (Result(RESULTS[bet, played.outcome]) for bet in (PUNTER, BANK))
    at_risk = sum(settled.stake for settled in played.stakes)
    for stake, settled in zip(play.stakes, played.stakes, strict=True):
        if stake.player is not None:
            yield stake.player, _settled(Line(PUNTER, settled.stake, settled.returned, 0, of_punters))
    if play.banker_player is not None:
        payout = at_risk + played.bank - play.bank
        yield play.banker_player, _settled(Line(BANK, at_risk, payout, played.tax, of_banker))


def _settled(line: Line) -> Settlement:
    return Settlement((line,), line.stake, line.payout)


def _compare_ledger(stored: StoredCoup, play: StoredPlay, played: Played) -> Iterator[Finding]:
    """Compare the ledger: stakes go from players to the coup's stakes, and then to winners, bank and tax.

    Nothing else may move.
    """
    expected = {
        stake.name: (redealt.stake, redealt.returned) for stake, redealt in zip(play.stakes, played.stakes, strict=True)
    }
    at_risk = sum(redealt.stake for redealt in played.stakes)
    expected |= {"stakes": (-at_risk, -at_risk), "house": (0, played.tax), "bank": (0, played.bank - play.bank)}
    for name in sorted(expected.keys() | stored.ledger_totals.keys()):
        staked, paid = expected.get(name, (0, 0))
        redealt = LedgerTotals(staked, paid, frozenset({(stored.currency, stored.mode)})) if staked or paid else None
        yield Finding(f"{name} ledger", ledger_text(stored.ledger_totals.get(name)), ledger_text(redealt))


def _stored(play: StoredPlay) -> str:
    return _coup(
        play.outcome,
        (play.punter_total, play.banker_total),
        play.punter,
        play.at_risk,
        play.tax,
        (play.punter_departs, play.banker_departs),
    )


def _again(play: StoredPlay, played: Played) -> str:
    coup = Coup(stakes=play.chips)
    return _coup(
        played.outcome.value,
        (played.punter.total, played.banker.total),
        coup.punter,
        coup.at_risk,
        played.tax,
        (played.punter_departs, played.banker_departs),
    )


def _coup(
    outcome: str,
    totals: tuple[int | None, int | None],
    punter: int | None,
    at_risk: int,
    tax: int,
    departs: tuple[bool, bool],
) -> str:
    """Return the stored fields of a coup other than its cards as one line of text."""
    sides = ", ".join(side for side, did in zip((PUNTER, "banker"), departs, strict=True) if did) or "nobody"
    score = f"{outcome}, {totals[0]} to {totals[1]}"
    return f"{score}, cards with seat {punter}, at risk {at_risk}, tax {tax}, departed: {sides}"


def _declared(play: StoredPlay) -> str:
    labels = {True: "draws", False: "stands", None: "nothing"}
    return f"punter {labels[play.punter_draws]}, banker {labels[play.banker_draws]}"


def _bank(before: int, after: int) -> str:
    return f"{before}, then {after}"


def _written(cards: tuple[Card, ...]) -> str:
    return " ".join(card.code for card in cards)
