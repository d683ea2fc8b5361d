"""Statements that the role of web and workers sends about versions, rules, verifications, events,
deposits, top-ups, reversals, log-in locks, sanctions lists and mail without our code.

Each is refused, and succeeds once the right is granted or the condition is removed from the
function.
"""

import json
from datetime import date
from uuid import uuid4

import pytest
from django.db import connection, transaction

from audit import log
from games.models import TableVersion, VerificationDue
from games.rounds import verification_queue
from players import mail
from players.login import credentials, locks
from players.models import Case, CaseKind, LogInLock, Mail, Player, ScreeningEntry
from players.protection import screening
from tests.attacks.statements import refused, send
from tests.builders import a_player, a_round, a_submission, a_table
from tests.harness.owner import as_owner, update_as_owner, without
from tests.wallet.money_moves import a_round as posted_round
from tests.wallet.money_moves import cash, house, move
from wallet import ledger
from wallet.cashier import FREE_MONEY
from wallet.ledger import Journal
from wallet.models import Account, Mode, Payment
from wallet.models import Journal as StoredJournal
from wallet.payments import deposits
from wallet.payments.notifications import journal_key

pytestmark = pytest.mark.django_db


def begun(player: Player, amount: int) -> Payment:
    """Return a deposit that the provider has not confirmed."""
    return deposits.begin(player=player, amount=amount, key=uuid4())


def balance(account: int) -> int:
    return Account.objects.get(pk=account).balance or 0


class TestVersions:
    ADD = "SELECT games_add_table_version(%s, %s, %s)"

    def content(self, table, **changes):
        version = table.version
        names = ("rules_version", "rules_digest", "limits", "clock", "jurisdictions", "modes")
        return json.dumps({name: getattr(version, name) for name in names} | {"approval": None} | changes)

    def test_of_a_table_that_was_never_opened_take_a_proof(self):
        table = a_table(is_open=False)
        dear = self.content(table, limits={"SEK": {"bets": {"tie": [1, 10**12]}, "step": 1}})
        proof = credentials.content_proof(f"table version:{table.pk}:1", dear)  # of the one before
        for wrong in (b"", None, proof):
            refused(self.ADD, table.pk, dear, wrong, by="SB128")
        without("games_add_table_version", "IS NOT TRUE", "IS NULL AND false")
        send(self.ADD, table.pk, dear, b"")

    def test_are_added_by_no_statement(self):
        table = a_table(is_open=False)
        added = (
            "INSERT INTO games_tableversion"
            " (table_id, number, rules_version, rules_digest, limits, jurisdictions, modes)"
            " SELECT table_id, 2, rules_version, rules_digest, '{}', jurisdictions, modes FROM games_tableversion"
        )
        refused(added)
        as_owner("GRANT INSERT ON games_tableversion TO sabot_app")
        send(added)
        assert TableVersion.objects.filter(table=table).count() == 2

    def test_a_proof_does_not_replace_two_people(self):
        table = a_table()
        cheap = self.content(table, limits={})
        proof = credentials.content_proof(f"table version:{table.pk}:2", cheap)
        refused(self.ADD, table.pk, cheap, proof, by="23514")

    def test_of_rules_take_one_too(self):
        rules = json.dumps({"version": "9", "digest": "9" * 64, "body": {}})
        add = "SELECT games_add_rules_version('baccarat', %s, %s)"
        refused(add, rules, b"", by="SB128")
        refused("INSERT INTO games_rulesversion DEFAULT VALUES")
        without("games_add_rules_version", "IS NOT TRUE", "IS NULL AND false")
        send(add, rules, b"")


class TestListsOfSanctionedPeople:
    READ = "SELECT players_read_screening_list('sandbox', %s, %s, %s)"
    MISS = "SELECT players_miss_screening_list('sandbox', 'No answer.', %s)"
    ON = "2026-01-01"

    def false_list(self):
        """Return the list with Henri Politique renamed: as many people, and nobody who is a player."""
        said = [screening._said(each) for each in screening.SandboxList.people]
        said[-1] |= {"name": "Nobody", "names": [["nobody", "whatever"]]}
        return log.canonical(said)

    def a_politician(self):
        player = a_player()
        update_as_owner(Player.objects.filter(pk=player.pk), birth_date=date(1958, 11, 23))
        player.refresh_from_db()
        a_submission(player, given_names="Henri", family_name="Politique")
        return player

    def is_found(self, player):
        return Case.objects.filter(player=player, kind=CaseKind.SCREENING).exists()

    def test_are_not_replaced_by_one_that_names_nobody(self, settings):
        settings.SCREENING_LISTS = ["players.protection.screening.SandboxList"]
        screening.read_due()
        false = self.false_list()
        with transaction.atomic():
            other = credentials.proof_here("screening read", f"sandbox:{self.ON}:[]")
        earlier = credentials.content_proof("screening read:1", f"sandbox:{self.ON}:{false}")
        for wrong in (b"", None, other, earlier):
            refused(self.READ, self.ON, false, wrong, by="SB158")
        assert self.is_found(self.a_politician())
        without("players_read_screening_list", "IS NOT TRUE", "IS NULL AND false")
        send(self.READ, self.ON, false, b"")
        assert not self.is_found(self.a_politician())

    def test_are_not_said_to_be_unreadable_so_that_nobody_reads_them(self, settings):
        settings.SCREENING_LISTS = ["players.protection.screening.SandboxList"]
        other = credentials.content_proof("screening missed:1", "sandbox:No answer.")
        for wrong in (b"", None, other):
            refused(self.MISS, wrong, by="SB158")
        without("players_miss_screening_list", "IS NOT TRUE", "IS NULL AND false")
        send(self.MISS, b"")
        screening.read_due()
        assert not ScreeningEntry.objects.exists()


class TestTheQueueOfVerification:
    END = "SELECT games_end_verifications(%s::uuid[], %s)"

    def test_is_left_by_no_round_that_nobody_has_verified(self):
        played = a_round(a_player(real=100_000), a_table(), player=5_000)
        ids = [played.round_id]
        with transaction.atomic():
            other = credentials.proof_here("verified", str(uuid4()))
        for wrong in (b"", None, other, credentials.content_proof("verified:1", str(played.round_id))):
            refused(self.END, ids, wrong, by="SB129")
        assert VerificationDue.objects.exists()
        verification_queue.end(ids)
        assert not VerificationDue.objects.exists()
        assert verification_queue.request(played.round_id)
        without("games_end_verifications", "IS NOT TRUE", "IS NULL AND false")
        send(self.END, ids, b"")
        assert not VerificationDue.objects.exists()


class TestEvents:
    @pytest.mark.parametrize("kind", ["round.settled", "exchange_rates.entered", "exchange_rates.corrected"])
    def test_of_what_functions_store_are_of_the_database_alone(self, kind):
        """A false one is a row that is missing, and stays in the log: the verification would find it for ever."""
        said = log.event(kind, by="player:1", on=f"round:{uuid4()}", data={})
        record = "SELECT audit_record(%s, %s, %s, %s, NULL)"
        values = (said.kind, said.by, said.on, said.rest)
        refused(record, *values, by="SB130")
        without("audit_is_by_database", f"'{kind}'", "'none'")
        send(record, *values)


class TestDeposits:
    def test_are_not_posted_by_the_application(self):
        player = a_player()
        deposit = Journal(uuid4(), "deposit", move((house("cashier", player), -100_000), (cash(player), 100_000)))
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(deposit)
        without("wallet_write", "'withdraw_paid',", "'withdraw_paid', 'deposit',")
        ledger.post(deposit)

    def test_are_credited_when_a_process_with_the_key_says_that_the_provider_has_confirmed_them(self):
        payment = begun(a_player(), 50_000)
        credit = "SELECT wallet_credit_deposit(%s, %s, %s, %s)"
        other = credentials.content_proof(f"deposit:{uuid4()}", "A1")
        for wrong in (b"", None, other, credentials.content_proof(f"deposit:{payment.pk}", "A2")):
            refused(credit, payment.pk, uuid4(), "A1", wrong, by="SB132")
        proof = credentials.content_proof(f"deposit:{payment.pk}", "A1")
        send(credit, payment.pk, journal_key(payment.pk), "A1", proof)
        assert balance(cash(payment.player)) == 50_000
        refused(credit, payment.pk, uuid4(), "A1", proof, by="SB132")

    def test_without_one_once_the_condition_is_dropped(self):
        payment = begun(a_player(), 50_000)
        without("wallet_credit_deposit", "authorisation, proof) IS NOT TRUE", "authorisation, proof) IS NULL AND false")
        send("SELECT wallet_credit_deposit(%s, %s, 'A1', '')", payment.pk, journal_key(payment.pk))
        assert balance(cash(payment.player)) == 50_000

    def test_are_marked_as_credited_by_no_statement(self):
        payment, player = begun(a_player(), 50_000), a_player(real=50_000)
        deposit = StoredJournal.objects.get(kind="deposit", entry__account=cash(player))
        sign = "UPDATE wallet_payment SET state = 'credited', authorisation = 'A1', journal_id = %s WHERE id = %s"
        refused(sign, deposit.pk, payment.pk, by="SB132")
        as_owner("DROP TRIGGER wallet_payment_is_paid ON wallet_payment")
        send(sign, deposit.pk, payment.pk)
        assert Payment.objects.get(pk=payment.pk).state == "credited"


class TestPlayMoney:
    def test_is_given_up_to_the_standard_amount(self):
        player = a_player()
        account = cash(player, Mode.FREE)
        gift = move((house("mint", player, Mode.FREE), -(10**9)), (account, 10**9), mode="F")
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(Journal(uuid4(), "top_up", gift))
        top_up = "SELECT wallet_top_up(%s, %s)"
        send(top_up, player.pk, uuid4())
        assert balance(account) == FREE_MONEY[player.currency]
        refused(top_up, player.pk, uuid4(), by="SB133")
        without("wallet_write", "'withdraw_paid',", "'withdraw_paid', 'top_up',")
        ledger.post(Journal(uuid4(), "top_up", gift))

    def test_the_standard_amounts_are_those_that_the_page_says(self):
        with connection.cursor() as cursor:
            for currency, amount in FREE_MONEY.items():
                cursor.execute("SELECT wallet_free_money(%s)", [currency])
                assert cursor.fetchone() == (amount,)


class TestStakes:
    @pytest.mark.parametrize("kind", ["stake", "held_stake"])
    def test_are_not_posted_by_the_application_under_an_invented_round(self, kind):
        player = a_player(real=50_000)
        stolen = Journal(uuid4(), kind, move((cash(player), -50_000), (house("escrow", player), 50_000)), uuid4())
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(stolen)
        without("wallet_write", "'withdraw_paid',", f"'withdraw_paid', '{kind}',")
        ledger.post(stolen)
        assert balance(cash(player)) == 0


class TestReversals:
    def test_take_back_no_round_that_no_table_knows(self):
        player = a_player(real=50_000)
        lost, _ = posted_round(player, 50_000, 0)
        reverse = "SELECT wallet_reverse(ARRAY[%s]::bigint[], ARRAY[%s]::uuid[], 'void')"
        with transaction.atomic():
            send("SET CONSTRAINTS ALL IMMEDIATE")
            refused(reverse, lost.journal_id, uuid4(), by="SB034")
        as_owner("DROP TRIGGER wallet_journal_reverses_a_void ON wallet_journal")
        send(reverse, lost.journal_id, uuid4())
        assert balance(cash(player)) == 50_000

    def test_are_voids_or_rollbacks_of_studios(self):
        player = a_player(real=50_000)
        lost, _ = posted_round(player, 50_000, 0)
        reverse = "SELECT wallet_reverse(ARRAY[%s]::bigint[], ARRAY[%s]::uuid[], 'gift')"
        refused(reverse, lost.journal_id, uuid4(), by="SB009")

    def test_take_back_no_deposit(self):
        player = a_player(real=50_000)
        deposit = StoredJournal.objects.get(kind="deposit", entry__account=cash(player)).pk
        reverse = "SELECT wallet_reverse(ARRAY[%s]::bigint[], ARRAY[%s]::uuid[], 'void')"
        with transaction.atomic():
            send("SET CONSTRAINTS ALL IMMEDIATE")
            refused(reverse, deposit, uuid4(), by="SB034")
        assert balance(cash(player)) == 50_000
        as_owner("DROP TRIGGER wallet_journal_reverses_a_void ON wallet_journal")
        send(reverse, deposit, uuid4())
        assert balance(cash(player)) == 0


class TestLocksOfLogIns:
    @pytest.fixture
    def locked(self):
        """An address that is locked after three wrong passwords."""
        address = a_player().user.email
        for number in range(1, locks.TRIES + 1):
            assert locks.begin_try(address) == number
        send("SELECT players_lock_log_in(name) FROM players_log_in_lock")
        assert locks.locked_since(address)
        return address

    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM players_log_in_lock",
            "UPDATE players_log_in_lock SET tries = '{}', locked_at = NULL",
            "UPDATE players_log_in_lock SET code_tries = 0",
        ],
    )
    def test_are_reset_by_no_statement(self, locked, statement):
        refused(statement)
        as_owner("GRANT UPDATE, DELETE ON players_log_in_lock TO sabot_app")
        send(statement)

    def test_are_opened_with_a_proof(self, locked):
        name = LogInLock.objects.get().name
        opens = "SELECT players_forget_tries(%s, true, %s)"
        for wrong in (b"", None, credentials.content_proof("log in:1", name)):
            refused(opens, name, wrong, by="SB135")
        without("players_forget_tries", "IS NOT TRUE", "IS NULL AND false")
        send(opens, name, b"")
        assert locks.locked_since(locked) is None

    def test_count_every_attempt_and_every_code(self, locked):
        name = LogInLock.objects.get().name
        assert locks.begin_try(locked) is None
        locks.send_code(locked, language="en")
        tried = "SELECT players_try_unlock_code(%s)"
        with connection.cursor() as cursor:
            found = []
            for _ in range(6):
                cursor.execute(tried, [name])
                found += cursor.fetchone()
        assert [each is None for each in found] == [False] * 5 + [True]


class TestMail:
    def test_holds_its_code_for_nobody_who_reads_the_table_alone(self):
        user = a_player().user
        written = mail.write(user=user, template="unlock", context={"code": "ABCD-2345"})
        assert "ABCD-2345" in Mail.objects.get(pk=written.pk).body
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_jsonb(m)::text, encode(sealed_body, 'escape') FROM players_mail AS m")
            assert not any("ABCD" in column for row in cursor.fetchall() for column in row)

    def test_is_not_read_by_moving_it_to_an_address_of_ones_own(self):
        victim, thief = a_player().user, a_player().user
        written = mail.write(user=victim, template="unlock", context={"code": "ABCD-2345"})
        move = "UPDATE players_mail SET address = %s WHERE id = %s"
        refused(move, thief.email, written.pk, by="23001")
        as_owner("DROP TRIGGER players_mail_is_kept ON players_mail")
        send(move, thief.email, written.pk)
        with pytest.raises(Exception) as error:  # noqa: PT011  (cryptography's InvalidTag has no text)
            _ = Mail.objects.get(pk=written.pk).body
        assert type(error.value).__name__ == "InvalidTag"
