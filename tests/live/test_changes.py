"""Streams and clicks of a table with several players send the parts that have changed. Put into the page that was
shown, they give the whole.
"""

import re
from itertools import pairwise

import pytest

from games.chemin.pages import rendering as chemin
from games.engine.chemin.actions import DrawCard, Stand
from games.models import Phase
from games.shared.pages import rendering
from games.shared.pages.views import read_own, read_public
from games.tables.fragments import Parts, delimit_part
from tests.builders import a_player
from tests.chemin.shown import own_row, seen
from tests.engine.chemin.evening import for_others
from tests.harness.dom import Element, read
from tests.live.at_table import a_live_table, bet, step

MONEY = 1_000_000


def merged(before: str, change: str) -> Element:
    """Merge a change as table_stream.js does."""
    page, (root,) = read(before), read(change).children
    assert isinstance(root, Element)
    shown = page.by_id(root.attributes["id"])
    assert root.attributes.pop("data-change") == ""
    shown.attributes = root.attributes
    for part in root.children:
        assert isinstance(part, Element), part
        target = page.by_id(part.attributes["id"])
        target.tag, target.attributes, target.children = part.tag, part.attributes, part.children
    for spot in page.elements():
        if spot.tag == "button" and spot.attributes.get("class", "").split()[0] == "spot":
            spot.attributes.pop("aria-disabled", None)
            if "data-closed" in shown.attributes:
                spot.attributes["aria-disabled"] = "true"
    return page


TIME_OF_DAY = re.compile(r"\b\d\d:\d\d:\d\d\b")  # alone, it is no change: the page has its own clock


def assert_change(before: Parts, after: Parts) -> str:
    """Assert that the change makes *after* of *before*, but for the time of day; return it."""
    change = after.since(before.digest)
    assert "data-change" in change
    outlines = (TIME_OF_DAY.sub("*", str(part.outline())) for part in (merged(before, change), read(after)))
    assert len(set(outlines)) == 1
    return change


@pytest.mark.django_db
def test_a_whole_coup_is_sent_by_its_changes():
    live_table, player = a_live_table(), a_player(real=MONEY)
    bet(player, live_table, player=5_000)
    shown = [(read_public(live_table), read_own(live_table, player.pk))]
    phase = None
    while phase != Phase.BETTING:
        phase = step(live_table).phase
        shown.append((read_public(live_table), read_own(live_table, player.pk)))
    bet(player, live_table, tie=5_000)
    shown.append((read_public(live_table), read_own(live_table, player.pk)))
    for (was, own_was), (now, own_now) in pairwise(shown):
        assert_change(rendering.render_public(was, "sv"), rendering.render_public(now, "sv"))
        assert_change(rendering.render_own(was, own_was, "sv"), rendering.render_own(now, own_now, "sv"))


@pytest.mark.django_db
def test_the_answer_to_a_click_has_all_parts_of_the_layout_that_the_page_shows():
    live_table, player = a_live_table(), a_player(real=MONEY)
    bet(player, live_table)
    empty = read_own(live_table, player.pk)
    page = rendering.render_own(read_public(live_table), empty, "en", csrf_token="of the page")
    bet(player, live_table, player=5_000)
    after = rendering.render_own(read_public(live_table), read_own(live_table, player.pk), "en")
    answer = after.for_layout(page.layout)
    assert merged(page, answer).outline() == read(after).outline()
    assert len(answer) < 0.5 * len(after)
    assert after.for_layout("another") == after.for_layout(None) == after


def test_a_reader_of_nothing_or_of_another_layout_is_sent_the_whole():
    one, other = (Parts.of(f'<div id="x"><p>{around}</p>{delimit_part("<b id=b></b>")}</div>') for around in "ab")
    assert other.since(None) == other.since(one.digest) == other
    assert one.since(one.digest).endswith(" data-change></div>")


def test_a_part_that_appears_changes_the_layout():
    without, with_it = (Parts.of(f'<div id="x">{delimit_part(part)}</div>') for part in ("", '<b id="b"></b>'))
    assert with_it.since(without.digest) == with_it
    assert without.since(with_it.digest) == without


@pytest.mark.parametrize("action", [Stand(2), DrawCard(2)])
def test_a_decision_at_chemin_de_fer_is_sent_by_its_changes(action):
    evening = for_others("TC 2C 5C 3C 9H")
    before = seen(evening.state, evening.events)
    evening.do(action)
    after = seen(evening.state, evening.events)
    public = chemin.render_public(before, "sv"), chemin.render_public(after, "sv")
    assert len(assert_change(*public)) < 0.7 * len(public[1])
    for seat in (1, 2, 3, None):
        assert_change(*(chemin.render_own(table, own_row(seat), "sv") for table in (before, after)))
