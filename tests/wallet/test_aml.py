"""Signs of money laundering are found once, with their rows, and values just outside are not."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from audit.models import Category, Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from audit.significant.detection import threshold
from audit.staff_text import english
from tests.ageing import age
from tests.builders import a_player, a_round, a_table, a_verified_player
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.payout_builders import an_account
from wallet import aml, withdrawals
from wallet import aml as aml_detection
from wallet.aml import Movement, is_sudden, is_unplayed, kept_under, passed_through

NOW = datetime(2026, 3, 28, 12, tzinfo=UTC)
LARGE = 2_000_000  # minor units
DAY = timedelta(days=1)


def movement(amount: int, days_ago: float = 0) -> Movement:
    return Movement(NOW - days_ago * DAY, amount, "payment 1")


class TestMoneyThatOnlyPassesThrough:
    def test_is_what_came_in_and_is_to_go_out_again(self):
        assert passed_through([movement(700), movement(300)], [movement(600)]) == 600
        assert passed_through([movement(500)], [movement(400), movement(300)]) == 500

    @pytest.mark.parametrize(
        ("passed", "staked", "found"),
        [
            (LARGE // 4, 0, True),
            (LARGE // 4 - 1, 0, False),  # too little to matter
            (LARGE, LARGE // 2 - 1, True),
            (LARGE, LARGE // 2, False),  # half of it was staked
        ],
    )
    def test_is_a_sign_where_it_matters_and_was_hardly_staked(self, passed, staked, found):
        assert is_unplayed(passed, staked, LARGE) is found


class TestDepositsJustUnder:
    JUST = LARGE * 9 // 10

    def test_are_a_sign_where_there_are_several_in_a_week(self):
        three = [movement(self.JUST, days) for days in (6, 3, 0)]
        assert kept_under(three, LARGE) == tuple(three)

    @pytest.mark.parametrize(
        "deposits",
        [
            [(JUST, 3), (JUST, 0)],  # two are too few
            [(JUST, 7), (JUST, 3), (JUST, 0)],  # not within a week
            [(JUST, 6), (LARGE * 4 // 5 - 1, 3), (JUST, 0)],  # one of them is not almost a large one
            [(JUST, 6), (LARGE, 3), (JUST, 0)],  # one of them is large and found as such
            [(JUST, 6), (JUST, 5), (JUST, 3), (100, 0)],  # found before the last one
        ],
    )
    def test_are_none_where_one_of_that_is_missing(self, deposits):
        assert kept_under([movement(amount, days) for amount, days in deposits], LARGE) == ()

    def test_a_large_one_among_them_does_not_hide_the_others(self):
        just = [movement(self.JUST, days) for days in (5, 2, 0)]
        assert kept_under([just[0], movement(LARGE, 4), *just[1:]], LARGE) == tuple(just)


class TestASuddenChange:
    @pytest.mark.parametrize(
        ("lately", "usually", "found"),
        [
            (LARGE, 0, True),  # after months without any
            (LARGE, LARGE // 3 - 1, True),
            (LARGE + 1, LARGE // 3 + 1, False),  # three times as much is not more
            (LARGE - 1, 0, False),  # too little to matter
        ],
    )
    def test_is_far_above_what_is_usual_in_a_month(self, lately, usually, found):
        before = [movement(usually, 8 + 28 * month) for month in range(3)]
        usual = aml.usual_monthly(before, 84)
        assert usual == usually
        assert is_sudden([movement(lately)], usual, LARGE) is found


def deposit(player, amount):
    payment = a_payment(player, amount)
    assert call_back(statement(payment)) == 200
    return payment


def ask_for(player, amount):
    return withdrawals.request(player=player, amount=amount, account=an_account(player), key=uuid4())


def look():
    """Process all sealed events and return the signs found, oldest first."""
    sealer.seal()
    detection.find()
    return list(Significant.objects.filter(category=Category.LAUNDERING).order_by("pk"))


@pytest.fixture
def only_aml_checks(monkeypatch):
    """Register only the AML finders."""
    monkeypatch.setattr(detection, "_finders", {})
    aml_detection.register()


@pytest.mark.django_db
@pytest.mark.usefixtures("only_aml_checks")
class TestTheChecks:
    def test_find_money_that_only_passes_through_once_with_its_rows(self):
        player = a_verified_player()
        payment = deposit(player, 1_000_000)
        withdrawal = ask_for(player, 900_000)
        (sign,) = look()
        assert (sign.on, sign.currency, sign.amount, sign.weight) == (str(player), "SEK", 900_000, Weight.ALERT)
        assert "SEK 9,000.00 were requested as withdrawals" in english(sign.because).replace("\u00a0", " ")
        assert "time: SEK 0.00, less than half of that amount" in english(sign.because).replace("\u00a0", " ")
        assert [(row["What"], row["Number"]) for row in sign.rows] == [
            ("Deposit", f"payment {payment.pk}"),
            ("Withdrawal requested", str(withdrawal)),
        ]
        assert look() == [sign]
        ask_for(player, 50_000)
        assert look() == [sign]

    @pytest.mark.sweep
    def test_add_up_withdrawals_that_are_each_too_little_to_matter(self):
        player = a_verified_player()
        deposit(player, 1_000_000)
        ask_for(player, 300_000)
        assert look() == []
        ask_for(player, 300_000)
        (sign,) = look()
        assert sign.amount == 600_000

    @pytest.mark.sweep
    def test_ignore_a_player_who_staked_half(self):
        player, table = a_verified_player(real=1_000_000), a_table()
        deposit(player, 600_000)
        for _ in range(3):
            a_round(player, table, player=100_000)
        ask_for(player, 600_000)
        assert look() == []

    @pytest.mark.sweep
    def test_leave_alone_who_takes_out_what_was_won_long_after_the_deposit(self):
        player = a_verified_player(real=1_000_000)
        ask_for(player, 900_000)
        assert look() == []

    @pytest.mark.sweep
    def test_leave_alone_a_withdrawal_that_was_taken_back(self):
        player = a_verified_player()
        deposit(player, 1_000_000)
        withdrawal = ask_for(player, 400_000)
        withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)
        ask_for(player, 400_000)
        assert look() == []

    def test_find_deposits_just_under_once_and_each_in_one_sign(self):
        player = a_player()
        large = threshold("deposit", "SEK")
        assert large
        payments = [deposit(player, large.single - 1) for _ in range(2)]
        deposit(a_player(), large.single - 1)
        deposit(player, large.single)
        assert look() == []
        payments.append(deposit(player, large.single - 1))
        (sign,) = look()
        assert sign.title == "Deposits just below the threshold"
        assert [row["Number"] for row in sign.rows] == [f"payment {payment.pk}" for payment in payments]
        assert sign.amount == 3 * (large.single - 1)
        assert "3 deposits within 7 days" in english(sign.because)
        deposit(player, large.single - 1)
        assert look() == [sign]

    @pytest.mark.sweep
    def test_check_each_currency_by_its_own_threshold(self):
        swede, briton = a_player("SE"), a_player("GB")
        pounds, kronor = threshold("deposit", "GBP"), threshold("deposit", "SEK")
        assert pounds
        assert kronor
        assert pounds.single < kronor.single
        for _ in range(3):
            deposit(briton, pounds.single - 1)
            deposit(swede, pounds.single - 1)
        (sign,) = look()
        assert (sign.on, sign.currency) == (str(briton), "GBP")


@pytest.mark.sweep
def test_a_sudden_change_is_found_once_and_only_of_players_known_for_long(cloned_db, owner, only_aml_checks):
    regular, newcomer, steady = (a_player() for _ in range(3))
    for weeks in (12, 8, 4, 2):
        for player, amount in ((regular, 100_000), (steady, 2_000_000)):
            deposit(player, amount)
        age(owner, "audit_event", "at", 7 * weeks, "kind = 'deposit.posted' AND at > now() - interval '1 hour'")
    for _ in range(2):
        deposit(regular, 1_500_000)
        deposit(newcomer, 3_000_000)
        deposit(steady, 1_000_000)
    (sign,) = look()
    assert (sign.on, sign.amount) == (str(regular), 3_000_000)
    assert sign.title == "Deposits far above the player’s usual amount"
    assert [row["What"] for row in sign.rows] == ["Deposit"] * 2 + ["Deposit before"] * 4
    assert "more than 3 times the usual monthly amount" in english(sign.because)
    deposit(regular, 1_500_000)
    assert look() == [sign]
