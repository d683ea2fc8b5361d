"""Money under suspicion is held: no payout until two people release it, with every fact before them."""

import re
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from audit import approvals
from audit.models import Approval, Category, Significant, Weight
from audit.significant import detection
from players.identity import duplicates, verification
from players.login import locks
from players.models import Case, Ground, Player, Resolution
from tests.builders import a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet import wholeness
from tests.wallet.payout_builders import IBAN, MONEY, a_withdrawal, an_account, approve
from wallet import withdrawals
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, Withdrawal, WithdrawalStatus
from wallet.withdrawals import releases
from wallet.withdrawals.releases import NAMES, holds_of

pytestmark = pytest.mark.django_db


def lock(player: Player) -> None:
    locks.lock(player=player, reason="under investigation", by=a_member_of_staff("support"))


def alert(player: Player) -> None:
    found = detection.Found(
        key=f"unplayed:{player}:1",
        category=Category.LAUNDERING,
        weight=Weight.ALERT,
        on=str(player),
        title="Deposits withdrawn with little play",
        happened_at=datetime.now(UTC),
        because="Of 10,000 deposited, 3,180 were staked.",
    )
    assert detection.keep(found)


def duplicate(player: Player) -> None:
    other = a_verified_player()
    for each in (other, player):
        duplicates.note(player=each, ground=Ground.PHONE, value="+46700000000")


def share(player: Player) -> None:
    """Give another player the same bank account, and resolve the duplicate that this is."""
    other, staff = a_verified_player(), a_member_of_staff("support")
    for each in (other, player):
        an_account(each, IBAN)
    (pair,) = duplicates.pairs_of(player)
    duplicates.resolve(
        first_id=pair.first.pk,
        second_id=pair.second.pk,
        shown=[flag.pk for flag in pair.flags],
        resolution=Resolution.DIFFERENT,
        note="husband and wife",
        by=staff,
    )


SUSPICIONS = {"lock": lock, "case": alert, "duplicate": duplicate, "shared": share}
suspicion = pytest.mark.parametrize("kind", SUSPICIONS)


def suspected(kind: str) -> Withdrawal:
    """Return a withdrawal whose player came under suspicion after it was requested."""
    withdrawal = a_withdrawal(a_verified_player(real=MONEY))
    SUSPICIONS[kind](withdrawal.player)
    return withdrawal


def ask(withdrawal: Withdrawal) -> Approval:
    return releases.ask(withdrawal_id=withdrawal.pk, reason="papers seen", by=a_member_of_staff("finance"))


def decide(asked: Approval) -> None:
    second = a_member_of_staff("compliance")
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )


def status_of(withdrawal: Withdrawal) -> str:
    withdrawal.refresh_from_db()
    return withdrawal.status


def by_login(statement: str, withdrawal: Withdrawal) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [withdrawal.pk])


@pytest.mark.parametrize("ground", sample(Ground, 2))
def test_is_listed_on_every_ground_of_a_duplicate(ground):
    withdrawal = a_withdrawal(a_verified_player(real=MONEY))
    for each in (a_verified_player(), withdrawal.player):
        if ground is Ground.PERSON:  # which only a register's confirmation stores
            verification.keep_confirmation(each, "register:sandbox", "19900101-1234")
        else:
            duplicates.note(player=each, ground=ground, value="19900101-1234")
    duplicates.search_all()
    finance = Client()
    finance.force_login(a_member_of_staff("finance").user)
    assert f"have the same {NAMES[ground]}" in finance.get(reverse("staff_withdrawal", args=[withdrawal.pk])).text


@suspicion
def test_is_not_approved_by_the_service_by_the_page_or_by_the_login_role(kind):
    withdrawal = suspected(kind)
    assert [hold.partition(":")[0] for hold in holds_of(withdrawal)] == [kind]
    with pytest.raises(withdrawals.Held):
        approve(withdrawal)
    finance = Client()
    finance.force_login(a_member_of_staff("finance").user)
    page = reverse("staff_withdrawal_decide", args=[withdrawal.pk])
    assert (
        "Two people must release it first."
        in finance.post(page, {"action": "approve", "reason": "x"}, follow=True).text
    )
    with pytest.raises(DatabaseError, match="is held"):
        by_login("UPDATE wallet_withdrawal SET status = 'approved' WHERE id = %s", withdrawal)
    assert status_of(withdrawal) == WithdrawalStatus.REQUESTED


@pytest.mark.parametrize("kind", sample(SUSPICIONS, 1))
def test_is_not_sent_either_if_the_suspicion_comes_after_the_approval(kind):
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
    SUSPICIONS[kind](withdrawal.player)
    assert withdrawals.send(withdrawal.pk, provider="test") is False
    with pytest.raises(DatabaseError, match="is held"):
        by_login("UPDATE wallet_withdrawal SET status = 'sending' WHERE id = %s", withdrawal)
    assert status_of(withdrawal) == WithdrawalStatus.APPROVED
    decide(ask(withdrawal))
    assert withdrawals.send(withdrawal.pk, provider="test") is True


@suspicion
def test_is_paid_once_two_people_have_released_it(kind):
    withdrawal = suspected(kind)
    asked = ask(withdrawal)
    with pytest.raises(withdrawals.Held):
        approve(withdrawal)
    decide(asked)
    assert approve(withdrawal).status == WithdrawalStatus.APPROVED
    (event,) = events("withdrawal.released", on=str(withdrawal))
    assert (event["data"]["facts"], event["data"]["reason"]) == (list(holds_of(withdrawal)), "so")
    assert wholeness.broken() == {}


def scans(table: str) -> int:
    """Return how often this transaction has read the table, whole or by an index."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_scan + idx_scan FROM pg_stat_xact_user_tables WHERE relname = %s", [table])
        return sum(number for (number,) in cursor.fetchall())


@pytest.mark.parametrize("kind", sample(SUSPICIONS, 1))
def test_is_counted_for_the_sidebar_until_it_is_released(kind):
    """The others that are approved are not looked at one by one."""
    for _ in range(3):
        approve(a_withdrawal(a_verified_player(real=MONEY)))
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
    SUSPICIONS[kind](withdrawal.player)
    approved = Withdrawal.objects.filter(status=WithdrawalStatus.APPROVED)
    before = scans("players_accountlock")
    assert (approved.count(), list(releases.held(approved))) == (4, [withdrawal])
    assert scans("players_accountlock") - before == 2  # once for all of them, once for the one that may be held
    decide(ask(withdrawal))
    assert list(releases.held(approved)) == []


def test_every_kind_of_fact_that_holds_is_tried_here():
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'wallet_payout_holds'")
        (source,) = cursor.fetchone()
    assert set(re.findall(r"'(\w+):'", source)) == set(SUSPICIONS)


def test_is_refused_if_the_suspicion_comes_after_the_approval():
    withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
    finance = Client()
    finance.force_login(a_member_of_staff("finance").user)
    page, decision = (
        reverse("staff_withdrawal", args=[withdrawal.pk]),
        reverse("staff_withdrawal_decide", args=[withdrawal.pk]),
    )
    answers = {"action": "refuse", "code": "enquiry", "reason": "a forged passport"}
    assert f"Refuse {withdrawal.pk}" not in finance.get(page).text
    finance.post(decision, answers)
    with pytest.raises(DatabaseError, match="approved does not become refused"):
        by_login("UPDATE wallet_withdrawal SET status = 'refused' WHERE id = %s", withdrawal)
    assert status_of(withdrawal) == WithdrawalStatus.APPROVED
    lock(withdrawal.player)
    shown = finance.get(page).text
    assert f"Refuse {withdrawal.pk}" in shown
    assert f"Approve {withdrawal.pk}" not in shown
    finance.post(decision, answers)
    assert status_of(withdrawal) == WithdrawalStatus.REFUSED
    assert accounts.totals(withdrawal.player_id).balances(AccountKind.PENDING).get(Mode.REAL, 0) == 0
    assert withdrawals.send(withdrawal.pk, provider="test") is False
    assert wholeness.broken() == {}


def test_a_fact_that_is_found_after_the_release_holds_it_again():
    withdrawal = suspected("lock")
    decide(ask(withdrawal))
    alert(withdrawal.player)
    with pytest.raises(withdrawals.Held):
        approve(withdrawal)


def test_the_release_of_another_withdrawal_does_not_count():
    player = a_verified_player(real=MONEY)
    one, other = a_withdrawal(player, 20_000), a_withdrawal(player, 30_000)
    lock(player)
    decide(ask(one))
    approve(one)
    with pytest.raises(withdrawals.Held):
        approve(other)


def test_the_second_approval_of_a_large_one_is_refused_too():
    withdrawal = a_withdrawal(a_verified_player(real=3_000_000), 2_500_000)
    approve(withdrawal)
    alert(withdrawal.player)
    asked = Approval.objects.get(kind=withdrawals.KIND, on=str(withdrawal))
    second = a_member_of_staff("supervisor")
    with pytest.raises(approvals.CannotExecute, match="held"):
        approvals.decide(
            approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=lambda _name: True
        )


def test_nothing_is_released_that_nothing_holds():
    with pytest.raises(withdrawals.NotOpen):
        ask(a_withdrawal(a_verified_player(real=MONEY)))


FACTS = (
    "under investigation",
    "the same telephone number",
    "Total deposits",
    "Total stakes",
    "no payout to it yet",
    "not confirmed by the bank",
)
SUSPICION = ("AML alert", "Deposits withdrawn with little play", "3,180 were staked")


def read_by(role: str, page: str, number: int) -> str:
    visitor = Client()
    visitor.force_login(a_member_of_staff(role).user)
    answer = visitor.get(reverse(page, args=[number]))
    assert answer.status_code == 200
    return answer.text


def test_the_second_person_sees_every_fact_that_the_first_reader_saw():
    """Staff who release a payout also read the suspicion; staff who approve it read only that a case is open."""
    withdrawal = a_withdrawal(a_verified_player(real=3_000_000), 2_500_000)
    approve(withdrawal)
    for suspect in (lock, alert, duplicate):
        suspect(withdrawal.player)
    release = ask(withdrawal)
    approval = Approval.objects.get(kind=withdrawals.KIND, on=str(withdrawal))
    a_case = f"{Case.objects.get(player=withdrawal.player).pk}, open"
    of_release, of_approval = {*FACTS, a_case, *SUSPICION}, {*FACTS, a_case}

    def shown_in(text: str) -> set[str]:
        return {each for each in of_release if each in text}

    seen = {
        (role, page): shown_in(read_by(role, page, number))
        for role, page, number in (
            ("finance", "staff_withdrawal", withdrawal.pk),
            ("compliance", "staff_approval", release.pk),
            ("supervisor", "staff_withdrawal", withdrawal.pk),
            ("supervisor", "staff_approval", approval.pk),
            ("finance", "staff_approval", approval.pk),
        )
    }
    assert seen == {
        ("finance", "staff_withdrawal"): of_release,
        ("compliance", "staff_approval"): of_release,
        ("supervisor", "staff_withdrawal"): of_approval,
        ("supervisor", "staff_approval"): of_approval,
        ("finance", "staff_approval"): of_approval,
    }
    decide(release)  # now the payout is approved: the first reader sees what the second will see
    first, second = (read_by(role, "staff_withdrawal", withdrawal.pk) for role in ("finance", "supervisor"))
    assert shown_in(first) == shown_in(second) == of_approval
    assert Significant.objects.filter(on=str(withdrawal.player)).count() == 1


def test_nobody_learns_of_an_alert_who_neither_examines_it_nor_releases_payouts():
    """Neither from a withdrawal, nor from the lists and requests about it, nor from the search of the case."""
    withdrawal = a_withdrawal(a_verified_player(real=3_000_000), 2_500_000)
    approve(withdrawal)
    alert(withdrawal.player)
    release, case = ask(withdrawal), Case.objects.get(player=withdrawal.player)
    supervisor = Client()
    supervisor.force_login(a_member_of_staff("supervisor").user)
    pages = (
        reverse("staff_home"),
        reverse("staff_withdrawals"),
        reverse("staff_withdrawals") + "?state=seconding",
        reverse("staff_approvals"),
        reverse("staff_search") + f"?q=case:{case.pk}",
    )
    for page in pages:
        shown = supervisor.get(page).text
        assert [each for each in SUSPICION if each in shown] == [], page
    assert supervisor.get(reverse("staff_approval", args=[release.pk])).status_code in (403, 404)
    assert supervisor.get(reverse("staff_case", args=[case.pk])).status_code in (403, 404)
