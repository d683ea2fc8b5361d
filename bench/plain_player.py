"""The yardstick of whole rounds: `python -m bench.plain_player TABLE NUMBER` inserts NUMBER rows by one plain
`INSERT … SELECT` and a commit, again and again, and says how many rows a second that makes.

The rows are those of the ledger's entries, with their primary key and nothing else: no trigger, no further index.
"""

import os
import sys
from itertools import count

import psycopg

from bench.playing import play_when_told

MAKE = "CREATE TABLE IF NOT EXISTS bench_plain (LIKE wallet_entry, PRIMARY KEY (journal_id, line))"
NEXT = "SELECT coalesce(max(journal_id), 0) + 1 FROM bench_plain"
INSERT = """
INSERT INTO bench_plain (journal_id, line, account_id, currency, mode, amount, balance_after, version)
SELECT %(journal)s, row_number() OVER (ORDER BY id), id, currency, mode, -2000, balance, version
FROM wallet_account WHERE kind = 'cash' AND mode = 'R' ORDER BY id LIMIT %(number)s
"""


def main() -> None:
    """Insert when told to."""
    number = int(sys.argv[2])
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute(MAKE)
        (begin,) = owner.execute(NEXT).fetchone() or (1,)
        journals = count(begin)

        def insert() -> None:
            owner.execute(INSERT, {"journal": next(journals), "number": number})

        play_when_told(insert, units=number)


if __name__ == "__main__":
    main()
