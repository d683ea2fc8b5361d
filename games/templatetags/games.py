"""Tags and filters of games: fragments, felts and rounds, and versions in English for the back office."""

import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final
from uuid import UUID

from django import template
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from games.deals import trusted_keys
from games.engine.odds import percent
from games.history.statement import figures
from games.models import Round, rounds
from games.rounds import receipts
from games.tables.felt_sheet import felt_url
from games.tables.fragments import render_fragment
from players.models import Player
from wallet.money import format_figure, format_money

ANY_ROUND: Final = UUID(int=0)  # stands for the id of a round in an address

register = template.Library()
register.simple_tag(render_fragment, name="fragment")


register.simple_tag(felt_url)


@register.simple_tag
def receipts_here(reader: Player) -> dict[str, str]:
    """Return what the scripts of receipts need: whose they are, who signs them, and where to ask for one."""
    return {
        "holder": receipts.holder(reader.pk),
        "keys": " ".join(trusted_keys()),
        "any": str(ANY_ROUND),
        "receipt": reverse("round_receipt", args=[ANY_ROUND]),
    }


@register.filter
def game_name(slug: str) -> str:
    """Return a game's name in the reader's language."""
    return figures.game_name(slug, get_language() or "en")


@register.filter
def figure(minor: int) -> str:
    """Format an amount without its currency, in the reader's notation."""
    return format_figure(minor, get_language() or "en")


# Twelve letters and digits, in three groups or in one. `read_code` decides which of them are codes.
CODE: Final = re.compile(r"(?<![\w-])(?=(\w{4}([- ]?)\w{4}\2\w{4})(?![\w-]))", re.ASCII)


@register.filter
def round_code(name: UUID | str) -> str:
    """Return the code of a round from its id or its name in the event log (``round:<uuid>``); ""
    for anything else.
    """
    return rounds.code_of_name(str(name))


@register.filter
def with_rounds(text: str) -> SafeString:
    """Return a text with every round code, however it is typed, linked to the page of its round."""
    escaped = conditional_escape(text)
    named = {match.span(1): code for match in CODE.finditer(escaped) if (code := rounds.read_code(match[1]))}
    known = dict(Round.objects.filter(code__in=named.values()).values_list("code", "pk")) if named else {}
    pieces, position = [], 0
    for (begin, end), code in named.items():
        if code in known and begin >= position:
            address = reverse("staff_round", args=[known[code]])
            pieces += [escaped[position:begin], f'<a class="link" href="{address}">{escaped[begin:end]}</a>']
            position = end
    return mark_safe("".join([*pieces, escaped[position:]]))  # noqa: S308  (escaped above)


@register.filter
def percentage(share: Fraction) -> str:
    """Format a share of one in percent with four places."""
    return f"{number_format(percent(share, 4))} %"


@register.filter
def english_amount(minor: int, currency: str) -> str:
    """Format minor units of a currency."""
    return format_money(minor, currency, "en")


@register.filter
def moment(text: str) -> str:
    """Format a time of the event log for people."""
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
