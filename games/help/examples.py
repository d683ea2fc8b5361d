"""Worked examples of the help pages, of all games."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import InvalidOperation

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from games.engine.bets import Variant
from games.engine.cards import FULL_DECK, Card, CardError
from games.engine.chemin import Phase, Refused, State, TableRules, apply, new_table
from games.engine.chemin import Side as CheminSide
from games.engine.chemin.actions import (
    BringShoe,
    DealCards,
    DrawCard,
    Join,
    LayStake,
    MakeCall,
    Pass,
    Stand,
    TableAction,
    TakeBank,
)
from games.engine.chemin.events import Event, HandShown, Settled, ThirdCard
from games.engine.chemin.rules import DECKS, MOST_SEATS, Call, Outcome
from games.engine.coup import Coup, Side, TooFewCards, deal, total
from games.engine.settle import Settlement, SettlementError, settle
from games.help.figures import CALLS, BadExample, minor_units, money
from games.labels import announcement, bet_name
from games.tables.board import card_view, hand_view
from games.tables.presentation import HandView

THIRD = 2


@dataclass(frozen=True)
class Example:
    """A rendered example, with its figures by name for use in the text."""

    html: str
    figures: Mapping[str, str]


def deal_example(variant: Variant, source: str, language: str) -> Example:
    """Deal the cards of a ``deal`` block and settle its stakes.

    ``cards`` are in dealing order, as many as the rules take. ``stakes`` are in whole units of the
    language's currency. Raises BadExample.
    """
    lines = lines_of(source, {"cards", "stakes"})
    cards = parse_cards(lines["cards"])
    try:
        coup = deal(cards)
        settlement = settle(variant, coup, _stakes(lines["stakes"]))
    except (TooFewCards, SettlementError, InvalidOperation, ValueError) as fault:
        raise BadExample(f"{source!r}: {fault!r}") from fault
    if len(coup.cards) != len(cards):
        raise BadExample(f"{source!r}: the rules take {len(coup.cards)} cards, not {len(cards)}")
    context = {
        "hands": [hand_view(coup, side, variant, language) for side in Side],
        "reasons": _reasons(coup),
        "announcement": announcement(coup),
        "rows": [
            {
                "name": bet_name(variant, line.bet, language),
                "stake": money(line.stake, language),
                "payout": money(line.payout, language),
                "result": line.result.value,
            }
            for line in settlement.lines
        ],
        "staked": money(settlement.staked, language),
        "paid": money(settlement.paid, language),
    }
    return Example(render_to_string("games/help/tables.html#deal", context), _figures(coup, settlement, language))


def lines_of(source: str, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, str]:
    """Read the ``name: value`` lines of a block.

    Raises BadExample if a line is missing, unknown or repeated.
    """
    pairs = [line.partition(":") for line in source.splitlines() if line.strip()]
    lines = {name.strip(): value.strip() for name, _colon, value in pairs}
    if len(lines) != len(pairs) or not set(required) <= lines.keys() <= {*required, *optional}:
        raise BadExample(f"{source!r}: the lines must be {', '.join([*required, *optional])}")
    return lines


def parse_cards(codes: str) -> list[Card]:
    """Read cards such as "9H TD". Raises BadExample."""
    try:
        return [Card.parse(code) for code in codes.split()]
    except CardError as fault:
        raise BadExample(str(fault)) from fault


def _stakes(written: str) -> dict[str, int]:
    pairs = [stake.partition("=") for stake in written.split()]
    return {bet: minor_units(units) for bet, _equals, units in pairs}


def _figures(coup: Coup, settlement: Settlement, language: str) -> dict[str, str]:
    figures = {"staked": money(settlement.staked, language), "paid": money(settlement.paid, language)}
    for side in Side:
        hand = coup.hand(side)
        figures |= {f"total.{side}": str(total(hand)), f"two.{side}": str(total(hand[:2]))}
        figures |= {f"score.{side}": coup.score(side)}
        if len(hand) > THIRD:
            figures |= {f"third.{side}": str(hand[THIRD].points)}
    for line in settlement.lines:
        figures |= {f"staked.{line.bet}": money(line.stake, language), f"paid.{line.bet}": money(line.payout, language)}
        if line.payout > line.stake:
            figures |= {f"won.{line.bet}": money(line.payout - line.stake, language)}
    return figures


def _reasons(coup: Coup) -> list[str]:
    """Explain why each hand drew or stood."""
    player, banker = total(coup.player[:2]), total(coup.banker[:2])
    if coup.natural:
        return [_("A natural: no more cards are drawn.")]
    third = coup.player[THIRD].points if len(coup.player) > THIRD else None
    banker_drew = len(coup.banker) > THIRD
    if third is None:
        first = _("Player has %(total)d and stands.") % {"total": player}
        second = (
            _("Player stood, so Banker draws on %(total)d.")
            if banker_drew
            else _("Player stood, so Banker stands on %(total)d.")
        )
        return [first, second % {"total": banker}]
    first = _("Player has %(total)d and draws a card worth %(points)d.") % {"total": player, "points": third}
    second = (
        _("Against a third card worth %(points)d, Banker draws on %(total)d.")
        if banker_drew
        else _("Against a third card worth %(points)d, Banker stands on %(total)d.")
    )
    return [first, second % {"total": banker, "points": third}]


BANKER = 1  # the banker's seat; the punters sit to the right, from the next seat on
PAIR = 2


@dataclass(frozen=True)
class Script:
    """A parsed example: amounts in minor units, hands as they are at the end."""

    bank: int
    stakes: tuple[int, ...]
    call: Call | None
    punter: tuple[Card, ...]
    banker: tuple[Card, ...]

    def hand(self, side: CheminSide) -> tuple[Card, ...]:
        """Return the cards of one side."""
        return self.punter if side is CheminSide.PUNTER else self.banker

    @property
    def dealt(self) -> tuple[Card, ...]:
        """The cards in dealing order."""
        first_four = (self.punter[0], self.banker[0], self.punter[1], self.banker[1])
        return first_four + self.punter[PAIR:] + self.banker[PAIR:]


def chemin_example(source: str, language: str) -> Example:
    """Play the coup of a ``chemin`` block.

    ``bank`` and ``stakes`` (of the punters, from the banker's right) are in whole units of the
    language's currency. A ``call`` is made by the first punter. Raises BadExample, also if the
    rules do not allow the hands.
    """
    try:
        script = _script(source)
        settled = _play(script)
    except (Refused, InvalidOperation, ValueError) as fault:
        raise BadExample(f"{source!r}: {fault!r}") from fault
    after = {"bank": money(settled.bank, language), "tax": money(settled.tax, language)}
    context = after | {
        "hands": [_hand_view(script, side, settled) for side in CheminSide],
        "call": CALLS[script.call] if script.call else "",
        "outcome": _outcome(settled),
        "before": money(script.bank, language),
        "rows": [
            {
                "name": _("Punter %(number)d") % {"number": number},
                "stake": money(stake.stake, language),
                "returned": money(stake.returned, language),
            }
            for number, stake in enumerate(settled.stakes, start=1)
        ],
    }
    return Example(
        render_to_string("games/help/chemin.html#coup", context), after | _chemin_figures(script, settled, language)
    )


def _script(source: str) -> Script:
    lines = lines_of(source, ("bank", "stakes", "punter", "banker"), ("call",))
    hands = [tuple(parse_cards(lines[side])) for side in CheminSide]
    if any(len(hand) not in (PAIR, PAIR + 1) for hand in hands):
        raise BadExample(f"{source!r}: a hand has two or three cards")
    return Script(
        bank=minor_units(lines["bank"]),
        stakes=tuple(minor_units(units) for units in lines["stakes"].split()),
        call=Call(lines["call"]) if "call" in lines else None,
        punter=hands[0],
        banker=hands[1],
    )


def _play(script: Script) -> Settled:
    """Play the script at a table until it is settled. Raises Refused, BadExample."""
    state = new_table(TableRules(MOST_SEATS, 1, 2 * script.bank))
    for seat in range(BANKER, BANKER + 1 + len(script.stakes)):
        state, _events = apply(state, Join(seat, script.bank))
    happened: list[Event] = []
    while not any(isinstance(event, Settled) for event in happened):
        state, events = apply(state, _next(state, script))
        happened.extend(events)
    settled = next(event for event in happened if isinstance(event, Settled))
    if sorted(s.stake for s in settled.stakes) != sorted(script.stakes) or not _as_written(happened, script):
        raise BadExample(f"the table played {happened}, which is not what {script} says")
    return settled


def _next(state: State, script: Script) -> TableAction | BringShoe:

    seat = state.turn or BANKER
    match state.phase:
        case Phase.OFFER:
            return TakeBank(BANKER, script.bank)
        case Phase.SHOE:
            return BringShoe(script.dealt + tuple((Counter(FULL_DECK * DECKS) - Counter(script.dealt)).elements()))
        case Phase.CALLS:
            return _call(script, seat)
        case Phase.STAKES:
            return LayStake(seat, script.stakes[seat - BANKER - 1])
        case Phase.CARDS:
            return DealCards(seat)
        case _:
            side = CheminSide.PUNTER if state.phase is Phase.PUNTER else CheminSide.BANKER
            return DrawCard(seat) if len(script.hand(side)) > PAIR else Stand(seat)


def _call(script: Script, seat: int) -> TableAction:
    if script.call is None:
        return Pass(seat)
    named = script.stakes[0] if script.call is Call.BANCO_AVEC_LA_TABLE else None
    return MakeCall(seat, script.call, named)


def _as_written(happened: list[Event], script: Script) -> bool:
    """Return True if the table has shown exactly the cards of the script."""
    shown: dict[CheminSide, tuple[Card, ...]] = dict.fromkeys(CheminSide, ())
    for event in happened:
        if isinstance(event, HandShown):
            shown[event.side] = event.cards + shown[event.side]
        elif isinstance(event, ThirdCard):
            shown[event.side] += (event.card,)
    return all(shown[side] == script.hand(side) for side in CheminSide)


def _hand_view(script: Script, side: CheminSide, settled: Settled) -> HandView:
    final = settled.punter_total if side is CheminSide.PUNTER else settled.banker_total
    hand = script.hand(side)
    return HandView(
        side="player" if side is CheminSide.PUNTER else "banker",
        name=_("Punter") if side is CheminSide.PUNTER else _("Banker"),
        cards=tuple(card_view(card, order, third=order > PAIR) for order, card in enumerate(hand, start=1)),
        score=str(final),
        total=final,
        wins=settled.outcome.value == side.value,
    )


def _outcome(settled: Settled) -> str:
    totals = {"punter": settled.punter_total, "banker": settled.banker_total}
    match settled.outcome:
        case Outcome.PUNTER:
            return _("The punters win, %(punter)d to %(banker)d.") % totals
        case Outcome.BANKER:
            return _("The bank wins, %(banker)d to %(punter)d.") % totals
        case _:
            return _("A draw at %(banker)d: all stakes are returned.") % totals


def _chemin_figures(script: Script, settled: Settled, language: str) -> dict[str, str]:
    risk = sum(stake.stake for stake in settled.stakes)
    figures = {
        "before": money(script.bank, language),
        "risk": money(risk, language),
        "uncovered": money(script.bank - risk, language),
        "total.punter": str(settled.punter_total),
        "total.banker": str(settled.banker_total),
        "two.punter": str(sum(card.points for card in script.punter[:PAIR]) % 10),
        "two.banker": str(sum(card.points for card in script.banker[:PAIR]) % 10),
    }
    for number, stake in enumerate(settled.stakes, start=1):
        figures |= {f"staked.{number}": money(stake.stake, language), f"paid.{number}": money(stake.returned, language)}
    return figures
