"""Favourite bets and tables, and the chips that a player wants in the tray."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_incidents"),
        ("players", "0011_person"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChipSet",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="players.player",
                    ),
                ),
                ("chips", models.JSONField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="FavouriteBet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("variant", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=40)),
                ("stakes", models.JSONField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        models.F("player"),
                        models.F("variant"),
                        django.db.models.functions.text.Lower("name"),
                        name="games_favouritebet_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FavouriteTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
                (
                    "table",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.table"),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("player", "table"), name="games_favouritetable_once")],
            },
        ),
    ]
