"""examples/mirror_log.py, run as a user runs it, against an honest house and a dishonest one."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.db import connections

from audit.models import Checkpoint
from audit.verification import verify
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.examples.between import Between, state_between
from tests.harness import databases, web
from tests.harness.databases import Database
from tests.harness.sweeps import sample

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "mirror_log.py"
AS_SHOWN = "as it is shown, is not what was signed and is kept here"
FIRST_TILE, SECOND_ENTRIES, EDGE = "tile/0/000", "tile/entries/001", "edge"


@dataclass(frozen=True)
class House:
    """A house with a log of some hundreds of events."""

    port: int
    pens: Pens
    database: Database


@contextmanager
def a_house(folder: Path, pens: Pens) -> Iterator[House]:
    """Open a house with its own database, which Django uses in the meantime."""
    with databases.clone("mirrored") as database:
        sealed.fill(database, pens)
        environment = {"AUDIT_KEYS": pens.keys.replace("\n", ",")}
        server = web.start(database, folder / "web.log", application="casino.asgi:application", environment=environment)
        try:
            yield House(server.port, pens, database)
        finally:
            web.stop(server)
            connections.close_all()


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[House]:
    with django_db_blocker.unblock(), a_house(tmp_path_factory.mktemp("house"), Pens()) as opened:
        yield opened


@pytest.fixture
def between(house) -> Iterator[Between]:
    with state_between(house.port) as server:
        yield server


@pytest.fixture
def keys(house, tmp_path) -> Path:
    return written(house.pens, tmp_path / "keys")


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "mirror"


@pytest.fixture
def begin(house, between, keys, folder) -> Callable[..., subprocess.Popen[str]]:
    def beginning(*, keys: Path = keys) -> subprocess.Popen[str]:
        command = [sys.executable, "-I", PROGRAM, between.url, folder, "--keys", keys]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return beginning


@pytest.fixture
def mirror(begin) -> Callable[..., tuple[int, str]]:
    """Run it to its end; return its status and output."""

    def run(**given: Path) -> tuple[int, str]:
        process = begin(**given)
        said, complained = process.communicate(timeout=120)
        assert complained == ""
        return process.returncode, said

    return run


def written(pens: Pens, file: Path) -> Path:
    file.write_text(pens.keys)
    return file


def size() -> int:
    return Checkpoint.objects.latest("size").size


def edge() -> list[str]:
    """Return the partial tiles of the tree."""
    return [verify.tile_path(1, 0, size() // 256), verify.tile_path(0, size() // 256, size() % 256)]


def grow(house: House) -> None:
    """Record more events than a tile holds, and sign them."""
    for number in range(300):
        sealed.an_event(number)
    sealed.sign(house.pens)


def flipped(data: bytes) -> bytes:
    """Return it with one bit changed."""
    return bytes([data[0] ^ 1]) + data[1:]


def rewritten(data: bytes) -> bytes:
    """The last entry has another hash."""
    assert data.endswith(b'"}')
    return data[:-3] + (b"0" if data[-3:-2] != b"0" else b"1") + data[-2:]


@pytest.fixture(autouse=True)
def with_the_database(house, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


class TestOfAHonestHouse:
    def test_everything_is_fetched_and_proven(self, mirror, folder, keys, exports_say):
        assert mirror() == (
            0,
            f"sabot.test/log: {size()} events, all as they were signed; {size()} of them are new here.\n",
        )
        assert exports_say(folder, keys).endswith("All that is here is proven.\n")

    @pytest.mark.sweep
    def test_the_second_time_the_edge_is_fetched_and_what_was_kept_is_compared(self, mirror, between, folder):
        mirror()
        between.asked.clear()
        status, said = mirror()
        files = {file.relative_to(folder).as_posix() for file in (folder / "tile").rglob("*") if file.is_file()}
        again = f"The first {size()} are those of the last time; {len(files)} of their files were asked for again."
        assert (status, said.splitlines()[1]) == (0, again)
        assert "; 0 of them are new here." in said
        assert sorted(between.asked) == sorted(["checkpoint", *edge(), *files])

    @pytest.mark.sweep
    def test_what_happened_since_is_added(self, mirror, folder, keys, house, exports_say):
        mirror()
        before = size()
        grow(house)
        status, said = mirror()
        assert (status, said.splitlines()[1]) == (
            0,
            f"The first {before} are those of the last time; 4 of their files were asked for again.",
        )
        assert f"; {size() - before} of them are new here." in said
        assert exports_say(folder, keys).endswith("All that is here is proven.\n")
        assert len(list(folder.glob("tile/entries/*.p/*"))) == 1

    @pytest.mark.sweep
    def test_killed_it_goes_on_where_it_was(self, mirror, begin, between, folder):
        between.hold = SECOND_ENTRIES
        process = begin()
        assert between.held.wait(60)
        process.kill()
        process.communicate()
        assert not (folder / "checkpoint").exists()
        between.hold = ""
        between.asked.clear()
        status, said = mirror()
        assert (status, f"; {size() - 256} of them are new here." in said) == (0, True)
        assert FIRST_TILE not in between.asked
        assert "tile/entries/000" not in between.asked

    @pytest.mark.sweep
    def test_it_waits_where_it_is_configured(self, mirror, between):
        between.refuse[FIRST_TILE] = (429, "0")
        assert mirror()[0] == 0
        assert between.asked.count(FIRST_TILE) == 2


class TestOfACorruptOne:
    @pytest.mark.parametrize(
        ("name", "spoil", "said"),
        sample(
            [
                (FIRST_TILE, flipped, f"{FIRST_TILE}, as it is shown, does not lead to the root that was signed"),
                (FIRST_TILE, lambda data: data[:-1], f"{FIRST_TILE} does not hold 256 hashes"),
                (EDGE, flipped, "the tiles at the edge do not lead to the root"),
                (
                    "tile/entries/000",
                    rewritten,
                    "event 255 in tile/entries/000, as it is shown, is not the one that was",
                ),
                (
                    "tile/entries/000",
                    lambda data: data + b"\0\0",
                    "tile/entries/000, as it is shown, holds more than 256",
                ),
                (
                    "checkpoint",
                    lambda note: note.replace(b"sabot.test/log\n", b"another.test/log\n"),
                    "no key given has",
                ),
                (
                    "checkpoint",
                    lambda note: note.replace(b"\n\n", b"\nmore\n\n"),
                    "the signature of sabot.test/log on the",
                ),
            ],
            1,
        ),
    )
    def test_it_reports_where(self, mirror, between, folder, name, spoil, said):
        name = edge()[0] if name == EDGE else name
        between.spoil[name] = spoil
        status, words = mirror()
        assert status == 1
        assert words.startswith(f"WRONG: {said}")
        assert not (folder / "checkpoint").exists()
        assert not (folder / name).exists()
        between.spoil.clear()
        assert mirror()[0] == 0  # nothing unproven was kept

    @pytest.mark.sweep
    def test_a_signature_by_another_key_counts_for_nothing(self, mirror, tmp_path):
        status, said = mirror(keys=written(Pens(), tmp_path / "others"))
        assert (status, said.startswith("WRONG: no key given has signed the checkpoint")) == (1, True)

    @pytest.mark.sweep
    def test_an_older_state_is_not_shown_as_the_last(self, mirror, between, house):
        mirror()
        older = Checkpoint.objects.order_by("size")[1]
        between.spoil["checkpoint"] = lambda _note: older.note.encode()
        status, said = mirror()
        assert (status, said.startswith(f"WRONG: it was the tree of {size()} events")) == (1, True)

    @pytest.mark.parametrize(
        ("more", "said"),
        sample(
            [
                (0, "it was the tree of 600 events"),
                (300, "the log does not begin with the 600 events that it had the last time"),
            ],
            1,
        ),
    )
    def test_a_rewritten_history_is_found(self, mirror, between, house, tmp_path, more, said):
        signed = Checkpoint.objects.get(size=600).note
        between.spoil["checkpoint"] = lambda _note: signed.encode()
        assert mirror()[0] == 0
        between.spoil.clear()
        (tmp_path / "other").mkdir()
        with a_house(tmp_path / "other", house.pens) as other:
            for number in range(more):
                sealed.an_event(number)
            if more:
                sealed.sign(house.pens)
            between.port = other.port
            status, words = mirror()
        assert (status, words[: len(said) + 7]) == (1, f"WRONG: {said}")

    def test_a_leaf_that_the_house_has_changed_since_is_found(self, mirror, house):
        assert mirror()[0] == 0
        event = sealed.event_of(100)
        with psycopg.connect(house.database.superuser_url, autocommit=True) as tamper:
            tamper.execute("SET session_replication_role = replica")
            change = "UPDATE audit_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE id = %s"
            tamper.execute(change, [event])
            found = mirror()
            tamper.execute(change, [event])  # back to what it was
        assert found == (1, f"WRONG: entry 100 of tile/entries/000, {AS_SHOWN}\n")
        assert mirror()[0] == 0

    @pytest.mark.sweep
    def test_what_went_bad_in_the_folder_is_found_as_well(self, mirror, folder):
        mirror()
        file = folder / "tile" / "entries" / "000"
        file.write_bytes(rewritten(file.read_bytes()))
        status, said = mirror()
        assert (status, said.startswith("WRONG: event 255 in tile/entries/000, as it was kept, is not")) == (1, True)

    @pytest.mark.sweep
    def test_what_went_bad_at_the_edge_is_found_as_well(self, mirror, folder):
        mirror()
        for name in edge():
            good = (folder / name).read_bytes()
            (folder / name).write_bytes(flipped(good))
            assert mirror() == (1, f"WRONG: {name}, as it was kept, is not what was signed\n")
            (folder / name).write_bytes(good)
        assert mirror()[0] == 0

    @pytest.mark.sweep
    @pytest.mark.parametrize("level", [0, "entries"])
    def test_what_went_bad_at_the_edge_is_found_though_the_log_has_grown(self, mirror, folder, house, level):
        mirror()
        name = verify.tile_path(level, size() // 256, size() % 256)
        good = (folder / name).read_bytes()
        (folder / name).write_bytes(flipped(good))
        grow(house)
        assert mirror() == (1, f"WRONG: {name}, as it was kept, is not what was signed\n")
        assert (folder / name).read_bytes() == flipped(good)
        (folder / name).write_bytes(good)
        assert mirror()[0] == 0


class TestOfNone:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("text", "said"),
        sample(
            [
                ("", "there is no key in it"),
                ("# nothing else\n", "there is no key in it"),
                ("sabot.test/log\n", "'sabot.test/log' is no key, which is name+8 hex digits+base64"),
                (
                    "sabot.test/log+0011aabb+AAAA\n",
                    "'sabot.test/log+0011aabb+AAAA' is no key, which is name+8 hex digits+base64",
                ),
            ],
            1,
        ),
    )
    def test_an_invalid_file_of_keys_is_reported(self, mirror, tmp_path, text, said):
        file = tmp_path / "other"
        file.write_text(text)
        assert mirror(keys=file) == (2, f"Cannot be read: the file of keys, {file}: {said}\n")

    @pytest.mark.sweep
    def test_nor_is_one_that_is_not_there_or_no_text(self, mirror, tmp_path):
        assert mirror(keys=tmp_path / "none")[1].startswith(f"Cannot be read: the file of keys, {tmp_path / 'none'}: ")
        (tmp_path / "bytes").write_bytes(b"\xff\xfe")
        status, said = mirror(keys=tmp_path / "bytes")
        assert (status, said.startswith("Cannot be read: the file of keys, ")) == (2, True)

    @pytest.mark.sweep
    @pytest.mark.parametrize("note", sample([b"Not Found", b"", b"a\nb\nc\n\n"], 1))
    def test_what_is_no_checkpoint_is_not_read(self, mirror, between, note):
        between.spoil["checkpoint"] = lambda _note: note
        assert mirror() == (2, "Cannot be read: what should be a checkpoint is none\n")


@pytest.fixture
def exports_say() -> Callable[[Path, Path], str]:
    """Return a function that verifies a mirror with the script that is part of every export, and returns its output."""

    def check(folder: Path, keys: Path) -> str:
        command = [sys.executable, "-I", "-S", str(verify.__file__), str(folder), "--keys", str(keys)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout

    return check
