"""Schemathesis finds no server error, no status and no shape that the API description does not have.

For players, for staff and without a token; call by call, and along the links from answer to answer.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from django.core.cache import cache
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, Response
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from casino.api import described
from casino.wsgi import application
from players.models import Player
from tests.api.client import ApiClient
from tests.api.operations import AN_ID, operations
from tests.builders import a_golden_table, a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.people import a_member_of_staff

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
STREAM = "table_stream"  # which has no end: tests/api/test_stream.py reads it
MONEY = 10_000_000  # minor units
TRIES = {"player": 2, "staff": 1, "nobody": 1}  # of each operation
TRIES_OF_A_SWEEP = {"player": 8, "staff": 4, "nobody": 1}
WALKS, WALKS_OF_A_SWEEP = 8, 25  # from answer to answer
QUIETLY = settings(
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def at_an_address(environ: dict[str, Any], start_response: Any) -> Any:
    """Call the application as a server does: with a client's address, for a client that accepts no compression."""
    return application(environ | {"REMOTE_ADDR": "127.0.0.1", "HTTP_ACCEPT_ENCODING": "identity"}, start_response)


def the_api(description: dict[str, Any] | None = None) -> Any:
    """Return the API by its description, without the streams."""
    api = schemathesis.openapi.from_dict(description or copy.deepcopy(described()))
    api.app = at_an_address
    return api.exclude(operation_id=STREAM)


class House:
    """Tables of each kind, somebody with money and a round behind them, and staff; each calls with a token."""

    def __init__(self) -> None:
        self.answered: set[tuple[str, int]] = set()
        self.player: Player = a_player(real=MONEY, free=MONEY)
        tables = [a_table(), a_golden_table(), a_live_table().table, a_chemin_table().table]
        played = a_round(self.player, tables[0], player=5000)
        self.words = {
            "slug": [table.slug for table in tables],
            "variant": ["baccarat", "golden", "nothing"],
            "round_id": [str(played.round_id), AN_ID],
            "event_id": ["1", "999999"],
            "level": ["0", "1"],
        }
        self.headers = {
            who: {"Authorization": f"Bearer {api_client.key}"} if api_client.key else {}
            for who, api_client in {
                "player": ApiClient(self.player.user),
                "staff": ApiClient(a_member_of_staff("compliance").user),
                "nobody": ApiClient(None),
            }.items()
        }

    def called(self, case: Case, who: str) -> Response:
        """Make a call as somebody, and compare the answer with the description. Raises what does not fit."""
        cache.clear()  # nobody has called too often yet
        case.headers.pop("Authorization", None)  # made up as well
        answer = case.call(headers=self.headers[who])
        self.answered.add((who, answer.status_code))
        case.validate_response(answer, checks=CHECKS)
        return answer


@pytest.fixture
def house(cloned_db: Database) -> House:
    return House()


def found_in(house: House, operation: Any, who: str, tries: int) -> None:
    """Try an operation as somebody. Raises what does not fit the description."""
    words = st.fixed_dictionaries({name: st.sampled_from(known) for name, known in house.words.items()})

    @settings(QUIETLY, max_examples=tries)
    @given(case=operation.as_strategy(), known=words)
    def each(case: Case, known: dict[str, str]) -> None:
        case.path_parameters.update({name: known[name] for name in known if name in case.path_parameters})
        house.called(case, who)

    each()


def test_what_is_made_up_for_each_operation(house, is_sweep):
    found: list[str] = []
    names = set()
    for result in the_api().get_all_operations():
        operation = result.ok()
        names.add(operation.definition.raw["operationId"])
        for who, tries in (TRIES_OF_A_SWEEP if is_sweep else TRIES).items():
            try:
                found_in(house, operation, who, tries)
            except (Failure, FailureGroup) as fault:
                found.append(f"{operation.label} as {who}: {text_of(fault)}")
    assert names == {each.id for each in operations()} - {STREAM}
    assert found == [], "\n".join(found)
    assert house.answered >= {("player", 200), ("player", 400), ("player", 409), ("staff", 200), ("nobody", 401)}


def text_of(fault: BaseException) -> str:
    """Return the mismatches as text."""
    faults = fault.exceptions if isinstance(fault, FailureGroup) else (fault,)
    return "; ".join(f"{each.title}: {each.message}"[:400] for each in faults if isinstance(each, Failure))


@pytest.mark.sweep
def test_what_is_made_up_from_one_answer_to_the_next(house, is_sweep):
    class ApiClients(the_api().as_state_machine()):  # type: ignore[misc]  # the class is made from the description
        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            cache.clear()
            case.headers.pop("Authorization", None)
            return {"headers": house.headers["player"]}

        def before_call(self, case: Case) -> None:
            for name, known in house.words.items():
                made_up = case.path_parameters.get(name)
                if made_up is not None and made_up not in known:  # what exists leads further
                    case.path_parameters[name] = known[len(str(made_up)) % len(known)]

        def validate_response(self, response: Response, case: Case, **_: Any) -> None:
            if response.status_code < 300:
                answered.add(case.operation.definition.raw["operationId"])
            case.validate_response(response, checks=CHECKS)

    answered: set[str] = set()  # what was done
    walks = WALKS_OF_A_SWEEP if is_sweep else WALKS
    ApiClients.run(settings=settings(QUIETLY, max_examples=walks, stateful_step_count=10))
    reached = {each.id for each in operations() if each.path_parameters}
    assert len(answered & reached) >= (3 if is_sweep else 1), sorted(answered)


def without_a_refusal(description: dict[str, Any]) -> None:
    description["paths"]["/api/v1/self/"]["get"]["responses"].pop("401")


def with_another_shape(description: dict[str, Any]) -> None:
    description["components"]["schemas"]["SelfSchema"]["properties"]["name"] = {"type": "integer"}


def with_another_type(description: dict[str, Any]) -> None:
    answers = description["paths"]["/api/v1/self/"]["get"]["responses"]["200"]
    answers["content"] = {"text/csv": answers["content"]["application/json"]}


PLANTED = [(without_a_refusal, "nobody"), (with_another_shape, "player"), (with_another_type, "player")]


@pytest.mark.sweep
@pytest.mark.parametrize(("plant", "who"), sample(PLANTED, 1), ids=lambda each: getattr(each, "__name__", each))
def test_a_description_that_is_not_true_is_found_out(house, plant: Callable[[dict[str, Any]], None], who: str):
    description = copy.deepcopy(described())
    plant(description)
    with pytest.raises((Failure, FailureGroup)):
        found_in(house, the_api(description)["/api/v1/self/"]["GET"], who, 1)


@pytest.mark.sweep
def test_a_fault_of_the_house_is_found_out(house, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("players.api.self_views.actor_of", lambda user: 1 // 0)
    with pytest.raises((Failure, FailureGroup)) as found:
        found_in(house, the_api()["/api/v1/self/"]["GET"], "player", 1)
    assert "Server error" in text_of(found.value)
