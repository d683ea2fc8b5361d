"""Significant events are found once, in the order of the sealed log, even if another finder
fails.
"""

import threading
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connections, transaction

from audit import log
from audit.models import Category, Cursor, Event, Leaf, Pulse, Significant, Weight
from audit.sealing import sealer
from audit.significant import builtin, detection
from audit.significant.detection import Limit
from audit.staff_text import english
from tests.people import events

NOTICE = (Category.PARAMETER, Weight.NOTICE, "Something was changed")


def happens(kind="test.significant", **data):
    return log.record(kind, by="staff:1", on="table:1", data=data)


def found(kind="test.significant"):
    return list(Significant.objects.filter(event__kind=kind).order_by("pk"))


def find():
    sealer.seal()
    return detection.find()


@pytest.fixture
def finders(monkeypatch):
    """Register only the finders and kinds of the test."""
    for name, empty in (("_finders", {}), ("_kinds", {}), ("_ordinary", set())):
        monkeypatch.setattr(detection, name, empty)
    detection.register_kinds({"test.significant": NOTICE})
    detection.register("kinds", detection.by_kind)
    return detection


@pytest.mark.django_db
class TestFinding:
    def test_says_what_happened_and_why_it_matters(self, finders):
        event = happens(reason="Why not", before={"limit": 3}, after=[1, None])
        assert find() == 1
        (one,) = found()
        assert (one.category, one.weight, one.title) == NOTICE
        assert (one.event_id, one.on, one.happened_at) == (event, "table:1", Event.objects.get(pk=event).at)
        assert "staff:1" in english(one.because)
        assert {"What": "reason", "Value": "Why not"} in one.rows
        assert {"What": "before limit", "Value": "3"} in one.rows
        assert {"What": "after 2", "Value": "—"} in one.rows

    def test_reads_each_leaf_once(self, finders):
        happens()
        assert [find(), find()] == [1, 0]
        happens()
        happens("test.ordinary")
        assert [find(), find()] == [1, 0]
        assert Cursor.objects.get(name="kinds").leaves == Leaf.objects.count()

    def test_finds_nothing_that_is_not_sealed(self, finders):
        happens()
        assert detection.find() == 0
        assert find() == 1

    def test_begins_with_the_first_leaf_in_bounded_batches(self, finders, monkeypatch):
        monkeypatch.setattr(detection, "BATCH", 2)
        monkeypatch.setattr(detection, "MOST", 2)
        for _ in range(10):
            happens()
        sealer.seal()
        before = Leaf.objects.count() - 10
        Cursor.objects.create(name="kinds", leaves=before)
        assert [detection.find() for _ in range(4)] == [4, 4, 2, 0]
        read: list[detection.Leaves] = []

        def late(leaves):
            read.append(leaves)
            return []

        detection.register("late", late)
        detection.find()
        assert read[0].first == 0

    def test_keeps_what_was_found_twice_as_one(self, finders):
        event = happens()
        find()
        detection.register("kinds again", detection.by_kind)
        assert find() == 0
        assert [each.event_id for each in found()] == [event]

    def test_tells_once_of_a_finder_that_fails_and_lets_the_others_go_on(self, finders):
        def fails(leaves):
            raise ZeroDivisionError

        detection.register("broken", fails)
        happens()
        assert find() == 1
        find()
        (shown,) = events(detection.FAILED)
        assert (shown["data"]["finder"], shown["data"]["error"]) == ("broken", "ZeroDivisionError")
        (alert,) = found(detection.FAILED)
        assert (alert.category, alert.weight) == (Category.ERROR, Weight.ALERT)
        assert Cursor.objects.get(name="kinds").leaves == Leaf.objects.count()
        detection.register("broken", lambda leaves: [])
        find()
        assert Cursor.objects.get(name="broken").leaves == Leaf.objects.count()

    def test_keeps_nothing_of_a_batch_that_fails(self, finders):
        def half(leaves):
            yield from detection.by_kind(leaves)
            raise ZeroDivisionError

        detection.register("kinds", half)
        happens()
        find()
        assert found() == []
        detection.register("kinds", detection.by_kind)
        find()
        assert len(found()) == 1

    def test_stays_as_it_was_found(self, finders):
        happens()
        find()
        (one,) = found()
        changes: list[dict[str, Any]] = [{"title": "Nothing"}, {"rows": []}, {"amount": 1}]
        for change in changes:
            with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
                Significant.objects.filter(pk=one.pk).update(**change)


@pytest.mark.parametrize("has_read", [True, False])
def test_two_at_once_find_it_once_and_none_waits_for_the_other(cloned_db, finders, has_read):
    if has_read:
        detection.find()
    happens()
    sealer.seal()
    inside, go_on = threading.Event(), threading.Event()

    def slow(leaves):
        inside.set()
        go_on.wait(30)
        return detection.by_kind(leaves)

    detection.register("kinds", slow)
    first = []

    def work():
        first.append(detection.find())
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(30)
    second, reads_still = detection.find(), not first
    go_on.set()
    thread.join()
    assert (first, second, reads_still) == ([1], 0, True)
    assert len(found()) == 1


class TestTheClock:
    def test_gli19_2_8_8_a_clock_that_goes_back_is_found(self, cloned_db):
        before, after, later = happens(), happens(), happens()
        with psycopg.connect(cloned_db.superuser_url) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute("UPDATE audit_event SET at = at + interval '1 hour' WHERE id = %s", [before])
        sealer.seal()
        (one,) = builtin.gone_back(detection.Leaves(0, Leaf.objects.count()))
        assert (one.event, one.on, one.weight) == (after, "clock", Weight.ALERT)
        assert later != after

    @pytest.mark.django_db
    def test_gli19_2_8_8_a_worker_that_stood_still_is_found_when_it_goes_on(self):
        builtin.beat("test")
        builtin.beat("test")
        assert not Significant.objects.filter(key__startswith="pulse:test").exists()
        last = Pulse.objects.get(who="test").at - builtin.STILL - timedelta(seconds=1)
        Pulse.objects.filter(who="test").update(at=last)
        builtin.beat("test")
        builtin.beat("test")
        (one,) = Significant.objects.filter(key__startswith="pulse:test")
        assert (one.category, one.weight, one.happened_at) == (Category.STANDSTILL, Weight.ALERT, last)


@pytest.mark.django_db
class TestThresholds:
    BEFORE = Limit(200_000, 1_000_000, 30)
    AFTER = Limit(300_000, 2_000_000, 14)

    def change(self, **asked):
        said: dict[str, Any] = {"what": "deposit", "currency": "EUR", "before": self.BEFORE, "after": self.AFTER}
        detection.change(**said | {"reason": "The law says so", "by": "staff:1"} | asked)

    def test_are_there_for_every_currency(self):
        for what in ("deposit", "withdrawal", "wager", "win"):
            assert set(detection.thresholds(what)) == {"DKK", "EUR", "GBP", "RON", "SEK"}
        assert detection.threshold("deposit", "EUR") == self.BEFORE
        assert detection.threshold("deposit", "XAU") is None

    def test_change_with_a_reason_and_on_record(self):
        self.change()
        assert detection.threshold("deposit", "EUR") == self.AFTER
        (event,) = events("threshold.changed")
        assert (event["on"], event["by"]) == ("threshold:deposit:EUR", "staff:1")
        assert event["data"] == {
            "before": {"single": 200_000, "summed": 1_000_000, "days": 30},
            "after": {"single": 300_000, "summed": 2_000_000, "days": 14},
            "reason": "The law says so",
        }

    @pytest.mark.parametrize(
        "asked",
        [
            {"reason": " "},
            {"before": AFTER},
            {"after": BEFORE},
            {"after": Limit(0, 5, 1)},
            {"after": Limit(6, 5, 1)},
            {"after": Limit(5, 6, 0)},
            {"after": Limit(5, 6, 367)},
            {"currency": "XAU"},
        ],
    )
    def test_do_not_change_otherwise(self, asked):
        with pytest.raises(detection.ThresholdError):
            self.change(**asked)
        assert detection.threshold("deposit", "EUR") == self.BEFORE
        assert events("threshold.changed") == []
