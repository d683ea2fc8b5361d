"""The ledger's page in the back office."""

import re
from collections import Counter
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.utils.translation import gettext, override

from backoffice.lists.paging import PAGE
from backoffice.money.ledger import journal_name
from games.models.rounds import round_code
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.money_moves import a_round
from wallet import ledger
from wallet.ledger.statements import Liability, liabilities
from wallet.models import Journal, Mode

pytestmark = pytest.mark.django_db


@pytest.fixture
def finance():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance").user)
    return visitor


def test_gli19_2_9_3_what_the_house_owes_is_listed_by_currency_and_mode():
    a_player("SE", real=1000, free=7)
    a_player("SE", real=500)
    a_player("DK", free=30)
    assert liabilities() == (
        Liability("DKK", Mode.REAL, accounts=1, held=0, available=0, pending=0, total=0),
        Liability("SEK", Mode.REAL, accounts=2, held=0, available=1500, pending=0, total=1500),
        Liability("DKK", Mode.FREE, accounts=1, held=0, available=30, pending=0, total=30),
        Liability("SEK", Mode.FREE, accounts=2, held=0, available=7, pending=0, total=7),
    )


@pytest.mark.sweep
def test_finance_reads_every_entry_of_a_journal(finance):
    player = a_player(real=100_000)
    a_round(player, staked=5000, paid=9750)
    page = finance.get("/staff/ledger/").text
    for line in (f"player:{player.pk}", "escrow", "house", "cashier", "SEK\u00a097.50"):
        assert line in page


@pytest.mark.sweep
@pytest.mark.usefixtures("without_voids")
def test_a_reversal_names_what_it_reverses(finance):
    _, settled = a_round(a_player(real=1000), staked=100, paid=0)
    ledger.reverse({settled.journal_id: uuid4()}, kind="void")
    assert f"reverses {settled.journal_id}" in finance.get("/staff/ledger/").text


@pytest.mark.sweep
def test_journals_of_one_round_can_be_asked_for(finance):
    player = a_player(real=1000)
    staked, settled = a_round(player, staked=100, paid=0)
    other, _ = a_round(player, staked=50, paid=0)
    round_id = Journal.objects.get(pk=staked.journal_id).round_id
    assert round_id
    page = finance.get(f"/staff/ledger/?round={round_id}").text
    assert f'of round <span class="round-code">{round_code(round_id)}</span>' in page
    assert all(f">{each.journal_id}</a></th>" in page for each in (staked, settled))
    assert f">{other.journal_id}</a></th>" not in page


@pytest.mark.sweep
def test_older_journals_are_a_page_away(finance):
    player = a_player(real=100_000)
    for _ in range(PAGE):
        a_round(player, staked=1, paid=0)
    newest, oldest = Journal.objects.order_by("-pk")[0], Journal.objects.order_by("pk")[0]
    first = finance.get("/staff/ledger/").text
    assert f">{newest.pk}</a></th>" in first
    key = Journal.objects.order_by("-pk")[2 * PAGE - 1].pk
    assert f"?before={Journal.objects.order_by('-pk')[PAGE - 1].pk}" in first
    assert f">{oldest.pk}</a></th>" in finance.get(f"/staff/ledger/?before={key}").text


@pytest.mark.sweep
def test_the_ledger_leads_back_to_where_it_is_not(finance):
    round_id = uuid4()
    for query, ways in (("", []), ("?before=9", ["Newest"]), (f"?round={round_id}", ["Clear"])):
        page = finance.get(f"/staff/ledger/{query}").text
        assert [way for way in ("Newest", "Clear") if f">{way}</a>" in page] == ways


@pytest.mark.sweep
@pytest.mark.parametrize("query", sample(["", "?round=x", "?before=x"], 1))
def test_an_empty_or_garbled_page_is_still_a_page(finance, query):
    assert finance.get(f"/staff/ledger/{query}").status_code == 200


@pytest.mark.sweep
def test_what_is_no_round_is_said_in_a_sentence_and_lists_nothing(finance):
    a_round(a_player(real=1000), staked=100, paid=0)
    answer = finance.get("/staff/ledger/?round=x")
    assert "No finished round has this code or id." in answer.text
    assert "errorlist" not in answer.text
    assert answer.context["page"].rows == ()


def test_money_is_called_real_or_free_and_a_round_by_its_code(finance):
    staked, _ = a_round(a_player(real=1000), staked=100, paid=0)
    round_id = Journal.objects.get(pk=staked.journal_id).round_id
    assert round_id
    page = finance.get("/staff/ledger/").text
    assert "(real)" in page
    assert "(R)" not in page
    assert re.search(rf'href="/staff/rounds/{round_id}/"[^>]*>{round_code(round_id)}</a>', page)


@pytest.mark.sweep
def test_every_kind_of_journal_has_a_name_in_each_language():
    """The kinds are those that the function behind the trigger of entries allows."""
    definition = "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'wallet_line_fits'"
    with connection.cursor() as cursor:
        cursor.execute(definition)
        kinds = set(re.findall(r"WHEN '([a-z_]+)'", cursor.fetchone()[0]))
    assert {"deposit", "settle", "void_shortfall"} <= kinds
    assert {kind for kind in kinds if journal_name(kind) == kind} == set()
    for language, _ in settings.LANGUAGES:
        with override(language):
            names = Counter(map(journal_name, kinds))
        assert [name for name, count in names.items() if count > 1] == [], language
    with override("de"):
        assert journal_name("studio_win") == gettext("Win in a partner’s game")


@pytest.mark.parametrize("page", ["/staff/ledger/", "/staff/lists/wallet/journal/"])
def test_journals_and_their_filter_are_named_in_the_reader_s_language(finance, page):
    a_player()
    finance.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    shown = finance.get(page).text
    assert "Einzahlung" in shown
    assert ">deposit<" not in shown


def test_others_stay_outside():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("operator").user)
    assert visitor.get("/staff/ledger/").status_code == 403
