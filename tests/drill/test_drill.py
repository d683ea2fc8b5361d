"""Web, worker, beat, broker and PostgreSQL are killed while bets lie on a shared table: the short drill of the suite.
`make drill` holds a long one.
"""

import json
from datetime import UTC, datetime, timedelta

from tests.drill import ticks
from tests.drill.held import drill, house
from tests.drill.plan import SHORT, Stage, Victim, chosen


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


def line(at: str, said: str) -> str:
    return json.dumps({"event": said, "level": "info", "timestamp": f"2026-01-01T{at}Z"})


def test_ticks_that_did_not_ask_for_the_table_are_counted_and_those_that_expired_are_not():
    log = (
        line("00:00:00.900", "Task games.tasks.tick[0-a] received"),
        line("00:00:01.100", "Task games.tasks.tick[1-b] received"),
        line("00:00:01.101", "Discarding revoked task: games.tasks.tick[1-b]"),
        line("00:00:01.200", "Task games.tasks.tick[2-c] received"),
        line("00:00:01.250", "Task games.tasks.tick[2-c] succeeded in 0.04s: []"),
        line("00:00:02.200", "Task games.tasks.tick[3-d] received"),
        line("00:00:02.250", "Task games.tasks.tick[3-d] succeeded in 0.04s: [7, 12]"),
        line("00:00:02.260", "Task games.tasks.advance_live_table[4-e] received"),
        line("00:00:02.270", "Task games.tasks.advance_live_table[4-e] raised unexpected: X()"),
    )
    began = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    seen = ticks.read(log, began)
    late = began + timedelta(minutes=1)
    assert (seen.before(late), seen.in_vain(12, late), seen.in_vain(2, late)) == (2, 1, 2)
    assert seen.failures == (log[-1],)
