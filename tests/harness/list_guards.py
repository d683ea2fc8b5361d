"""`make guards`: write ``wallet/guards.txt`` and ``docs/database-functions.md`` from a new database of its own."""

import django
from django.core.management import call_command

if __name__ == "__main__":
    django.setup()
    from tests.harness.databases import clone  # settings need the set-up

    with clone("guards"):
        call_command("list_guards")
        call_command("list_functions")
