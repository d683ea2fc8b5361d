"""Verifies a solo or shared round: deals and settles it again and compares it with the records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from cryptography.exceptions import InvalidTag

from games.betting.limits import Limits
from games.engine.bets import Variant
from games.engine.coup import Coup, Side
from games.engine.settle import Line, Settlement
from games.incidents.refund_summary import in_words
from games.models import Participation, Shoe, Wager
from games.shared.shoes import seed_of, written
from games.tables.board import Dealt, round_view, spots
from games.tables.presentation import RoundView, SpotView
from games.verification import recomputation
from games.verification.facts import NOTHING, Deal, Fact, PlayerPart, Row, Step, money
from games.verification.records import Kept, Moved, face_up, moved

VOID: Final = "void"  # the result of a bet whose round was voided before settlement
CANNOT_UNSEAL = "The seed of the shoe cannot be unsealed."


@dataclass(frozen=True)
class _Dealt:
    facts: tuple[Fact, ...]
    coup: Coup


def as_stored(kept: Kept, cards: str | None = None) -> tuple[Fact, ...]:
    """Return the stored deal of a round that is not dealt again.

    *cards* are the cards that the seed gives, if known.
    """
    played = kept.round
    facts = [Fact("Seal (SHA-256 of the seed)", played.commitment)]
    if played.shoe is not None:
        before = NOTHING if played.first_card is None else str(played.first_card)
        facts.append(Fact("Cards dealt from the shoe before", before))
    facts.append(Fact("Cards, in dealing order", played.cards or NOTHING, cards))
    return (*facts, Fact("Outcome", played.outcome or NOTHING))


def recalled(kept: Kept, variant: Variant) -> Deal:
    """Deal and settle a round again.

    A round that was voided before it was settled is returned as stored.
    """
    ledger = moved(kept)
    if not kept.round.cards and kept.is_void:
        return Deal("The round was voided before the deal.", as_stored(kept), as_kept(kept, ledger))
    try:
        dealt = _deal(kept, variant)
    except recomputation.CannotDeal as error:
        return Deal(str(error), as_stored(kept), as_kept(kept, ledger))
    except InvalidTag:
        return Deal(CANNOT_UNSEAL, as_stored(kept), as_kept(kept, ledger))
    if kept.settlement is None and kept.is_void:
        view = _view(kept, dealt.coup, variant)
        return Deal("The round was voided before settlement.", dealt.facts, as_kept(kept, ledger), view=view)
    settlements = recomputation.settled(variant, dealt.coup, _stakes(kept, variant, dealt.coup, ledger))
    return Deal(
        facts=(*dealt.facts, *_of_the_log(kept, dealt.coup, settlements)),
        parts=tuple(_parts(kept, variant, settlements, ledger)),
        view=_view(kept, dealt.coup, variant),
        spots=_spots(kept, variant, settlements),
        steps=tuple(_steps(dealt.coup)),
    )


def as_kept(kept: Kept, ledger: Mapping[int, Moved]) -> tuple[PlayerPart, ...]:
    """Return every player's part as stored, compared with the ledger only."""
    return tuple(
        PlayerPart(
            part.player_id,
            part.session,
            tuple(bet_row(part, wager.bet, wager, None) for wager in part.wagers.all()),
            tuple(sums(part, None, ledger.get(part.player_id))),
            moved_back(kept, part),
        )
        for part in kept.parts
    )


def _deal(kept: Kept, variant: Variant) -> _Dealt:
    """Deal the round again. Raises CannotDeal, InvalidTag."""
    played, shoe = kept.round, kept.round.shoe
    facts: list[Fact] = []
    if shoe is None:
        stored = bytes(played.seed or b"")
        promises = [played.commitment, kept.sealed("commitment") or ""]
        seed = recomputation.sealed_as([stored, bytes.fromhex(kept.sealed("seed") or "")], promises)
        value = played.player_value if kept.sealed("player_value") is None else kept.sealed("player_value")
        first, decks = None, variant.decks
        facts += [Fact("Seed", stored.hex(), seed.hex()), Fact("Player seed", played.player_value, value)]
    else:
        seed, value, decks = seed_of(shoe), "", shoe.decks
        first = played.first_card or 0 if kept.sealed("first_card") is None else kept.sealed("first_card")
        facts += [*of_shoe(shoe, seed), Fact("Cards dealt from the shoe before", str(played.first_card), str(first))]
    facts.append(Fact("Seal (SHA-256 of the seed)", played.commitment, recomputation.seal_of(seed)))
    coup = recomputation.coup_of(seed, decks=decks, player_value=value, first_card=first)
    if shoe is not None and (first or 0) + len(coup.cards) > face_up(shoe):
        raise recomputation.CannotDeal(
            f"The round refers to card {first} of its shoe, but fewer have been dealt. No cards are shown."
        )
    facts.append(Fact("Cards, in dealing order", played.cards or NOTHING, written(coup.cards)))
    facts.append(Fact("Outcome", played.outcome or NOTHING, str(coup.outcome)))
    return _Dealt(tuple(facts), coup)


def of_shoe(shoe: Shoe, seed: bytes) -> Iterator[Fact]:
    """Yield the stored values of a shoe with those that its seed gives.

    The seed itself is included only once it is public. Raises CannotDeal.
    """
    yield Fact("Seal of the shoe", shoe.commitment, recomputation.seal_of(seed))
    if shoe.seed is not None:
        yield Fact("Seed of the shoe, public", bytes(shoe.seed).hex())
    if shoe.burned:
        begins = recomputation.opening_of(seed, shoe.decks)
        yield Fact("Burn card", shoe.burn_card, begins.burn_card.code)
        yield Fact("Cards burned", str(shoe.burned), str(begins.burned))


def _stakes(kept: Kept, variant: Variant, coup: Coup, ledger: Mapping[int, Moved]) -> recomputation.Stakes:
    """Return the stakes of the round: from the event log, or the stored ones checked by its hash."""
    stored = {part.player_id: {wager.bet: wager.stake for wager in part.wagers.all()} for part in kept.parts}
    if (bets := kept.sealed("wagers")) is not None and len(stored) <= 1:
        player = next(iter(stored), next(iter(ledger), 0))
        return {player: {each["bet"]: each["stake"] for each in bets}}
    taken = {player: each.staked for player, each in ledger.items()}
    return recomputation.stakes_played(stored, taken, variant, coup, kept.sealed("sha256"))


def _of_the_log(kept: Kept, coup: Coup, settlements: Mapping[int, Settlement]) -> Iterator[Fact]:
    """Yield what the event log says about the settlement, with the recomputed values."""
    if kept.settlement is None:
        yield Fact("Settlement in the audit log", NOTHING, "one")
        return
    yield Fact("Cards in the audit log", str(kept.sealed("cards")), written(coup.cards))
    if kept.sealed("sha256") is not None:
        yield Fact("All bets in the audit log (SHA-256)", kept.sealed("sha256"), recomputation.hash_of(settlements))


def _parts(
    kept: Kept, variant: Variant, settlements: Mapping[int, Settlement], ledger: Mapping[int, Moved]
) -> Iterator[PlayerPart]:
    parts = {part.player_id: part for part in kept.parts}
    for player in sorted(parts.keys() | settlements.keys() | ledger.keys()):
        part, settlement = parts.get(player), settlements.get(player)
        if part is None:
            yield PlayerPart(player, None, (), (Fact(f"player:{player}", NOTHING, "participation in the round"),))
            continue
        wagers = {wager.bet: wager for wager in part.wagers.all()}
        lines = {line.bet: line for line in settlement.lines} if settlement else {}
        names = [bet.code for bet in variant.bets if bet.code in lines or bet.code in wagers]
        names += [bet for bet in wagers if bet not in names]
        is_settled = settlement is not None
        rows = tuple(bet_row(part, bet, wagers.get(bet), lines.get(bet), is_settled=is_settled) for bet in names)
        facts = tuple(sums(part, settlement, ledger.get(player)))
        yield PlayerPart(player, part.session, rows, facts, moved_back(kept, part))


def bet_row(part: Participation, bet: str, wager: Wager | None, line: Line | None, *, is_settled: bool = False) -> Row:
    """Return a bet as stored and as recomputed; only as stored if nothing could be settled."""

    def fact(what: str, stored: int | None, again_: int | None) -> Fact:
        seen = money(again_, part.currency) if is_settled else None
        return Fact(f"player:{part.player_id}, {bet}: {what}", money(stored, part.currency), seen)

    result = str(line.result) if line else NOTHING
    paid_back = fact("paid back", wager.payout if wager else None, line.payout if line else None)
    if wager and wager.result == VOID and not is_settled:
        paid_back = replace(paid_back, stored=f"{money(wager.stake, part.currency)} returned")
    name = f"player:{part.player_id}, {bet}: result"
    return Row(
        bet,
        (
            fact("stake", wager.stake if wager else None, line.stake if line else None),
            paid_back,
            fact("commission", wager.commission if wager else None, line.commission if line else None),
            Fact(name, wager.result if wager else NOTHING, result if is_settled else None),
        ),
    )


def sums(part: Participation, settlement: Settlement | None, ledger: Moved | None) -> Iterator[Fact]:
    """Yield the totals of a player's part, compared with the settlement and the ledger.

    Without a settlement the totals are returned as stored.
    """
    name, currency = f"player:{part.player_id}", part.currency
    commission = settlement and sum(line.commission for line in settlement.lines)

    def fact(what: str, stored: int, again_: int | None) -> Fact:
        return Fact(f"{name}: {what}", money(stored, currency), None if again_ is None else money(again_, currency))

    yield fact("total staked", part.staked, settlement and settlement.staked)
    returned = sum(wager.stake for wager in part.wagers.all() if wager.result == VOID)
    if returned and settlement is None:
        yield fact("total returned", returned, None)
    else:
        yield fact("total paid back", part.paid, settlement and settlement.paid)
    yield fact("total commission", part.commission, commission)
    if settlement is None:
        yield fact("balance before", part.balance_before, None)
        yield fact("balance after", part.balance_after, None)
        return
    moved_ = ledger or Moved(0, 0, None, frozenset(), None)
    is_possible = part.balance_after in moved_.afterwards
    yield fact("balance before, by the ledger", part.balance_before, moved_.before)
    yield fact("balance after, by the ledger", part.balance_after, part.balance_after if is_possible else moved_.after)
    yield fact("taken by the ledger", moved_.staked, settlement.staked)
    yield fact("paid by the ledger", moved_.paid, settlement.paid)


def moved_back(kept: Kept, part: Participation) -> str:
    """Describe what the voiding of a round did to a player's money; "" if it was not voided."""
    if not kept.is_void:
        return ""
    back = next((each for each in kept.round.void.parts.all() if each.player_id == part.player_id), None)
    return in_words(back) if back else "no refund"


def _view(kept: Kept, coup: Coup, variant: Variant) -> RoundView:
    played = kept.round
    dealt = Dealt(played.pk, played.code, written(coup.cards), 0, 0, 0, 0, {})
    return round_view(dealt, variant, language="en", fresh=False)


def _spots(kept: Kept, variant: Variant, settlements: Mapping[int, Settlement]) -> tuple[SpotView, ...]:
    """Return the bet areas as settled. Only for rounds with one player."""
    if len(kept.parts) != 1 or len(settlements) != 1:
        return ()
    (part,), (settlement,) = kept.parts, settlements.values()
    lines = {line.bet: line for line in settlement.lines}
    limits = Limits.of(kept.round.table_version.limits, part.currency)
    return spots(variant, limits, {bet: line.stake for bet, line in lines.items()}, lines, "en")


def _steps(coup: Coup) -> Iterator[Step]:
    hands = {Side.PLAYER: 0, Side.BANKER: 0}
    order = [Side.PLAYER, Side.BANKER, Side.PLAYER, Side.BANKER]
    order += [Side.PLAYER] * (len(coup.player) - 2) + [Side.BANKER] * (len(coup.banker) - 2)
    for number, side in enumerate(order, start=1):
        card = coup.hand(side)[hands[side]]
        hands[side] += 1
        yield Step(number, f"{side.value.capitalize()}: {card.rank.letter.replace('T', '10')}{card.suit.symbol}")
    yield Step(7, f"Totals: Player {coup.player_total}, Banker {coup.banker_total}")
    yield Step(8, f"Outcome: {coup.outcome}")
