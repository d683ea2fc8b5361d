"""An API client that reads the stream of a table from a running server."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from games.models import LiveTable
from tests.api.at_live import at
from tests.api.client import ApiClient
from tests.api.operations import held_to, operations
from tests.live.watcher import Notifications, Watcher

(STREAM,) = [each for each in operations() if each.id == "table_stream"]
EVENTS = STREAM.said["responses"]["200"]["x-events"]


@contextmanager
def listening(
    url: str, *programs: ApiClient, to: LiveTable, after: str | None = None, language: str = "en"
) -> Iterator[list[Watcher]]:
    """Open a stream for each API client, resumed *after* an event if given, and close them at the end."""
    watchers = [
        Watcher(url, f"/api/v1/{at(to, 'stream')}", headers=headers_of(each, after, language)) for each in programs
    ]
    try:
        yield watchers
    finally:
        for watcher in watchers:
            watcher.close()


def headers_of(api_client: ApiClient, after: str | None = None, language: str = "en") -> Mapping[str, str]:
    """Return the headers that the API client sends."""
    said = {"Authorization": f"Bearer {api_client.key}", "Accept-Language": language}
    return said if after is None else said | {"Last-Event-ID": after}


def values(received: Notifications) -> Any:
    """Return the data of an event, after validation by its schema."""
    said = json.loads(received.html)
    assert held_to(EVENTS[received.kind], said) == ""
    return said


def states(watcher: Watcher) -> list[dict[str, Any]]:
    """Return every state of the table so far."""
    return [values(received) for received in watcher.of("state")]


def wait_for_state(watcher: Watcher, **members: Any) -> dict[str, Any]:
    """Wait for an event with this state of the table; return the state."""

    def found() -> list[dict[str, Any]]:
        return [state for state in states(watcher) if {name: state[name] for name in members} == members]

    watcher.wait(found, what=f"no state with {members}")
    return found()[-1]


def rounds(watcher: Watcher) -> list[str]:
    """Return the ids of the rounds whose end the stream has reported, in that order."""
    return [values(received)["id"] for received in watcher.of("round")]


def problem_of(watcher: Watcher) -> dict[str, Any]:
    """Wait for a problem answer instead of a stream, and return it."""
    watcher.wait(lambda: watcher.bytes.rstrip().endswith(b"}"), what="no problem")
    head, _, body = watcher.bytes.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    shown: dict[str, Any] = json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])
    return shown
