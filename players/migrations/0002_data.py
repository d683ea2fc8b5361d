"""Roles of staff and jurisdictions (``0002_data.sql``), and the templates of replies that the house ships."""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.support.replies import filling


def insert_reply_templates(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Insert the first version of each template in ``players/support/texts/replies.*.md``."""
    templates = apps.get_model("players", "ReplyTemplate").objects.using(schema_editor.connection.alias)
    templates.bulk_create([templates.model(number=1, **each) for each in filling.templates()])


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text()),
        migrations.RunPython(insert_reply_templates),
    ]
