"""Names of games in statements, in the reader's language."""

from django.utils.translation import gettext as _

from games.labels import variant_label
from games.variants import GAMES


def game_names(language: str) -> dict[str, str]:
    """Return the name of every game by its slug."""
    return {slug: variant_label(variant, "name", language) for slug, variant in GAMES.items()}


def game_name(slug: str, language: str) -> str:
    """Return a game's name; of a round that is not among the finished ones, that its game is another."""
    return game_names(language).get(slug) or _("Other games")
