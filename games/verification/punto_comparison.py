"""Verifies a solo or shared round: deals and settles it again and compares it with the records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.utils.translation import get_language, gettext

from audit.staff_text import Written
from games.betting.limits import Limits
from games.deals import shoe_binding
from games.engine import card_tree
from games.engine.bets import Variant
from games.engine.coup import Coup, Side, TooFewCards
from games.engine.dealing import coup_at, opening
from games.engine.settle import Line, Settlement
from games.incidents import refund_text
from games.models import Participation, Shoe, Wager
from games.rounds.dealt import binding_of, read_evidence
from games.rounds.integrity import Doubt
from games.rounds.redeal import COMMITTED, SIGNATURE, VALID
from games.shared.shoes import cards_of, leaves_of, written
from games.tables.board import Dealt, round_view, spots
from games.tables.presentation import RoundView, SpotView
from games.verification import recomputation
from games.verification.records import (
    NOTHING,
    Deal,
    Fact,
    LedgerMovements,
    PlayerPart,
    RoundRecords,
    Row,
    Step,
    face_up,
    ledger_movements,
    money,
)

VOID: Final = "void"  # the result of a bet whose round was voided before settlement


@dataclass(frozen=True)
class _Dealt:
    facts: tuple[Fact, ...]
    coup: Coup


def as_stored(records: RoundRecords, cards: str | None = None) -> tuple[Fact, ...]:
    """Return the stored deal of a round that is not dealt again.

    *cards* are the cards that the seed gives, if known.
    """
    played = records.round
    facts = [Fact("Seal", played.commitment)]
    if played.shoe is not None:
        before = NOTHING if played.first_card is None else str(played.first_card)
        facts.append(Fact("Cards dealt from the shoe before", before))
    facts.append(Fact("Cards, in dealing order", played.cards or NOTHING, cards))
    return (*facts, Fact("Outcome", played.outcome or NOTHING))


def compare_round(records: RoundRecords, variant: Variant) -> Deal:
    """Deal and settle a round again.

    A round that was voided before it was settled is returned as stored.
    """
    ledger = ledger_movements(records)
    if not records.round.cards and records.is_void:
        return Deal("The round was voided before the deal.", as_stored(records), as_recorded(records, ledger))
    try:
        dealt = _deal(records, variant)
    except recomputation.CannotDeal as error:
        return Deal(str(error), as_stored(records), as_recorded(records, ledger))
    except Doubt as doubt:
        return Deal(reason_of(doubt), as_stored(records), as_recorded(records, ledger))
    if records.settlement is None and records.is_void:
        view = _view(records, dealt.coup, variant)
        return Deal("The round was voided before settlement.", dealt.facts, as_recorded(records, ledger), view=view)
    settlements = recomputation.settled(variant, dealt.coup, _stakes(records, variant, dealt.coup, ledger))
    return Deal(
        facts=(*dealt.facts, *_of_the_log(records, dealt.coup, settlements)),
        parts=tuple(_parts(records, variant, settlements, ledger)),
        view=_view(records, dealt.coup, variant),
        spots=_spots(records, variant, settlements),
        steps=tuple(_steps(dealt.coup)),
    )


def as_recorded(records: RoundRecords, ledger: Mapping[int, LedgerMovements]) -> tuple[PlayerPart, ...]:
    """Return every player's part as stored, compared with the ledger only."""
    return tuple(
        PlayerPart(
            part.player_id,
            part.session,
            tuple(bet_row(part, wager.bet, wager, None) for wager in part.wagers.all()),
            tuple(sums(part, None, ledger.get(part.player_id))),
            refund_of(records, part),
        )
        for part in records.parts
    )


def _deal(records: RoundRecords, variant: Variant) -> _Dealt:
    """Deal the round again. Raises CannotDeal, Doubt."""
    played, shoe = records.round, records.round.shoe
    facts: list[Fact] = []
    if shoe is None:
        binding = binding_of(played, variant.decks, records.rules)
        stored = bytes(played.seed or b"")
        promises = [played.commitment, records.sealed("commitment") or ""]
        seed = recomputation.sealed_as([stored, bytes.fromhex(records.sealed("seed") or "")], promises, binding)
        value = played.player_value if records.sealed("player_value") is None else records.sealed("player_value")
        facts += [
            Fact("Seed", stored.hex(), seed.hex()),
            Fact("Player seed", Written(played.player_value), Written(value)),
        ]
        seal = recomputation.seal_of(seed, binding)
        facts += [Fact("Seal", played.commitment, seal), *_of_the_dealer(records, variant, seal)]
        coup = recomputation.coup_of(seed, decks=variant.decks, player_value=value)
    else:
        first = played.first_card or 0 if records.sealed("first_card") is None else records.sealed("first_card")
        facts += [*of_shoe(shoe), Fact("Cards dealt from the shoe before", str(played.first_card), str(first))]
        facts.append(Fact("Seal", played.commitment, shoe.commitment))
        coup = _coup_in(shoe, first)
    facts.append(Fact("Cards, in dealing order", played.cards or NOTHING, written(coup.cards)))
    facts.append(Fact("Outcome", played.outcome or NOTHING, str(coup.outcome)))
    return _Dealt(tuple(facts), coup)


def _coup_in(shoe: Shoe, first: int) -> Coup:
    """Return the coup at a position of a shoe, if all of its cards are known. Raises CannotDeal, Doubt."""
    try:
        coup = coup_at(cards_of(shoe), first)
    except TooFewCards as error:
        raise not_dealt(first) from error
    if first + len(coup.cards) > face_up(shoe):
        raise not_dealt(first)
    return coup


def not_dealt(first: int) -> recomputation.CannotDeal:
    """Return the error of a round that refers to cards that nobody may know yet."""
    return recomputation.CannotDeal(
        f"The round refers to card {first} of its shoe, but fewer have been dealt. No cards are shown."
    )


def reason_of(doubt: Doubt) -> str:
    """Return why a shoe cannot be dealt again, as a sentence with what differs."""
    found = "; ".join(f"{each.what}: stored {each.stored}, recomputed {each.recomputed}" for each in doubt.found)
    return f"{doubt} ({found})" if found else str(doubt)


def _of_the_dealer(records: RoundRecords, variant: Variant, seal: str) -> Iterator[Fact]:
    """Yield what the event log says about the commitment and the dealer's signature."""
    if records.settlement is None:
        return
    evidence = read_evidence({records.round.pk: variant.decks})[records.round.pk]
    yield Fact(COMMITTED.capitalize(), evidence.committed, seal)
    yield Fact(SIGNATURE.capitalize(), evidence.signature, VALID)


def of_shoe(shoe: Shoe) -> Iterator[Fact]:
    """Yield the stored values of a shoe, with those that its seed gives once it is public."""
    seed = None if shoe.seed is None else bytes(shoe.seed)
    again = None if seed is None else shoe_binding(shoe).commitment(seed)
    yield Fact("Seal of the shoe", shoe.commitment, again)
    yield Fact("Root of its cards", shoe.root, card_tree.root(leaves_of(shoe)).hex())
    if seed is not None:
        yield Fact("Seed of the shoe, public", seed.hex())
    if shoe.burned:
        begins = None if seed is None else opening(cards_of(shoe))
        yield Fact("Burn card", shoe.burn_card, begins and begins.burn_card.code)
        yield Fact("Cards burned", str(shoe.burned), begins and str(begins.burned))


def _stakes(
    records: RoundRecords, variant: Variant, coup: Coup, ledger: Mapping[int, LedgerMovements]
) -> recomputation.Stakes:
    """Return the stakes of the round: from the event log, or the stored ones checked by its hash."""
    stored = {part.player_id: {wager.bet: wager.stake for wager in part.wagers.all()} for part in records.parts}
    if (bets := records.sealed("wagers")) is not None and len(stored) <= 1:
        player = next(iter(stored), next(iter(ledger), 0))
        return {player: {each["bet"]: each["stake"] for each in bets}}
    taken = {player: each.staked for player, each in ledger.items()}
    return recomputation.stakes_played(stored, taken, variant, coup, records.sealed("sha256"))


def _of_the_log(records: RoundRecords, coup: Coup, settlements: Mapping[int, Settlement]) -> Iterator[Fact]:
    """Yield what the event log says about the settlement, with the recomputed values."""
    if records.settlement is None:
        yield Fact("Settlement in the audit log", NOTHING, "one")
        return
    yield Fact("Cards in the audit log", str(records.sealed("cards")), written(coup.cards))
    if records.sealed("sha256") is not None:
        yield Fact("All bets in the audit log (SHA-256)", records.sealed("sha256"), recomputation.hash_of(settlements))


def _parts(
    records: RoundRecords,
    variant: Variant,
    settlements: Mapping[int, Settlement],
    ledger: Mapping[int, LedgerMovements],
) -> Iterator[PlayerPart]:
    parts = {part.player_id: part for part in records.parts}
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
        yield PlayerPart(player, part.session, rows, facts, refund_of(records, part))


def bet_row(part: Participation, bet: str, wager: Wager | None, line: Line | None, *, is_settled: bool = False) -> Row:
    """Return a bet as stored and as recomputed; only as stored if nothing could be settled."""

    def fact(what: str, stored: int | None, recomputed: int | None) -> Fact:
        seen = money(recomputed, part.currency) if is_settled else None
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


def sums(part: Participation, settlement: Settlement | None, ledger: LedgerMovements | None) -> Iterator[Fact]:
    """Yield the totals of a player's part, compared with the settlement and the ledger.

    Without a settlement the totals are returned as stored.
    """
    name, currency = f"player:{part.player_id}", part.currency
    commission = settlement and sum(line.commission for line in settlement.lines)

    def fact(what: str, stored: int, recomputed: int | None) -> Fact:
        return Fact(
            f"{name}: {what}", money(stored, currency), None if recomputed is None else money(recomputed, currency)
        )

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
    movements = ledger or LedgerMovements(0, 0, None, frozenset(), None)
    is_possible = part.balance_after in movements.afterwards
    yield fact("balance before, per ledger", part.balance_before, movements.before)
    yield fact("balance after, per ledger", part.balance_after, part.balance_after if is_possible else movements.after)
    yield fact("taken, per ledger", movements.staked, settlement.staked)
    yield fact("paid, per ledger", movements.paid, settlement.paid)


def refund_of(records: RoundRecords, part: Participation) -> str:
    """Describe what the voiding of a round did to a player's money; "" if it was not voided."""
    if not records.is_void:
        return ""
    back = next((each for each in records.round.void.parts.all() if each.player_id == part.player_id), None)
    return refund_text(back) if back else gettext("no refund")


def _view(records: RoundRecords, coup: Coup, variant: Variant) -> RoundView:
    played = records.round
    dealt = Dealt(played.pk, played.code, written(coup.cards), 0, 0, 0, 0, {})
    return round_view(dealt, variant, language=get_language() or "en", fresh=False)


def _spots(records: RoundRecords, variant: Variant, settlements: Mapping[int, Settlement]) -> tuple[SpotView, ...]:
    """Return the bet areas as settled. Only for rounds with one player."""
    if len(records.parts) != 1 or len(settlements) != 1:
        return ()
    (part,), (settlement,) = records.parts, settlements.values()
    lines = {line.bet: line for line in settlement.lines}
    limits = Limits.of(records.round.table_version.limits, part.currency)
    return spots(variant, limits, {bet: line.stake for bet, line in lines.items()}, lines, get_language() or "en")


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
