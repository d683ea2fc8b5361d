"""Events that a web or worker login hides from detection are found the following night."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from audit import log
from audit.models import Category, Cursor, Event, Leaf, Significant, Threshold, Weight
from audit.sealing import sealer
from audit.significant import detection, workflow
from audit.significant.detection import Limit
from tests.audit.test_significant_finding import NOTICE, find, finders, found, happens
from tests.people import events

pytestmark = pytest.mark.django_db

__all__ = ["finders"]


@pytest.fixture
def alarmed(finders):
    """The finders of the test, and the kind for late findings."""
    detection.register_kinds({detection.MISSED: NOTICE})
    return finders


def pass_over():
    """Advance detection past all events without calling a finder."""
    sealer.seal()
    detection._enrol(detection._finders)
    Cursor.objects.update(leaves=Leaf.objects.count())


def test_finds_nothing_where_everything_was_found(alarmed):
    happens()
    find()
    assert detection.scan() == 0
    assert not events(detection.MISSED)


def test_finds_what_a_finder_was_moved_past_and_reports_it_once(alarmed):
    event = happens()
    pass_over()
    assert find() == 0
    assert detection.scan() == 1
    assert [each.event_id for each in found()] == [event]
    (shown,) = events(detection.MISSED)
    assert shown["data"] == {"late": 1, "late_keys": [f"event:{event}"], "other": 0, "other_keys": []}
    find()
    assert len(found(detection.MISSED)) == 1
    assert detection.scan() == 0


def test_finds_a_row_inserted_beforehand(alarmed):
    event = Event.objects.get(pk=happens())
    detection.keep(
        detection.Found(
            f"event:{event.pk}", Category.LOG_IN, Weight.NOTICE, event.on, "Nothing", event.at, event=event.pk
        )
    )
    assert find() == 0
    assert detection.scan() == 1
    assert [each.category for each in found()] == [Category.LOG_IN, NOTICE[0]]
    (shown,) = events(detection.MISSED)
    assert shown["data"]["other_keys"] == [f"event:{event.pk}"]
    assert detection.scan() == 0


def test_what_is_not_read_yet_is_found_in_time(alarmed):
    event = happens()
    sealer.seal()
    assert detection.scan() == 0
    find()
    assert [each.event_id for each in found()] == [event]


def test_a_finder_that_fails_holds_up_no_other(alarmed):
    def fails(leaves):
        raise ZeroDivisionError

    detection.register("broken", fails)
    happens()
    pass_over()
    assert detection.scan() == 1


def test_amounts_that_were_no_large_ones_before_thresholds_changed_are_not_late(alarmed, monkeypatch):
    detection.register("amounts", lambda leaves: detection.by_kind(leaves) if not leaves.first else [])
    monkeypatch.setattr(detection, "_always", {"kinds"})
    monkeypatch.setattr(detection, "_kinds", {"test.amount": NOTICE})
    detection.register("kinds", lambda leaves: [])
    happens("test.amount")
    sealer.seal()
    first = Leaf.objects.earliest("leaf").leaf
    assert first == 0
    pass_over()
    was = detection.threshold("win", "SEK")
    assert was
    change(was, Limit(was.single + 1, was.summed + 1, was.days))
    assert detection.scan() == 0


def change(before, after):
    detection.change(what="win", currency="SEK", before=before, after=after, reason="for a test", by="staff:1")


@pytest.mark.parametrize(
    "said",
    [
        {"event": None},
        {"on": "staff:9"},
        {"happened_at": timedelta(days=1)},
        {"key": "event:999999999"},
    ],
)
def test_no_row_has_the_key_of_an_event_about_something_else(said):
    event = Event.objects.get(pk=happens())
    right = {"key": f"event:{event.pk}", "on": event.on, "happened_at": event.at, "event": event.pk}
    if "happened_at" in said:
        said = {"happened_at": event.at + said["happened_at"]}
    with pytest.raises(DatabaseError, match="is not what was found"), transaction.atomic():
        detection.keep(detection.Found(category=Category.ERROR, weight=Weight.NOTICE, title="Nothing", **right | said))


@pytest.mark.parametrize("change", [{"state": "closed"}, {"state": "seen"}, {"assigned_to": "staff:9"}])
def test_nothing_becomes_of_what_was_found_without_a_word_in_the_log(finders, change):
    happens()
    find()
    (one,) = found()
    with pytest.raises(DatabaseError, match="the log does not say"), transaction.atomic():
        Significant.objects.filter(pk=one.pk).update(**change)
    workflow.acknowledge(significant_ids=[one.pk], by="staff:1")
    with pytest.raises(DatabaseError, match="the log does not say"), transaction.atomic():
        Significant.objects.filter(pk=one.pk).update(state="closed", assigned_to="staff:9")


def test_no_threshold_changes_without_a_word_in_the_log():
    with pytest.raises(DatabaseError, match="the log does not say"), transaction.atomic():
        Threshold.objects.filter(what="win", currency="SEK").update(single=9_000_000_000)
    was = detection.threshold("win", "SEK")
    assert was
    change(was, Limit(was.single + 1, was.summed + 1, was.days))
    with pytest.raises(DatabaseError, match="the log does not say"), transaction.atomic():
        Threshold.objects.filter(what="win", currency="SEK").update(single=9_000_000_000)


@pytest.mark.parametrize("leaves", [-1, 1])
def test_no_finder_has_read_what_is_not_sealed_or_forgets(finders, leaves):
    log.record("test.ordinary", by="system", on="test", data={})
    find()
    with pytest.raises(DatabaseError, match="cannot have read"), transaction.atomic():
        Cursor.objects.update(leaves=Leaf.objects.count() + leaves)
