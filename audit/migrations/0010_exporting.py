"""Rows of lists leave the house as files for whoever may take them out."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0009_report_indexes")]
    operations = [
        migrations.AlterModelOptions(
            name="event",
            options={
                "default_permissions": ("view",),
                "permissions": [("export_rows", "Can take rows of lists out as files")],
            },
        )
    ]
