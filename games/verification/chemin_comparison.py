"""Verifies a coup of Chemin de Fer: deals and settles it again and compares it with the records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Prefetch

from games.chemin import event_codec
from games.chemin.coups import stored_coups as chemin_stored
from games.chemin.coups.redeal import COVERING
from games.chemin.pages import log_details
from games.chemin.pages.floor import SeatedPlayer
from games.engine.chemin.events import (
    AdviceAsked,
    CallMade,
    CardsDealt,
    Decision,
    Declared,
    Event,
    Passed,
    StakeLaid,
)
from games.engine.chemin.record import Played
from games.engine.chemin.rules import Side
from games.engine.chemin.state import Chips
from games.engine.chemin.state import Coup as ChipsOnTable
from games.engine.settle import Line, Settlement
from games.models import CheminCoup, CheminMove, CheminStake, Decider, Participation
from games.rounds.integrity import Doubt
from games.rounds.redeal import LedgerTotals
from games.shared.shoes import cards_of, written
from games.tables.board import Dealt
from games.tables.chemin_rules import CheminRules
from games.verification import recomputation
from games.verification.punto_comparison import (
    as_recorded,
    as_stored,
    bet_row,
    not_dealt,
    of_shoe,
    reason_of,
    refund_of,
)
from games.verification.records import (
    NOTHING,
    Deal,
    Decided,
    Fact,
    PlayerPart,
    RoundRecords,
    Row,
    Step,
    balance_at,
    cash_of,
    face_up,
    ledger_movements,
    money,
)

FIRST_FOUR = 4  # cards in the first two hands
DRAW_LABELS = {True: "draws", False: "stands", None: "no decision"}


Choice = AdviceAsked | CallMade | CardsDealt | Declared | Passed | StakeLaid
"""The events that record a decision."""
KINDS: Final[Mapping[type[Choice], str]] = {
    AdviceAsked: "ask_croupier",
    CallMade: "make_call",
    CardsDealt: "deal_cards",
    Declared: "",  # draw_card or stand
    Passed: "pass",
    StakeLaid: "lay_stake",
}


@dataclass(frozen=True)
class _Coup:
    """The stored records of a coup: its row, stakes, moves and ledger movements."""

    row: CheminCoup
    stakes: Sequence[CheminStake]
    moves: Sequence[CheminMove]
    records: chemin_stored.CoupRecords
    currency: str

    def money(self, minor: int | None) -> str:
        """Format an amount of minor units."""
        return money(minor, self.currency)


def compare_round(records: RoundRecords) -> Deal:
    """Deal and settle a coup again.

    A coup that was voided before it was settled is returned as stored.
    """
    coup = _read(records)
    if coup is None:
        return Deal("No stakes or decisions are stored for this coup.", as_stored(records), as_recorded(records, {}))
    if records.settlement is None and records.is_void:
        return _untouched(records, coup, "The round was voided before settlement.")
    try:
        facts, played, way = _play(records, coup)
    except recomputation.CannotDeal as error:
        return _untouched(records, coup, str(error))
    except Doubt as doubt:
        return _untouched(records, coup, reason_of(doubt))
    return Deal(
        facts=facts,
        parts=tuple(_parts(records, coup, played, way)),
        coup=tuple(_facts(coup, played, way)),
        stakes=tuple(_stakes(coup, played)),
        decisions=tuple(_decisions(coup, compared=True)),
        view=log_details.round_view(
            Dealt(records.round.pk, records.round.code, written(played.cards), 0, 0, 0, 0, {}),
            log_details.FinishedCoup(_as_declared(coup.row, way), (), ()),
        ),
        steps=tuple(_steps(coup, played, way)),
    )


def _read(records: RoundRecords) -> _Coup | None:
    stakes = Prefetch("stakes", CheminStake.objects.select_related("seat").order_by("pk"))
    rows = CheminCoup.objects.select_related("tenure", "banker", "punter__player").prefetch_related(stakes)
    row = rows.filter(pk=records.round.pk).first()
    if row is None:
        return None
    moves = CheminMove.objects.filter(round_id=row.pk).select_related("seat").order_by("number")
    currency = CheminRules.of(records.round.table_version.limits).currency
    return _Coup(row, list(row.stakes.all()), list(moves), chemin_stored.read_records([row.pk])[row.pk], currency)


def _untouched(records: RoundRecords, coup: _Coup, why: str) -> Deal:
    row = coup.row
    return Deal(
        why,
        as_stored(records, _cards_drawn(records)),
        parts=as_recorded(records, {}),
        coup=(
            Fact("Bank at its opening", coup.money(row.bank)),
            Fact("Covered", coup.money(row.at_risk)),
            Fact("Punter declared", DRAW_LABELS[row.punter_draws]),
            Fact("Banker declared", DRAW_LABELS[row.banker_draws]),
        ),
        stakes=tuple(_stakes(coup, None)),
        decisions=tuple(_decisions(coup, compared=False)),
    )


def _cards_drawn(records: RoundRecords) -> str | None:
    """Return the cards that the shoe gives for a voided coup.

    None if no cards are stored, if not all of them are public yet, or if the shoe cannot be dealt.
    """
    played, shoe, count = records.round, records.round.shoe, len(records.round.cards.split())
    if shoe is None or not count or played.first_card is None or played.first_card + count > face_up(shoe):
        return None
    try:
        return written(cards_of(shoe)[played.first_card : played.first_card + count])
    except Doubt:
        return None


def _play(records: RoundRecords, coup: _Coup) -> tuple[tuple[Fact, ...], Played, recomputation.Declared]:
    """Deal and settle the coup again; return the facts, the coup and the inputs that were used.

    Raises CannotDeal, Doubt.
    """
    played, shoe = records.round, records.round.shoe
    if shoe is None:
        raise recomputation.CannotDeal("The round has no shoe.")
    sealed_first = records.sealed("first_card")
    first = (played.first_card or 0) if sealed_first is None else sealed_first
    seats = {stake.seat.number: stake.seat for stake in coup.stakes} | {coup.row.banker.number: coup.row.banker}
    players = {stake.seat.number: stake.player_id for stake in coup.stakes}
    way, recomputed = recomputation.compare_chemin(
        cards_of(shoe)[first:],
        _ways(coup),
        names={number: f"{seats[number].pk} {player or 'house'}" for number, player in players.items()},
        banker=f"{coup.row.banker_id} {coup.row.banker_player_id or 'house'}",
        sealed=records.settlement,
    )
    if first + len(recomputed.cards) > face_up(shoe):
        raise not_dealt(first)
    facts = [
        *of_shoe(shoe),
        Fact("Cards dealt from the shoe before", str(played.first_card), str(first)),
        Fact("Seal", played.commitment, shoe.commitment),
        Fact("Cards, in dealing order", played.cards or NOTHING, written(recomputed.cards)),
        Fact("Outcome", played.outcome or NOTHING, recomputed.outcome.value),
        Fact("Cards in the audit log", str(records.sealed("cards") or NOTHING), written(recomputed.cards)),
        Fact("Tax in the audit log", coup.money(records.sealed("tax")), coup.money(recomputed.tax)),
    ]
    return tuple(facts), recomputed, way


def _ways(coup: _Coup) -> tuple[recomputation.Declared, recomputation.Declared]:
    """Return the inputs of the coup twice: from the ledger and the moves, and from its row."""
    row, ledger, bank = coup.row, coup.records.ledger_totals, coup.records.bank
    laid = {
        stake.seat.number: ledger.get(_name(stake), LedgerTotals(0, 0, frozenset())).staked for stake in coup.stakes
    }
    logged = {
        event.side: event.draws for move in coup.moves for event in _events_of(move) if isinstance(event, Declared)
    }
    rows = tuple((stake.seat.number, stake.stake) for stake in coup.stakes)
    return (
        recomputation.Declared(
            tuple((number, laid[number]) for number, _ in rows),
            bank[0] if bank else row.bank,
            logged.get(Side.PUNTER),
            logged.get(Side.BANKER),
        ),
        recomputation.Declared(rows, row.bank, row.punter_draws, row.banker_draws),
    )


def _name(stake: CheminStake) -> str:
    """Return the key of a stake in the ledger movements of `games.chemin.coups.stored_coups`."""
    return f"player:{stake.player_id}" if stake.player_id else f"seat:{stake.seat.number}"


def _events_of(move: CheminMove) -> Iterator[Event]:
    """Yield the events stored with a move. Events that cannot be decoded are left out."""
    for event in move.events:
        try:
            yield event_codec.read(event)
        except (KeyError, TypeError, ValueError):
            continue


def _as_declared(row: CheminCoup, way: recomputation.Declared) -> CheminCoup:
    """Return an unsaved row of the coup with the decisions of *way*."""
    return CheminCoup(
        pk=row.pk, banker=row.banker, punter_draws=way.punter_draws, banker_draws=way.banker_draws, bank=row.bank
    )


def _facts(coup: _Coup, played: Played, way: recomputation.Declared) -> Iterator[Fact]:
    row = coup.row
    bank = coup.records.bank
    at_risk = sum(each.stake for each in played.stakes)
    is_so = row.call not in COVERING or at_risk == way.bank  # these calls cover the whole bank
    yield Fact("Bank at its opening", coup.money(row.bank), coup.money(way.bank))
    yield Fact("Covered", coup.money(row.at_risk), coup.money(at_risk))
    yield Fact("Call", row.call or NOTHING, row.call or NOTHING if is_so else f"{coup.money(at_risk)} was covered")
    punter = ChipsOnTable(stakes=tuple(Chips(seat, stake) for seat, stake in way.stakes)).punter
    yield Fact("Held the punters’ cards", _seat(row.punter.number if row.punter else None), _seat(punter))
    yield Fact("Won by", row.outcome or NOTHING, played.outcome.value)
    totals = f"{played.punter.total} – {played.banker.total}"
    yield Fact("Totals, punters to bank", f"{row.punter_total} – {row.banker_total}", totals)
    yield Fact("Punter declared", DRAW_LABELS[row.punter_draws], DRAW_LABELS[way.punter_draws])
    yield Fact("Banker declared", DRAW_LABELS[row.banker_draws], DRAW_LABELS[way.banker_draws])
    yield Fact("Punter acted against the rule", _yes(row.punter_departs), _yes(played.punter_departs))
    yield Fact("Banker acted against the rule", _yes(row.banker_departs), _yes(played.banker_departs))
    yield Fact("Tax", coup.money(row.tax), coup.money(played.tax))
    yield Fact("Bank at payment, per ledger", coup.money(bank[1] if bank else None), coup.money(played.bank))


def _seat(number: int | None) -> str:
    return NOTHING if number is None else f"seat {number}"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _stakes(coup: _Coup, played: Played | None) -> Iterator[Row]:
    for stake in coup.stakes:
        number = stake.seat.number
        line = recomputation.punter_line(played, number) if played else None
        ledger = coup.records.ledger_totals.get(_name(stake))
        who = str(SeatedPlayer(number, stake.player_id))

        def fact(what: str, stored: int | None, seen: int | None, who: str = who) -> Fact:
            return Fact(f"{who}: {what}", coup.money(stored), coup.money(seen) if played else None)

        yield Row(
            who,
            (
                fact("stake", stake.stake, line and line.stake),
                fact("returned", stake.returned, line and line.payout),
                fact("taken, per ledger", ledger.staked if ledger else 0, line and line.stake),
                fact("paid, per ledger", ledger.paid if ledger else 0, line and line.payout),
            ),
        )


def _parts(records: RoundRecords, coup: _Coup, played: Played, way: recomputation.Declared) -> Iterator[PlayerPart]:
    lines = dict(_lines(coup, played))
    punters = ledger_movements(records)
    for part in records.parts:
        line = lines.pop(part.player_id, None)
        wagers = {wager.bet: wager for wager in part.wagers.all()}
        names = list(dict.fromkeys([*wagers, *([line.bet] if line else [])]))
        rows = tuple(
            bet_row(part, bet, wagers.get(bet), line if line and line.bet == bet else None, is_settled=True)
            for bet in names
        )
        settlement = Settlement((line,), line.stake, line.payout) if line else Settlement((), 0, 0)
        after = _after(records, coup, part, punters)
        yield PlayerPart(
            part.player_id, part.session, rows, tuple(_sums(part, settlement, after)), refund_of(records, part)
        )
    for player in lines:
        yield PlayerPart(player, None, (), (Fact(f"player:{player}", NOTHING, "participation in the coup"),))


def _lines(coup: _Coup, played: Played) -> Iterator[tuple[int, Line]]:
    for stake in coup.stakes:
        line = recomputation.punter_line(played, stake.seat.number)
        if stake.player_id is not None and line is not None:
            yield stake.player_id, line
    if coup.row.banker_player_id is not None:
        yield coup.row.banker_player_id, recomputation.bank_line(played)


def _after(records: RoundRecords, coup: _Coup, part: Participation, punters: Mapping[int, Any]) -> int | None:
    """Return a player's balance after the coup was paid, according to the ledger.

    For the banker it includes the bank. None if the ledger does not say.
    """
    if part.player_id != coup.row.banker_player_id:
        own = punters.get(part.player_id)
        if own is None:
            return None
        return part.balance_after if part.balance_after in own.afterwards else own.after
    cash = cash_of(part.player_id, part.currency, part.mode)
    if records.settled_by is None or cash is None:
        return None
    at_hand, bank = balance_at(cash, records.settled_by), balance_at(coup.row.tenure.account_id, records.settled_by)
    return None if at_hand is None or bank is None else at_hand + bank


def _sums(part: Participation, settlement: Settlement, after: int | None) -> Iterator[Fact]:
    name, currency = f"player:{part.player_id}", part.currency
    before = None if after is None else after + settlement.staked - settlement.paid
    commission = sum(line.commission for line in settlement.lines)
    for what, stored, seen in (
        ("total staked", part.staked, settlement.staked),
        ("total paid back", part.paid, settlement.paid),
        ("total commission", part.commission, commission),
        ("balance before, per ledger", part.balance_before, before),
        ("balance after, per ledger", part.balance_after, after),
    ):
        yield Fact(f"{name}: {what}", money(stored, currency), money(seen, currency))


def _decisions(coup: _Coup, *, compared: bool) -> Iterator[Decided]:
    """Yield each decision of a player; if *compared*, with what the events of the same move say."""
    for move in coup.moves:
        if move.seat is None:
            continue
        who = str(SeatedPlayer(move.seat.number, move.seat.player_id))
        said = _said(coup, move)
        fact = Fact(
            f"Decision {move.number} of {who}", said, _heard(coup, move, move.seat.number) if compared else None
        )
        waited = (move.at - move.asked_at).total_seconds() if move.asked_at else None
        yield Decided(move.at, who, move.get_decider_display(), waited, fact)


def _said(coup: _Coup, move: CheminMove) -> str:
    amount = coup.money(move.amount) if move.amount is not None else ""
    by = "by the croupier" if move.decider == Decider.CROUPIER else ""
    parts = [move.kind.replace("_", " "), move.call.replace("_", " "), amount, by]
    return " ".join(word for word in parts if word)


def _heard(coup: _Coup, move: CheminMove, seat_number: int) -> str:
    """Describe the decision of seat *seat_number* from the events of a move, in the format of `_said`.

    What the events do not say is taken from the move.
    """
    logged = next(
        (event for event in _events_of(move) if isinstance(event, Choice) and event.seat == seat_number), None
    )
    if logged is None:
        return _said(coup, move)
    kind, call, amount, by_croupier = KINDS[type(logged)], move.call, move.amount, move.decider == Decider.CROUPIER
    if isinstance(logged, Decision):
        by_croupier = logged.by_house
    match logged:
        case Declared(draws=draws):
            kind = "draw_card" if draws else "stand"
        case CallMade(call=made):
            call = made.value
        case StakeLaid(amount=laid):
            amount = laid
    decider = Decider.CROUPIER if by_croupier else Decider.PLAYER
    return _said(coup, CheminMove(kind=kind, call=call, amount=amount, decider=decider))


def _steps(coup: _Coup, played: Played, way: recomputation.Declared) -> Iterator[Step]:
    for decided in _decisions(coup, compared=False):
        if "draw card" not in decided.fact.stored and "stand" not in decided.fact.stored:
            yield Step(0, f"{decided.who}: {decided.fact.stored}")
    names = ["Punters", "Bank", "Punters", "Bank"]
    names += ["Punters"] * (played.punter.third is not None) + ["Bank"] * (played.banker.third is not None)
    cards = [
        Step(number, f"{name}: {card.rank.letter.replace('T', '10')}{card.suit.symbol}")
        for number, (name, card) in enumerate(zip(names, played.cards, strict=True), start=1)
    ]
    yield from cards[:FIRST_FOUR]
    thirds = iter(cards[FIRST_FOUR:])
    due = FIRST_FOUR
    for side, draws, hand in (
        ("The punter", way.punter_draws, played.punter),
        ("The banker", way.banker_draws, played.banker),
    ):
        if draws is not None:
            yield Step(due, f"{side} {DRAW_LABELS[draws]}")
        if hand.third is not None:
            due += 1
            yield next(thirds)
    yield Step(7, f"Totals: punters {played.punter.total}, bank {played.banker.total}")
    yield Step(8, f"Outcome: {played.outcome}")
