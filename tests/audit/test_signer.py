"""The signer only ever signs extensions of the last tree that it signed."""

import base64
import errno
import grp
import os
import socket
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from audit import key_folder, tree
from audit.sealing import signer, signing
from audit.verification.verify import EMPTY, LOG, Tree, leaf_hash
from tests.audit.test_tree import RetainedData
from tests.harness.signer import NAME
from tests.harness.signer import signing as signing_in

PROJECT = Path(__file__).resolve().parents[2]
LEAVES = [leaf_hash(str(number).encode()) for number in range(300)]


@pytest.fixture(scope="module")
def tiles() -> RetainedData:
    kept = RetainedData()
    kept.grow(0, LEAVES)
    return kept


@pytest.fixture(scope="module")
def fork() -> RetainedData:
    """Another log with the same first 100 leaves."""
    kept = RetainedData()
    kept.grow(0, [*LEAVES[:100], *map(leaf_hash, LEAVES[100:])])
    return kept


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "signer"


def of(tiles: RetainedData, size: int, origin: str = NAME) -> Tree:
    return Tree(origin, size, tree.root(tiles, size))


def ask(at: Path, tiles: RetainedData, size: int, old: int, proof: list[bytes] | None = None) -> str:
    right = tree.consistency_proof(tiles, min(old, size), size)
    return signing.sign(at, of(tiles, size), old=old, proof=right if proof is None else proof)


def raw(at: Path, question: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as line, key_folder.short(at) as name:
        line.connect(name)
        line.sendall(question)
        line.shutdown(socket.SHUT_WR)
        return line.makefile("rb").read()


def public_keys(folder: Path) -> list[tuple[bytes, Ed25519PublicKey]]:
    """Return hash and key of each line of ``keys``, by the format of C2SP signed-note."""
    found = []
    for kind, line in zip((1, 4), (folder / "keys").read_text().splitlines(), strict=True):
        name, known, coded = line.split("+", 2)
        data = base64.b64decode(coded)
        assert name == NAME
        assert data[0] == kind
        assert sha256(name.encode() + b"\n" + data).digest()[:4].hex() == known
        found.append((bytes.fromhex(known), Ed25519PublicKey.from_public_bytes(data[1:])))
    return found


def test_a_tree_gets_the_log_s_signature_and_one_with_the_time(folder, tiles):
    with signing_in(folder) as at:
        before = int(time.time())
        note = ask(at, tiles, 7, 0)
    body = of(tiles, 7).body
    text, _, lines = note.partition("\n\n")
    assert f"{text}\n" == body
    (log_hash, log), (time_hash, clock) = public_keys(folder)
    by_log, by_clock = (
        base64.b64decode(line.removeprefix(f"— {NAME} ")) for line in lines.removesuffix("\n").split("\n")
    )
    assert by_log[:4] == log_hash
    log.verify(by_log[4:], body.encode())
    assert by_clock[:4] == time_hash
    at_time = int.from_bytes(by_clock[4:12], "big")
    assert before <= at_time <= time.time()
    clock.verify(by_clock[12:], f"cosignature/v1\ntime {at_time}\n{body}".encode())


def test_every_tree_that_extends_the_last_is_signed(folder, tiles):
    with signing_in(folder) as at:
        for old, size in [(0, 1), (1, 1), (1, 2), (2, 255), (255, 256), (256, 257), (257, 300), (300, 300)]:
            assert ask(at, tiles, size, old).startswith(of(tiles, size).body)
    history = [line.split() for line in (folder / "history").read_text().splitlines()]
    assert [int(size) for size, _, _ in history] == [1, 1, 2, 255, 256, 257, 300, 300]
    assert history[-1][1] == base64.b64encode(tree.root(tiles, 300)).decode()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"size": 99, "old": 200}, "a tree of 99 leaves does not extend the one of 200|does not extend one of 200"),
        ({"size": 300, "proof": []}, "nothing shows that the tree of 300 leaves extends the one of 200"),
        ({"size": 300, "proof": [EMPTY] * 9}, "does not extend the one of 200|too long"),
        ({"size": 300, "proof": [b"short"]}, "is not 32 bytes"),
    ],
)
def test_what_does_not_extend_it_is_refused_with_the_reason(folder, tiles, changes, why):
    with signing_in(folder) as at:
        ask(at, tiles, 200, 0)
        with pytest.raises(signing.SignerRefused, match=why):
            ask(at, tiles, **{"old": 200} | changes)
        ask(at, tiles, 300, 200)


@pytest.mark.parametrize("size", [200, 201, 300])
def test_a_fork_is_refused_whatever_proof_it_brings(folder, tiles, fork, size):
    with signing_in(folder) as at:
        ask(at, tiles, 200, 0)
        with pytest.raises(signing.SignerRefused, match=r"does not extend the one of 200|two different trees of 200"):
            ask(at, fork, size, 200)


def test_a_prover_from_another_tree_is_sent_the_last_one(folder, tiles):
    with signing_in(folder) as at:
        ask(at, tiles, 200, 0)
        for old in (0, 100, 300):
            with pytest.raises(signing.AnotherTreeWasLast) as shown:
                ask(at, tiles, 300, old)
            assert shown.value.size == 200
            assert shown.value.note.startswith(of(tiles, 200).body)
    with signing_in(folder) as at:  # a restarted signer remembers
        assert signing.last(at) == 200
        assert raw(at, b"last").decode() == f"last 200\n\n{(folder / 'latest').read_text()}"


def test_before_it_has_signed_the_last_tree_is_an_empty_one(folder):
    with signing_in(folder) as at:
        assert signing.last(at) == 0


@pytest.mark.parametrize("answer", [b"", b"last", b"last x\n\n", b"last " + b"9" * 5000, b"refused\n", b"\xff"])
def test_an_invalid_answer_is_rejected(tmp_path, answer):
    def reply() -> None:
        asker, _ = listening.accept()
        with asker:
            asker.recv(100)
            asker.sendall(answer)

    with key_folder.listen(tmp_path / "socket") as listening:
        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(signing.SignerAway):
            signing.last(tmp_path / "socket")
        thread.join()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (b"", b"refused this is no question\n"),
        (b"\xff\xfe", b"refused this is no question\n"),
        (b"old 0\n", b"refused this is no question\n"),
        (b"new 0\n\n%s", b"refused this is no question\n"),
        (b"old -1\n\n%s", b"refused this is no question\n"),
        (b"old " + b"9" * 5000 + b"\n\n%s", b"refused this is no question\n"),
        (b"old 0\n\nhello", b"refused a checkpoint has an origin, a size and a root, a line each\n"),
        (b"old 0\n\n%sextension\n", b"refused a checkpoint here has three lines\n"),
        (b"old 0\n\nother.%s", b"refused 'other.test.example/log' is another log than 'test.example/log'\n"),
        (b"old 0\n?\n\n%s", b"refused '?' is no base64\n"),
        (b"x" * 8192, b"refused this is no question\n"),
        (b"x" * 8193, b"refused longer than 8192 bytes\n"),
    ],
    ids=lambda text: text[:30].decode(errors="replace").strip(),
)
def test_junk_is_refused(folder, tiles, question, answer):
    body = of(tiles, 3).body.encode()
    with signing_in(folder) as at:
        assert raw(at, question.replace(b"%s", body)) == answer
        assert raw(at, b"old 0\n\n" + Tree(NAME, 0, EMPTY).body.encode()) == b"refused there are no leaves\n"
        ask(at, tiles, 3, 0)


def test_a_tree_that_grows_beyond_reason_is_refused(folder, tiles):
    """It could not be extended, and would be the last tree of this log."""
    works = signer.Signer(folder, NAME, most=100)
    for size, answer in [
        (101, b"refused 101 leaves more than the last tree has; 100 are the most"),
        (100, b"\xe2\x80\x94"),
    ]:
        assert works.answer(f"old 0\n\n{of(tiles, size).body}".encode()).startswith(answer)
    works.close()


def test_a_time_before_the_last_signature_s_is_refused_after_another_start_too(folder, tiles, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    with signing_in(folder) as at:
        ask(at, tiles, 100, 0)
    monkeypatch.setattr(time, "time", lambda: 1_999_999_999.0)
    with signing_in(folder) as at:
        with pytest.raises(
            signing.SignerRefused, match="clock says 1999999999, and the last signature is of 2000000000"
        ):
            ask(at, tiles, 200, 100)
        monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
        ask(at, tiles, 200, 100)


def test_without_a_file_to_answer_with_it_waits_and_goes_on(folder, tiles, monkeypatch, capsys):
    """It waits until a file descriptor is free, and does not exit."""
    works, listening = signer.Signer(folder, NAME), key_folder.listen(folder / "socket")

    class Scarce:
        """A socket without a free file descriptor for the first clients."""

        left = 2

        def accept(self) -> tuple[socket.socket, object]:
            if self.left:
                self.left -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            return listening.accept()

    monkeypatch.setattr(signer, "PAUSE", 0)
    thread = threading.Thread(target=signer.serve, args=(Scarce(), works), daemon=True)
    thread.start()
    ask(folder / "socket", tiles, 3, 0)
    listening.shutdown(2)
    listening.close()
    thread.join()
    works.close()
    assert capsys.readouterr().err.count("Too many open files") == 2


def test_two_who_ask_at_once_get_one_history(folder, tiles, fork):
    """One of two different trees of every size is signed, and the other is refused."""
    got: list[str] = []

    def go_on(log: RetainedData) -> None:
        for size in range(101, 140):
            try:
                got.append(ask(at, log, size, size - 1))
            except (signing.SignerRefused, signing.AnotherTreeWasLast):
                return

    with signing_in(folder) as at:
        ask(at, tiles, 100, 0)
        both = [threading.Thread(target=go_on, args=(log,)) for log in (tiles, fork)]
        for each in both:
            each.start()
        for each in both:
            each.join()
    sizes = [Tree.of(note.partition("\n\n")[0] + "\n").size for note in got]
    assert sizes == list(range(101, 140))


def test_somebody_who_never_ends_a_question_does_not_keep_others_from_asking(folder, tiles, monkeypatch):
    monkeypatch.setattr(signer, "SECONDS", 0.05)
    with signing_in(folder) as at, socket.socket(socket.AF_UNIX) as line, key_folder.short(at) as name:
        line.connect(name)
        line.sendall(b"old 0")
        ask(at, tiles, 3, 0)


def test_nobody_is_there_to_ask(tmp_path):
    for at in (tmp_path / "socket", tmp_path / "none" / "socket"):
        with pytest.raises(signing.SignerAway):
            signing.sign(at, Tree(NAME, 1, EMPTY), old=0, proof=[])


class TestItsMemory:
    def test_lasts_longer_than_the_process(self, folder, tiles, fork):
        with signing_in(folder) as at:
            ask(at, tiles, 200, 0)
        keys = (folder / "keys").read_text()
        with signing_in(folder) as at:
            assert (folder / "keys").read_text() == keys
            with pytest.raises(signing.SignerRefused):
                ask(at, fork, 300, 200)
            ask(at, tiles, 300, 200)

    def test_is_written_before_the_answer_goes_out(self, folder, tiles):
        """Killed between the two, it knows afterwards what it signed."""
        works = signer.Signer(folder, NAME)
        question = f"old 0\n\n{of(tiles, 5).body}".encode()
        (folder / "history").unlink()
        (folder / "history").mkdir()  # so that the second write fails
        with pytest.raises(IsADirectoryError):
            works.answer(question)
        works.close()
        (folder / "history").rmdir()
        (folder / "history").touch()
        with signing_in(folder) as at:
            assert (folder / "history").read_text().startswith("5 ")
            with pytest.raises(signing.AnotherTreeWasLast):
                ask(at, tiles, 6, 0)
            ask(at, tiles, 5, 5)  # the answer that was lost

    def test_is_in_a_folder_that_nobody_else_opens_without_incomplete_files(self, folder):
        signer.Signer(folder, NAME).close()
        (folder / "latest.0123456789abcdef").write_text("half")
        (folder / "mine.0123456789abcdef").write_text("whole")
        signer.Signer(folder, NAME).close()
        assert [path.name for path in folder.glob("*.0123456789abcdef")] == ["mine.0123456789abcdef"]
        folder.chmod(0o750)
        with pytest.raises(key_folder.CannotStart, match="others than its owner may open"):
            signer.Signer(folder, NAME)

    def test_goes_on_after_half_a_line(self, folder, tiles):
        with signing_in(folder) as at:
            ask(at, tiles, 200, 0)
            ask(at, tiles, 201, 200)
        whole = (folder / "history").read_text()
        (folder / "history").write_text(whole[:-50])
        with signing_in(folder):
            history = (folder / "history").read_text().splitlines()
        assert [line.split()[0] for line in history] == ["200", "201", "201"]
        assert history[-1].split()[:2] == whole.splitlines()[-1].split()[:2]

    @pytest.mark.parametrize(
        ("damage", "why"),
        [
            (lambda folder: (folder / "latest").unlink(), "has keys, but no memory of what they signed"),
            (lambda folder: (folder / "latest").write_text(""), "has lost the last checkpoint, of 201 leaves"),
            (
                lambda folder: (folder / "latest").write_text("x"),
                "the last checkpoint in .* is not one: a signed note is",
            ),
            (
                lambda folder: (folder / "latest").write_text((folder / "latest").read_text().replace("201", "100")),
                "the last checkpoint in .* is not one: the signature of .* is wrong",
            ),
            (
                lambda folder: (folder / "latest").write_text((folder / "kept").read_text()),
                "has an old checkpoint as its last: one of 201 leaves was signed",
            ),
            (lambda folder: (folder / "log.key").unlink(), "has signed, and its keys are gone"),
            (lambda folder: (folder / "time.key").unlink(), "has signed, and its keys are gone"),
            (lambda folder: (folder / "log.key").chmod(0o640), "others than its owner may read"),
            (lambda folder: (folder / "log.key").write_text("x"), "a key is no key"),
            (lambda folder: (folder / "log.key").write_bytes(b"\xff"), "a file in .* is damaged: .*can't decode"),
            (lambda folder: (folder / "latest").write_bytes(b"\xff"), "a file in .* is damaged: .*can't decode"),
            (lambda folder: (folder / "history").write_text("many\n"), "a file in .* is damaged: invalid literal"),
            (
                lambda folder: (folder / "log.key").write_text(
                    signer.Pen.of(NAME, LOG, Ed25519PrivateKey.generate()).text
                ),
                "the last checkpoint in .* is not one: no key given .* has signed",
            ),
            (
                lambda folder: (folder / "log.key").write_text((folder / "time.key").read_text()),
                "the keys in .* sign as",
            ),
        ],
    )
    def test_is_not_begun_again(self, folder, tiles, damage, why):
        with signing_in(folder) as at:
            ask(at, tiles, 200, 0)
            (folder / "kept").write_text((folder / "latest").read_text())
            ask(at, tiles, 201, 200)
        damage(folder)
        with pytest.raises(key_folder.CannotStart, match=why):
            signer.Signer(folder, NAME)

    def test_belongs_to_one_name_and_one_process(self, folder):
        with signing_in(folder), pytest.raises(key_folder.CannotStart, match="another signer works in"):
            signer.Signer(folder, NAME)
        with pytest.raises(key_folder.CannotStart, match=r"sign as test\.example/log, not as other/log"):
            signer.Signer(folder, "other/log")
        for name in ("", "two words", "a+b"):
            with pytest.raises(key_folder.CannotStart, match="is no name"):
                signer.Signer(folder, name)

    @pytest.mark.parametrize("made", ["history", "latest", "log.key"])
    def test_a_first_start_that_was_broken_off_goes_on(self, folder, tiles, made):
        signer.Signer(folder, NAME).close()
        order = ["history", "latest", "log.key", "time.key", "keys"]
        for file in order[order.index(made) + 1 :]:
            (folder / file).unlink()
        with signing_in(folder) as at:
            ask(at, tiles, 3, 0)


def test_as_a_program_it_has_neither_django_nor_others_let_in(folder, tiles):
    socket_at = folder / ("deep" * 30) / "socket"  # longer than the limit of a unix socket's path
    program = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "audit.sealing.signer",
        "--folder",
        str(folder),
        "--name",
        NAME,
    ]
    with subprocess.Popen(
        [*program, "--socket", str(socket_at)], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        try:
            assert process.stdout.readline() == f"Signing as {NAME} at {socket_at}\n"
            assert socket_at.stat().st_mode & 0o777 == 0o600
            modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir() if file.is_file()}
            assert modes == dict.fromkeys(("history", "keys", "latest", "lock", "log.key", "time.key"), 0o600)
            ask(socket_at, tiles, 9, 0)
            second = subprocess.run(
                [*program, "--socket", str(socket_at)], cwd=PROJECT, capture_output=True, text=True, timeout=60
            )
            assert second.returncode == 1
            assert f"The signer does not start: another signer works in {folder}" in second.stderr
            ask(socket_at, tiles, 10, 9)
        finally:
            process.kill()
            imported = process.stderr.read()
    for name in ("django", "psycopg", "celery", "casino"):
        assert f" {name}" not in imported
    assert " audit.verification.verify" in imported


def test_with_a_group_its_members_may_ask(folder):
    group = os.getgid()
    with key_folder.listen(folder / "socket", grp.getgrgid(group).gr_name):
        status = (folder / "socket").stat()
        assert (status.st_mode & 0o777, status.st_gid) == (0o660, group)
