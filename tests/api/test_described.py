"""The API description is complete: every operation has a name and a text, every field is described,
and every problem code is listed at the calls that can return it.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from drf_spectacular import drainage
from drf_spectacular.generators import SchemaGenerator

from casino.api import described
from players.api.problems import KINDS
from tests.api.operations import component, held_to, operations, whole
from tests.people import a_visitor

EVERY = list(operations())
COMMON = {400, 401, 403, 429}
# Codes of no operation: answers before any operation is reached, and unexpected errors.
BEYOND = {"method-not-allowed", "fault"}
# Those of the seamless wallet, whose protocol has its own document: docs/seamless.md.
CODE = re.compile("`([a-z-]+)`")
OF_PARTNERS = set(CODE.findall((Path(__file__).resolve().parents[2] / "docs" / "seamless.md").read_text()))


def test_nothing_is_unclear_to_the_generator():
    drainage.reset_generator_stats()
    SchemaGenerator().get_schema(request=None, public=True)
    found = drainage.GENERATOR_STATS
    assert (dict(found._warn_cache), dict(found._error_cache)) == ({}, {})


def test_an_operation_says_what_it_does_and_what_it_may_be_answered_with():
    for operation in EVERY:
        assert re.fullmatch("[a-z_]+", operation.id), operation.id
        assert operation.said.get("description", "").strip(), operation.id
        assert operation.statuses >= COMMON, operation.id
        assert operation.statuses & {200, 201}, operation.id
        assert (404 in operation.statuses) >= bool(operation.path_parameters), operation.id
        if operation.is_write:
            assert operation.statuses >= {408, 413, 415}, operation.id
        for status, answer in operation.said["responses"].items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"], operation.id
                statuses = {KINDS[code].status for code in CODE.findall(answer["description"])}
                assert statuses == {int(status)}, operation.id


def test_names_of_operations_are_their_own():
    names = [operation.id for operation in EVERY]
    assert len(names) == len(set(names))


def test_every_code_is_documented_at_each_call_that_may_answer_it():
    said = {
        code
        for operation in EVERY
        for answer in operation.said["responses"].values()
        for code in CODE.findall(answer["description"])
    }
    assert said <= set(KINDS)
    assert set(KINDS) - said - BEYOND - OF_PARTNERS == set()


def test_every_link_leads_to_an_operation():
    names = {operation.id for operation in EVERY}
    links = [link["operationId"] for operation in EVERY for link in all_links(operation.said)]
    assert links
    assert set(links) <= names


def all_links(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [link for answer in said["responses"].values() for link in answer.get("links", {}).values()]


def test_every_list_has_the_same_shape():
    for operation in EVERY:
        for status, answer in operation.said["responses"].items():
            for media, content in answer.get("content", {}).items():
                schema = whole(content["schema"])
                if media == "application/json" and int(status) < 300:
                    assert schema.get("type") != "array", operation.id
                    members = schema.get("properties", {})
                    assert ("items" in members) == ("next" in members), operation.id


def examples() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield every example: its operation, its schema, its value."""
    for operation in EVERY:
        sent = operation.said.get("requestBody", {"content": {}})["content"]
        stated = [answer.get("content", {}).values() for answer in operation.said["responses"].values()]
        for content in (*sent.values(), *chain.from_iterable(stated)):
            for example in content.get("examples", {}).values():
                yield operation.id, content["schema"], example["value"]


def test_what_is_sent_has_an_example_and_so_has_what_a_api_client_reads_first():
    shown = {operation for operation, _, _ in examples()}
    assert {each.id for each in EVERY if each.body is not None} <= shown
    assert {"self", "balances", "solo_seat"} <= shown


def test_examples_are_as_they_are_described():
    assert {name: fault for name, schema, value in examples() if (fault := held_to(schema, value))} == {}


def test_what_holds_examples_to_the_description_finds_a_wrong_one():
    assert held_to(component("TransferSchema"), {"amount": "20000"})
    assert held_to(component("StreamState"), {"shape": "shared"})


def test_what_is_read_takes_nothing_else():
    for operation in EVERY:
        if operation.body is not None:
            assert operation.body["additionalProperties"] is False, operation.id


@pytest.mark.django_db
def test_the_same_description_is_sent_to_everybody_and_may_be_kept():
    answer = a_visitor().get("/api/schema/", headers={"Accept-Language": "sv"})
    assert answer["Content-Type"] == "application/vnd.oai.openapi+json"
    assert "max-age=3600" in answer["Cache-Control"]
    assert answer.json() == described()


@pytest.mark.sweep
@pytest.mark.django_db
def test_the_type_of_every_problem_is_an_address_that_says_what_it_means():
    answers = {code: a_visitor().get(f"/api/problems/{code}/") for code in sorted(KINDS)}
    assert [code for code, answer in answers.items() if answer.status_code != 200 or code not in answer.text] == []
