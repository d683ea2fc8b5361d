"""Prometheus metrics: access, content, and labels with a bounded number of values."""

import os
import re
import signal
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.db import Error
from django.test import RequestFactory
from pytest_django import DjangoDbBlocker

from games.models import LiveRound
from ops import metrics
from ops.fork_server import web_arguments
from ops.launcher import listening_socket
from ops.metrics import House
from tests.builders import a_player, a_table
from tests.harness import databases, web
from tests.harness.owner import update_as_owner
from tests.harness.visitor import Visitor
from tests.live.at_table import a_live_table, bet, round_at
from tests.start.support import wait_until

TOKEN = "kept-from-strangers"
COUNTED = re.compile(r"^sabot_\w+(?:\{([^}]*)\})? ", re.MULTILINE)


@pytest.mark.parametrize(
    ("address", "headers", "may"),
    [
        ("127.0.0.1", {}, True),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, False),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}, False),
        ("10.1.2.3", {}, False),
        ("10.9.2.3", {}, True),
        ("nonsense", {}, False),
        ("203.0.113.7", {"Authorization": f"Bearer {TOKEN}"}, True),
        ("203.0.113.7", {"Authorization": "Bearer "}, False),
        ("203.0.113.7", {"Authorization": TOKEN}, False),
    ],
)
def test_read_it_may_who_brings_the_token_or_comes_from_such_a_network_by_itself(settings, address, headers, may):
    settings.METRICS_FROM, settings.METRICS_TOKEN = ["127.0.0.0/8", "10.9.0.0/16"], TOKEN
    assert metrics.may_read(RequestFactory().get("/metrics", headers=headers, REMOTE_ADDR=address)) is may


def test_without_a_token_set_none_is_one(settings):
    settings.METRICS_TOKEN = ""
    request = RequestFactory().get("/metrics", headers={"Authorization": "Bearer "}, REMOTE_ADDR="203.0.113.7")
    assert not metrics.may_read(request)


def test_of_processes_that_are_gone_only_what_they_counted_is_kept(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    for name in (f"gauge_livesum_{gone.pid}.db", f"counter_{gone.pid}.db", f"gauge_livesum_{os.getpid()}.db"):
        (tmp_path / name).touch()
    metrics.forget_the_dead(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"counter_{gone.pid}.db",
        f"gauge_livesum_{os.getpid()}.db",
    }


@pytest.mark.django_db
class TestHouse:
    def said(self) -> dict[str, float]:
        return {
            "/".join([sample.name, *sample.labels.values()]): sample.value
            for metric in House().collect()
            for sample in metric.samples
        }

    def test_shows_its_state(self):
        said = self.said()
        assert said["sabot_database_up"] == 1
        assert said["sabot_beats"] == 0
        assert {f"sabot_waiting/{what}" for what in ("mails", "payouts", "operators", "reports", "seal")} <= said.keys()
        assert said["sabot_connections/active"] >= 1
        assert said["sabot_connections_most"] > said["sabot_connections/active"]

    def test_knows_how_late_a_table_is_by_its_phase(self, live_table_past_its_deadline):
        said = self.said()
        assert said["sabot_tables_late/betting"] == 1
        assert said["sabot_tables_late_seconds/betting"] > 3000
        assert said["sabot_tables_late/dealt"] == 0

    def test_says_that_the_database_is_away_and_no_more(self, monkeypatch):
        def fail() -> None:
            raise Error

        monkeypatch.setattr(metrics, "lag", fail)
        assert self.said() == {"sabot_database_up": 0}


@pytest.fixture
def live_table_past_its_deadline() -> None:
    live_table = a_live_table()
    bet(a_player(real=100_00), live_table, banker=50_00)
    live_round = round_at(live_table)
    long_ago = live_round.deadline.replace(year=live_round.deadline.year - 1)
    update_as_owner(LiveRound.objects.filter(pk=live_round.pk), deadline=long_ago)


@pytest.mark.sweep
def test_a_house_with_metrics_counts_what_it_serves_in_every_process_and_names_nobody(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path: Path
) -> None:
    with django_db_blocker.unblock(), databases.clone("measured") as database:
        a_table()
        visitors = [a_player(real=1000).user for _ in range(2)]
        environment = database.environment | {"METRICS": "1", "METRICS_DIR": str(tmp_path / "metrics")}
        servers = [house_with_metrics(environment, tmp_path, number) for number in range(2)]
        try:
            for (_, url), user in zip(servers, visitors, strict=True):
                assert Visitor(url, user).get("/en/table/baccarat/real/")[0] == HTTPStatus.OK
            text = read(servers[0][1])
            assert 'sabot_requests_total{status="200",view="table"} 2.0' in text
            assert 'sabot_request_seconds_count{view="table"} 2.0' in text
            assert 'sabot_request_database_seconds_total{view="table"}' in text
            assert "sabot_database_up 1.0" in text
            assert "sabot_streams 0.0" in text
            labels = " ".join(COUNTED.findall(text))
            assert not re.search(r'="\d{4,}|@|="[0-9a-f]{8}-', labels)
        finally:
            for process, _ in servers:
                process.send_signal(signal.SIGTERM)
                process.wait()


def house_with_metrics(environment: dict[str, str], folder: Path, number: int) -> tuple[subprocess.Popen[bytes], str]:
    """Start a separate web process: metrics are enabled when the settings are read, so a fork
    cannot.
    """
    with listening_socket(0) as listening, (folder / f"web-{number}.log").open("wb") as output:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            web_arguments(listening.fileno()),
            cwd=web.PROJECT,
            env=environment | {"PORT": str(port)},
            pass_fds=(listening.fileno(),),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    assert "ready" in read(url, "/readyz")
    return process, url


def read(url: str, path: str = "/metrics") -> str:
    with urlopen(Request(url + path), timeout=60) as answer:  # noqa: S310  (our own server)
        return str(answer.read().decode())


@pytest.mark.sweep
def test_worker_and_beat_answer_at_a_port_of_their_own_for_all_who_share_a_folder(cloned_db, tmp_path: Path) -> None:
    """Beat sends a task and a worker executes it: both report it."""
    shared = cloned_db.environment | {
        "METRICS": "1",
        "METRICS_DIR": str(tmp_path / "metrics"),
        "SABOT_VAR": str(tmp_path),
    }
    worker = ("-m", "casino.worker", "--concurrency=2")
    started = []
    try:
        urls = []
        for number, command in enumerate((worker, ("manage.py", "beat"))):
            with listening_socket(0) as listening:
                port = listening.getsockname()[1]
            urls.append(f"http://127.0.0.1:{port}")
            with (tmp_path / f"{number}.log").open("wb") as output:
                started.append(
                    subprocess.Popen(
                        [sys.executable, *command],
                        cwd=web.PROJECT,
                        env=shared | {"METRICS_LISTEN": str(port)},
                        stdout=output,
                        stderr=subprocess.STDOUT,
                    )
                )
        wait_until(lambda: set(said_at(urls[0])) >= TICKED, "no worker does what a beat asks for")
        assert set(said_at(urls[1])) >= TICKED
        assert said_at(urls[1])["sabot_beats"] >= 1
        for path, headers in (("/metrics", {"X-Forwarded-For": "127.0.0.1"}), ("/", {})):
            with pytest.raises(HTTPError, match="404"):
                urlopen(Request(urls[0] + path, headers=headers), timeout=60)  # noqa: S310  (our own server)
    finally:
        for process in started:
            process.kill()
            process.wait()


TICKED = {
    'sabot_tasks_asked_total{task="games.tasks.tick"}',
    'sabot_tasks_total{state="SUCCESS",task="games.tasks.tick"}',
    'sabot_task_seconds_count{task="games.tasks.tick"}',
}


def said_at(url: str) -> dict[str, float]:
    """Return the metrics at a port, empty if it does not answer yet."""
    try:
        lines = [line for line in read(url).splitlines() if not line.startswith("#")]
    except OSError:
        return {}
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
