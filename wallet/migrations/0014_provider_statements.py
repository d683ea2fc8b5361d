"""Statements of providers, differences from them, notes on deposits in doubt, and what staff find money by: tables as the
models say, then ``wallet/sql/0014_provider_statements.sql``; and who works with them.
"""

import uuid
from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

RECONCILE = Duty(
    "wallet", "providerstatement", "reconcile", "Can read in statements of providers, and settle differences"
)
SEE_STATEMENTS = Duty(
    "wallet", "providerstatement", "see_statements", "Can see statements of providers, and settle nothing"
)
HANDLE_DEPOSIT = Duty(
    "wallet", "depositnote", "handle_deposit", "Can look into deposits in doubt, ask providers and note what was found"
)
SEE_DEPOSITS = Duty("wallet", "depositnote", "see_deposits", "Can see deposits in doubt")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let finance work with them and compliance see them."""
    alias = schema_editor.connection.alias
    grant(apps, alias, "finance", RECONCILE, HANDLE_DEPOSIT)
    grant(apps, alias, "compliance", SEE_STATEMENTS, SEE_DEPOSITS)


class Migration(migrations.Migration):
    dependencies = [("players", "0013_compliance"), ("wallet", "0013_adjustments")]

    operations = [
        migrations.CreateModel(
            name="DepositNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("by", models.TextField()),
                ("settles", models.BooleanField()),
                ("words", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "wallet_deposit_note",
                "permissions": [
                    ("handle_deposit", "Can look into deposits in doubt, ask providers and note what was found"),
                    ("see_deposits", "Can see deposits in doubt"),
                ],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Difference",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("unknown", "Unknown to the house"),
                            ("amount", "Another amount"),
                            ("currency", "Another currency"),
                            ("status", "Another status"),
                            ("authorisation", "Another authorisation number"),
                            ("duplicate", "Said twice"),
                            ("taken_back", "Taken back by the provider"),
                            ("missing", "Missing from the statement"),
                        ],
                        max_length=15,
                    ),
                ),
                ("subject", models.TextField()),
                ("known", models.JSONField()),
            ],
            options={
                "db_table": "wallet_difference",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="DifferenceStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("by", models.TextField()),
                ("settles", models.BooleanField()),
                ("words", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "wallet_difference_step",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ProviderStatement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.CharField(max_length=255)),
                ("since", models.DateField()),
                ("until", models.DateField()),
                ("name", models.CharField(max_length=100)),
                ("digest", models.BinaryField(unique=True)),
                ("totals", models.JSONField()),
                ("by", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "wallet_provider_statement",
                "permissions": [
                    ("reconcile", "Can read in statements of providers, and settle differences"),
                    ("see_statements", "Can see statements of providers, and settle nothing"),
                ],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="StatementDraft",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("provider", models.CharField(max_length=255)),
                ("since", models.DateField()),
                ("until", models.DateField()),
                ("name", models.CharField(max_length=100)),
                ("digest", models.BinaryField()),
                ("lines", models.JSONField()),
                ("faults", models.JSONField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "wallet_statement_draft",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="StatementLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("deposit", "Deposit"),
                            ("payout", "Payout"),
                            ("refund", "Refund"),
                            ("chargeback", "Chargeback"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reference", models.CharField(blank=True, max_length=64)),
                ("authorisation", models.CharField(blank=True, max_length=64)),
                ("amount", models.BigIntegerField()),
                (
                    "currency",
                    models.CharField(
                        choices=[("SEK", "Sek"), ("DKK", "Dkk"), ("RON", "Ron"), ("EUR", "Eur"), ("GBP", "Gbp")],
                        max_length=3,
                    ),
                ),
                ("day", models.DateField()),
                (
                    "status",
                    models.CharField(
                        choices=[("settled", "Settled"), ("pending", "Pending"), ("failed", "Failed")], max_length=10
                    ),
                ),
                ("subject", models.TextField()),
                (
                    "verdict",
                    models.CharField(
                        choices=[("matched", "Matched"), ("differs", "Differs"), ("repeated", "Repeated")],
                        max_length=10,
                    ),
                ),
            ],
            options={
                "db_table": "wallet_statement_line",
                "default_permissions": (),
            },
        ),
        migrations.AddIndex(
            model_name="journal",
            index=models.Index(
                condition=models.Q(("kind__in", ["stake", "settle"]), _negated=True),
                fields=["kind", "id"],
                name="wallet_journal_kinds",
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("state", "error")), fields=["begun_at"], name="wallet_payment_error"
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("authorisation", ""), _negated=True),
                fields=["authorisation"],
                name="wallet_payment_authorised",
            ),
        ),
        migrations.AddIndex(
            model_name="paymentnotice",
            index=models.Index(
                condition=models.Q(("decision__in", ["contradicted", "mismatched"])),
                fields=["-id"],
                name="wallet_payment_notice_doubt",
            ),
        ),
        migrations.AddIndex(
            model_name="payoutaccount",
            index=models.Index(fields=["last_four", "player"], name="wallet_payout_account_ending"),
        ),
        migrations.AddIndex(
            model_name="withdrawal",
            index=models.Index(fields=["status", "currency", "id"], name="wallet_withdrawal_queue"),
        ),
        migrations.AddIndex(
            model_name="withdrawalstep",
            index=models.Index(
                condition=models.Q(("after", "paid")), fields=["reason"], name="wallet_withdrawal_step_paid"
            ),
        ),
        migrations.AddField(
            model_name="depositnote",
            name="payment",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="notes", to="wallet.payment"
            ),
        ),
        migrations.AddField(
            model_name="differencestep",
            name="difference",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="steps",
                to="wallet.difference",
            ),
        ),
        migrations.AddField(
            model_name="difference",
            name="statement",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="differences",
                to="wallet.providerstatement",
            ),
        ),
        migrations.AddField(
            model_name="statementdraft",
            name="staff",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.staff"),
        ),
        migrations.AddField(
            model_name="statementline",
            name="statement",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="lines",
                to="wallet.providerstatement",
            ),
        ),
        migrations.AddField(
            model_name="difference",
            name="line",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="differences",
                to="wallet.statementline",
            ),
        ),
        migrations.AddIndex(
            model_name="depositnote",
            index=models.Index(fields=["payment", "id"], name="wallet_deposit_note_of"),
        ),
        migrations.AddIndex(
            model_name="differencestep",
            index=models.Index(fields=["difference", "id"], name="wallet_difference_step_of"),
        ),
        migrations.AddConstraint(
            model_name="differencestep",
            constraint=models.UniqueConstraint(
                condition=models.Q(("settles", True)), fields=("difference",), name="wallet_difference_settled_once"
            ),
        ),
        migrations.AddIndex(
            model_name="statementline",
            index=models.Index(fields=["subject"], name="wallet_statement_line_subject"),
        ),
        migrations.AddConstraint(
            model_name="statementline",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__gt", 0)), name="wallet_statement_line_amount"
            ),
        ),
        migrations.AddConstraint(
            model_name="statementline",
            constraint=models.UniqueConstraint(fields=("statement", "number"), name="wallet_statement_line_once"),
        ),
        migrations.AddIndex(
            model_name="difference",
            index=models.Index(fields=["statement", "id"], name="wallet_difference_of"),
        ),
        migrations.AddIndex(
            model_name="difference",
            index=models.Index(
                condition=models.Q(("kind", "missing")), fields=["subject"], name="wallet_difference_missing"
            ),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0014_provider_statements.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
