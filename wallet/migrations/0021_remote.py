"""Our tables on an operator's wallet: ``wallet/sql/0021_remote.sql``. Finance settles what operators refuse to book."""

import uuid
from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models.clock
from players.roles import Duty, grant

SETTLE = Duty("wallet", "remotemessage", "settle_remote", "Can settle what operators refuse to book")
KINDS = [
    ("cash", "Cash"),
    ("purse", "Purse"),
    ("pending", "Pending"),
    ("escrow", "Escrow"),
    ("house", "House"),
    ("cashier", "Cashier"),
    ("mint", "Mint"),
    ("studio", "Studio"),
    ("operator", "Operator"),
    ("adjusted", "Adjusted"),
    ("bank", "Bank"),
    ("stakes", "Stakes"),
    ("seat", "Seat"),
]


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let finance look after what operators refuse: it holds the books against theirs."""
    grant(apps, schema_editor.connection.alias, "finance", SETTLE)


class Migration(migrations.Migration):
    dependencies = [("wallet", "0020_seamless"), ("players", "0027_remote")]

    operations = [
        migrations.AlterField(model_name="account", name="kind", field=models.CharField(choices=KINDS, max_length=10)),
        migrations.AlterField(
            model_name="moved", name="account_kind", field=models.CharField(choices=KINDS, max_length=10)
        ),
        migrations.AlterField(
            model_name="standing", name="account_kind", field=models.CharField(choices=KINDS, max_length=10)
        ),
        migrations.CreateModel(
            name="RemotePlayer",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="remote",
                        serialize=False,
                        to="players.player",
                    ),
                ),
                ("name", models.CharField(max_length=64)),
                ("balance", models.BigIntegerField(default=0)),
                ("said_at", models.DateTimeField(null=True)),
                (
                    "partner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.partner",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_remote_player",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="RemoteLaunch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "remote",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.remoteplayer",
                    ),
                ),
                ("token", models.CharField(max_length=128)),
                ("game", models.CharField(max_length=64)),
                ("language", models.CharField(max_length=2)),
                ("digest", models.BinaryField(unique=True)),
                ("at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                ("ends_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("session", models.UUIDField(null=True, unique=True)),
            ],
            options={
                "db_table": "wallet_remote_launch",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="RemoteBet",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("round_id", models.UUIDField()),
                ("game", models.CharField(max_length=64)),
                (
                    "currency",
                    models.CharField(
                        choices=[("SEK", "Sek"), ("DKK", "Dkk"), ("RON", "Ron"), ("EUR", "Eur"), ("GBP", "Gbp")],
                        max_length=3,
                    ),
                ),
                ("amount", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("asked", "asked"),
                            ("played", "played"),
                            ("refused", "refused"),
                            ("given_up", "given up"),
                        ],
                        default="asked",
                        max_length=10,
                    ),
                ),
                ("asked_at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                ("ended_at", models.DateTimeField(null=True)),
                ("reference", models.CharField(blank=True, max_length=64)),
                ("why", models.CharField(blank=True, max_length=64)),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.player",
                    ),
                ),
                (
                    "launch",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.remotelaunch",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_remote_bet",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="RemoteMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("transaction", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("kind", models.CharField(choices=[("win", "win"), ("rollback", "rollback")], max_length=10)),
                ("amount", models.BigIntegerField()),
                ("takes_back", models.UUIDField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("taken", "taken"),
                            ("doubt", "in doubt"),
                            ("settled", "settled by hand"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                ("due_at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                ("tries", models.PositiveIntegerField(default=0)),
                ("said", models.CharField(blank=True, max_length=200)),
                ("reference", models.CharField(blank=True, max_length=64)),
                ("alarmed_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("note", models.CharField(blank=True, max_length=500)),
                (
                    "bet",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="wallet.remotebet",
                    ),
                ),
                (
                    "settled_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.staff",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_remote_message",
                "permissions": [("settle_remote", "Can settle what operators refuse to book")],
                "default_permissions": (),
            },
        ),
        migrations.AddIndex(
            model_name="remotebet",
            index=models.Index(
                condition=models.Q(("state", "asked")), fields=["asked_at"], name="wallet_remote_bet_asked"
            ),
        ),
        migrations.AddIndex(
            model_name="remotebet",
            index=models.Index(fields=["player", "-asked_at"], name="wallet_remote_bet_of_player"),
        ),
        migrations.AddConstraint(
            model_name="remotebet",
            constraint=models.CheckConstraint(condition=models.Q(("amount__gte", 1)), name="wallet_remote_bet_amount"),
        ),
        migrations.AddConstraint(
            model_name="remotebet",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["asked", "played", "refused", "given_up"])),
                name="wallet_remote_bet_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="remotebet",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("state", "asked")),
                    models.Q(models.Q(("state", "asked"), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="wallet_remote_bet_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="remotebet",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["asked", "played"])),
                fields=("round_id",),
                name="wallet_remote_bet_of_round",
            ),
        ),
        migrations.AddIndex(
            model_name="remotemessage",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["due_at", "id"], name="wallet_remote_message_due"
            ),
        ),
        migrations.AddIndex(
            model_name="remotemessage",
            index=models.Index(fields=["bet", "id"], name="wallet_remote_message_of"),
        ),
        migrations.AddIndex(
            model_name="remotemessage",
            index=models.Index(fields=["state", "-id"], name="wallet_remote_message_listed"),
        ),
        migrations.AddConstraint(
            model_name="remotemessage",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount__gte", 0), ("kind", "win"), ("takes_back", None)),
                    models.Q(("amount", 0), ("kind", "rollback"), ("takes_back__isnull", False)),
                    _connector="OR",
                ),
                name="wallet_remote_message_says",
            ),
        ),
        migrations.AddConstraint(
            model_name="remotemessage",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("ended_at", None), ("note", ""), ("settled_by", None), ("state__in", ["waiting", "doubt"])
                    ),
                    models.Q(("ended_at__isnull", False), ("note", ""), ("settled_by", None), ("state", "taken")),
                    models.Q(
                        ("ended_at__isnull", False),
                        ("settled_by__isnull", False),
                        ("state", "settled"),
                        models.Q(("note", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="wallet_remote_message_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="remotemessage",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "win")), fields=("bet",), name="wallet_remote_message_one_win"
            ),
        ),
        migrations.AddConstraint(
            model_name="remotemessage",
            constraint=models.UniqueConstraint(
                condition=models.Q(("takes_back__isnull", False)),
                fields=("takes_back",),
                name="wallet_remote_message_one_back",
            ),
        ),
        migrations.AddConstraint(
            model_name="remoteplayer",
            constraint=models.UniqueConstraint(fields=("partner", "name"), name="wallet_remote_player_once"),
        ),
        migrations.AddConstraint(
            model_name="remoteplayer",
            constraint=models.CheckConstraint(
                condition=models.Q(("balance__gte", 0)), name="wallet_remote_player_balance"
            ),
        ),
        migrations.AddIndex(
            model_name="remotelaunch",
            index=models.Index(fields=["remote", "-id"], name="wallet_remote_launch_of"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0021_remote.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
