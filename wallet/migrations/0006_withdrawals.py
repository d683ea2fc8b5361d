"""Withdrawals, the accounts they go to and the sandbox bank's orders to pay: tables as the models say, then
``wallet/sql/0006_withdrawals.sql``; and who approves them.
"""

import uuid
from pathlib import Path

import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

APPROVE = Duty("wallet", "withdrawal", "approve_withdrawal", "Can approve withdrawals")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let finance and supervisors approve withdrawals."""
    for role in ("finance", "supervisor"):
        grant(apps, schema_editor.connection.alias, role, APPROVE)


class Migration(migrations.Migration):
    dependencies = [("wallet", "0005_payments"), ("audit", "0002_approvals")]

    operations = [
        migrations.CreateModel(
            name="BankPayout",
            fields=[
                ("reference", models.UUIDField(primary_key=True, serialize=False)),
                ("iban", models.TextField()),
                ("amount", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("callback_url", models.URLField(max_length=500)),
                ("number", models.TextField(blank=True)),
                ("refusal", models.TextField(blank=True)),
                ("state", models.CharField(default="accepted", max_length=10)),
                ("sequence", models.PositiveIntegerField(default=1)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "wallet_bank_payout",
                "default_permissions": (),
            },
        ),
        migrations.AlterField(
            model_name="account",
            name="kind",
            field=models.CharField(
                choices=[
                    ("cash", "Cash"),
                    ("purse", "Purse"),
                    ("pending", "Pending"),
                    ("escrow", "Escrow"),
                    ("house", "House"),
                    ("cashier", "Cashier"),
                    ("mint", "Mint"),
                ],
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="PayoutAccount",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("country", models.CharField(max_length=2)),
                ("last_four", models.CharField(max_length=4)),
                ("sealed", models.BinaryField()),
                ("fingerprint", models.BinaryField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payout_accounts",
                        to="players.player",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_payout_account",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Withdrawal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(unique=True)),
                ("reference", models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), unique=True)),
                ("amount", models.BigIntegerField()),
                (
                    "currency",
                    models.CharField(
                        choices=[("SEK", "Sek"), ("DKK", "Dkk"), ("RON", "Ron"), ("EUR", "Eur"), ("GBP", "Gbp")],
                        max_length=3,
                    ),
                ),
                ("takes_two", models.BooleanField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("seconding", "Seconding"),
                            ("approved", "Approved"),
                            ("sending", "Sending"),
                            ("paid", "Paid"),
                            ("returned", "Returned"),
                            ("refused", "Refused"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="requested",
                        max_length=10,
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, to="wallet.payoutaccount"
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawals",
                        to="players.player",
                    ),
                ),
            ],
            options={
                "permissions": [("approve_withdrawal", "Can approve withdrawals")],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="PayoutNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.TextField()),
                ("path", models.CharField(choices=[("callback", "Callback"), ("query", "Query")], max_length=10)),
                ("raw_hash", models.BinaryField()),
                ("outcome", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "withdrawal",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notices",
                        to="wallet.withdrawal",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_payout_notice",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="WithdrawalStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "before",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("requested", "Requested"),
                            ("seconding", "Seconding"),
                            ("approved", "Approved"),
                            ("sending", "Sending"),
                            ("paid", "Paid"),
                            ("returned", "Returned"),
                            ("refused", "Refused"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "after",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("seconding", "Seconding"),
                            ("approved", "Approved"),
                            ("sending", "Sending"),
                            ("paid", "Paid"),
                            ("returned", "Returned"),
                            ("refused", "Refused"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=10,
                    ),
                ),
                ("by", models.TextField()),
                ("handler", models.TextField()),
                ("method", models.TextField()),
                ("reason", models.TextField(blank=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "journal",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="wallet.journal",
                    ),
                ),
                (
                    "withdrawal",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="steps",
                        to="wallet.withdrawal",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_withdrawal_step",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="BankPayoutNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("body", models.TextField()),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("sent_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("payout", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="wallet.bankpayout")),
            ],
            options={
                "db_table": "wallet_bank_payout_notice",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("sent_at__isnull", True)),
                        fields=["due_at"],
                        name="wallet_payout_notice_due",
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="payoutaccount",
            constraint=models.UniqueConstraint(fields=("player", "fingerprint"), name="wallet_payout_account_once"),
        ),
        migrations.AddIndex(
            model_name="withdrawal",
            index=models.Index(fields=["player", "-id"], name="wallet_withdrawal_of"),
        ),
        migrations.AddIndex(
            model_name="withdrawal",
            index=models.Index(
                condition=models.Q(("status__in", ["requested", "seconding", "approved", "sending"])),
                fields=["id"],
                name="wallet_withdrawal_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="withdrawal",
            constraint=models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="wallet_withdrawal_amount"),
        ),
        migrations.AddIndex(
            model_name="withdrawalstep",
            index=models.Index(fields=["withdrawal", "id"], name="wallet_withdrawal_step_of"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0006_withdrawals.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
