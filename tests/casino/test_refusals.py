"""Answers of the server before any view: in the language of the address, with their own content security policy."""

import json
import re
from http import HTTPStatus

import pytest
from csp.utils import build_policy
from django.conf import settings

from casino import refusals
from casino.refusals import policy

LANGUAGES = [language for language, _ in settings.LANGUAGES]


def answer(path: str, status: HTTPStatus, **headers: bytes) -> tuple[dict[bytes, bytes], str]:
    named = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    said, body = refusals.answer({"path": path, "headers": named}, status)
    return dict(said), body.decode()


@pytest.mark.parametrize("status", refusals.CODES)
def test_each_refusal_has_a_page_in_each_language(status):
    pages = {language: answer(f"/{language}/account/identity/", status) for language in LANGUAGES}
    for language, (said, page) in pages.items():
        assert f'<html lang="{language}">' in page
        (nonce,) = re.findall(r'nonce="(.*?)"', page)
        assert f"'nonce-{nonce}'" in said[b"content-security-policy"].decode()
        assert said[b"cache-control"] == b"no-store"
    assert len({re.findall(r"<h1>(.*?)</h1>", page)[0] for _, page in pages.values()}) == len(LANGUAGES)


def test_a_nonce_is_used_once():
    first, second = (answer("/en/", HTTPStatus.REQUEST_TIMEOUT)[1] for _ in range(2))
    assert first != second


def test_an_address_without_a_language_is_answered_in_that_of_the_browser():
    assert '<html lang="da">' in answer("/staff/", HTTPStatus.REQUEST_TIMEOUT, accept_language=b"da")[1]


@pytest.mark.parametrize("status", refusals.CODES)
def test_an_api_client_gets_a_problem(status):
    said, body = answer("/api/v1/self/", status, accept_language=b"sv")
    assert (said[b"content-type"], json.loads(body)["status"]) == (b"application/problem+json", status.value)


@pytest.mark.parametrize("nonce", [None, "abc"])
@pytest.mark.parametrize("replaced", [None, {"frame-src": ["'self'"]}])
def test_the_prepared_policy_is_the_library_s(nonce, replaced):
    ours, theirs = policy(nonce, replaced), build_policy(replace=replaced, nonce=nonce)
    assert set(ours.split("; ")) == set(theirs.split("; "))
