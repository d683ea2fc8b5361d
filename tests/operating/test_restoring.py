"""An obstacle to a backup or a restore is reported in a sentence, and nothing is changed."""

import base64
import re
import subprocess

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from games.models import Shoe
from ops.backup import activation, copies, pg_tools
from ops.checks import check_at_home
from ops.embedded import binaries
from ops.embedded.paths import OWNER_ROLE, WEB_ROLE
from ops.postgresql.roles import Login, make_house
from tests.builders import a_player, a_round, a_table, a_verified_player
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.operating.house import MONEY, backed_up, naive_copy, said
from tests.people import a_member_of_staff, events
from tests.wallet.studios import a_partner
from wallet.invariants import verify

ANOTHER_KEY = base64.urlsafe_b64encode(bytes(32)).decode()


@pytest.fixture
def house(cloned_db):
    """A round was played in it."""
    a_round(a_player(real=MONEY), a_table(), player=1_000)
    return cloned_db


@pytest.fixture
def file(tmp_path):
    return tmp_path / "house.dump"


def refusal(*command):
    with pytest.raises(CommandError) as refused:
        said(*command)
    return str(refused.value)


def count(question="SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"):
    with connection.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchone()[0]


class TestTakingABackup:
    """Is one file, which is complete if it exists."""

    @pytest.mark.sweep
    def test_says_what_is_in_it_and_what_is_not_and_is_on_record(self, house, file):
        words = said("back_up", str(file))
        (taken,) = events("house.backed_up")
        assert taken["data"] == {"bytes": file.stat().st_size, "leaves": 0, "sha256": copies.digest(file)}
        assert f"SHA-256 {taken['data']['sha256']}" in words
        needed = "SECOND_FACTOR_KEY, DOCUMENT_KEY, PARTNER_KEY, the signer's folder."
        assert f"Not included but needed for a restore: {needed}" in words
        assert "Never copy the dealer's shoes: they have the cards to come." in words
        assert copies.checksum_of(file).read_text() == f"{taken['data']['sha256']}  house.dump\n"

    def test_lets_nobody_else_read_it(self, house, file):
        assert backed_up(file).stat().st_mode & 0o077 == 0

    @pytest.mark.sweep
    def test_nor_where_somebody_has_left_half_a_file_that_all_may_read(self, house, file):
        draft = file.with_name("house.dump.part")
        draft.touch(0o644)
        draft.chmod(0o644)
        assert backed_up(file).stat().st_mode & 0o077 == 0

    @pytest.mark.sweep
    def test_is_not_written_through_a_link_that_somebody_laid_there(self, house, file, tmp_path):
        theirs = tmp_path / "theirs"
        theirs.touch()
        file.with_name("house.dump.part").symlink_to(theirs)
        assert backed_up(file).stat().st_size
        assert theirs.stat().st_size == 0

    def test_holds_no_log_ins_and_no_keys(self, house, file, settings):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO players_browsersession VALUES ('somebody', '', now())")
        with naive_copy(backed_up(file)):
            assert count("SELECT count(*) FROM players_browsersession") == 0
        whole = subprocess.run(
            [binaries.client("pg_restore"), "--file=-", file], capture_output=True, check=True
        ).stdout
        keys = (settings.SECOND_FACTOR_KEY, settings.DOCUMENT_KEY, settings.PARTNER_KEY, settings.SECRET_KEY)
        assert all(key.encode() not in whole for key in keys)

    @pytest.mark.sweep
    def test_is_written_over_nothing(self, house, file):
        file.write_text("something else")
        assert refusal("back_up", str(file)) == f"{file} already exists. Backups never overwrite a file."
        assert file.read_text() == "something else"

    @pytest.mark.sweep
    def test_says_where_there_is_no_folder(self, house, tmp_path):
        words = refusal("back_up", str(tmp_path / "no" / "house.dump"))
        assert words.endswith("cannot be written: No such file or directory")

    def test_is_the_owner_s(self, house, file, settings):
        settings.DATABASE_OWNER_URL = ""
        assert refusal("back_up", str(file)).startswith("Set DATABASE_OWNER_URL")
        assert list(file.parent.iterdir()) == []

    @pytest.mark.sweep
    def test_leaves_no_half_of_a_file_where_postgresql_gives_up(self, house, owner, file):
        owner.execute("CREATE TABLE spoilt (n int)")
        with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
            superuser.execute("ALTER TABLE spoilt OWNER TO postgres")
        words = refusal("back_up", str(file))
        assert words.startswith(f"{file} was not written. pg_dump ended with status 1: ")
        assert "permission denied for table spoilt" in words
        assert list(file.parent.iterdir()) == []


class TestADamagedFile:
    """Is refused before anything is written."""

    @pytest.fixture
    def broken(self, house, file):
        backed_up(file)
        return file

    def refused(self, file):
        with databases.empty("nothing"):
            words = refusal("restore", str(file))
            assert count() == 0
        assert words.startswith("Nothing was restored. ")
        return words.removeprefix("Nothing was restored. ")

    def test_of_which_one_bit_is_another(self, broken):
        flip(broken)
        assert self.refused(broken).startswith(f"{broken} is damaged: its SHA-256 is {copies.digest(broken)}, expected")

    @pytest.mark.sweep
    def test_of_which_nobody_knows_what_it_was(self, broken):
        """A changed letter in the list of contents is no error to PostgreSQL."""
        copies.checksum_of(broken).unlink()
        assert self.refused(broken).startswith(f"{broken} cannot be verified: {broken}.sha256 is missing.")
        with databases.empty("restored"):
            assert "The system can start." in said("restore", str(broken), f"--sha256={copies.digest(broken).upper()}")

    @pytest.mark.sweep
    @pytest.mark.parametrize("content", sample([b"", b"PGDMP", b"no archive at all"], 1))
    def test_that_never_was_one(self, broken, content):
        broken.write_bytes(content)
        assert f"{broken} is not a Sabot backup. pg_restore ended" in self.refused(summed(broken))

    @pytest.mark.sweep
    def test_that_was_cut_off_before_it_was_summed(self, broken):
        broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
        assert f"{broken} is not a Sabot backup. pg_restore ended" in self.refused(summed(broken))

    @pytest.mark.sweep
    def test_that_is_not_there(self, broken, tmp_path):
        assert "No such file or directory" in self.refused(tmp_path / "gone")

    @pytest.mark.sweep
    def test_of_another_kind_of_database(self, house, tmp_path):
        with databases.empty("other"):
            with psycopg.connect(owner_url(), autocommit=True) as owner:
                owner.execute("CREATE TABLE other (n int)")
            pg_tools.run("pg_dump", "--format=custom", f"--file={tmp_path / 'other'}", is_connected=True)
        assert self.refused(summed(tmp_path / "other")).endswith("is not a Sabot backup: it contains no Sabot tables.")

    @pytest.mark.sweep
    def test_of_a_newer_program(self, house, owner, file):
        owner.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('wallet', '9999_later', now())")
        backed_up(file)
        words = self.refused(file)
        assert "was created by a newer version, with unknown migrations wallet.9999_later" in words

    @pytest.mark.sweep
    def test_that_fails_on_its_way_in(self, house, owner, file):
        """After any error of PostgreSQL, here a grant to a role that the other server lacks, nothing is written."""
        with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
            superuser.execute("CREATE ROLE passing")
            superuser.execute("GRANT SELECT ON wallet_entry TO passing")
            backed_up(file)
            superuser.execute("DROP OWNED BY passing")
            superuser.execute("DROP ROLE passing")
        assert 'role "passing" does not exist' in self.refused(file)


def summed(file):
    """Write a new checksum, as a person who changed the file can."""
    copies.checksum_of(file).write_text(f"{copies.digest(file)}  {file.name}\n")
    return file


def flip(file):
    """Flip a bit in the middle of the largest entry."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def owner_url():
    given = connections["owner"].get_connection_params()
    return make_conninfo(**{name: given[name] for name in ("host", "port", "user", "dbname")})


class TestADatabase:
    """Takes a backup only if it is empty and nobody uses it."""

    def test_that_holds_a_house_is_left_as_it_is(self, house, file):
        backed_up(file)
        before = count("SELECT count(*) FROM audit_event")
        words = refusal("restore", str(file))
        assert re.match(
            r"Nothing was restored. The database clone_\w+ holds \d+ tables and indexes already\. A restore needs",
            words,
        )
        assert count("SELECT count(*) FROM audit_event") == before

    def test_is_not_settled_while_web_or_workers_are_at_work(self, house):
        with psycopg.connect(house.web_url):
            words = refusal("after_restore")
        assert words == "1 connections of web, workers or beat use this database. Stop them first."
        assert not events("house.restored")

    def test_is_not_written_to_while_they_are(self, house, file):
        backed_up(file)
        with databases.empty("busy") as busy, psycopg.connect(busy.web_url):
            assert refusal("restore", str(file)).startswith("Nothing was restored. 1 connections of web, workers or")
            assert count() == 0

    @pytest.mark.parametrize(("alias", "role"), sample([("default", WEB_ROLE), ("owner", OWNER_ROLE)], 1))
    def test_is_the_one_that_the_house_logs_in_to(self, house, file, alias, role):
        """Rounds restored in one database would be settled in the other, which may be a running house."""
        backed_up(file)
        with databases.empty("other"), at(house.name, **{alias: role}):
            for command in (["restore", str(file)], ["after_restore"], ["back_up", str(file.with_name("second"))]):
                words = refusal(*command)
                assert "DATABASE_URL and DATABASE_OWNER_URL name different databases" in words, command
        with databases.empty("other"), at(house.name, default=WEB_ROLE):
            assert not events("house.restored")

    @pytest.mark.sweep
    def test_whose_owner_is_called_otherwise_takes_it_as_well(self, house, file):
        """The role of the house has exactly its own rights; grants to PUBLIC add none."""
        backed_up(file)
        with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
            login, owner = Login("other_web"), Login("other_owner")
            make_house(superuser, web=login, owner=owner, database="other_house")
            try:
                with at("other_house", default=login.name, owner=owner.name):
                    said("restore", str(file))
                    assert [row for check in verify.run() for row in check.rows] == []
                    assert activation.is_home(connection)
            finally:
                superuser.execute("DROP DATABASE other_house WITH (FORCE)")
                superuser.execute("DROP ROLE other_web")
                superuser.execute("DROP ROLE other_owner")


class at:  # noqa: N801  (reads as a sentence)
    """Let Django use another database of this server, with other roles."""

    def __init__(self, name, **roles):
        self.name, self.roles = name, roles

    def __enter__(self):
        connections.close_all()
        self.before = {alias: dict(connections.settings[alias]) for alias in self.roles}
        for alias, role in self.roles.items():
            connections.settings[alias] |= {"NAME": self.name, "USER": role}

    def __exit__(self, *error):
        connections.close_all()
        for alias, before in self.before.items():
            connections.settings[alias].update(before)


class TestAnotherKey:
    """Opens nothing; a house with it would tell its staff that every code is wrong."""

    @pytest.fixture
    def sealed(self, house, file):
        a_live_table()
        a_member_of_staff("support")
        a_verified_player()
        a_partner()
        return backed_up(file)

    @pytest.mark.sweep
    @pytest.mark.parametrize("key", sample(["SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY"], 1))
    def test_is_noticed_and_the_right_one_goes_on_from_there(self, sealed, settings, key):
        right = getattr(settings, key)
        with databases.empty("restored"):
            setattr(settings, key, ANOTHER_KEY)
            assert refusal("restore", str(sealed)).startswith(f"{key} is not the right key: it cannot decrypt")
            assert not activation.is_home(connection)
            assert Shoe.objects.get().ended_at is None
            setattr(settings, key, right)
            words = said("after_restore")
            assert f"{key} is the right key." in words
            assert activation.is_home(connection)


class TestACopyThatNobodySettled:
    """Does not open in production, however it was copied."""

    @pytest.fixture
    def faults(self, settings):
        def faults():
            return [fault.id for fault in check_at_home(None, databases=["default"])]

        settings.DEMO = False
        return faults

    @pytest.mark.sweep
    def test_by_postgresql_s_own_programs(self, house, owner, file, faults):
        said("after_restore")
        assert faults() == []
        said("back_up", "--plain", str(file))
        with naive_copy(file):
            assert faults() == ["sabot.E017"]
            said("after_restore")
            assert faults() == []

    def test_on_the_same_server(self, house, faults):
        said("after_restore")
        connections.close_all()
        with databases.clone("copy", like=house.name):
            assert faults() == ["sabot.E017"]

    def test_from_the_files_of_the_whole_server(self, house, owner, faults, settings):
        """They take the comment along; the timeline is another one once a copy of files writes."""
        said("after_restore")
        comment = SQL("COMMENT ON DATABASE {} IS {}").format(Identifier(house.name), another_timeline(owner))
        owner.execute(comment)
        assert faults() == ["sabot.E017"]

    @pytest.mark.sweep
    def test_a_house_in_which_nobody_has_played_is_at_home_where_it_was_made(self, cloned_db, faults):
        assert faults() == []
        call_command("migrate", verbosity=0, interactive=False)
        a_player(real=MONEY)
        assert faults() == []

    def test_a_demo_may(self, house, faults, settings):
        settings.DEMO = True
        assert faults() == []


def another_timeline(owner):
    said_there = owner.execute(activation.SAID).fetchone()[0]
    other = said_there.replace("timeline 00000001", "timeline 00000002")
    assert other != said_there
    return SQL(owner.execute("SELECT quote_literal(%s::text)", [other]).fetchone()[0])
