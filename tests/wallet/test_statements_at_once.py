"""Two people confirm at the same moment: the race is shown first, then prevented."""

from functools import partial
from threading import Barrier, Event

from django.db import connection, transaction

from tests.live.test_bets_at_once import PATIENCE, somebody_is_blocked, until
from tests.people import a_member_of_staff
from tests.wallet.statement_builders import a_file, drafted, named
from tests.wallet.test_at_once import at_once
from tests.wallet.test_statements import a_deposit
from wallet.models import ProviderStatement, StatementLine, Verdict
from wallet.provider_statements import drafts as keeping

THREADS = 4


def test_checking_first_counts_the_same_file_many_times(cloned_db, owner):
    """The race on an unguarded table: all see that the file is new, and all store it."""
    owner.execute("CREATE TABLE unguarded (digest text)")
    owner.execute("GRANT SELECT, INSERT ON unguarded TO sabot_app")
    have_read = Barrier(THREADS)

    def check_then_keep():
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM unguarded WHERE digest = 'a'")
            is_there = cursor.fetchone() is not None
            have_read.wait(timeout=30)
            if not is_there:
                cursor.execute("INSERT INTO unguarded VALUES ('a')")

    at_once([check_then_keep] * THREADS)
    assert owner.execute("SELECT count(*) FROM unguarded").fetchone() == (THREADS,)


def test_the_same_file_confirmed_by_several_at_once_counts_once(cloned_db):
    content = a_file([named("x"), named("y")])
    staff = [a_member_of_staff("finance") for _ in range(THREADS)]
    drafts = [drafted([], content=content, staff=member) for member in staff]

    def confirm(number):
        try:
            return keeping.confirm(drafts[number].pk, staff[number]).pk
        except keeping.SameFile as error:
            return error.statement.pk

    results = at_once([partial(confirm, number) for number in range(THREADS)])
    assert set(results) == {ProviderStatement.objects.get().pk}
    assert StatementLine.objects.count() == 2


def test_files_that_overlap_and_are_confirmed_at_once_count_no_line_twice(cloned_db):
    staff = a_member_of_staff("finance")
    drafts = [drafted([named("x"), named(f"of-{number}")], staff=staff) for number in range(THREADS)]
    at_once([partial(keeping.confirm, draft.pk, staff) for draft in drafts])
    assert StatementLine.objects.filter(reference="x").exclude(verdict=Verdict.REPEATED).count() == 1
    assert StatementLine.objects.exclude(reference="x").count() == THREADS


def test_of_two_who_settle_a_difference_at_once_one_is_first(cloned_db):
    staff = a_member_of_staff("finance")
    difference = keeping.confirm(drafted([named("x")], staff=staff).pk, staff).differences.get()

    def settle():
        try:
            keeping.note(difference.pk, text="seen", settles=True, by=str(staff))
        except keeping.Settled:
            return "too late"
        return "settled"

    assert sorted(at_once([settle] * 2)) == ["settled", "too late"]


def test_a_difference_that_is_settled_while_a_statement_settles_it_is_settled_once(cloned_db):
    """A person has settled it without committing when the statement with the missing line is
    confirmed.
    """
    payment, staff = a_deposit(), a_member_of_staff("finance")
    missing = keeping.confirm(drafted([], staff=staff).pk, staff).differences.get()
    draft = drafted([named(payment.pk)], staff=staff)
    has_settled = Event()

    def settle():
        with transaction.atomic():
            keeping.note(missing.pk, text="seen", settles=True, by=str(staff))
            has_settled.set()
            until(somebody_is_blocked)

    def confirm():
        assert has_settled.wait(PATIENCE)
        keeping.confirm(draft.pk, staff)

    at_once([settle, confirm])
    assert [step.text for step in missing.steps.all()] == ["seen"]
    assert ProviderStatement.objects.count() == 2
