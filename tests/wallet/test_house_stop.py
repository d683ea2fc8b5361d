"""The house stop: permissions, messages, and the movements of money that the database refuses
during it.
"""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import ProtectedError, QuerySet

from audit.significant.detection import kinds
from players.protection import exclusions
from tests.builders import a_player, a_verified_player
from tests.people import a_member_of_staff, events
from tests.wallet import holds
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from tests.wallet.money_moves import cash, house, move, stake, write
from tests.wallet.payout_builders import an_account
from tests.wallet.settling import settle_all
from tests.wallet.stopped import REASON, go_on, stop
from wallet import cashier, house_stop, ledger, withdrawals
from wallet.ledger import Journal, accounts
from wallet.models import HouseStop, Mode, Payment, PaymentState
from wallet.payments import deposits

pytestmark = pytest.mark.django_db
MONEY = 100_000


@pytest.fixture
def player():
    return a_player(real=MONEY, free=MONEY)


def refused(post: Callable[[], object]) -> str:
    """Return the SQLSTATE of PostgreSQL's refusal."""
    with pytest.raises(DatabaseError) as raised, transaction.atomic():
        post()
    return str(getattr(raised.value.__cause__, "sqlstate", ""))


def a_stake(player, amount: int = 1_000, kind: str = "stake", mode: Mode = Mode.REAL) -> None:
    """Post a stake without any service, like code that forgot to check."""
    lines = move((cash(player, mode), -amount), (house("escrow", player, mode), amount), mode=mode)
    with transaction.atomic():
        write(Journal(uuid4(), kind, lines, uuid4()))


class TestStopping:
    def test_is_on_record_with_who_and_why(self):
        supervisor = a_member_of_staff("supervisor")
        stopped = stop(by=supervisor)
        (event,) = events("house.stopped")
        assert (event["by"], event["on"]) == (str(supervisor), "house")
        assert event["data"] == {"reason": REASON, "stop": stopped.pk}
        assert house_stop.current() == stopped
        ended = go_on(by=supervisor)
        assert (ended.pk, ended.ended_reason) == (stopped.pk, "All is well.")
        (event,) = events("house.resumed")
        assert event["data"] == {"reason": "All is well.", "stop": stopped.pk}
        assert house_stop.current() is None

    def test_gli19_2_8_8_is_significant_both_times(self):
        assert {"house.stopped", "house.resumed"} <= {kind for kind, what in kinds().items() if what}

    def test_twice_is_refused_and_changes_nothing(self):
        first = stop()
        with pytest.raises(house_stop.AlreadyStopped):
            stop(reason="Another reason.")
        assert house_stop.current() == first
        assert HouseStop.objects.get().reason == REASON

    def test_a_house_that_goes_on_cannot_go_on(self):
        with pytest.raises(house_stop.NotStopped):
            go_on()
        stop()
        go_on()
        with pytest.raises(house_stop.NotStopped):
            go_on()

    @pytest.mark.parametrize("reason", ["", " \n"])
    def test_takes_a_reason_as_going_on_does(self, reason):
        with pytest.raises(house_stop.NoReason):
            stop(reason=reason)
        stop()
        with pytest.raises(house_stop.NoReason):
            go_on(reason=reason)
        assert house_stop.current()

    @pytest.mark.parametrize("role", ["operator", "finance", "compliance", "support", "administrator"])
    def test_takes_a_role_that_may_says_the_database(self, role):
        other = a_member_of_staff(role)
        with pytest.raises(IntegrityError), transaction.atomic():
            stop(by=other)
        stop()
        with pytest.raises(IntegrityError), transaction.atomic():
            go_on(by=other)
        assert house_stop.current()

    @pytest.mark.parametrize(
        "alter",
        [
            lambda rows: rows.delete(),
            lambda rows: rows.update(reason="It was nothing."),
            lambda rows: rows.update(ended_at=None),
            lambda rows: rows.update(ended_reason="Another one."),
        ],
        ids=["delete", "reason", "begin again", "end again"],
    )
    @pytest.mark.parametrize("has_ended", [True, False], ids=["ended", "standing"])
    def test_is_never_changed_but_to_end(self, alter: Callable[[QuerySet[HouseStop]], object], has_ended: bool):
        stop()
        if has_ended:
            go_on()
        with pytest.raises((DatabaseError, ProtectedError)), transaction.atomic():
            alter(HouseStop.objects.all())


class TestWhatDoesNotBegin:
    @pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE])
    @pytest.mark.parametrize("kind", ["stake", "bank"])
    def test_gli19_2_4_1_stakes_and_banks(self, player, kind, mode):
        before = accounts.balance(player.pk, mode)
        stop()
        with pytest.raises(ledger.HouseStopped):
            a_stake(player, kind=kind, mode=mode)
        assert accounts.balance(player.pk, mode) == before

    def test_held_money_grows_nowhere_and_is_returned(self, player):
        account = accounts.player_account(player.pk, Mode.REAL)
        begun, other = uuid4(), uuid4()
        holds.hold(begun, account, 2_000)
        stop()
        for round_id, amount in ((begun, 3_000), (other, 1)):
            with pytest.raises(ledger.HouseStopped), transaction.atomic():
                holds.hold(round_id, account, amount)
        assert holds.hold(begun, account, 2_000) == MONEY - 2_000  # the same again
        assert holds.hold(begun, account, 500) == MONEY - 500
        assert holds.hold(begun, account, 0) == MONEY

    def test_what_was_held_becomes_stakes_and_is_paid(self, player):
        account, round_id = accounts.player_account(player.pk, Mode.REAL), uuid4()
        holds.hold(round_id, account, 2_000)
        stop()
        settle_all(round_id, {account: 4_000})
        assert balance(player) == MONEY + 2_000

    @pytest.mark.usefixtures("without_voids")
    def test_a_stake_is_reversed_as_always(self, player):
        (posted,) = write(stake(player, 1_000))
        stop()
        ledger.reverse({posted.journal_id: uuid4()}, kind="void")
        assert balance(player) == MONEY

    def test_deposits(self, player):
        stop()
        with pytest.raises(deposits.DepositsStopped) as shown:
            a_payment(player)
        assert "No money was taken" in str(shown.value)
        assert not Payment.objects.exists()
        (event,) = events("deposit.refused", on=str(player))
        assert event["data"]["reason"] == "DepositsStopped"

    def test_nor_a_deposit_of_a_api_client_that_forgot(self, player):
        before = a_payment(player)
        stop()
        copy = {
            field.attname: getattr(before, field.attname)
            for field in Payment._meta.concrete_fields
            if field.attname not in ("id", "token")
        }
        assert refused(lambda: Payment.objects.create(id=uuid4(), token=str(uuid4()), **copy)) == "SB040"

    def test_free_money(self, player):
        account = accounts.player_account(player.pk, Mode.FREE)
        stop()
        with pytest.raises(cashier.FreeMoneyStopped):
            cashier.top_up_free(player=player, key=uuid4())
        lines = move((house("mint", player, Mode.FREE), -100), (account, 100), mode="F")
        with pytest.raises(ledger.HouseStopped), transaction.atomic():
            write(Journal(uuid4(), "top_up", lines))


class TestWhatStays:
    def test_gli19_2_4_1_a_deposit_that_is_at_the_bank_is_credited(self, player):
        payment = a_payment(player)
        at_the_bank(payment)
        stop()
        assert call_back(statement(payment)) == 200
        assert Payment.objects.get().state == PaymentState.CREDITED
        assert balance(player) == MONEY + payment.amount

    def test_a_form_that_has_begun_a_deposit_leads_to_it(self, player):
        key = uuid4()
        payment = deposits.begin(player=player, amount=50_000, key=key)
        stop()
        assert deposits.begin(player=player, amount=50_000, key=key) == payment

    def test_a_top_up_that_was_given_is_found_again(self):
        player, key = a_player(), uuid4()
        posted = cashier.top_up_free(player=player, key=key)
        stop()
        assert cashier.top_up_free(player=player, key=key).journal_id == posted.journal_id

    def test_withdrawals(self):
        player = a_verified_player(real=MONEY)
        account = an_account(player)
        stop()
        asked = withdrawals.request(player=player, amount=50_000, account=account, key=uuid4())
        assert asked.amount == 50_000
        withdrawals.cancel(withdrawal_id=asked.pk, player=player)
        assert balance(player) == MONEY

    def test_limits_and_exclusions(self, player):
        stop()
        exclusions.pause(player=player, by=str(player))
        assert exclusions.in_force(player)

    def test_everything_once_it_goes_on(self, player):
        stop()
        go_on()
        a_stake(player)
        a_stake(player, mode=Mode.FREE)
        assert a_payment(player).state == PaymentState.WAITING
        assert balance(player) == MONEY - 1_000
