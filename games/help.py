"""Rules pages: the variant's own prose with every figure put in by the engine that settles the bets, so that the two
cannot drift apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from babel.numbers import format_decimal
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from games.engine.bets import Variant
from games.engine.odds import Odds, exact, return_at
from games.engine.tableau import banker_draws, player_draws
from games.labels import bet_name, variant_label
from games.limits import Limits
from games.models import Table
from games.variants import LANGUAGES, VARIANTS, help_text
from wallet.models import Currency
from wallet.money import format_money

TWO_CARD_TOTALS = range(8)  # 8 and 9 are naturals
POINTS = range(10)

_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class RulesPage:
    """A game's help, ready to print."""

    slug: str
    name: str
    version: str
    changed: date
    body: SafeString


def rules_page(variant: Variant, language: str) -> RulesPage:
    """Return the rules of *variant* in *language* (English where there is none)."""
    spoken = language if language in LANGUAGES else "en"
    return RulesPage(
        slug=variant.slug,
        name=variant_label(variant, "name", spoken),
        version=variant.version,
        changed=variant.changed,
        body=_body(variant, spoken),
    )


def percent(fraction: Fraction, language: str, digits: int = 2) -> str:
    """Write a return as a percentage the way the language does, rounded half up: "98.99 %"."""
    shift = 10**digits
    scaled = fraction * 100 * shift
    rounded = Decimal((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)) / shift
    return f"{format_decimal(rounded, format='0.' + '0' * digits, locale=language)} %"


def _body(variant: Variant, language: str) -> SafeString:
    """Markdown to HTML; a line ``{{ name }}`` becomes the table of that name."""
    html: str = _markdown.render(help_text(variant.slug, language))
    for name, table in TABLES.items():
        mark = f"<p>{{{{ {name} }}}}</p>"
        if mark in html:
            html = html.replace(mark, table(variant, language))
    return mark_safe(html)  # noqa: S308  (our own Markdown with raw HTML switched off, and our own templates)


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
    return render_to_string("games/help/_paytable.html", {"rows": rows})


def _player_rule(variant: Variant, language: str) -> str:
    rows = [{"total": total, "draws": player_draws(total)} for total in TWO_CARD_TOTALS]
    return render_to_string("games/help/_player_rule.html", {"rows": rows})


def _banker_table(variant: Variant, language: str) -> str:
    rows = [
        {
            "total": total,
            "after_stand": banker_draws(total, None),
            "after": [banker_draws(total, third) for third in POINTS],
        }
        for total in TWO_CARD_TOTALS
    ]
    return render_to_string("games/help/_banker_table.html", {"rows": rows, "points": POINTS})


def _returns(variant: Variant, language: str) -> str:
    odds = _odds(variant.slug)
    rows = [
        {
            "name": bet_name(variant, bet.code, language),
            "rtp": percent(odds[bet.code].rtp, language),
            "edge": percent(odds[bet.code].edge, language),
        }
        for bet in variant.bets
    ]
    mean = sum((odds[bet].rtp for bet in variant.headline.bets), Fraction(0)) / len(variant.headline.bets)
    digits = len(variant.headline.percent.partition(".")[2])
    context = {
        "rows": rows,
        "headline": percent(mean, language, digits),
        "headline_edge": percent(1 - mean, language, digits),
        "is_mean": len(variant.headline.bets) > 1,
    }
    return render_to_string("games/help/_returns.html", context)


def _smallest_stake(variant: Variant, language: str) -> str:
    """The return at the least that the table allows on each bet, currency by currency."""
    tables = Table.objects.filter(variant=variant.slug, version__isnull=False).select_related("version")
    table = tables.order_by("id").first()
    stored = table.version.limits if table and table.version else {}
    currencies = [Limits.of(stored, currency) for currency in Currency.values if currency in stored]
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
    return render_to_string("games/help/_smallest_stake.html", context)


@lru_cache
def _odds(slug: str) -> Odds:
    """Exact returns never change while a process runs."""
    return exact(VARIANTS[slug])


def _decks(variant: Variant, language: str) -> str:
    return render_to_string("games/help/_decks.html", {"decks": variant.decks})


TABLES: dict[str, Callable[[Variant, str], str]] = {
    "paytable": _paytable,
    "player_rule": _player_rule,
    "banker_table": _banker_table,
    "returns": _returns,
    "smallest_stake": _smallest_stake,
    "decks": _decks,
}
