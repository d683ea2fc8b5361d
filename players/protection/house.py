"""Protection of players as a part of the verification of the house (`audit.verification.house`): limits, exclusions and
agreements to the terms are what the event log says, and none is there of which no event speaks
(`players/sql/functions/log_verification.sql`).
"""

from collections.abc import Iterator
from typing import Final

from django.db import connection

from audit.verification import house
from audit.verification.house import Finding, Verifier

TABLES: Final = ("players_limitchange", "players_exclusion", "players_agreement", "audit_event")


def add() -> None:
    """Register the protection of players as a part."""
    house.register(house.Part(house.PROTECTION, Protection, tables=TABLES))


class Protection(Verifier):
    """Verifies limits, exclusions and agreements in one run."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the rows of which these leaves speak."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT * FROM players_verify_logged_protection(%s, %s)", [first, end])
            yield from (Finding(*row) for row in cursor.fetchall())

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of every row."""
        with connection.cursor() as cursor:
            low = [self.scope.low[table] for table in TABLES]
            cursor.execute("SELECT * FROM players_verify_unlogged_protection(%s, %s, %s, %s)", low)
            yield from (Finding(*row) for row in cursor.fetchall())
