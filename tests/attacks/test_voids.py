"""No statement of the role of web and workers voids a round without its reason.

A live round is voided after its deal only by two people who may, a round of one player only because
of a finding, and a journal of a round is reversed only with its void.
"""

from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import Verdict
from games.models import LiveRound, Participation, Phase, Round, Void, VoidReason
from games.shared.malfunction import KIND, void_live_round
from tests.attacks.test_four_eyes import agreed, disabled
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, a_staked_coup, play_out, seated_players
from tests.harness.databases import kept_for_several_tests
from tests.harness.owner import without
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff
from tests.voiding import agree_to_void, void_as_two_agree, void_unreproduced
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Hold, Journal, Mode

MONEY = 1_000_000
NOT_VOIDED = "SB033"
NOT_REVERSED = "SB034"
NOT_RETURNED = "SB075"


@contextmanager
def refused(why):
    """Check that the database refuses, with this SQLSTATE, at the latest when the transaction ends."""
    with pytest.raises(DatabaseError) as error, transaction.atomic(), at_once():
        yield
    assert isinstance(error.value.__cause__, psycopg.Error)
    assert error.value.__cause__.sqlstate == why


@contextmanager
def at_once():
    """Check at the end of the block what is otherwise checked at the end of the transaction."""
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def void_round(round_id, reason=VoidReason.DECIDED, by="staff:1"):
    return Void.objects.create(round_id=round_id, reason=reason, by=by)


def end_void(round_id):
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_end_void(%s)", [round_id])


def move_back(round_id):
    journals = Journal.objects.filter(round_id=round_id, reverses=None).values_list("pk", flat=True)
    ledger.reverse({each: uuid4() for each in journals}, kind="void")


def settled_round():
    live_table = a_live_table()
    bet(a_player(real=MONEY), live_table, player=5000)
    return advance_to(live_table, Phase.SETTLED)


def settled_coup():
    live_table = a_chemin_table()
    seated_players(live_table)
    a_dealt_coup(live_table)
    play_out(live_table)
    return round_at(live_table)


def round_of_one_player():
    return Round.objects.get(pk=a_round(a_player(real=MONEY), a_table(), player=5000).round_id)


@pytest.fixture(scope="class", params=[settled_round, settled_coup], ids=["round", "coup"])
def played(request, django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), kept_for_several_tests():
        yield request.param()


@pytest.mark.django_db
class TestASettledRound:
    @pytest.mark.parametrize("reason", [*VoidReason, "wish"])
    def test_is_not_voided_by_one_person_whatever_the_reason(self, played, reason):
        for by in ("system", "staff:1"):
            with refused(NOT_VOIDED):
                void_round(played.pk, reason, by)

    def test_is_not_paid_back_without_being_voided(self, played):
        with refused(NOT_REVERSED):
            move_back(played.pk)

    def test_is_not_voided_by_people_who_may_not(self, played):
        one, other = a_member_of_staff("supervisor"), a_member_of_staff("operator")
        agreed(KIND, f"round:{played.pk}", {"round": str(played.pk)}, one, other)
        with refused(NOT_VOIDED):
            void_round(played.pk)

    @pytest.mark.parametrize("verdict", [Verdict.REFUSED, Verdict.WITHDRAWN], ids=str)
    def test_is_not_voided_without_a_second_persons_yes(self, played, verdict):
        one, other = a_member_of_staff("supervisor"), a_member_of_staff("supervisor")
        decider = one if verdict is Verdict.WITHDRAWN else other
        agreed(KIND, f"round:{played.pk}", {"round": str(played.pk)}, one, decider, verdict)
        with refused(NOT_VOIDED):
            void_round(played.pk)

    def test_is_not_voided_by_what_was_agreed_on_for_another(self, played):
        one, other = a_member_of_staff("supervisor"), a_member_of_staff("supervisor")
        agreed(KIND, f"round:{played.pk}", {"round": str(uuid4())}, one, other)
        with refused(NOT_VOIDED):
            void_round(played.pk)

    def test_is_not_voided_as_agreed_by_somebody_who_was_disabled_since(self, played):
        disabled(agree_to_void(played.pk))
        with refused(NOT_VOIDED):
            void_round(played.pk)

    def test_is_voided_and_paid_back_as_two_people_agreed_who_may(self, played):
        with at_once():
            void_round(played.pk, by=str(agree_to_void(played.pk)))
            move_back(played.pk)


@pytest.mark.django_db
class TestADealtRound:
    def dealt(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=5000)
        return advance_to(live_table, Phase.DEALT)

    def test_does_not_go_unpaid_but_as_two_people_agreed(self):
        dealt = self.dealt()
        with refused(NOT_VOIDED):
            end_void(dealt.pk)
        agree_to_void(dealt.pk)
        with refused(NOT_RETURNED):
            end_void(dealt.pk)
        void_live_round(round_id=dealt.pk, reason=VoidReason.DECIDED, by="staff:1")
        assert LiveRound.objects.get(pk=dealt.pk).phase == Phase.VOID

    def test_is_not_paid_back_before_it_is_settled(self):
        dealt = self.dealt()
        with pytest.raises(ledger.UnknownJournal), transaction.atomic():
            move_back(dealt.pk)
        assert Hold.objects.get(round_id=dealt.pk).amount == 5000


@pytest.mark.django_db
class TestABank:
    def test_is_nobodys_to_move_back(self):
        live_table = a_chemin_table()
        seated_players(live_table)
        a_staked_coup(live_table)
        tenure = Journal.objects.get(kind="bank").round_id
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            move_back(tenure)
        without("wallet_refuse_bound", "IF FOUND THEN", "IF false THEN")
        with refused(NOT_REVERSED):
            move_back(tenure)


@pytest.mark.django_db
class TestARoundOfOnePlayer:
    @pytest.fixture(scope="class")
    def alone(self, django_db_setup, django_db_blocker):
        with django_db_blocker.unblock(), kept_for_several_tests():
            yield round_of_one_player()

    @pytest.mark.parametrize("reason", VoidReason)
    def test_is_voided_by_no_person(self, alone, reason):
        with refused(NOT_VOIDED):
            void_round(alone.pk, reason)

    def test_is_not_voided_where_nothing_was_found(self, alone):
        with refused(NOT_VOIDED):
            void_round(alone.pk, VoidReason.NOT_REPRODUCED, "system")

    def test_is_not_paid_back_without_being_voided(self, alone):
        with refused(NOT_REVERSED):
            move_back(alone.pk)


def test_an_void_on_record_is_no_leave_to_move_more(cloned_db):
    alone, shared = round_of_one_player(), settled_round()
    void_unreproduced(alone.pk)
    void_as_two_agree(shared.pk)
    for played in (alone, shared):
        undone = Journal.objects.filter(round_id=played.pk).exclude(reverses=None).values_list("pk", flat=True)
        with refused(NOT_REVERSED):
            ledger.reverse({each: uuid4() for each in undone}, kind="void")
        (player,) = Participation.objects.filter(round_id=played.pk).values_list("player_id", flat=True)
        assert accounts.balance(player, Mode.REAL) == MONEY
