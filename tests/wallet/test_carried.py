"""What a month is carried forward as, and that the ledger is held to it when its journals are gone."""

import hashlib
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.db import connections, transaction
from pytest_django import DjangoDbBlocker

from players.models import Player
from tests import old_months
from tests.builders import a_player, a_purse, a_verified_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.sweeps import drawn, sample, sweep
from tests.old_months import beginning
from tests.wallet import payout_builders
from tests.wallet.adjusting import adjust
from tests.wallet.coups import Coup, a_bank, broken, guest, house_player
from tests.wallet.money_moves import a_round, cash, house, move, settle, stake
from tests.wallet.studios import a_game
from wallet import carried, ledger
from wallet.carried import RoundNotOver
from wallet.ledger import GoneToArchive, Journal, round_reversal
from wallet.models import ArchivedAccount, ArchivedJournal
from wallet.seamless_wallet import host

JULY, AUGUST, SEPTEMBER, OCTOBER = (beginning(2025, month) for month in (7, 8, 9, 10))


@pytest.fixture
def house_of_months(cloned_db, owner):
    """A house with a table for every month since July 2025; what is written now is of July."""
    old_months.make(owner, JULY)
    old_months.go_to(owner, JULY)
    return owner


@pytest.fixture(scope="module")
def beside_an_archived_month(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[Player]:
    """A player with a reversed round in a month that has gone, and a round after it."""
    with (
        django_db_blocker.unblock(),
        databases.clone("archived") as database,
        psycopg.connect(database.owner_url, autocommit=True) as owner,
    ):
        old_months.make(owner, JULY)
        old_months.go_to(owner, JULY)
        player = a_player(real=10_000)
        staked, settled = a_round(player, 500, 400)
        old_months.go_to(owner, AUGUST)
        ledger.reverse({settled.journal_id: uuid4(), staked.journal_id: uuid4()}, kind="void")
        a_round(player, 1_000, 2_000)
        for month in (None, JULY):
            old_months.leave(month)
        assert broken() == {}
        yield player


def carry(month, first, beyond):
    with connections["owner"].cursor() as cursor:
        carried.carry(cursor, month, first, beyond)
        return list(carried.lines(cursor, month)), carried.digest(cursor, month)


def test_a_month_is_carried_as_lines_and_their_digest(cloned_db, owner):
    player = a_player(real=10_000)
    a_round(player, 500, 400)
    lines, digest = carry("x", 0, 1 << 62)
    assert f"account {cash(player)} 9900 3" in lines
    assert any(line.startswith(f"day {player.pk} ") and line.endswith(" 10000 0 500 400") for line in lines), lines
    assert digest == hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


@pytest.mark.sweep
def test_a_balance_goes_on_from_what_archived_months_came_to(house_of_months):
    player = a_player(real=10_000)
    a_round(player, 500, 400)
    old_months.go_to(house_of_months, AUGUST)
    a_round(player, 1_000, 2_000)
    for month in (None, JULY):
        old_months.leave(month)
        assert broken() == {}
    assert ArchivedAccount.objects.get(account_id=cash(player)).amount == 9_900
    a_round(player, 10_900, 0)
    assert broken() == {}


@pytest.mark.sweep
def test_a_round_that_goes_on_in_another_month_stays_with_its_journals(house_of_months):
    player, round_id = a_player(real=10_000), uuid4()
    a_round(player, 500, 400)
    ledger.post(stake(player, 700, round_id=round_id))
    old_months.go_to(house_of_months, AUGUST)
    ledger.post(settle(player, 700, 1_400, round_id=round_id))
    old_months.go_to(house_of_months, SEPTEMBER)
    for month in (None, JULY, AUGUST):
        old_months.leave(month)
        assert broken() == {}
    stayed = ArchivedJournal.objects.filter(round_id=round_id).order_by("id").values_list("month", "kind")
    assert list(stayed) == [("2025-07", "stake"), ("2025-08", "settle")]


@pytest.mark.sweep
def test_a_round_that_still_has_money_keeps_its_month_here(house_of_months):
    player = a_player(real=10_000)
    ledger.post(stake(player, 700, round_id=uuid4()))
    old_months.leave(None)
    with pytest.raises(RoundNotOver):
        old_months.leave(JULY)
    assert set(broken()) == {"escrow_is_empty"}


class TestThingsThatStraddle:
    """Begun in July, ended in August or September, and all of it gone one month after the other."""

    def gone_one_by_one(self, owner):
        old_months.go_to(owner, OCTOBER)
        for month in (None, JULY, AUGUST, SEPTEMBER):
            old_months.leave(month)
            assert broken() == {}, month

    @pytest.mark.sweep
    def test_a_reversal(self, house_of_months):
        player = a_player(real=10_000)
        staked, settled = a_round(player, 500, 400)
        old_months.go_to(house_of_months, AUGUST)
        ledger.reverse({settled.journal_id: uuid4(), staked.journal_id: uuid4()}, kind="void")
        self.gone_one_by_one(house_of_months)

    @pytest.mark.sweep
    def test_an_annulment_with_a_shortfall(self, house_of_months):
        player, round_id = a_player(real=1_000), uuid4()
        ledger.post(stake(player, 500, round_id=round_id), settle(player, 500, 2_000, round_id=round_id))
        a_round(player, 2_400, 0)
        old_months.go_to(house_of_months, AUGUST)
        with transaction.atomic():
            round_reversal.undo_round(round_id)
        self.gone_one_by_one(house_of_months)

    @pytest.mark.sweep
    def test_a_bank_and_its_coup(self, house_of_months):
        ada, ben = a_player(real=1_000), a_player(real=1_000)
        bank = a_bank(guest(ada), 400)
        coup = Coup(bank)
        coup.lay(guest(ben), 300)
        coup.lay(guest(ben), -100)
        old_months.go_to(house_of_months, AUGUST)
        coup.settle({guest(ben): 400}, tax=0)
        bank.move("bank_back", -200)
        old_months.go_to(house_of_months, SEPTEMBER)
        with transaction.atomic():
            round_reversal.undo_round(coup.id)
        old_months.go_to(house_of_months, OCTOBER)
        house_player(100)
        if bank.balance:
            bank.move("bank_back", -bank.balance)
        self.gone_one_by_one(house_of_months)

    @pytest.mark.parametrize("end", sample([payout_builders.paid, payout_builders.returned], 1))
    def test_a_withdrawal(self, house_of_months, end):
        player = a_verified_player(real=100_000)
        withdrawal = payout_builders.a_withdrawal(player)
        old_months.go_to(house_of_months, AUGUST)
        end(withdrawal)
        self.gone_one_by_one(house_of_months)

    @pytest.mark.sweep
    def test_a_withdrawal_that_is_still_open(self, house_of_months):
        withdrawal = payout_builders.a_withdrawal(a_verified_player(real=100_000))
        old_months.go_to(house_of_months, OCTOBER)
        self.gone_one_by_one(house_of_months)
        payout_builders.paid(withdrawal)
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_studios_round(self, house_of_months):
        game = a_game(a_player(real=10_000))
        bet, other = game.a_bet(500), game.a_bet(300, round="r2")
        host.bet(game.partner, bet)
        host.bet(game.partner, other)
        old_months.go_to(house_of_months, AUGUST)
        game.win(800)
        game.roll_back(other.transaction, round="r2")
        self.gone_one_by_one(house_of_months)

    @pytest.mark.sweep
    def test_adjustments_and_purses(self, house_of_months):
        player = a_player(real=10_000)
        adjust(player)
        a_purse(player, 1_000)
        old_months.go_to(house_of_months, AUGUST)
        adjust(player, -200)
        a_purse(player, 500)
        self.gone_one_by_one(house_of_months)


DAMAGE = [
    ("UPDATE wallet_account SET balance = balance + 1 WHERE id = {cash}", "balances_are_sums"),
    ("UPDATE wallet_account SET version = version + 1 WHERE id = {cash}", "chains_are_unbroken"),
    ("UPDATE wallet_entry SET balance_after = balance_after + 1 WHERE account_id = {cash}", "chains_are_unbroken"),
    ("UPDATE wallet_entry SET version = version - 1 WHERE account_id = {cash}", "chains_are_unbroken"),
    ("UPDATE wallet_day SET staked = staked + 1", "days_are_sums"),
    ("UPDATE wallet_archived_account SET amount = amount + 1", "archived_months_are_as_said"),
    ("UPDATE wallet_archived_account SET entries = entries + 1 WHERE account_id = {cash}", "chains_are_unbroken"),
    ("UPDATE wallet_archived_day SET paid = paid + 1", "days_are_sums"),
    ("UPDATE wallet_archived_day SET paid = paid + 1", "archived_months_are_as_said"),
    ("DELETE FROM wallet_archived_journal", "reversals_are_exact"),
    ("UPDATE wallet_archived_entry SET amount = amount * 2", "reversals_are_exact"),
    ("UPDATE wallet_archived_journal SET at = at + interval '1 day'", "archived_months_are_as_said"),
    ("UPDATE wallet_archived_account SET month = '2025-06' WHERE month = '2025-07'", "archived_months_are_as_said"),
    (
        "UPDATE audit_archived SET said = replace(convert_from(said, 'UTF8'), 'carried', 'other')::bytea",
        "archived_months_are_as_said",
    ),
    ("INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 99)", "archived_months_are_as_said"),
    ("DELETE FROM wallet_posting_key WHERE journal_id < audit_cut()", "archived_months_are_as_said"),
    ("DELETE FROM wallet_posting_key WHERE journal_id >= audit_cut()", "keys_match_journals"),
    ("DELETE FROM wallet_reversal", "reversals_are_exact"),
    ("UPDATE wallet_reversal SET journal_id = journal_id + 1", "reversals_are_exact"),
]


ONE_FOR_EACH = list({invariant: (statement, invariant) for statement, invariant in reversed(DAMAGE)}.values())


@pytest.mark.parametrize(("statement", "invariant"), sweep(DAMAGE, drawn(ONE_FOR_EACH, 2)))
def test_damage_beside_an_archived_month_is_named(beside_an_archived_month, django_db_blocker, statement, invariant):
    with django_db_blocker.unblock(), databases.damaged(statement.format(cash=cash(beside_an_archived_month))):
        assert invariant in broken()


class TestWhatActs:
    """Nothing is done about a journal that has gone, and nothing that goes with it."""

    @pytest.mark.sweep
    def test_it_is_not_reversed(self, house_of_months):
        player = a_player(real=10_000)
        _, settled = a_round(player, 500, 400)
        old_months.go_to(house_of_months, AUGUST)
        for month in (None, JULY):
            old_months.leave(month)
        with pytest.raises(GoneToArchive) as refused:
            ledger.reverse({settled.journal_id: uuid4()}, kind="void")
        assert refused.value.month == "2025-07"

    def test_its_key_answers_that_it_has_gone_and_nothing_is_posted_beside_it(self, house_of_months):
        player = a_player(real=10_000)
        again = stake(player, 100, round_id=uuid4())
        given = Journal(uuid4(), "settle", move((house("escrow", player), -100), (cash(player), 100)), again.round_id)
        ledger.post(again, given)
        old_months.go_to(house_of_months, AUGUST)
        for month in (None, JULY):
            old_months.leave(month)
        with pytest.raises(GoneToArchive), transaction.atomic():
            ledger.post(stake(player, 300, round_id=uuid4()), again)
        with pytest.raises(GoneToArchive):
            ledger.find(again.key)
        assert broken() == {}
