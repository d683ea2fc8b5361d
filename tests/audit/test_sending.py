"""Checkpoints are sent unchanged to the operator's external places, each place independently."""

import base64
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from select import select
from socket import create_server, socket

import pytest
from django.core import mail
from django.db import connections
from django.utils import timezone

from audit import log, tasks
from audit.models import Checkpoint, Delivery
from audit.sealing import checkpoint_delivery, sealer
from tests.harness.sweeps import sample

PLACE = "https://keeper.example/"
LOCKS = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND datname = current_database()
"""


@pytest.fixture
def checkpoint(db, signed) -> Checkpoint:
    return another()


def another() -> Checkpoint:
    log.record("test.happened", by="system", on="test:1", data={})
    sealer.seal()
    return Checkpoint.objects.order_by("-size")[0]


def tried(checkpoint: Checkpoint, ago: int, failure: str = "") -> None:
    """Record an attempt this number of seconds ago."""
    Delivery.objects.create(
        checkpoint=checkpoint, to=PLACE, at=timezone.now() - timedelta(seconds=ago), failure=failure
    )


def deliver(destination: str) -> str:
    """Send, and return the failure, or ""."""
    delivery = checkpoint_delivery.send(destination)
    assert delivery
    return delivery.failure


class Keeper(HTTPServer):
    """An external server that stores posted checkpoints, with a status set by the test."""

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = status
        self.secrets: list[str | None] = []
        self.is_endless = False
        self.kept: list[tuple[str, str, bytes]] = []
        self.before_answering: Callable[[], None] = lambda: None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/keep?log=1"


class Handler(BaseHTTPRequestHandler):
    server: Keeper

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.kept.append((self.path, self.headers["Content-Type"], body))
        self.server.secrets.append(self.headers["Authorization"])
        self.server.before_answering()
        if self.server.is_endless:
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while self.wfile.write(b"X"):  # an endless header, until the client disconnects
                    select([self.rfile], [], [], 0.01)
            return
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def a_keeper(status: int = 204) -> Iterator[Keeper]:
    with Keeper(status) as keeper:
        thread = threading.Thread(target=keeper.serve_forever)
        thread.start()
        yield keeper
        keeper.shutdown()
        thread.join()


def greet_without_end(listening: socket) -> None:
    asker, _ = listening.accept()
    with asker, suppress(OSError):
        asker.sendall(b"220 here\r\n")
        asker.recv(100)
        while asker.send(b"2"):
            select([], [], [], 0.01)


class TestASeat:
    def test_may_be_a_folder(self, checkpoint, settings, tmp_path):
        settings.AUDIT_CHECKPOINTS_TO = [f"file:{tmp_path}"]
        (destination,) = checkpoint_delivery.due()
        assert deliver(destination) == ""
        assert [file.name for file in tmp_path.glob("checkpoint-*")] == ["checkpoint-000000000001.txt"]
        assert (tmp_path / "checkpoint-000000000001.txt").read_text() == checkpoint.note

    @pytest.mark.sweep
    def test_of_a_folder_keeps_what_is_there(self, checkpoint, settings, tmp_path):
        settings.AUDIT_CHECKPOINTS_TO = [f"file:{tmp_path}"]
        (tmp_path / "checkpoint-000000000001.txt").write_text("another")
        assert "is there and is another checkpoint" in deliver(f"file:{tmp_path}")
        assert (tmp_path / "checkpoint-000000000001.txt").read_text() == "another"
        assert not list(tmp_path.glob(".checkpoint*"))

    @pytest.mark.sweep
    def test_may_be_a_mailbox(self, checkpoint, settings):
        settings.AUDIT_CHECKPOINTS_TO = ["mailto:auditor@example.com"]
        assert deliver("mailto:auditor@example.com") == ""
        (sent,) = mail.outbox
        assert (sent.to, sent.subject) == (["auditor@example.com"], "Checkpoint of test.example/log: 1 events")
        assert sent.attachments == [("checkpoint-000000000001.txt", checkpoint.note, "text/plain")]

    @pytest.mark.sweep
    def test_may_be_an_address_of_the_web(self, checkpoint, settings):
        with a_keeper() as keeper:
            settings.AUDIT_CHECKPOINTS_TO = [keeper.address]
            assert deliver(keeper.address) == ""
        assert keeper.kept == [("/keep?log=1", "text/plain; charset=utf-8", checkpoint.note.encode())]

    @pytest.mark.parametrize("status", sample([302, 404, 500], 1))
    def test_that_does_not_take_it_has_failed(self, checkpoint, settings, status):
        with a_keeper(status) as keeper:
            settings.AUDIT_CHECKPOINTS_TO = [keeper.address]
            assert deliver(keeper.address) == f"answered {status}"
        assert len(keeper.kept) == 1, "nobody is redirected"

    @pytest.mark.parametrize(
        "destination",
        [
            "",
            "nowhere",
            "/folder",
            "file:folder",
            "file://host/folder",
            "mailto:nobody",
            "ftp://keeper.example/",
            "https:///keep",
            "http://keeper.example/",
            "http://127.0.0.1.keeper.example/",
        ],
    )
    def test_an_invalid_one_is_named(self, destination):
        with pytest.raises(checkpoint_delivery.NoDestination):
            checkpoint_delivery.destination_for(destination)

    def test_is_named_without_its_secrets(self, checkpoint, settings):
        with a_keeper() as keeper:
            destination = f"http://some:one%21@127.0.0.1:{keeper.server_port}/keep?token=s3cret#part"
            settings.AUDIT_CHECKPOINTS_TO = [destination]
            assert deliver(destination) == ""
        assert keeper.secrets == [f"Basic {base64.b64encode(b'some:one!').decode()}"]
        another()
        settings.AUDIT_CHECKPOINT_SECONDS = 0
        assert deliver(destination) == "ConnectionRefusedError: Connection refused"
        called = f"http://127.0.0.1:{keeper.server_port}/keep"
        assert checkpoint_delivery.record(destination).destination == called
        assert set(Delivery.objects.values_list("to", flat=True)) == {called}
        for each in Delivery.objects.all():
            assert not {word for word in ("some", "one", "s3cret", "token") if word in each.failure}
        with pytest.raises(checkpoint_delivery.NoDestination) as shown:
            checkpoint_delivery.destination_for("http://some:one@keeper.example/?token=s3cret")
        assert "s3cret" not in str(shown.value)
        assert "some:" not in str(shown.value)

    @pytest.mark.sweep
    def test_is_asked_without_the_machine_s_proxy_or_its_passwords(self, checkpoint, settings, tmp_path, monkeypatch):
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login some password one\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
        with a_keeper() as keeper:
            settings.AUDIT_CHECKPOINTS_TO = [keeper.address]
            assert deliver(keeper.address) == ""
        assert keeper.secrets == [None]


class TestADestinationThatFails:
    @pytest.mark.sweep
    def test_is_given_so_much_time_in_all_however_it_fills_it(self, checkpoint, settings, monkeypatch):
        monkeypatch.setattr(checkpoint_delivery, "SECONDS", 0.3)
        with a_keeper() as keeper:
            keeper.is_endless = True
            settings.AUDIT_CHECKPOINTS_TO = [keeper.address]
            assert deliver(keeper.address) == "no answer within 0.3 seconds"
            assert checkpoint_delivery.due() == []

    @pytest.mark.sweep
    def test_is_given_no_more_where_it_is_a_mail_server(self, checkpoint, settings, monkeypatch):
        """It answers one letter at a time, each in time."""
        monkeypatch.setattr(checkpoint_delivery, "SECONDS", 0.3)
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.AUDIT_CHECKPOINTS_TO = ["mailto:auditor@example.com"]
        with create_server(("127.0.0.1", 0)) as listening:
            settings.EMAIL_HOST, settings.EMAIL_PORT = listening.getsockname()
            thread = threading.Thread(target=greet_without_end, args=(listening,))
            thread.start()
            assert deliver("mailto:auditor@example.com") == "no answer within 0.3 seconds"
            thread.join()

    @pytest.mark.sweep
    def test_is_one_where_the_mail_server_refuses(self, checkpoint, settings):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
        settings.AUDIT_CHECKPOINTS_TO = ["mailto:auditor@example.com"]
        assert deliver("mailto:auditor@example.com") == "ConnectionRefusedError: [Errno 111] Connection refused"

    def test_in_a_way_nobody_thought_of_has_failed_and_waits(self, checkpoint, settings, tmp_path, monkeypatch):
        def broken(descriptor: int) -> None:
            raise RuntimeError("of a disk, say, with a secret")

        destination = f"file:{tmp_path}"
        settings.AUDIT_CHECKPOINTS_TO = [destination]
        monkeypatch.setattr(os, "fsync", broken)
        assert deliver(destination) == "RuntimeError"
        assert not list(tmp_path.glob("*checkpoint*")), "the draft is gone"
        assert checkpoint_delivery.due() == []

    def test_after_a_killed_attempt_is_tried_again_later(self, checkpoint, settings):
        settings.AUDIT_CHECKPOINTS_TO = [PLACE]
        tried(checkpoint, 50, checkpoint_delivery.UNDER_WAY)
        assert checkpoint_delivery.send(PLACE) is None
        found = checkpoint_delivery.record(PLACE)
        assert (found.failures, bool(found.under_way_since)) == (0, True)
        tried(checkpoint, 61, checkpoint_delivery.UNDER_WAY)
        assert deliver(PLACE) == checkpoint_delivery.LOST
        assert (checkpoint_delivery.record(PLACE).failures, checkpoint_delivery.due()) == (1, [])

    @pytest.mark.sweep
    def test_delays_no_other(self, checkpoint, settings, tmp_path):
        gone, there = f"file:{tmp_path}/gone", f"file:{tmp_path}"
        settings.AUDIT_CHECKPOINTS_TO = [gone, "http://127.0.0.1:1/", there]
        for destination in checkpoint_delivery.due():
            tasks.send_checkpoint(destination)
        assert (tmp_path / "checkpoint-000000000001.txt").exists()
        failures = dict(Delivery.objects.order_by("pk").values_list("to", "failure"))
        assert "No such file or directory" in failures[gone]
        assert "Connection refused" in failures["http://127.0.0.1:1/"]
        assert failures[there] == ""

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("times", "pause"), sample([(1, 60), (2, 120), (3, 240), (4, 480), (5, 600), (50, 600)], 2)
    )
    def test_is_tried_again_after_longer_and_longer_pauses(self, checkpoint, settings, times, pause):
        settings.AUDIT_CHECKPOINTS_TO, settings.AUDIT_CHECKPOINT_SECONDS = [PLACE], 600
        for _ in range(times):
            tried(checkpoint, pause - 30, "gone")
        assert checkpoint_delivery.due() == []
        assert checkpoint_delivery.send(PLACE) is None

    @pytest.mark.sweep
    @pytest.mark.parametrize(("times", "pause"), [(1, 60), (2, 120), (5, 600), (50, 600)])
    def test_and_then_is_due(self, checkpoint, settings, times, pause):
        settings.AUDIT_CHECKPOINTS_TO, settings.AUDIT_CHECKPOINT_SECONDS = [PLACE], 600
        for _ in range(times):
            tried(checkpoint, pause + 1, "gone")
        assert checkpoint_delivery.due() == [PLACE]

    @pytest.mark.sweep
    def test_counts_from_zero_after_one_success(self, checkpoint):
        for failure in ("gone", "gone", "", "gone again"):
            tried(checkpoint, 10, failure)
        found = checkpoint_delivery.record(PLACE)
        assert (found.size, found.failures, found.failure) == (1, 1, "gone again")


class TestADestinationIsDue:
    def test_at_first_and_then_every_so_often_where_there_is_something_new(self, checkpoint, settings):
        settings.AUDIT_CHECKPOINTS_TO, settings.AUDIT_CHECKPOINT_SECONDS = [PLACE], 600
        assert checkpoint_delivery.due() == [PLACE]
        tried(checkpoint, 700)
        assert checkpoint_delivery.due() == []  # it has the last one
        tried(another(), 500)
        another()
        assert checkpoint_delivery.due() == []
        settings.AUDIT_CHECKPOINT_SECONDS = 400
        assert checkpoint_delivery.due() == [PLACE]

    @pytest.mark.django_db
    def test_only_when_there_is_a_checkpoint(self, settings):
        settings.AUDIT_CHECKPOINTS_TO = [PLACE]
        assert checkpoint_delivery.due() == []
        assert checkpoint_delivery.send(PLACE) is None


def test_two_workers_at_once_send_it_once(cloned_db, signed, settings):
    """The second runs while the first waits for the answer."""
    another()
    found: list[Delivery | None] = []
    held: list[int] = []
    with a_keeper() as keeper:
        settings.AUDIT_CHECKPOINTS_TO = [keeper.address]

        def change_in_between() -> None:
            found.append(checkpoint_delivery.send(keeper.address))
            connections.close_all()

        def second() -> None:
            with connections["default"].cursor() as cursor:
                cursor.execute(LOCKS)
                held.append(cursor.fetchone()[0])
            connections.close_all()
            thread = threading.Thread(target=change_in_between)
            thread.start()
            thread.join()

        keeper.before_answering = second
        assert checkpoint_delivery.send(keeper.address)
    assert found == [None]
    assert held == [0], "nothing is locked while the place makes up its mind"
    assert len(keeper.kept) == 1
