"""Tables of the help pages, of all games."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games.betting.limits import Limits
from games.engine.bets import BetRule, Variant
from games.engine.chemin.rules import Advice, Call, banker_rule, punter_rule
from games.engine.coup import banker_draws, player_draws
from games.engine.odds import return_at
from games.help.figures import CALLS, MARKET, croupiers_policy, money, percent, policies
from games.help.placeholders import headline, headline_digits, odds_of
from games.labels import bet_name, variant_label
from games.models import Shape, Table, TableVersion
from games.tables.chemin_rules import CheminClock, CheminRules
from games.variants import GAMES
from games.variants.common import Game
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


SLUG = "chemin_de_fer"
A_SECOND, A_MINUTE = 1000, 60_000  # milliseconds
A_BANK = 1000_00
"""Minor units. Large enough for its half to be a round amount."""


def _punter_rule(language: str) -> str:
    rows = [{"total": total, "advice": punter_rule(total).value} for total in TWO_CARD_TOTALS]
    return render_to_string("games/help/chemin.html#punter_rule", {"rows": rows})


def _chemin_banker_table(language: str) -> str:
    rows = [
        {
            "total": total,
            "advice": [banker_rule(total, third).value for third in (None, *POINTS)],
        }
        for total in TWO_CARD_TOTALS
    ]
    return render_to_string("games/help/chemin.html#banker_table", {"rows": rows, "points": POINTS})


def _chances(language: str) -> str:
    """Return three of the eight policies: the croupier's, and the best one for each side."""
    shown = {
        _("The croupier’s choices"): croupiers_policy(),
        _("Best for the punters"): max(policies(), key=lambda odds: odds.punter),
        _("Best for the banker"): max(policies(), key=lambda odds: odds.banker_after_tax),
    }
    choices = {
        _("Punter on 5"): [odds.punter_on_5 for odds in shown.values()],
        _("Banker on 3 against 9"): [odds.banker_3_9 for odds in shown.values()],
        _("Banker on 5 against 4"): [odds.banker_5_4 for odds in shown.values()],
    }
    shares = {
        _("Punters win"): [odds.punter_win for odds in shown.values()],
        pgettext("outcome", "Draw"): [odds.draw for odds in shown.values()],
        _("Banker wins"): [odds.banker_win for odds in shown.values()],
        _("Punters’ gain"): [odds.punter for odds in shown.values()],
        _("Banker’s gain, after tax"): [odds.banker_after_tax for odds in shown.values()],
    }
    context = {
        "names": list(shown),
        "choices": [
            {"name": name, "cells": [advice is Advice.DRAW for advice in row]} for name, row in choices.items()
        ],
        "shares": [
            {"name": name, "cells": [percent(share, language) for share in row]} for name, row in shares.items()
        ],
    }
    return render_to_string("games/help/chemin.html#chances", context)


def _calls(language: str) -> str:
    """Return what each call leaves for the others, for a bank of A_BANK."""
    rows = [
        {
            "name": CALLS[call],
            "least": money(call.smallest_stake(A_BANK), language),
            "others": money(call.share_for_others(A_BANK), language),
            "covers": call.covers_the_bank,
            "alone": call is Call.BANCO_SOLO,
        }
        for call in Call
    ]
    return render_to_string("games/help/chemin.html#calls", {"rows": rows, "bank": money(A_BANK, language)})


def _banks(language: str) -> str:
    """Return seats and smallest and largest bank of every table.

    The currency of the language comes first; the others are collapsed.
    """
    rules = [(table, CheminRules.of(version.limits)) for table, version in _in_force()]
    rules.sort(key=lambda each: (each[1].currency != MARKET[language], each[1].currency))
    currencies = [
        {
            "currency": currency,
            "rows": [
                {
                    "name": table.title,
                    "is_practice": each.is_practice,
                    "seat_count": each.seat_count,
                    "minimum": format_money(each.minimum, currency, language),
                    "maximum": format_money(each.maximum, currency, language),
                }
                for table, each in tables
            ],
        }
        for currency, tables in groupby(rules, key=lambda each: each[1].currency)
    ]
    return render_to_string("games/help/chemin.html#banks", {"first": currencies[:1], "others": currencies[1:]})


def _times(language: str) -> str:
    """Return the time limits of the first table; empty if there is no table."""
    clocks = [CheminClock.of(version.clock or {}) for _table, version in _in_force()]
    return render_to_string("games/help/chemin.html#times", {"rows": waiting(clocks[0]) if clocks else []})


def waiting(clock: CheminClock) -> list[tuple[str, str]]:
    """Return the name and length of each time limit of a table."""
    turns = ngettext("%(count)s turn", "%(count)s turns", clock.missed) % {"count": clock.missed}
    return [
        (_("To take the bank, bid, call or stake"), _length(clock.ask)),
        (_("To draw or stand"), _length(clock.decide)),
        (_("For the banker to draw the cards"), _length(clock.deal)),
        (_("To keep the bank or pass it on"), _length(clock.choice)),
        (_("Missed turns in a row before you are marked as away"), turns),
        (_("How long we keep your seat while you are away"), _length(clock.removal)),
    ]


def _length(milliseconds: int) -> str:
    """Format whole minutes as minutes and other values in seconds."""
    if milliseconds % A_MINUTE == 0:
        minutes = milliseconds // A_MINUTE
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    seconds = -(-milliseconds // A_SECOND)
    return ngettext("%(count)s second", "%(count)s seconds", seconds) % {"count": seconds}


def _in_force() -> list[tuple[Table, TableVersion]]:
    """Return the published tables of the game in the order of the lobby."""
    tables = Table.objects.filter(variant=SLUG, shape=Shape.CHEMIN).select_related("version").order_by("id")
    return [(table, table.version) for table in tables if table.version]


CHEMIN_TABLES: Mapping[str, Callable[[str], str]] = {
    "chemin_punter_rule": _punter_rule,
    "chemin_banker_table": _chemin_banker_table,
    "chemin_chances": _chances,
    "chemin_calls": _calls,
    "chemin_banks": _banks,
    "chemin_times": _times,
    "decks": lambda language: decks_text(GAMES[SLUG], language),
}
