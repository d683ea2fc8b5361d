"""Filters of lists: by indexed columns and by time, one at once, in pages and files alike."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
from django import forms
from django.db import connection
from django.db.models import Field, Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit import id_ranges, log
from audit.models import Event
from backoffice.lists.filters import Filter, ListForm
from backoffice.lists.index import LISTS
from backoffice.lists.paging import PAGE, Page
from backoffice.lists.view import StaffListView
from games.models import Participation
from players.models import Mail, Player, Session
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.staff_lists import asked_for
from wallet.models import Journal, Payment

pytestmark = pytest.mark.django_db

FILTERS = [(listing, each) for listing in LISTS for each in listing.filters]
OF_FEW = (
    r"\bwallet_withdrawal_open\b"  # holds open ones alone; PostgreSQL may choose it over that of a status of theirs
)
WHOLE = re.compile(r"(?:^|->  )Sort  \(", re.MULTILINE)
BASE = "/staff/lists/"


@pytest.fixture
def visitor() -> Client:
    """The browser of a compliance member."""
    found = a_visitor()
    found.force_login(a_member_of_staff("compliance").user)
    return found


def page_of(listing: type[StaffListView], before: str = "", **query: str) -> Page[Any]:
    """Return the rows that a list shows then."""
    return asked_for(listing, **query, before=before).page


def of(model: type[Any]) -> type[StaffListView]:
    return next(listing for listing in LISTS if listing.model is model)


def listed(answer: Any) -> list[str]:
    return [str(row.pk) for row in answer.context["page"].rows]


def test_no_filter_is_called_by_its_name_in_the_program():
    """Django makes a label of the name, which stays English in every language."""
    assert reverse("staff_home")  # with the addresses, every page is imported
    kinds = ListForm.__subclasses__()
    fields = [(kind, name, each) for kind in kinds for name, each in kind.base_fields.items()]
    assert [
        f"{kind.__name__}.{name}"
        for kind, name, each in fields
        if each.label is None and not isinstance(each.widget, forms.HiddenInput)
    ] == []
    assert len(kinds) > 20


def columns(condition: Q) -> Iterator[str]:
    """Yield the columns that a condition compares."""
    for child in condition.children:
        if isinstance(child, Q):
            yield from columns(child)
        else:
            name, _ = cast("tuple[str, object]", child)
            yield name.partition("__")[0]


def options(listing: type[StaffListView], each: Filter) -> list[str]:
    """Return the options of a filter; if they are rows and there are none, a value in the form of one."""
    return [value for value, _ in each.options()] or ["1R" if each.key else "1"]


@pytest.mark.parametrize(("listing", "each"), FILTERS, ids=lambda found: getattr(found, "name", ""))
def test_an_index_serves_whatever_a_list_is_narrowed_to(listing: type[StaffListView], each: Filter):
    """No row is read to be thrown away for what was chosen, and none sorted where there may be many."""
    table, plain = listing.model._meta.db_table, "" if each.is_few else "SET LOCAL enable_sort = off;"
    with connection.cursor() as cursor:
        cursor.execute(f"{plain} SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    rows = listing.model._default_manager.order_by(*(f"-{name}" for name in each.key or listing.key))
    for value in options(listing, each):
        kept = each.keeps(value)
        plan = rows.filter(kept)[: PAGE + 1].explain()
        assert f"Seq Scan on {table}" not in plan, (value, plan)
        thrown_away = [line for line in plan.splitlines() if line.strip().startswith("Filter:")]
        if not each.is_few and not re.search(OF_FEW, plan):
            assert not any(name in line for line in thrown_away for name in columns(kept)), (value, plan)
            assert not WHOLE.search(plan), (value, plan)


@pytest.mark.sweep
def test_one_field_at_once_is_searched_with_a_time(visitor):
    for query in ("state=waiting&q=player:1", "q=12&state=credited&since=2026-01-01T00:00"):
        page = visitor.get(f"{BASE}wallet/payment/?{query}")
        assert "Search, or use only one of these filters: state. This list is too long to combine them" in page.text
        assert "Nothing was searched. Correct the marked fields above." in page.text
        assert listed(page) == []
    assert visitor.get(f"{BASE}wallet/payment/?state=waiting&since=2026-01-01T00:00").status_code == 200
    page = visitor.get(f"{BASE}players/player/?jurisdiction=SE&status=leaving")
    assert "use only one of these filters: jurisdiction, status." in page.text


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("state=stolen", "Select a valid choice. stolen is not one of the available choices."),
        ("since=yesterday", "Enter a valid date/time."),
        ("since=2026-02-01T00:00&until=2026-01-01T00:00", "The end is before the start."),
        ("since=2026-02-01T00:00&until=2026-02-01T00:00", "The end is before the start."),
    ],
)
def test_an_invalid_search_is_reported_at_its_field_and_gives_no_file(visitor, query, said):
    page = visitor.get(f"{BASE}wallet/payment/?{query}")
    assert said in page.text
    assert listed(page) == []
    assert visitor.get(f"{BASE}wallet/payment/export/?{query}").status_code == 400


@pytest.mark.sweep
def test_pages_and_files_keep_to_what_was_chosen(visitor):
    for number in range(PAGE + 5):
        log.record("test.happened", by="system", on="test:1", data={"number": number})
        log.record("round.voided", by="system", on="test:2", data={"number": number})
    voided = Event.objects.filter(kind="round.voided").count()
    first: Any = visitor.get(f"{BASE}audit/event/?kind=round.voided")
    older = visitor.get(f"{BASE}audit/event/", {"kind": "round.voided", "before": first.context["page"].older})
    assert [len(listed(page)) for page in (first, older)] == [PAGE, voided - PAGE]
    assert set(Event.objects.filter(pk__in=listed(first) + listed(older)).values_list("kind", flat=True)) == {
        "round.voided"
    }
    content = visitor.get(f"{BASE}audit/event/export/?kind=round.voided").text
    assert content.count(",round.voided,") == voided
    assert "test.happened" not in content


@pytest.mark.sweep
def test_rounds_at_a_table_are_in_the_order_of_their_times(visitor):
    player, table, other = a_player(real=100_000), a_table(), a_table("pairs")
    for at in (table, other, table):
        a_round(player, at, player=1000)
    wanted = Participation.objects.filter(table=table).order_by("-at", "-pk")
    order = asked_for(of(Participation), table=f"{table.pk}R").order
    assert order.key == ("at", "id")
    assert list(page_of(of(Participation), table=f"{table.pk}R").rows) == list(wanted)
    assert order.cursor(wanted[0]) == f"{wanted[0].at.isoformat()}~{wanted[0].pk}"
    second = page_of(of(Participation), order.cursor(wanted[0]), table=f"{table.pk}R")
    assert list(second.rows) == [wanted[1]]
    assert not page_of(of(Participation), table=f"{table.pk}F").rows


def test_running_sessions_are_listed_and_ended_ones_left_out(visitor):
    user = a_player().user
    now = timezone.now()
    for number, ended in enumerate((None, now)):
        Session.objects.create(id=f"{number:032x}", user=user, ip="", browser="", began_at=now, ended_at=ended)
    found = page_of(of(Session), status="running").rows
    assert {session.ended_at for session in found} == {None}
    assert f"{0:032x}" in {session.pk.hex for session in found}


def test_mail_is_waiting_or_given_up(visitor):
    mails = [Mail(address="a@example.com", language="en", template="x", subject="x") for _ in range(3)]
    waiting, sent, given_up = Mail.objects.bulk_create(mails)
    Mail.objects.filter(pk=sent.pk).update(sent_at=timezone.now(), next_try_at=None)
    Mail.objects.filter(pk=given_up.pk).update(next_try_at=None)
    assert list(page_of(of(Mail), status="waiting").rows) == [waiting]
    assert list(page_of(of(Mail), status="given-up").rows) == [given_up]


def test_journals_are_found_by_their_rarer_kinds():
    player, table = a_player(real=100_000), a_table()
    a_round(player, table, player=1000)
    kinds = {value for value, _ in of(Journal).filters[0].options()}
    assert "deposit" in kinds
    assert kinds.isdisjoint({"stake", "settle"})
    found = page_of(of(Journal), kind="deposit").rows
    assert {journal.kind for journal in found} == {"deposit"}


@pytest.mark.parametrize("listing", sample([each for each in LISTS if each.period], 10), ids=lambda each: each.name)
def test_a_time_is_a_range_of_the_key(listing: type[StaffListView]):
    """Every list that has a time can be asked for one, and is still read along its key."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
    narrowed = asked_for(listing, since="2026-01-01T00:00", until="2030-01-01T00:00")
    rows = narrowed.found().order_by(*narrowed.order.fields)
    sql = str(rows.query)
    table = listing.model._meta.db_table
    key = cast("Field[Any, Any]", listing.model._meta.get_field(listing.key[0])).column
    assert f'"{table}"."{key}" >= ' in sql
    assert f'"{table}"."{key}" < ' in sql
    plan = rows[: PAGE + 1].explain()
    assert f"Seq Scan on {table}" not in plan
    # A partitioned table is not read at all for a time without rows.
    assert "One-Time Filter: false" in plan or not WHOLE.search(plan), plan


def test_a_time_finds_rows_to_the_second(visitor):
    for _ in range(3):
        a_player()
    joined = list(Player.objects.order_by("user__created_at").values_list("user__created_at", flat=True))
    rows = Player.objects.all()
    for since, until in ((joined[0], joined[-1]), (None, joined[1]), (joined[1], None), (None, None)):
        among = id_ranges.keys(rows, "id", "user__created_at", since, until)
        due = rows.all()
        due = due.filter(user__created_at__gte=since) if since else due
        due = due.filter(user__created_at__lt=until) if until else due
        assert set(due.values_list("pk", flat=True)) <= set(among)
    day = timedelta(days=1)
    tomorrow = f"{timezone.now() + day:%Y-%m-%dT%H:%M}"
    yesterday = f"{timezone.now() - day:%Y-%m-%dT%H:%M}"
    assert not page_of(of(Player), since=tomorrow).rows
    assert not page_of(of(Player), until=yesterday).rows
    assert len(page_of(of(Player), since=yesterday, until=tomorrow).rows) == len(joined)


def test_no_rows_at_all_have_no_time():
    assert id_ranges.keys(Payment.objects.none(), "id", "begun_at", None, timezone.now()) == range(0)


def test_halving_reads_few_rows(django_assert_max_num_queries):
    for number in range(200):
        log.record("test.happened", by="system", on="test:1", data={"number": number})
    numbers = Event.objects.order_by("pk").values_list("pk", flat=True)
    length = numbers[len(numbers) - 1] - numbers[0] + 1
    with django_assert_max_num_queries(2 * length.bit_length() + 3):
        id_ranges.keys(Event.objects.all(), "id", "at", timezone.now(), timezone.now() + timedelta(days=1))
