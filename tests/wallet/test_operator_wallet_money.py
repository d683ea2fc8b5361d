"""Real money of an operator's player belongs to the operator, and is here only during a round."""

from uuid import uuid4

import psycopg
import pytest

from audit import approvals
from audit.models import Approval, Decision, Verdict
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE
from tests.operator_wallet import MONEY, an_operator
from tests.people import a_member_of_staff
from tests.wallet.adjusting import adjust, ask
from tests.wallet.studios import a_game
from wallet import ledger
from wallet.ledger import accounts, adjustments
from wallet.models import Mode, OperatorMessage, Why
from wallet.operator_wallet import queue
from wallet.seamless_wallet import partners


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def visitor(operator):
    return operator.visit()


def agreed_upon(player, amount=500) -> Approval:
    """Return an approval that would be refused at the request."""
    support, finance = a_member_of_staff("support"), a_member_of_staff("finance")
    request = {
        "player": player.pk,
        "currency": player.currency,
        "mode": "R",
        "amount": amount,
        "why": Why.ROUND.value,
        "key": str(uuid4()),
    }
    asked = approvals.ask(
        kind=adjustments.KIND, on=str(player), request=request, by=str(support), person=support.person, reason="r"
    )
    Decision.objects.create(
        approval=asked,
        verdict=Verdict.APPROVED,
        by=str(finance),
        asker=asked.person,
        person=finance.person,
        reason="r",
    )
    return asked


def test_nobody_adjusts_it(visitor):
    with pytest.raises(adjustments.CannotAdjust, match="Adjust the balance at the operator"):
        ask(visitor.player)


def test_nor_does_the_database(visitor):
    asked = agreed_upon(visitor.player)
    with pytest.raises(ledger.NotApproved):
        ledger.adjust(asked.pk)
    assert accounts.balance(visitor.player.pk, Mode.REAL) == 0


@pytest.mark.sweep
def test_free_money_is_ours(visitor):
    before = accounts.balance(visitor.player.pk, Mode.FREE)
    adjust(visitor.player, mode=Mode.FREE)
    assert accounts.balance(visitor.player.pk, Mode.FREE) == before + 500


@pytest.mark.sweep
def test_a_studio_plays_without_it(visitor):
    with pytest.raises(partners.CannotOpen):
        a_game(visitor.player)
    assert a_game(visitor.player, mode=Mode.FREE).session


@pytest.mark.sweep
def test_what_lay_here_all_the_same_does_not_go_to_the_operator(visitor, operator, cloned_db):
    with psycopg.connect(cloned_db.owner_url, autocommit=True) as owner:
        owner.execute("DROP TRIGGER wallet_adjustment_is_approved ON wallet_adjustment")
    ledger.adjust(agreed_upon(visitor.player).pk)
    round_id = visitor.plays(a_table(), banker=STAKE).round_id
    queue.send_due()
    shown = OperatorMessage.objects.get(bet__round_id=round_id)
    assert operator.host.balances[visitor.name] == MONEY - STAKE + shown.amount
    assert shown.amount in (0, STAKE, 2 * STAKE - STAKE * 5 // 100)
    assert accounts.balance(visitor.player.pk, Mode.REAL) == 500
