"""PostgreSQL and Valkey start with their first user and stop after their last one, however each ends."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from ops.embedded import Paths, Purpose, addresses, keeper_pid
from ops.embedded.users import is_locked
from tests.harness.sweeps import sample
from tests.start.support import User, fresh_var, processes_of, server, using, wait_until

HOUSE = Purpose.HOUSE


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """The files of a house whose servers were started once and have stopped cleanly."""
    with fresh_var() as var:
        with using(var, HOUSE) as user:
            user.leave()
        wait_until(lambda: gone(var), "the servers did not stop")
        yield Paths(var).cluster


@pytest.fixture
def var(var: Path, cluster: Path) -> Path:
    """A ``var/`` in which servers were before: they start without making a cluster, and have logged nothing."""
    var.mkdir()
    subprocess.run(["cp", "-a", cluster, Paths(var).cluster], check=True)
    return var


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A ``var/`` that is not there yet."""
    with fresh_var() as place:
        yield place


@pytest.fixture(scope="module")
def open_var() -> Iterator[Path]:
    """A ``var/`` of a first start whose servers run, for tests that only look at them."""
    with fresh_var() as place, using(place):
        yield place


def count_notes(var: Path) -> int:
    with psycopg.connect(addresses(var).database_owner_url) as owner:
        (count,) = owner.execute("SELECT count(*) FROM note").fetchone() or (0,)
        return int(count)


def write_note(var: Path) -> None:
    with psycopg.connect(addresses(var).database_owner_url) as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS note (id serial)")
        owner.execute("INSERT INTO note DEFAULT VALUES")


def gone(var: Path) -> bool:
    return not processes_of(var)


def test_the_first_start_makes_a_database_that_both_roles_can_enter(open_var: Path) -> None:
    for url, role in (
        (addresses(open_var).database_url, "sabot_web"),
        (addresses(open_var).database_owner_url, "sabot_owner"),
    ):
        with psycopg.connect(url) as connection:
            asked = "SELECT current_user, current_database(), rolsuper FROM pg_roles WHERE rolname = current_user"
            assert connection.execute(asked).fetchone() == (role, "sabot", False)


def test_the_broker_and_the_cache_answer(open_var: Path) -> None:
    assert redis.Redis.from_url(addresses(open_var).cache_url).ping()


def test_text_is_compared_alike_on_every_machine(open_var: Path) -> None:
    with psycopg.connect(addresses(open_var).database_url) as web:
        asked = (
            "SELECT datlocprovider, datlocale, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'sabot'"
        )
        assert web.execute(asked).fetchone() == ("b", "C.UTF-8", "UTF8")
        assert web.execute("SHOW timezone").fetchone() == ("UTC",)


def test_a_commit_of_the_house_is_on_the_disk(var: Path) -> None:
    with using(var, HOUSE), psycopg.connect(addresses(var).database_url) as web:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert web.execute(f"SHOW {setting}").fetchone() == ("on",)


@pytest.mark.sweep
def test_what_was_written_is_there_at_the_next_start(var: Path) -> None:
    with using(var, HOUSE):
        write_note(var)
    wait_until(lambda: gone(var), "the servers did not stop")
    with using(var, HOUSE):
        assert count_notes(var) == 1


@pytest.mark.sweep
def test_the_last_one_out_stops_the_servers(var: Path) -> None:
    first = User(var)
    assert first.answer() == "ready"
    with using(var) as second:
        first.leave()
        write_note(var)
        second.leave()
        wait_until(lambda: gone(var), "the servers outlived their last user")


@pytest.mark.sweep
def test_a_stop_is_clean(var: Path) -> None:
    with using(var, HOUSE) as user:
        user.leave()
    wait_until(lambda: gone(var), "the servers did not stop")
    assert "database system is shut down" in (var / "log" / "postgresql.log").read_text()


@pytest.mark.sweep
def test_a_user_killed_the_hard_way_is_out_as_well(var: Path) -> None:
    with using(var) as user:
        user.kill()
        wait_until(lambda: gone(var), "the servers outlived their killed user")


def test_users_who_come_together_start_one_pair_of_servers(fresh: Path) -> None:
    users = [User(fresh) for _ in range(4)]
    assert [user.answer() for user in users] == ["ready"] * 4
    assert len([p for p in processes_of(fresh) if "ops.embedded.keeper" in p.cmdline()]) == 1
    for user in users:
        user.kill()


@pytest.mark.sweep
def test_a_newcomer_waits_while_the_servers_stop(var: Path) -> None:
    for _ in range(3):
        with using(var, HOUSE) as user:
            user.leave()
            with using(var, HOUSE):
                write_note(var)
    with using(var, HOUSE):
        assert count_notes(var) == 3


def test_servers_whose_starter_was_killed_stop_or_serve_the_next(fresh: Path) -> None:
    starter = User(fresh)
    wait_until(lambda: is_locked(Paths(fresh).keeper_lock), "no keeper came")
    starter.kill()
    with using(fresh):
        write_note(fresh)
        assert "Traceback" not in (fresh / "log" / "keeper.log").read_text()


@pytest.mark.sweep
@pytest.mark.parametrize("name", sample(["postgres", "valkey-server"], 1))
def test_a_server_that_dies_is_started_again_and_the_log_says_so(var: Path, name: str) -> None:
    with using(var, HOUSE):
        before = server(var, name)
        before.kill()
        wait_until(lambda: server(var, name).pid != before.pid, f"{name} did not come back")
        wait_until(lambda: "was killed by signal 9" in (var / "log" / "keeper.log").read_text(), "the log says nothing")
        wait_until(lambda: answers(var), f"{name} does not answer")


def answers(var: Path) -> bool:
    try:
        psycopg.connect(addresses(var).database_url).close()
        return redis.Redis.from_url(addresses(var).cache_url).ping()
    except (psycopg.OperationalError, redis.exceptions.ConnectionError):
        return False


def test_servers_do_not_outlive_their_keeper_and_the_next_user_starts_them_again(var: Path) -> None:
    with using(var, HOUSE):
        write_note(var)
        psutil.Process(keeper_pid(var)).kill()
        wait_until(lambda: keeper_pid(var) is None, "the keeper lives")
        with using(var, HOUSE):
            assert count_notes(var) == 1


@pytest.mark.sweep
def test_a_lock_file_of_a_killed_server_with_the_number_of_another_process_is_no_hindrance(var: Path) -> None:
    paths = Paths(var)
    (paths.cluster / "postmaster.pid").write_text(f"{os.getpid()}\n{paths.cluster}\n")
    with using(var, HOUSE):
        pass


@pytest.mark.sweep
def test_half_a_cluster_is_made_again(fresh: Path) -> None:
    paths = Paths(fresh)
    draft = paths.cluster.with_name("postgresql.new")
    draft.mkdir(parents=True, mode=0o700)
    if paths.account:
        os.chown(draft, paths.account.uid, paths.account.gid)
    (draft / "PG_VERSION").write_text("1")
    with using(fresh):
        write_note(fresh)


@pytest.mark.sweep
def test_data_of_another_version_is_refused_with_what_to_do(var: Path) -> None:
    (Paths(var).cluster / "PG_VERSION").write_text("16\n")
    user = User(var, HOUSE)
    assert "was made by PostgreSQL 16, this is 18" in user.answer()
    user.leave()
    assert user.process.returncode == 1


@pytest.mark.sweep
def test_a_server_that_cannot_start_says_why(var: Path) -> None:
    (Paths(var).cluster / "pg_hba.conf").write_text("nonsense\n")
    user = User(var, HOUSE)
    assert "PostgreSQL ended with status 1" in user.answer()
    user.kill()


@pytest.mark.sweep
@pytest.mark.parametrize("purpose", sample([Purpose.TESTS, Purpose.BENCH], 1))
def test_servers_of_tests_and_benches_leave_nothing(var: Path, purpose: Purpose) -> None:
    with using(var, purpose) as user:
        user.leave()
    wait_until(lambda: gone(var), "the servers did not stop")
    assert not var.exists()


def test_only_the_servers_account_can_reach_data_and_sockets(open_var: Path) -> None:
    paths = Paths(open_var)
    for folder in (paths.cluster, paths.valkey, paths.sockets):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.stat().st_uid == (paths.account.uid if paths.account else os.geteuid())


def test_no_server_listens_on_the_network(open_var: Path) -> None:
    assert server(open_var, "postgres")
    for process in processes_of(open_var):
        assert not [c for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
