"""Commands start the database only when they need it, and work without an open house."""

from pathlib import Path

import psycopg
import pytest

from casino.embedded import Purpose, addresses
from tests.start.support import SECONDS_FOR_A_COMMAND, House, manage, processes_of, using, wait_until


def gone(var: Path) -> bool:
    return not processes_of(var)


@pytest.mark.parametrize("arguments", [["help"], ["check"], ["demo_logins"], ["create_roles"]])
def test_a_command_that_needs_no_database_starts_none(var: Path, arguments: list[str]) -> None:
    manage(var, *arguments)
    assert not (var / "run").exists()


def test_a_command_that_needs_a_database_starts_it_and_stops_it(var: Path) -> None:
    done = manage(var, "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: gone(var), "the servers outlived the command")
    done = manage(var, "shell", "-c", "from players.models import Player; print('players:', Player.objects.count())")
    assert "players: 0" in done.stdout, done.stderr
    wait_until(lambda: gone(var), "the servers outlived the command")


def test_migrating_gives_the_web_role_its_rights_and_no_table(var: Path) -> None:
    with using(var, Purpose.TESTS):
        assert manage(var, "migrate", "--verbosity", "0").returncode == 0
        with psycopg.connect(addresses(var).database_url, autocommit=True) as web:
            owners = web.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'").fetchall()
            assert owners == [("sabot_owner",)]
            web.execute("SELECT count(*) FROM wallet_entry")
            for refused in (
                "DELETE FROM wallet_entry",
                "CREATE TABLE mine (id int)",
                "CREATE ROLE mine",
                "CREATE DATABASE mine",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    web.execute(refused)


def test_two_migrations_at_once_wait_for_each_other(var: Path) -> None:
    with using(var, Purpose.TESTS):
        both = [House(var, "migrate", "--verbosity", verbosity) for verbosity in ("0", "1")]
        assert [house.process.wait(SECONDS_FOR_A_COMMAND) for house in both] == [0, 0], both[0].printed()


def test_reset_without_a_yes_removes_nothing(var: Path) -> None:
    with using(var, Purpose.HOUSE) as user:
        user.leave()
    wait_until(lambda: gone(var), "the servers did not stop")
    done = manage(var, "reset")
    assert done.returncode == 1
    assert "Nothing was removed." in done.stderr
    assert (var / "postgresql").exists()


def test_reset_with_a_yes_removes_everything(var: Path) -> None:
    with using(var, Purpose.HOUSE) as user:
        user.leave()
    wait_until(lambda: gone(var), "the servers did not stop")
    assert manage(var, "reset", "--yes").returncode == 0
    assert not var.exists()


def test_create_roles_prepares_a_server_of_ones_own(var: Path) -> None:
    with using(var, Purpose.TESTS):
        here = addresses(var)
        urls = {
            "DATABASE_URL": here.database("club", "club_web").replace("club_web@", "club_web:red@"),
            "DATABASE_OWNER_URL": here.database("club", "club_owner").replace("club_owner@", "club_owner:black@"),
            "DATABASE_SUPERUSER_URL": here.superuser_url,
            "BROKER_URL": here.broker_url,
        }
        for _ in range(2):
            done = manage(var, "create_roles", **urls)
            assert done.returncode == 0, done.stderr
        with psycopg.connect(here.superuser_url) as superuser:
            asked = """SELECT rolname, rolsuper, rolcreatedb, left(rolpassword, 13),
                              pg_has_role(rolname, 'sabot_app', 'USAGE')
                       FROM pg_authid WHERE rolname LIKE 'club%' ORDER BY 1"""
            assert superuser.execute(asked).fetchall() == [
                ("club_owner", False, False, "SCRAM-SHA-256", False),
                ("club_web", False, False, "SCRAM-SHA-256", True),
            ]
        assert manage(var, "migrate", "--verbosity", "0", **urls).returncode == 0


def test_create_roles_says_what_it_lacks(var: Path) -> None:
    assert "set DATABASE_URL first" in manage(var, "create_roles").stderr
    given = {"DATABASE_URL": "postgresql://web:red@db.example/club", "BROKER_URL": "redis://broker.example/0"}
    assert "Set DATABASE_SUPERUSER_URL" in manage(var, "create_roles", **given).stderr
