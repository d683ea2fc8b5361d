"""Chemin de Fer: players play against each other, the bank rotates, the house deals and takes a
tax.

    state = new_table(TableRules(seat_count=9, minimum=1000, maximum=100_000))
    state, events = apply(state, Join(seat=1, balance=5000))

`apply` is the state machine: an action in a state gives a new state, or is refused with a reason.
`view` is what a player may see, `options` what a player may do, `default_action` the croupier's
decision for a player who does not decide. Start reading with `rules`, then in `steps` with `phases`
for the order of events, then `bank`, `play` and `settlement`.
"""

from games.engine.chemin.machine import apply, default_action
from games.engine.chemin.options import Option, options
from games.engine.chemin.rules import Call, Outcome, RulesError, Side, TableRules
from games.engine.chemin.state import Phase, Presence, Refusal, Refused, State, new_table
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
