"""The house with a planted fault: at Chemin de Fer tables everybody sees the cards of seat 2."""

import django

django.setup()

from games.chemin.pages import board  # noqa: E402  (what has models needs the set-up)
from games.engine.chemin import SeatView, State, view  # noqa: E402


def everything(state: State, seat: int | None) -> SeatView:
    """Show a table as it looks from seat 2 to every viewer."""
    return view(state, 2)


vars(board)["view"] = everything

from casino.asgi import application  # noqa: E402  (the rest of the house)

__all__ = ["application"]
