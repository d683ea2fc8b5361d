"""Time that passes, in tests of what is kept for a time only. The clock is the database's, so rows get older."""

import psycopg


def age(owner: psycopg.Connection, table: str, column: str, days: int, where: str = "true") -> None:
    """Let that many days pass since what *column* says of the rows."""
    owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    owner.execute(f"UPDATE {table} SET {column} = {column} - make_interval(days => %s) WHERE {where}", [days])
    owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
