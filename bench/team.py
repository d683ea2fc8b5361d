"""Players in processes of their own: they wait, play for so many seconds when told to, and say how fast they were."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from bench.contest import Rate, Unavailable
from bench.places import PROJECT

SECONDS_TO_LEAVE: Final = 20.0

Process = subprocess.Popen[str]


@contextmanager
def team(
    way: str, people: Sequence[Mapping[str, Any]], environment: Mapping[str, str], *options: str
) -> Iterator[Rate]:
    """Start a player for each of the people, wait until all sit at the table, and yield how to let them play.

    Raises Unavailable where one gives up.
    """
    players = [_start(way, person, environment, options) for person in people]
    try:
        for player in players:
            _answer(player)

        def rate(seconds: float) -> float:
            for player in players:
                _tell(player, str(seconds))
            return sum(float(_answer(player)) for player in players)

        yield rate
    finally:
        for player in players:
            _dismiss(player)


@contextmanager
def member(way: str, person: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[Callable[[str], str]]:
    """Start one player, wait until they sit there, and yield how to tell them a line and have their answer.

    Raises Unavailable where they give up.
    """
    player = _start(way, person, environment, ())
    try:
        _answer(player)

        def tell(line: str) -> str:
            _tell(player, line)
            return _answer(player)

        yield tell
    finally:
        _dismiss(player)


def _start(way: str, person: Mapping[str, Any], environment: Mapping[str, str], options: Sequence[str]) -> Process:
    return subprocess.Popen(
        [sys.executable, "-m", f"bench.{way}_player", json.dumps(person), *options],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _tell(player: Process, line: str) -> None:
    assert player.stdin is not None
    player.stdin.write(line + "\n")
    player.stdin.flush()


def _answer(player: Process) -> str:
    assert player.stdout is not None
    line = player.stdout.readline().strip()
    if not line:
        raise Unavailable("a player gave up; why stands above")
    return line


def _dismiss(player: Process) -> None:
    """Players leave at the end of their input."""
    assert player.stdin is not None
    player.stdin.close()
    try:
        player.wait(SECONDS_TO_LEAVE)
    except subprocess.TimeoutExpired:
        player.kill()
        player.wait()
