"""Answers for each reader at every address of the API."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import DjangoDbBlocker, Settings

from tests.api.client import ApiClient
from tests.api.matrix import LINES, NOBODY, PENS, ROLES, SIGNED, STAFF, Line, World
from tests.harness.databases import kept_for_several_tests

SPACE = "api"
EVERY_LINE = [pytest.param(line, id=f"{line.name} {line.method}") for line in LINES]
METHODS = {line.name: {other.method for other in LINES if other.name == line.name} for line in LINES}


def addresses(resolver: URLResolver, inside: bool = False) -> Iterator[str | None]:
    """Yield the names of all addresses of the API, None for one without."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, inside or pattern.namespace == SPACE)
        elif isinstance(pattern, URLPattern) and inside:
            yield pattern.name


def test_every_address_has_a_line():
    named = {name for name in addresses(get_resolver()) if name}
    assert named == set(METHODS) | SIGNED


def test_what_has_no_name_leads_nowhere():
    assert list(addresses(get_resolver())).count(None) == 1


@pytest.fixture(autouse=True)
def believed(settings: Settings) -> None:
    """Have the house trust the signer of the logs of these worlds."""
    settings.AUDIT_KEYS = PENS.keys.replace("\n", ",")


@pytest.fixture(scope="module")
def api_clients_by_role(django_db_setup: object, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, ApiClient]]:
    """API clients of staff of each role, and of nobody."""
    with django_db_blocker.unblock(), kept_for_several_tests():
        yield {role: World().api_client(role) for role in (NOBODY, *STAFF)}


@pytest.mark.parametrize("line", EVERY_LINE)
@pytest.mark.django_db
def test_who_gets_what(line: Line, api_clients_by_role: dict[str, ApiClient]):
    """Every role asks in the same world, and its changes are rolled back. Other methods: `test_bad_input`."""
    world = World()
    assert world.player != world.other_player  # made before anybody asks
    path, body = line.path(world), line.body(world)
    shown = {}
    for role in ROLES:
        with transaction.atomic():
            api_client = api_clients_by_role.get(role) or world.api_client(role)
            shown[role] = (
                api_client.get(path) if line.method == "GET" else api_client.send(line.method.lower(), path, body)
            )
            transaction.set_rollback(True)
    assert {role: answer.status_code for role, answer in shown.items()} == dict(line.answers)
    for role, answer in shown.items():
        kind = line.media if line.answers[role] < 300 else "application/problem+json"
        assert answer["Content-Type"].partition(";")[0] == kind, role
