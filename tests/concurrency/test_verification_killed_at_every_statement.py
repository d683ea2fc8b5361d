"""Dealing finished rounds again survives the death of its worker after each SQL statement, which is right before the
next one: nothing is done by halves, and the next worker does the rest, once. `make test` tries each fourth statement.
"""

from itertools import count

from games.models import Incident, Participation, Status, Table, VerificationDue, Void, VoidPart
from games.verification import verification_task
from tests.builders import a_player, a_round, a_table
from tests.games.corrupt import corrupt
from tests.harness.killed import dies
from tests.harness.owner import update_as_owner
from tests.people import events
from tests.wallet import wholeness
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000
LONGEST = 200  # statements; a run has a few dozen


def test_a_round_is_voided_once_whenever_workers_die(cloned_db, owner, is_sweep):
    player, table = a_player(real=MONEY), a_table()
    good = a_round(player, table, player=1000)
    part = Participation.objects.get(round_id=good.round_id)
    expected = MONEY - part.staked + part.paid
    deaths = 0
    for number in count(1, 1 if is_sweep else 4):
        bad = a_round(player, table, player=1000, tie=1000)
        corrupt(owner, bad.round_id)
        died = dies(verification_task.verify_finished_rounds, "after", number)
        deaths += died
        assert_nothing_by_halves(bad.round_id)
        verification_task.verify_finished_rounds()
        assert Void.objects.filter(pk=bad.round_id).exists()
        assert accounts.balance(player.pk, Mode.REAL) == expected
        update_as_owner(Table.objects.filter(pk=table.pk), status=Status.OPEN)
        if not died:
            break
        assert number < LONGEST
    assert deaths >= (
        15 if is_sweep else 4
    )  # queue, rounds, ledger, table, void, accounts, incident, commit: fewer would not be all of it
    assert Void.objects.count() == VoidPart.objects.count() == Incident.objects.count() == deaths + 1
    assert len(events("round.voided")) == len(events("incident.opened")) == deaths + 1
    assert not VerificationDue.objects.exists()
    wholeness.assert_whole()


def assert_nothing_by_halves(round_id) -> None:
    done = {
        Void.objects.filter(pk=round_id).exists(),
        VoidPart.objects.filter(void_id=round_id).exists(),
        Incident.objects.filter(round_id=round_id).exists(),
        not VerificationDue.objects.filter(pk=round_id).exists(),
        not Table.objects.get().is_open,
    }
    assert len(done) == 1
    wholeness.assert_whole()
