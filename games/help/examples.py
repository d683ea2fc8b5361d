"""Worked examples: the author writes cards and stakes; the engine deals, explains and settles them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import InvalidOperation

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, Side, TooFewCards, deal, total
from games.engine.settle import Settlement, SettlementError, settle
from games.help.figures import BadExample, minor_units, money
from games.labels import announcement, bet_name
from games.tables.board import hand_view

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
