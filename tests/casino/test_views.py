"""The start page, the health check, and the error page."""

import pytest
from django.db import DatabaseError, connection
from django.shortcuts import render

from players.account import terms
from tests.builders import a_player
from tests.pages.markup import Page
from tests.pages.test_matrix import check_headers
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db


def fail(*args, **kwargs):
    raise DatabaseError


@pytest.mark.parametrize(("header", "lobby"), [("ro,en;q=0.5", "/ro/"), ("fr", "/en/"), ("", "/en/")])
def test_the_front_door_leads_a_visitor_to_the_lobby_in_their_browsers_language(header, lobby):
    answer = a_visitor().get("/", headers={"Accept-Language": header})
    assert (answer.status_code, answer["Location"]) == (302, lobby)


def test_a_page_about_a_player_has_the_header_of_its_reader():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("support").user)
    request = visitor.get("/staff/").wsgi_request
    page = render(request, "staff/base.html", {"player": a_player(real=1000)}).text
    assert 'href="/staff/"' in page
    assert 'id="bar-balance"' not in page
    assert 'id="pause"' not in page


def test_health_is_said_in_one_word():
    answer = a_visitor().get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert "no-store" in answer["Cache-Control"]


def test_health_fails_with_the_database(monkeypatch):
    monkeypatch.setattr(connection, "cursor", fail)
    assert a_visitor().get("/healthz").status_code == 503


def test_a_fault_of_ours_gets_a_page_that_needs_nothing_that_may_be_broken(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(terms, "text", fail)
    visitor = a_visitor(raise_request_exception=False)
    with django_assert_num_queries(0):
        answer = visitor.get("/de/terms/")
    assert answer.status_code == 500
    page = Page(answer.text, nonce=check_headers(answer))
    assert (page.language, page.headings, page.faults) == ("de", 1, [])
