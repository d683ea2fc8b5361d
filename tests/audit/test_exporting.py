"""An export proves itself on a Python without our packages, and reveals changes made to it."""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.urls import reverse

from audit.models import Checkpoint, Leaf
from audit.tree import NotSealed
from audit.verification import export as exporting
from audit.verification.verify import Unproven
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events


@pytest.fixture(scope="module")
def pens():
    return Pens()


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker, pens):
    """A log without tampering; only its exports are changed."""
    with django_db_blocker.unblock(), databases.clone("exported") as database:
        sealed.fill(database, pens)
        yield database


@pytest.fixture(autouse=True)
def believed(settings, pens):
    settings.AUDIT_KEYS = pens.keys.replace("\n", ",")


@pytest.fixture
def export(house, django_db_blocker, tmp_path):
    """Return a function that unpacks an export into a folder."""

    def make(*arguments):
        file, folder = tmp_path / f"{len(list(tmp_path.iterdir()))}.zip", tmp_path / f"{len(list(tmp_path.iterdir()))}"
        with django_db_blocker.unblock():
            call_command("export_audit", str(file), *map(str, arguments), verbosity=0, stdout=io.StringIO())
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
        return folder

    return make


@pytest.fixture
def verify(pens, tmp_path):
    """Return a function that runs an export's program with a bare Python.

    It returns status and output.
    """
    (tmp_path / "believed").write_text(pens.keys)

    def run(path, *arguments, program=None, keys=tmp_path / "believed"):
        done = subprocess.run(
            [sys.executable, "-I", "-S", program or path / "verify.py", path, "--keys", keys, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd="/",
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


@pytest.fixture
def whole(export):
    return export()


def last():
    return Checkpoint.objects.order_by("-size").first()


def bundle(folder, number=0, kind="tile/entries"):
    (file,) = [
        each
        for each in (folder / kind).rglob("*")
        if each.is_file() and each.relative_to(folder / kind).as_posix().startswith(f"{number:03}")
    ]
    return file


def entries_of(file):
    """Read a tile of entries by its definition."""
    data, entries = file.read_bytes(), []
    while data:
        length = int.from_bytes(data[:2], "big")
        entries.append(data[2 : 2 + length])
        data = data[2 + length :]
    return entries


def write_entries(file, entries):
    file.write_bytes(b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries))


class TestTheWholeLog:
    def test_proves_itself_with_a_bare_python(self, whole, verify):
        status, said = verify(whole)
        assert status == 0, said
        assert said.startswith("The tiles are those of the tree of 600 leaves of sabot.test/log, signed at 20")
        assert "3 other checkpoints agree with them." in said
        assert (
            "Leaves 0 to 599 are here, of leaves 0 to 599 there are; 600 events are whole, and the others hashed.\n"
            in said
        )
        assert said.endswith("All that is here is proven.\n")

    def test_without_its_events_is_the_public_log(self, whole, verify):
        shutil.rmtree(whole / "events")
        status, said = verify(whole)
        assert (status, "; 0 events are whole, and the others hashed.\n" in said) == (0, True), said

    @pytest.mark.sweep
    def test_needs_no_unpacking(self, whole, verify, tmp_path):
        archive = shutil.make_archive(str(tmp_path / "again"), "zip", whole)
        assert verify(Path(archive), program=whole / "verify.py")[0] == 0

    def test_is_a_log_as_tlog_tiles_has_it(self, whole):
        found = {each.relative_to(whole).as_posix() for each in whole.rglob("*") if each.is_file()}
        assert found == {
            *("README.txt", "verify.py", "keys", "checkpoint"),
            *(f"checkpoints/{size}" for size in (10, 256, 300)),
            *("tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2"),
            *("tile/entries/000", "tile/entries/001", "tile/entries/002.p/88"),
            *("events/000", "events/001", "events/002.p/88"),
        }
        readme = (whole / "README.txt").read_text()
        assert readme.startswith("The event log of sabot.test/log, whole: ")
        assert "What it cannot show: " in readme

    def test_holds_the_very_bytes_and_no_personal_value(self, whole, house, django_db_blocker):
        with django_db_blocker.unblock():
            leaves = Leaf.objects.filter(leaf__lt=600).order_by("leaf").values_list("event__body", "event__salt")
            events = [bytes(salt or b"") + bytes(body) for body, salt in leaves]
        assert [each for number in range(3) for each in entries_of(bundle(whole, number, "events"))] == events
        hashes = [b'{"hash":"%s"}' % hashlib.sha256(event).hexdigest().encode() for event in events]
        assert [entry for number in range(3) for entry in entries_of(bundle(whole, number))] == hashes
        assert not any(b"192.0.2." in each.read_bytes() for each in whole.rglob("*") if each.is_file())

    def test_is_put_on_record(self, whole, django_db_blocker):
        with django_db_blocker.unblock():
            event = events("log.exported")[-1]
        assert (event["by"], event["on"]) == ("system", "log")
        assert event["data"] == {"first": 0, "end": 600, "size": 600, "personal": False}

    @pytest.mark.sweep
    def test_agrees_with_a_checkpoint_that_was_kept(self, whole, verify):
        assert verify(whole, "--checkpoint", whole / "checkpoints" / "300")[0] == 0


class TestAPart:
    @pytest.mark.sweep
    def test_proves_itself_and_says_that_it_is_one(self, export, verify):
        folder = export("--from", 300, "--to", 301)
        assert not (folder / "tile" / "entries" / "000").exists()
        status, said = verify(folder, "--from", "256", "--to", "512")
        assert (status, "Leaves 256 to 511 are here, of leaves 0 to 599 there are; 256 events" in said) == (0, True), (
            said
        )
        readme = (folder / "README.txt").read_text()
        assert "leaves 256 to 511 of it" in readme
        assert "--keys KEYS --from 256 --to 512\n" in readme

    def test_does_not_pass_for_the_whole(self, export, verify):
        folder = export("--from", 300, "--to", 301)
        status, said = verify(folder)
        missing = ("tile/0/000", "tile/entries/000", "tile/entries/002.p/88")
        assert (status, [f"WRONG: {name} is missing" in said for name in missing]) == (1, [True] * 3), said
        status, said = verify(folder, "--from", "600")
        assert (status, "WRONG: leaves from 600 up to 600 are no part of" in said) == (1, True), said

    @pytest.mark.sweep
    def test_breaks_off_where_an_event_is_not_there(self, house, django_db_blocker):
        connections.close_all()  # so that the house can be copied
        with (
            django_db_blocker.unblock(),
            databases.clone("lacking", like=house.name) as database,
            psycopg.connect(database.superuser_url) as tamper,
        ):
            lacking = sealed.event_of(300)
            tamper.execute("SET session_replication_role = replica")
            tamper.execute("DELETE FROM audit_event WHERE id = %s", [lacking])
            tamper.commit()
            with pytest.raises(Unproven, match="the event of leaf 300 is missing"):
                exporting.bundle(256, 512)

    def test_of_missing_rows_is_empty(self, export):
        with pytest.raises(CommandError, match="no signed tree has leaf 600"):
            export("--from", 600)


class TestPersonalValues:
    def test_are_given_to_entitled_and_proven_readers(self, export, verify):
        folder = export("--personal")
        rows = [json.loads(line) for line in (folder / "personal").read_text().splitlines()]
        assert [7, "ip", rows[0][2], "192.0.2.8"] == rows[0]
        assert verify(folder)[0] == 0
        (folder / "personal").write_text((folder / "personal").read_text().replace("192.0.2.8", "192.0.2.9", 1))
        status, said = verify(folder)
        assert (status, "WRONG: personal: leaf 7: ip is not what the event was written with" in said) == (1, True)

    @pytest.mark.sweep
    def test_that_belong_to_nothing_here_are_wrong(self, export, verify):
        folder = export("--personal", "--from", 300, "--to", 301)
        lines = (folder / "personal").read_text().splitlines()
        leaf, field, salt, value = json.loads(lines[0])
        difference = [leaf, field, salt + value[:2].encode().hex(), value[2:]]
        added = [[7, "ip", salt, value], [str(leaf), field, salt, value], [300, field, salt, value], difference]
        bad = [json.dumps(each) for each in added]
        text = "\n".join([*lines, *bad, "{", "9" * 5000, "[" * 100_000, '[1,"x","zz","y"]', '[1,"x","","\\ud800"]', ""])
        (folder / "personal").write_text(text)
        status, said = verify(folder, "--from", "256", "--to", "512")
        assert status == 1
        wrong = [line.removeprefix("WRONG: personal: ") for line in said.splitlines() if line.startswith("WRONG: ")]
        first = len(lines) + 1
        assert wrong == [
            *(f"line {first + at} is no leaf, field, salt of 16 bytes and text" for at in (1, 3, 4, 5, 6, 7, 8)),
            f"leaf 300: {field} is not what the event was written with",
            "leaf 7 is not among the events that are proven here",
        ]


def flip(folder):
    file = bundle(folder)
    entries = entries_of(file)
    entries[100] = entries[100].replace(b"hash", b"hush", 1)
    write_entries(file, entries)
    return "tile/entries/000: leaf 100: the entry is not the one that was sealed"


def flip_an_event(folder):
    file = bundle(folder, kind="events")
    entries = entries_of(file)
    entries[100] = entries[100].replace(b"player:7", b"player:8", 1)
    write_entries(file, entries)
    return "events/000: leaf 100: the event is not that of its entry"


def change_a_salt(folder):
    file = bundle(folder, kind="events")
    entries = entries_of(file)
    entries[100] = bytes(16) + entries[100][16:]
    write_entries(file, entries)
    return "events/000: leaf 100: the event is not that of its entry"


def drop_an_event(folder):
    file = bundle(folder, kind="events")
    write_entries(file, entries_of(file)[:-1])
    return "events/000 holds 255 events, not 256"


def drop(folder):
    file = bundle(folder)
    entries = entries_of(file)
    del entries[100]
    write_entries(file, entries)
    return "tile/entries/000: leaf 100: the entry of leaf 101 is there"


def insert(folder):
    file = bundle(folder)
    entries = entries_of(file)
    entries.insert(100, b"{}")
    write_entries(file, entries)
    return "tile/entries/000 holds 257 entries, not 256"


def reorder(folder):
    file = bundle(folder)
    entries = entries_of(file)
    entries[100], entries[101] = entries[101], entries[100]
    write_entries(file, entries)
    return "tile/entries/000: leaf 101: the entry of leaf 100 is there"


def change_a_tile(folder):
    file = folder / "tile" / "0" / "001"
    file.write_bytes(bytes(32) + file.read_bytes()[32:])
    return "tile/0/001 does not lead to what stands above it"


def change_the_edge(folder):
    file = folder / "tile" / "0" / "002.p" / "88"
    file.write_bytes(bytes(32) + file.read_bytes()[32:])
    return "the root that follows from the tiles is not that of the tree of 600 leaves of sabot.test/log, signed"


def lose_a_tile(folder):
    (folder / "tile" / "1" / "000.p" / "2").unlink()
    return "tile/1/000.p/2 is missing"


def lose_entries(folder):
    (folder / "tile" / "entries" / "001").unlink()
    return "tile/entries/001 is missing"


def lose_the_first_entries(folder):
    (folder / "tile" / "entries" / "000").unlink()
    return "tile/entries/000 is missing"


def lose_the_last_entries(folder):
    (folder / "tile" / "entries" / "002.p" / "88").unlink()
    return "tile/entries/002.p/88 is missing"


def lose_hashes_and_entries(folder):
    (folder / "tile" / "entries" / "000").unlink()
    (folder / "tile" / "0" / "000").unlink()
    return "tile/0/000 is missing"


def change_the_size(folder):
    file = folder / "checkpoint"
    file.write_text(file.read_text().replace("\n600\n", "\n599\n"))
    return "on the tree of 599 leaves is wrong"


@pytest.mark.parametrize(
    "tamper",
    sample(
        [
            *(
                flip,
                flip_an_event,
                change_a_salt,
                drop_an_event,
                drop,
                insert,
                reorder,
                change_a_tile,
                change_the_edge,
                change_the_size,
            ),
            *(lose_a_tile, lose_entries, lose_the_first_entries, lose_the_last_entries, lose_hashes_and_entries),
        ],
        2,
    ),
)
def test_what_was_done_to_an_export_is_found_and_named(whole, verify, tamper):
    due = tamper(whole)
    status, said = verify(whole)
    assert status == 1
    assert any(line.startswith("WRONG: ") and due in line for line in said.splitlines()), said


def too_long(name, most):
    def tamper(folder):
        (folder / name).write_bytes(b"x" * (most + 1))
        return f"{name} is longer than {most} bytes"

    return tamper


def cut(folder):
    file = bundle(folder, 2)
    file.write_bytes(file.read_bytes()[:-1])
    return "tile/entries/002.p/88 does not end where its last entry says that it ends"


def shorten_a_tile(folder):
    file = folder / "tile" / "1" / "000.p" / "2"
    file.write_bytes(file.read_bytes()[:40])
    return "tile/1/000.p/2 does not hold 2 hashes"


def put_in(folder):
    (folder / "tile" / "entries" / "007").write_bytes(b"")
    (folder / "\x1b[2J").write_bytes(b"")
    return "tile/entries/007 does not belong to such an export: nothing here proves it"


def write_no_text(folder):
    (folder / "checkpoint").write_bytes(b"\xff")
    return "'utf-8' codec can't decode byte 0xff"


def count_beyond_counting(folder):
    (folder / "checkpoint").write_text(f"x\n{'9' * 5000}\nAAAA\n\n— x AAAAAAAA\n")
    return "is no number of leaves"


def unpack_to_lines(folder):
    (folder / "personal").write_bytes(b"\n" * 1_000_000)
    return "personal: what comes after that line was not read"


def put_a_pipe(folder):
    """Replace a checkpoint with a named pipe without a writer; opening it blocks."""
    (folder / "checkpoints" / "10").unlink()
    os.mkfifo(folder / "checkpoints" / "10")
    (folder / "checkpoint").unlink()
    os.mkfifo(folder / "checkpoint")
    return "checkpoint is missing"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "tamper",
    sample(
        [
            *(
                too_long("checkpoint", 64 * 1024),
                too_long("tile/0/001", 8192),
                too_long("tile/entries/001", 256 * 65537),
            ),
            *(cut, shorten_a_tile, put_in, write_no_text, count_beyond_counting, unpack_to_lines, put_a_pipe),
        ],
        2,
    ),
)
def test_what_is_no_export_is_named_and_nothing_breaks(whole, verify, tamper):
    due = tamper(whole)
    status, said = verify(whole)
    assert status == 1
    assert any(line.startswith("WRONG: ") and due in line for line in said.splitlines()), said
    assert "\x1b" not in said


@pytest.mark.sweep
def test_a_signed_tree_of_more_leaves_than_anybody_could_count_is_wrong(whole, verify, pens):
    """The owner of the key can invent the right edge of the tree, and two tiles prove it."""
    root, size = bytes(range(32)), 256**7
    (whole / "checkpoint").write_text(pens.note(size, root))
    (whole / "tile" / "7" / "000.p").mkdir(parents=True)
    (whole / "tile" / "7" / "000.p" / "1").write_bytes(root)
    status, said = verify(whole)
    assert (status, "has more tiles above its leaves than there are files here" in said) == (1, True), said


class TestAZip:
    @pytest.fixture
    def packed(self, whole, tmp_path):
        """Return a function that packs an export again with other options."""

        def pack(compression=zipfile.ZIP_DEFLATED, *more):
            with zipfile.ZipFile(tmp_path / "again.zip", "w", compression) as archive:
                for file in sorted(whole.rglob("*")):
                    archive.write(file, file.relative_to(whole).as_posix())
                for name in more:
                    archive.writestr(name, b"")
            return tmp_path / "again.zip"

        return pack

    @pytest.mark.sweep
    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_with_two_files_of_a_name_is_wrong(self, whole, packed, verify):
        status, said = verify(packed(zipfile.ZIP_DEFLATED, "checkpoint"), program=whole / "verify.py")
        assert (status, "WRONG: checkpoint is in the ZIP more than once" in said) == (1, True), said

    @pytest.mark.sweep
    def test_that_is_packed_in_another_way_is_wrong(self, whole, packed, verify):
        status, said = verify(packed(zipfile.ZIP_LZMA), program=whole / "verify.py")
        assert (status, "WRONG: checkpoint is encrypted, or packed in another way" in said) == (1, True), said

    @pytest.mark.sweep
    def test_that_is_damaged_is_wrong(self, whole, packed, verify):
        file = packed()
        data = bytearray(file.read_bytes())
        at = data.index(b"checkpoint") + 40
        data[at : at + 20] = bytes(20)
        file.write_bytes(data)
        status, said = verify(file, program=whole / "verify.py")
        assert (status, "WRONG: " in said) == (1, True), said


def test_other_keys_are_found(whole, verify, tmp_path):
    (tmp_path / "others").write_text(Pens().keys)
    status, said = verify(whole, keys=tmp_path / "others")
    assert status == 1
    assert "WRONG: no key given for sabot.test/log has signed the tree of 600 leaves" in said


def test_an_older_state_and_another_history_are_found_by_a_checkpoint_that_was_kept(whole, verify, pens, tmp_path):
    (tmp_path / "newer").write_text(pens.note(700, bytes(32)))
    (tmp_path / "other").write_text(pens.note(300, bytes(32)))
    status, said = verify(whole, "--checkpoint", tmp_path / "newer", "--checkpoint", tmp_path / "other")
    assert status == 1
    assert "WRONG: the log was the tree of 700 leaves of sabot.test/log" in said
    assert "WRONG: the root that follows from the tiles is not that of the tree of 300 leaves" in said


@pytest.mark.sweep
def test_a_time_that_no_checkpoint_allows_is_found(whole, verify, pens):
    for size in (256, 300):
        root = (whole / "checkpoints" / str(size)).read_text().splitlines()[2]
        note = pens.note(size, base64.b64decode(root), 1_700_000_000)
        (whole / "checkpoints" / str(size)).write_text(note)
    status, said = verify(whole)
    assert status == 1
    assert "WRONG: events/000: leaf 10: it is dated 20" in said


@pytest.mark.sweep
@pytest.mark.parametrize("missing", sample(["export", "keys"], 1))
def test_what_cannot_be_read_is_said_to_be_so(whole, verify, tmp_path, missing):
    path = tmp_path / "nothing" if missing == "export" else whole
    keys = {"keys": tmp_path / "nothing"} if missing == "keys" else {}
    status, said = verify(path, program=whole / "verify.py", **keys)
    assert (status, said.startswith("Cannot be checked: ")) == (2, True)


class TestOneEvent:
    @pytest.fixture
    def proof(self, house, django_db_blocker, tmp_path):
        with django_db_blocker.unblock():
            data = exporting.export_event(Leaf.objects.get(leaf=299).event_id)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(tmp_path / "event")
        return tmp_path / "event"

    def test_proves_itself_with_a_bare_python(self, proof, verify):
        assert {each.name for each in proof.iterdir()} == {
            "event.json",
            "event.tlog-proof",
            "keys",
            "verify.py",
            "README.txt",
        }
        status, said = verify(proof)
        assert status == 0, said
        assert said.startswith("The event is leaf 299 of the tree of 600 leaves of sabot.test/log, signed at 20")

    def test_changed_is_found(self, proof, verify):
        (proof / "event.json").write_bytes((proof / "event.json").read_bytes().replace(b"player", b"plaver", 1))
        status, said = verify(proof)
        assert (status, "WRONG: leaf 299 is not proven by the tree of 600 leaves" in said) == (1, True)

    @pytest.mark.sweep
    def test_of_another_history_is_found_by_a_checkpoint_that_was_kept(self, proof, verify, pens, tmp_path):
        (tmp_path / "kept").write_text(pens.note(600, bytes(32)))
        status, said = verify(proof, "--checkpoint", tmp_path / "kept")
        assert (status, "which was kept, has another root" in said) == (1, True)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("old", "new"),
        sample([("index 299", "index 298"), ("c2sp.org/tlog-proof@v1", "x"), ("extra ", "extra AAAA")], 1),
    )
    def test_with_another_proof_is_not_proven(self, proof, verify, old, new):
        file = proof / "event.tlog-proof"
        file.write_text(file.read_text().replace(old, new, 1))
        assert verify(proof)[0] == 1

    def test_that_is_not_sealed_has_no_proof(self, house, django_db_blocker):
        with django_db_blocker.unblock(), pytest.raises(NotSealed):
            exporting.export_event(10**9)


class TestTheBackOffice:
    @pytest.fixture
    def auditor(self, house, django_db_blocker):
        """A compliance member in a copy of the house."""
        connections.close_all()  # so that the house can be copied
        with django_db_blocker.unblock(), databases.clone("office", like=house.name):
            visitor = a_visitor()
            visitor.force_login(a_member_of_staff("compliance").user)
            yield visitor

    @pytest.mark.sweep
    def test_links_the_proof_of_a_sealed_event_and_says_of_others_that_they_are_not(self, auditor):
        sealed_one = Leaf.objects.get(leaf=599).event
        shown = auditor.get(reverse("staff_events"), {"kind": sealed_one.kind}).content.decode()
        assert shown.count("not sealed yet") + shown.count(">Download</a>") == 50
        assert reverse("staff_event_proof", args=[sealed_one.pk]) in shown

    def test_gives_an_event_with_its_proof_and_records_whose_data_it_was(self, auditor):
        event = Leaf.objects.get(leaf=7).event_id
        answer = auditor.get(reverse("staff_event_proof", args=[event]))
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert b'"by":"player:7"' in archive.read("event.json")
        assert events("data.accessed")[-1]["data"]["players"] == ["player:7"]

    def test_has_no_proof_of_what_is_not_sealed(self, auditor):
        answer = auditor.get(reverse("staff_event_proof", args=[10**9]))
        assert (answer.status_code, answer["Location"]) == (302, reverse("staff_events"))

    def test_gives_the_log_or_a_part_and_records_that(self, auditor):
        answer = auditor.get(reverse("staff_log_export") + "?first=300&end=400")
        with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
            assert "tile/entries/001" in archive.namelist()
        event = events("log.exported")[-1]
        assert event["by"].startswith("staff:")
        assert event["data"] == {"first": 256, "end": 512, "size": 600, "personal": False}

    @pytest.mark.sweep
    @pytest.mark.parametrize("query", sample(["?first=600", "?first=5&end=5", "?first=x"], 1))
    def test_has_no_leaves_that_are_not_there(self, auditor, query):
        answer = auditor.get(reverse("staff_log_export") + query)
        assert (answer.status_code, answer["Location"]) == (302, reverse("staff_log"))
