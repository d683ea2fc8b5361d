"""The options of a player as buttons, each with the amounts that the engine allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.chemin.pages.messages import Money
from games.chemin.pages.presentation import OptionView, QuickView
from games.engine.chemin import Call, Option, Phase, SeatView
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
from games.help.chemin_placeholders import CALLS
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
