"""The running code is recorded and compared with the signed release."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command

from audit.models import Significant, Weight
from audit.sealing.signer import Pen
from audit.verification.verify import LOG
from ops.program import DIFFERS, FILE, FOLDERS, SCHEMA, Program, hashed, manifest, verify
from tests.audit.test_significant_finding import find
from tests.harness.product import PROJECT
from tests.people import events
from tools.make_release import NAME, release

PEN = Pen.of(NAME, LOG, Ed25519PrivateKey.generate())


@pytest.fixture
def house(tmp_path: Path, settings, cloned_db) -> Path:
    """The folder of a small released house: a program of two files, and the real schema."""
    (tmp_path / "wallet").mkdir()
    (tmp_path / "wallet" / "pay.py").write_text("rate = 2\n")
    (tmp_path / SCHEMA).write_bytes((PROJECT / SCHEMA).read_bytes())
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "9.9"\n')
    (tmp_path / FILE).write_text(release(tmp_path, PEN))
    settings.BASE_DIR, settings.RELEASE_SIGNER = tmp_path, PEN.key.vkey
    return tmp_path


def test_gli19_2_3_3_a_release_lists_every_file_of_the_program_as_sha256sum_reads_them():
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=PROJECT, capture_output=True, text=True, check=True)
    files = dict(hashed(PROJECT))
    assert set(listed.stdout.splitlines()) <= set(files)
    subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet"], cwd=PROJECT, input=manifest(files), text=True, check=True
    )


def test_gli19_2_3_2_a_released_house_is_on_record_and_differs_in_nothing(house):
    assert verify("worker") == []
    (event,) = events("program.verified", on="program")
    program = Program.here(house)
    assert event["data"]["release"] == "Sabot 9.9"
    assert (event["data"]["code"], event["data"]["schema"]) == (program.code, program.schema_digest)
    assert not events(DIFFERS, on="program")


def test_gli19_2_3_2_each_difference_is_named_and_is_a_significant_event(house, owner):
    (house / "wallet" / "pay.py").write_text("rate = 3\n")
    (house / "wallet" / "more.py").write_text("")
    owner.execute("ALTER TABLE wallet_entry DISABLE TRIGGER wallet_entry_is_kept")
    found = verify("web")
    assert found[:2] == ["wallet/more.py: not of the release", "wallet/pay.py: changed"]
    assert [line.partition(" by ")[0] for line in found[2:]] == ["trigger wallet_entry_is_kept on wallet_entry"]
    (event,) = events(DIFFERS, on="program")
    assert event["data"]["first"] == found
    find()
    assert Significant.objects.filter(title="Program differs from the release", weight=Weight.ALERT).count() == 1


@pytest.mark.parametrize("fault", ["unsigned", "by another", "of other files", "gone", "another schema"])
def test_a_release_that_proves_nothing_is_a_difference(house, fault, settings):
    path = house / FILE
    match fault:
        case "unsigned":
            path.write_text(path.read_text().rpartition("\n\n")[0])
        case "by another":
            path.write_text(release(house, Pen.of(NAME, LOG, Ed25519PrivateKey.generate())))
        case "of other files":
            path.write_text(path.read_text().replace("pay.py", "pry.py"))
        case "gone":
            path.unlink()
        case "another schema":
            (house / SCHEMA).write_text("")
    assert len(verify("worker")) == 1
    assert len(events(DIFFERS, on="program")) == 1


def test_gli19_b_8_2_a_checkout_is_on_record_without_a_release(cloned_db, settings):
    settings.RELEASE_SIGNER = ""
    with pytest.raises(SystemExit, match="0"):
        call_command("verify_program")
    (event,) = events("program.verified", on="program")
    assert event["data"]["release"] == "no release"
