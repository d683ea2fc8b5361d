"""Checks that every call passes: token, scope, rate limit, headers."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.translation import override
from rest_framework import serializers

from players.api.reading import Strict
from players.models import Scope, User
from tests.api.client import ApiClient
from tests.api.operations import operations
from tests.builders import a_player
from tests.people import a_member_of_staff

pytestmark = pytest.mark.django_db


def test_a_token_says_whose_it_is():
    player = a_player()
    answer = ApiClient(player.user).get("self/")
    assert answer.status_code == 200
    assert answer.json()["actor"] == f"player:{player.pk}"


def test_a_call_without_a_token_is_refused():
    answer = ApiClient(None).get("self/")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "token-refused"


def test_an_invalid_address_answers_with_a_problem():
    answer = ApiClient(a_member_of_staff("compliance").user).get("nowhere/at/all")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_the_api_describes_itself(client):
    described = client.get("/api/schema/").json()
    assert described["openapi"].startswith("3.1")
    assert "/api/v1/self/" in described["paths"]


def test_a_scope_that_is_lacking_is_named_in_the_language_of_the_owner():
    player = a_player()
    User.objects.filter(pk=player.user_id).update(language="sv")
    api_client = ApiClient(player.user, Scope.READ)
    answer = api_client.post("limits/declined/")
    assert (answer.status_code, answer.json()["code"], answer.json()["scope"]) == (403, "forbidden", "limits")
    assert answer.json()["detail"] == "The token does not have the scope “limits”."
    del api_client.client.defaults["HTTP_ACCEPT_LANGUAGE"]
    assert api_client.post("limits/declined/").json()["detail"] == "Token har inte behörigheten ”limits”."


def test_where_another_scope_would_not_help_none_is_named():
    answer = ApiClient(a_member_of_staff("compliance").user).get("balances/")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "scope" not in answer.json()


@pytest.mark.parametrize("limit", ["0", "-5", "101"])
def test_how_many_are_asked_for_is_a_whole_number_out_of_bounds(limit):
    answer = ApiClient(a_player().user).get("rounds/", limit=limit)
    (error,) = answer.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/?limit", "max-value" if limit == "101" else "min-value")


@pytest.mark.sweep
@pytest.mark.parametrize("language", ["sv", "da", "ro", "de", "en"])
def test_a_problem_is_in_the_requested_language(language):
    shown = {ApiClient(None, language=code).get("self/").json()["title"] for code in (language, "en")}
    assert len(shown) == (1 if language == "en" else 2)


def readers(kind: type[Any] = Strict) -> Iterator[type[Any]]:
    """Everything that reads input of API clients."""
    for each in kind.__subclasses__():
        yield each
        yield from readers(each)


def fields_of(field: Any) -> Iterator[Any]:
    """Yield a field, and those within it."""
    yield field
    for inner in getattr(field, "fields", {}).values():
        yield from fields_of(inner)
    if (child := getattr(field, "child", None)) is not None:
        yield from fields_of(child)


# Codes of the framework that no call can cause, since times are read in UTC and no number is so long.
NEVER = {"make_aware", "invalid_unicode", "overflow", "max_string_length", "html"}


def messages(language: str) -> dict[str, str]:
    """Return the texts of field errors in a language, by their English texts."""
    with override("en"):
        assert len(list(operations())) > 40  # their modules are loaded
        each_of = [field for kind in readers() for field in fields_of(kind())]
        said: dict[Any, Any] = {
            (type(field), code): message
            for field in each_of
            for code, message in field.error_messages.items()
            if code not in NEVER and isinstance(field, serializers.Field)
        }
        english: dict[Any, str] = {key: str(message) for key, message in said.items()}
        english[ProhibitNullCharactersValidator, ""] = str(ProhibitNullCharactersValidator.message)
    with override(language):
        there: dict[Any, str] = {key: str(message) for key, message in said.items()}
        there[ProhibitNullCharactersValidator, ""] = str(ProhibitNullCharactersValidator.message)
    return {english[key]: there[key] for key in english}


@pytest.mark.parametrize("language", ["sv", "da", "ro", "de"])
def test_what_the_framework_says_of_a_field_is_said_in_each_language(language):
    said = messages(language)
    assert {english for english, there in said.items() if english == there} == set()
