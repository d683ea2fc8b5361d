"""After an operator is switched off its players play no further round; played rounds are reported."""

import pytest

from games.errors import VisitOver
from games.solo.operator_money import play, refresh_operator_balance
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.operator_wallet import MONEY, a_visit, an_operator
from tests.people import a_member_of_staff
from wallet.models import Mode, OperatorBet, PartnerKey
from wallet.operator_wallet import operators, queue
from wallet.seamless_wallet import partners


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture
def finance(cloned_db):
    return a_member_of_staff("finance")


def test_of_an_operator_that_is_off_nobody_plays_on_and_it_is_not_asked(operator, table, finance):
    visitor = operator.visit()
    visitor.plays(table, banker=STAKE)
    click = visitor.click(table, banker=STAKE)
    partners.switch_off(partner=operator.partner, reason="over", by=finance)
    heard = len(operator.host.heard)
    with pytest.raises(VisitOver):
        visitor.plays(table, banker=STAKE)
    refresh_operator_balance(click.player, Mode.REAL, click.session)
    assert len(operator.host.heard) == heard
    assert OperatorBet.objects.count() == 1
    queue.send_due()
    assert len(operator.host.accepted("win")) == 1
    agreed(operator)


@pytest.mark.sweep
def test_nor_of_one_without_a_key(operator, table, finance):
    click = operator.visit().click(table, banker=STAKE)
    partners.end_key(key=PartnerKey.objects.get(), reason="over", by=finance)
    with pytest.raises(VisitOver):
        play(click)
    assert not OperatorBet.objects.exists()


@pytest.mark.sweep
def test_an_address_that_was_announced_before_leads_nowhere(operator, table, finance):
    operator.host.balances["anna"] = MONEY
    announced = operators.announce(operator.partner, a_visit("anna", "s-anna"))
    partners.switch_off(partner=operator.partner, reason="over", by=finance)
    assert operators.use(announced.code) is None
