"""Limits on deposits, stakes and losses, enforced by the database in the statement that moves the
money.
"""

from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import translation

from games import solo
from games.errors import OverLimit
from players.models import LimitKind, LimitSource, Period
from players.protection.limits import set_limit
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.people import events
from tests.players.limit_clock import a_day, let_pass
from tests.wallet import wholeness
from tests.wallet.money_moves import a_round as a_rounds_money
from tests.wallet.money_moves import cash, house, move, settle, stake, write
from wallet import ledger, limits
from wallet.ledger import Journal, LimitReached, accounts, purse
from wallet.models import Day, Mode

MONEY = 1_000_000
CODES = ["SE", "DK", "RO", "DE", "GB"]


def deposit(player, amount, *, key=None):
    lines = move((house("cashier", player), -amount), (cash(player), amount), currency=player.currency)
    return Journal(key or uuid4(), "deposit", lines)


def limit(player, kind, period, amount, source=LimitSource.PLAYER):
    set_limit(player=player, kind=LimitKind(kind), period=Period(period), amount=amount, by=str(player), source=source)


def counted(player):
    found = Day.objects.get(player=player)
    return found.deposited, found.withdrawn, found.staked, found.paid


def refused(post):
    """Expect a refusal by the ledger and return its reason."""
    with pytest.raises(LimitReached) as why, transaction.atomic():
        post()
    return why.value


def is_whole():
    """Return whether all invariants hold, except stakes that these tests do not settle."""
    return not any(check.rows for check in wholeness.checks() if check.invariant.name != "escrow_is_empty")


@pytest.mark.django_db
class TestCounting:
    def test_every_movement_counts_where_it_belongs(self):
        player = a_player("GB", real=1000)
        a_rounds_money(player, staked=100, paid=250)
        a_rounds_money(player, staked=30, paid=0)
        assert counted(player) == (1000, 0, 130, 250)

    def test_free_money_counts_nowhere(self):
        player = a_player("GB", free=MONEY)
        a_round(player, a_table(), Mode.FREE, player=1000)
        assert not Day.objects.filter(player=player).exists()

    def test_what_passes_between_cash_and_purse_counts_nowhere_and_a_stake_from_either_does(self):
        player = a_player(real=MONEY)
        a_purse(player, 50_000)
        a_round(player, a_golden_table(), player=1000)
        a_round(player, a_table(), player=1000)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        assert counted(player)[0] == MONEY
        assert counted(player)[2] == 2000

    @pytest.mark.parametrize("code", CODES)
    def test_on_the_day_it_is_where_the_player_is(self, code):
        player = a_player(code, real=100)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT DISTINCT (j.at AT TIME ZONE %s)::date FROM wallet_journal AS j"
                " JOIN wallet_entry AS e ON e.journal_id = j.id WHERE e.account_id = %s",
                [player.jurisdiction.time_zone, cash(player)],
            )
            assert [(Day.objects.get(player=player).day,)] == cursor.fetchall()

    @pytest.mark.usefixtures("without_voids")
    def test_a_void_takes_back_what_its_round_counted(self):
        player = a_player("GB", real=1000)
        staked, settled = a_rounds_money(player, staked=100, paid=250)
        for journal in (staked, settled):
            ledger.reverse({journal.journal_id: uuid4()}, kind="void")
        assert counted(player) == (1000, 0, 0, 0)

    def test_a_key_sent_twice_counts_once(self):
        player = a_player("GB", real=1000)
        journal = stake(player, 100)
        write(journal)
        write(journal)
        assert counted(player)[2] == 100


@pytest.mark.sweep
def test_a_void_on_a_later_day_gives_the_room_back_on_the_day_of_the_round(cloned_db, owner, without_voids):
    player = a_player("GB", real=1000)
    staked, settled = a_rounds_money(player, staked=100, paid=0)
    for table in ("wallet_journal", "wallet_day"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    there = {"zone": player.jurisdiction.time_zone}  # forty days may be an hour more or less there
    owner.execute(
        "UPDATE wallet_journal SET at = ((at AT TIME ZONE %(zone)s) - interval '40 days') AT TIME ZONE %(zone)s", there
    )
    owner.execute("UPDATE wallet_day SET day = day - 40")
    for table in ("wallet_journal", "wallet_day"):
        owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    limit(player, "loss", "day", 1)
    for journal in (staked, settled):
        ledger.reverse({journal.journal_id: uuid4()}, kind="void")
    without_voids()
    assert counted(player) == (1000, 0, 0, 0)
    assert is_whole()


@pytest.mark.django_db
class TestHeldTo:
    @pytest.mark.parametrize("period", Period, ids=str)
    @pytest.mark.parametrize("kind", ["stake", "loss"])
    def test_a_stake_at_the_limit_passes_and_one_more_minor_unit_does_not(self, kind, period):
        player = a_player("GB", real=1000)
        limit(player, kind, period, 500)
        write(stake(player, 400))
        assert refused(lambda: write(stake(player, 101))).left == 100
        write(stake(player, 100))
        why = refused(lambda: write(stake(player, 1)))
        assert (why.kind, why.period, why.limit, why.left, why.currency) == (kind, period, 500, 0, "GBP")

    @pytest.mark.parametrize("period", Period, ids=str)
    def test_so_does_a_deposit(self, period):
        player = a_player("GB", real=300)
        limit(player, "deposit", period, 500)
        assert refused(lambda: write(deposit(player, 201))).left == 200
        write(deposit(player, 200))
        why = refused(lambda: write(deposit(player, 1)))
        assert (why.kind, why.period, why.limit, why.left) == ("deposit", period, 500, 0)

    def test_in_germany_1_000_euros_a_month_whatever_the_player_says(self):
        player = a_player("DE", real=99_999)
        why = refused(lambda: write(deposit(player, 2)))
        assert (why.kind, why.period, why.limit, why.left) == ("deposit", "month", 100_000, 1)

    def test_gli19_2_5_5_of_several_limits_the_tightest_is_reported(self):
        player = a_player("GB", real=1000)
        limit(player, "stake", "day", 500)
        limit(player, "stake", "week", 400)
        limit(player, "loss", "month", 300)
        limit(player, "stake", "month", 200, LimitSource.HOUSE)
        why = refused(lambda: write(stake(player, 201)))
        assert (why.kind, why.period, why.left) == ("stake", "month", 200)

    def test_a_loss_is_stakes_less_payouts_and_a_stake_is_held_to_the_worst(self):
        player = a_player("GB", real=1000)
        limit(player, "loss", "day", 100)
        a_rounds_money(player, staked=100, paid=60)
        assert refused(lambda: write(stake(player, 61))).left == 60
        assert refused(lambda: a_rounds_money(player, staked=61, paid=200)).left == 60
        a_rounds_money(player, staked=60, paid=200)
        write(stake(player, 200))

    @pytest.mark.usefixtures("without_voids")
    def test_payouts_voids_and_what_passes_between_own_accounts_are_never_refused(self):
        player = a_player("GB", real=1000)
        staked, settled = a_rounds_money(player, staked=100, paid=900)
        (open_stake,) = write(stake(player, 100))
        for kind in ("stake", "loss", "deposit"):
            limit(player, kind, "day", 0)
        write(settle(player, 100, 50))
        purse.rebuy(player=player, mode=Mode.REAL, amount=100, key=uuid4())
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        for journal in (staked, settled, open_stake):
            ledger.reverse({journal.journal_id: uuid4()}, kind="void")

    def test_free_money_knows_no_limit_of_money(self):
        player = a_player("GB", free=MONEY)
        limit(player, "stake", "day", 0)
        a_round(player, a_table(), Mode.FREE, player=1000)

    def test_a_stake_from_cash_and_one_from_the_purse_count_together(self):
        player = a_player(real=MONEY)
        a_purse(player, 50_000)
        limit(player, "stake", "day", 3000)
        a_round(player, a_golden_table(), player=1000)
        with pytest.raises(OverLimit):
            a_round(player, a_table(), player=5000)

    def test_asked_beforehand_the_answer_is_the_same(self):
        player = a_player("GB", real=300)
        limits.check_stake(player, 10**9)
        limit(player, "stake", "day", 50)
        limit(player, "deposit", "day", 300)
        limits.check_stake(player, 50)
        assert refused(lambda: limits.check_stake(player, 51)).left == 50
        assert refused(lambda: limits.check_deposit(player, 1)).left == 0


class TestPeriods:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("period", "day", "used"),
        sample(
            [
                ("day", "2026-11-22", 4),
                ("week", "2026-11-22", 6),  # a Sunday
                ("week", "2026-11-23", 8),
                ("week", "2026-11-16", 2),
                ("month", "2026-11-22", 7),
                ("month", "2026-11-30", 15),
                ("month", "2026-12-01", 16),
            ],
            2,
        ),
    )
    def test_count_from_their_first_day_on(self, cloned_db, owner, period, day, used):
        player = a_player("GB")
        for staked, on in [
            (1, "2026-11-15"),
            (2, "2026-11-16"),
            (4, "2026-11-22"),
            (8, "2026-11-23"),
            (16, "2026-12-01"),
        ]:
            a_day(owner, player, on, staked=staked)
        with connection.cursor() as cursor:
            cursor.execute("SELECT wallet_used(%s::bigint, 'stake', %s::text, %s::date)", [player.pk, period, day])
            assert cursor.fetchone() == (used,)

    @pytest.mark.sweep
    def test_what_was_staked_in_the_last_period_leaves_this_one_s_room_whole(self, cloned_db, owner):
        player = a_player("GB", real=1000)
        a_day(owner, player, "2020-01-01", staked=10**6, deposited=10**6)
        for period in Period:
            limit(player, "stake", period, 100)
        write(stake(player, 100))

    @pytest.mark.sweep
    def test_a_raised_limit_leaves_more_room_when_its_time_has_come(self, cloned_db, owner):
        player = a_player("DK", real=1000)
        limit(player, "stake", "month", 100)
        limit(player, "stake", "month", 200)
        assert refused(lambda: write(stake(player, 101))).limit == 100
        let_pass(owner, player, 24)
        write(stake(player, 200))


@pytest.mark.django_db
class TestDepositsBegun:
    def test_a_deposit_begun_takes_room_and_one_given_up_gives_it_back(self):
        player, key = a_player("GB"), uuid4()
        limit(player, "deposit", "day", 500)
        limits.reserve_deposit(player=player, key=key, amount=400)
        assert refused(lambda: limits.reserve_deposit(player=player, key=uuid4(), amount=101)).left == 100
        assert refused(lambda: write(deposit(player, 101))).left == 100
        assert limits.usage(player)[LimitKind.DEPOSIT, Period.DAY] == 400
        limits.release_deposit(key=key)
        write(deposit(player, 500))

    def test_the_same_key_takes_room_once(self):
        player, key = a_player("GB"), uuid4()
        limit(player, "deposit", "day", 500)
        for _ in range(2):
            limits.reserve_deposit(player=player, key=key, amount=400)
        assert limits.usage(player)[LimitKind.DEPOSIT, Period.DAY] == 400

    @pytest.mark.parametrize("given_up", [False, True], ids=["open", "given up"])
    def test_money_that_has_left_the_bank_is_credited_whatever_limit_was_set_since(self, given_up):
        player, key = a_player("GB"), uuid4()
        limits.reserve_deposit(player=player, key=key, amount=400)
        if given_up:
            limits.release_deposit(key=key)
        limit(player, "deposit", "day", 10)
        write(deposit(player, 400, key=key))
        assert counted(player)[0] == limits.usage(player)[LimitKind.DEPOSIT, Period.DAY] == 400

    def test_a_key_carries_no_more_than_it_was_begun_for_and_for_nobody_else(self):
        player, other, key = a_player("GB"), a_player("GB"), uuid4()
        for each in (player, other):
            limit(each, "deposit", "day", 400)
        limits.reserve_deposit(player=player, key=key, amount=400)
        refused(lambda: write(deposit(player, 401, key=key)))
        refused(lambda: write(deposit(other, 401, key=key)))


@pytest.mark.django_db
class TestAtATable:
    def test_a_round_beyond_a_limit_is_refused_before_its_seed_is_opened_and_stays_the_next_one(self):
        player, table = a_player(real=MONEY), a_table()
        limit(player, "stake", "day", 1500)
        seat = a_seat(player, table, player=1000, tie=1000)
        with pytest.raises(OverLimit) as why:
            solo.play_round(
                player=player,
                table_id=table.pk,
                mode=Mode.REAL,
                round_id=seat.round_id,
                slip_version=seat.slip_version,
            )
        assert (why.value.reached.left, why.value.reached.kind) == (1500, "stake")
        after = solo.solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL)
        assert (after.round_id, bytes(after.sealed_seed)) == (seat.round_id, bytes(seat.sealed_seed))
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert events("round.refused")[-1]["data"]["reason"] == "OverLimit"

    @pytest.mark.parametrize("language", sample(["en", "sv", "da", "ro", "de"], 1))
    @pytest.mark.parametrize("kind", ["deposit", "stake", "loss"])
    @pytest.mark.parametrize("period", Period, ids=str)
    def test_the_refusal_is_a_sentence_with_both_amounts(self, language, kind, period):
        with translation.override(language):
            message = str(LimitReached(kind, period, 123_400, 5600, "SEK"))
        digits = "".join(letter for letter in message if letter.isdigit())
        assert digits == "1234005600"
        assert message.endswith(".")
        if language != "en":
            with translation.override("en"):
                assert message.split(" ")[1:3] != str(LimitReached(kind, period, 123_400, 5600, "SEK")).split(" ")[1:3]


def test_not_even_the_owner_of_the_tables_counts_by_hand(cloned_db, owner):
    player = a_player("GB", real=100)
    limits.reserve_deposit(player=player, key=uuid4(), amount=100)
    for statement in (
        "UPDATE wallet_day SET staked = 0",
        "INSERT INTO wallet_day (player_id, day) SELECT id, '2020-01-01' FROM players_player",
        "DELETE FROM wallet_day",
        "TRUNCATE wallet_day",
        "DELETE FROM wallet_reserved",
        "UPDATE wallet_reserved SET amount = 1",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner.execute(statement)


class TestTheFunctionsOfLimits:
    """Unknown arguments of the functions; only the owner of the tables can pass them."""

    @pytest.mark.parametrize("kind", sample(["losses", "time", "", None], 1))
    def test_nothing_is_counted_against_a_kind_that_is_no_limit_on_money(self, cloned_db, owner, kind):
        player = a_player(real=10_000)
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="no limit on money"):
            owner.execute("SELECT wallet_used(%s, %s, 'day', current_date)", [player.pk, kind])

    def test_a_movement_that_has_no_limits_is_refused_and_not_let_through(self, cloned_db, owner):
        player = a_player(real=10_000)
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="no limits are known"):
            owner.execute("SELECT wallet_room(%s, 'stakes')", [player.pk])
