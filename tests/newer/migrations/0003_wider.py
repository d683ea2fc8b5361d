"""Every table gets a column that may be empty and one that is filled by itself, each on its own; and there is a new
table.
"""

from django.db import migrations

TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY oid
"""
WIDER = "ADD COLUMN IF NOT EXISTS from_tomorrow text, ADD COLUMN IF NOT EXISTS also bigint NOT NULL DEFAULT 7"


def widen(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} {WIDER}")
        cursor.execute("CREATE TABLE IF NOT EXISTS games_newer (id bigint PRIMARY KEY)")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("contenttypes", "0002_remove_content_type_name")]

    operations = [migrations.RunPython(widen)]
