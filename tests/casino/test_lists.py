"""Lists of the back office: pages by key, indexed searches, files, and actions that are
previewed.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import BinaryField, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from openpyxl import load_workbook

from audit import log
from audit.models import Event
from backoffice.lists import files
from backoffice.lists.cells import ITSELF, PATH
from backoffice.lists.index import LISTS
from backoffice.lists.paging import PAGE, Order, Page
from backoffice.lists.players import Sessions
from backoffice.lists.view import StaffListView
from games.models import Table
from players.models import Ended, Session
from tests.builders import a_player, a_table
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events, log_in
from tests.staff_lists import asked_for

pytestmark = pytest.mark.django_db

EVENTS = "/staff/lists/audit/event/"
SESSIONS = "/staff/lists/players/session/"
TABLES = "/staff/lists/games/table/"
# Sorts what it read to the end; an incremental sort continues the order of the index.
WHOLE = re.compile(r"(?:^|->  )Sort  \(", re.MULTILINE)


def visit(*roles: str) -> Client:
    """Return the browser of a staff member with these roles."""
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(*roles).user)
    return visitor


def listed(answer: Any) -> list[str]:
    """Return the keys of the rows on a page, from the top."""
    return [str(row.pk) for row in answer.context["page"].rows]


def the_page(visitor: Client, address: str) -> Page[Any]:
    """The rows of a page, and where the pages next to it begin."""
    answer: Any = visitor.get(address)
    page: Page[Any] = answer.context["page"]
    return page


def some_sessions(count: int) -> None:
    """Create sessions that all began at the same moment."""
    user, at = a_player().user, timezone.now()
    Session.objects.bulk_create(Session(id=uuid4(), user=user, ip="", browser="", began_at=at) for _ in range(count))


def pages(visitor: Client, address: str, way: str) -> Iterator[list[str]]:
    """Yield the pages from *address* on, one after another: older ones, or newer ones."""
    query: dict[str, str] = {}
    while True:
        answer: Any = visitor.get(address, query or None)
        yield listed(answer)
        cursor = getattr(answer.context["page"], way)
        if not cursor:
            return
        address, query = address.partition("?")[0], {"before" if way == "older" else "after": cursor}


def test_pages_show_every_row_once_in_the_order_of_the_key_and_lead_back():
    some_sessions(2 * PAGE + 7)
    visitor = visit("support")
    visitor.get(SESSIONS)  # this starts a session of the visitor
    rows = [str(key) for key in Session.objects.order_by("-began_at", "-id").values_list("pk", flat=True)]
    down = list(pages(visitor, SESSIONS, "older"))
    assert [key for page in down for key in page] == rows
    assert [len(page) for page in down] == [PAGE, PAGE, len(rows) - 2 * PAGE]
    last = the_page(visitor, SESSIONS).older
    last = the_page(visitor, f"{SESSIONS}?{urlencode({'before': last})}").older
    up = list(pages(visitor, f"{SESSIONS}?{urlencode({'before': last})}", "newer"))
    assert [key for page in reversed(up) for key in page] == rows


def test_oldest_first_is_the_same_list_from_its_other_end_in_pages_and_files():
    some_sessions(PAGE + 7)
    visitor = visit("compliance")
    visitor.get(SESSIONS)
    rows = [str(key) for key in Session.objects.order_by("began_at", "id").values_list("pk", flat=True)]
    first: Any = visitor.get(SESSIONS, {"order": "oldest"})
    assert (listed(first), first.context["page"].older) == (rows[:PAGE], "")
    head = r'<th scope="col" aria-sort="{}"><a class="sort" href="[^"]*">Started \(UTC\)</a></th>'
    assert re.search(head.format("ascending"), first.text)
    assert re.search(head.format("descending"), visitor.get(SESSIONS).text)
    asked = {"order": "oldest", "after": first.context["page"].newer}
    second: Any = visitor.get(SESSIONS, asked)
    assert (listed(second), second.context["page"].newer) == (rows[PAGE:], "")
    back = visitor.get(SESSIONS, {"order": "oldest", "before": second.context["page"].older})
    assert listed(back) == rows[:PAGE]
    lines = visitor.get(second.context["list"].files["CSV"]).text.splitlines()
    assert [line.partition(",")[0] for line in lines if line.partition(",")[0] in rows] == rows[PAGE:]


def test_all_rows_of_a_page_are_chosen_at_once():
    tables = [a_table(), a_table("pairs")]
    shown = {"action": "close", "shown": [str(table.pk) for table in tables]}
    visitor = visit("supervisor")
    assert visitor.post(TABLES, shown)["Location"] == TABLES
    assert "Close tables: 2 of 2" in visitor.post(TABLES, shown | {"all": "yes"}).text


@pytest.mark.sweep
def test_concurrent_changes_shift_no_page():
    for number in range(2 * PAGE):
        log.record("test.happened", by="system", on="test:1", data={"number": number})
    visitor = visit("compliance")
    first: Any = visitor.get(f"{EVENTS}?q=test:1")
    log.record("test.happened", by="system", on="test:1", data={"number": -1})
    second = visitor.get(EVENTS, {"q": "test:1", "before": first.context["page"].older})
    assert int(listed(second)[0]) < int(listed(first)[-1])
    assert not set(listed(first)) & set(listed(second))
    assert len(listed(first) + listed(second)) == 2 * PAGE


@pytest.mark.sweep
@pytest.mark.parametrize("key", sample(["", "0", "x", "1~2", "~", "9" * 40, "2026-11-22T00:00:00+00:00~x"], 2))
def test_an_invalid_key_leads_to_the_newest_page_or_to_none(key):
    for address in (EVENTS, SESSIONS):
        for way in ("before", "after"):
            assert visit("compliance").get(address, {way: key}).status_code == 200


def questions(listing: type[StaffListView]) -> Iterator[tuple[str, QuerySet[Any]]]:
    """Yield the queries of a list: its pages and its searches, with values that need not exist."""
    every, newest, oldest = listing.rows(), Order(listing.key), Order(listing.key, is_rising=True)
    key: list[Any] = [1] if len(listing.key) == 1 else [timezone.now(), uuid4()]
    for order in (newest, oldest):
        yield "first page", every.order_by(*order.fields)
        yield "next page", order.beyond(every, key).order_by(*order.fields)
    typed = ["12", str(uuid4()), "player:12", "table:3", "statement:3", "7Q4M-0ZKD-88AB", "round.voided"]
    for find in listing.finds:
        found = [condition for text in typed if (condition := find.condition(text)) is not None]
        assert found, f"nothing that this test types is a {find.name}"
        yield f"find {find.name}", every.order_by(*newest.fields).filter(found[0])


@pytest.mark.parametrize("listing", LISTS, ids=lambda listing: listing.label())
def test_every_column_is_there_and_holds_no_bytes(listing):
    """An empty list would otherwise reveal no failure."""
    for column in (*listing.columns, *listing.more):
        if column.name == ITSELF or hasattr(listing, f"of_{column.name}"):
            continue
        model, field = listing.model, None
        for part in column.name.split(PATH):
            field = model._meta.get_field(part)
            model = field.related_model
        assert not isinstance(field, BinaryField), column.name


@pytest.mark.parametrize("listing", LISTS, ids=lambda listing: listing.label())
def test_an_index_serves_every_page_search_and_filter_of_every_list(listing):
    """With sequential scans disabled, the database reads a whole table only if there is no other plan."""
    table = listing.model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
    for asked, rows in questions(listing):
        plan = rows[: PAGE + 1].explain()
        whole = [line for line in plan.splitlines() if f"Seq Scan on {table}" in line]
        assert whole == [], (asked, plan)
        if "page" in asked:
            assert not WHOLE.search(plan), (asked, plan)


@pytest.mark.sweep
def test_the_last_page_of_many_rows_reads_no_more_than_the_first():
    user = a_player().user
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO players_session (id, user_id, ip, browser, began_at, acted_at, why)"
            " SELECT gen_random_uuid(), %s, '', '', now() - n * interval '1 second', now(), ''"
            " FROM generate_series(1, 20000) AS n",
            [user.pk],
        )
        cursor.execute("ANALYZE players_session")
    order, every = Order(Sessions.key), Sessions.rows()
    deep = Session.objects.order_by("began_at", "id")[PAGE]
    for start in ((), (deep.began_at, deep.pk)):
        plan = order.beyond(every, start).order_by(*order.fields)[: PAGE + 1].explain(analyze=True, timing=False)
        assert "players_session_newest" in plan
        assert "Seq Scan on players_session" not in plan
        read = [int(float(count)) for count in re.findall(r"on players_session .*?actual rows=([\d.]+)", plan)]
        assert read, plan
        assert max(read) <= PAGE + 1, plan


@pytest.mark.sweep
def test_a_page_counts_nothing_and_skips_nothing():
    some_sessions(PAGE + 3)
    visitor = visit("compliance")
    older = the_page(visitor, SESSIONS).older
    with CaptureQueriesContext(
        connection,
    ) as asked:
        visitor.get(SESSIONS)
        visitor.get(SESSIONS, {"before": older})
    said = [query["sql"].upper() for query in asked.captured_queries if "PLAYERS_SESSION" in query["sql"].upper()]
    assert said
    assert [sql for sql in said if "COUNT(" in sql or "OFFSET" in sql] == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    "query",
    [
        "user__password__startswith=argon2",
        "user__email=a@example.com",
        "ip=10.0.0.1",
        "began_at__gt=2026-01-01",
        "user__authenticator__data__contains=x",
    ],
)
def test_an_address_that_compares_another_field_is_refused(query):
    assert visit("compliance").get(f"{SESSIONS}?{query}").status_code == 400


@pytest.mark.sweep
def test_what_no_index_finds_finds_nothing_and_says_what_does():
    visitor = visit("compliance")
    page = visitor.get(f"{EVENTS}?q=Nobody knows")
    assert listed(page) == []
    assert "Search by: number, kind: round.voided" in page.text
    number = Event.objects.latest("pk").pk
    assert listed(visitor.get(f"{EVENTS}?q={number}")) == [str(number)]


@pytest.mark.sweep
def test_a_page_of_a_list_loads_nothing_from_another_host():
    a_table()
    visitor = visit("compliance")
    key = Table.objects.get().pk
    for address in (reverse("staff_lists"), EVENTS, TABLES, f"{TABLES}{key}/"):
        page = visitor.get(address).text
        loaded = re.findall(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)="([^"]*)\"""", page)
        assert loaded
        assert [found for found in loaded if not found.startswith("/") or found.startswith("//")] == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    "address",
    [
        "login/",
        "jsi18n/",
        "logout/",
        "password_change/",
        "autocomplete/",
        "search/",
        "r/1/1/",
        "games/",
        "games/table/add/",
        "games/table/1/change/",
        "games/table/1/delete/",
        "games/table/1/history/",
    ],
)
def test_there_is_no_admin_and_no_page_of_one(address):
    for before in ("/staff/admin/", "/staff/lists/", "/admin/"):
        assert visit("compliance").get(before + address).status_code == 404


def test_staff_without_a_second_factor_are_led_to_where_they_set_one_up():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("compliance", factor=False).user)
    assert visitor.get(EVENTS)["Location"] == reverse("account_security")


def test_a_player_before_a_list_is_refused_on_record():
    player, visitor = a_player(), a_visitor()
    visitor.force_login(player.user)
    assert visitor.get(EVENTS).status_code == 403
    (refused,) = events("access.refused", by=str(player))
    assert refused["on"] == "page:staff_list_audit_event"


def test_a_session_that_is_over_is_over_in_lists_too():
    visitor = visit("compliance")
    assert visitor.get(EVENTS).status_code == 200
    Session.objects.update(ended_at=timezone.now(), why=Ended.ELSEWHERE)
    assert visitor.get(EVENTS)["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize(("language", "why"), [("en", "timed out"), ("de", "wegen Inaktivität abgelaufen")])
def test_why_a_session_ended_is_in_the_language_of_the_reader_and_english_in_files(language: str, why: str):
    some_sessions(1)
    Session.objects.update(ended_at=timezone.now(), why=Ended.IDLE)
    with override(language):
        listing = asked_for(Sessions)
        assert listing.values(listing.page.rows[0])[-1] == why
    visitor = visit("compliance")
    assert "timed out" in visitor.get(f"{SESSIONS}export/?as=csv", headers={"Accept-Language": language}).text


def test_a_list_records_access_to_everyone_shown_and_so_does_one_row():
    one, other = a_player(), a_player()
    visitor = visit("support")
    visitor.get("/staff/lists/players/player/")
    (look,) = events("data.accessed", on="page:staff_list_players_player")
    assert {str(one), str(other)} <= set(look["data"]["players"])
    visitor.get(f"/staff/lists/players/player/{one.pk}/")
    (look,) = events("data.accessed", on=str(one))
    assert look["data"]["page"] == "staff_list_players_player_row"


def test_a_file_of_rows_is_what_the_list_shows_and_the_log_has_its_hash():
    player = a_player()
    visitor = visit("compliance")
    answer = visitor.get(f"/staff/lists/players/player/export/?as=csv&q={player}")
    lines = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [line[0] for line in lines if line and line[0].startswith("player:")] == [str(player)]
    (taken,) = events("rows.exported")
    assert taken["data"] == {
        "list": "players.player",
        "format": "csv",
        "rows": 1,
        "sha256": hashlib.sha256(answer.content).hexdigest(),
    }
    (look,) = events("data.accessed", on="page:staff_list_players_player_file")
    assert look["data"]["players"] == [str(player)]


@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t="], ids=["equals", "plus", "minus", "at", "tab"])
def test_no_cell_of_a_file_begins_a_formula(beginning):
    name = f"{beginning}1+1"
    update_as_owner(Table.objects.filter(pk=a_table().pk), name=name)
    visitor = visit("compliance")
    assert f"\r\n{Table.objects.get().pk},'{name}," in visitor.get(f"{TABLES}export/").text
    book = load_workbook(io.BytesIO(visitor.get(f"{TABLES}export/?as=xlsx").content))
    cells = [cell for row in book["Rows"].iter_rows() for cell in row if str(cell.value).endswith("1+1")]
    assert [(cell.value, cell.data_type) for cell in cells] == [(name, "s")]


def test_staff_without_the_right_to_files_see_no_link_and_are_refused_on_record():
    a_table()
    taker, reader = visit("compliance"), visit("supervisor")
    assert f"{TABLES}export/" in taker.get(TABLES).text
    assert "export/" not in reader.get(TABLES).text
    for form in ("csv", "xlsx"):
        assert reader.get(f"{TABLES}export/?as={form}").status_code == 403
    assert len(events("access.refused", on="page:staff_list_games_table_file")) == 2
    assert events("rows.exported") == []


@pytest.mark.sweep
def test_a_file_is_named_after_its_list_and_the_moment():
    a_table()
    for form in ("csv", "xlsx"):
        answer = visit("compliance").get(f"{TABLES}export/?as={form}")
        assert re.fullmatch(
            rf'attachment; filename="tables-[0-9]{{8}}-[0-9]{{6}}\.{form}"', answer["Content-Disposition"]
        )


def test_a_file_has_a_bound_and_says_where_older_rows_go_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "MOST", 3)
    for number in range(5):
        log.record("test.happened", by="system", on="test:1", data={"number": number})
    visitor = visit("compliance")
    numbers = sorted(Event.objects.filter(on="test:1").values_list("pk", flat=True), reverse=True)
    answer = visitor.get(f"{EVENTS}export/?q=test:1")
    first = answer.text
    # A CSV file has only rows, so its name says that there are more; a workbook says where they continue.
    assert answer["Content-Disposition"].endswith('-first-3.csv"')
    book = load_workbook(io.BytesIO(visitor.get(f"{EVENTS}export/?q=test:1&as=xlsx").content))
    notes = [row[1] for row in book["Report"].iter_rows(values_only=True) if row[0] == "Note"]
    assert notes == [f"Older rows go on before {numbers[2]}."]
    answer = visitor.get(f"{EVENTS}export/?q=test:1&before={numbers[2]}")
    second = answer.text
    assert "-first-" not in answer["Content-Disposition"]
    assert all((f"\r\n{number}," in first) == (place < 3) for place, number in enumerate(numbers))
    assert all((f"\r\n{number}," in second) == (place >= 3) for place, number in enumerate(numbers))


def do(visitor: Client, address: str, action: str, rows: list[Any], **form: str) -> Any:
    """Choose rows of a list, and what to do to them."""
    return visitor.post(address, {"action": action, "chosen": [str(row.pk) for row in rows], **form})


def test_a_action_shows_what_it_would_do_and_does_nothing_before_that_was_read():
    is_open, closed = a_table(), a_table("pairs", is_open=False)
    page = do(visit("supervisor"), TABLES, "close", [is_open, closed])
    assert "Will be closed. A round in progress is completed." in page.text
    assert "<strong>Skipped:</strong> Already closed." in page.text
    assert "Close tables: 1 of 2" in page.text
    assert Table.objects.get(pk=is_open.pk).is_open
    assert events("table.closed") == []


def test_a_action_takes_a_reason_and_is_done_row_by_row():
    is_open, closed = a_table(), a_table("pairs", is_open=False)
    visitor = visit("supervisor")
    page = do(visitor, TABLES, "close", [is_open, closed], confirm="yes", reason=" ")
    assert "Enter a reason. It is recorded." in page.text
    assert Table.objects.get(pk=is_open.pk).is_open
    done = do(visitor, TABLES, "close", [is_open, closed], confirm="yes", reason="Cleaning")
    assert not Table.objects.get(pk=is_open.pk).is_open
    (event,) = events("table.closed")
    assert (event["on"], event["data"]["reason"]) == (f"table:{is_open.pk}", "Cleaning")
    assert "Close tables: done for 1 of 2" in done.text
    assert "<strong>Not done:</strong> Already closed." in done.text


def test_an_action_is_only_for_staff_with_its_permission():
    table = a_table()
    assert do(visit("compliance"), TABLES, "close", [table], confirm="yes", reason="x").status_code == 403
    assert "Close tables" not in visit("compliance").get(TABLES).text
    assert do(visit("compliance"), EVENTS, "close", [table]).status_code == 405
    assert Table.objects.get(pk=table.pk).is_open


def test_what_was_chosen_wrongly_does_nothing():
    visitor = visit("supervisor")
    for chosen in ({"action": "close"}, {"action": "explode", "chosen": ["1"]}):
        assert visitor.post(TABLES, chosen)["Location"] == TABLES
    nonsense = {"action": "close", "chosen": ["x", "9" * 40, ""], "confirm": "yes", "reason": "x"}
    assert visitor.post(TABLES, nonsense)["Location"] == TABLES


@pytest.mark.sweep
def test_sessions_of_players_end_and_those_of_staff_do_not():
    player, visitor = a_player(password="walking-the-dog-7"), a_visitor()
    log_in(visitor, player.user)
    support = visit("support")
    support.get(SESSIONS)
    theirs, ours = Session.objects.get(user=player.user), Session.objects.exclude(user=player.user).latest("began_at")
    do(support, SESSIONS, "end", [theirs, ours], confirm="yes", reason="The phone was stolen")
    assert Session.objects.get(pk=theirs.pk).why == Ended.HOUSE
    assert Session.objects.get(pk=ours.pk).ended_at is None
    (ended,) = events("session.ended", on=str(player))
    assert ended["data"]["reason"] == "The phone was stolen"
    assert visitor.get("/en/account/").status_code == 302
