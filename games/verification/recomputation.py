"""Deals and settles a round again from records that may have been altered.

Pure functions: plain values in, plain values out. This module opens no sealed seed and stores
nothing. Cards and payments follow from the seed, the stakes and the declared decisions. If two
records of one of these disagree, the event log decides, because it holds a hash of the whole
settlement.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from games.chemin.coups.redeal import BANK, PUNTER, RESULTS
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.chemin.record import Played, RecordError, recompute_coup
from games.engine.chemin.state import Chips
from games.engine.commitments import Binding
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.settle import Line, Result, Settlement, SettlementError, settle
from games.engine.shoe import SeedError, shuffle

Stakes = Mapping[int, Mapping[str, int]]
"""Stakes in minor units, by player id and bet."""

MOST_WRONG: Final = 3
"""Search limit: the most players whose stakes may disagree with the ledger.

The search tries each bet of the game for each of these players.
"""


class CannotDeal(ValueError):
    """The stored records cannot be dealt or settled. The text says why."""


@dataclass(frozen=True)
class Declared:
    """The stakes, the bank and the decisions of a coup. Amounts in minor units."""

    stakes: tuple[tuple[int, int], ...]  # seat and stake, in the order in which they were laid
    bank: int  # at the start of the coup
    punter_draws: bool | None
    banker_draws: bool | None


def sealed_as(seeds: Sequence[bytes], commitments: Sequence[str], binding: Binding) -> bytes:
    """Return the first seed that matches one of the commitments; the first seed if none does."""
    for seed in seeds:
        try:
            if binding.commitment(seed) in commitments:
                return seed
        except SeedError:
            continue
    return seeds[0]


def seal_of(seed: bytes, binding: Binding) -> str:
    """Return the commitment to the seed of a solo round. Raises CannotDeal."""
    try:
        return binding.commitment(seed)
    except SeedError as error:
        raise CannotDeal(str(error)) from error


def coup_of(seed: bytes, *, decks: int, player_value: str) -> Coup:
    """Deal a round of one player again. Raises CannotDeal."""
    try:
        return deal(shuffle(seed, decks, player_value))
    except (SeedError, TooFewCards) as error:
        raise CannotDeal(str(error)) from error


def settled(variant: Variant, coup: Coup, stakes: Stakes) -> Mapping[int, Settlement]:
    """Settle every player's bets. A player whose bets the rules do not allow together is left out."""
    made: dict[int, Settlement] = {}
    for player, bets in stakes.items():
        try:
            made[player] = settle(variant, coup, bets)
        except SettlementError:
            continue
    return made


def hash_of(settlements: Mapping[int, Settlement]) -> str:
    """Return the hash that the event log of a shared table stores for all bets.

    Python version of the SQL function `games_settle_live_round`.
    """
    lines = (
        f"{player} {line.bet} {line.stake} {line.payout} {line.commission} {line.result}"
        for player, settlement in sorted(settlements.items())
        for line in sorted(settlement.lines)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def stakes_played(
    records: Stakes, taken: Mapping[int, int], variant: Variant, coup: Coup, sha256: str | None
) -> Stakes:
    """Return the stakes whose hash is in the event log.

    These are the stored stakes, or the stored stakes with one bet corrected for each player whose
    total differs from the ledger. If neither matches, the stored stakes are returned.
    """
    known = {bet.code for bet in variant.bets}
    wrong = sorted(
        player
        for player in records.keys() | taken.keys()
        if sum(records.get(player, {}).values()) != taken.get(player, 0) or not records.get(player, {}).keys() <= known
    )
    if sha256 is None or not wrong or len(wrong) > MOST_WRONG:
        return records
    for tried in product(*(tuple(_put_right(records.get(each, {}), taken.get(each, 0), variant)) for each in wrong)):
        stakes = {**records, **dict(zip(wrong, tried, strict=True))}
        if hash_of(settled(variant, coup, stakes)) == sha256:
            return stakes
    return records


def _put_right(bets: Mapping[str, int], taken: int, variant: Variant) -> Iterator[Mapping[str, int]]:
    yield bets
    known = {bet.code: bets[bet.code] for bet in variant.bets if bet.code in bets}
    missing = taken - sum(known.values())
    for bet in variant.bets:
        stake = known.get(bet.code, 0) + missing
        if stake >= 0:
            others = {code: amount for code, amount in known.items() if code != bet.code}
            yield {**others, bet.code: stake} if stake else others


def compare_chemin(
    cards: Sequence[Card],
    ways: Sequence[Declared],
    *,
    names: Mapping[int, str],
    banker: str,
    sealed: Mapping[str, str] | None,
) -> tuple[Declared, Played]:
    """Settle a coup of Chemin de Fer with the inputs that match the event log.

    *ways* are the candidate inputs; all mixtures of them are tried. If none matches, the first
    possible one is used. *names* and *banker* are the names of the seats in the log; *sealed* holds
    the "cards" and "sha256" of the log.

    Raises CannotDeal with the first error if no candidate is possible.
    """
    possible: list[tuple[Declared, Played]] = []
    first_error = ""
    for way in _mixed(ways):
        try:
            played = recompute_coup(
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
    """Yield the candidates and every mixture of them, because several values may have been altered."""
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
    """Return the banker's result as a bet on the covered part of the bank."""
    at_risk = sum(each.stake for each in played.stakes)
    returned = sum(each.returned for each in played.stakes)
    payout = 2 * at_risk - returned - played.tax
    return Line(BANK, at_risk, payout, played.tax, Result(RESULTS[BANK, played.outcome]))


def punter_line(played: Played, seat: int) -> Line | None:
    """Return the result of the player on a seat; None if the seat had no stake."""
    for each in played.stakes:
        if each.seat == seat:
            return Line(PUNTER, each.stake, each.returned, 0, Result(RESULTS[PUNTER, played.outcome]))
    return None
