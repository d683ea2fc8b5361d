"""A table whose shoe is spent continues with the next one."""

from dataclasses import replace

import pytest

from games.chemin import apply
from games.engine.chemin.state import there
from games.models import Round, Shoe
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, seated_players, table_state_of
from tests.chemin.evenings import play_until
from tests.harness.databases import Database


def test_a_new_shoe_gives_no_card(cloned_db: Database) -> None:
    live_table = a_chemin_table()
    seated_players(live_table)
    a_dealt_coup(live_table, 5_000, 2_000)
    table_state = table_state_of(live_table)
    spent = there(table_state.state.shoe)
    assert spent.drawn > 0
    assert apply._dealt(table_state, replace(table_state.state, shoe=replace(spent, drawn=0))) is None


@pytest.mark.sweep
def test_the_next_shoe_comes_when_the_cut_card_has_come(cloned_db: Database) -> None:
    live_table = a_chemin_table()
    seated_players(live_table, 2)
    play_until(live_table, lambda _: Round.objects.filter(shoe__number=2).exists(), seed=21)
    spent, current = Shoe.objects.filter(live_table=live_table).order_by("number")
    assert spent.gone >= spent.cut
    live_table.refresh_from_db()
    assert (live_table.stopped_by, live_table.shoe_id) == (None, current.pk)
