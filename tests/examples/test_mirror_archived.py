"""examples/mirror_log.py, and a house that puts old events into archives."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connections

from audit import archiving
from audit.models import Checkpoint
from audit.verification import verify
from players.models import Scope
from tests.api.client import Program
from tests.audit import sealed
from tests.audit.sealed import OCTOBER, SEPTEMBER
from tests.audit.signing import Pens
from tests.examples.between import Between, standing_between
from tests.harness import databases, web
from tests.people import a_member_of_staff

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "mirror_log.py"


@dataclass
class Mirrors:
    """Folders beside each other that mirror a house, and what stands between."""

    place: Path
    between: Between
    token: str
    left_alone_at: int = 0  # how many events there were when the first of them was run the last time

    def run(self, name: str) -> tuple[int, list[str]]:
        """Run the program into a folder; return its status and what it says."""
        done = subprocess.run(
            [sys.executable, "-I", PROGRAM, self.between.url, self.place / name, "--keys", self.place / "keys"],
            env={**os.environ, "SABOT_TOKEN": self.token},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    def verified(self, name: str) -> str:
        """What the program of the house's own exports says of a mirror."""
        folder, keys = str(self.place / name), str(self.place / "keys")
        command = [sys.executable, "-I", "-S", verify.__file__, folder, "--keys", keys]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(scope="module")
def mirrors(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Mirrors]:
    """Mirrors of a house when two months have gone: one that was run all the time, one that was left alone after the
    first month, and none yet.
    """
    pens, place = Pens(), tmp_path_factory.mktemp("mirrors")
    (place / "keys").write_text(pens.keys)
    with django_db_blocker.unblock(), databases.clone("mirrored") as database, sealed.months_ago(database) as owner:
        sealed.fill_months(owner, pens, SEPTEMBER)
        token = Program(a_member_of_staff("compliance").user, Scope.EVENTS, Scope.CHECKPOINTS).key
        environment = {"AUDIT_KEYS": pens.keys.replace("\n", ",")}
        server = web.start(database, place / "web.log", application="casino.asgi:application", environment=environment)
        try:
            with standing_between(server.port) as between:
                opened = Mirrors(place, between, token, Checkpoint.objects.latest("size").size)
                assert opened.run("left alone")[0] == 0
                sealed.fill_months(owner, pens, OCTOBER, None)
                assert opened.run("kept up")[0] == 0
                sealed.leave_months(owner, pens)
                yield opened
        finally:
            web.stop(server)
            connections.close_all()


@pytest.fixture(autouse=True)
def with_the_database(mirrors, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield
    mirrors.between.spoil.clear()


@pytest.mark.sweep
def test_a_mirror_that_has_them_keeps_them(mirrors):
    size = Checkpoint.objects.latest("size").size
    status, said = mirrors.run("kept up")
    assert (status, said[0].startswith(f"sabot.test/log: {size} events, all as they were signed; ")) == (0, True)
    assert mirrors.verified("kept up").endswith("All that is here is proven.\n")


def test_one_that_begins_now_begins_at_the_first_that_the_house_has(mirrors):
    size, begins = Checkpoint.objects.latest("size").size, archiving.begins()
    mirrors.between.asked.clear()
    here = size - begins
    status, said = mirrors.run("new")
    assert status == 0
    assert said == [
        f"sabot.test/log: {size} events, {here} of them here, all as they were signed; {here} of them are new here.",
        f"Events 0 to {begins - 1} are not here: the house has put them into archives.",
    ]
    asked = [name for name in mirrors.between.asked if "entries" in name]
    assert asked[:2] == ["tile/entries/000", verify.tile_path("entries", begins // 256)]
    assert f"Leaves {begins} to {size - 1} are here, of leaves 0 to" in mirrors.verified("new")
    assert mirrors.verified("new").endswith("All that is here is proven.\n")


@pytest.mark.sweep
def test_one_that_was_left_alone_says_what_it_lacks_until_it_has_it_from_the_archive(mirrors):
    lacking = f"Events {mirrors.left_alone_at} to {archiving.begins() - 1} are not here"
    for _ in range(2):
        status, said = mirrors.run("left alone")
        assert (status, said[1]) == (0, f"{lacking}: the house has put them into archives.")
    shutil.copytree(mirrors.place / "kept up" / "tile", mirrors.place / "left alone" / "tile", dirs_exist_ok=True)
    status, said = mirrors.run("left alone")
    assert (status, len(said)) == (0, 2)
    assert mirrors.verified("left alone").endswith("All that is here is proven.\n")


@pytest.mark.sweep
def test_a_house_that_takes_back_what_it_said_it_has_is_not_believed(mirrors):
    mirrors.between.spoil["tile/entries/000"] = lambda _data: b'{"first_leaf": 0}'
    said = "the house says that it has the events from 0 on, and not tile/entries/000"
    assert mirrors.run("other") == (2, [f"Cannot be read: {said}"])
    mirrors.between.spoil["tile/entries/000"] = lambda _data: b"gone"
    said = "the house says that something has gone, and not which events it has"
    assert mirrors.run("other") == (2, [f"Cannot be read: {said}"])
