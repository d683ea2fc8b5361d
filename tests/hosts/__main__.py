"""`python -m tests.hosts [--short]`: a drill of a house on several machines.

As root it uses network namespaces, otherwise addresses. It prints how long each recovery took, and
exits with 1 if there was none.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import django

from deploy.hosts.house import House
from deploy.hosts.network import network


def main() -> int:
    """Open the house, hold the drill, take all down; return the exit status."""
    is_short = "--short" in sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="sabot-hosts-"))
    folder.chmod(0o755)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

    try:
        with House(network(), folder, say) as house:
            say(f"machines are {type(house.network).__name__}")
            house.open()
            os.environ.update(house.environment)
            django.setup()
            from tests.hosts.drill import Drill, Failed, Loss  # models need the set-up

            drill = Drill(house, say)
            blows: list[Callable[[], None]] = [
                drill.read_replica,
                drill.lose_replica,
                partial(drill.lose_web, "web1"),
                partial(drill.lose_beat, Loss.POWER),
                partial(drill.lose_sealer, Loss.POWER),
            ]
            if not is_short:
                blows += [
                    partial(drill.lose_web, "web2"),
                    partial(drill.stop_web, "web2"),
                    partial(drill.lose_beat, Loss.CABLE),
                    partial(drill.lose_beat, Loss.KILLED),
                    partial(drill.lose_sealer, Loss.CABLE),
                ]
            try:
                with drill.in_progress():
                    for blow in blows:
                        blow()
                say(f"the replica is {house.lag():.1f} s behind")
            except Failed as failed:
                say(f"{failed}\n{house.tails()}")
                return 1
            say("all went on")
            return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
