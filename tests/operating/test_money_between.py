"""Money that moved after the backup: only the provider knows of it. Its statement shows what the copy lacks, and what
was under way in both is asked about under the name that it had.
"""

from datetime import timedelta
from io import StringIO

import pytest

from tests.builders import a_verified_player
from tests.operating.house import MONEY, backed_up, restored
from tests.people import a_member_of_staff
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import a_withdrawal, approve
from tests.wallet.statement_builders import PROVIDER, today
from wallet import payouts
from wallet.models import BankPayout, Withdrawal, WithdrawalStatus
from wallet.payments.notifications import ask_about
from wallet.provider_statements import drafts
from wallet.sandbox_bank.orders import write_statement


@pytest.fixture
def file(tmp_path):
    return tmp_path / "house.dump"


def deposited(player):
    payment = a_payment(player)
    at_the_bank(payment)
    ask_about(payment.pk)
    return payment


@pytest.mark.sweep
def test_a_deposit_of_which_the_copy_knows_nothing_is_on_the_provider_s_statement(cloned_db, file):
    finance, player = a_member_of_staff("finance"), a_verified_player(real=MONEY)
    before = deposited(player)
    backed_up(file)
    after, paper = deposited(player), StringIO()
    write_statement(paper, since=today() - timedelta(days=1), until=today())
    with restored(file):
        draft = drafts.upload(
            content=paper.getvalue().encode(),
            name="statement.csv",
            provider=PROVIDER,
            since=today() - timedelta(days=1),
            until=today(),
            staff=finance,
        )
        statement = drafts.confirm(draft.pk, finance)
        assert {line.reference: line.verdict for line in statement.lines.all()} == {
            str(before.pk): "matched",
            str(after.pk): "differs",
        }
        (difference,) = statement.differences.all()
        assert difference.kind == "unknown"
        assert str(after.pk) in difference.subject


def test_a_payout_that_the_house_had_sent_since_is_asked_for_under_the_same_name(cloned_db, file):
    """A bank that knows the order pays it once, regardless of who asks again."""
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY), 20_000))
    backed_up(file)
    payouts.send_due()
    sent = BankPayout.objects.get()
    with restored(file) as words:
        assert "In progress in the backup: 0 deposits, 1 withdrawals." in words
        assert not BankPayout.objects.exists()  # the sandbox bank's books lie in the house's database
        payouts.send_due()
        assert BankPayout.objects.get().reference == sent.reference == withdrawal.reference
        assert Withdrawal.objects.get().status == WithdrawalStatus.SENDING
