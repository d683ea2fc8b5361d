"""Annulled rounds, incidents, and the queue of rounds to be dealt again; who may read incidents."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

READERS = ("supervisor", "operator", "compliance")


def let_read(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give these roles the incidents. Django makes permission rows only after all migrations, and then finds this one."""
    alias = schema_editor.connection.alias
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.using(alias).get_or_create(app_label="games", model="incident")
    permission, _ = apps.get_model("auth", "Permission").objects.using(alias).get_or_create(
        content_type=content_type, codename="view_incident", defaults={"name": "Can view incident"}
    )
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name__in=READERS):
        group.permissions.add(permission)


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0001_initial'),
        ('players', '0002_jurisdictions_and_roles'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReplayDue',
            fields=[
                ('round', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.round')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Void',
            fields=[
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.round')),
                ('reason', models.CharField(choices=[('not_reproduced', 'its seed does not reproduce it')], max_length=20)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='VoidPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=3)),
                ('returned', models.BigIntegerField()),
                ('shortfall', models.BigIntegerField()),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('void', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='parts', to='games.void')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='VoidTold',
            fields=[
                ('part', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.voidpart')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Incident',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('not_reproduced', 'Its seed does not reproduce it'), ('rules_unknown', 'The rules it was played under are not known any more'), ('ledger_refuses', 'Its seed does not reproduce it, and the ledger refuses to reverse it')], max_length=20)),
                ('findings', models.JSONField()),
                ('done', models.JSONField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.round')),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.table')),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('round', 'kind'), name='games_incident_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='voidpart',
            constraint=models.UniqueConstraint(fields=('void', 'player'), name='games_voidpart_once'),
        ),
        migrations.RunSQL('INSERT INTO games_replaydue (round_id) SELECT id FROM games_round', migrations.RunSQL.noop),
        migrations.RunPython(let_read, migrations.RunPython.noop),
    ]
