"""The report of responsible gaming: who did what, when, from when to when, and why."""

import pytest
from django.utils.timezone import now

from audit import approvals
from audit.reports.files import in_english
from audit.reports.kinds import Interval
from players import cases, reports
from players.models import Case, CaseAction, CaseKind, ContactWay, LimitKind, Marker, Period
from players.protection import exclusions, harm_markers, limits, play_sessions, registers
from tests.builders import a_player
from tests.people import a_member_of_staff
from tests.reports_history import ask, clock

pytestmark = pytest.mark.django_db


def read(since, **choices):
    """Return the rows by column name, and the counts below them."""
    names = [column.name for column in reports.COLUMNS]
    answer = reports.answer(ask(Interval(since, clock()), **choices))
    rows = [dict(zip(names, in_english(row), strict=True)) for row in answer.rows]
    assert answer.of == len(rows)
    return rows, {row[3]: row[4] for row in map(in_english, answer.totals())}


def test_an_exclusion_is_listed_with_beginning_end_reason_and_author():
    player, staff = a_player("SE"), a_member_of_staff("compliance")
    since = clock()
    exclusion = exclusions.exclude(player=player, days=30, reason="asked on the telephone", by=staff)
    ((row,), counts) = read(since)
    assert (row["player"], row["by"], row["reason"]) == (str(player), str(staff), "asked on the telephone")
    assert exclusion.until
    assert (row["begun"], row["ended"]) == (exclusion.begun.isoformat(), exclusion.until.isoformat())
    assert row["which"] == f"Exclusion by the casino, number {exclusion.pk}"
    assert counts == {"Exclusion or pause started": "1 in total"}


def test_a_lifted_one_names_both_who_asked_and_who_agreed():
    player, one, other = a_player("SE"), a_member_of_staff("compliance"), a_member_of_staff("compliance")
    exclusion = exclusions.exclude(player=player, days=30, reason="for a test", by=one)
    asked = exclusions.ask(exclusion=exclusion, reason="the wrong player", by=one)
    since = clock()
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    ((row,), _) = read(since)
    assert (row["what"], row["by"], row["reason"]) == ("Exclusion lifted", f"{one}, {other}", "the wrong player")
    assert row["ended"] == row["at"]


def test_one_for_good_has_no_end():
    player = a_player("SE")
    since = clock()
    exclusions.exclude_self(player=player, months=None, by=str(player))
    ((row,), _) = read(since)
    assert (row["after"], row["ended"], row["by"]) == ("permanent", None, str(player))


def test_a_limit_that_waits_says_from_when_on_it_holds():
    player = a_player("SE")
    limits.set_limit(player=player, kind=LimitKind.LOSS, period=Period.DAY, amount=50_000, by=str(player))
    since = clock()
    change = limits.set_limit(player=player, kind=LimitKind.LOSS, period=Period.DAY, amount=80_000, by=str(player))
    limits.withdraw_change(player=player, kind=LimitKind.LOSS, period=Period.DAY, by=str(player))
    ((raised, withdrawn), counts) = read(since, subject=reports.LIMITS)
    assert (raised["before"], raised["after"]) == ("500.00 SEK", "800.00 SEK")
    assert raised["begun"] == change.effective_at.isoformat() > raised["at"]
    assert raised["which"] == "loss per day, set by the player"
    assert withdrawn["what"] == "Pending change withdrawn"
    assert counts == {"Limit set, changed or removed": "1 in total", "Pending change withdrawn": "1 in total"}


def test_time_is_given_in_hours_and_a_removed_limit_as_none():
    player = a_player("DK")
    since = clock()
    limits.set_limit(player=player, kind=LimitKind.TIME, period=Period.DAY, amount=5400, by=str(player))
    ((row,), _) = read(since)
    assert (row["before"], row["after"]) == ("none", "1.50 hours")


def test_reality_checks_markers_contacts_and_registers_are_listed():
    player, staff = a_player("SE"), a_member_of_staff("compliance")
    since = clock()
    play_sessions.choose_interval(player=player, minutes=30)
    cases.open_case(player.pk, CaseKind.MARKER, subject=Marker.NIGHTS.value)
    case = Case.objects.get(player=player)
    harm_markers.record_contact(
        case_id=case.pk, made_at=now(), way=ContactWay.PHONE, said="x", next_review=None, by=staff
    )
    cases.act(case=case, action=CaseAction.CLOSED, by=staff, to="talked", words="well")
    registers.ask(player)
    rows, _ = read(since)
    shown = [(row["subject"], row["which"], row["after"], row["by"]) for row in rows]
    assert shown[:3] == [
        ("Reality checks", "reality check", "every 30 minutes", str(player)),
        ("Markers of harm", f"case {case.pk}", "by phone", str(staff)),
        ("Markers of harm", f"Frequent night play, case {case.pk}", "talked", str(staff)),
    ]
    assert [subject for subject, *_ in shown[3:]] == ["Registers"] * len(shown[3:])
    assert all(row["player"] == str(player) for row in rows)


def test_of_an_interval_without_any_it_says_nothing():
    since = clock()
    assert read(since) == ([], {})
