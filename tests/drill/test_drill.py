"""Every part of a house gets a fault while people play and pay: the short drill of `make test-all`.

`make drill` runs a long one.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.drill import recovery, ticks
from tests.drill.commits import CUTS
from tests.drill.plan import SHORT, Asked, Stage, Victim, chosen
from tests.drill.recovery import Recovery
from tests.start.support import PROJECT

SECONDS = 900.0  # that a busy machine may take


@pytest.mark.sweep
def test_whatever_is_struck_play_and_payments_go_on_and_everybody_s_record_agrees_with_the_house():
    """Every part of the house and every phase: both tables move on within two ticks of the recovery, and what everybody
    was told agrees with the house's data. The drill prints faults. It also checks that call-backs came late and twice,
    that payments ended in both ways, and that calls whose answers were lost were answered again.
    """
    held = subprocess.run(
        [sys.executable, "-m", "tests.drill", "--short", "--seed", "7", "--minutes", "10"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert held.returncode == 0, held.stdout + held.stderr
    assert all(str(blow) in held.stdout for blows in SHORT for blow in blows)
    assert all(f"{action} {fate} 1" in held.stdout for action, fate in CUTS), held.stdout


def test_a_short_drill_strikes_everything_in_every_phase():
    blows = [blow for blows in SHORT for blow in blows]
    assert {blow.victim for blow in blows} == {*Victim}
    assert {blow.stage for blow in blows} > {*Stage}
    assert any(isinstance(blow.stage, Asked) for blow in blows)


def test_a_seed_repeats_every_choice_of_a_drill_and_another_one_makes_others():
    assert [*chosen(7, 40)] == [*chosen(7, 40)] != [*chosen(8, 40)]


def test_a_long_drill_strikes_everything_in_every_phase():
    deaths = {(blow.victim, blow.stage) for blows in chosen(7, len(Victim)) for blow in blows}
    assert len(deaths) == len(Victim) * len(Stage)


def test_however_soon_it_ends_a_long_drill_has_struck_everything():
    assert {blow.victim for blows in chosen(7, len(SHORT)) for blow in blows} == {*Victim}


def test_a_long_drill_strikes_in_every_question_that_players_are_asked():
    assert {blow.stage for blows in chosen(7, 100) for blow in blows} == {*Stage, *Asked}


def test_the_table_of_recoveries_has_the_median_and_the_worst_of_each_kind():
    web = [Recovery(Victim.WEB, up, 0.5, 0.4, 2.0) for up in (3.0, 1.0, 2.0)]
    lines = [*recovery.table([*web, Recovery(Victim.BEAT, 0.1, 0.2, 0.5, 0.3)])]
    assert [line.split() for line in lines[1:-1]] == [
        ["web", "3", "2.0", "/", "3.0", "0.5", "/", "0.5", "0.4", "/", "0.4", "2.0", "/", "2.0"],
        ["beat", "1", "0.1", "/", "0.1", "0.2", "/", "0.2", "0.5", "/", "0.5", "0.3", "/", "0.3"],
    ]


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


def test_ticks_of_the_chemin_table_are_others_than_those_of_the_shared_one():
    log = (
        line("00:00:01.200", "Task games.tasks.tick[1-a] received"),
        line("00:00:01.250", "Task games.tasks.tick[1-a] succeeded in 0.04s: []"),
        line("00:00:02.200", "Task games.tasks.tick_chemin[2-b] received"),
        line("00:00:02.250", "Task games.tasks.tick_chemin[2-b] succeeded in 0.04s: [12]"),
        line("00:00:02.260", "Task games.tasks.advance_chemin_table[3-c] received"),
        line("00:00:02.270", "Task games.tasks.advance_chemin_table[3-c] raised unexpected: X()"),
    )
    began = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    late = began + timedelta(minutes=1)
    seated_players, shared = ticks.read(log, began, ticks.CHEMIN), ticks.read(log, began)
    assert (seated_players.in_vain(7, late), seated_players.in_vain(12, late), seated_players.failures) == (
        1,
        0,
        (log[-1],),
    )
    assert (shared.in_vain(12, late), shared.failures) == (1, ())
