"""Actions that need two people, by compliance or by choice of the house.

Nobody decides their own request in any way; another person can; a request expires; an outdated
request is not executed; the log names both people.
"""

import ast
from collections.abc import Iterator

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit import approvals
from audit.models import Decision, Verdict
from audit.tasks import expire_approvals
from tests.casino.two_people import ACTIONS, Asked, Way, browser_of, decide, decide_on_the_page
from tests.harness.product import modules
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events

# Required actions, with the kind of request.
DEMANDED = {
    "balance adjustments": "balance.adjust",
    "voiding a settled round": "void_live_round",
    "changes of limits or rules on a live table": "table.version",
    "lifting an exclusion": "exclusion.lift",
    "paying withdrawals above a threshold": "withdrawal",
}
# The functions that execute them, and their callers: only the functions of the approval kinds.
# Exceptions: a void also happens without a decision, for a round that was not dealt in time or that
# its seed does not reproduce, and by a supervisor before the deal. The program creates tables
# before a house opens.
DOERS = {
    "ledger.adjust": {"wallet.ledger.adjustments"},
    "exclusions.lift": {"players.protection.exclusions"},
    "withdrawals.second": {"wallet.apps"},
    "versions.new_version": {"games.change_requests.execution", "games.tables.versions"},
    "versions.make_table": {"games.change_requests.execution", "games.tables.default_tables"},
    "malfunction.void_live_round": {"games.shared.malfunction", "games.shared.phases"},
    "void.void_round": {"games.verification.verification_task", "games.shared.malfunction", "games.chemin.coups.void"},
    "wallet_adjust": {"wallet.ledger"},
    "players_staff_execute": {"players.staff"},
    "players_staff_suspend": {"players.staff"},
    "audit_keep_for": {"audit.retention"},
    "players_change_national_rule": {"players.protection.national_rules"},
}

every_action = pytest.mark.parametrize("make", sample(ACTIONS, 2), ids=lambda action: action.kind)


def withdraw(asked: Asked) -> None:
    approvals.withdraw(
        approval_id=asked.approval.pk, by=str(asked.twin), person=asked.twin.person, reason="a slip of mine"
    )


def run(way: Way) -> None:
    with connection.cursor() as cursor:
        cursor.execute(way.statement, way.values)


def refuses(way: Way) -> None:
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        run(way)
    cause = error.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.sqlstate == way.refusal or way.refusal in str(error.value), error.value


def test_whatever_takes_two_people_is_shown_here_with_all_that_is_demanded():
    shown = [action.kind for action in ACTIONS]
    assert sorted(shown) == sorted(approvals.kinds())
    assert set(DEMANDED.values()) <= set(shown)


@pytest.mark.django_db
@every_action
class TestOnePerson:
    def test_gli19_b_2_3_does_not_decide_what_they_asked_for_under_any_account(self, make):
        asked = Asked(make())
        was_done = asked.action.is_done()
        for account in (asked.asker, asked.twin):
            for yes in (True, False):
                with pytest.raises(approvals.ApprovalError) as refused:
                    decide(asked.approval, account, yes=yes)
                assert isinstance(refused.value, approvals.OwnRequest | approvals.NotAllowed)
                decide_on_the_page(asked.approval, account, yes=yes)
        with pytest.raises(approvals.OwnRequest):
            decide(asked.approval, asked.twin)
        assert not Decision.objects.filter(pk=asked.approval.pk).exists()
        assert asked.action.is_done() == was_done is False

    def test_asks_on_a_page_and_has_done_nothing(self, make):
        action = make()
        page = action.page()
        if page is None:
            Asked(action)
        else:
            address, sent = page
            browser_of(a_member_of_staff(action.asking)).post(address, sent)
        assert approvals.waiting().filter(kind=action.kind).count() == 1
        assert not action.is_done()


@pytest.mark.django_db
@pytest.mark.parametrize("make", ACTIONS, ids=lambda action: action.kind)
class TestOnePersonInTheDatabase:
    def test_is_not_taken_for_two_by_the_database_and_does_it_by_no_statement_of_the_login_role(self, make):
        asked = Asked(make())
        decision = (
            "INSERT INTO audit_decision (approval_id, verdict, by, asker, person, reason)"
            " VALUES (%s, 'approved', %s, %s, %s, 'x')"
        )
        approval, mine, other = asked.approval, asked.asker.person, asked.decider.person
        for account, asker, person, refusal in (
            (asked.twin, mine, mine, "audit_decision_other_person"),
            (asked.twin, mine, other, "is not the person"),
            (asked.asker, other, mine, "audit_decision_asker"),
            ("system", mine, other, "is not the person"),
        ):
            refuses(Way(decision, refusal, [approval.pk, str(account), asker, person]))
        refuses(Way("UPDATE audit_approval SET person = gen_random_uuid()", "permission denied"))
        refuses(Way("UPDATE players_staff SET person = gen_random_uuid()", "permission denied"))
        for way in asked.action.ways(asked.approval):
            refuses(way)
        assert not asked.action.is_done()


@pytest.mark.django_db
@every_action
class TestTwoPeople:
    def test_gli19_b_3_2_do_it_and_the_log_names_both(self, make):
        asked = Asked(make())
        decide_on_the_page(asked.approval, asked.decider)
        assert asked.action.is_done()
        (decided,) = events("approval.decided", on=f"approval:{asked.approval.pk}")
        assert (decided["by"], decided["data"]["asked_by"]) == (str(asked.decider), str(asked.asker))
        (asking,) = events("approval.asked", on=f"approval:{asked.approval.pk}")
        assert (asking["by"], asking["data"]["sha256"]) == (str(asked.asker), decided["data"]["sha256"])
        assert [event["by"] for event in events(asked.action.event)][-1] == str(asked.decider)

    def test_are_of_the_roles_that_may(self, make):
        asked, other = Asked(make()), a_member_of_staff("operator")
        with pytest.raises(approvals.NotAllowed):
            decide(asked.approval, other)
        decide_on_the_page(asked.approval, other)
        assert not asked.action.is_done()

    def test_leave_it_where_the_second_refuses_or_the_first_withdraws(self, make):
        asked = Asked(make())
        if not approvals.kind(asked.approval.kind).may_withdraw:  # a suspension, which has already begun
            with pytest.raises(approvals.CannotWithdraw):
                withdraw(asked)
            assert not asked.action.is_done()
            return
        if asked.approval.kind != "withdrawal":  # its refusal returns the money; see its own tests
            decide_on_the_page(asked.approval, asked.decider, yes=False)
            asked.approval = asked.action.ask(asked.asker)
        withdraw(asked)
        with pytest.raises(approvals.AlreadyDecided):
            decide(asked.approval, asked.decider)
        for way in asked.action.ways(asked.approval):
            refuses(way)
        assert not asked.action.is_done()
        assert Decision.objects.get(pk=asked.approval.pk).verdict == Verdict.WITHDRAWN
        asked.action.ask(asked.asker)


@every_action
class TestTheRequest:
    def test_expires(self, cloned_db, make):
        asked = Asked(make())
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute("UPDATE audit_approval SET at = at - interval '9 days', expires_at = clock_timestamp()")
        with pytest.raises(approvals.Expired):
            decide(asked.approval, asked.decider)
        expire_approvals()
        with pytest.raises(approvals.ApprovalError):
            decide(asked.approval, asked.decider)
        for way in asked.action.ways(asked.approval):
            refuses(way)
        assert not asked.action.is_done()
        assert Decision.objects.get(pk=asked.approval.pk).verdict == Verdict.EXPIRED

    def test_gli19_b_3_2_is_executed_as_it_was_frozen_or_not_at_all(self, cloned_db, owner, make):
        asked = Asked(make())
        owner.execute("ALTER TABLE audit_approval DISABLE TRIGGER USER")
        changed = "(request::jsonb || '{\"more\": 1}')::text"
        owner.execute(
            f"UPDATE audit_approval SET request = {changed}, sha256 = sha256(convert_to({changed}, 'UTF8'))"
            " WHERE id = %s",
            [asked.approval.pk],
        )
        with pytest.raises(approvals.Tampered):
            decide(asked.approval, asked.decider)
        decide_on_the_page(asked.approval, asked.decider)
        assert not asked.action.is_done()
        assert not Decision.objects.filter(pk=asked.approval.pk).exists()


def callers(function: str) -> Iterator[str]:
    """Yield the modules, pages and commands included, that name or call the function."""
    module, _dot, name = function.rpartition(".")
    for calling, path in modules():
        text = path.read_text(encoding="utf-8")
        is_own = calling.rpartition(".")[2] == module
        if name in text and any(names(node, module, name, is_own) for node in ast.walk(ast.parse(text))):
            yield calling


def names(node: ast.AST, module: str, name: str, is_own: bool) -> bool:
    """Return whether the node names the function of that module, however imported.

    In its own module the function is called without a module. A function of the database has none.
    """
    match node:
        case ast.Call(func=ast.Name(id=called)) if is_own:
            return called == name
        case ast.Attribute(value=ast.Name(id=of), attr=attribute):
            return (of, attribute) == (module, name)
        case ast.ImportFrom(module=of, names=imported):
            return (of or "").rpartition(".")[2] == module and name in [each.name for each in imported]
        case ast.Constant(value=str(text)):
            return not module and f"{name}(" in text
    return False


@pytest.mark.parametrize("function", DOERS)
def test_nothing_else_does_it_no_page_no_command_and_no_list(function):
    assert set(callers(function)) == DOERS[function]


@pytest.mark.django_db
def test_a_permission_to_decide_is_some_roles():
    for kind in approvals.kinds():
        action = next(action for action in ACTIONS if action.kind == kind)
        assert a_member_of_staff(action.deciding).user.has_perm(approvals.kind(kind).permission)
