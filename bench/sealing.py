"""Leaves of the event log made a second while somebody plays at a table beside, against the same rows merely moved and
hashed: taken out of one table, numbered and put with their SHA-256 into another, by statements of the same size.

Ours is all that the sealer does: leaves, tiles, the signature. The yardstick has no tree and nobody who signs it.
"""

import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from bench.contest import Contest, Suite, Unavailable, say
from bench.places import PROJECT
from bench.servers import Environment, durability, production, servers, settle_in
from bench.team import team

FOR_LONG: Final = "1000000"  # seconds


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """A house with a player in it who plays all the time. Raises Unavailable."""
    with servers() as (var, addresses):
        say(durability(addresses))
        environment = production(var, addresses)
        (player,) = settle_in(environment, "SE")
        folder = [{"folder": str(var / "signer")}]
        with (
            team("sealing", folder, environment, "tree") as ours,
            team("sealing", folder, environment, "plain") as plain,
            _playing(player, environment),
        ):
            yield Contest(plain, dict.fromkeys(names, ours))


@contextmanager
def _playing(player: Mapping[str, Any], environment: Environment) -> Iterator[None]:
    """Have somebody play until the end. Raises Unavailable where they cannot."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.service_player", json.dumps(player)],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        if not process.stdout.readline():
            raise Unavailable("the player beside gave up; why stands above")
        process.stdin.write(f"{FOR_LONG}\n")
        process.stdin.flush()
        yield
        if process.poll() is not None:
            raise Unavailable("the player beside stopped; why stands above")
    finally:
        process.kill()
        process.communicate()


SUITE: Final = Suite(
    about="Leaves of the event log made and signed, with play beside, against rows moved and hashed",
    unit="leaves/s",
    aims={"seal_rate": None},
    open=open_contest,
)
