"""A drill in a process of the house that it is held in: `python -m tests.drill.inside LAUNCHER PORT [SEED ROUNDS]`, as
`tests.drill.held` starts it.
"""

import sys

import django

django.setup()

from tests.drill.drill import hold  # noqa: E402  (models need the set-up)

if __name__ == "__main__":
    hold(*(int(each) for each in sys.argv[1:]))
