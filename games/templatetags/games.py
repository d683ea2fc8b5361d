"""Names of games in templates: ``{% load games %}{{ slug|game_name }}``."""

from django import template
from django.utils.translation import get_language

from games.statement import words

register = template.Library()


@register.filter
def game_name(slug: str) -> str:
    """Write a game's name in the reader's language."""
    return words.game_name(slug, get_language() or "en")
