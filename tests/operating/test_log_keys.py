"""The keys of the log are replaced while the log grows: the old keys sign, then both, then the new ones. Readers who
have either pair, or both, can verify it at every moment, with our programs and with others.
"""

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError

from audit import key_folder, log, tree
from audit.models import Checkpoint, Event, Leaf
from audit.sealing import sealer, signer
from audit.verification import verify
from audit.verification.checking import StoredTiles
from audit.verification.verify import LOG, Unproven, keys_of
from audit.verification.verify import Checkpoint as Signed
from examples import mirror_log
from tests.audit.go_program import build
from tests.harness.signer import NAME, signing
from tests.harness.sweeps import sample
from tests.operating.house import said

PROJECT = Path(__file__).resolve().parents[2]


def happens(times=3):
    for number in range(times):
        log.record("round.counted", by="player:7", on="round:7", data={"n": number})


@pytest.fixture
def folder(cloned_db, tmp_path, settings):
    """A house whose log was signed a few times by its first keys; gives the signer's folder."""
    folder = tmp_path / "signer"
    with signing(folder) as at:
        settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(at), (folder / "keys").read_text()
        for _ in range(2):
            happens()
            sealer.seal()
    return folder


def sealed(folder):
    """Start the signer, let something happen, and return the checkpoint over it."""
    with signing(folder):
        happens()
        size = sealer.seal()
        assert size.signed == size.size
    return last().note


def last():
    return Checkpoint.objects.latest("size")


def program(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "audit.sealing.signer", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


def verifies(note, keys):
    """Return whether both our program and the exported one accept the signatures; they must agree."""
    try:
        Signed.of(note, keys_of(keys))
        ours = True
    except Unproven:
        ours = False
    try:
        mirror_log.read_checkpoint(note, [key.vkey for key in keys_of(keys)])
        mirrored = True
    except mirror_log.Wrong:
        mirrored = False
    assert ours == mirrored
    return ours


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    return build(tmp_path_factory.mktemp("go"))


def by_go(go, folder, keys):
    """Return the findings of Go's note and tlog packages on the last checkpoint, older ones signed by *keys*,
    and the extension of the trees.
    """
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    (folder / "consistency").mkdir(exist_ok=True)
    (folder / "keys").write_text(keys)
    *older, last = Checkpoint.objects.order_by("size")
    (folder / "checkpoint").write_text(last.note)
    for each in older:
        if verifies(each.note, keys):
            (folder / "checkpoints" / str(each.size)).write_text(each.note)
            steps = tree.consistency_proof(StoredTiles(), each.size, last.size)
            (folder / "consistency" / str(each.size)).write_text(
                "".join(f"{b64encode(step).decode()}\n" for step in steps)
            )
    done = subprocess.run([go, folder], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines()


def test_the_log_goes_on_under_new_keys(folder, go, tmp_path, settings):
    old = (folder / "keys").read_text()
    made = program("--folder", str(folder), "--name", NAME, "--make-keys")
    new = "".join(f"{line}\n" for line in made.stdout.splitlines()[1:])
    assert [key.kind for key in keys_of(new)] == [key.kind for key in keys_of(old)]
    assert not set(new.splitlines()) & set(old.splitlines())
    both = f"{old}{new}"

    settings.AUDIT_KEYS = both.replace("\n", ",")
    with signing_without_new(folder):
        words = said("announce_keys")
        assert new.strip() in words
        sealer.seal()
    announced = Event.objects.get(kind="log.keys_announced")
    assert json.loads(bytes(announced.body))["data"] == {"keys": new.splitlines(), "signs": old.splitlines()}
    under_old = last()
    assert Leaf.objects.get(event=announced).leaf < under_old.size
    assert (verifies(under_old.note, old), verifies(under_old.note, new)) == (True, False)

    by_both = sealed(folder)
    assert all(verifies(by_both, keys) for keys in (old, new, both))
    assert (folder / "keys").read_text() == both
    lines = by_go(go, tmp_path / "go-both", both)
    assert lines[1] == "signatures 2"
    assert f"tree {under_old.size}" in lines
    assert by_go(go, tmp_path / "go-old", old)[1] == by_go(go, tmp_path / "go-new", new)[1] == "signatures 1"
    with pytest.raises(CommandError, match="AUDIT_KEYS names no key that does not sign already"):
        said("announce_keys")

    retired = program("--folder", str(folder), "--name", NAME, "--retire-keys")
    assert new in retired.stdout
    assert "PRIVATE" not in retired.stdout + made.stdout
    assert (folder / "keys").read_text() == new
    assert sorted(path.name for path in folder.glob("*.key")) == ["log.key", "time.key"]
    settings.AUDIT_KEYS = f"{new}{old}"
    by_new = sealed(folder)
    assert (verifies(by_new, old), verifies(by_new, new), verifies(by_new, both)) == (False, True, True)
    lines = by_go(go, tmp_path / "go-after", new)
    assert lines[1] == "signatures 1"
    assert any(line.startswith("tree ") for line in lines), "from the one that both have signed"
    assert "REFUSED checkpoint note has no verifiable signatures" in by_go(go, tmp_path / "go-late", old)[0]

    everything_verifies(folder, tmp_path, both)


def everything_verifies(folder, tmp_path, keys):
    """The house's own check with the signer's memory, and what an auditor is given."""
    file, export = tmp_path / "keys", tmp_path / "export.zip"
    file.write_text(keys)
    said("verify_house", f"--keys={file}", f"--signer={folder}")
    said("export_audit", str(export))
    for given, status in ((keys, 0), (keys.partition("\n")[0], 1)):
        file.write_text(given)
        done = subprocess.run(
            [sys.executable, "-I", verify.__file__, str(export), "--keys", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout


def signing_without_new(folder):
    """Return a signer that was running when the new keys were made, and has not read them."""
    aside = [path.rename(path.with_suffix(".aside")) for path in folder.glob("*.new.key")]
    works = signing(folder)
    works.__enter__()
    for path in aside:
        path.rename(path.with_suffix(".key"))

    class Closing:
        def __enter__(self):
            return None

        def __exit__(self, *error):
            works.__exit__(None, None, None)

    return Closing()


class TestTheSigner:
    @pytest.mark.sweep
    def test_makes_keys_once(self, folder):
        first, again = (program("--folder", str(folder), "--name", NAME, "--make-keys") for _ in range(2))
        assert first.stdout == again.stdout
        for path in folder.glob("*.new.key"):
            assert path.stat().st_mode & 0o077 == 0

    def test_makes_none_where_no_signer_has_worked(self, tmp_path):
        done = program("--folder", str(tmp_path), "--name", NAME, "--make-keys")
        assert done.returncode == 1
        assert "The keys stay as they are: no signer has worked in" in done.stderr
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.sweep
    def test_retires_none_while_it_works_or_without_new_ones(self, folder):
        retire = ("--folder", str(folder), "--name", NAME, "--retire-keys")
        assert "has no new keys" in program(*retire).stderr
        program(*retire[:-1], "--make-keys")
        with signing(folder):
            assert "another signer works in" in program(*retire).stderr

    def test_retires_none_before_the_new_ones_have_signed(self, folder):
        """A reader with only the new keys could not verify that the log is continued."""
        before = {path.name: path.read_text() for path in folder.glob("*.key")}
        program("--folder", str(folder), "--name", NAME, "--make-keys")
        done = program("--folder", str(folder), "--name", NAME, "--retire-keys")
        assert "the new keys have not signed the last checkpoint yet" in done.stderr
        assert {name: (folder / name).read_text() for name in before} == before

    @pytest.mark.parametrize("renamed", sample([0, 1, 2], 1))
    def test_goes_on_wherever_retiring_was_cut_short(self, folder, settings, renamed):
        old = (folder / "keys").read_text()
        signer.make_keys(folder, NAME)
        sealed(folder)
        new = "".join(f"{vkey}\n" for vkey in (folder / "keys").read_text().splitlines()[2:])
        settings.AUDIT_KEYS = f"{new}{old}"
        for name in ("log", "time")[:renamed]:
            os.replace(folder / f"{name}.new.key", folder / f"{name}.key")  # noqa: PTH105
        assert verifies(sealed(folder), new)  # it starts, and signs with what is there
        if renamed < 2:
            works = signer.Signer(folder, NAME)
            works.retire_keys()
            works.close()
        note = sealed(folder)
        assert (verifies(note, new), verifies(note, old)) == (True, False)
        assert (folder / "keys").read_text() == new

    def test_starts_with_no_new_key_of_another_name(self, folder):
        other = signer.Pen.of("other/log", LOG, Ed25519PrivateKey.generate())
        (folder / "log.new.key").write_text(other.text)
        (folder / "log.new.key").chmod(0o600)
        with pytest.raises(key_folder.CannotStart, match="sign as other/log, not as"):
            signer.Signer(folder, NAME)


def test_nothing_is_announced_by_a_house_whose_log_nobody_signs(cloned_db, settings):
    settings.AUDIT_KEYS = ""
    with pytest.raises(CommandError, match="No key of AUDIT_KEYS has signed a checkpoint"):
        said("announce_keys")
