"""Template filters for names of games, and amounts at tables with one currency: ``{% load games
%}``.
"""

from django import template
from django.utils.translation import get_language

from games.history.statement import figures
from games.tables.felt_sheet import felt_url
from wallet.money import format_figure

register = template.Library()
register.simple_tag(felt_url)


@register.filter
def game_name(slug: str) -> str:
    """Return a game's name in the reader's language."""
    return figures.game_name(slug, get_language() or "en")


@register.filter
def figure(minor: int) -> str:
    """Format an amount without its currency, in the reader's notation."""
    return format_figure(minor, get_language() or "en")
