"""Report of significant events and alterations (GLI-19 v3.0, 2.9.5), read from the event log."""

from copy import deepcopy
from datetime import datetime

import pytest

from audit import approvals
from audit.models import Category
from audit.reports import alterations
from audit.reports.kinds import Interval, kind_of
from audit.significant import detection
from games.tables import status
from games.tables.default_tables import baccarat_limits
from players.models import LimitKind, Period
from players.protection import exclusions, limits
from tests.builders import a_player, a_table, put_live
from tests.people import a_member_of_staff
from tests.reports_history import a_depositor, ask, clock
from tests.wallet.payout_builders import a_withdrawal, approve

pytestmark = pytest.mark.django_db

CHANGES = {Category.CORRECTION, Category.PARAMETER, Category.ADJUSTMENT, Category.PERSONAL, Category.DEACTIVATION}


def reported(since, **choices):
    """Return the report's rows since a time, by column name."""
    names = [column.name for column in alterations.COLUMNS]
    answer = alterations.answer(ask(Interval(since, clock()), **choices))
    rows = [dict(zip(names, row, strict=True)) for row in answer.rows]
    assert answer.of == len(rows)
    return rows


def only(since, what):
    (row,) = [row for row in reported(since) if row["what"] == what]
    return row


def test_gli19_2_9_5_has_exactly_these_headings():
    kind = kind_of("alterations")
    assert kind is not None
    assert (kind.title, kind.clause) == ("Events and alterations", "GLI-19 v3.0, 2.9.5")
    assert [column.heading for column in kind.columns][:7] == [
        "When",
        "Component",
        "Performed by",
        "Authorised by",
        "Reason",
        "Value before",
        "Value after",
    ]


def test_gli19_2_9_5_says_who_altered_a_table_why_and_from_what_to_what():
    staff, table = a_member_of_staff("operator"), a_table()
    since = clock()
    status.close_table(table_id=table.pk, reason="the cloth is torn", by=str(staff))
    row = only(since, "Table closed")
    assert since.isoformat() <= row["at"] <= clock().isoformat()
    assert row | {"at": "", "event": 0} == {
        "at": "",
        "component": "Tables",
        "by": str(staff),
        "authorised_by": "",
        "reason": "the cloth is torn",
        "before": "open",
        "after": "closed",
        "what": "Table closed",
        "on": f"table:{table.pk}",
        "event": 0,
    }


@pytest.mark.sweep
def test_limits_of_a_table_are_reported_before_and_after():
    table = a_table()
    changed = deepcopy(baccarat_limits())
    low, high = changed["SEK"]["bets"]["tie"]
    changed["SEK"]["bets"]["tie"] = [low, high - changed["SEK"]["step"]]
    since = clock()
    put_live(table_id=table.pk, limits=changed, reason="fewer ties")
    row = only(since, "Rules, limits or timing of a table")
    assert row["before"] == f"limits: SEK: bets: tie: {low}, {high}; number: 1"
    assert row["after"] == f"limits: SEK: bets: tie: {low}, {high - changed['SEK']['step']}; number: 2"
    assert row["reason"] == "fewer ties"


def test_gli19_2_9_5_an_alteration_that_takes_two_was_done_by_the_one_and_authorised_by_the_other():
    player, one, other = a_player("SE"), a_member_of_staff("compliance"), a_member_of_staff("compliance")
    exclusion = exclusions.exclude(player=player, days=30, reason="for a test", by=one)
    since = clock()
    asked = exclusions.ask(exclusion=exclusion, reason="it was the wrong player", by=one)
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    lifted = only(since, "Exclusion lifted")
    assert (lifted["by"], lifted["authorised_by"]) == (str(one), str(other))
    assert (lifted["reason"], lifted["on"]) == ("it was the wrong player", str(player))
    decided = only(since, "Approval decided")
    assert (decided["by"], decided["authorised_by"]) == (str(one), str(other))
    assert (decided["before"], decided["after"]) == ("waiting", "approved")


def test_a_large_withdrawal_names_who_approved_it_first_and_who_second():
    player = a_depositor("SE", 5_000_000)
    withdrawal, one, other = a_withdrawal(player, 2_000_001), a_member_of_staff("finance"), a_member_of_staff("finance")
    since = clock()
    approve(withdrawal, one)
    (asked,) = approvals.waiting().filter(on=str(withdrawal))
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    row = only(since, "Withdrawal approved")
    assert (row["by"], row["authorised_by"], row["reason"]) == (str(one), str(other), "all in order")
    assert (row["before"], row["after"]) == ("awaiting second approval", "approved")


def test_a_limit_is_reported_with_its_period_and_in_order():
    player = a_player("GB")
    since = clock()
    limits.set_limit(player=player, kind=LimitKind.LOSS, period=Period.DAY, amount=5000, by=str(player))
    limits.set_limit(player=player, kind=LimitKind.LOSS, period=Period.DAY, amount=3000, by=str(player))
    first, second = reported(since, component="Limits")
    assert first["before"] == "source: player; kind: loss; period: day; limit: none"
    assert second["before"] == "source: player; kind: loss; period: day; limit: 5000"
    assert second["after"].startswith("source: player; kind: loss; period: day; limit: 3000; from: ")
    assert first["by"] == str(player)


@pytest.mark.sweep
def test_an_interval_ends_before_its_end_and_without_events_there_are_no_rows():
    table = a_table()
    since = clock()
    status.close_table(table_id=table.pk, reason="for a test", by="staff:test")
    (row,) = reported(since, component="Tables")
    at = datetime.fromisoformat(row["at"])
    assert [*alterations.answer(ask(Interval(since, at))).rows] == []
    assert len([*alterations.answer(ask(Interval(at, clock()))).rows]) == 1


def test_every_significant_change_is_reported_as_an_alteration():
    changes = {kind for kind, found in detection.kinds().items() if found and found[0] in CHANGES}
    assert changes
    assert changes <= set(alterations.altering())


def test_nothing_that_no_floor_records_is_reported_as_an_alteration():
    assert set(alterations.altering()) <= set(detection.kinds())
