"""Roles of staff and jurisdictions (``0002_data.sql``), and the templates of replies that the house ships."""

import json
from pathlib import Path

from django.db import migrations

from audit.initial_migration import RowsMigration
from players.support import staff_replies as replies


TEMPLATE = "INSERT INTO players_reply_template (name, number, kind, title, texts) VALUES (%s, 1, %s, %s, %s)"


def first_templates() -> list[tuple[str, list[str]]]:
    """Return the statements that insert the first version of each template in
    ``players/support/texts/replies.*.md``. Python that inserts them would have Django render every model again.
    """
    return [
        (TEMPLATE, [each["name"], each["kind"], each["title"], json.dumps(each["texts"])])
        for each in replies.templates()
    ]


class Migration(RowsMigration):
    dependencies = [
        ("players", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text()),
        migrations.RunSQL(first_templates()),
    ]
