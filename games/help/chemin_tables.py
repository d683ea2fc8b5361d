"""Tables of the Chemin de Fer help, made from the rules of the engine."""

from collections.abc import Callable, Mapping
from itertools import groupby

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games.engine.chemin.rules import Advice, Call, banker_rule, punter_rule
from games.help.chemin_placeholders import CALLS, croupiers_policy, policies
from games.help.figures import MARKET, money, percent
from games.help.tables import POINTS, TWO_CARD_TOTALS, decks_text
from games.models import Shape, Table, TableVersion
from games.tables.chemin_rules import CheminClock, CheminRules
from games.variants import GAMES
from wallet.money import format_money

SLUG = "chemin_de_fer"
A_SECOND, A_MINUTE = 1000, 60_000  # milliseconds
A_BANK = 1000_00
"""Minor units. Large enough for its half to be a round amount."""


def _punter_rule(language: str) -> str:
    rows = [{"total": total, "advice": punter_rule(total).value} for total in TWO_CARD_TOTALS]
    return render_to_string("games/help/chemin.html#punter_rule", {"rows": rows})


def _banker_table(language: str) -> str:
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
                    "name": table.name,
                    "is_practice": each.is_practice,
                    "places": each.places,
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
    "chemin_banker_table": _banker_table,
    "chemin_chances": _chances,
    "chemin_calls": _calls,
    "chemin_banks": _banks,
    "chemin_times": _times,
    "decks": lambda language: decks_text(GAMES[SLUG], language),
}
