"""The options of a player as buttons, each with the amounts that the engine allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from games.chemin.pages.messages import Money
from games.chemin.pages.presentation import OptionView, QuickView
from games.engine.chemin import Call, Option, Phase, SeatView, Side
from games.engine.chemin.actions import (
    AskCroupier,
    DealCards,
    DrawCard,
    GiveSuite,
    KeepBank,
    LayStake,
    MakeBid,
    MakeCall,
    Pass,
    Stand,
    TableAction,
    TakeBank,
)
from games.engine.chemin.odds import Decision, Shares, chances_of
from games.engine.chemin.rules import TAX
from games.help.figures import CALLS, croupiers_policy, percent
from wallet.money import MINOR_UNITS

NAMES: Final[Mapping[type[TableAction], str]] = {
    TakeBank: "take_bank",
    Pass: "pass",
    MakeBid: "make_bid",
    MakeCall: "make_call",
    LayStake: "lay_stake",
    DealCards: "deal_cards",
    DrawCard: "draw_card",
    Stand: "stand",
    AskCroupier: "ask_croupier",
    KeepBank: "keep_bank",
    GiveSuite: "give_suite",
}
"""The form value of each decision."""

PAIR: Final = 2
BEFORE_A_BANK: Final = frozenset({Phase.FREE, Phase.OFFER, Phase.SUITE, Phase.AUCTION, Phase.CHOICE})
"""The phases in which a player decides about a bank."""

ASIDE: Final = (Pass, AskCroupier, GiveSuite)
"""Decisions that are never shown as the main button."""


def option_views(table: SeatView, money: Money) -> tuple[OptionView, ...]:
    """Return the reader's options in the engine's order; a call with an amount comes last."""
    offered = [option for option in table.options if not isinstance(option.action, ASIDE)]
    main = offered[0] if len(offered) == 1 or (offered and table.phase is Phase.CHOICE) else None
    ordered = sorted(
        table.options, key=lambda option: isinstance(option.action, MakeCall) and option.highest is not None
    )
    return tuple(_option_view(option, table, money, is_main=option is main) for option in ordered)


def _option_view(option: Option, table: SeatView, money: Money, *, is_main: bool) -> OptionView:
    action = option.action
    value = NAMES[type(action)]
    fixed = action.amount if isinstance(action, TakeBank) and option.highest is None else None
    return OptionView(
        value=f"{value}:{action.call.value}" if isinstance(action, MakeCall) else value,
        label=CALLS[action.call] if isinstance(action, MakeCall) else _label(action),
        hint=_hint(option, table, money),
        is_main=is_main,
        prefilled=money(_first(option)) if option.highest is not None else "",
        quick=_quick(option, money),
        fixed="" if fixed is None else money(fixed),
        lowest=option.lowest if option.highest is not None else None,
        highest=option.highest,
        amount=fixed,
    )


def _label(action: TableAction) -> str:
    labels: dict[type, str] = {
        TakeBank: pgettext("control", "Take the bank"),
        Pass: pgettext("control", "Pass"),
        MakeBid: pgettext("control", "Bid"),
        LayStake: pgettext("control", "Stake"),
        DealCards: pgettext("control", "Draw the cards"),
        DrawCard: pgettext("control", "Card"),
        Stand: pgettext("control", "Stand"),
        AskCroupier: pgettext("control", "Ask the croupier"),
        KeepBank: pgettext("control", "Keep the bank"),
        GiveSuite: pgettext("control", "Pass the bank on"),
    }
    return labels[type(action)]


def _hint(option: Option, table: SeatView, money: Money) -> str:
    """Return what an option costs or means."""
    if option.highest is not None and option.lowest is not None:
        values = {"lowest": money(option.lowest), "highest": money(option.highest)}
        if isinstance(option.action, LayStake):
            return _("Up to %(highest)s") % values
        return _("%(lowest)s to %(highest)s") % values
    bank = table.bank.amount if table.bank else 0
    if isinstance(option.action, Pass):
        return _("Costs nothing")
    if isinstance(option.action, AskCroupier):
        return _("You must then follow the advice")
    if isinstance(option.action, DrawCard | Stand):
        return _chance(table, draws=isinstance(option.action, DrawCard))
    if isinstance(option.action, TakeBank):
        return money(option.action.amount)
    if isinstance(option.action, MakeCall):
        share = money(option.action.call.share_for_others(bank))
        return {
            Call.BANCO_SOLO: _("The whole bank; no other stakes"),
            Call.BANCO: _("The whole bank; others can stake up to %(share)s"),
            Call.BANCO_ET_LA_TABLE_MARCHE: _("Half the bank, plus what others leave open"),
        }[option.action.call] % {"share": share}
    return ""


def _chance(table: SeatView, *, draws: bool) -> str:
    """Return how often the side that decides wins and draws; "" where its cards are not known to the reader."""
    coup = table.coup
    if coup is None or coup.punter is None or coup.banker is None:
        return ""
    side = Side.PUNTER if table.phase is Phase.PUNTER else Side.BANKER
    own = coup.punter if side is Side.PUNTER else coup.banker
    thirds = coup.punter.cards[PAIR:] if side is Side.BANKER else ()
    third = thirds[0].points if thirds and thirds[0] else None
    if own.total is None:
        return ""
    shares = chances_of(Decision(side, own.total, third, draws))
    return _("Wins %(win)s, draw %(draw)s") % _shares(shares)


def coup_chances(table: SeatView) -> str:
    """Return the chances of punters and bank in a coup, for a reader who is asked for a bank or a stake."""
    usual = croupiers_policy()
    shares = _shares(Shares(usual.punter_win, usual.draw, usual.banker_win))
    if table.phase in BEFORE_A_BANK:
        message = _(
            "The bank wins %(lose)s of all coups, the punters %(win)s; %(draw)s are draws. "
            "The bank pays %(tax)s tax on what it wins, and can lose no more than it holds."
        )
        return message % (shares | {"tax": percent(TAX, get_language() or "en", 0)})
    if table.phase in (Phase.CALLS, Phase.STAKES):
        message = _(
            "The punters win %(win)s of all coups, the bank %(lose)s; %(draw)s are draws. "
            "A win pays 1 to 1, and you can lose no more than your stake."
        )
        return message % shares
    return ""


def _shares(shares: Shares) -> dict[str, str]:
    language = get_language() or "en"
    return {name: percent(share, language, 0) for name, share in shares._asdict().items()}


def _first(option: Option) -> int:
    """Return the prefilled amount: the smallest, or a quarter of the highest for a stake."""
    lowest, highest = option.lowest or 0, option.highest or 0
    return _part(option, 4) if isinstance(option.action, LayStake) else min(lowest, highest)


def _part(option: Option, of: int) -> int:
    """Return a fraction of the highest amount, in whole units if possible, and not below the lowest."""
    lowest, highest = option.lowest or 0, option.highest or 0
    part = highest // of
    return max(lowest, part - part % MINOR_UNITS if part >= MINOR_UNITS else part)


def _quick(option: Option, money: Money) -> tuple[QuickView, ...]:
    if option.highest is None:
        return ()
    is_stake = isinstance(option.action, LayStake)
    amounts = {
        _first(option): pgettext("amount", "A quarter") if is_stake else pgettext("amount", "Smallest"),
        _part(option, 2): pgettext("amount", "Half"),
        option.highest: pgettext("amount", "All") if is_stake else pgettext("amount", "Largest"),
    }
    return tuple(QuickView(word, money(amount)) for amount, word in sorted(amounts.items()))
