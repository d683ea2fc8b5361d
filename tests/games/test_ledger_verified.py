"""The verification of the ledger names what the owner of the database plants: payouts and stakes without a round,
wagers or rules behind them, and journals that the writer did not write.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import ProgrammingError, connection, transaction

from games.models import Participation, Phase, Table
from games.registration import ROUNDS
from players.models import Player
from tests.builders import a_player, a_round, a_seat, a_table
from tests.games.test_rounds_are_written_by_functions import as_played, without_refusal
from tests.harness.databases import kept_for_several_tests
from tests.harness.owner import OwnerWithin, as_owner, unguarded, without_guards
from tests.live.at_table import a_live_table, advance_to, bet
from wallet.invariants.verify import Progress, VerificationEnded, run
from wallet.ledger import accounts
from wallet.models import AccountKind, Journal, Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
STAKE = 1_000
WRITE = "SELECT * FROM wallet_write(jsonb_build_array(jsonb_build_object('key', gen_random_uuid(), 'kind', %s::text,"
POST = f"{WRITE} 'round', %s::uuid, 'lines', %s::jsonb)), false)"
# As the writer writes them, except that the writer is not asked.
PLANT = """
WITH line AS (
    SELECT * FROM unnest(%(accounts)s::bigint[], %(amounts)s::bigint[]) WITH ORDINALITY AS l (account, amount, n)
), asked AS (
    SELECT nextval('wallet_journal_id_seq') AS id, gen_random_uuid() AS key,
        wallet_request_hash(%(kind)s, %(round)s, %(reverses)s, array_agg(account ORDER BY n)::text,
            array_agg(amount ORDER BY n)::text) AS hash FROM line
), keyed AS (
    INSERT INTO wallet_posting_key (key, request_hash, journal_id) SELECT key, hash, id FROM asked
), journal AS (
    INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, reverses_id, at)
    SELECT id, key, hash, %(kind)s, %(round)s, %(reverses)s, clock_timestamp() FROM asked
), reversal AS (
    INSERT INTO wallet_reversal (journal_id, by_id) SELECT %(reverses)s, id FROM asked WHERE %(reverses)s IS NOT NULL
), entry AS (
    INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
    SELECT asked.id, n, a.id, a.currency, a.mode, amount, a.balance + amount,
        CASE WHEN a.balance IS NOT NULL THEN a.version + 1 END
    FROM line JOIN wallet_account AS a ON a.id = account CROSS JOIN asked
), moved AS (
    UPDATE wallet_account AS a SET balance = a.balance + amount, version = a.version + 1
    FROM line WHERE a.id = account AND a.balance IS NOT NULL AND %(moves)s
)
SELECT id FROM asked
"""


def plant(
    kind: str,
    lines: dict[int, int],
    *,
    round_id: UUID | None = None,
    reverses: int | None = None,
    moves: bool = True,
) -> int:
    """Insert a journal past the writer and return its id.

    *lines*: amounts by account. *moves*: whether balances follow.
    """
    values: dict[str, Any] = {"kind": kind, "round": round_id, "reverses": reverses, "moves": moves}
    values |= {"accounts": list(lines), "amounts": list(lines.values())}
    assert unguarded(PLANT, values)
    return Journal.objects.latest("pk").pk


def post(owner: OwnerWithin, kind: str, round_id: UUID | None, lines: dict[int, int], mode: Mode = Mode.REAL) -> int:
    """Post a journal by the writer, which only the owner can call, and return its id."""
    asked = ", ".join(f'[{account}, "SEK", "{mode.value}", {amount}]' for account, amount in lines.items())
    owner.execute(POST, [kind, round_id, f"[{asked}]"])
    return Journal.objects.latest("pk").pk


def change(statement: str) -> None:
    """Change rows of money and rounds as a superuser; those of the view of wagers by its trigger."""
    if "games_wager" in statement:
        with without_guards("games_participation"):
            assert as_owner(statement)
    else:
        assert unguarded(statement)


def verify(*, is_whole: bool = True, from_start: bool = False) -> str:
    """Return what a verification finds, "" if nothing."""
    checks = run(is_whole=is_whole, from_start=from_start)
    return "\n".join(f"{check.invariant.name}: {row}" for check in checks for row in check.rows)


def holds(*, is_whole: bool = True, from_start: bool = False) -> bool:
    assert verify(is_whole=is_whole, from_start=from_start) == ""
    return True


def age(hours: int = 2) -> None:
    """Let verifications have begun some hours earlier, so that their ends count."""
    as_owner("UPDATE ledger_verification SET began_at = began_at - make_interval(hours => %s)", [hours])


class Played:
    """The player with a finished solo round of two bets."""

    def __init__(self) -> None:
        self.player, self.table = Player.objects.get(), Table.objects.get()
        self.part = Participation.objects.get()
        self.round_id = self.part.round_id
        self.cash = accounts.player_account(self.player.pk, Mode.REAL)
        self.house = accounts.house_account(AccountKind.HOUSE, "SEK", Mode.REAL)
        self.escrow = accounts.house_account(AccountKind.ESCROW, "SEK", Mode.REAL)

    def play(self) -> None:
        """Play three more rounds."""
        for _ in range(3):
            a_round(self.player, self.table, player=STAKE)


@pytest.fixture(autouse=True, scope="module")
def a_played_round(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), kept_for_several_tests():
        a_round(a_player(real=MONEY), a_table(), player=STAKE, tie=STAKE)
        yield


@pytest.fixture
def played() -> Played:
    return Played()


def test_rounds_of_the_product_are_whole(played):
    live_table, players = a_live_table(), [a_player(real=MONEY), a_player(real=MONEY)]
    for player in players:
        bet(player, live_table, player=5_000)
    advance_to(live_table, Phase.SETTLED)
    assert holds()
    assert holds(is_whole=False)
    assert holds(from_start=True)


class TestIsNamed:
    def test_a_payout_without_a_stored_round(self, played, owner):
        invented = uuid4()
        journal = post(owner, "settle", invented, {played.house: -STAKE, played.cash: STAKE})
        said = verify()
        assert f"journals_have_rounds: journal {journal}: this settle moves {STAKE} on account {played.cash}" in said
        assert f"for round {invented}, which is not stored" in said

    def test_a_payout_for_no_round(self, played, owner):
        journal = post(owner, "settle", None, {played.house: -STAKE, played.cash: STAKE})
        assert f"journal {journal}: this settle moves {STAKE} on account {played.cash} for no round" in verify()

    def test_a_stake_without_a_stored_round(self, played, owner):
        invented = uuid4()
        journal = post(owner, "stake", invented, {played.cash: -STAKE, played.escrow: STAKE})
        said = verify()
        assert f"journal {journal}: this stake moves -{STAKE} on account {played.cash} for round {invented}" in said
        assert f"escrow_is_empty: round {invented}: SEK R left in escrow: {STAKE}" in said

    def test_a_second_payout_of_a_round(self, played, owner):
        journal = post(owner, "settle", played.round_id, {played.house: -77, played.cash: 77})
        said = verify()
        gain = played.part.paid - played.part.staked + 77
        assert f"rounds_pay_what_they_say: round {played.round_id}: journals " in said
        assert f", {journal} take {2 * STAKE} from player {played.player.pk} and leave a gain of {gain};" in said
        assert f"says staked {2 * STAKE}, paid {played.part.paid}" in said

    def test_a_payout_to_somebody_who_did_not_play(self, played, owner):
        other = a_player(real=MONEY)
        journal = post(
            owner, "settle", played.round_id, {played.house: -77, accounts.player_account(other.pk, Mode.REAL): 77}
        )
        assert f"journals {journal} take 0 from player {other.pk} and leave a gain of 77; its participation says" in (
            verify()
        )

    def test_a_stake_that_no_wager_has(self, played, owner):
        post(owner, "stake", played.round_id, {played.cash: -STAKE, played.escrow: STAKE})
        assert f"take {3 * STAKE} from player {played.player.pk}" in verify()

    def test_a_payout_without_stored_wagers(self, played):
        change(f"DELETE FROM games_wager WHERE participation_id = {played.part.pk}")
        assert (
            f"wagers_are_sums: round {played.round_id}: wagers of player {played.player.pk} add up to staked 0, paid 0;"
            f" its participation says {2 * STAKE} and {played.part.paid}"
        ) in verify()

    def test_a_payout_without_a_stored_participation(self, played):
        change(f"DELETE FROM games_wager WHERE participation_id = {played.part.pk}")
        change(f"DELETE FROM games_participation WHERE id = {played.part.pk}")
        assert f"from player {played.player.pk} and leave a gain of" in verify()
        assert "its participation says staked nothing, paid nothing" in verify()

    @pytest.mark.parametrize("column", ["stake", "payout"])
    def test_a_wager_of_another_amount(self, played, column):
        change(f"UPDATE games_wager SET {column} = {column} + 5 WHERE participation_id = {played.part.pk}")
        assert f"wagers_are_sums: round {played.round_id}" in verify()

    def test_a_participation_and_its_wagers_that_say_more_than_was_staked(self, played):
        change(f"UPDATE games_wager SET stake = stake + 5 WHERE participation_id = {played.part.pk}")
        change(f"UPDATE games_participation SET staked = staked + 10 WHERE id = {played.part.pk}")
        assert f"its participation says staked {2 * STAKE + 10}" in verify()

    def test_a_payout_above_the_paytable(self, owner):
        seat = a_seat(a_player(real=MONEY), Table.objects.get(), player=STAKE)
        without_refusal(owner, "games_finish_solo_round", "SB063")
        replace(as_played(seat, player=STAKE), payouts=[1_000 * STAKE], results=["win"], commissions=[0]).send()
        said = verify()
        assert (
            f"payouts_follow_the_paytable: round {seat.round_id}: bet player of player {seat.player_id} pays 1000000"
            in said
        )
        assert f"for a stake of {STAKE}, at most " in said

    def test_a_payout_of_a_bet_that_the_rules_do_not_have(self, played):
        change(f"UPDATE games_wager SET bet = 'dragon' WHERE participation_id = {played.part.pk} AND bet = 'tie'")
        assert "bet dragon of player" in verify()

    def test_a_paytable_that_was_raised_for_a_round_does_not_help(self, played):
        change(f"UPDATE games_round SET outcome = 'tie' WHERE id = '{played.round_id}'")
        paid = [f"UPDATE games_wager SET payout = 10 * stake WHERE bet = 'tie' AND participation_id = {played.part.pk}"]
        change(paid[0])
        assert (
            f"bet tie of player {played.player.pk} pays {10 * STAKE} for a stake of {STAKE}, at most {9 * STAKE}"
            in verify()
        )

    def test_a_kind_outside_of_the_closed_set(self, played):
        journal = plant("gift", {played.house: -STAKE, played.cash: STAKE})
        assert f"journals_are_of_a_known_kind: journal {journal}: a gift of " in (said := verify())
        assert f"{STAKE} on account {played.cash}" in said

    def test_a_movement_that_a_known_kind_does_not_make(self, played):
        journal = plant("deposit", {played.house: -STAKE, played.cash: STAKE})
        assert f"journal {journal}: a deposit of " in (said := verify())
        assert f"moves no house account like this: -{STAKE} on account {played.house}" in said

    def test_a_journal_past_the_writer_that_moved_no_balance(self, played):
        cashier = accounts.house_account(AccountKind.CASHIER, "SEK", Mode.REAL)
        plant("deposit", {cashier: -STAKE, played.cash: STAKE}, moves=False)
        balance = accounts.balance(played.player.pk, Mode.REAL)
        assert (
            f"balances_are_sums: account {played.cash}: balance {balance}, entries sum to {balance + STAKE}" in verify()
        )
        assert f"account {played.cash}: version" in verify(is_whole=False)

    def test_a_journal_past_the_writer_that_did_not_count_its_day(self, played):
        cashier = accounts.house_account(AccountKind.CASHIER, "SEK", Mode.REAL)
        plant("deposit", {cashier: -STAKE, played.cash: STAKE})
        assert f"days_are_sums: player {played.player.pk} on " in verify()

    def test_a_journal_past_the_writer_without_a_key(self, played, owner):
        cashier = accounts.house_account(AccountKind.CASHIER, "SEK", Mode.REAL)
        journal = plant("deposit", {cashier: -STAKE, played.cash: STAKE})
        owner.execute("ALTER TABLE wallet_journal DROP CONSTRAINT wallet_journal_posting_key")
        change(f"DELETE FROM wallet_posting_key WHERE journal_id = {journal}")
        assert f"keys_match_journals: journal {journal}: its posting key" in verify()

    def test_a_deposit_without_any_key(self, played):
        cashier = accounts.house_account(AccountKind.CASHIER, "SEK", Mode.REAL)
        journal = plant("deposit", {cashier: -STAKE, played.cash: STAKE})
        change(f"UPDATE wallet_journal SET key = NULL, request_hash = NULL WHERE id = {journal}")
        change(f"DELETE FROM wallet_posting_key WHERE journal_id = {journal}")
        assert f"keys_match_journals: journal {journal}: this deposit has no posting key" in verify()

    def test_a_reversal_that_is_no_opposite(self, played, owner):
        ((stake,),) = owner.execute("SELECT max(id) FROM wallet_journal WHERE kind = 'stake'").fetchall()
        lines = {played.cash: 3 * STAKE, played.escrow: -3 * STAKE}
        journal = plant("void_stake", lines, round_id=played.round_id, reverses=stake)
        said = verify()
        assert f"reversals_are_exact: journal {journal}: is not the opposite of journal {stake}" in said
        assert f"escrow_is_empty: round {played.round_id}" in said

    def test_in_a_shared_round_with_many_players(self):
        live_table, players = a_live_table(), [a_player(real=MONEY) for _ in range(3)]
        for player in players:
            bet(player, live_table, player=5_000)
        settled = advance_to(live_table, Phase.SETTLED)
        assert holds()
        change(f"UPDATE games_participation SET paid = paid + 9 WHERE player_id = {players[1].pk}")
        said = verify()
        assert f"rounds_pay_what_they_say: round {settled.pk}" in said
        assert f"player {players[0].pk} " not in said


CHANGES_AFTERWARDS = (
    ("games_round", "UPDATE games_round SET cards = 'AH ' || cards"),
    ("games_participation", "UPDATE games_participation SET balance_before = 7"),
    ("games_participation", "UPDATE games_wager SET result = 'push'"),
    ("wallet_journal", "UPDATE wallet_journal SET at = at - interval '1 second'"),
    (
        "wallet_entry",
        "UPDATE wallet_entry SET mode = 'F' WHERE version IS NULL",
    ),
)


class TestAgain:
    """Verified rows are not verified again, but compared with their state at that time."""

    def test_verified_rows_are_compared_with_the_checkpoint(self, played):
        assert holds()
        age()
        change("UPDATE games_round SET at = at - interval '3 hours'")
        assert holds()  # this one writes the checkpoint
        assert holds()
        for table, statement in CHANGES_AFTERWARDS:
            with transaction.atomic():
                change(statement)
                assert f"verified_rows_stay: {table}: rows of journals below " in verify(), statement
                transaction.set_rollback(True)

    def test_changed_rows_are_an_alarm_until_they_are_accepted(self, played):
        assert holds()
        age()
        assert holds()
        change("UPDATE wallet_journal SET at = at - interval '1 second'")
        for _ in range(2):
            assert "verified_rows_stay: wallet_journal" in verify()
        assert holds(from_start=True)
        assert holds()

    def test_new_journals_alone_are_read_for_the_hour(self, played, owner):
        assert holds(is_whole=False)
        age()
        change(f"DELETE FROM games_wager WHERE participation_id = {played.part.pk}")
        assert holds(is_whole=False)
        journal = post(owner, "settle", uuid4(), {played.house: -STAKE, played.cash: STAKE})
        assert f"journal {journal}: this settle" in verify(is_whole=False)
        assert "wagers_are_sums" in verify(from_start=True)

    def test_what_was_found_is_found_again(self, played, owner):
        post(owner, "settle", uuid4(), {played.house: -STAKE, played.cash: STAKE})
        for _ in range(2):
            assert "journals_have_rounds" in verify(is_whole=False)
            age()

    def test_an_interrupted_verification_continues(self, played, owner):
        played.play()
        begun = owner.execute(
            "SELECT verification, first, beyond FROM wallet_begin_verification(false, false)"
        ).fetchone()
        assert begun
        ((after, *_nothing),) = owner.execute("SELECT * FROM wallet_verify_next(%s, 3, true)", begun[:1]).fetchall()
        shown: list[Progress] = []
        run(is_whole=False, tell=shown.append)
        assert shown == [Progress(begun[2], begun[2])]
        assert begun[1] < after < begun[2]
        (ended,) = owner.execute("SELECT id FROM ledger_verification WHERE ended_at IS NOT NULL").fetchall()
        assert ended == begun[:1]

    def test_a_verification_that_another_process_has_ended(self, played, owner):
        played.play()
        with pytest.raises(VerificationEnded):
            run(tell=lambda _progress: owner.execute("SELECT * FROM wallet_begin_verification(true, false)"), most=1)

    @pytest.mark.parametrize("statement", ["UPDATE ledger_verification SET next = 0", "DELETE FROM ledger_checkpoint"])
    def test_the_login_role_cannot_write_the_position(self, played, owner, statement):
        assert holds()
        with connection.cursor() as web:
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                web.execute(statement)
            for table in ("ledger_verification", "ledger_checkpoint"):
                owner.execute(f"GRANT ALL ON {table} TO sabot_app")
            web.execute(statement)


def test_every_invariant_of_rounds_has_been_broken_once():
    """The tests above name each."""
    source = Path(__file__).read_text()
    assert all(f"{invariant.name}: round" in source or f"{invariant.name}: journal" in source for invariant in ROUNDS)
