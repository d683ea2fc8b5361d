"""`make drill`: a long drill with its own house.

`python -m tests.drill [--seed SEED] [--minutes MINUTES] [--rounds ROUNDS] [--short]`. Exits with 1
if a check fails.
"""

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from random import SystemRandom

import django

from ops import embedded
from tests.drill.held import Held, held
from tests.drill.plan import SHORT, chosen
from tests.start.support import environment

MOST = 10**6


def main() -> int:
    """Run the drill and print the result; return the exit status."""
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("--seed", type=int, default=SystemRandom().randrange(1, MOST))
    asked.add_argument("--minutes", type=float, default=6, help="no further round is begun after so long")
    asked.add_argument("--rounds", type=int, default=MOST, help="no more rounds than this")
    asked.add_argument("--short", action="store_true", help="three rounds in which every part of the house is struck")
    plan = asked.parse_args()
    with held(str(plan.seed)) as opened:
        shown = environment(opened.house.var)
        os.environ.clear()  # a test's dealer, for one: the house has another
        os.environ.update(shown)
        django.setup()
        print(f"{opened.house.url}; make drill SEED={plan.seed} makes the same choices", flush=True)
        return hold(opened, plan)


def hold(opened: Held, plan: Namespace) -> int:
    """Run the drill in an open house; return the exit status."""
    from django.db import connections

    from tests.drill.drill import Drill, Failed  # models need the set-up

    until = time.monotonic() + 60 * plan.minutes
    try:
        drill = Drill(opened, str(plan.seed), is_long=not plan.short)
        for number, blows in enumerate(SHORT if plan.short else chosen(plan.seed, plan.rounds), 1):
            if time.monotonic() > until:
                break
            drill.play(number, blows)
        drill.close()
    except (Failed, AssertionError) as failed:
        print(f"FAILED\n{failed}\nmake drill SEED={plan.seed} makes the same choices", flush=True)
        return 1
    finally:
        connections.close_all()
        embedded.leave(opened.house.var)  # or the servers would stay up for this process
    print("all is as it has to be", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
