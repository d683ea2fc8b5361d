"""Evidence outside the database reveals changes by its owner: stored checkpoints and the signer's
memory.
"""

import re
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.models import Checkpoint, VerificationFinding
from audit.sealing import sealer
from ops.embedded import binaries
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness import databases
from tests.harness.sweeps import sample


@pytest.mark.sweep
def test_what_was_compared_is_said(house, check, pens, tmp_path):
    note = Checkpoint.objects.get(size=600).note
    remember(tmp_path, note)
    out = StringIO()
    outside = ("--signer", str(tmp_path), "--checkpoint", str(tmp_path / "latest"))
    call_command("verify_house", "--keys", str(tmp_path / "keys"), "--from-leaf", "300", *outside, stdout=out)
    assert out.getvalue() == (
        "The log is verified: 344 of 600 leaves hashed, 600 of them covered by 4 checkpoints,"
        " with the signer's memory, with 1 checkpoints kept outside.\n"
    )


def remember(folder, note, history=None):
    """Write the memory of a signer, by default from all checkpoints of the database."""
    lines = [f"{each.size} {each.note.splitlines()[2]} 1795348800" for each in Checkpoint.objects.order_by("size")]
    (folder / "latest").write_text(note)
    text = "".join(f"{line}\n" for line in lines) if history is None else history
    (folder / "history").write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("arguments", "why"),
    sample(
        [
            (["--from-leaf", "600"], "there is no leaf 600 among 600"),
            (["--from-leaf", "1000000"], "there is no leaf 1000000 among 600"),
            (["--from-leaf", "-1"], "there is no leaf -1 among 600"),
            (["--signer", "/nonexistent"], "No such file or directory"),
            (["--signer", "/proc/1/root"], "Permission denied|No such file"),
            (["--signer", "/dev/null"], "Not a directory"),
        ],
        1,
    ),
)
def test_what_cannot_be_compared_ends_with_words(house, check, tmp_path, arguments, why):
    with pytest.raises(CommandError, match=f"Verification failed to start: .*({why})") as stopped:
        call_command("verify_house", "--keys", str(tmp_path / "keys"), *arguments)
    assert stopped.value.returncode == 2


class TestTheMemoryOfTheSigner:
    """The memory is compared with the checkpoints of the database in both directions."""

    @pytest.fixture
    def note(self):
        return lambda: Checkpoint.objects.get(size=600).note

    @pytest.fixture
    def lines(self):
        return lambda: [f"{each.size} {each.note.splitlines()[2]} 17" for each in Checkpoint.objects.order_by("size")]

    @pytest.mark.sweep
    def test_misses_a_checkpoint_that_was_taken_out(self, tamper, check, tmp_path, note):
        remember(tmp_path, note())
        tamper.execute("DELETE FROM audit_checkpoint WHERE size = 300")
        (finding,) = check("--signer", tmp_path)
        assert (
            finding == "leaf 299: the signer's history of 300 leaves is in no checkpoint; its checkpoint was removed."
        )

    @pytest.mark.sweep
    def test_may_be_one_ahead_of_the_database(self, tamper, check, tmp_path, note):
        remember(tmp_path, note())
        tamper.execute("DELETE FROM audit_checkpoint WHERE size = 600")
        assert check("--signer", tmp_path) == []

    @pytest.mark.sweep
    @pytest.mark.parametrize("end", sample([0, 2, 3], 1))
    def test_that_was_shortened_is_found(self, house, check, tmp_path, note, lines, end):
        remember(tmp_path, note(), "".join(f"{line}\n" for line in lines()[:end]))
        findings = check("--signer", tmp_path)
        assert findings[0].endswith("leaves is not in the signer's history; the history was shortened.")
        assert findings[-1].startswith("latest of the signer covers 600 leaves; its history ends ")

    @pytest.mark.sweep
    def test_whose_last_tree_is_gone_is_found(self, house, check, tmp_path):
        remember(tmp_path, "")
        assert check("--signer", tmp_path) == ["latest of the signer is empty; its history ends with 600 leaves."]

    @pytest.mark.sweep
    @pytest.mark.parametrize("bad", sample([b"\0\0\0", b"300 \xff\xfe 17", b"300", b"3 x 1", b"9" * 5000, b""], 1))
    def test_with_a_line_that_cannot_be_read_is_found(self, house, check, tmp_path, note, lines, bad):
        history = [line.encode() for line in lines()]
        remember(tmp_path, note(), b"\n".join([*history[:3], bad, history[3], b""]))
        (finding,) = check("--signer", tmp_path)
        assert finding.startswith("line 4 of the signer's history is b'")

    @pytest.mark.sweep
    def test_with_a_line_that_was_broken_off_and_written_again_passes(self, house, check, tmp_path, note, lines):
        history = [line.encode() for line in lines()]
        remember(tmp_path, note(), b"\n".join([*history[:3], history[3][:20], history[3], b""]))
        assert check("--signer", tmp_path) == []
        remember(tmp_path, note(), b"\n".join([*history[:3], history[3], history[3][:20]]))
        assert check("--signer", tmp_path) == []


def fork(tamper, by=None):
    """Write another history from leaf 299 on: event, tiles and, if signed, a checkpoint."""
    tamper.execute(
        "UPDATE audit_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE id = %s", [sealed.event_of(299)]
    )
    tamper.execute("DELETE FROM audit_tile")
    tamper.execute("DELETE FROM audit_checkpoint WHERE size > 256")
    return sealed.sign(by) if by else sealer.seal()


TWO_HISTORIES = (
    r"leaf 599: the root over 600 leaves is \w{64}; the checkpoint of 600 leaves has \w{64}: there are two histories\."
)


def test_a_fork_that_nobody_signed_is_found_by_the_checkpoints(tamper, check):
    note = Checkpoint.objects.get(size=600)
    fork(tamper)
    note.save(force_insert=True)
    (finding,) = check()
    assert re.fullmatch(TWO_HISTORIES, finding)


@pytest.mark.sweep
def test_a_fork_without_checkpoints_is_found_by_the_memory_of_the_signer(tamper, check, tmp_path):
    remember(tmp_path, Checkpoint.objects.get(size=600).note)
    fork(tamper)
    assert check() == []
    history, again, taken, latest = check("--signer", tmp_path)
    assert re.search(r"leaf 299: .* the signer's history of 300 leaves has \w{64}: there are two histories", history)
    assert re.search(r"leaf 599: .* the signer's history of 600 leaves has \w{64}: there are two histories", again)
    assert taken.startswith("leaf 299: the signer's history of 300 leaves is in no checkpoint;")
    assert re.search(r"latest of the signer has \w{64}: there are two histories", latest)


def test_a_fork_signed_by_another_key_is_found(tamper, pens, check):
    other = Pens()
    fork(tamper, by=other)
    (finding,) = check()
    assert finding.startswith(
        "leaf 606: the checkpoint of 607 leaves is not signed correctly:"
        " no key given for sabot.test/log has signed the tree of 607 leaves; it is signed by sabot.test/log ("
    )


def test_gli19_b_6_5_a_fork_signed_with_the_stolen_key_is_found_by_a_checkpoint_kept_outside(
    tamper, pens, check, tmp_path
):
    kept = tmp_path / "kept"
    kept.write_text(Checkpoint.objects.get(size=300).note)
    fork(tamper, by=pens)
    assert check() == []
    (finding,) = check("--checkpoint", kept)
    assert not VerificationFinding.objects.exists()  # it might have been the wrong file
    assert re.fullmatch(
        rf"leaf 299: the root over 300 leaves is \w{{64}}; {kept} has \w{{64}}: there are two histories\.", finding
    )


def test_an_old_dump_is_found_by_the_memory_of_the_signer_and_by_a_checkpoint_kept_outside(
    house, pens, check, tmp_path
):
    """PostgreSQL's programs dump the house, which continues and is signed; then the dump is
    restored.
    """
    ours(*("pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}"), f"--dbname={house.owner_url}")
    note = sealed.sign(pens)
    remember(tmp_path, note)
    assert check("--signer", tmp_path, "--checkpoint", tmp_path / "latest") == []
    with databases.empty("restored") as restored:
        ours("pg_restore", "--exit-on-error", f"--dbname={restored.owner_url}", tmp_path / "dump")
        findings = check("--signer", tmp_path, "--checkpoint", tmp_path / "latest")
        assert check() == []  # in itself it is consistent
        sealed.an_event(1)
        assert sealer.seal().size == 608  # waiting events were kept, and the house continues
    older = "the log is an older copy, or leaves were removed from its end."
    assert findings == [
        f"leaf 600: the log has 600 leaves, but {name} covers 607; {older}"
        for name in ("the signer's history of 607 leaves", "latest of the signer", tmp_path / "latest")
    ]


def ours(program: str, *arguments: str | Path) -> None:
    """Run one of PostgreSQL's client programs."""
    subprocess.run([binaries.client(program), *arguments], check=True, capture_output=True, text=True, timeout=100)
