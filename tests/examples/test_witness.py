"""examples/witness.py over HTTP, asked by the house: it cosigns extensions of the log, but no fork or rollback."""

import hashlib
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.test import Client

from audit import tree
from audit.models import Checkpoint, Cosignature, Event
from audit.sealing import alarms, witnesses
from audit.tasks import ask_witnesses
from audit.verification.checking import StoredTiles
from players.models import Mail
from tests.audit import sealed
from tests.audit.go_program import build
from tests.audit.signing import ORIGIN, Pens
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "witness.py"
pytestmark = pytest.mark.usefixtures("cloned_db")  # refusals that other tests record are committed in theirs


@dataclass
class Running:
    """A witness on a port of this machine."""

    folder: Path
    keys: Path
    name: str
    port: int = 0
    vkey: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-I", str(PROGRAM), str(self.folder), "--name", self.name, "--log", str(self.keys)]
        command += ["--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.vkey = self.process.stdout.readline().strip()
        self.port = int(self.process.stdout.readline().split()[-1])

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    @property
    def setting(self) -> str:
        """The configuration of the house."""
        return f"{self.vkey} http://127.0.0.1:{self.port}/"

    def post(self, request: str) -> tuple[int, str, str]:
        """Return status, content type and text of the answer to a request."""
        return self._ask("POST", "/add-checkpoint", request.encode())

    def last(self) -> tuple[int, str, str]:
        """Return the answer to a request for the last checkpoint of the log."""
        return self._ask("GET", f"/{hashlib.sha256(ORIGIN.encode()).hexdigest()}/checkpoint")

    def _ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, str, str]:
        line = HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request(method, path, body)
        answer = line.getresponse()
        said = answer.status, str(answer.headers["Content-Type"]), answer.read().decode()
        line.close()
        return said


@pytest.fixture
def pens(settings) -> Pens:
    made = Pens()
    settings.AUDIT_KEYS = made.keys.replace("\n", ",")
    return made


@pytest.fixture
def start(tmp_path, pens) -> Iterator[Callable[..., Running]]:
    """Return a function that starts a witness of the log."""
    running: list[Running] = []
    (tmp_path / "keys").write_text(pens.keys)

    def starting(name: str = "friend.example/witness") -> Running:
        found = Running(tmp_path / name.partition(".")[0], tmp_path / "keys", name)
        running.append(found)
        found.start()
        return found

    yield starting
    for each in running:
        each.stop()


@pytest.fixture
def witness(start, settings) -> Running:
    """A witness that the house asks."""
    found: Running = start()
    settings.AUDIT_WITNESSES, settings.AUDIT_WITNESS_QUORUM = [found.setting], 1
    return found


def grow(pens: Pens, count: int) -> Checkpoint:
    """Record that many events and have them signed."""
    for number in range(count):
        sealed.an_event(number)
    sealed.sign(pens)
    return Checkpoint.objects.latest("size")


def answer() -> Cosignature:
    """Ask as the worker does, and return the last answer of a witness."""
    size, due = witnesses.due()
    for name in due:
        witnesses.ask(name, size)
    return Cosignature.objects.latest("pk")


def request(old: int, checkpoint: Checkpoint, note: str = "") -> str:
    """Return the request of a house for a cosignature, with the proof from a tree of *old* leaves."""
    proof = tree.consistency_proof(StoredTiles(), old, checkpoint.size)
    steps = "".join(f"{b64encode(step).decode()}\n" for step in proof)
    return f"old {old}\n{steps}\n{note or checkpoint.note}"


def shown() -> str:
    return Client().get("/log/checkpoint").content.decode()


def raised() -> list[str]:
    kinds = (alarms.UNWITNESSED.begins, alarms.UNWITNESSED.ends)
    return list(Event.objects.filter(kind__in=kinds).order_by("pk").values_list("kind", flat=True))


def make_old(checkpoint: Checkpoint) -> None:
    """Make a checkpoint older than the house waits for cosignatures."""
    as_owner(
        "ALTER TABLE audit_checkpoint DISABLE TRIGGER audit_checkpoint_is_kept;"
        f" UPDATE audit_checkpoint SET at = at - interval '601 seconds' WHERE size = {checkpoint.size};"
        " ALTER TABLE audit_checkpoint ENABLE TRIGGER audit_checkpoint_is_kept"
    )


class TestAHonestLog:
    def test_is_cosigned_each_time_that_it_has_grown(self, witness, pens):
        for count in (3, 300, 1):
            checkpoint = grow(pens, count)
            found = answer()
            assert (found.checkpoint, found.failure) == (checkpoint, "")
            assert shown() == checkpoint.note + found.line
            status, _kind, kept = witness.last()
            assert (status, kept) == (200, shown())
        assert witnesses.due() == (checkpoint.size, [])

    def test_is_cosigned_though_the_house_has_forgotten_what_was(self, witness, pens):
        grow(pens, 3)
        answer()
        as_owner("DELETE FROM audit_cosignature")
        assert witness.post(request(0, grow(pens, 2))) == (409, "text/x.tlog.size", "3\n")
        assert answer().failure == ""

    def test_is_cosigned_by_a_witness_that_was_killed(self, witness, pens):
        grow(pens, 3)
        answer()
        before, _ = witness.vkey, witness.stop()
        witness.start()
        grow(pens, 2)
        assert (witness.vkey, answer().failure) == (before, "")

    def test_waits_for_enough_witnesses(self, start, pens, settings):
        first, second = start("one.example/w"), start("two.example/w")
        settings.AUDIT_WITNESSES, settings.AUDIT_WITNESS_QUORUM = [first.setting, second.setting], 2
        before = grow(pens, 3)
        answer()
        second.stop()
        grow(pens, 2)
        answer()
        assert shown().startswith(before.note)
        assert shown().count("\n— ") == 4
        settings.AUDIT_WITNESS_QUORUM = 1
        assert not shown().startswith(before.note)


class TestAForkedLog:
    def test_gets_no_cosignature(self, witness, pens, settings):
        grow(pens, 3)
        answer()
        kept = witness.last()
        checkpoint = grow(pens, 4)
        forged = pens.note(checkpoint.size, bytes(32))
        assert witness.post(request(3, checkpoint, forged))[0] == 422
        assert witness.post(request(3, checkpoint).replace("old 3", "old 0"))[0] == 409
        assert witness.last() == kept

    def test_of_the_same_size_gets_none(self, witness, pens):
        checkpoint = grow(pens, 3)
        answer()
        assert witness.post(request(3, checkpoint))[0] == 200
        assert witness.post(request(3, checkpoint, pens.note(3, bytes(32))))[0] == 422

    def test_is_named_on_the_page_of_the_log(self, witness, pens, start, settings):
        checkpoint = grow(pens, 3)
        other = pens.note(2, bytes(32))
        assert witness.post(f"old 0\n\n{other}")[0] == 200
        found = answer()
        assert (found.checkpoint, found.line) == (checkpoint, "")
        assert found.failure == witnesses.WHY[HTTPStatus.UNPROCESSABLE_ENTITY]
        reader = Client()
        reader.force_login(a_member_of_staff("compliance").user)
        page = reader.get("/staff/log/").content.decode()
        assert "it has seen another history" in page


class TestALogThatWasRolledBack:
    def test_gets_no_cosignature(self, witness, pens):
        before = grow(pens, 3)
        after = grow(pens, 2)
        assert witness.post(request(0, after))[0] == 200
        assert witness.post(request(0, before)) == (409, "text/x.tlog.size", f"{after.size}\n")
        as_owner(
            "SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE audit_checkpoint DISABLE TRIGGER audit_checkpoint_is_kept;"
            f" DELETE FROM audit_checkpoint WHERE size = {after.size};"
            " ALTER TABLE audit_checkpoint ENABLE TRIGGER audit_checkpoint_is_kept"
        )
        assert answer().failure == f"it has cosigned a tree of {after.size} leaves, and this one has {before.size}"


class TestADeadWitness:
    def test_raises_an_alarm_after_a_time_that_ends_when_it_lives(self, witness, pens):
        reader = a_member_of_staff("compliance")
        grow(pens, 3)
        answer()
        witness.stop()
        first = grow(pens, 2)
        assert "ConnectionRefusedError" in answer().failure
        witnesses.check()
        assert (raised(), shown().startswith(first.note)) == ([], False)
        make_old(first)
        witnesses.check()
        witnesses.check()
        assert raised() == ["log.unwitnessed"]
        assert shown() == first.note  # the log continues
        mail = Mail.objects.filter(address=reader.user.email).latest("pk")
        assert mail.subject == "Audit log lacks cosignatures of witnesses"
        witness.start()
        grow(pens, 1)
        assert answer().failure == ""
        witnesses.check()
        assert raised() == ["log.unwitnessed", "log.witnessed"]

    def test_that_never_answered_raises_it_too(self, witness, pens):
        witness.stop()
        make_old(grow(pens, 3))
        ask_witnesses()
        assert raised() == ["log.unwitnessed"]


class TestWhatIsNoRequest:
    @pytest.mark.parametrize(
        ("change", "status"),
        [
            (lambda text: text.replace(ORIGIN, "another.example/log"), 404),
            (lambda text: text.replace(f"\n— {ORIGIN} ", "\n— another.example/log "), 403),
            (lambda text: text.replace(f"{ORIGIN}\n3\n", f"{ORIGIN}\n4\n"), 403),
            (lambda text: text.replace("old 0", "old 4"), 400),
            (lambda text: text.replace("old 0", "old 00"), 400),
            (lambda text: text.replace("old 0\n", f"old 0\n{b64encode(bytes(32)).decode()}\n"), 422),
            (lambda text: text.rstrip("\n"), 400),
            (lambda text: "", 404),
            (lambda text: "old 0\n\n", 400),
        ],
    )
    def test_is_refused(self, witness, pens, change, status):
        assert witness.post(change(request(0, grow(pens, 3))))[0] == status
        assert witness.last()[0] == 404


class TestAnAnswer:
    def test_of_another_key_counts_for_nothing(self, start, pens, settings):
        mine, other = start("one.example/w"), start("two.example/w")
        settings.AUDIT_WITNESSES = [f"{mine.vkey} http://127.0.0.1:{other.port}"]
        settings.AUDIT_WITNESS_QUORUM = 1
        grow(pens, 3)
        assert answer().failure == "its answer has no signature of its key"

    def test_that_somebody_wrote_into_the_database_counts_for_nothing(self, witness, pens):
        checkpoint = grow(pens, 3)
        line = answer().line
        later = grow(pens, 2)
        (name,) = (each.name for each in witnesses.configured())
        Cosignature.objects.create(checkpoint=later, witness=name, line=line)
        found = witnesses.witnessed()
        assert found == checkpoint


def test_go_s_own_note_package_opens_what_witnesses_have_cosigned(start, pens, settings, tmp_path):
    witnessing = [start("one.example/w"), start("two.example/w")]
    settings.AUDIT_WITNESSES, settings.AUDIT_WITNESS_QUORUM = [each.setting for each in witnessing], 2
    grow(pens, 300)
    answer()
    folder = tmp_path / "go"
    folder.mkdir()
    (folder / "keys").write_text(pens.log.vkey)
    (folder / "witnesses").write_text("\n".join(each.vkey for each in witnessing))
    (folder / "checkpoint").write_text(shown())
    program = build(tmp_path)

    def said() -> tuple[int, list[str]]:
        done = subprocess.run([program, folder], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()

    status, lines = said()
    assert (status, lines[1:]) == (0, ["signatures 3", "cosigned by one.example/w", "cosigned by two.example/w"])
    note = shown()
    last = note.rindex("— two.example/w ")
    line = bytearray(note[last:].encode())
    line[-20] ^= 1
    (folder / "checkpoint").write_text(note[:last] + line.decode())
    status, lines = said()
    assert (status, lines[0].startswith("REFUSED checkpoint ")) == (1, True)
