"""Requests that would fill permanent tables or somebody's mailbox: the first of each kind is recorded,
the rest is counted.
"""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from players.models import Mail
from tests.builders import a_player
from tests.people import PASSWORD, a_visitor, events
from tests.players.test_registration import GOOD
from tests.wallet.at_the_bank import a_payment, call_back, statement
from wallet.models import PaymentNotice

NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)  # log-ins end by the clock of the database
FIRST = 20
PAYMENTS, PAYOUTS = "/pay/callback/sandbox/", "/pay/payouts/"


def say(address: str, visitor: Client) -> int:
    """Send what nobody has signed."""
    return visitor.post(address, b"{}", content_type="application/json").status_code


@pytest.mark.django_db
class TestRefusals:
    @pytest.mark.sweep
    def test_of_a_page_are_recorded_twenty_times_an_hour_then_counted(self):
        player, visitor = a_player(), a_visitor()
        visitor.force_login(player.user)
        with time_machine.travel(NOW, tick=False):
            assert {visitor.get("/staff/events/").status_code for _ in range(101)} == {403}
        shown = [event["data"] for event in events("access.refused", by=str(player))]
        assert shown == [{"method": "GET"}] * FIRST + [{"method": "GET", "times": 100}]

    @pytest.mark.sweep
    def test_of_somebody_else_are_recorded_all_the_same(self):
        one, other = a_player(), a_player()
        with time_machine.travel(NOW, tick=False):
            for player in [one] * (FIRST + 1) + [other]:
                visitor = a_visitor()
                visitor.force_login(player.user)
                visitor.get("/staff/events/")
        assert len(events("access.refused", by=str(other))) == 1

    @pytest.mark.sweep
    def test_are_recorded_an_hour_later(self):
        player, visitor = a_player(), a_visitor()
        visitor.force_login(player.user)
        with time_machine.travel(NOW, tick=False) as clock:
            for _ in range(FIRST + 5):
                visitor.get("/staff/events/")
            clock.shift(timedelta(hours=1))
            visitor.get("/staff/events/")
        assert len(events("access.refused", by=str(player))) == FIRST + 1


class TestWhatNobodySigned:
    def test_is_kept_twenty_times_an_hour_from_one_address(self, cloned_db):
        visitor = a_visitor()
        with time_machine.travel(NOW, tick=False) as clock:
            for _ in range(FIRST + 10):
                clock.shift(1)
                assert say(PAYMENTS, visitor) == 400
                assert say(PAYOUTS, visitor) == 400
        assert PaymentNotice.objects.count() == FIRST
        assert len(events("payout.notice_refused")) == FIRST

    @pytest.mark.sweep
    def test_says_how_often_where_it_was_a_hundred_times(self, cloned_db, caplog):
        visitor = a_visitor()
        with time_machine.travel(NOW, tick=False) as clock:
            for _ in range(100):
                clock.shift(1)
                say(PAYMENTS, visitor)
                say(PAYOUTS, visitor)
        assert PaymentNotice.objects.count() == FIRST + 1
        assert "100 within the hour from one address" in caplog.text
        assert events("payout.notice_refused")[-1]["data"]["times"] == 100

    def test_keeps_nobody_from_hearing_the_bank(self, cloned_db):
        """A signed message is accepted and stored after any number of others."""
        payment = a_payment(a_player())
        for _ in range(FIRST + 1):
            say(PAYMENTS, Client())
        assert call_back(statement(payment)) == 200
        assert PaymentNotice.objects.filter(payment=payment).count() == 1


def test_who_takes_another_address_of_one_network_is_no_other_visitor(cloned_db, settings):
    """A customer of IPv6 has a /64: as many addresses as they like."""
    settings.FORMS_PER_SECOND = 2
    with time_machine.travel(NOW, tick=False):
        answers = [say(PAYOUTS, Client(REMOTE_ADDR=f"2001:db8:1:2::{each}")) for each in range(1, 6)]
        assert answers == [400] * 4 + [429]
        assert say(PAYOUTS, Client(REMOTE_ADDR="2001:db8:1:3::1")) == 400


@pytest.mark.django_db
def test_who_registers_with_somebody_elses_address_mails_them_five_times_an_hour():
    somebody = a_player(password=PASSWORD)
    with time_machine.travel(NOW, tick=False) as clock:
        for visitor in (a_visitor() for _ in range(12)):
            clock.shift(11)
            visitor.post("/en/account/register/", GOOD | {"email": somebody.user.email})
    assert Mail.objects.filter(address=somebody.user.email, template="already_registered").count() == 5
