"""Makes an empty house one that has somebody of every kind: `python -m bench.grown NUMBER` puts so many players into
it, two of whom have all that it takes to play, and somebody who works there and may see everything. It prints who these
three are, as JSON.
"""

import json
import sys

import django

django.setup()

from bench import crowd, people  # noqa: E402  (models need the set-up)
from players.login import second_factor  # noqa: E402
from players.staff import first_staff  # noqa: E402

ROLES = ("operator", "supervisor", "finance", "compliance", "support", "administrator")
ABLE = 2


def main() -> None:
    """Register, fill and found."""
    able = people.settle_in(["SE"] * ABLE)
    crowd.fill(int(sys.argv[1]) - ABLE)
    staff = first_staff.found(email="staff@bench.example", name="Somebody", roles=ROLES)
    second_factor.give(staff.user)
    json.dump([*able, {"staff": staff.pk}], sys.stdout)


if __name__ == "__main__":
    main()
