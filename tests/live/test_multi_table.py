"""Two to four live tables in one window: access, possible tables, and framing of other pages refused."""

from typing import Any

import pytest
from django.test import Client

from games.models import LiveTable
from games.tables.status import close_table
from tests.builders import a_player, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.live.test_live_pages import visitor_of
from tests.pages.test_matrix import POLICY

pytestmark = pytest.mark.django_db

BOTH = "/en/multi-table/live:real,second:real/"
FOUR = "/en/multi-table/live:real,second:real,live:free,second:free/"
ADD = "/en/multi-table/live:real/add/"
FRAME = "/en/table/live/real/framed/"


@pytest.fixture
def tables() -> tuple[LiveTable, LiveTable]:
    return a_live_table(), a_live_table("pairs", slug="second")


def policy(answer: Any) -> dict[str, str]:
    """Return the answer's content security policy by directive, without scripts."""
    parts = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    parts.pop("script-src")
    return parts


def where(visitor: Client, address: str, **headers: str) -> str:
    """Return where a URL redirects to."""
    return str(visitor.get(address, headers=headers).get("Location", ""))


def test_two_tables_stand_side_by_side_each_in_a_frame_of_its_own(tables):
    page = visitor_of(a_player()).get(BOTH)
    assert page.status_code == 200
    assert 'data-src="/en/table/live/real/framed/"' in page.text
    assert 'data-src="/en/table/second/real/framed/"' in page.text


def test_up_to_four_tables_share_a_window_and_each_can_be_closed_put_forward_and_replaced(tables):
    visitor = visitor_of(a_player())
    page = visitor.get(FOUR).text
    assert page.count("<iframe") == 4
    assert page.count('id="bar-balance"') == 1
    for address in (
        "/en/multi-table/second:real,live:free,second:free/",  # without the first
        "/en/multi-table/second:real,live:real,live:free,second:free/",  # the second one further forward
        "/en/multi-table/live:real,live:free,second:free/add/?at=1",  # another one in place of the second
    ):
        assert f'href="{address}"' in page
    assert 'href="/en/multi-table/live:real,second:real,live:free,second:free/add/"' not in page
    three = visitor.get("/en/multi-table/live:real,second:real,live:free/").text
    assert 'href="/en/multi-table/live:real,second:real,live:free/add/"' in three
    assert f'href="{FOUR}"' in visitor.get("/en/multi-table/live:real,second:real,live:free/add/").text
    assert visitor.get(FOUR.replace("free/", "free,live:real/")).status_code == 404


@pytest.mark.sweep
def test_the_same_table_may_stand_there_with_two_kinds_of_money(tables):
    assert visitor_of(a_player()).get("/en/multi-table/live:real,live:free/").status_code == 200


@pytest.mark.sweep
def test_a_table_cannot_be_next_to_itself(tables):
    answer = visitor_of(a_player()).get("/en/multi-table/live:real,live:real/")
    assert answer.status_code == 404
    assert "the same table twice" in answer.text
    assert "<iframe" not in answer.text


@pytest.mark.sweep
@pytest.mark.parametrize("address", ["/en/multi-table/live:real,none:real/", "/en/multi-table/none:real,live:real/"])
def test_a_table_that_does_not_exist_cannot_be_chosen(tables, address):
    assert visitor_of(a_player()).get(address).status_code == 404


@pytest.mark.sweep
@pytest.mark.parametrize(
    "address",
    sample(
        [
            "/en/multi-table/live:real,baccarat:real/",
            "/en/multi-table/baccarat:real,live:real/",
            "/en/multi-table/baccarat:real/add/",
            "/en/table/baccarat/real/framed/",
        ],
        1,
    ),
)
def test_a_table_for_one_player_cannot_be_chosen(tables, address):
    a_table()
    assert visitor_of(a_player()).get(address).status_code == 404


def test_a_player_limited_to_one_table_is_informed_and_gets_no_frame(tables):
    visitor = visitor_of(a_player("DE"))
    for address in (BOTH, ADD):
        answer = visitor.get(address)
        assert answer.status_code == 403
        assert "only one table at a time" in answer.text
        assert "<iframe" not in answer.text
    assert where(visitor, FRAME) == "/en/table/live/real/"


def test_where_the_house_may_not_show_tables_together_each_stays_on_its_own_page(tables):
    visitor = visitor_of(a_player("GB"))
    for address in (BOTH, ADD):
        answer = visitor.get(address)
        assert answer.status_code == 403
        assert "on its own page" in answer.text
        assert "<iframe" not in answer.text
    assert where(visitor, FRAME) == "/en/table/live/real/"
    for address in ("/en/table/live/real/", "/en/table/second/real/"):
        assert visitor.get(address).status_code == 200


@pytest.mark.parametrize(("jurisdiction", "offered"), sample([("SE", True), ("DE", False), ("GB", False)], 1))
def test_a_second_table_is_offered_where_the_law_allows_it(tables, jurisdiction, offered):
    visitor = visitor_of(a_player(jurisdiction))
    for page in ("/en/table/live/real/", "/en/"):
        assert (f'href="{ADD}"' in visitor.get(page).text) is offered, page


@pytest.mark.sweep
def test_the_choice_names_open_tables_that_others_play_at_and_keeps_the_side(tables):
    a_table()
    closed = a_live_table(slug="closed").table
    close_table(table_id=closed.pk, reason="for a test", by="staff:test")
    visitor = visitor_of(a_player())
    page = visitor.get(ADD).text
    found = [line.split('"')[0] for line in page.split('multi-table-choice__table" href="')[1:]]
    assert found == [BOTH, "/en/multi-table/live:real,live:free/", "/en/multi-table/live:real,second:free/"]
    at_the_left = visitor.get(f"{ADD}?at=0").text
    assert 'href="/en/multi-table/second:real,live:real/"' in at_the_left


def test_only_the_table_in_the_frame_may_be_framed_and_only_its_window_frames(tables):
    visitor = visitor_of(a_player())
    framed, around = visitor.get(FRAME), visitor.get(BOTH)
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
    assert policy(framed) == POLICY | {"frame-ancestors": "'self'"}
    assert around["X-Frame-Options"] == "DENY"
    assert policy(around) == POLICY | {"frame-src": "'self'"}
    others = ["/en/", "/en/table/live/real/", "/en/table/live/real/now/", ADD, "/en/cashier/"]
    for address in [*others, "/en/table/none/real/framed/", "/en/multi-table/live:real,live:real/"]:
        answer = visitor.get(address)
        assert answer["X-Frame-Options"] == "DENY", address
        assert policy(answer) == POLICY, address


def test_what_keeps_a_player_away_cannot_be_framed(tables):
    answer = Client().get(FRAME)
    assert answer.status_code == 302
    assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.sweep
def test_a_window_that_asks_for_a_frame_by_itself_gets_the_whole_table(tables):
    visitor = visitor_of(a_player())
    assert where(visitor, FRAME, **{"Sec-Fetch-Dest": "document"}) == "/en/table/live/real/"
    assert visitor.get(FRAME, headers={"Sec-Fetch-Dest": "iframe"}).status_code == 200


@pytest.mark.sweep
def test_shared_parts_of_both_tables_appear_once(tables):
    visitor = visitor_of(a_player())
    framed, around = visitor.get(FRAME).text, visitor.get(BOTH).text
    for part in ('<header class="bar', 'id="session-warning"'):
        assert part not in framed
        assert around.count(part) == 1


@pytest.mark.sweep
def test_an_answered_reality_check_leads_back_to_both_tables(tables):
    visitor = visitor_of(a_player())
    form = {"answer": "continue", "table": "live", "mode": "R", "positions": "live:real,second:real"}
    assert visitor.post("/en/protection/check/", form)["Location"] == BOTH
    for wrong in ({"positions": "a b"}, {"positions": "", "table": "a b"}, {"positions": "//elsewhere.example"}):
        assert visitor.post("/en/protection/check/", form | wrong)["Location"] == "/en/"
