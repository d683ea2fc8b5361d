"""The house stop page: permissions, required fields, texts, and the alarm on every back office
page.
"""

import html

import pytest
from django.test import Client
from django.urls import reverse

from backoffice.lists.paging import PAGE
from players.models import Staff
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.stopped import REASON as EARLIER
from tests.wallet.stopped import go_on, stop
from wallet import house_stop
from wallet.models import HouseStop

pytestmark = pytest.mark.django_db
REASON = "The authority called."
ON_EVERY_PAGE = "House stop since"


def at(member: Staff) -> Client:
    visitor = a_visitor()
    visitor.force_login(member.user)
    return visitor


def send(visitor: Client, page: str, **form: str) -> str:
    return html.unescape(visitor.post(reverse(page), form, follow=True).text)


@pytest.fixture
def supervisor() -> Staff:
    return a_member_of_staff("supervisor", name="Ada Berg")


def test_gli19_2_4_1_a_supervisor_stops_the_house_and_lets_it_go_on_with_reasons(supervisor: Staff) -> None:
    visitor = at(supervisor)
    assert "No house stop is in force." in visitor.get("/staff/stop/").text
    said = send(visitor, "staff_stop_house", reason=REASON, sure="on")
    assert "House stop started. All new stakes and deposits are blocked." in said
    assert f"by Ada Berg ({supervisor}): {REASON}" in said
    assert "End house stop" in said
    assert events("house.stopped")[-1]["data"]["reason"] == REASON
    said = send(visitor, "staff_stop_end", reason="All is well.", sure="on")
    assert "House stop ended" in said
    assert "No house stop is in force." in said
    assert "All is well." in said  # in the list of earlier stops
    assert events("house.resumed")[-1]["data"]["reason"] == "All is well."


@pytest.mark.sweep
@pytest.mark.parametrize("wrong", [{"reason": " "}, {"sure": ""}], ids=["reason", "sure"])
@pytest.mark.parametrize("has_stopped", [False, True], ids=["stop", "go on"])
def test_takes_a_reason_and_a_confirmation_and_keeps_what_was_typed(
    supervisor: Staff, wrong: dict[str, str], has_stopped: bool
) -> None:
    if has_stopped:
        stop()
    page = "staff_stop_end" if has_stopped else "staff_stop_house"
    said = send(at(supervisor), page, **{"reason": REASON, "sure": "on"} | wrong)
    assert ("Enter a reason" in said, "Tick the confirmation." in said) == ("reason" in wrong, "sure" in wrong)
    assert (REASON in said) == ("sure" in wrong)
    assert (house_stop.current() is not None) == has_stopped


def test_the_second_is_informed_and_records_nothing(supervisor: Staff) -> None:
    first = stop()
    said = send(at(supervisor), "staff_stop_house", reason=REASON, sure="on")
    assert "A house stop is already in force. Your reason was not recorded." in said
    assert house_stop.current() == first
    go_on()
    said = send(at(supervisor), "staff_stop_end", reason=REASON, sure="on")
    assert "No house stop is in force. Your reason was not recorded." in said
    assert len(events("house.resumed")) == 1


def test_compliance_reads_it_and_stops_nothing() -> None:
    stop()
    go_on()
    visitor = at(a_member_of_staff("compliance"))
    text = visitor.get("/staff/stop/").text
    assert "Earlier stops" in text
    assert "Start house stop" not in text
    for page in ("staff_stop_house", "staff_stop_end"):
        assert visitor.post(reverse(page), {"reason": REASON, "sure": "on"}).status_code == 403
    assert HouseStop.objects.count() == 1


@pytest.mark.sweep
@pytest.mark.parametrize(
    "role", sample(["operator", "supervisor", "finance", "compliance", "support", "administrator"], 2)
)
def test_every_page_of_the_back_office_says_so_while_it_lasts(role: str) -> None:
    visitor = at(a_member_of_staff(role))
    assert ON_EVERY_PAGE not in visitor.get("/staff/").text
    stop()
    text = visitor.get("/staff/").text
    assert text.count(ON_EVERY_PAGE) == 1
    assert "Play is stopped" not in text  # the banner is for players; staff would read it twice
    assert ("/staff/stop/" in text) == (role in {"supervisor", "compliance"})
    go_on()
    assert ON_EVERY_PAGE not in visitor.get("/staff/").text


@pytest.mark.sweep
def test_earlier_stops_are_all_found_newest_first(supervisor: Staff) -> None:
    for number in range(PAGE + 2):
        stop(reason=f"stop {number}.", by=supervisor)
        go_on(by=supervisor)
    visitor = at(supervisor)
    first = visitor.get("/staff/stop/")
    assert "stop 0." not in first.text
    assert first.text.index(f"stop {PAGE + 1}.") < first.text.index(f"stop {PAGE}.")
    second = visitor.get(f"/staff/stop/?before={first.context['page'].older}").text
    assert "stop 0." in second
    assert "stop 1." in second
    assert f"stop {PAGE}." not in second


@pytest.mark.sweep
@pytest.mark.parametrize("key", ["x", "-1", "9" * 40])
def test_an_invalid_cursor_shows_the_newest(supervisor: Staff, key: str) -> None:
    stop()
    go_on()
    assert EARLIER in at(supervisor).get(f"/staff/stop/?before={key}").text
