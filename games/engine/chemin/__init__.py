"""Chemin de Fer: guests play each other, the bank goes round, the house runs the table and takes its tax.

    state = new_table(TableRules(places=9, minimum=1000, maximum=100_000))
    state, events = apply(state, Join(seat=1, balance=5000))

`apply` is the whole game: every action in every state leads to another state or is refused with a reason. `view` is
what each guest may see, `options` what he may do, `default_action` what the croupier does in his place. Read `rules`
first, then `phases` for the course of an evening, `bank`, `stakes`, `play` and `settlement` for its parts.
"""

from games.engine.chemin.machine import apply, default_action
from games.engine.chemin.options import Option, options
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.rules import Call, Outcome, RulesError, Side, TableRules
from games.engine.chemin.state import Phase, Presence, State, new_table
from games.engine.chemin.views import SeatView, view

__all__ = [
    "Call",
    "Option",
    "Outcome",
    "Phase",
    "Presence",
    "Refusal",
    "Refused",
    "RulesError",
    "SeatView",
    "Side",
    "State",
    "TableRules",
    "apply",
    "default_action",
    "new_table",
    "options",
    "view",
]
