"""Help: each game's own prose, with every figure put in by the engine that settles the bets, so that the two cannot
drift apart. `docs/help-writing.md` says how a text is written.
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
