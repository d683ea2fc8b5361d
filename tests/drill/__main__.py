"""`make drill`: a long drill in a house of its own. `python -m tests.drill [--seed SEED] [--rounds ROUNDS]`."""

import sys
from argparse import ArgumentParser
from random import SystemRandom

from tests.drill.held import drill, house

MOST = 10**6


def main() -> int:
    """Hold it and say what came of it; return the exit status."""
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("--seed", type=int, default=SystemRandom().randrange(1, MOST))
    asked.add_argument("--rounds", type=int, default=30)
    plan = asked.parse_args()
    with house() as opened:
        print(f"{opened.url}; make drill SEED={plan.seed} ROUNDS={plan.rounds} makes the same choices", flush=True)
        return drill(opened, str(plan.seed), str(plan.rounds)).returncode


if __name__ == "__main__":
    sys.exit(main())
