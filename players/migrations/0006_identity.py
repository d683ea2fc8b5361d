"""What players send in to show who they are, and who may be the same person; who of the staff reviews it."""

import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

REVIEW = Duty("players", "submission", "review_identity", "Can review who players are")


def let_review(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the reviewing to those who also answer players."""
    for role in ("compliance", "support"):
        grant(apps, schema_editor.connection.alias, role, REVIEW)


class Migration(migrations.Migration):
    dependencies = [("players", "0005_sessions")]
    operations = [
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("part", models.CharField(choices=[("front", "Front"), ("back", "Back"), ("address", "Address")], max_length=10)),
                ("media_type", models.CharField(max_length=20)),
                ("size", models.PositiveIntegerField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="DocumentContent",
            fields=[
                ("document", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name="content", serialize=False, to="players.document")),
                ("sealed", models.BinaryField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("given_names", models.CharField(max_length=120)),
                ("family_name", models.CharField(max_length=120)),
                ("street", models.CharField(max_length=200)),
                ("postal_code", models.CharField(max_length=20)),
                ("city", models.CharField(max_length=120)),
                ("phone", models.CharField(blank=True, max_length=20)),
                ("document_kind", models.CharField(choices=[("passport", "Passport"), ("card", "Card"), ("licence", "Licence")], max_length=10)),
                ("document_number", models.CharField(max_length=40)),
                ("sent_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("status", models.CharField(choices=[("submitted", "Submitted"), ("verified", "Verified"), ("refused", "Refused")], default="submitted", max_length=10)),
                ("reviewed_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, choices=[("unreadable", "Unreadable"), ("expired", "Expired"), ("mismatch", "Mismatch"), ("address", "Address"), ("incomplete", "Incomplete"), ("altered", "Altered"), ("another_account", "Another Account")], max_length=20)),
                ("note", models.TextField(blank=True)),
                ("player", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player")),
                ("reviewed_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff")),
            ],
            options={
                "permissions": [("review_identity", "Can review who players are")],
                "default_permissions": (),
            },
        ),
        migrations.AddField(
            model_name="document",
            name="submission",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.submission"),
        ),
        migrations.CreateModel(
            name="Trait",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ground", models.CharField(choices=[("name", "Name"), ("address", "Address"), ("number", "Number"), ("picture", "Picture"), ("phone", "Phone"), ("payout", "Payout")], max_length=10)),
                ("fingerprint", models.BinaryField()),
                ("player", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player")),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Duplicate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ground", models.CharField(choices=[("name", "Name"), ("address", "Address"), ("number", "Number"), ("picture", "Picture"), ("phone", "Phone"), ("payout", "Payout")], max_length=10)),
                ("found_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("resolution", models.CharField(blank=True, choices=[("same", "Same"), ("different", "Different")], max_length=10)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("note", models.TextField(blank=True)),
                ("first", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player")),
                ("resolved_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff")),
                ("second", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player")),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(condition=models.Q(("resolution", "")), fields=["found_at"], name="players_duplicate_open")],
                "constraints": [models.CheckConstraint(condition=models.Q(("first__lt", models.F("second"))), name="players_duplicate_in_order"), models.UniqueConstraint(fields=("first", "second", "ground"), name="players_duplicate_once"), models.CheckConstraint(condition=models.Q(models.Q(("resolution", ""), ("resolved_at", None), ("resolved_by", None)), models.Q(models.Q(("resolution", ""), _negated=True), ("resolved_at__isnull", False), ("resolved_by__isnull", False)), _connector="OR"), name="players_duplicate_resolved")],
            },
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(condition=models.Q(("status", "submitted")), fields=["sent_at"], name="players_to_review"),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(condition=models.Q(("status", "submitted")), fields=("player",), name="players_submission_one_open"),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(("reason", ""), ("reviewed_at", None), ("reviewed_by", None), ("status", "submitted")), models.Q(("reason", ""), ("reviewed_at__isnull", False), ("reviewed_by__isnull", False), ("status", "verified")), models.Q(("reviewed_at__isnull", False), ("reviewed_by__isnull", False), ("status", "refused"), models.Q(("reason", ""), _negated=True)), _connector="OR"), name="players_submission_reviewed"),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(fields=("submission", "part"), name="players_document_once"),
        ),
        migrations.AddConstraint(
            model_name="trait",
            constraint=models.UniqueConstraint(fields=("ground", "fingerprint", "player"), name="players_trait_once"),
        ),
        migrations.RunPython(let_review, migrations.RunPython.noop),
    ]
