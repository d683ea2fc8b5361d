"""How approvals ended, by which their list is filtered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0012_lists")]
    operations = [
        migrations.AddIndex("decision", models.Index(fields=["verdict", "-approval"], name="audit_decision_verdict"))
    ]
