"""Partners of the seamless wallet, and their games on ours: ``wallet/sql/0020_seamless.sql``; who asks, who decides."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

VIEW = Duty("wallet", "partner", "view_partners", "Can view partners")
ASK = Duty("wallet", "partner", "ask_partner", "Can ask for partners and their keys, and switch partners off")
DECIDE = Duty("wallet", "partner", "decide_partner", "Can decide partners and their keys")
KINDS = [
    ("cash", "Cash"),
    ("purse", "Purse"),
    ("pending", "Pending"),
    ("escrow", "Escrow"),
    ("house", "House"),
    ("cashier", "Cashier"),
    ("mint", "Mint"),
    ("studio", "Studio"),
    ("adjusted", "Adjusted"),
    ("bank", "Bank"),
    ("stakes", "Stakes"),
    ("seat", "Seat"),
]


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let finance ask, supervisors decide, and both and compliance look."""
    alias = schema_editor.connection.alias
    grant(apps, alias, "finance", VIEW, ASK)
    grant(apps, alias, "supervisor", VIEW, DECIDE)
    grant(apps, alias, "compliance", VIEW)


class Migration(migrations.Migration):
    dependencies = [("wallet", "0019_stops"), ("players", "0026_calls"), ("audit", "0008_significant")]

    operations = [
        migrations.AlterField(
            model_name="account",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=10),
        ),
        migrations.AlterField(
            model_name="moved",
            name="account_kind",
            field=models.CharField(choices=KINDS, max_length=10),
        ),
        migrations.AlterField(
            model_name="standing",
            name="account_kind",
            field=models.CharField(choices=KINDS, max_length=10),
        ),
        migrations.CreateModel(
            name="Partner",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.SlugField(max_length=32, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("kind", models.CharField(choices=[("studio", "Studio"), ("operator", "Operator")], max_length=10)),
                ("address", models.URLField()),
                ("per_minute", models.PositiveIntegerField()),
                ("made_at", models.DateTimeField(db_default=audit.models.Clock())),
                ("off_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.approval"
                    ),
                ),
                (
                    "off_by",
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
                "permissions": [(each.codename, each.name) for each in (VIEW, ASK, DECIDE)],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="PartnerKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=24, unique=True)),
                ("sealed", models.BinaryField()),
                ("made_at", models.DateTimeField(db_default=audit.models.Clock())),
                ("shown_at", models.DateTimeField(null=True)),
                ("used_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.approval"
                    ),
                ),
                (
                    "partner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="keys", to="wallet.partner"
                    ),
                ),
            ],
            options={
                "db_table": "wallet_partner_key",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="StudioPlayer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=32)),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "partner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.partner",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="players.player"
                    ),
                ),
            ],
            options={
                "db_table": "wallet_studio_player",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="GameSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(choices=[("R", "Real"), ("F", "Free")], max_length=1)),
                ("digest", models.BinaryField(unique=True)),
                ("opened_at", models.DateTimeField(db_default=audit.models.Clock())),
                ("ends_at", models.DateTimeField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.session",
                    ),
                ),
                (
                    "studio_player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.studioplayer",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_game_session",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="StudioTransaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("transaction", models.CharField(max_length=64)),
                (
                    "operation",
                    models.CharField(
                        choices=[
                            ("bet", "Bet"),
                            ("win", "Win"),
                            ("rollback", "Rollback"),
                            ("bet-and-win", "Bet And Win"),
                        ],
                        max_length=12,
                    ),
                ),
                ("game", models.CharField(max_length=64)),
                ("round", models.CharField(max_length=64)),
                (
                    "currency",
                    models.CharField(
                        choices=[("SEK", "Sek"), ("DKK", "Dkk"), ("RON", "Ron"), ("EUR", "Eur"), ("GBP", "Gbp")],
                        max_length=3,
                    ),
                ),
                ("mode", models.CharField(choices=[("R", "Real"), ("F", "Free")], max_length=1)),
                ("bet", models.BigIntegerField()),
                ("win", models.BigIntegerField()),
                ("takes_back", models.CharField(blank=True, max_length=64)),
                ("bet_key", models.UUIDField(unique=True)),
                ("win_key", models.UUIDField(unique=True)),
                ("request_hash", models.BinaryField()),
                ("balance", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "game_session",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.gamesession",
                    ),
                ),
                (
                    "partner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.partner",
                    ),
                ),
                (
                    "studio_player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.studioplayer",
                    ),
                ),
            ],
            options={
                "db_table": "wallet_studio_transaction",
                "default_permissions": (),
            },
        ),
        migrations.AddConstraint(
            model_name="partner",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("off_at", None), ("off_by", None)),
                    models.Q(("off_at__isnull", False), ("off_by__isnull", False)),
                    _connector="OR",
                ),
                name="wallet_partner_off",
            ),
        ),
        migrations.AddConstraint(
            model_name="studioplayer",
            constraint=models.UniqueConstraint(fields=("partner", "player"), name="wallet_studio_player_once"),
        ),
        migrations.AddConstraint(
            model_name="studioplayer",
            constraint=models.UniqueConstraint(fields=("partner", "name"), name="wallet_studio_player_name"),
        ),
        migrations.AddIndex(
            model_name="gamesession",
            index=models.Index(fields=["studio_player", "-id"], name="wallet_game_session_of"),
        ),
        migrations.AddIndex(
            model_name="studiotransaction",
            index=models.Index(fields=["studio_player", "game", "round"], name="wallet_studio_round"),
        ),
        migrations.AddIndex(
            model_name="studiotransaction",
            index=models.Index(fields=["partner", "-id"], name="wallet_studio_newest"),
        ),
        migrations.AddConstraint(
            model_name="studiotransaction",
            constraint=models.UniqueConstraint(
                fields=("partner", "transaction"), name="wallet_studio_transaction_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="studiotransaction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("takes_back", ""), _negated=True),
                fields=("partner", "takes_back"),
                name="wallet_studio_transaction_back",
            ),
        ),
        migrations.AddConstraint(
            model_name="studiotransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("bet__gte", 1), ("operation", "bet"), ("takes_back", ""), ("win", 0)),
                    models.Q(("bet", 0), ("operation", "win"), ("takes_back", ""), ("win__gte", 0)),
                    models.Q(("bet__gte", 1), ("operation", "bet-and-win"), ("takes_back", ""), ("win__gte", 0)),
                    models.Q(
                        ("bet", 0), ("operation", "rollback"), ("win", 0), models.Q(("takes_back", ""), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="wallet_studio_transaction_moves",
            ),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0020_seamless.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
