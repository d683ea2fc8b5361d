"""Tables of the back office: the words of a row are on one line, and a number is below its heading, although
buttons are higher than a line.
"""

import pytest

from tests.browser.at_table import log_in
from tests.builders import a_player, a_round, a_table
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

# The ends of the texts in the cells of the first row: bottom and right edge, in CSS pixels.
ROW = ".table:has(thead th.num:first-child) tbody tr:first-child > *"
EDGES = """row => [...document.querySelectorAll(row)].map(cell => {
    const words = document.createRange();
    words.selectNodeContents(cell.querySelector("a, time") ?? cell);
    const first = words.getClientRects()[0];
    return [Math.round(first.bottom), Math.round(first.right)];
})"""
HEADING = """() => {
    const words = document.createRange();
    words.selectNodeContents(document.querySelector("thead th.num:first-child"));
    return Math.round(words.getBoundingClientRect().right);
}"""


def test_a_row_is_on_one_line_and_a_number_below_its_heading(cloned_db, new_context, web_server):
    a_round(a_player(real=100_00), a_table(), player=1000)
    window = new_context(base_url=web_server.url)
    log_in(window, web_server, a_member_of_staff("finance").user)
    page = window.new_page()
    page.goto("/staff/ledger/")
    number, when, kind, code = page.evaluate(EDGES, ROW)[:4]
    assert number[0] == when[0] == kind[0] == code[0]
    assert number[1] == page.evaluate(HEADING)


CUT = """() => [...document.querySelectorAll(".limits-matrix :is(input, textarea)")]
    .filter(field => field.scrollWidth > field.clientWidth + 1).map(field => field.name)"""


def test_no_amount_in_the_matrix_of_limits_is_cut_off(cloned_db, new_context, web_server):
    window = new_context(base_url=web_server.url, viewport={"width": 1440, "height": 900})
    log_in(window, web_server, a_member_of_staff("supervisor").user)
    page = window.new_page()
    page.goto(f"/staff/tables/{a_table().pk}/change/")
    chips = page.locator("[name=SEK-chips]")
    chips.fill("10; 20; 50; 100; 500; 1,000; 5,000; 10,000; 50,000")
    assert page.evaluate(CUT) == []
