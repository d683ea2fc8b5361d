"""Choices of reports on play."""

from typing import Final

from audit.reports.kinds import Choice
from games.labels import variant_label
from games.variants import GAMES

GAME: Final = Choice(
    "game", "Game", lambda: tuple((slug, variant_label(game, "name", "en")) for slug, game in GAMES.items())
)
