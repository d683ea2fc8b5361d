"""Saved views of lists: named filters, columns, and the order of a column; and the sums above the rows."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from audit.models import Category, Weight
from audit.significant import detection
from backoffice import rounds
from backoffice.audit.significant import SignificantEvents
from backoffice.lists import files, staff_list
from backoffice.lists.paging import Order
from backoffice.lists.players import Players
from backoffice.lists.wallet import Deposits
from backoffice.money.ledger import Journals
from backoffice.rounds import Rounds, RoundsInProgress
from players.models import ChosenColumns, SavedFilter
from tests.builders import a_player, a_round, a_table
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, a_visitor
from tests.staff_lists import asked_for
from tests.wallet.at_the_bank import a_payment, call_back, statement
from wallet.models import OrderState, Payment

pytestmark = pytest.mark.django_db

PAGE = "/staff/significant/"
SAVE = "/staff/filters/save/"
HEAD = re.compile(r'<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]+)')


def one(title: str, category: Category = Category.ERROR) -> None:
    happened = datetime(2026, 7, 8, 12, tzinfo=UTC)
    detection.keep(detection.Found(title, category, Weight.NOTICE, "ledger", title, happened_at=happened))


def visit(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def save(visitor: Client, **sent: str) -> None:
    visitor.post(SAVE, {"path": PAGE, "name": "Open wins", "query": "category=large_win", **sent})


def names(visitor: Client) -> list[str]:
    return re.findall(r"\?category=large_win\"[^>]*>([^<]+)</a>", visitor.get(PAGE).text.split("keep__filters")[0])


def test_a_saved_filter_is_its_owners_until_it_is_shared_with_a_role():
    mine, colleague, other = visit("compliance"), visit("compliance"), visit("finance")
    save(mine)
    assert (names(mine), names(colleague)) == (["Open wins"], [])
    (kept,) = SavedFilter.objects.all()
    assert colleague.post(f"/staff/filters/{kept.pk}/delete/", {"path": PAGE}).status_code == 404
    role = kept.staff.user.groups.get()
    save(mine, role=str(role.pk))
    assert names(colleague) == ["Open wins"]
    assert colleague.post(f"/staff/filters/{kept.pk}/delete/", {"path": PAGE}).status_code == 404
    save(other, role=str(role.pk))  # a role that is not theirs
    assert SavedFilter.objects.count() == 1
    assert other.get(f"{PAGE}?{kept.query}").status_code == 403
    mine.post(f"/staff/filters/{kept.pk}/delete/", {"path": PAGE})
    assert names(colleague) == []


def test_a_saved_filter_holds_no_text_that_may_be_of_a_person():
    query = asked_for(SignificantEvents, about="ann@example.com", category="large_win", before="7").form.query
    assert query == "category=large_win"
    assert asked_for(SignificantEvents, about="player:7").form.query == "about=player%3A7"


@pytest.mark.parametrize("path", ["//elsewhere.example/staff/", "/", "https://elsewhere.example/", "/staff/none/"])
def test_what_is_kept_is_of_a_staff_page(path: str):
    visitor = visit("compliance")
    assert visitor.post(SAVE, {"path": path, "name": "x", "query": "y=z"}).status_code == 404
    assert visitor.post("/staff/columns/", {"path": path, "columns": "amount"}).status_code == 404


def test_columns_are_chosen_by_each_for_themselves_and_files_have_all():
    one("It")
    mine, colleague = visit("compliance"), visit("compliance")
    sent = {"path": PAGE, "list": "audit.significant"}
    mine.post("/staff/columns/", sent | {"columns": ["amount", "state", "nonsense", "no\0name"]})
    heads = [HEAD.findall(each.get(PAGE).text) for each in (mine, colleague)]
    assert heads[0] == ["Choose", "Event", "Amount", "State"]
    assert len(heads[1]) == 1 + len(SignificantEvents.columns)
    assert b"Category" in mine.get(f"{PAGE}?as=csv").content
    mine.post("/staff/columns/", sent)
    assert not ChosenColumns.objects.exists()


def test_columns_of_one_list_are_not_those_of_another_on_its_page():
    visitor = visit("compliance")
    answer = visitor.get("/staff/rounds/")
    label = re.search(r'name="list" value="([^"]+)"', answer.text)
    assert label
    visitor.post("/staff/columns/", {"path": "/staff/rounds/", "list": label[1], "columns": ["part__staked"]})
    names = [
        [each.name for each in visitor.get("/staff/rounds/", asked).context["list"].shown_columns]
        for asked in ({}, {"status": "in progress"})
    ]
    assert names == [["part__round__code", "part__staked"], [each.name for each in RoundsInProgress.columns]]


def test_a_column_sorts_the_rows_and_pages_go_on_in_its_order(monkeypatch):
    se, dk, other_se, other_dk = (a_player(code) for code in ("SE", "DK", "SE", "DK"))
    monkeypatch.setattr(Players, "size", 3)
    first = asked_for(Players, order="jurisdiction_id")
    assert list(first.page.rows) == [dk, other_dk, se]
    assert list(asked_for(Players, order="jurisdiction_id", after=first.page.newer).page.rows) == [other_se]
    assert list(asked_for(Players, order="-jurisdiction_id").page.rows) == [other_se, se, other_dk]
    heads = {each.text: (each.sort, each.order) for each in first.headings}
    assert heads["Jurisdiction"] == ("ascending", "-jurisdiction_id")
    assert heads["Demo account"] == ("", None)
    assert not asked_for(Players, order="user__is_demo").page.rows  # no index, no order
    assert [each.order for each in first.headings[:4:3]] == ["", ""]  # player and registration: newest first
    assert [each.sort for each in asked_for(Players).headings] == ["descending", *[""] * 5]


def test_the_sums_above_are_of_every_row_of_the_filter_and_one_statement(monkeypatch, django_assert_num_queries):
    player, other = a_player("SE", real=100_00), a_player("DK", real=100_00)
    for amount in (100_00, 200_00, 300_00):
        a_payment(player, amount)
    a_payment(other, 700_00)
    listing = asked_for(Deposits, order="oldest")
    monkeypatch.setattr(Deposits, "size", 1)
    with django_assert_num_queries(1):
        sums = [(each.money, each.count, dict(each.amounts)["Amount"]) for each in listing.totals or ()]
    assert sums == [("DKK", 1, "DKK\u00a0700.00"), ("SEK", 3, "SEK\u00a0600.00")]
    monkeypatch.setattr(files, "MOST", 3)
    assert asked_for(Deposits).totals is None


@pytest.mark.parametrize("listing", [Deposits, Players, SignificantEvents])
def test_a_column_that_many_rows_are_sorted_by_has_an_index_with_the_key(listing):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    for key in listing.sorts.values():
        for sign in ("", "-"):
            rows = listing.model._default_manager.order_by(*(f"{sign}{name}" for name in key))
            assert "Sort" not in rows[: files.MOST].explain(), key


@pytest.mark.parametrize("listing", [Deposits, Players, SignificantEvents])
def test_a_page_enters_the_index_of_its_column_where_it_begins(listing):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
    one("It")
    a_payment(a_player(), 100_00)
    row = listing.model._default_manager.first()
    for key in listing.sorts.values():
        for is_rising in (True, False):
            order = Order(key, is_rising)
            start = order.values(listing.model, order.cursor(row))
            plan = order.beyond(listing.model._default_manager.all(), start).order_by(*order.fields)[:50].explain()
            assert re.search(r"Index Cond: .*ROW\(", plan), plan
            assert "Filter" not in plan, plan


@pytest.mark.parametrize("cursor", ["\0~R~5", "~~", "-x~R~-1", "x~R~99999999999999999999", "x~?~5", "~R~5", "x" * 500])
def test_a_cursor_that_no_page_has_made_leads_to_the_first_page(cursor):
    a_round(a_player(real=10_000_00), a_table(), player=100_00)
    for sign, name in (("", "after"), ("-", "before")):
        answer = visit("compliance").get("/staff/rounds/", {"order": f"{sign}table", name: cursor})
        assert answer.status_code == 200
        assert answer.context["list"].page.is_first


def test_pages_go_on_at_a_text_that_begins_with_a_sign(monkeypatch):
    player, table = a_player(real=10_000_00), a_table()
    as_owner("UPDATE games_table SET name = '-1~R~2' WHERE id = %s", [table.pk])
    due = [a_round(player, table, player=100_00).round_id for _ in range(3)]
    monkeypatch.setattr(Rounds, "size", 1)
    reader = visit("compliance")
    found: list[UUID] = []
    on: dict[str, str] = {}
    while not found or on:
        page = reader.get("/staff/rounds/", {"order": "table", **on}).context["list"].page
        found += [row.round_id for row in page.rows]
        assert len(found) <= len(due)
        on = {"after": page.newer} if page.newer else {}
    assert found == due


@pytest.mark.parametrize("order", ["state", "-state", "player", "-player", "amount", "-amount"])
def test_pages_of_deposits_go_on_in_the_order_of_a_column(monkeypatch, order):
    players = [a_player(), a_player()]
    for number in range(8):
        payment = a_payment(players[number % 2], 100_00 * (1 + number % 3))
        if number % 4 > 1:
            call_back(statement(payment, OrderState.DECLINED))
    sign, name = order[: order.startswith("-")], order.removeprefix("-")
    due = list(Payment.objects.order_by(*(f"{sign}{path}" for path in Deposits.sorts[name])))
    assert len({getattr(payment, Deposits.sorts[name][0]) for payment in due}) > 1
    monkeypatch.setattr(Deposits, "size", 3)
    page = asked_for(Deposits, order=order).page
    found = [*page.rows]
    while on := page.older if sign else page.newer:
        page = asked_for(Deposits, order=order, **{"before" if sign else "after": on}).page
        found += page.rows
    assert found == due


def test_the_rows_of_a_filter_are_sorted_while_they_are_few(monkeypatch):
    player = a_player()
    for number in range(3):
        a_payment(player, 100_00 * (3 - number))
    waiting = {"state": "waiting", "order": "amount"}
    assert [each.amount for each in asked_for(Deposits, **waiting).page.rows] == [100_00, 200_00, 300_00]
    monkeypatch.setattr(staff_list, "MOST_SORTED", 2)
    too_many = asked_for(Deposits, **waiting)
    assert not too_many.page.rows
    assert too_many.form.errors["order"] == ["More than 2 rows. Narrow the search to sort by this column."]
    assert len(asked_for(Deposits, order="amount").page.rows) == 3


def test_rounds_are_sorted_by_a_column_while_they_are_few(monkeypatch):
    player, other, table = a_player(real=10_000_00), a_player(real=10_000_00), a_table()
    for who, stake in ((player, 100_00), (other, 10_00), (player, 50_00)):
        a_round(who, table, player=stake)
    reader = visit("compliance")

    def asked(**query: str) -> Rounds:
        return reader.get("/staff/rounds/", query).context["list"]

    staked = [each.staked for each in asked(order="-part__staked").page.rows]
    assert staked == [100_00, 50_00, 10_00]
    first = asked(order="player", player=str(player.pk)).page.rows
    assert {each.player_id for each in first} == {player.pk}
    heads = [each.order for each in asked().headings]
    assert heads == [None, "oldest", "-table", "-player", None, "-part__staked", "-part__paid"]
    monkeypatch.setattr(staff_list, "MOST_SORTED", 2)
    monkeypatch.setattr(rounds, "MOST_SORTED", 2)
    too_many = asked(order="part__staked")
    assert not too_many.page.rows
    assert too_many.form.errors["order"] == ["More than 2 rows. Narrow the search to sort by this column."]
    assert len(asked(order="part__staked", player=str(player.pk)).page.rows) == 2
    assert len(asked(order="oldest").page.rows) == 3


def test_journals_are_sorted_by_their_time_but_not_those_of_a_player():
    player = a_player(real=100_00)
    rising = asked_for(Journals, order="oldest")
    assert [(each.sort, each.order) for each in rising.headings[:2]] == [("ascending", ""), ("", "")]
    assert rising.may_sort
    assert not asked_for(Journals, player=str(player.pk)).may_sort
