"""Folders in which the servers store their files if ``var/`` is not usable."""

import os
import re
import shutil
import stat
from pathlib import Path

import psycopg
import pytest

from ops.embedded import Paths, Purpose, addresses
from ops.embedded.children import open_log
from ops.embedded.paths import LONGEST_SOCKET_PATH, OUTSIDE, SHORT, SOCKET_OF_POSTGRESQL, Account, can_read
from tests.harness.sweeps import sample
from tests.start.support import User, fresh_var, processes_of, using, wait_until


@pytest.mark.sweep
@pytest.mark.parametrize("name", sample(["a" * 90, "with a space", "a%20b?c", "hjärter"], 1))
def test_a_path_that_no_socket_or_address_can_have_is_replaced_by_a_short_private_one(var: Path, name: str) -> None:
    var = var / name / "var"
    with using(var):
        sockets = Paths(var).sockets
        assert sockets.parent == SHORT
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        with psycopg.connect(addresses(var).database_url) as web:
            assert web.execute("SELECT 1").fetchone() == (1,)
    wait_until(lambda: not processes_of(var), "the servers did not stop")
    assert not sockets.exists()


def test_a_socket_path_of_just_the_longest_length_is_used_as_it_is(var: Path) -> None:
    room = LONGEST_SOCKET_PATH - len(f"{var}//sockets/{SOCKET_OF_POSTGRESQL}")
    assert Paths(var / ("a" * room)).sockets.parent != SHORT
    assert Paths(var / ("a" * (room + 1))).sockets.parent == SHORT


def test_a_folder_in_tmp_that_others_may_enter_is_refused(var: Path) -> None:
    var = var / ("a" * 90)
    sockets = Paths(var).sockets
    sockets.mkdir(mode=0o755)
    try:
        user = User(var)
        assert re.search(r"is not a folder that user id \d+ alone may enter", user.answer())
        user.kill()
    finally:
        sockets.rmdir()


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the servers as another account")


@pytest.mark.sweep
@as_root
def test_data_is_outside_where_that_account_cannot_reach_var_and_var_points_to_it(var: Path) -> None:
    var.mkdir(mode=0o700)
    with using(var, Purpose.HOUSE):
        paths = Paths(var)
        assert paths.home.parent == OUTSIDE
        assert paths.pointer.readlink() == paths.cluster
        assert (paths.home / "README").read_text().startswith(f"Data of {var}")
    wait_until(lambda: not processes_of(var), "the servers did not stop")
    var.chmod(0o755)
    assert Paths(var).home == paths.home, "data that is there is used where it is"


@pytest.mark.sweep
@as_root
def test_data_outside_whose_var_is_gone_is_set_aside(var: Path) -> None:
    var.mkdir(mode=0o700)
    home = Paths(var).home
    home.mkdir(parents=True)
    (home / "old").touch()
    with using(var):
        assert not (home / "old").exists()
    (aside,) = home.parent.glob(f"{home.name}.*")
    assert (aside / "old").exists()
    shutil.rmtree(aside)


def test_reading_a_path_needs_every_folder_on_the_way(tmp_path: Path) -> None:
    stranger = Account("stranger", uid=54_321, gid=54_321)
    with fresh_var() as var:
        var.mkdir(mode=0o755)
        (var / "file").write_text("")
        (var / "file").chmod(0o644)
        assert can_read(stranger, var / "file")
        (var / "file").chmod(0o640)
        assert not can_read(stranger, var / "file")
        (var / "file").chmod(0o644)
        var.chmod(0o750)
        assert not can_read(stranger, var / "file")
        assert can_read(Account("group", uid=54_321, gid=var.stat().st_gid), var / "file")


def test_logs_are_for_their_owner_alone(var: Path) -> None:
    with open_log(Paths(var).logs / "web.log"):
        assert stat.S_IMODE(Paths(var).logs.stat().st_mode) == 0o700
