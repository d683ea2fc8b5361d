"""The ledger in the back office: journals, one journal, one account."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection

from backoffice.lists.paging import PAGE
from backoffice.money import ledger as views
from tests.builders import a_player, a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.staff_lists import asked_for
from tests.wallet import adjusting
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.money_moves import a_round, stake, write
from tests.wallet.payout_builders import a_withdrawal
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Journal, Mode
from wallet.payments.notifications import ask_about

pytestmark = pytest.mark.django_db


@pytest.fixture
def finance():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance").user)
    return visitor


def numbers(**query):
    """Return the journals on the first page that is asked for."""
    return [journal.pk for journal in asked_for(views.Journals, **query).page.rows]


def walked(**query):
    """Return every journal, page by page."""
    found, before = [], ""
    while True:
        page = asked_for(views.Journals, **query, before=before).page
        found += [journal.pk for journal in page.rows]
        if not page.older:
            return found
        before = page.older


def moment(at):
    """Return a time as the form sends it."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}"


def test_journals_of_a_player_are_listed_without_gap_or_repetition():
    player, other = a_player(real=100_000, free=100_000), a_player(real=1000)
    for _ in range(PAGE):
        a_round(player, staked=10, paid=5)
        a_round(other, staked=1, paid=1)
    own = [account.pk for account in Account.objects.filter(owner=player)]
    due = Journal.objects.filter(entry__account__in=own).distinct().order_by("-pk").values_list("pk", flat=True)
    assert len(due) > 2 * PAGE
    assert walked(player=player.pk) == list(due)


def test_journals_are_found_by_kind_and_by_time():
    player = a_player(real=1000)
    (staked,) = write(stake(player, 10))
    a_round(player, staked=10, paid=5)
    at = Journal.objects.get(pk=staked.journal_id).at
    during = {"since": moment(at), "until": moment(at + timedelta(microseconds=1))}
    assert numbers(kind="stake", **during) == [staked.journal_id]
    assert numbers(kind="settle", **during) == []
    assert staked.journal_id in numbers(player=player.pk, kind="stake")
    assert "stake" in views.kinds()
    assert "deposit" in views.kinds()


def test_rare_kinds_are_found_by_an_index_of_their_own():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")  # any size
        query, values = (
            Journal.objects.filter(kind="withdraw_paid").order_by("-pk").values("pk")[:PAGE].query.sql_with_params()
        )
        cursor.execute(f"EXPLAIN {query}", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    scans = re.findall(r"Scan.*", plan)
    assert scans
    assert all(re.search(r"using wallet_journal_\w+_(kinds|kind_id_idx) ", scan) for scan in scans), plan
    assert "Sort" not in plan


@pytest.mark.sweep
@pytest.mark.usefixtures("without_voids")
def test_a_journal_leads_to_its_accounts_its_round_and_what_it_reverses(finance):
    player = a_player(real=1000)
    _, settled = a_round(player, staked=100, paid=0)
    round_id = Journal.objects.get(pk=settled.journal_id).round_id
    (opposite,) = ledger.reverse({settled.journal_id: uuid4()}, kind="void")
    page = finance.get(f"/staff/ledger/journals/{settled.journal_id}/").text
    assert f"/staff/rounds/{round_id}/" in page
    assert f"/staff/ledger/journals/{opposite.journal_id}/" in page
    assert all(f"/staff/ledger/accounts/{e.account_id}/" in page for e in views.whole(settled.journal_id).entries)
    assert (
        f"/staff/ledger/journals/{settled.journal_id}/"
        in finance.get(f"/staff/ledger/journals/{opposite.journal_id}/").text
    )


@pytest.mark.sweep
def test_a_journal_leads_to_the_deposit_or_the_withdrawal_it_is_of(finance):
    player = a_verified_player(real=100_000)
    payment = a_payment(player)
    at_the_bank(payment)
    credited = ask_about(payment.pk)
    assert f"/staff/deposits/{payment.pk}/" in finance.get(f"/staff/ledger/journals/{credited.journal_id}/").text
    withdrawal = a_withdrawal(player)
    asked = withdrawal.steps.get()
    page = finance.get(f"/staff/ledger/journals/{asked.journal_id}/").text
    assert f"/staff/withdrawals/{withdrawal.pk}/" in page


@pytest.mark.sweep
def test_the_journal_of_an_adjustment_leads_to_its_request_and_names_both_people_and_why(finance):
    player = a_player(real=10_000)
    asker, decider = a_member_of_staff("support", name="Ada"), a_member_of_staff("finance", name="Fin")
    asked = adjusting.ask(player, by=asker)
    adjusting.decide(asked, by=decider)
    journal = Journal.objects.get(kind="adjustment")
    page = finance.get(f"/staff/ledger/journals/{journal.pk}/").text
    assert f'<a class="link" href="/staff/approvals/{asked.pk}/">request {asked.pk}</a>' in page
    assert f"requested by Ada ({asker}), approved by Fin ({decider})" in page
    assert "A round was not recorded correctly." in page
    assert "<dt>Reason</dt><dd>ticket 12</dd>" in page
    assert finance.get(f"/staff/approvals/{asked.pk}/").status_code == 200


@pytest.mark.sweep
def test_an_account_tells_every_entry_with_the_balance_after_it(finance):
    player = a_player(real=100_000)
    for _ in range(PAGE // 2 + 1):
        a_round(player, staked=10, paid=5)
    account = Account.objects.get(owner=player, kind=AccountKind.CASH, mode=Mode.REAL)
    first = asked_for(views.Entries, account).page
    assert first.rows[0].balance_after == account.balance
    rest = asked_for(views.Entries, account, before=first.older).page
    versions = [entry.version for entry in (*first.rows, *rest.rows)]
    assert versions[0] == account.version
    assert versions == list(range(versions[0], versions[-1] - 1, -1))
    assert f"player:{player.pk}" in finance.get(f"/staff/ledger/accounts/{account.pk}/").text
    (look,) = [event for event in events("data.accessed") if event["data"]["what"] == "an account"]
    assert look["data"]["players"] == [f"player:{player.pk}"]


@pytest.mark.sweep
def test_an_account_of_the_house_is_added_up_as_of_any_moment(finance):
    player = a_player(real=100_000)
    a_round(player, staked=5000, paid=0)
    house = Account.objects.get(pk=accounts.house_account(AccountKind.HOUSE, "SEK", Mode.REAL))
    last = Journal.objects.latest("pk").at
    before = views.house_account(house, last).balance
    assert views.house_account(house, last + timedelta(microseconds=1)).balance == before + 5000
    assert "As of (UTC)" in finance.get(f"/staff/ledger/accounts/{house.pk}/?at=2020-01-01T00:00").text


@pytest.mark.parametrize("what", ["number", "key"])
def test_a_journal_is_found_by_its_number_and_by_its_key(finance, what):
    staked, _ = a_round(a_player(real=1000), staked=100, paid=0)
    journal = Journal.objects.get(pk=staked.journal_id)
    typed = journal.pk if what == "number" else journal.key_id
    assert finance.get(f"/staff/ledger/?journal={typed}").headers["Location"].endswith(f"/journals/{journal.pk}/")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "query",
    sample(["journal=0", "journal=7e8c24ec-1f32-442c-8478-87574ebd5497", "journal=x", "player=x", "since=x"], 1),
)
def test_an_invalid_query_is_reported_at_the_field(finance, query):
    answer = finance.get(f"/staff/ledger/?{query}")
    assert answer.context["form"].errors
    assert "Nothing was searched. Correct the marked fields above." in answer.text


@pytest.mark.sweep
@pytest.mark.parametrize("before", sample(["1:x,:", "9" * 40, "1:" + "9" * 40, ",,:"], 1))
def test_a_made_up_cursor_is_only_a_cursor(finance, before):
    player = a_player(real=1000)
    for query in ("", f"player={player.pk}&"):
        assert finance.get(f"/staff/ledger/?{query}before={before}").status_code == 200
