"""Two staff members act on one significant event at the same moment: the second gets a message about the
first.
"""

from datetime import UTC, datetime
from functools import partial
from threading import Barrier

import pytest
from django.db.models import QuerySet

from audit.models import Category, Significant, SignificantStep, Step, Weight, Work
from audit.significant import detection, workflow
from audit.significant.workflow import Acknowledged
from tests.wallet.test_at_once import at_once


@pytest.fixture
def found(cloned_db) -> Significant:
    detection.keep(
        detection.Found(
            key="1",
            category=Category.ERROR,
            weight=Weight.NOTICE,
            on="ledger",
            title="Something",
            happened_at=datetime(2026, 7, 8, 12, tzinfo=UTC),
        )
    )
    return Significant.objects.get()


def both_act(found: Significant, one: Step, other: Step) -> list[str]:
    """Two people each take a step after both have seen it new and unassigned."""

    def act(step: Step, by: str) -> str:
        text, to = ("Looked at.", "") if step is Step.CLOSED else ("", by)
        try:
            return workflow.take(
                significant_id=found.pk, step=step, seen=Work.NEW, assigned="", by=by, text=text, to=to
            ).step
        except workflow.StateChanged as error:
            return str(error)

    return at_once([lambda: act(one, "staff:1"), lambda: act(other, "staff:2")])


def test_without_the_lock_both_would_close_it(found, monkeypatch):
    both, enter = Barrier(2), workflow._enter

    def entering(*one, **said):
        both.wait(timeout=30)
        enter(*one, **said)

    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_how: rows)
    monkeypatch.setattr(workflow, "_enter", entering)
    both_act(found, Step.CLOSED, Step.CLOSED)
    assert SignificantStep.objects.count() == 2


def test_one_step_is_taken_and_the_other_learns_who_was_faster(found):
    said = both_act(found, Step.CLOSED, Step.ASSIGNED)
    (step,) = SignificantStep.objects.all()
    assert step.step in said
    assert [f"{step.by} has changed this event" in each for each in said if each != step.step] == [True]


def test_what_two_acknowledge_is_acknowledged_once(found):
    done = at_once([partial(workflow.acknowledge, significant_ids=[found.pk], by=by) for by in ("staff:1", "2")])
    assert sorted((each.done, each.already) for each in done) == [(0, 1), (1, 0)]
    assert Acknowledged(1, 0) in done
    assert SignificantStep.objects.count() == 1
