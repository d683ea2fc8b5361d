"""Shutdown of a web process: not ready, still serving, streams end with a notice, exit."""

import signal
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from tests.harness import databases, web
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.live.streaming import a_table_with_bets, an_address, until
from tests.live.watcher import PATIENCE, watching

FOR_EVER = "3600"


def answer(server: WebServer, path: str) -> tuple[int, str]:
    line = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        line.request("GET", path)
        found = line.getresponse()
        return found.status, found.read().decode()
    finally:
        line.close()


@pytest.mark.parametrize("seconds", sample([FOR_EVER, "0.2"], 1), ids=["until told again", "for a moment"])
def test_it_serves_on_unready_and_then_moves_everybody(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path: Path, seconds: str
) -> None:
    with django_db_blocker.unblock(), databases.clone("draining") as database:
        live_table = a_table_with_bets()
        environment = {"WEB_DRAIN_SECONDS": seconds}
        log = tmp_path / "web.log"
        server = web.start(database, log, application="casino.asgi:application", environment=environment)
        try:
            assert answer(server, "/readyz") == (HTTPStatus.OK, "ready\n")
            with watching(server.url, an_address(live_table)) as (watcher,):
                watcher.wait_for("own")
                server.process.send_signal(signal.SIGTERM)
                if seconds == FOR_EVER:
                    until(lambda: answer(server, "/readyz")[0] == HTTPStatus.SERVICE_UNAVAILABLE)
                    assert answer(server, "/en/")[0] == HTTPStatus.OK
                    with watching(server.url, an_address(live_table)) as (newcomer,):
                        newcomer.wait_for("own")
                    assert not watcher.is_over
                    server.process.send_signal(signal.SIGTERM)
                watcher.wait_for("moved")
                watcher.wait_for_end()
            assert server.process.wait(PATIENCE) in (0, -signal.SIGTERM)
            assert "Exception" not in server.printed()
        finally:
            web.stop(server)
