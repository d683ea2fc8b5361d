"""Messages in the queue that are not Celery's: the worker drops and logs each, also in a flood."""

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from casino.celery import app
from tests.harness import web
from tests.harness.databases import Database

QUEUE = "celery"
GOOD = "players.tasks.mail_approvals"
LEVELS = ('"warning"', '"error"', '"critical"')


def message(**changes: Any) -> dict[str, Any]:
    """Return a message as Celery sends it, with *changes*."""
    properties = {
        "correlation_id": "1",
        "delivery_mode": 2,
        "delivery_info": {"exchange": "", "routing_key": QUEUE},
        "priority": 0,
        "body_encoding": "base64",
        "delivery_tag": "tag",
    }
    whole = {
        "body": b64encode(json.dumps([[], {}, {}]).encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": GOOD, "id": "1", "argsrepr": "()", "kwargsrepr": "{}"},
        "properties": properties,
    }
    return whole | changes


def headers(**changes: Any) -> dict[str, Any]:
    return message(headers=message()["headers"] | changes)


def properties(**changes: Any) -> dict[str, Any]:
    return message(properties=message()["properties"] | changes)


# Messages that no worker of ours sends, by what is wrong with them.
RAW: dict[str, bytes] = {
    "no JSON": b"garbage",
    "no text": b"\xff\xfe\x00",
    "nothing": b"",
    "deep": b"[" * 100_000,
    "a class that kombu would make": b'{"__type__": "uuid", "__value__": {"hex": 1}}',
}
JSON: dict[str, object] = {
    "a number": 7,
    "a list": [],
    "no properties": {"body": "", "headers": {}},
    "null": None,
    "no tag": message(properties={}),
    "properties of another kind": message(properties="x"),
    "another encoding": properties(body_encoding="rot13"),
    "no base64": message(body="%"),
    "no address": properties(delivery_info={}),
    "an address of another kind": properties(delivery_info=7),
    "a tag of another kind": properties(delivery_tag={"a": 1}),
    "headers of another kind": message(headers="x"),
    "no headers": message(headers=None),
    "a task that cannot be": headers(task=["x"]),
    "no such task": headers(task="os.system"),
    "no id": message(headers={"task": GOOD}),
    "an id of another kind": headers(id={"a": 1}),
    "expires never": headers(expires={"a": 1}),
    "an hour that cannot be": headers(eta="tomorrow"),
    "a limit of another kind": headers(timelimit="x"),
    "pickle": message(**{"content-type": "application/x-python-serialize"}),
    "an unknown type": message(**{"content-type": "x/y"}),
    "a body that is no call": message(body=b64encode(b"7").decode()),
    "a body that is nothing": message(body=""),
    "unknown arguments": message(body=b64encode(b'[[1, 2], {"a": 3}, {}]').decode()),
    "compressed by nothing": headers(compression="x"),
}
BAD = RAW | {name: json.dumps(each).encode() for name, each in JSON.items()}


@pytest.fixture
def worker(cloned_db: Database) -> Iterator[subprocess.Popen[str]]:
    """A real worker with its own broker."""
    process = subprocess.Popen(
        [sys.executable, "-m", "casino.worker", "--concurrency=1"],
        cwd=web.PROJECT,
        env=cloned_db.environment | {"LOG_LEVEL": "INFO"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    yield process
    process.kill()
    process.wait()


def read_until(worker: subprocess.Popen[str], word: str) -> list[str]:
    """Return what the worker logs until a line has *word*. Fails if it ends before that."""
    assert worker.stdout
    lines = []
    for line in worker.stdout:
        lines.append(line)
        if word in line:
            return lines
    raise AssertionError("the worker has ended: " + "".join(lines)[-3000:])


def send(database: Database, times: int = 1, **options: Any) -> None:
    """Ask for a task in the way of the product."""
    with app.connection_for_write(url=database.broker_url) as line:
        for _ in range(times):
            app.send_task(GOOD, connection=line, **options)


def test_a_flood_of_expired_hints_and_messages_that_are_not_celery_s_are_dropped_and_the_worker_goes_on(
    cloned_db, worker
):
    """All hints expire. After an outage, of a thousand that nobody took in time none is worked on, and the next one is.
    Each message that is not Celery's is logged.
    """
    send(cloned_db, 1_000, expires=datetime.now(UTC) - timedelta(seconds=1))
    send(cloned_db)
    lines = read_until(worker, "succeeded")
    assert sum("Discarding revoked task" in line for line in lines) == 1_000
    broken = []
    with app.connection_for_write(url=cloned_db.broker_url) as line:
        broker = line.default_channel.client  # type: ignore[attr-defined]  # of Redis
        for name, bad in BAD.items():
            broker.lpush(QUEUE, bad)
            send(cloned_db)
            lines = read_until(worker, "succeeded")
            if not any(level in logged for logged in lines for level in LEVELS):
                broken.append((name, lines))
        assert broken == []
        worker.terminate()
        assert worker.wait(timeout=60) == 0
        assert broker.llen(QUEUE) == broker.hlen("unacked") == 0  # or they would come back
