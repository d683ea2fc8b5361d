"""Concurrent withdrawals: the race is shown first, then prevented."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from audit import approvals
from audit.models import Approval
from players.identity import duplicates
from players.models import Ground, Resolution
from tests.builders import a_verified_player
from tests.people import a_member_of_staff
from tests.wallet.money_moves import stake, write
from tests.wallet.payout_builders import MONEY, a_withdrawal, an_account, approve
from tests.wallet.test_at_once import at_once, is_whole, outcome
from wallet import payouts, withdrawals
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, PayoutAccount, Withdrawal, WithdrawalStatus

LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1
THREADS = 8


def try_to(do):
    """Execute and return the name of the result."""
    try:
        do()
    except (withdrawals.WithdrawalError, approvals.ApprovalError) as error:
        return type(error).__name__
    return "done"


def test_checking_first_pays_the_same_money_out_twice(cloned_db, owner):
    """The race on an unguarded table: both see enough money, and both take it."""
    owner.execute("CREATE TABLE unguarded AS SELECT 100 AS balance")
    owner.execute("GRANT SELECT, UPDATE ON unguarded TO sabot_app")
    have_read = Barrier(2)

    def check_then_take():
        with connection.cursor() as cursor:
            cursor.execute("SELECT balance FROM unguarded")
            (balance,) = cursor.fetchone()
            have_read.wait(timeout=30)
            cursor.execute("UPDATE unguarded SET balance = balance - %s", [balance])

    at_once([check_then_take] * 2)
    assert owner.execute("SELECT balance FROM unguarded").fetchone() == (-100,)


def test_requests_for_the_whole_balance_are_one(cloned_db):
    player = a_verified_player(real=MONEY)
    account = an_account(player)

    def ask():
        return try_to(lambda: withdrawals.request(player=player, amount=MONEY, account=account, key=uuid4()))

    results = at_once([ask] * THREADS)
    assert sorted(results) == ["NotEnough"] * (THREADS - 1) + ["done"]
    assert is_whole()


def test_one_form_sent_many_times_at_once_is_one_withdrawal(cloned_db):
    player, key = a_verified_player(real=MONEY), uuid4()
    account = an_account(player)

    def ask():
        return withdrawals.request(player=player, amount=10_000, account=account, key=key).pk

    assert len(set(at_once([ask] * THREADS))) == 1
    assert accounts.balance(player.pk, Mode.REAL) == MONEY - 10_000


def test_one_form_with_a_new_bank_account_sent_many_times_at_once_keeps_one(cloned_db):
    player, key = a_verified_player(real=MONEY), uuid4()

    def ask():
        with transaction.atomic():
            return withdrawals.request(player=player, amount=10_000, account=an_account(player), key=key).pk

    assert len(set(at_once([ask] * THREADS))) == 1
    assert PayoutAccount.objects.filter(player=player).count() == 1


def test_a_request_and_a_stake_of_the_same_money_are_one_of_the_two(cloned_db):
    player = a_verified_player(real=MONEY)
    account = an_account(player)

    def ask():
        return try_to(lambda: withdrawals.request(player=player, amount=MONEY, account=account, key=uuid4()))

    asked, staked = at_once([ask, lambda: outcome(lambda: write(stake(player, MONEY)))])
    assert (asked, staked) in (("done", "InsufficientFunds"), ("NotEnough", "posted"))


def test_of_finance_deciding_at_once_one_is_first(cloned_db):
    player = a_verified_player(real=MONEY)
    withdrawal = a_withdrawal(player)
    staff = [a_member_of_staff("finance") for _ in range(2)]

    def refuse():
        withdrawals.refuse(withdrawal_id=withdrawal.pk, by=str(staff[1]), code="holder", note="seen")

    results = at_once([lambda: try_to(lambda: approve(withdrawal, staff[0])), lambda: try_to(refuse)])
    assert sorted(results) == ["NotOpen", "done"]
    assert is_whole()


def test_of_two_who_second_at_once_one_is_first(cloned_db):
    withdrawal = approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
    asked = Approval.objects.get(on=str(withdrawal))
    staff = [a_member_of_staff("finance") for _ in range(2)]

    def decide(member, yes):
        return try_to(
            lambda: approvals.decide(
                approval_id=asked.pk,
                yes=yes,
                by=str(member),
                person=member.person,
                reason="seen",
                may=lambda permission: True,
            )
        )

    results = at_once([lambda: decide(staff[0], True), lambda: decide(staff[1], False)])
    assert sorted(results) == ["AlreadyDecided", "done"]
    assert is_whole()


def test_a_player_who_cancels_while_finance_approves_either_gets_it_back_or_is_too_late(cloned_db):
    player = a_verified_player(real=MONEY)
    withdrawal, staff = a_withdrawal(player), a_member_of_staff("finance")

    def cancel():
        withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)

    cancelled, approved = at_once([lambda: try_to(cancel), lambda: try_to(lambda: approve(withdrawal, staff))])
    assert (cancelled, approved) in (("done", "NotOpen"), ("MayNotCancel", "done"))
    pending = accounts.balance(player.pk, Mode.REAL, AccountKind.PENDING)
    assert pending == (0 if cancelled == "done" else withdrawal.amount)
    assert is_whole()


def test_a_bank_that_says_it_many_times_at_once_pays_once(cloned_db):
    player = a_verified_player(real=MONEY)
    withdrawal = approve(a_withdrawal(player))
    withdrawals.send(withdrawal.pk, provider="test")
    word = payouts.BankAnswer(withdrawal.reference, "paid", withdrawal.amount, withdrawal.currency, "SP1")

    def hear():
        return payouts.hear(word, provider="test", path="callback", raw=b"said")

    results = at_once([hear] * THREADS)
    assert sorted(results) == ["nothing new"] * (THREADS - 1) + ["paid"]
    assert Withdrawal.objects.get().status == "paid"
    assert is_whole()


def test_one_whose_suspicion_ends_while_it_is_refused_stays_approved_and_staff_read_why(cloned_db):
    """Another session resolves the duplicate after the refusal has read that it is open."""
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
    for each in (a_verified_player(), withdrawal.player):
        duplicates.note(player=each, ground=Ground.PHONE, value="+46700000000")
    finance, support = a_member_of_staff("finance"), a_member_of_staff("support")
    (pair,) = duplicates.pairs_of(withdrawal.player)

    def resolve() -> None:
        try:
            duplicates.resolve(
                first_id=pair.first.pk,
                second_id=pair.second.pk,
                shown=[flag.pk for flag in pair.flags],
                resolution=Resolution.DIFFERENT,
                note="brothers",
                by=support,
            )
        finally:
            connection.close()

    def resolve_in_the_meantime(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if "wallet_payout_is_held" in sql and duplicates.waiting():
            with ThreadPoolExecutor(1) as another_session:
                another_session.submit(resolve).result()
        return answer

    browser = Client()
    browser.force_login(finance.user)
    page = reverse("staff_withdrawal_decide", args=[withdrawal.pk])
    with connection.execute_wrapper(resolve_in_the_meantime):
        answer = browser.post(page, {"action": "refuse", "code": "identity", "reason": "two people"}, follow=True)
    assert "The hold on this payout has just ended." in answer.text
    withdrawal.refresh_from_db()
    assert withdrawal.status == WithdrawalStatus.APPROVED
    assert accounts.totals(withdrawal.player_id).balances(AccountKind.PENDING)[Mode.REAL] == withdrawal.amount
    assert is_whole()
