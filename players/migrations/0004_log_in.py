"""Log-in: mail, and the lock after wrong passwords."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0003_profiles"), ("account", "0009_emailaddress_unique_primary_email")]
    operations = [
        migrations.RunSQL(
            """
            INSERT INTO account_emailaddress (email, verified, "primary", user_id)
            SELECT email, is_demo, true, id FROM players_user
            """,
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.EmailField(max_length=254)),
                ("language", models.CharField(max_length=2)),
                ("template", models.CharField(max_length=60)),
                ("subject", models.CharField(max_length=200)),
                ("body", models.TextField()),
                ("written_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("next_try_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("sent_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "db_table": "players_mail",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_try_at__isnull", False)),
                        fields=["next_try_at"],
                        name="players_mail_due",
                    ),
                    models.Index(fields=["address", "id"], name="players_mail_address"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogInLock",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "tries",
                    django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), size=None),
                ),
                ("locked_at", models.DateTimeField(null=True)),
                ("code_hash", models.CharField(blank=True, db_default="", max_length=64)),
                ("code_ends_at", models.DateTimeField(null=True)),
                ("code_tries", models.PositiveSmallIntegerField(db_default=0)),
                (
                    "codes_sent",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(), db_default=[], size=None
                    ),
                ),
            ],
            options={"db_table": "players_log_in_lock", "default_permissions": ()},
        ),
    ]
