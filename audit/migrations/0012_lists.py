"""What lists of approvals and significant events are filtered by."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0011_withdrawing")]
    operations = [
        migrations.AddIndex("approval", models.Index(fields=["kind", "-id"], name="audit_approval_kind")),
        migrations.AddIndex(
            "significant", models.Index(fields=["category", "state", "-id"], name="audit_significant_both")
        ),
    ]
