"""Tables of a punto banco game's help, made from the rules or the current limits."""

from collections.abc import Callable, Mapping
from functools import partial

from django.template.loader import render_to_string

from games.betting.limits import Limits
from games.engine.bets import BetRule, Variant
from games.engine.odds import return_at
from games.engine.tableau import banker_draws, player_draws
from games.help.figures import MARKET, percent
from games.help.placeholders import headline, headline_digits, odds_of
from games.labels import bet_name, variant_label
from games.models import Table
from games.variants.game import Game
from wallet.models import Currency
from wallet.money import format_money

TWO_CARD_TOTALS = range(8)  # 8 and 9 are naturals
POINTS = range(10)


def tables_of(variant: Variant) -> Mapping[str, Callable[[str], str]]:
    """Return all tables that a help text can use, as functions of the language."""
    tables: dict[str, Callable[[Variant, str], str]] = {
        "paytable": _paytable,
        "player_rule": _player_rule,
        "banker_table": _banker_table,
        "returns": _returns,
        "smallest_stake": _smallest_stake,
        "limits": _limits,
        "decks": decks_text,
    }
    return {name: partial(table, variant) for name, table in tables.items()}


def decks_text(game: Game, language: str) -> str:
    """Return the sentence with the number of decks."""
    return render_to_string("games/help/tables.html#decks", {"decks": game.decks})


def _paytable(variant: Variant, language: str) -> str:
    rows = [
        {
            "name": bet_name(variant, bet.code, language),
            "prizes": [
                {
                    "when": variant_label(variant, f"when.{prize.when.name}", language),
                    "pays": str(prize.pays),
                    "push": not prize.pays.win,
                }
                for prize in bet.prizes
            ],
        }
        for bet in variant.bets
    ]
    return render_to_string("games/help/tables.html#paytable", {"rows": rows})


def _player_rule(variant: Variant, language: str) -> str:
    rows = [{"total": total, "draws": player_draws(total)} for total in TWO_CARD_TOTALS]
    return render_to_string("games/help/tables.html#player_rule", {"rows": rows})


def _banker_table(variant: Variant, language: str) -> str:
    rows = [
        {
            "total": total,
            "after_stand": banker_draws(total, None),
            "after": [banker_draws(total, third) for third in POINTS],
        }
        for total in TWO_CARD_TOTALS
    ]
    return render_to_string("games/help/tables.html#banker_table", {"rows": rows, "points": POINTS})


def _returns(variant: Variant, language: str) -> str:
    odds, digits = odds_of(variant.slug), headline_digits(variant)
    rows = [
        {
            "name": bet_name(variant, bet.code, language),
            "rtp": percent(odds[bet.code].rtp, language),
            "edge": percent(odds[bet.code].edge, language),
        }
        for bet in variant.bets
    ]
    context = {
        "rows": rows,
        "headline": percent(headline(variant), language, digits),
        "headline_edge": percent(1 - headline(variant), language, digits),
        "is_mean": len(variant.headline.bets) > 1,
    }
    return render_to_string("games/help/tables.html#returns", context)


def _smallest_stake(variant: Variant, language: str) -> str:
    """Return the return of each bet at the table's minimum, for each currency."""
    currencies = _limits_in_force(variant)
    rows = [
        {
            "name": bet_name(variant, bet.code, language),
            "cells": [
                {
                    "stake": format_money(limits.bets[bet.code].minimum, limits.currency, language),
                    "rtp": percent(return_at(variant, bet.code, limits.bets[bet.code].minimum), language),
                }
                for limits in currencies
            ],
        }
        for bet in variant.bets
    ]
    context = {"rows": rows, "currencies": [limits.currency for limits in currencies]}
    return render_to_string("games/help/tables.html#smallest_stake", context)


def _limits(variant: Variant, language: str) -> str:
    """Return minimum, maximum and payout of every bet.

    The currency of the language comes first; the others are collapsed.
    """
    in_force = _limits_in_force(variant)
    in_force.sort(key=lambda limits: limits.currency != MARKET[language])
    currencies = [
        {
            "currency": limits.currency,
            "rows": [_limits_row(variant, bet, limits, language) for bet in variant.bets],
        }
        for limits in in_force
    ]
    return render_to_string("games/help/tables.html#limits", {"first": currencies[:1], "others": currencies[1:]})


def _limits_row(variant: Variant, bet: BetRule, limits: Limits, language: str) -> dict[str, str]:
    allowed = limits.bets[bet.code]
    return {
        "name": bet_name(variant, bet.code, language),
        "pays": bet.pays_text,
        "minimum": format_money(allowed.minimum, limits.currency, language),
        "maximum": format_money(allowed.maximum, limits.currency, language),
    }


def _limits_in_force(variant: Variant) -> list[Limits]:
    """Return the limits of the first table of the game for each currency; empty without a table."""
    tables = Table.objects.filter(variant=variant.slug, version__isnull=False).select_related("version")
    table = tables.order_by("id").first()
    stored = table.version.limits if table and table.version else {}
    return [Limits.of(stored, currency) for currency in Currency.values if currency in stored]
