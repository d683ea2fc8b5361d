"""Helpers for tests of the API at live tables: API clients of players, and the answers they get."""

from collections.abc import Mapping
from typing import Any

from games.models import LiveTable
from players.models import Player
from tests.api.client import ApiClient
from wallet.models import Mode


def client_of(player: Player, language: str = "en") -> ApiClient:
    """Return an API client of a player at a shared table."""
    return ApiClient(player.user, language=language)


def at(live_table: LiveTable, what: str = "state") -> str:
    """Return the address of something at a table."""
    return f"tables/{live_table.table.slug}/{Mode(live_table.mode).name.lower()}/{what}/"


def state_at(api_client: ApiClient, live_table: LiveTable) -> dict[str, Any]:
    """Return the table as the API client reads it."""
    answer = api_client.get(at(live_table))
    assert answer.status_code == 200, answer.content
    read: dict[str, Any] = answer.json()
    return read


def refused(answer: Any, status: int, code: str, **members: Any) -> str:
    """Check that an answer is this problem; return its sentence."""
    shown: Mapping[str, Any] = answer.json()
    assert (answer.status_code, shown.get("code")) == (status, code), shown
    assert answer["Content-Type"] == "application/problem+json"
    assert {name: shown.get(name) for name in members} == members
    return str(shown.get("detail", ""))
