"""Every link of the API description leads to an address that exists and to a call that can be parsed."""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import resolve

from games.shared.moves import bind_chance
from tests.api.client import ApiClient
from tests.api.matrix import LINES, PENS, PLAYER, WITH_TOKENS, World, at_cut, at_live, at_table
from tests.api.operations import Operation, operations
from tests.builders import a_round
from tests.harness.sweeps import sample
from tests.live.test_cut_shoes import all_bound
from wallet.models import Mode

pytestmark = pytest.mark.django_db

EVERY = {operation.id: operation for operation in operations()}
LINKS = [
    (operation.id, name, link)
    for operation in EVERY.values()
    for answer in operation.said["responses"].values()
    for name, link in answer.get("links", {}).items()
]
CHIP = 5000


def two_rounds(world: World) -> str:
    """Return the first of two pages of rounds."""
    a_round(world.player, world.table, Mode.REAL, player=CHIP)
    return f"rounds/?{urlencode({'limit': 1, 'since': '2026-01-01' if world.round_id else ''})}"


def with_a_seat(world: World) -> str:
    """Return a table at which the player has a seat."""
    return f"tables/{world.seat.table.slug}/real/"


def with_a_bound_value(world: World) -> str:
    """Return a cut in which all players have committed to a value, and reveal it next."""
    cut = world.cut
    assert bind_chance(cut.live_table_id, cut.shoe_id, world.player.pk, sha256(b"0" * 32).hexdigest())
    all_bound(cut)
    return at_cut("cut/value/")(world)


# Addresses used instead of those of the matrix, whose answers have nothing to follow: by operation and link.
FROM: Mapping[tuple[str, str], Callable[[World], str]] = {
    ("rounds", "round"): two_rounds,
    ("rounds", "following"): two_rounds,
    ("tables", "table"): lambda world: at_table("")(world) and "tables/",
    ("tables", "solo_seat_open"): lambda world: at_table("")(world) and "tables/",
    ("table", "solo_seat"): with_a_seat,
    ("table", "state"): at_live(""),
    ("table_state", "cut"): at_cut("state/"),
    ("cut_open", "state"): with_a_bound_value,
    ("events", "event"): lambda world: f"events/?first_leaf=0&end_leaf={world.signed}",
    ("events", "proof"): lambda world: f"events/?first_leaf=0&end_leaf={world.signed}",
    ("log_checkpoints", "consistency"): lambda world: world.checkpoint and "log/checkpoints/",
    ("compliance_rounds", "round"): lambda world: world.round_id and "compliance/rounds/",
    ("reports", "report"): lambda world: str(world.report) and "reports/",
    ("reports", "rows"): lambda world: str(world.report) and "reports/",
}
# Values that a link leaves to the caller, where a value made from the schema would have no effect.
SAID: Mapping[str, dict[str, Any]] = {
    "bet": {"bet": "player", "chip": CHIP},
    "cut_bind": {"digest": "0" * 64},
    "solo_seat_chip": {"bet": "tie", "chip": CHIP},
}


def seats_in(operation: Operation, path: str) -> dict[str, str] | None:
    """Return the path parameters in an address of the operation; None if it belongs to another operation."""
    pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", operation.address)
    found = re.fullmatch(pattern, f"/api/v1/{path.partition('?')[0]}")
    return found.groupdict() if found else None


def called(api_client: ApiClient, operation: Operation, path: str, body: Any) -> Any:
    """Return the operation's answer at this path."""
    if operation.is_write:
        return api_client.send(operation.method, path, body)
    return api_client.client.get(f"/api/v1/{path}")


def meant(expression: str, shown: Any, positions: Mapping[str, str]) -> Any:
    """Return the value of a runtime expression of OpenAPI."""
    if expression.startswith("$request.path."):
        return positions[expression.removeprefix("$request.path.")]
    for part in expression.removeprefix("$response.body#/").split("/"):
        shown = shown[int(part)] if isinstance(shown, list) else shown[part]
    return shown


@pytest.mark.parametrize(
    ("source", "name", "link"), sample(LINKS, 4), ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_link_leads_somewhere(source: str, name: str, link: dict[str, Any], settings):
    settings.AUDIT_KEYS = PENS.keys.replace("\n", ",")
    world, operation, target = World(), EVERY[source], EVERY[link["operationId"]]
    named = resolve(operation.path()).url_name
    (line,) = [line for line in LINES if (line.name, line.method.lower()) == (named, operation.method)]
    path = FROM.get((source, name), line.path)(world)
    positions = seats_in(operation, path)
    assert positions is not None
    body = line.body(world)
    api_client = world.api_client(WITH_TOKENS if operation.is_of_staff else PLAYER)
    first = called(api_client, operation, path, body)
    assert first.status_code in (200, 201), first.content
    shown = first.json()

    def filled(part: str) -> dict[str, Any]:
        return {each: meant(said, shown, positions) for each, said in link.get(part, {}).items()}

    wanted = filled("parameters")
    assert None not in wanted.values(), wanted
    address = target.path(**{each: str(wanted.pop(each)) for each in list(wanted) if each in target.path_parameters})
    asked = f"{address.removeprefix('/api/v1/')}?{urlencode(wanted)}"
    sent = target.good() | SAID.get(target.id, {}) | filled("requestBody")
    answer = called(api_client, target, asked, sent)
    assert answer.status_code not in (400, 401, 403, 404, 405), (asked, sent, answer.content)
    assert answer.status_code < 500
