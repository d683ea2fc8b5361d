"""Plays random coups through the services, with calls, stakes, wins and losses."""

from collections.abc import Callable
from random import Random

from games.chemin import tick
from games.chemin.state.table_state import TableState
from games.engine.chemin import Option, Phase, options
from games.engine.chemin.actions import Pass, TableAction
from games.models import LiveTable, Round
from players.models import Player
from tests.chemin.at_table import answer, hurry, table_state_of

SNAKE = str.maketrans({letter: f"_{letter.lower()}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


def play_evening(live_table: LiveTable, coups: int, *, seed: int) -> None:
    """Let players and house players decide at random until this many coups are over."""
    play_until(live_table, lambda _: Round.objects.filter(shoe__live_table=live_table).count() >= coups, seed=seed)


def play_until(live_table: LiveTable, enough: Callable[[TableState], bool], *, seed: int) -> TableState:
    """Let players and house players decide at random until *enough*; return the state of the table."""
    chance = Random(seed)
    while not enough(table_state := table_state_of(live_table)):
        if table_state.state.phase is Phase.FREE:
            seat = chance.choice([seat for seat in table_state.seats.values() if seat.player])
        elif table_state.asked is None or table_state.asked.player is None:
            hurry(live_table)
            assert tick.advance(live_table.pk)
            continue
        else:
            seat = table_state.asked
        assert seat.player
        decide(seat.player, live_table, _chosen(options(table_state.state, seat.number), chance))
    return table_state


def decide(player: Player, live_table: LiveTable, action: TableAction) -> None:
    """Answer the current question with an action of the engine."""
    name = type(action).__name__.translate(SNAKE).removeprefix("_")
    amount, call = getattr(action, "amount", None), getattr(action, "call", None)
    answer(player, live_table, name, amount, call)


def _chosen(open_to: tuple[Option, ...], chance: Random) -> TableAction:
    """Return a random option; passing is rare, so that coups are played."""
    does = [option for option in open_to if not isinstance(option.action, Pass)]
    option = chance.choice(does) if does and chance.random() < 0.7 else chance.choice(open_to)
    if option.lowest is None or option.highest is None:
        return option.action
    return option.at(min(option.highest, option.lowest + chance.randrange(0, 5_000)))
