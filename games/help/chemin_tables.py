"""The tables in the help of Chemin de Fer, made from the rules the engine plays by."""

from collections.abc import Callable, Mapping

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine.chemin.rules import Advice, Call, banker_rule, punter_rule
from games.help.chemin_marks import CALLS, croupiers_policy, policies
from games.help.figures import money, percent
from games.help.tables import POINTS, TWO_CARD_TOTALS, decks_sentence
from games.variants import GAMES

A_BANK = 1000_00
"""Minor units; large enough that a half of it reads well."""


def _punter_rule(language: str) -> str:
    rows = [{"total": total, "advice": punter_rule(total).value} for total in TWO_CARD_TOTALS]
    return render_to_string("games/help/_chemin_punter_rule.html", {"rows": rows})


def _banker_table(language: str) -> str:
    rows = [
        {
            "total": total,
            "advice": [banker_rule(total, third).value for third in (None, *POINTS)],
        }
        for total in TWO_CARD_TOTALS
    ]
    return render_to_string("games/help/_chemin_banker_table.html", {"rows": rows, "points": POINTS})


def _chances(language: str) -> str:
    """Three of the eight ways to use the free choices: the croupier's, and the best for either side."""
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
        _("Punters gain"): [odds.punter for odds in shown.values()],
        _("Banker gains, after tax"): [odds.banker_after_tax for odds in shown.values()],
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
    return render_to_string("games/help/_chemin_chances.html", context)


def _calls(language: str) -> str:
    """What each call leaves to the others, of a bank of the same amount."""
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
    return render_to_string("games/help/_chemin_calls.html", {"rows": rows, "bank": money(A_BANK, language)})


CHEMIN_TABLES: Mapping[str, Callable[[str], str]] = {
    "chemin_punter_rule": _punter_rule,
    "chemin_banker_table": _banker_table,
    "chemin_chances": _chances,
    "chemin_calls": _calls,
    "decks": lambda language: decks_sentence(GAMES["chemin_de_fer"], language),
}
