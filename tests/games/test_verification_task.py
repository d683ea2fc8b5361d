"""Finished rounds are dealt again from their seeds; a round that does not match is voided."""

import psycopg
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from casino.celery import app
from games import solo
from games.models import Incident, IncidentKind, Participation, Round, Table, VerificationDue, Void, VoidPart
from games.rounds import verification_queue
from games.tasks import verify_finished_rounds
from games.verification import verification_task
from tests.builders import a_player, a_round, a_seat, a_table
from tests.games.corrupt import CORRUPTIONS, corrupt
from tests.harness.sweeps import sample
from tests.people import events
from tests.wallet import wholeness
from tests.wallet.test_at_once import at_once
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000
BETS = {"player": 1000, "banker": 5000, "tie": 1000}


def is_open(table) -> bool:
    return Table.objects.get(pk=table.pk).is_open


@pytest.mark.django_db
class TestCleanRounds:
    def test_are_left_alone(self):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        for mode in (Mode.REAL, Mode.FREE) * 5:
            a_round(player, table, mode, **BETS)
        before = accounts.totals(player.pk).balances()
        assert verification_task.verify_finished_rounds() == verification_task.Verified(10, ())
        assert accounts.totals(player.pk).balances() == before
        assert is_open(table)
        assert not VerificationDue.objects.exists()
        assert not Void.objects.exists()
        assert not Incident.objects.exists()

    def test_are_dealt_again_once(self):
        a_round(a_player(real=MONEY), a_table(), player=1000)
        assert verification_task.verify_finished_rounds().rounds == 1
        assert verification_task.verify_finished_rounds().rounds == 0
        (event,) = events("rounds.verified")
        assert event["data"] == {"reproduced": 1, "suspicious": []}

    @pytest.mark.sweep
    def test_are_dealt_again_however_many_there_are(self, monkeypatch):
        player, table = a_player(real=MONEY), a_table()
        monkeypatch.setattr(verification_task, "BATCH", 3)
        for _ in range(8):
            a_round(player, table, player=1000)
        assert verification_task.verify_finished_rounds().rounds == 8
        assert not VerificationDue.objects.exists()

    @pytest.mark.sweep
    def test_cost_the_same_number_of_queries_however_many_there_are(self, django_assert_num_queries):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, **BETS)  # the commitment to it is in no event of a round before
        verification_task.verify_finished_rounds()
        a_round(player, table, **BETS)
        with CaptureQueriesContext(connection) as one:
            verification_task.verify_finished_rounds()
        for _ in range(5):
            a_round(player, table, **BETS)
        with django_assert_num_queries(len(one)):
            verification_task.verify_finished_rounds()

    def test_reproduce_with_the_value_of_the_player(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, tie=1000)
        solo.play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
            player_value="snö i Umeå",
        )
        assert verification_task.verify_finished_rounds() == verification_task.Verified(1, ())


# Invariants that the altered record still breaks once its round is void: a void changes no record.
BROKEN = {
    "bet that there is not": {"payouts_follow_the_paytable"},
    "outcome": {"payouts_follow_the_paytable"},
    "payout": {"payouts_follow_the_paytable", "wagers_are_sums"},
    "stake": {"wagers_are_sums"},
    "wagers removed": {"wagers_are_sums"},
    "one wager removed": {"wagers_are_sums"},
    "everything staked and paid alike": {"rounds_pay_what_they_say"},
    "mode": {"rounds_pay_what_they_say"},
}


@pytest.mark.parametrize("mode", sample(list(Mode), 1))
@pytest.mark.parametrize("what", sample(CORRUPTIONS, 1))
def test_a_round_that_its_seed_does_not_reproduce_is_voided(cloned_db, owner, what, mode):
    player, table = a_player(real=MONEY, free=MONEY), a_table()
    good = Participation.objects.get(round_id=a_round(player, table, mode, **BETS).round_id)
    bad = a_round(player, table, mode, **BETS)
    corrupt(owner, bad.round_id, what)
    assert verification_task.verify_finished_rounds() == verification_task.Verified(2, (bad.round_id,))
    assert list(Void.objects.values_list("pk", flat=True)) == [bad.round_id]
    assert accounts.balance(player.pk, mode) == MONEY - good.staked + good.paid
    assert accounts.balance(player.pk, Mode.FREE if mode is Mode.REAL else Mode.REAL) == MONEY
    assert not is_open(table)
    incident = Incident.objects.get()
    assert (incident.kind, incident.round_id, incident.table_id) == ("not_reproduced", bad.round_id, table.pk)
    assert all(finding["stored"] != finding["recomputed"] for finding in incident.findings)
    assert incident.findings
    assert not VerificationDue.objects.exists()
    broken = [(check.invariant.name, row) for check in verify.run() for row in check.rows]
    assert {name for name, _row in broken} == BROKEN.get(what, set())
    assert all(row.startswith(f"round {bad.round_id}: ") for _name, row in broken)


class TestAnVoid:
    @pytest.mark.sweep
    def test_happens_once_however_often_the_round_comes_up(self, cloned_db, owner):
        player, table = a_player(real=MONEY), a_table()
        bad = a_round(player, table, **BETS)
        corrupt(owner, bad.round_id)
        verification_task.verify_finished_rounds()
        assert verification_queue.request(bad.round_id)
        assert verification_task.verify_finished_rounds() == verification_task.Verified(1, ())
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert Void.objects.count() == VoidPart.objects.count() == Incident.objects.count() == 1
        assert [len(events(kind)) for kind in ("round.voided", "incident.opened", "table.closed")] == [1, 1, 1]

    @pytest.mark.sweep
    def test_says_in_the_log_why_the_table_was_closed(self, cloned_db, owner):
        bad = a_round(a_player(real=MONEY), a_table(), **BETS)
        corrupt(owner, bad.round_id)
        verification_task.verify_finished_rounds()
        (event,) = events("table.closed")
        code = Round.objects.get().code
        assert (event["by"], event["data"]["reason"]) == ("system", f"Round {code} does not match its seed.")

    def test_of_two_workers_is_done_by_one(self, cloned_db, owner):
        player, table = a_player(real=MONEY), a_table()
        bad = [a_round(player, table, **BETS).round_id for _ in range(4)]
        for round_id in bad:
            corrupt(owner, round_id, "seed")
        at_once([verification_task.verify_finished_rounds] * 4)
        assert set(Void.objects.values_list("pk", flat=True)) == set(bad)
        assert Incident.objects.count() == len(events("round.voided")) == VoidPart.objects.count() == 4
        assert len(events("table.closed")) == 1
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert not VerificationDue.objects.exists()
        wholeness.assert_whole()

    @pytest.mark.sweep
    def test_spares_a_round_that_is_still_being_written(self, cloned_db):
        """A round whose transaction commits late is found later; no position in a list can skip it."""
        player, other, table = a_player(real=MONEY), a_player(real=MONEY), a_table()
        a_round(other, table, player=1000)  # the first one of a dealer stores its key, for which others wait
        verification_task.verify_finished_rounds()

        def play_and_verify():
            a_round(other, table, player=1000)
            return verification_task.verify_finished_rounds()

        with transaction.atomic():
            slow = a_round(player, table, player=1000)
            assert at_once([play_and_verify])[0].rounds == 1
        assert list(VerificationDue.objects.values_list("pk", flat=True)) == [slow.round_id]
        assert verification_task.verify_finished_rounds() == verification_task.Verified(1, ())


class Killed(BaseException):
    """Simulates the death of the worker."""


def die(*_args, **_kwargs):
    raise Killed


@pytest.mark.parametrize("step", sample(["close_table", "undo_round", "open_incident"], 1))
def test_a_worker_that_dies_in_the_midst_has_done_nothing_and_the_next_one_does_it_all(
    cloned_db, owner, monkeypatch, step
):
    player, table = a_player(real=MONEY), a_table()
    bad = a_round(player, table, **BETS)
    corrupt(owner, bad.round_id)
    after = accounts.balance(player.pk, Mode.REAL)
    with monkeypatch.context() as patched:
        patched.setattr(
            f"games.{'rounds.void' if step == 'undo_round' else 'verification.verification_task'}.{step}", die
        )
        with pytest.raises(Killed):
            verification_task.verify_finished_rounds()
    assert is_open(table)
    assert accounts.balance(player.pk, Mode.REAL) == after
    assert not Void.objects.exists()
    assert not Incident.objects.exists()
    verification_task.verify_finished_rounds()
    assert not is_open(table)
    assert accounts.balance(player.pk, Mode.REAL) == MONEY
    assert (Void.objects.count(), Incident.objects.count()) == (1, 1)
    wholeness.assert_whole()


class TestRulesNobodyKnowsAnyMore:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "statement",
        sample(
            [
                "UPDATE games_tableversion SET rules_digest = repeat('0', 64)",
                "UPDATE games_table SET variant = 'whist'",
            ],
            1,
        ),
    )
    def test_are_an_incident_and_void_nothing(self, cloned_db, owner, statement):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, **BETS)
        after = accounts.balance(player.pk, Mode.REAL)
        owner.execute(statement)
        for _ in range(2):
            verification_task.verify_finished_rounds()
        incident = Incident.objects.get()
        assert (incident.kind, incident.done) == (IncidentKind.RULES_UNKNOWN, ["No action: the round stands."])
        assert accounts.balance(player.pk, Mode.REAL) == after
        assert is_open(table)
        assert not Void.objects.exists()
        assert not VerificationDue.objects.exists()


def test_a_round_that_is_gone_is_put_on_record(cloned_db, owner):
    player = a_player(real=MONEY)
    gone = a_round(player, a_table(), player=1000)
    for statement in (
        "DELETE FROM games_wager",
        "DELETE FROM games_participation",
        "DELETE FROM games_round",
    ):
        owner.execute(statement)
    for _ in range(2):
        verification_task.verify_finished_rounds()
    (event,) = events("round.missing")
    assert (event["by"], event["on"]) == ("system", f"round:{gone.round_id}")
    assert not VerificationDue.objects.exists()


def test_a_ledger_that_cannot_be_reversed_is_an_incident_of_its_own(cloned_db, owner):
    """An entry of the round is damaged without guards, so that the reversal would not balance."""
    player, table = a_player(real=MONEY), a_table()
    bad = a_round(player, table, **BETS)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            """UPDATE wallet_entry SET amount = amount + 1 WHERE line = 2 AND journal_id IN
               (SELECT id FROM wallet_journal WHERE kind = 'stake' AND round_id = %s)""",
            [bad.round_id],
        )
        superuser.execute("UPDATE games_round SET outcome = '' WHERE id = %s", [bad.round_id])
    after = accounts.balance(player.pk, Mode.REAL)
    verification_task.verify_finished_rounds()
    incident = Incident.objects.get()
    assert incident.kind == IncidentKind.LEDGER_REFUSES
    assert incident.findings[-1]["stored"].startswith("UnbalancedJournal")
    assert not is_open(table)
    assert accounts.balance(player.pk, Mode.REAL) == after
    assert not Void.objects.exists()


@pytest.mark.django_db
def test_beat_asks_for_it_every_minute():
    due = {entry["task"]: entry["schedule"] for entry in app.conf.beat_schedule.values()}
    assert str(due[verify_finished_rounds.name]) == "<crontab: * * * * * (m/h/dM/MY/d)>"
    a_round(a_player(real=MONEY), a_table(), player=1000)
    verify_finished_rounds()
    assert not VerificationDue.objects.exists()
