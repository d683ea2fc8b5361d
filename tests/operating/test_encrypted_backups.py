"""A backup is encrypted on its way to the disk: a thief cannot read it, and the holder of the key can restore it."""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

import pyrage
import pytest
from django.core.management import CommandError
from django.db import connection
from pyrage.x25519 import Identity

from ops.backup import copies, pg_tools
from ops.backup.pg_tools import CannotRead
from tests.builders import a_player, a_round, a_table
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.operating import age
from tests.operating.house import MONEY, backed_up, said
from tests.people import events
from wallet.invariants import verify

EMAIL = "somebody.to.be.found@example.com"


@pytest.fixture
def house(cloned_db):
    """A round was played in it, by somebody with a name."""
    player = a_player(real=MONEY)
    player.user.email = EMAIL
    player.user.save(update_fields=["email"])
    a_round(player, a_table(), player=1_000)
    return cloned_db


@pytest.fixture
def keys(settings):
    """The keys of two people who may restore the house."""
    keys = [Identity.generate(), Identity.generate()]
    settings.BACKUP_RECIPIENTS = [str(each.to_public()) for each in keys]
    return keys


@pytest.fixture
def file(tmp_path):
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "house.dump.age"


@pytest.fixture
def identity(tmp_path, keys):
    """The file that age-keygen writes."""
    path = tmp_path / "identity"
    path.write_text(f"# created: 2026-11-23T12:00:00Z\n# public key: {keys[1].to_public()}\n{keys[1]}\n")
    return path


def refusal(*command):
    with pytest.raises(CommandError) as refused:
        said(*command)
    return str(refused.value)


def refused_restore(file, *options):
    """Try to restore it into an empty database, check that the database stays empty, and return the reason."""
    with databases.empty("nothing"):
        words = refusal("restore", str(file), *options)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
            assert cursor.fetchone() == (0,)
    assert words.startswith("Nothing was restored. ")
    return words.removeprefix("Nothing was restored. ")


def summed(file):
    """Write a new checksum, as a person who changed the file can."""
    copies.checksum_of(file).write_text(f"{copies.digest(file)}  {file.name}\n")
    return file


class TestTakingOne:
    @pytest.mark.sweep
    def test_it_says_for_how_many_keys_and_the_log_knows_the_encrypted_file(self, house, keys, file):
        words = said("back_up", str(file))
        assert "Encrypted. It can be opened with any one of 2 secret keys." in words
        (taken,) = events("house.backed_up")
        content = file.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        assert taken["data"] == {"bytes": len(content), "leaves": 0, "sha256": sha256}
        assert copies.checksum_of(file).read_text() == f"{sha256}  {file.name}\n"

    def test_any_program_for_age_opens_it_with_either_key_and_nobody_else(self, house, keys, file):
        backed_up(file)
        content = file.read_bytes()
        for key in keys:
            assert age.opened(content, str(key)).startswith(b"PGDMP")
        with pytest.raises(ValueError, match="it is for others"):
            age.opened(content, str(Identity.generate()))

    def test_gli19_b_3_4_none_of_it_is_unencrypted_on_the_disk_at_any_moment(self, house, keys, file, monkeypatch):
        """Every byte of every file in its folder, from before the first one is written to the end."""
        seen = []
        write = copies.Counted.write

        def watched(self, data):
            written = write(self, data)
            self.flush()
            seen.append(b"".join(each.read_bytes() for each in file.parent.iterdir()))
            return written

        monkeypatch.setattr(copies.Counted, "write", watched)
        monkeypatch.setattr("tempfile.tempdir", str(file.parent))  # for the output of PostgreSQL's programs
        backed_up(file)
        assert len(seen) > 10
        assert all(each.startswith(copies.BEGINNING[: len(each)]) for each in seen)
        assert not any(b"PGDMP" in each or EMAIL.encode() in each for each in seen)
        assert sorted(each.name for each in file.parent.iterdir()) == [file.name, f"{file.name}.sha256"]

    def test_it_is_written_a_piece_at_a_time(self, keys, file):
        """For any size of the house, only a few pieces are in memory."""
        total, most = 0, 64 * 1024 * 1024

        class Endless:
            def read(self, size):
                nonlocal total
                piece = b"x" * min(size, most - total)
                assert size <= 1024 * 1024
                total += len(piece)
                return piece

        before = memory()
        with file.open("wb") as out:
            copies.encrypt(Endless(), copies.Counted(out), copies.recipients())
        assert total == most < file.stat().st_size
        assert memory() - before < most // 4

    @pytest.mark.sweep
    def test_a_full_disk_is_said_and_leaves_nothing(self, house, keys, file, monkeypatch):
        def full(self, data):
            self.failed = OSError(28, "No space left on device")
            raise self.failed

        monkeypatch.setattr(copies.Counted, "write", full)
        assert refusal("back_up", str(file)) == f"{file} cannot be written: No space left on device"
        assert list(file.parent.iterdir()) == []
        assert not events("house.backed_up")

    @pytest.mark.sweep
    def test_an_archive_that_cannot_be_read_again_is_not_kept(self, house, keys, file, monkeypatch):
        """Nobody here could find out later."""
        read = copies.MonitoredStream.read

        def spoilt(self, size=-1):
            piece = self._dump.stdout.read(size)
            with suppress(BrokenPipeError):
                self._check.stdin.write(bytes(len(piece)))
            return piece

        monkeypatch.setattr(copies.MonitoredStream, "read", spoilt)
        words = refusal("back_up", str(file))
        assert words.startswith(f"{file} was not written. pg_restore ended with status 1: ")
        assert list(file.parent.iterdir()) == []
        monkeypatch.setattr(copies.MonitoredStream, "read", read)
        backed_up(file)

    @pytest.mark.sweep
    @pytest.mark.parametrize("recipient", sample(["age1nobody", "somebody@example.com"], 1))
    def test_what_is_no_public_key_is_named(self, house, file, settings, recipient):
        settings.BACKUP_RECIPIENTS = [recipient]
        assert refusal("back_up", str(file)).startswith(f"BACKUP_RECIPIENTS: {recipient!r} is no public key of age: ")
        assert list(file.parent.iterdir()) == []


class TestInPlain:
    def test_a_production_house_does_not_back_itself_up_unencrypted_unless_configured(self, house, file, settings):
        settings.DEMO = False
        assert refusal("back_up", str(file)).startswith("BACKUP_RECIPIENTS is empty, so the backup would be readable")
        assert list(file.parent.iterdir()) == []
        words = said("back_up", "--plain", str(file))
        assert "NOT ENCRYPTED. Anyone with the file can read names, addresses and balances." in words
        assert file.read_bytes().startswith(b"PGDMP")

    @pytest.mark.sweep
    def test_with_the_option_it_is_unencrypted_with_keys_too(self, house, keys, file):
        said("back_up", "--plain", str(file))
        assert file.read_bytes().startswith(b"PGDMP")


class TestPuttingOneUp:
    @pytest.fixture
    def taken(self, house, keys, file):
        return backed_up(file)

    def test_the_house_is_put_up_again_with_the_secret_key(self, taken, identity):
        with databases.empty("restored"):
            words = said("restore", str(taken), f"--identity={identity}")
            assert "The system can start." in words
            assert [row for check in verify.run() for row in check.rows] == []
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM players_user WHERE email = %s", [EMAIL])
                assert cursor.fetchone() == (1,)

    def test_without_it_nothing_is_done(self, taken):
        assert refused_restore(taken).startswith(f"{taken} is encrypted. Pass the file of the secret key")

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("said_in_it", "why"),
        sample(
            [
                (
                    "AGE-SECRET-KEY-1NONE\n",
                    "is no file of secret keys: each of its lines begins with AGE-SECRET-KEY-1.",
                ),
                ("age1public\n", "is no file of secret keys"),
                ("# nothing\n\n", "holds no secret key."),
                (None, "cannot be read: "),
            ],
            1,
        ),
    )
    def test_with_a_file_that_holds_none(self, taken, tmp_path, said_in_it, why):
        path = tmp_path / "none"
        if said_in_it is not None:
            path.write_text(said_in_it)
        words = refused_restore(taken, f"--identity={path}")
        assert words.startswith(f"{path} {why}")
        assert "NONE" not in words

    def test_with_somebody_else_s_key(self, taken, tmp_path):
        path = tmp_path / "another"
        path.write_text(f"{Identity.generate()}\n")
        words = refused_restore(taken, f"--identity={path}")
        assert words.startswith(
            f"{taken} does not open: it is encrypted for other keys than the one given, or its head"
        )

    @pytest.mark.sweep
    def test_that_is_damaged_anywhere(self, taken, identity):
        """In the head, in the first piece, in the middle, in the last byte: first the sum says so, then age does."""
        whole = taken.read_bytes()
        for at in (30, 150, whole.index(b"\n--- ") + 10, whole.index(b"\n--- ") + 200, len(whole) // 2, len(whole) - 1):
            taken.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert f"{taken} is damaged: its SHA-256 is {copies.digest(taken)}" in refused_restore(
                taken, f"--identity={identity}", f"--sha256={hashlib.sha256(whole).hexdigest()}"
            )
            kept = copies.checksum_of(taken).read_text()
            words = refused_restore(summed(taken), f"--identity={identity}")
            assert "does not open" in words or "is damaged or cut off: what follows cannot be decrypted" in words, at
            copies.checksum_of(taken).write_text(kept)

    @pytest.mark.sweep
    def test_that_is_cut_off_anywhere(self, taken, identity):
        """At the end of a piece as well: that more has to come, age knows."""
        whole = taken.read_bytes()
        begin = whole.index(b"\n", whole.index(b"\n--- ") + 1) + 1 + 16
        for length in (begin + age.CHUNK, begin + 2 * age.CHUNK, begin, begin - 20, len(whole) - 1, 40):
            taken.write_bytes(whole[:length])
            words = refused_restore(summed(taken), f"--identity={identity}")
            assert "does not open" in words or "is damaged or cut off" in words, length

    @pytest.mark.sweep
    def test_that_somebody_else_has_encrypted_to_the_same_key(self, taken, keys, identity):
        """The public key is anybody's: what is in the file may be made up. The sum of the one that was taken is in the
        log, and the file next to it has to be that.
        """
        sha256 = copies.digest(taken)
        taken.write_bytes(pyrage.encrypt(b"a house that never was", [keys[1].to_public()]))
        assert f", expected {sha256}." in refused_restore(taken, f"--identity={identity}")
        words = refused_restore(summed(taken), f"--identity={identity}", f"--sha256={sha256}")
        assert f", expected {sha256}." in words
        assert "is not a Sabot backup. pg_restore ended" in refused_restore(taken, f"--identity={identity}")

    @pytest.mark.sweep
    def test_that_changes_while_it_is_put_up(self, taken, identity, monkeypatch):
        """The file has changed between the check and the restore: everything rolls back."""
        run_on, whole = pg_tools.run_on, taken.read_bytes()

        def later(archive, *arguments, **options):
            if options.get("is_connected"):
                taken.write_bytes(whole[: len(whole) - 100] + bytes(100))
            run_on(archive, *arguments, **options)

        monkeypatch.setattr(pg_tools, "run_on", later)
        words = refused_restore(taken, f"--identity={identity}")
        assert "is damaged or cut off: what follows cannot be decrypted" in words


def test_what_is_decrypted_goes_into_a_pipe_that_may_close_early(keys, file):
    """The reader of the pipe may stop early, which is not an error of the file."""
    file.write_bytes(pyrage.encrypt(os.urandom(1_000_000), [keys[0].to_public()]))
    end, begin = os.pipe()

    def begin_to_read():
        os.read(end, 10)
        os.close(end)

    reader = threading.Thread(target=begin_to_read)
    reader.start()
    with os.fdopen(begin, "wb") as into, pytest.raises(BrokenPipeError):
        copies.decrypt(file, [keys[0]], into)
    reader.join()
    with pytest.raises(CannotRead, match="is encrypted for other keys"), Path(os.devnull).open("wb") as nowhere:
        copies.decrypt(file, [keys[1]], nowhere)


def memory():
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
