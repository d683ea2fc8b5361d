"""The verification of the ledger finds every violation: every invariant is violated once, without guards."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from pytest_django import DjangoDbBlocker

from audit.verification import house
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.sweeps import drawn, sweep
from tests.live.at_table import a_live_table, bet
from tests.people import events
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment
from tests.wallet.coups import Coup, a_bank, coup_player, house_player
from tests.wallet.money_moves import a_round, reversing_without_a_void
from wallet import invariants, ledger
from wallet.invariants import guards, verify

CASH = "(SELECT min(id) FROM wallet_account WHERE owner_id IS NOT NULL AND mode = 'R')"
COUP_STAKE, COUP_SETTLE = (
    f"(SELECT max(id) FROM wallet_journal WHERE kind = '{kind}')" for kind in ("stake", "settle")
)
DEPOSIT, STAKE, SETTLE, VOID = (
    f"(SELECT min(id) FROM wallet_journal WHERE kind = '{kind}')" for kind in ("deposit", "stake", "settle", "void")
)
VOIDED_STAKE = "(SELECT max(id) FROM wallet_journal WHERE kind = 'void')"

STUDIO = "kind = 'studio' AND currency = 'SEK' AND mode = 'R'"
STUDIO_ROW = """
    INSERT INTO wallet_studio_transaction (partner_id, transaction, operation, studio_player_id, game, round, currency,
        mode, bet, win, takes_back, bet_key, win_key, request_hash, balance)
    VALUES (1, 't', '{operation}', 1, 'g', 'r', 'SEK', 'R', {bet}, {win}, '', gen_random_uuid(), gen_random_uuid(), '',
        0)
"""
ADJUSTED = "kind = 'adjusted' AND currency = 'SEK' AND mode = 'R'"

# Damage to a valid ledger, the invariant that then fails, and its row.
DAMAGE = [
    (f"UPDATE wallet_entry SET amount = 7 WHERE journal_id = {STAKE} AND line = 2", "journals_sum_to_zero", "sums to"),
    (f"UPDATE wallet_account SET balance = 5 WHERE id = {CASH}", "balances_are_sums", "balance 5"),
    (f"UPDATE wallet_entry SET version = 9 WHERE journal_id = {DEPOSIT} AND line = 2", "chains_are_unbroken", "9"),
    (f"UPDATE wallet_entry SET balance_after = 8 WHERE journal_id = {STAKE} AND line = 1", "chains_are_unbroken", "8"),
    (
        f"UPDATE wallet_entry SET version = 1, balance_after = 1 WHERE journal_id = {STAKE} AND line = 2",
        "chains_are_unbroken",
        "the house keeps no balance",
    ),
    (
        f"UPDATE wallet_journal SET kind = 'studio_win' WHERE id = {DEPOSIT}",
        "studios_move_what_they_said",
        "no transaction of a studio records this studio_win",
    ),
    (
        f"""UPDATE wallet_entry SET account_id = (SELECT id FROM wallet_account WHERE {STUDIO})
            WHERE journal_id = {STAKE} AND line = 2""",
        "studios_move_what_they_said",
        "this stake moves the account of studios",
    ),
    (
        STUDIO_ROW.format(operation="bet", bet=100, win=0),
        "studios_move_what_they_said",
        "not in the ledger: stake",
    ),
    (STUDIO_ROW.format(operation="win", bet=0, win=100), "studios_move_what_they_said", "a win without a bet"),
    (
        "UPDATE players_player SET uses_operator_wallet = true",
        "operators_rounds_are_booked",
        "of an operator's money is left",
    ),
    (f"UPDATE wallet_account SET version = 77 WHERE id = {CASH}", "chains_are_unbroken", "version 77"),
    (
        f"""ALTER TABLE wallet_account DROP CONSTRAINT wallet_account_covered;
            UPDATE wallet_account SET held = balance + 1 WHERE id = {CASH}""",
        "nothing_is_negative",
        "held",
    ),
    (
        f"UPDATE wallet_entry SET balance_after = -3 WHERE journal_id = {STAKE} AND line = 1",
        "nothing_is_negative",
        "balance -3",
    ),
    (f"UPDATE wallet_account SET held = 1 WHERE id = {CASH}", "holds_are_sums", "holds sum to 0"),
    ("UPDATE wallet_hold SET amount = 7", "holds_are_bets", "holds 7, its bets are 5000"),
    ("UPDATE games_liveround SET phase = 'settled'", "holds_are_bets", "holds 5000"),
    ("DELETE FROM wallet_hold", "holds_are_bets", "nothing is held for the bets"),
    (f"DELETE FROM wallet_posting_key WHERE journal_id = {STAKE}", "keys_match_journals", "is missing"),
    ("INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 99)", "keys_match_journals", "no journal 99"),
    ("UPDATE wallet_posting_key SET request_hash = 'x'", "keys_match_journals", "not that of posting key"),
    ("UPDATE wallet_journal SET kind = 'gift'", "keys_match_journals", "not that of its contents"),
    (f"UPDATE wallet_journal SET kind = 'gift' WHERE id = {STAKE}", "journals_are_of_a_known_kind", "a gift of"),
    (
        f"UPDATE wallet_journal SET at = at + interval '1 day' WHERE id = {STAKE}",
        "journals_are_of_a_known_kind",
        "dated",
    ),
    (
        f"""UPDATE wallet_entry
            SET account_id = (SELECT id FROM wallet_account WHERE kind = 'mint' AND currency = 'SEK')
            WHERE journal_id = {STAKE} AND line = 2""",
        "journals_are_of_a_known_kind",
        "moves no mint account like this",
    ),
    (f"DELETE FROM wallet_journal WHERE id = {STAKE}", "entries_have_homes", "no such journal"),
    (f"DELETE FROM wallet_entry WHERE journal_id = {STAKE}", "entries_have_homes", "has no entries"),
    (f"UPDATE wallet_entry SET mode = 'F' WHERE journal_id = {STAKE}", "entries_have_homes", "which is SEK R"),
    (f"UPDATE wallet_entry SET currency = 'EUR' WHERE journal_id = {STAKE}", "entries_have_homes", "which is SEK R"),
    (f"UPDATE wallet_entry SET line = line + 10 WHERE journal_id = {STAKE}", "entries_have_homes", "lines 11 to 12"),
    (
        f"UPDATE wallet_entry SET amount = amount * 2 WHERE journal_id = {VOID}",
        "reversals_are_exact",
        "not the opposite",
    ),
    (f"UPDATE wallet_journal SET round_id = NULL WHERE id = {VOID}", "reversals_are_exact", "not the opposite"),
    (
        f"UPDATE wallet_journal SET reverses_id = {SETTLE} WHERE id = {VOIDED_STAKE}",
        "reversals_are_exact",
        "reversed 2 times",
    ),
    ("DELETE FROM wallet_reversal", "reversals_are_exact", "could be reversed again"),
    (
        f"UPDATE wallet_journal SET kind = 'adjustment' WHERE id = {DEPOSIT}",
        "adjustments_are_approved",
        "this adjustment was not approved",
    ),
    (
        f"""UPDATE wallet_entry SET account_id = (SELECT id FROM wallet_account WHERE {ADJUSTED})
            WHERE journal_id = {STAKE} AND line = 2""",
        "adjustments_are_approved",
        "this stake is not an adjustment",
    ),
    (
        f"""INSERT INTO wallet_adjustment (approval_id, key, account_id, amount, why)
            VALUES (404, gen_random_uuid(), {CASH}, 5, 'round')""",
        "adjustments_are_approved",
        "approval 404: its adjustment is not in the ledger",
    ),
    (f"UPDATE wallet_journal SET round_id = NULL WHERE id = {STAKE}", "escrow_is_empty", "left in escrow"),
    (
        f"UPDATE wallet_journal SET kind = 'rebuy' WHERE id = {STAKE}",
        "purses_stay_with_their_owner",
        "this rebuy is not",
    ),
    (f"UPDATE wallet_journal SET reverses_id = NULL WHERE id = {VOID}", "voids_are_whole", "is not reversed"),
    (
        f"UPDATE wallet_journal SET kind = 'void_shortfall' WHERE id = {DEPOSIT}",
        "voids_are_whole",
        "this void_shortfall is for a round that is not taken back",
    ),
    (
        f"UPDATE wallet_payment SET state = 'credited', authorisation = 'A', journal_id = {DEPOSIT}",
        "payments_are_credited_exactly",
        "credited, but journal",
    ),
    (f"UPDATE wallet_account SET kind = 'pending' WHERE id = {CASH}", "pending_is_what_was_asked_for", "sum to 0"),
    (
        f"UPDATE wallet_journal SET kind = 'bank_won' WHERE id = {COUP_SETTLE}",
        "money_stays_with_its_owner",
        "this bank_won takes from account",
    ),
    (
        "UPDATE wallet_account SET balance = 3 WHERE kind = 'stakes'",
        "stakes_are_paid_out",
        "3 SEK left of its stakes",
    ),
    (f"UPDATE wallet_journal SET round_id = NULL WHERE id = {COUP_STAKE}", "coups_pay_who_staked", "which staked 0"),
    (
        f"UPDATE wallet_entry SET amount = amount + 1 WHERE journal_id = {COUP_SETTLE} AND amount > 0",
        "coups_pay_who_staked",
        "gives account",
    ),
    (
        f"""UPDATE wallet_account SET kind = 'bank' WHERE kind = 'cash' AND id IN (
            SELECT account_id FROM wallet_entry WHERE journal_id = {COUP_SETTLE})""",
        "coups_pay_who_staked",
        "is of 2 banks",
    ),
    (
        "UPDATE wallet_account SET subject_id = gen_random_uuid() WHERE kind = 'stakes'",
        "coups_pay_who_staked",
        "is not the settlement of a coup",
    ),
    (
        "UPDATE wallet_journal SET kind = 'bank' WHERE kind = 'bank_back'",
        "banks_go_home_once",
        "is a bank of -100",
    ),
    (
        "UPDATE wallet_journal SET kind = 'bank_won' WHERE kind = 'bank'",
        "banks_go_home_once",
        "0 was put up, 100 of it was returned",
    ),
    (
        "UPDATE wallet_account SET mode = 'R' WHERE kind = 'seat'",
        "house_players_play_for_nothing",
        "a seat account without an owner in R",
    ),
    ("UPDATE wallet_day SET staked = staked + 1", "days_are_sums", "should be"),
    ("DELETE FROM wallet_day", "days_are_sums", "should be"),
    ("ALTER TABLE wallet_day DISABLE TRIGGER wallet_day_is_counted", "guards_stand", "trigger wallet_day_is_counted"),
    ("GRANT UPDATE ON wallet_day TO sabot_app", "nobody_writes_past_the_door", "UPDATE wallet_day"),
    (
        "ALTER TABLE wallet_entry DISABLE TRIGGER wallet_entry_is_written",
        "guards_stand",
        "trigger wallet_entry_is_written",
    ),
    (
        "ALTER TABLE wallet_journal DISABLE TRIGGER ALL",
        "guards_stand",
        "constraint wallet_journal_posting_key on wallet_journal: ",
    ),
    (
        """CREATE OR REPLACE FUNCTION wallet_refuse_gifts(journals bigint[]) RETURNS void
           LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS 'BEGIN END'""",
        "guards_stand",
        "function wallet_refuse_gifts(",
    ),
    ("DROP TRIGGER wallet_entry_is_kept ON wallet_entry", "guards_stand", "trigger wallet_entry_is_kept"),
    ("DROP TRIGGER wallet_entry_is_written ON wallet_entry", "guards_stand", "trigger wallet_entry_is_written"),
    ("ALTER TABLE audit_event ALTER kind DROP NOT NULL", "guards_stand", "constraint audit_event_kind_not_null"),
    ("DROP TRIGGER audit_event_is_kept ON audit_event", "guards_stand", "trigger audit_event_is_kept"),
    ("GRANT EXECUTE ON FUNCTION audit_erase TO sabot_app", "nobody_writes_past_the_door", "EXECUTE audit_erase(text)"),
    ("GRANT DELETE ON audit_event TO sabot_app", "nobody_writes_past_the_door", "DELETE audit_event"),
    ("DROP INDEX wallet_entry_before_chain", "guards_stand", "in every month: unique index wallet_entry_chain"),
    (
        "ALTER TABLE wallet_entry_before DISABLE TRIGGER wallet_entry_is_kept",
        "guards_stand",
        "in every month: trigger wallet_entry_is_kept",
    ),
    ("ALTER FUNCTION wallet_post SECURITY INVOKER", "guards_stand", "function wallet_post"),
    ("ALTER FUNCTION wallet_post RESET search_path", "guards_stand", "function wallet_post"),
    ("GRANT INSERT ON wallet_entry TO sabot_app", "nobody_writes_past_the_door", "INSERT wallet_entry"),
    ("GRANT UPDATE (balance) ON wallet_account TO PUBLIC", "nobody_writes_past_the_door", "wallet_account.balance"),
]

ONE_FOR_EACH = list({each[1]: each for each in reversed(DAMAGE)}.values())


def write() -> None:
    """Post a deposit, a void and a coup."""
    player = a_player(real=1000)
    a_payment(player)
    staked, settled = a_round(player, staked=100, paid=250)
    with reversing_without_a_void():
        ledger.reverse({settled.journal_id: uuid4()}, kind="void")
        ledger.reverse({staked.journal_id: uuid4()}, kind="void")
    a_coup()
    bet(a_player(real=10_000), a_live_table(), player=5_000)


@pytest.fixture(scope="module")
def written(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """One ledger for all tests that roll back their changes."""
    with django_db_blocker.unblock(), databases.clone("written"):
        write()
        yield


@pytest.fixture
def damage(cloned_db):
    """Return a function that damages a ledger as only a superuser without guards could."""
    write()

    def do(statements: str) -> None:
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute(statements)

    return do


def a_coup() -> None:
    """A bank of 400 loses 300 and is returned; a player joins a practice table."""
    punter, bank = coup_player(a_player(real=1000)), a_bank(coup_player(a_player(real=1000)), 400)
    coup = Coup(bank)
    coup.lay(punter, 300)
    coup.settle({punter: 600})
    bank.move("bank_back", -100)
    house_player(100)


def test_a_ledger_that_only_the_posting_functions_wrote_is_whole(damage):
    assert wholeness.broken() == {}


@pytest.mark.parametrize(
    ("statements", "invariant", "row"),
    sweep(DAMAGE, drawn(ONE_FOR_EACH, 7)),
    ids=[each[0][:60] for each in DAMAGE],
)
def test_damage_is_named(written, django_db_blocker, statements, invariant, row):
    with django_db_blocker.unblock(), databases.damaged(statements):
        assert row in wholeness.broken()[invariant]


def test_every_invariant_has_been_broken_once():
    """Those of rounds, and of rows that were verified before, in tests/games/test_ledger_verified.py."""
    elsewhere = {invariants.STAY.name} | wholeness.OF_ROUNDS
    assert {invariant for _, invariant, _ in DAMAGE} | elsewhere == {invariant.name for invariant in verify.INVARIANTS}


def test_what_is_due_is_what_the_migrations_made(cloned_db):
    assert guards.LIST.read_text().splitlines() == guards.in_force(), "run make guards"


@pytest.fixture
def damage_of_deposit(cloned_db):
    """Return a function that damages the balance of a player who has not played."""
    a_player(real=1000)

    def do() -> None:
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute(f"UPDATE wallet_account SET balance = 5 WHERE id = {CASH}")

    return do


@pytest.mark.sweep
def test_of_many_broken_rows_some_are_shown(damage):
    damage("INSERT INTO wallet_posting_key SELECT gen_random_uuid(), '', 99 FROM generate_series(1, 500)")
    (check,) = (check for check in wholeness.checks() if check.rows)
    assert len(check.rows) == verify.MOST_ROWS


@pytest.mark.parametrize("is_whole", [False, True])
class TestTheTask:
    def test_puts_on_record_that_all_is_well(self, damage_of_deposit, is_whole):
        house.run(is_whole=is_whole, parts=["ledger"])
        event = events("ledger.verified")[-1]
        assert event["data"] == {"invariants": len(verify.INVARIANTS), "is_whole": is_whole}

    def test_puts_on_record_what_is_broken(self, damage_of_deposit, is_whole):
        damage_of_deposit()
        house.run(is_whole=is_whole, parts=["ledger"])
        (event,) = events("ledger.broken")
        assert list(event["data"]) == ["balances_are_sums"]
        assert not events("ledger.verified")


def test_who_reads_only_the_sound_part_does_not_say_that_all_is_well(damage, monkeypatch):
    """Another process has verified the range with the fault, and has raised the alarm."""
    damage(f"UPDATE wallet_entry SET amount = 7 WHERE journal_id = {DEPOSIT} AND line = 2")
    begin = verify._begin

    def shared(**how):
        verification, first, beyond = begin(**how)
        ((first, _before, invariant, _finding), *_) = verify._verify_next(verification, chains=False, most=1)
        assert invariant == "journals_sum_to_zero"
        return verification, first, beyond

    monkeypatch.setattr(verify, "_begin", shared)
    with pytest.raises(verify.VerificationEnded, match="Another process has found faults"):
        verify.run(is_whole=False)
    assert not events("ledger.verified")
