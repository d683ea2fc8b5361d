"""The parts of an attack, and the usual kinds of attack."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """``action`` is refused while ``guard`` is on ``table``, and succeeds once it is dropped.

    ``also`` takes down beforehand what else would refuse it, so that this guard alone decides. ``refused_by`` names the
    constraint that refuses where the guard is a trigger which only sees to it that there is something to refuse.
    ``harm`` asks whether the action has come to something, where the guard does not refuse but sets right.
    ``by_login`` says that the role of web and workers acts, and not the owner of the tables.
    """

    table: str
    guard: str
    action: str
    also: str = ""
    refused_by: str = ""
    harm: str = ""
    name: str = ""
    by_login: bool = False

    @property
    def id(self) -> str:
        return " ".join(filter(None, (self.table, self.guard, self.name)))


# Everything on the table but one constraint or index goes: triggers, checks, keys to and from it. Where the table is
# kept by months, so does what each of them has by itself.
ALONE = """
DO $$
DECLARE
    each record;
BEGIN
    ALTER TABLE {table} DISABLE TRIGGER USER;
    FOR each IN SELECT conname FROM pg_constraint
        WHERE conrelid = '{table}'::regclass AND contype NOT IN ('n', 't') AND conname <> '{guard}'
    LOOP
        EXECUTE format('ALTER TABLE {table} DROP CONSTRAINT IF EXISTS %I CASCADE', each.conname);
    END LOOP;
    FOR each IN SELECT indexrelid::regclass AS name FROM pg_index
        WHERE indrelid = '{table}'::regclass AND indisunique AND indexrelid <> coalesce(to_regclass('{guard}'), 0)
    LOOP
        EXECUTE format('DROP INDEX %s', each.name);
    END LOOP;
    FOR each IN SELECT indexrelid::regclass AS name FROM pg_index JOIN pg_inherits AS month ON month.inhrelid = indrelid
        WHERE month.inhparent = '{table}'::regclass AND indisunique
        AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)
    LOOP
        EXECUTE format('DROP INDEX %s', each.name);
    END LOOP;
    FOR each IN SELECT attname FROM pg_attribute
        WHERE attrelid = '{table}'::regclass AND attidentity <> '' AND NOT attisdropped
    LOOP
        EXECUTE format('ALTER TABLE {table} ALTER %I DROP IDENTITY', each.attname);
    END LOOP;
END $$
"""

# No other table asks for rows of this one any more.
UNREFERENCED = """
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN SELECT conname, conrelid::regclass AS name FROM pg_constraint
        WHERE confrelid = '{table}'::regclass AND contype = 'f' AND conparentid = 0
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', each.name, each.conname);
    END LOOP;
END $$
"""

# The months of the table no longer have their own guards.
MONTHS_OPEN = """
DO $$
DECLARE
    month regclass;
BEGIN
    FOR month IN SELECT inhrelid FROM pg_inherits WHERE inhparent = '{table}'::regclass
    LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', month);
    END LOOP;
END $$
"""


def alone(table: str, guard: str) -> str:
    return ALONE.format(table=table, guard=guard)


def changed(table: str, guard: str, change: str, where: str = "true") -> Attack:
    """Return an attack that changes one row to what the constraint forbids."""
    action = f"UPDATE {table} SET {change} WHERE ctid = (SELECT min(ctid) FROM {table} WHERE {where})"
    return Attack(table, guard, action, alone(table, guard))


def twice(table: str, guard: str, where: str = "true") -> Attack:
    """Return an attack that inserts a row a second time."""
    action = f"INSERT INTO {table} SELECT * FROM {table} WHERE ctid = (SELECT min(ctid) FROM {table} WHERE {where})"
    return Attack(table, guard, action, alone(table, guard))


def nothing(table: str, columns: str) -> Iterator[Attack]:
    """Yield attacks that set each of the columns to NULL in one row."""
    for column in columns.split():
        yield changed(table, f"{table}_{column}_not_null", f'"{column}" = NULL')


def kept(table: str, guard: str, column: str = "", *, removed: bool = True) -> Iterator[Attack]:
    """Yield attacks that change rows (in *column*, if given), delete rows (if *removed*), and truncate the table."""
    also = UNREFERENCED.format(table=table) + ";" + MONTHS_OPEN.format(table=table)
    if column:
        yield Attack(table, guard, f'UPDATE {table} SET "{column}" = "{column}"', name="UPDATE")
    if removed:
        yield Attack(table, guard, f"DELETE FROM {table}", also, name="DELETE")
    yield Attack(table, guard, f"TRUNCATE {table}", also, name="TRUNCATE")


def copied(table: str, changes: str) -> str:
    """Return the statement that copies a row of *table* with *changes*, which is JSON as SQL makes it."""
    return (
        f"INSERT INTO {table} SELECT (jsonb_populate_record(of, {changes})).*"
        f" FROM {table} AS of WHERE of.ctid = (SELECT min(ctid) FROM {table})"
    )


def posted(kind: str, amounts: dict[str, int], more: str = "") -> str:
    """Return the statement that functions of the ledger run: *amounts* by the query that finds the account."""
    lines = ", ".join(
        f"(SELECT jsonb_build_array(id, currency, mode, {amount}) FROM wallet_account WHERE {account})"
        for account, amount in amounts.items()
    )
    return (
        "SELECT * FROM wallet_write(jsonb_build_array(jsonb_build_object('key', gen_random_uuid(),"
        f" 'kind', '{kind}', {more} 'lines', jsonb_build_array({lines}))), false)"
    )
