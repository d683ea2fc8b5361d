"""Shared keys of house and operator while messages wait: replaced, confused, and ended."""

import pytest
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse

from audit.significant import detection
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.operator_wallet import MONEY, an_operator, make_due
from tests.people import a_member_of_staff, events
from tests.wallet.studios import another_key
from wallet.models import BetState, MessageState, OperatorBet, OperatorMessage, PartnerKey
from wallet.operator_wallet import bets, queue
from wallet.seamless_wallet import partners, signing


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture
def waiting(operator, table):
    """A visit with a win message that waits."""
    visitor = operator.visit()
    visitor.plays(table, banker=STAKE)
    return OperatorMessage.objects.get(bet__player=visitor.player)


def at(staff):
    browser = Client()
    browser.force_login(staff.user)
    return browser


def has_become(message):
    message.refresh_from_db()
    return message.state, message.said


class TestReplacing:
    def test_a_second_key_changes_nothing_until_the_first_is_ended(self, operator, table, waiting):
        newer = another_key(operator.partner)
        queue.send_due()
        assert has_become(waiting) == (MessageState.TAKEN, "")
        operator.visit().plays(table, banker=STAKE)
        older = PartnerKey.objects.exclude(pk=newer.pk).get()
        partners.end_key(key=older, reason="replaced", by=a_member_of_staff("finance"))
        operator.host.key, operator.host.secret = newer.name, signing.secret_of(newer)
        queue.send_due()
        agreed(operator)

    @pytest.mark.sweep
    @pytest.mark.parametrize("code", ["bad-signature", "outside-window"])
    def test_an_unknown_house_gets_no_answer_and_staff_are_informed_at_once(self, operator, table, waiting, code):
        operator.host.refuse("win", code)
        queue.send_due()
        assert has_become(waiting) == (MessageState.WAITING, code)
        (shown,) = events("operator_message.not_recognised")
        assert (shown["data"]["operator"], shown["data"]["said"]) == (operator.partner.code, code)
        assert detection.kinds()["operator_message.not_recognised"]
        make_due()
        queue.send_due()
        assert has_become(waiting)[0] == MessageState.TAKEN
        agreed(operator)

    @pytest.mark.sweep
    def test_and_once_for_all_that_waits(self, operator, table, waiting):
        operator.visit().plays(table, banker=STAKE)
        operator.host.key = "of another house"
        for _ in range(3):
            queue.send_due()
            make_due()
        assert len(events("operator_message.not_recognised")) == 1

    @pytest.mark.sweep
    def test_a_bet_that_was_not_checked_is_rolled_back(self, operator, table):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        operator.host.refuse("bet", "bad-signature")
        with pytest.raises(bets.BetUnanswered):
            bets.ask(
                player=visitor.player, launch=visitor.launch, round_id=click.round_id, game=table.slug, amount=STAKE
            )
        assert OperatorBet.objects.get().state == BetState.GIVEN_UP
        queue.send_due()
        assert operator.host.balances[visitor.name] == MONEY


class TestEnding:
    @pytest.mark.sweep
    def test_the_last_takes_somebody_who_is_sure(self, operator, waiting):
        key, finance = PartnerKey.objects.get(), a_member_of_staff("finance")
        with pytest.raises(partners.MessagesWait, match="1 wins and rollbacks"):
            partners.end_key(key=key, reason="over", by=finance)
        assert partners.running_keys(operator.partner) == 1
        partners.end_key(key=key, reason="over", by=finance, is_sure=True)
        assert partners.running_keys(operator.partner) == 0

    def test_one_of_two_does_not_nor_the_last_once_all_is_sent(self, operator, waiting):
        older, newer, finance = PartnerKey.objects.get(), another_key(operator.partner), a_member_of_staff("finance")
        partners.end_key(key=newer, reason="lost", by=finance)
        queue.send_due()
        partners.end_key(key=older, reason="over", by=finance)
        assert partners.running_keys(operator.partner) == 0

    @pytest.mark.sweep
    def test_the_page_says_how_many_wait_and_asks(self, operator, waiting):
        key, reader = PartnerKey.objects.get(), at(a_member_of_staff("finance"))
        page = reader.get(reverse("staff_partners")).text
        assert "is still waiting for wins or rollbacks: 1." in page
        end = reverse("staff_partner_key_end", args=[key.pk])
        assert "Confirm that it is to be revoked anyway" in reader.post(end, {"reason": "over"}, follow=True).text
        assert PartnerKey.objects.get().ended_at is None
        reader.post(end, {"reason": "over", "sure": "on"})
        assert PartnerKey.objects.get().ended_at

    @pytest.mark.sweep
    def test_what_waits_then_is_settled_by_hand(self, operator, waiting):
        finance = a_member_of_staff("finance")
        partners.end_key(key=PartnerKey.objects.get(), reason="over", by=finance, is_sure=True)
        queue.send_due()
        assert has_become(waiting) == (MessageState.WAITING, "the operator has no key")
        assert len(events("operator_message.not_recognised")) == 1
        reader = at(finance)
        assert "The message cannot be sent." in reader.get(reverse("staff_operator_message", args=[waiting.pk])).text
        reader.post(reverse("staff_operator_settle", args=[waiting.pk]), {"note": "Paid to their bank."})
        assert has_become(waiting)[0] == MessageState.SETTLED
        assert waiting.note == "Paid to their bank."

    @pytest.mark.sweep
    def test_nothing_else_can_be_sent_to_an_operator(self, operator, waiting):
        finance = a_member_of_staff("finance")
        with pytest.raises(queue.NotInDoubt):
            queue.settle(waiting.pk, note="x", by=finance)
        settled = {"state": MessageState.SETTLED, "settled_by": finance, "note": "x", "ended_at": waiting.at}
        with pytest.raises(DatabaseError, match="does not change like this"):
            OperatorMessage.objects.filter(pk=waiting.pk).update(**settled)
