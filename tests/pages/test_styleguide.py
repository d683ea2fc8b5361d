"""The style guide shows every part from the fragments that pages use."""

import re

import pytest

from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db

PARTS = (
    *("felt", "card", "stack", "chip", "spot", "meter", "countdown", "button", "field", "table", "chart", "notice"),
    *("badge", "empty", "pager", "toast", "dialog", "road"),
)


@pytest.fixture
def visitor():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("support").user)
    return visitor


def test_the_names_of_colours_and_sizes_are_one_link_away(visitor):
    assert re.search(r'href="/static/css/tokens[^"]*\.css"', visitor.get("/styleguide/").text)


@pytest.mark.sweep
@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_there(visitor, part):
    assert re.search(rf'class="(?:[^"]* )?{part}[ "]', visitor.get("/styleguide/").text)


def test_every_theme_and_both_decks_are_there_at_once(visitor):
    page = visitor.get("/styleguide/").text
    for key in ('data-theme="dark"', 'data-theme="light"', 'data-theme="contrast"', 'data-deck="four"'):
        assert key in page


def test_its_form_comes_back_with_its_faults_when_asked(visitor):
    assert "aria-invalid" not in visitor.get("/styleguide/").text
    page = visitor.get("/styleguide/", {"send": "1", "name": "", "amount": "3"}).text
    assert page.count('aria-invalid="true"') == 4
    assert re.search(r'<input [^>]*name="name"[^>]* autofocus', page)


def test_the_back_office_leads_there(visitor):
    assert 'href="/styleguide/"' in visitor.get("/staff/roles/").text
