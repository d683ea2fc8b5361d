"""Logs contain only ticks that found work."""

import logging

import pytest

from games import tasks
from ops.logs import NOTHING, TICK, IdleTickFilter

STRATEGY, TRACE, BEAT = "celery.worker.strategy", "celery.app.trace", "celery.beat"
OTHER = "games.tasks.advance_live_table"


def task(name: str, **more: object) -> tuple[dict[str, object]]:
    """Return Celery's log arguments about a task."""
    return ({"id": "0", "name": name, **more},)


@pytest.mark.parametrize(
    ("logger", "args", "is_written"),
    [
        (STRATEGY, task(TICK), False),
        (TRACE, task(TICK, return_value=NOTHING), False),
        (TRACE, task(TICK, return_value="[7, 12]"), True),
        (BEAT, ("move live tables", TICK), False),
        (BEAT, ("send mail", "players.tasks.send_mail"), True),
        (STRATEGY, task(OTHER), True),
        (TRACE, task(OTHER, return_value=NOTHING), True),
        (TRACE, (), True),
    ],
)
def test_only_ticks_that_found_nothing_are_left_out(logger, args, is_written):
    record = logging.getLogger(logger).makeRecord(logger, logging.INFO, "", 0, "", args, None)
    assert bool(logging.getLogger(logger).filter(record)) is is_written
    assert IdleTickFilter().filter(record) is is_written


def test_it_knows_the_tick_by_the_name_that_celery_does():
    assert tasks.tick.name == TICK
    assert repr([]) == NOTHING
