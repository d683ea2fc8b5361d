"""Actions on many rows of a list: the preview, the reason, the result of each row, and concurrent
staff.
"""

from datetime import UTC, datetime
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from audit.models import Category, Significant, SignificantStep, Weight, Work
from audit.significant import detection, workflow
from backoffice.audit.significant import SignificantEvents
from backoffice.lists.actions import Action, Outcome, Plan, carry_out
from backoffice.lists.games import Tables
from backoffice.lists.index import LISTS
from backoffice.lists.staff_list import StaffList
from games.models import Table
from games.tables.checks import TableError
from tests.builders import a_player, a_table
from tests.harness.owner import update_as_owner
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.test_at_once import at_once

SIGNIFICANT = "/staff/significant/"
TABLES = "/staff/lists/games/table/"
ACKNOWLEDGE = SignificantEvents.actions[0]
CLOSE = Tables.actions[0]


def some_significant(count: int = 2) -> list[Significant]:
    happened = datetime(2026, 7, 8, 12, tzinfo=UTC)
    for number in range(count):
        detection.keep(
            detection.Found(
                str(number), Category.ERROR, Weight.NOTICE, "ledger", f"Title {number}", happened_at=happened
            )
        )
    return list(Significant.objects.order_by("pk"))


def visit(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def do(visitor: Client, address: str, action: str, rows: list[Any], **form: str) -> Any:
    return visitor.post(address, {"action": action, "chosen": [str(row.pk) for row in rows], **form})


@pytest.mark.django_db
def test_what_was_acknowledged_at_once_keeps_why_with_each_and_the_log_does_not():
    new, seen = some_significant()
    workflow.acknowledge(significant_ids=[seen.pk], by="staff:1")
    visitor = visit("compliance")
    page = do(visitor, SIGNIFICANT, "acknowledge", [new, seen])
    assert "Acknowledge: 1 of 2" in page.text
    assert "“Title 0” will be acknowledged." in page.text
    assert "<strong>Skipped:</strong> Already acknowledged." in page.text
    assert "Stored as your comment on each event." in page.text
    assert Significant.objects.get(pk=new.pk).state == Work.NEW
    refused = do(visitor, SIGNIFICANT, "acknowledge", [new, seen], confirm="yes")
    assert "Enter a reason. It is recorded." in refused.text
    done = do(visitor, SIGNIFICANT, "acknowledge", [new, seen], confirm="yes", reason="Called the player")
    assert "Acknowledge: done for 1 of 2" in done.text
    assert "<strong>Not done:</strong> Already acknowledged." in done.text
    step = SignificantStep.objects.get(significant=new)
    assert (step.text, Significant.objects.get(pk=new.pk).state) == ("Called the player", Work.SEEN)
    (event,) = events("significant.acknowledged", on=f"significant:{new.pk}")
    assert "Called" not in str(event)
    assert "Called the player" in visitor.get(f"/staff/significant/{new.pk}/").text


@pytest.mark.django_db
def test_what_is_handled_as_a_case_is_not_said_to_be_closed():
    player = a_player()
    happened = datetime(2026, 7, 8, 12, tzinfo=UTC)
    alert = detection.Found("1", Category.LAUNDERING, Weight.ALERT, str(player), "Unplayed", happened_at=happened)
    detection.keep(alert)
    found, visitor = Significant.objects.get(), visit("compliance")
    page = do(visitor, SIGNIFICANT, "close", [found])
    assert "Close: 0 of 1" in page.text
    assert "<strong>Skipped:</strong> Already handled as a case." in page.text
    inbox = visitor.get("/staff/significant/?state=case").text
    assert "Unplayed" in inbox
    assert 'name="chosen"' not in inbox


@pytest.mark.django_db
def test_what_was_chosen_in_a_narrowed_list_leads_back_to_it():
    (new, _) = some_significant()
    visitor = visit("compliance")
    narrowed = f"{SIGNIFICANT}?state=new"
    assert f'action="{narrowed}"' in do(visitor, narrowed, "acknowledge", [new]).text
    assert f'href="{narrowed}"' in do(visitor, narrowed, "acknowledge", [new], confirm="yes", reason="Seen").text


@pytest.mark.django_db
def test_what_one_row_refuses_stops_no_other():
    tables = [a_table(), a_table("pairs"), a_table("no_commission")]

    def fails_in_the_middle(table: Table, reason: str, by: str) -> None:
        update_as_owner(Table.objects.filter(pk=table.pk), name=f"Changed {table.pk}")
        if table.pk == sorted(each.pk for each in tables)[1]:
            raise TableError("Not this one.")

    action = Action("x", "X", "x", "x", lambda row: Plan("It is changed."), fails_in_the_middle, (TableError,))
    rows = Table.objects.filter(pk__in=[each.pk for each in tables]).order_by("pk")
    found = carry_out(action, rows, reason="x", by="staff:1")
    assert [(each.is_done, each.what) for each in found] == [
        (True, "It is changed."),
        (False, "Not this one."),
        (True, "It is changed."),
    ]
    assert [table.name.startswith("Changed") for table in rows.all()] == [True, False, True]


def by_two(action: Action, rows: QuerySet[Any]) -> list[Outcome]:
    """Return the outcomes for two staff members who act on one row at the same moment."""
    both = [partial(carry_out, action, rows.all(), reason="x", by=by) for by in ("staff:1", "staff:2")]
    return [outcome for (outcome,) in at_once(both)]


def test_without_the_lock_two_would_both_report_that_they_closed_it(cloned_db, monkeypatch):
    table, both = a_table(), Barrier(2)

    def planned(row: Table) -> Plan:
        both.wait(timeout=30)
        return Plan("It takes no more bets.", is_skipped=not row.is_open)

    lock = QuerySet.select_for_update
    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **how: rows if how.get("of") else lock(rows, **how))
    action = Action("close", "Close", "x", "x", planned, CLOSE.do, CLOSE.refusals)
    rows = Table.objects.filter(pk=table.pk)
    found = by_two(action, rows)
    assert [outcome.is_done for outcome in found] == [True, True]


def test_of_two_at_once_the_second_is_informed_of_the_first(cloned_db):
    found = by_two(CLOSE, Table.objects.filter(pk=a_table().pk))
    assert sorted((each.is_done, each.what) for each in found) == [
        (False, "Already closed."),
        (True, "Will be closed. A round in progress is completed."),
    ]
    assert len(events("table.closed")) == 1


def test_what_two_acknowledge_in_lists_is_acknowledged_by_one(cloned_db):
    (found,) = some_significant(1)
    rows = Significant.objects.filter(pk=found.pk)
    done = by_two(ACKNOWLEDGE, rows)
    assert sorted(outcome.is_done for outcome in done) == [False, True]
    assert SignificantStep.objects.get().text == "x"


@pytest.mark.django_db
def test_every_action_is_shown_first_and_takes_a_reason():
    """In every list, selecting rows alone changes nothing."""
    listings: list[type[StaffList]] = [*LISTS, SignificantEvents]
    assert {action.name for listing in listings for action in listing.actions} == {
        "end",
        "close",
        "open",
        "acknowledge",
        "revoke",
    }
    for listing in listings:
        for action in listing.actions:
            assert action.permission
            assert action.meaning
            assert action.reason_help
    table = a_table()
    page = do(visit("supervisor"), TABLES, "close", [table], reason="typed, and not confirmed")
    assert "What will happen" in page.text
    assert Table.objects.get(pk=table.pk).is_open


@pytest.mark.django_db
def test_the_administrator_who_sees_no_list_is_led_to_none():
    visitor = visit("administrator")
    assert "/staff/lists/" not in visitor.get("/staff/").text
    assert "/staff/lists/" in visit("support").get("/staff/").text
    assert "Your role has no access to any list." in visitor.get("/staff/lists/").text
