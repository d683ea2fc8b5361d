"""Help pages of the games: written text with figures computed by the engine that settles the bets.

So the text and the rules cannot disagree. `docs/help-writing.md` explains how to write a help text.
"""

from games.help.figures import BadExample, HelpTextError, UnknownPlaceholder, percent
from games.help.page import GameLine, RulesPage, game_lines, rules_page, rules_panel

__all__ = [
    "BadExample",
    "GameLine",
    "HelpTextError",
    "RulesPage",
    "UnknownPlaceholder",
    "game_lines",
    "percent",
    "rules_page",
    "rules_panel",
]
