"""An older copy is put in place, and what was signed after it is lost: its log has ended, and another one begins with
what the copy holds. A person who kept a checkpoint of the old one sees where it ended.
"""

import pytest
from django.core.management import CommandError

from audit import log
from audit.models import Checkpoint
from audit.sealing import sealer
from tests.harness import databases
from tests.harness.signer import signing
from tests.operating.house import backed_up, said
from tests.people import events

NAME = "test.example/log-2"


@pytest.fixture
def lost(cloned_db, signed, tmp_path):
    """A house that was backed up, continued, and is lost; gives the backup."""
    for number in range(3):
        an_event(number)
    sealer.seal()
    file = backed_up(tmp_path / "house.dump")
    for number in range(3, 6):
        an_event(number)
    assert sealer.seal() == sealer.Sealed(7, 7)  # with that of the backup
    (tmp_path / "kept").write_text(Checkpoint.objects.latest("size").note)
    return file


def an_event(number):
    log.record("round.counted", by="player:7", on="round:7", data={"n": number})


def test_gli19_b_3_6_an_older_copy_is_reported_at_once_and_missing_entries_are_counted(lost):
    with databases.empty("older"):
        words = said("restore", str(lost))
        assert "The signer has signed 7 events and the backup holds 3: the log with this name has ended" in words
        sealer.check_signer()
        assert events("log.refused")


@pytest.mark.sweep
def test_another_log_begins_with_what_the_copy_holds(lost, signed, settings, tmp_path):
    before = (signed / "keys").read_text()
    folder = tmp_path / "signer-2"
    with databases.empty("older"), signing(folder, NAME) as socket:
        settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(socket), f"{(folder / 'keys').read_text()}{before}"
        said("restore", str(lost))
        size = sealer.seal().signed
        assert size > 3
        assert Checkpoint.objects.latest("size").note.startswith(f"{NAME}\n{size}\n")
        keys = tmp_path / "both"
        keys.write_text(settings.AUDIT_KEYS)
        said("verify_house", "--keys", str(keys), "--signer", str(folder))
        with pytest.raises(CommandError, match="The log failed verification: 1 findings"):
            said("verify_house", "--keys", str(keys), "--checkpoint", str(tmp_path / "kept"))
