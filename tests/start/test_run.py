"""`manage.py run`: one command opens the house, keeps it open and leaves nothing behind, however it ends."""

import hashlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import psycopg
import pytest

from ops.beat import ADVISORY_LOCK
from ops.embedded import addresses, keeper_pid
from ops.program import hashed, manifest
from players.demo import DEMO_LOGINS, PASSWORD
from tests.harness.sweeps import sample
from tests.start.logs import Played, at_a_table, lines, log_in_and_play, moves
from tests.start.support import PROJECT, House, fresh_var, manage, processes_of, server, using, wait_until

SECONDS_TO_CLOSE = 30
FORKED = ("web", "worker")
APART = ("audit.sealing.signer", "games.dealer")
LAUNCHER_BYTES = 40_000_000  # resident: 20 MB of Python and what it imports
BEAT_BYTES = 70_000_000  # resident, in place of 156 million with all apps
FORKED_BYTES = 110_000_000  # PSS: private memory, and their part of shared memory
COUNT_PLAYERS = "from players.models import Player; print('players:', Player.objects.count())"


@pytest.fixture(scope="module")
def first_house() -> Iterator[Played]:
    """A house that started empty, was open once, had play at its tables, and has closed."""
    with fresh_var() as var:
        house = Played(var).open()
        house.secrets = log_in_and_play(house)
        with at_a_table(house) as ticket:
            wait_until(lambda: any(line.get("round_id") for line in moves(house)), "no round moved")
        house.secrets |= ticket
        house.process.terminate()
        assert house.process.wait(SECONDS_TO_CLOSE * 2) == 0
        yield house


def settle(var: Path, first_house: House) -> Path:
    """Copy the files of the first house to *var*: a house opens there in a quarter of the time."""
    subprocess.run(["cp", "-a", first_house.var, var], check=True)
    return var


@pytest.fixture(scope="module")
def house(first_house: House) -> Iterator[House]:
    """An open house, started as make starts it, shared by the tests of this module that leave it open. The last test
    that uses it kills make.
    """
    make_like = ("sh", "-c", '"$@"; true', "sh")
    with fresh_var() as var:
        house = House(settle(var, first_house), "run", "--with-parent", behind=make_like)
        try:
            yield house.open()
        finally:
            house.process.kill()
            house.process.wait()


@pytest.fixture
def settled_var(var: Path, first_house: House) -> Path:
    """A separate ``var/`` in which a house was open before."""
    return settle(var, first_house)


def test_it_logs_its_steps_and_prints_address_and_accounts_to_play(first_house: House) -> None:
    printed = first_house.printed()
    assert (
        printed.index("Making a database …")
        < printed.index("Starting web, worker and beat …")
        < printed.index(first_house.url)
    )
    assert all(login.email in printed for login in DEMO_LOGINS)
    assert PASSWORD in printed


def test_gli19_2_3_2_a_house_that_starts_records_its_program(house: House) -> None:
    code = hashlib.sha256(manifest(dict(hashed(PROJECT))).encode()).hexdigest()
    asked = (
        "SELECT DISTINCT (convert_from(body, 'UTF8')::jsonb -> 'data') FROM audit_event WHERE kind = 'program.verified'"
    )

    def recorded() -> set[tuple[str, str]]:
        with psycopg.connect(addresses(house.var).database("sabot", "postgres")) as connection:
            return {(data["process"], data["code"]) for (data,) in connection.execute(asked)}

    wait_until(lambda: recorded() == {("web", code), ("worker", code)}, "no event names the program")


def test_pages_and_health_are_served(house: House) -> None:
    assert house.answers()
    with urlopen(house.url, timeout=10) as page:  # noqa: S310  (our own http:)
        assert b"<html" in page.read()


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("role", "said"),
    sample(
        [
            ("web", "web: ready"),
            ("worker", "worker: "),
            ("beat", "beat: active"),
            ("signer", "signer: "),
            ("dealer", "dealer: dealt 0 rounds"),
        ],
        1,
    ),
)
def test_each_of_its_programs_is_well(house: House, role: str, said: str) -> None:
    answers: list[subprocess.CompletedProcess[str]] = []

    def is_well() -> bool:
        answers.append(manage(house.var, "healthy", role, PORT=house.url.rpartition(":")[2]))
        return answers[-1].returncode == 0

    wait_until(is_well, f"{role} is not well")
    assert answers[-1].stdout.startswith(said)


def test_its_migration_gave_the_web_role_its_rights_and_no_table(house: House) -> None:
    with psycopg.connect(addresses(house.var).database_url, autocommit=True) as web:
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


@pytest.mark.sweep
def test_other_commands_work_in_the_meantime_and_do_not_close_it(house: House) -> None:
    done = manage(house.var, "shell", "-c", COUNT_PLAYERS)
    assert "players:" in done.stdout, done.stderr
    assert house.answers()


@pytest.mark.sweep
def test_var_cannot_be_thrown_away_in_the_meantime(house: House) -> None:
    done = manage(house.var, "reset", "--yes")
    assert done.returncode == 1
    assert "is in use: stop the house first" in done.stderr
    assert house.answers()


@pytest.mark.parametrize(
    ("name", "word"),
    sample(
        [
            ("Web", "web"),
            ("Worker", "worker"),
            ("Beat", "beat"),
            ("Signer", "audit.sealing.signer"),
            ("Dealer", "games.dealer"),
        ],
        2,
    ),
)
def test_a_child_that_dies_is_started_again_and_said_so(house: House, name: str, word: str) -> None:
    before = house.child(word)
    before.kill()
    house.says(f"{name} was killed by signal 9 (SIGKILL); starting it again")
    wait_until(lambda: house.child(word).pid != before.pid, f"{name} did not come back")
    wait_until(house.answers, "web does not answer")


@pytest.mark.sweep
def test_a_fork_server_that_dies_takes_its_children_along_and_is_started_again(house: House) -> None:
    before = {word: house.child(word) for word in ("ops.fork_server", *FORKED, "beat", *APART)}
    before["ops.fork_server"].kill()
    house.says("The fork server was killed by signal 9 (SIGKILL); starting it again")
    psutil.wait_procs(before.values(), timeout=SECONDS_TO_CLOSE)
    assert not [name for name, process in before.items() if process.is_running()]
    wait_until(lambda: house.printed().count("Ctrl-C closes it.") == 2, "the house did not open again")
    wait_until(house.answers, "web does not answer")


def test_the_launcher_holds_little_memory_while_it_waits(house: House) -> None:
    (launcher,) = psutil.Process(house.process.pid).children()
    assert launcher.memory_info().rss < LAUNCHER_BYTES


def test_the_launcher_imports_neither_django_nor_celery() -> None:
    asked = "import sys, ops.launcher; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert "'ops'" in done.stdout
    assert not [name for name in ("django", "celery", "kombu", "psycopg", "environ") if f"'{name}'" in done.stdout]


@pytest.mark.parametrize("word", FORKED)
def test_forked_programs_share_most_of_their_memory(house: House, word: str) -> None:
    held = house.child(word).memory_full_info()
    assert held.uss < held.rss / 2
    assert held.pss < FORKED_BYTES


def test_beat_holds_little_memory(house: House) -> None:
    wait_until(lambda: works_a_beat(house.var), "no beat works")
    assert house.child("beat").memory_info().rss < BEAT_BYTES


@pytest.mark.parametrize("word", APART)
def test_what_holds_keys_is_executed_with_an_environment_of_its_own(house: House, word: str) -> None:
    assert house.child(word).environ().keys() <= {"PATH", "LANG", "LC_CTYPE"}


@pytest.mark.parametrize(("name", "program"), sample([("PostgreSQL", "postgres"), ("Valkey", "valkey-server")], 1))
def test_a_server_that_dies_is_started_again_and_said_so(house: House, name: str, program: str) -> None:
    server(house.var, program).kill()
    house.says(f"{name} was killed by signal 9 (SIGKILL); starting it again")
    wait_until(house.answers, "web does not answer")


@pytest.mark.sweep
def test_a_keeper_that_dies_is_replaced_and_said_so(house: House) -> None:
    psutil.Process(keeper_pid(house.var)).kill()
    house.says("took over")
    wait_until(house.answers, "web does not answer")


@pytest.mark.sweep
def test_one_beat_works_and_another_waits(house: House) -> None:
    wait_until(lambda: works_a_beat(house.var), "no beat works")
    before = house.child("beat")
    second = House(house.var, "beat")
    try:
        second.says("Another beat is at work; waiting to take over from it")
        before.kill()
        second.says("beat: Starting...")
    finally:
        second.process.kill()
        second.process.wait()


def works_a_beat(var: Path) -> bool:
    """Return whether a process has the lock of the active beat; ticks take others, for a moment."""
    held = """
    SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = %s
    """
    with psycopg.connect(addresses(var).database_url) as web:
        return web.execute(held, [ADVISORY_LOCK]).fetchone() == (1,)


def count_players(var: Path) -> int:
    with psycopg.connect(addresses(var).database_owner_url) as owner:
        (count,) = owner.execute("SELECT count(*) FROM players_player").fetchone() or (0,)
        return int(count)


@pytest.mark.sweep
def test_ctrl_c_closes_everything_in_seconds_and_the_next_start_finds_it_all(settled_var: Path, is_sweep: bool) -> None:
    var, players = settled_var, []
    for asked in (signal.SIGINT, signal.SIGTERM) if is_sweep else (signal.SIGINT,):
        house = House(var).open()
        players.append(count_players(var))
        asked_at = time.monotonic()
        house.process.send_signal(asked)
        assert house.process.wait(SECONDS_TO_CLOSE * 2) == 0
        assert time.monotonic() - asked_at < SECONDS_TO_CLOSE
        assert house.printed().endswith("Closed.\n")
        assert not processes_of(var)
    assert players[0] > 0
    assert len(set(players)) == 1


@pytest.mark.sweep
def test_with_servers_of_ones_own_nothing_is_embedded(var: Path, first_house: House) -> None:
    with fresh_var() as elsewhere, using(settle(elsewhere, first_house)):
        own = {
            "DATABASE_URL": addresses(elsewhere).database_url,
            "DATABASE_OWNER_URL": addresses(elsewhere).database_owner_url,
            "BROKER_URL": addresses(elsewhere).broker_url,
            "CACHE_URL": addresses(elsewhere).cache_url,
        }
        house = House(var, extra=own).open()
        assert house.answers()
        assert not (var / "postgresql").exists()
        assert not (var / "run").exists()
        house.process.terminate()
        assert house.process.wait(SECONDS_TO_CLOSE * 2) == 0


def test_a_launcher_killed_the_hard_way_leaves_no_process(settled_var: Path) -> None:
    house = House(settled_var).open()
    house.process.kill()
    house.process.wait()
    wait_until(lambda: not processes_of(settled_var), "something outlived the launcher")


@pytest.mark.sweep
def test_a_launcher_killed_while_it_opens_leaves_no_process(var: Path) -> None:
    house = House(var)
    house.says("Bringing the tables up to date …")
    house.process.kill()
    house.process.wait()
    wait_until(lambda: not processes_of(var), "something outlived the launcher")


def test_started_by_make_it_closes_when_make_is_killed(house: House) -> None:
    assert house.answers()
    house.process.kill()
    house.process.wait()
    wait_until(lambda: not processes_of(house.var), "the house outlived make")


def test_a_busy_port_is_one_line_and_starts_nothing(var: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = manage(var, "run", PORT=str(port))
    assert done.returncode == 1
    assert done.stderr == f"Port {port} is in use: choose another with PORT=, such as PORT={port + 1} make run\n"
    assert not (var / "run").exists()


@pytest.mark.parametrize("port", sample(["http", "-1", "65536"], 1))
def test_an_invalid_port_is_refused(var: Path, port: str) -> None:
    done = manage(var, "run", PORT=port)
    assert (done.returncode, done.stderr) == (1, f"PORT must be a number from 0 to 65535, not {port!r}.\n")


@pytest.mark.sweep
def test_web_that_cannot_start_ends_the_house_with_the_reason(settled_var: Path) -> None:
    done = manage(settled_var, "run", PORT="0", LIVE_STREAMS="none")
    assert done.returncode == 1
    assert "Web ended with status 1" in done.stderr
    assert "invalid literal for int()" in done.stderr
    assert not processes_of(settled_var)


@pytest.mark.parametrize("log", ["web.log", "worker.log", "beat.log"])
def test_every_line_is_one_event(first_house: Played, log: str) -> None:
    written = lines(first_house, log)
    assert written
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in written)


def test_every_line_of_a_request_has_its_id(first_house: Played) -> None:
    answered = [line for line in lines(first_house, "web.log") if line["event"] == "request"]
    assert {"account_login", "account_reset_password"} <= {line["view"] for line in answered}
    assert len({line["request_id"] for line in answered}) == len(answered)
    assert not [
        line for line in lines(first_house, "web.log") if "/account/" in line["event"] or "HTTP/1" in line["event"]
    ]


def test_a_task_has_the_id_of_its_tick_and_logs_the_round_it_advanced(first_house: Played) -> None:
    ticks = {line["request_id"] for line in lines(first_house, "worker.log") if line.get("task") == "games.tasks.tick"}
    changed = moves(first_house)
    assert {line["request_id"] for line in changed} <= ticks
    assert any(line["round_id"] for line in changed)


def test_no_log_has_a_secret(first_house: Played) -> None:
    kept = {path.read_text().strip() for path in (first_house.var / "keys").iterdir()}
    secrets = {secret for secret in first_house.secrets | kept if len(secret) > 7}
    for path in (first_house.var / "log").glob("*.log"):
        text = path.read_text(errors="replace")
        assert not [secret for secret in secrets if secret in text], path.name
        assert not re.search(r"[\w.+-]+@demo\.example", text), path.name
