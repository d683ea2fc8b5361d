"""Help pages of the games: written text with figures computed by the engine that settles the bets.

So the text and the rules cannot disagree. `docs/help-writing.md` explains how to write a help text.
"""

from games.help.figures import BadExample, HelpTextError, UnknownMark, percent
from games.help.page import GameLine, RulesPage, game_lines, rules_beside, rules_page

__all__ = [
    "BadExample",
    "GameLine",
    "HelpTextError",
    "RulesPage",
    "UnknownMark",
    "game_lines",
    "percent",
    "rules_beside",
    "rules_page",
]
