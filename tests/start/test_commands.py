"""Commands start the database only when they need it, and work without an open house."""

import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from ops.embedded import Purpose, addresses
from tests.harness.sweeps import sweep
from tests.start.support import PROJECT, SECONDS, House, manage, processes_of, using, wait_until

ASK = """
import os
from django.db import connections
with connections["owner"].cursor() as cursor:
    cursor.execute(os.environ["ASKED"])
    print(cursor.fetchall() if cursor.description else "written")
"""


def gone(var: Path) -> bool:
    return not processes_of(var)


@pytest.mark.sweep
@pytest.mark.parametrize("command", sweep(["help", "check", "demo_logins", "create_roles"], always=["check"]))
def test_a_command_that_needs_no_database_starts_none(var: Path, command: str) -> None:
    manage(var, command)
    assert not (var / "run").exists()


@pytest.mark.sweep
def test_a_command_that_needs_a_database_starts_it_and_stops_it(var: Path) -> None:
    for asked in ("CREATE TABLE note AS SELECT 7 AS written", "SELECT written FROM note"):
        done = manage(var, "shell", "-c", ASK, ASKED=asked)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: gone(var), "the servers outlived the command")
    assert done.stdout.endswith("[(7,)]\n"), "what the first one wrote is there for the second"


def test_reset_without_a_yes_removes_nothing_and_with_it_everything(var: Path) -> None:
    with using(var, Purpose.HOUSE) as user:
        user.leave()
    wait_until(lambda: gone(var), "the servers did not stop")
    done = manage(var, "reset")
    assert done.returncode == 1
    assert "Nothing was removed." in done.stderr
    assert (var / "postgresql").exists()
    assert manage(var, "reset", "--yes").returncode == 0
    assert not var.exists()


def test_create_roles_prepares_a_server_of_ones_own_where_two_migrations_at_once_wait_for_each_other(var: Path) -> None:
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
        both = [House(var, "migrate", "--verbosity", verbosity, extra=urls) for verbosity in ("0", "1")]
        assert [house.process.wait(SECONDS) for house in both] == [0, 0], both[0].printed()


@pytest.mark.sweep
def test_create_roles_says_what_it_lacks(var: Path) -> None:
    assert "set DATABASE_URL first" in manage(var, "create_roles").stderr
    given = {"DATABASE_URL": "postgresql://web:red@db.example/club", "BROKER_URL": "redis://broker.example/0"}
    assert "Set DATABASE_SUPERUSER_URL" in manage(var, "create_roles", **given).stderr


WITHOUT_LIBRARIES = [sys.executable, "-S", "manage.py", "odds", "baccarat"]


def test_without_the_libraries_it_says_how_to_get_them(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "manage.py", tmp_path)
    done = subprocess.run(WITHOUT_LIBRARIES, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Sabot's libraries are not installed yet: `make run` does it, and opens the house.\n"


def test_any_python_finds_the_one_that_has_the_libraries(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "manage.py", tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(WITHOUT_LIBRARIES, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "manage.py odds baccarat\n"
