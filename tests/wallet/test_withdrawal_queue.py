"""The queue of withdrawals: pages, filters, and counts without reading all past withdrawals."""

import pytest

from backoffice.money import withdrawals as views
from backoffice.money.withdrawals import Withdrawals
from tests.builders import a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.staff_lists import asked_for
from tests.wallet.payout_builders import MONEY, a_withdrawal, approve
from wallet import withdrawals
from wallet.models import WithdrawalStatus

pytestmark = pytest.mark.django_db


@pytest.fixture
def finance():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance").user)
    return visitor


def some(count, amount=10_000):
    player = a_verified_player(real=MONEY)
    return [a_withdrawal(player, amount) for _ in range(count)]


def refused(withdrawal):
    return withdrawals.refuse(withdrawal_id=withdrawal.pk, by="staff:1", code="holder", note="for a test")


def found(**query):
    """Return the withdrawals on the page that is asked for."""
    return list(asked_for(Withdrawals, **query).page.rows)


def test_what_waits_is_walked_through_longest_first(monkeypatch):
    monkeypatch.setattr(Withdrawals, "size", 2)
    made = some(5)
    first = asked_for(Withdrawals).page
    second = asked_for(Withdrawals, after=first.newer).page
    third = asked_for(Withdrawals, after=second.newer).page
    assert [*first.rows, *second.rows, *third.rows] == made
    assert third.newer == ""
    assert list(asked_for(Withdrawals, before=third.older).page.rows) == list(second.rows)


@pytest.mark.sweep
def test_what_is_decided_is_walked_through_newest_first(monkeypatch):
    monkeypatch.setattr(Withdrawals, "size", 2)
    made = [refused(each) for each in some(3)]
    first = asked_for(Withdrawals, state="over").page
    second = asked_for(Withdrawals, state="over", before=first.older).page
    assert [*first.rows, *second.rows] == made[::-1]


@pytest.mark.sweep
def test_they_are_found_by_state_currency_amount_and_how_long_they_wait():
    small, large = some(1, 10_000)[0], some(1, 20_000)[0]
    approved = approve(some(1)[0])
    assert found(above="100", currency="SEK") == [large]
    assert found(currency="SEK") == [small, large]
    assert found(currency="DKK") == []
    assert found(hours="1") == []
    assert found(state=WithdrawalStatus.APPROVED.value) == [approved]


@pytest.mark.sweep
def test_open_ones_are_counted_by_state_and_only_so_far(monkeypatch):
    some(3)
    approve(some(1)[0])
    counts = {each.status: (each.count, each.is_more) for each in views.counted()}
    assert counts[WithdrawalStatus.REQUESTED] == (3, False)
    assert counts[WithdrawalStatus.APPROVED] == (1, False)
    monkeypatch.setattr(views, "MOST_COUNTED", 2)
    counts = {each.status: (each.count, each.is_more) for each in views.counted()}
    assert counts[WithdrawalStatus.REQUESTED] == (2, True)


@pytest.mark.sweep
def test_the_page_filters_and_says_when_nothing_fits(finance):
    (withdrawal,) = some(1, 10_050)
    page = finance.get("/staff/withdrawals/?state=requested&currency=SEK").text
    assert f"/staff/withdrawals/{withdrawal.pk}/?state=requested&amp;currency=SEK" in page
    assert "No withdrawals match this search." in finance.get("/staff/withdrawals/?above=100.50&currency=SEK").text
    assert "SEK\u00a0100.50" in finance.get("/staff/withdrawals/?above=100.49&currency=SEK").text
    assert "No withdrawals match this search." in finance.get("/staff/withdrawals/?hours=1").text


@pytest.mark.sweep
def test_what_is_decided_is_not_gone_through_for_an_amount(finance):
    refused(some(1)[0])
    assert "Only open withdrawals can be sorted" in finance.get("/staff/withdrawals/?state=over&order=amount").text
    answer = finance.get("/staff/withdrawals/?state=over&above=1")
    assert "This filter only finds open withdrawals." in answer.text
    assert answer.context["page"].rows == ()


@pytest.mark.sweep
@pytest.mark.parametrize("query", sample(["state=x", "currency=x", "above=x", "hours=x", "number=x", "before=x"], 2))
def test_a_garbled_filter_is_still_a_page(finance, query):
    some(1)
    assert finance.get(f"/staff/withdrawals/?{query}").status_code == 200


@pytest.mark.sweep
def test_the_decider_returns_to_the_unchanged_list(finance):
    (withdrawal,) = some(1)
    address = f"/staff/withdrawals/{withdrawal.pk}/decide/?state=requested&evil=1"
    answer = finance.post(address, {"action": "approve", "reason": "all in order"})
    assert answer.headers["Location"] == "/staff/withdrawals/?state=requested"
