"""Web, worker, beat, broker and PostgreSQL are killed while bets lie on a shared table: the short drill of the suite.
`make drill` holds a long one.
"""

import pytest

from tests.drill.held import drill, house
from tests.drill.plan import SHORT, Stage, Victim, chosen

pytestmark = pytest.mark.xdist_group("drill")


def test_whatever_is_killed_in_whatever_phase_the_table_goes_on_and_every_stake_is_accounted_for():
    """Every victim and every phase: the table moves on within two ticks of the recovery, every bet that was confirmed
    is in its round, and every balance is what the engine makes of it. What went wrong is what `Drill` prints.
    """
    with house() as opened:
        held = drill(opened, quietly=True)
    assert held.returncode == 0, held.stdout
    deaths = [blow for blows in SHORT for blow in blows]
    assert all(str(blow) in held.stdout for blow in deaths)
    assert {blow.victim for blow in deaths} == {*Victim}
    assert {blow.stage for blow in deaths} == {*Stage}


def test_a_seed_repeats_every_choice_of_a_drill_and_another_one_makes_others():
    assert [*chosen(7, 40)] == [*chosen(7, 40)] != [*chosen(8, 40)]


def test_a_long_drill_kills_everything_in_every_phase():
    deaths = {(blow.victim, blow.stage) for blows in chosen(7, len(Victim)) for blow in blows}
    assert len(deaths) == len(Victim) * len(Stage)
