"""Changes of national rules: read by every role, requested by one, approved by another, in force at once."""

from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse

from audit import approvals
from audit.reports.alterations import altering
from players.models import Exclusion, Jurisdiction, NationalRuleChange, RuleSource
from players.protection import national_rules
from tests.builders import a_player
from tests.casino.two_people import NationalRule, browser_of, decide, decide_on_the_page
from tests.harness.owner import as_owner
from tests.people import ROLES, a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

PAUSE = ["SE", "pause_hours"]


def change(rule, value, source=RuleSource.CHOICE, code="SE"):
    """Ask and decide; return the request."""
    one, other = a_member_of_staff("compliance"), a_member_of_staff("administrator")
    where = Jurisdiction.objects.get(pk=code)
    asked = national_rules.ask(where=where, rule=rule, value=value, source=source, reason="a new law", by=one)
    decide(asked, other)
    return asked


def ask_on_the_page(rule=PAUSE, role="compliance", **sent):
    page = reverse("staff_rule_change", args=rule)
    filled = {"value": "48", "source": "R", "reason": "a new law"} | sent
    return browser_of(a_member_of_staff(role)).post(page, filled)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_reads_all_rules_with_their_source(role):
    page = browser_of(a_member_of_staff(role)).get(reverse("staff_rules")).text
    for field in national_rules.RULES.values():
        assert f"{field.verbose_name}"[1:] in page
    assert "10,000.00 SEK" in page
    assert "[R]" in page
    assert "[S]" in page
    assert (reverse("staff_rule_change", args=PAUSE) in page) == (role == "compliance")


def test_a_change_holds_at_the_next_request_in_a_session_that_runs():
    player = a_player()
    browser = a_visitor()
    browser.force_login(player.user)
    browser.get(reverse("protection"))
    asked = change("pause_hours", 48, RuleSource.READ)
    browser.post(reverse("pause"), {"sure": "on"})
    (pause,) = Exclusion.objects.filter(player=player)
    assert pause.until == pause.begun + timedelta(hours=48)
    (event,) = events(national_rules.CHANGED, on="rule:SE:pause_hours")
    assert event["data"] == {
        "approval": asked.pk,
        "asked_by": asked.by,
        "reason": "a new law",
        "before": {"value": 24, "source": "S"},
        "after": {"value": 48, "source": "R"},
    }
    assert national_rules.CHANGED in altering()


def test_the_history_names_both_people_and_the_reason():
    asked = change("highest_month_deposit", 500_000, code="DE")
    page = browser_of(a_member_of_staff("operator")).get(reverse("staff_rules")).text
    for said in ("Maximum deposits per month", "1,000.00 EUR", "5,000.00 EUR", "a new law", asked.by):
        assert said in page
    elsewhere = browser_of(a_member_of_staff("operator")).get(reverse("staff_rules") + "?jurisdiction=SE").text
    assert "No rule of this jurisdiction has been changed." in elsewhere


@pytest.mark.parametrize(
    ("rule", "value", "said"),
    [
        ("pause_hours", "0", "The time must be more than zero."),
        ("pause_hours", "soon", "Enter a whole number."),
        ("pause_hours", "99999", "less than or equal to 32767"),
        ("raise_after_hours", "23", "A looser limit waits at least 24 hours."),
        ("deposit_periods", "day, year", "The periods are day, week and month"),
        ("deposit_periods", " , ", "cannot be blank"),
        ("deposit_limits", "never", "Select a valid choice"),
        ("highest_month_deposit", "0", "zero"),
        ("minimum_age", "17", "Players must be at least 18 years old."),
        ("permanent_days", "29", "not reopened before"),
    ],
)
def test_a_bad_value_is_refused_with_a_reason(rule, value, said):
    answer = ask_on_the_page(["SE", rule], value=value)
    assert answer.status_code == 200
    assert said in answer.text
    assert not approvals.waiting().exists()


@pytest.mark.parametrize(
    ("rule", "value", "stored"),
    [
        ("deposit_periods", "week, month, week", ["week", "month"]),
        ("highest_month_deposit", "1,500.50", 150_050),
        ("contact_above_month", "", None),
        ("pause_asks", "no", False),
        ("deposit_limits", "offered", "offered"),
    ],
)
def test_each_kind_of_value_is_stored_as_it_was_typed(rule, value, stored):
    ask_on_the_page(["SE", rule], value=value)
    decide(approvals.waiting().get(), a_member_of_staff("administrator"))
    assert getattr(Jurisdiction.objects.get(pk="SE"), rule) == stored


def test_a_reason_and_a_change_are_demanded():
    assert "Enter a reason" in ask_on_the_page(reason=" ").text
    assert "already has this value" in ask_on_the_page(value="24", source="S").text
    assert ask_on_the_page(value="24", source="R").status_code == 302  # another source alone is a change


@pytest.mark.parametrize("rule", [*national_rules.FIXED, "code", "unknown"])
def test_what_comes_with_the_release_has_no_form(rule):
    assert ask_on_the_page(["SE", rule]).status_code == 404


def test_a_request_that_is_outdated_changes_nothing():
    action = NationalRule()
    asked = action.ask(a_member_of_staff("compliance"))
    as_owner("UPDATE players_jurisdiction SET pause_hours = 36 WHERE code = 'SE'")
    decider = a_member_of_staff("administrator")
    with pytest.raises(approvals.CannotExecute, match="has changed since"):
        decide(asked, decider)
    assert action.hours() == 36
    assert not NationalRuleChange.objects.filter(approval=asked).exists()


def test_an_approval_changes_the_rule_once():
    asked = change("pause_hours", 48, RuleSource.SECOND_HAND)
    change("pause_hours", 24, RuleSource.SECOND_HAND)
    with pytest.raises(Exception, match="is not as approval"), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM players_change_national_rule(%s)", [asked.pk])


def test_a_decider_without_the_role_is_refused():
    action = NationalRule()
    asked = action.ask(a_member_of_staff("compliance"))
    decide_on_the_page(asked, a_member_of_staff("supervisor"))
    assert not action.is_done()
