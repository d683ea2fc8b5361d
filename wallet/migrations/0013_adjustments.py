"""Balances put right by two people: ``wallet/sql/0013_adjustments.sql``; who asks and who decides."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

ASK = Duty("wallet", "adjustment", "ask_adjustment", "Can ask for balances to be adjusted")
DECIDE = Duty("wallet", "adjustment", "decide_adjustment", "Can decide adjustments of balances")
KINDS = [
    ("cash", "Cash"),
    ("purse", "Purse"),
    ("pending", "Pending"),
    ("escrow", "Escrow"),
    ("house", "House"),
    ("cashier", "Cashier"),
    ("mint", "Mint"),
    ("adjusted", "Adjusted"),
    ("bank", "Bank"),
    ("stakes", "Stakes"),
    ("seat", "Seat"),
]
WHY = [
    ("deposit", "A deposit of yours had not been booked as it was paid."),
    ("withdrawal", "A withdrawal of yours had not been booked as it was paid out."),
    ("round", "A round had been booked with an error."),
    ("twice", "Something had been booked twice."),
    ("goodwill", "The house makes up for a mistake of its own."),
    ("ruling", "Your complaint was decided so."),
]


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let support and compliance ask, and finance decide."""
    alias = schema_editor.connection.alias
    for role in ("compliance", "support"):
        grant(apps, alias, role, ASK)
    grant(apps, alias, "finance", DECIDE)


class Migration(migrations.Migration):
    dependencies = [("audit", "0008_significant"), ("players", "0013_compliance"), ("wallet", "0012_report_indexes")]

    operations = [
        migrations.AlterField("account", "kind", models.CharField(choices=KINDS, max_length=10)),
        migrations.AlterField("moved", "account_kind", models.CharField(choices=KINDS, max_length=10)),
        migrations.AlterField("standing", "account_kind", models.CharField(choices=KINDS, max_length=10)),
        migrations.CreateModel(
            name="Adjustment",
            fields=[
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="adjustment",
                        serialize=False,
                        to="audit.approval",
                    ),
                ),
                ("key", models.UUIDField(unique=True)),
                ("amount", models.BigIntegerField()),
                ("why", models.CharField(choices=WHY, max_length=10)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="wallet.account")),
            ],
            options={
                "permissions": [(ASK.codename, ASK.name), (DECIDE.codename, DECIDE.name)],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=~models.Q(amount=0), name="wallet_adjustment_something")
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0013_adjustments.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
