"""A round of which something may have been altered, dealt and settled again.

Pure: plain values in, plain values out; it opens no seal and can store nothing. Cards and payments follow from the
seed, the stakes and what was declared. Where one of these is kept in two places that disagree, the event log says which
one was played: it committed to the whole settlement by a hash.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from games.chemin.redeal import BANK, PUNTER, RESULTS
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.chemin.record import Played, RecordError, replay_coup
from games.engine.chemin.state import Chips
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.dealing import Opening, coup_at, opening
from games.engine.settle import Line, Result, Settlement, SettlementError, settle
from games.engine.shoe import SeedError, commitment, shuffle

Stakes = Mapping[int, Mapping[str, int]]
"""By player and bet, minor units."""

MOST_WRONG: Final = 3
"""Players whose stakes may disagree with the ledger for it to be tried which bet is wrong: each has one for each bet of
the game.
"""


class CannotDeal(ValueError):
    """Nothing can be dealt or settled from what is kept; the text says why."""


@dataclass(frozen=True)
class Declared:
    """What guests put up and decided in a coup. Minor units."""

    stakes: tuple[tuple[int, int], ...]  # seat and stake, in the order in which they were laid
    bank: int  # at its opening
    punter_draws: bool | None
    banker_draws: bool | None


def sealed_as(seeds: Sequence[bytes], commitments: Sequence[str]) -> bytes:
    """Return the seed that was committed to, the first where none of them was."""
    for seed in seeds:
        try:
            if commitment(seed) in commitments:
                return seed
        except SeedError:
            continue
    return seeds[0]


def seal_of(seed: bytes) -> str:
    """Return the commitment to a seed. Raises CannotDeal."""
    try:
        return commitment(seed)
    except SeedError as error:
        raise CannotDeal(str(error)) from error


def coup_of(seed: bytes, *, decks: int, player_value: str, first_card: int | None) -> Coup:
    """Deal a round; *first_card* is how many cards had left its shoe, None where it had one of its own. Raises
    CannotDeal.
    """
    try:
        if first_card is None:
            return deal(shuffle(seed, decks, player_value))
        return coup_at(shuffle(seed, decks), first_card)
    except (SeedError, TooFewCards) as error:
        raise CannotDeal(str(error)) from error


def settled(variant: Variant, coup: Coup, stakes: Stakes) -> Mapping[int, Settlement]:
    """Settle everybody's bets; those of a player whose bets the rules do not allow together are left out."""
    made: dict[int, Settlement] = {}
    for player, bets in stakes.items():
        try:
            made[player] = settle(variant, coup, bets)
        except SettlementError:
            continue
    return made


def hash_of(settlements: Mapping[int, Settlement]) -> str:
    """Return what the log of a shared table commits to: `games.shared.settlement.SUMS`, in Python."""
    lines = (
        f"{player} {line.bet} {line.stake} {line.payout} {line.commission} {line.result}"
        for player, settlement in sorted(settlements.items())
        for line in sorted(settlement.lines)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def stakes_played(kept: Stakes, taken: Mapping[int, int], variant: Variant, coup: Coup, sha256: str | None) -> Stakes:
    """Return the stakes to which the log committed: those kept, or those with one bet put right of whoever has not
    staked what the ledger took; those kept, where that is not them either.
    """
    known = {bet.code for bet in variant.bets}
    wrong = sorted(
        player
        for player in kept.keys() | taken.keys()
        if sum(kept.get(player, {}).values()) != taken.get(player, 0) or not kept.get(player, {}).keys() <= known
    )
    if sha256 is None or not wrong or len(wrong) > MOST_WRONG:
        return kept
    for tried in product(*(tuple(_put_right(kept.get(each, {}), taken.get(each, 0), variant)) for each in wrong)):
        stakes = {**kept, **dict(zip(wrong, tried, strict=True))}
        if hash_of(settled(variant, coup, stakes)) == sha256:
            return stakes
    return kept


def _put_right(bets: Mapping[str, int], taken: int, variant: Variant) -> Iterator[Mapping[str, int]]:
    yield bets
    known = {bet.code: bets[bet.code] for bet in variant.bets if bet.code in bets}
    missing = taken - sum(known.values())
    for bet in variant.bets:
        stake = known.get(bet.code, 0) + missing
        if stake >= 0:
            others = {code: amount for code, amount in known.items() if code != bet.code}
            yield {**others, bet.code: stake} if stake else others


def opening_of(seed: bytes, decks: int) -> Opening:
    """Return how the dealing of a shoe begins, where cards are burned. Raises CannotDeal."""
    try:
        return opening(shuffle(seed, decks))
    except SeedError as error:
        raise CannotDeal(str(error)) from error


def cards_from(seed: bytes, decks: int, first_card: int) -> tuple[Card, ...]:
    """Return the cards of a shoe from one on. Raises CannotDeal."""
    try:
        return shuffle(seed, decks)[first_card:]
    except SeedError as error:
        raise CannotDeal(str(error)) from error


def between_guests(
    cards: Sequence[Card],
    ways: Sequence[Declared],
    *,
    names: Mapping[int, str],
    banker: str,
    sealed: Mapping[str, str] | None,
) -> tuple[Declared, Played]:
    """Work a coup out in the one of these *ways* that the log committed to, in the first that is possible otherwise.

    *names* are those of its seats in the log, as is *banker*; *sealed* is what the log tells: "cards" and "sha256".
    Raises CannotDeal with what is impossible in the first way.
    """
    possible: list[tuple[Declared, Played]] = []
    first_error = ""
    for way in _mixed(ways):
        try:
            played = replay_coup(
                cards,
                stakes=tuple(Chips(seat, stake) for seat, stake in way.stakes),
                bank=way.bank,
                punter_draws=way.punter_draws,
                banker_draws=way.banker_draws,
            )
        except RecordError as error:
            first_error = first_error or str(error)
            continue
        possible.append((way, played))
        if sealed and _is_sealed(played, names, banker, sealed):
            return way, played
    if not possible:
        raise CannotDeal(first_error)
    return possible[0]


def _mixed(ways: Sequence[Declared]) -> Iterator[Declared]:
    """Yield the ways, and every mixture of them: more than one thing may have been altered."""
    yield from dict.fromkeys(ways)
    draws = dict.fromkeys((way.punter_draws, way.banker_draws) for way in ways)
    stakes, banks = dict.fromkeys(way.stakes for way in ways), dict.fromkeys(way.bank for way in ways)
    for laid, bank, (punter, banker) in product(stakes, banks, draws):
        yield Declared(laid, bank, punter, banker)


def _is_sealed(played: Played, names: Mapping[int, str], banker: str, sealed: Mapping[str, str]) -> bool:
    lines = [f"{names.get(each.seat, '')} {PUNTER} {each.stake} {each.returned} 0" for each in played.stakes]
    bank = bank_line(played)
    lines.append(f"{banker} {BANK} {bank.stake} {bank.payout} {bank.commission}")
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return (" ".join(card.code for card in played.cards), digest) == (sealed.get("cards"), sealed.get("sha256"))


def bank_line(played: Played) -> Line:
    """Return what the banker had in a coup, as a bet on what of the bank was covered."""
    at_risk = sum(each.stake for each in played.stakes)
    returned = sum(each.returned for each in played.stakes)
    payout = 2 * at_risk - returned - played.tax
    return Line(BANK, at_risk, payout, played.tax, Result(RESULTS[BANK, played.outcome]))


def punter_line(played: Played, seat: int) -> Line | None:
    """Return what whoever sits at a place had in a coup; None where nothing."""
    for each in played.stakes:
        if each.seat == seat:
            return Line(PUNTER, each.stake, each.returned, 0, Result(RESULTS[PUNTER, played.outcome]))
    return None
