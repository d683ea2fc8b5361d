"""An alarm is raised once, closes tables only where somebody has said so, and never for what is fair."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import inf, log
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from audit.models import Event
from games.engine.evidence import BIAS, bet_test, biased, rounds_to_find
from games.fairness.returns.monitor import WITHOUT_END, check_returns, set_stop, written
from games.models import Evidence, ReturnsAlarm, Status, StopPolicy, Table, TableVersion
from games.tables.checks import TableError
from games.variants import VARIANTS
from tests.builders import a_golden_table, a_table
from tests.harness.owner import one_as_owner

pytestmark = pytest.mark.django_db
HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC)
BANKER = bet_test(VARIANTS["baccarat"], "banker")


def summed_up(table: Table, hour: datetime = HOUR, mode: str = "R", /, **endings: int) -> None:
    """Record the results of Banker bets in an hour: ``won`` 19:20, ``pushed``, ``lost``, ``other``."""
    names = {"won": "19:20", "pushed": "0:1"}
    Evidence.objects.bulk_create(
        Evidence(
            hour=hour, version=table.version, mode=mode, bet="banker", gain=names.get(ending, ending), rounds=rounds
        )
        for ending, rounds in endings.items()
    )


def of_exact_chances(rounds: int, chances: Mapping[str, Fraction] = BANKER.chances) -> dict[str, int]:
    names = {"won": "19:20", "pushed": "0:1", "lost": "lost"}
    return {ending: round(rounds * chances[name]) for ending, name in names.items()}


def two_points_more(rounds: int) -> dict[str, int]:
    return of_exact_chances(rounds, biased(BANKER, BIAS))


def reported(kind: str) -> list[dict[str, Any]]:
    events = Event.objects.filter(kind=kind).order_by("pk")
    return [json.loads(bytes(event.body)) for event in events]


def test_returns_as_they_should_be_raise_no_alarm():
    summed_up(a_table(), **of_exact_chances(1_000_000))
    assert check_returns() == []
    assert not reported("returns.alarm")


def test_gli19_a_6_2_a_bias_that_adds_up_over_tables_and_hours_raises_one_alarm_in_a_life():
    within = rounds_to_find(VARIANTS["baccarat"], "banker")
    early, late = two_points_more(within // 4), two_points_more(within - within // 4)
    summed_up(a_table("one"), **early)
    assert check_returns() == []
    summed_up(a_table("other"), HOUR + timedelta(hours=5), **late)
    (alarm,) = check_returns()
    assert (alarm.variant, alarm.rules_digest, alarm.mode) == ("baccarat", VARIANTS["baccarat"].digest, "R")
    assert alarm.rounds == sum(early.values()) + sum(late.values())
    assert alarm.stopped == []
    assert Table.objects.filter(status=Status.OPEN).count() == 2
    assert check_returns() == []
    (event,) = reported("returns.alarm")
    assert event["on"] == "game:baccarat"
    assert event["by"] == "system"
    said = event["data"]
    assert said["evidence"] == alarm.evidence
    assert said["bets"]["banker"][0] == str(alarm.rounds)
    assert float(said["bets"]["banker"][1]) > float(said["bets"]["banker"][2]) == 98.9883


def test_kinds_of_money_have_lives_of_their_own():
    table = a_table()
    summed_up(table, HOUR, "F", other=1)
    summed_up(table, HOUR, "R", **of_exact_chances(1_000))
    assert [alarm.mode for alarm in check_returns()] == ["F"]
    summed_up(table, HOUR + timedelta(hours=1), "R", other=1)
    assert [alarm.mode for alarm in check_returns()] == ["R"]


def test_gli19_a_6_2_an_alarm_closes_the_tables_of_its_game_where_a_supervisor_has_said_so():
    table, second, golden = a_table("one"), a_table("two"), a_golden_table()
    assert set_stop(variant="baccarat", stops=True, reason="We look first.", by="staff:7")
    summed_up(table, other=1)
    (alarm,) = check_returns()
    assert alarm.stopped == ["one", "two"]
    assert alarm.evidence == WITHOUT_END
    assert set(Table.objects.filter(status=Status.OPEN)) == {golden}
    closed = reported("table.closed")[-2:]
    assert [event["on"] for event in closed] == [f"table:{table.pk}", f"table:{second.pk}"]
    assert "RTP of baccarat" in closed[0]["data"]["reason"]


def test_rules_that_the_program_has_no_more_raise_nothing():
    table = a_table(is_open=False)
    table.version = one_as_owner(
        TableVersion(table=table, number=2, rules_digest="0" * 64, limits={}, jurisdictions=["SE"], modes=["R"])
    )
    summed_up(table, other=1)
    assert check_returns() == []


class TestThePolicy:
    """Policy of staff on whether an alarm closes tables, with a reason."""

    def test_it_is_recorded_with_what_held_before(self):
        set_stop(variant="pairs", stops=True, reason=" To be sure. ", by="staff:7")
        set_stop(variant="pairs", stops=False, reason="Too many calls.", by="staff:8")
        first, second = reported("returns.stop_policy")[-2:]
        assert first["data"] == {"after": True, "before": False, "reason": "To be sure."}
        assert second["data"] == {"after": False, "before": True, "reason": "Too many calls."}
        policy = StopPolicy.objects.get()
        assert (policy.variant, policy.stops, policy.by) == ("pairs", False, "staff:8")

    def test_saying_it_twice_changes_nothing(self):
        before = len(reported("returns.stop_policy"))
        assert not set_stop(variant="pairs", stops=False, reason="As it is.", by="staff:7")
        assert not StopPolicy.objects.exists()
        assert len(reported("returns.stop_policy")) == before

    def test_it_takes_a_reason_and_a_game_with_a_house(self):
        with pytest.raises(TableError):
            set_stop(variant="pairs", stops=True, reason=" ", by="staff:7")
        with pytest.raises(KeyError):
            set_stop(variant="chemin_de_fer", stops=True, reason="Why not.", by="staff:7")


@pytest.mark.parametrize(
    ("evidence", "words"),
    [(0.5, "0.50"), (9.994, "9.99"), (110.2, "110"), (123_456, "123,456"), (2e57, "10^57")],
)
def test_evidence_is_written_for_people(evidence, words):
    assert written(log(evidence)) == words
    assert written(inf) == WITHOUT_END


@pytest.mark.parametrize("rows", [ReturnsAlarm, Evidence])
def test_what_was_put_down_is_never_changed(rows):
    summed_up(a_table(), other=1)
    check_returns()
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.objects.update(rounds=7)
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.objects.all()._raw_delete("default")
    assert rows.objects.get().rounds == 1
