"""The schema in force: columns, constraints, unique indexes, triggers, functions, and privileges.

``guards.txt`` lists what the migrations create and which privileges ``ops/privileges.py`` grants to
the role of web and workers on the tables that hold money, the event log, player protection, void
rounds and staff accounts. `make guards` writes the file. A test compares it with a freshly
migrated database, so it stays up to date.
"""

from functools import cache
from pathlib import Path
from typing import Final

from django.db import connection

LIST = Path(__file__).parents[1] / "guards.txt"
RIGHT = "may "  # prefix of a line about a privilege

# PostgreSQL writes casts and parentheses otherwise once a dump was restored.
HASH: Final = (
    "left(encode(sha256(convert_to(regexp_replace({}, '::(character varying|text)(\\[\\])?|[()]', '', 'g'), 'UTF8')),"
    " 'hex'), 16)"
)
EVERY_TABLE = """
    SELECT oid, relname, relispartition FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
"""
# Those whose every guard has an attack, and whose privileges are listed.
TABLES = """
    SELECT oid, relname, relispartition FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    AND (relname ~ '^(wallet|audit)_' OR relname IN ('players_limitchange', 'players_limitoffer', 'players_exclusion',
         'players_exclusionlift', 'players_accountlock', 'players_registercheck', 'players_realitycheck',
         'players_borrowed_money', 'players_case', 'players_case_entry', 'players_screening_entry',
         'players_screening_reading',
         'players_notice', 'players_api_call', 'players_api_token', 'players_staff', 'players_staff_change',
         'players_jurisdiction', 'players_national_rule_change', 'players_limitreminder',
         'players_user_groups', 'players_closure', 'players_playsession', 'players_playtime',
         'players_identity', 'players_user', 'mfa_authenticator', 'account_emailaddress', 'games_void')
         OR relname ~ '^players_credential')
"""

# One line per guard in force. PostgreSQL's internal triggers enforce foreign keys, and a superuser
# can disable them. What a line does not say in words ends it as a hash. A guard on the monthly
# partitions of a table is listed once, if every month has it: the owner of a partition can write to
# it under its own name.
IN_FORCE = f"""
    WITH every AS MATERIALIZED ({EVERY_TABLE}), guarded AS (SELECT * FROM every WHERE NOT relispartition),
    month AS (
        SELECT every.oid, every.relname, whole.oid AS whole, whole.relname AS of,
            count(*) OVER (PARTITION BY whole.oid) AS months
        FROM every JOIN pg_inherits ON inhrelid = every.oid JOIN pg_class AS whole ON whole.oid = inhparent
        WHERE every.relispartition
    )
    SELECT format('column %s of %s: %s', attname, guarded.relname,
                  concat_ws(' default ', format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid))) AS line
    FROM guarded JOIN pg_attribute ON attrelid = guarded.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    UNION ALL
    SELECT format('constraint %s on %s: %s', c.conname, guarded.relname,
                  {HASH.format("pg_get_constraintdef(c.oid)")})
    FROM pg_constraint AS c JOIN guarded ON guarded.oid = c.conrelid
    WHERE c.convalidated AND c.conenforced
      AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgconstraint = c.oid AND t.tgenabled NOT IN ('O', 'A'))
    UNION ALL
    SELECT format('unique index %s on %s: %s', i.indexrelid::regclass, guarded.relname,
                  {HASH.format("pg_get_indexdef(i.indexrelid)")})
    FROM pg_index AS i JOIN guarded ON guarded.oid = i.indrelid WHERE i.indisunique AND i.indisvalid
    UNION ALL
    SELECT format('trigger %s on %s by %s: %s', t.tgname, guarded.relname, t.tgfoid::regproc,
                  {HASH.format("pg_get_triggerdef(t.oid)")})
    FROM pg_trigger AS t JOIN guarded ON guarded.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
    UNION ALL
    SELECT format('in every month: foreign key %s on %s', max(c.conname), month.of)
    FROM pg_constraint AS c JOIN month ON month.oid = c.conrelid
    WHERE c.contype = 'f' AND c.convalidated AND c.conenforced AND c.conparentid <> 0
      AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgconstraint = c.oid AND t.tgenabled NOT IN ('O', 'A'))
    GROUP BY month.of, month.months, c.conkey HAVING count(*) = month.months
    UNION ALL
    SELECT format('in every month: unique index %s on %s', replace(i.indexrelid::regclass::text, relname, of), of)
    FROM pg_index AS i JOIN month ON month.oid = i.indrelid WHERE i.indisunique AND i.indisvalid
    GROUP BY 1, months HAVING count(*) = months
    UNION ALL
    SELECT format('in every month: trigger %s on %s by %s', t.tgname, of, t.tgfoid::regproc)
    FROM pg_trigger AS t JOIN month ON month.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
    GROUP BY 1, months HAVING count(*) = months
    UNION ALL
    SELECT format('function %s(%s) run by %s, %s: %s', p.proname, pg_get_function_identity_arguments(p.oid),
                  CASE WHEN p.prosecdef THEN 'owner' ELSE 'caller' END,
                  coalesce(array_to_string(p.proconfig, '; '), 'nothing set'),
                  left(encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 16))
    FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
"""  # noqa: S608  (no user input)

# One line per privilege of the current role.
RIGHTS = f"""
    WITH guarded AS MATERIALIZED ({TABLES})
    SELECT format('{RIGHT}%s %s', what, relname) AS line
    FROM guarded, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS what
    WHERE has_table_privilege(oid, what)
    UNION ALL
    SELECT format('{RIGHT}%s %s.%s', what, relname, attname)
    FROM guarded JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped,
         unnest(ARRAY['INSERT', 'UPDATE']) AS what
    WHERE has_column_privilege(oid, attnum, what) AND NOT has_table_privilege(oid, what)
    UNION ALL
    SELECT format('{RIGHT}EXECUTE %s', oid::regprocedure)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef AND has_function_privilege(oid, 'EXECUTE')
"""  # noqa: S608  (no user input)


def _escaped(question: str) -> str:
    return question.replace("%", "%%")


MISSING = f"""
    SELECT due.line || ': missing, changed or not in force' FROM unnest(%s::text[]) AS due (line)
    WHERE due.line NOT IN (SELECT line FROM ({_escaped(IN_FORCE)}) AS in_force) ORDER BY 1
"""  # noqa: S608  (no user input)
BEYOND = (
    f"SELECT current_user || ' ' || line FROM ({_escaped(RIGHTS)}) AS rights WHERE line <> ALL (%s::text[]) ORDER BY 1"  # noqa: S608  (no user input)
)


def in_force() -> list[str]:
    """Return the guards and privileges of this database as lines of ``guards.txt``."""
    with connection.cursor() as cursor:
        found: list[str] = []
        for question in (IN_FORCE, RIGHTS):
            cursor.execute(question)
            found += sorted(line for (line,) in cursor)
    return found


@cache
def due() -> tuple[list[str], list[str]]:
    """Return the required guards and the allowed privileges of web and workers."""
    lines = LIST.read_text().splitlines()
    return [line for line in lines if not line.startswith(RIGHT)], [line for line in lines if line.startswith(RIGHT)]
