"""Behaviour of every page: no caching, and invalid requests are refused early."""

import pytest
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict
from django.test import Client

from casino.middleware import form_of
from tests.builders import a_player, a_table
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db

BOUNDARY = "parted"


def send(visitor: Client, path: str, charset: str, **fields: bytes) -> int:
    """Send a multipart form with this *charset*, and return the status of the answer."""
    parts = b"".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"
        for name, value in fields.items()
    )
    body = parts + f"--{BOUNDARY}--\r\n".encode()
    content_type = f"multipart/form-data; boundary={BOUNDARY}; charset={charset}"
    return visitor.generic("POST", path, body, content_type=content_type).status_code


@pytest.mark.parametrize("path", ["/en/", "/en/table/baccarat/real/", "/en/history/", "/en/cashier/", "/en/terms/"])
def test_a_players_page_is_kept_by_nobody(path):
    a_table()
    visitor = a_visitor()
    visitor.force_login(a_player(real=1000).user)
    answer = visitor.get(path)
    assert answer.status_code == 200
    assert {"no-store", "private"} <= set(answer["Cache-Control"].split(", "))


@pytest.mark.parametrize("path", ["/staff/", "/staff/ledger/", "/staff/events/"])
def test_a_page_of_the_back_office_is_kept_by_nobody(path):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance", "compliance").user)
    assert "no-store" in visitor.get(path)["Cache-Control"]


def test_a_style_sheet_may_be_kept():
    assert "no-store" not in a_visitor().get("/static/css/base.css").get("Cache-Control", "")


@pytest.mark.parametrize("charset", ["unicode_escape", "utf-7", "rot13", "hex", "utf-16"])
@pytest.mark.parametrize("path", ["/en/table/baccarat/real/play/", "/en/cashier/deposit/", "/en/account/login/"])
def test_a_form_is_in_utf_8(path, charset):
    a_table()
    visitor = a_visitor(raise_request_exception=False)
    visitor.force_login(a_player().user)
    surrogate = rb"\ud800"
    assert send(visitor, path, charset, player_value=surrogate, amount=surrogate, login=surrogate) == 400


@pytest.mark.parametrize("charset", ["utf-8", "UTF8"])
def test_a_form_may_say_that_it_is(charset):
    assert send(a_visitor(), "/en/account/login/", charset, login=b"x") == 200


def test_a_cookie_with_a_nul_ends_at_the_front():
    visitor = a_visitor(raise_request_exception=False)
    cookie = rf'{settings.SESSION_COOKIE_NAME}="aaaaaaaa\000"'
    assert visitor.get("/en/cashier/", HTTP_COOKIE=cookie).status_code == 400


@pytest.mark.parametrize("path", ["/de/table/baccarat/real/play/", "/de/table/baccarat/real/leave/"])
def test_an_address_of_a_form_shows_a_page_of_the_house(path):
    a_table()
    visitor = a_visitor()
    visitor.force_login(a_player().user)
    answer = visitor.get(path)
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    assert "Seite nicht gefunden" in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"a=1&b=&a=2&=x&c",
        b"action=bet%3Aplayer&name=%C3%A5+b%2B",
        "a=å".encode("latin-1"),
        b"a=%ff%00",
        b"a=1;b=2&&a=3",
    ],
)
def test_a_form_is_read_as_django_reads_it(body):
    form = form_of(body)
    assert form == QueryDict(body, encoding="utf-8")
    with pytest.raises(AttributeError, match="immutable"):
        form["a"] = "2"


def test_too_many_fields_are_refused(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    with pytest.raises(TooManyFieldsSent):
        form_of(b"a=1&b=2&c=3")


@pytest.mark.parametrize("path", ["/en/", "/api/v1/log/keys"])
@pytest.mark.parametrize(("body", "host"), [("a=1&" * 201, "testserver"), ("", "elsewhere.example")])
def test_a_request_that_is_refused_early_has_a_content_policy(path, body, host):
    answer = Client().post(path, body, content_type="application/x-www-form-urlencoded", HTTP_HOST=host)
    assert answer.status_code == 400
    assert "frame-ancestors" in answer["Content-Security-Policy"]
