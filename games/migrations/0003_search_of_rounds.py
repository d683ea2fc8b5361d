"""What Game logs are searched by, beside each player's part of a round; and the rounds no browser is known to have shown."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.math
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0002_voids_and_incidents'),
    ]

    operations = [
        migrations.AddField(
            model_name='nextround',
            name='unseen',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='participation',
            name='at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='participation',
            name='table',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='games.table'),
        ),
        migrations.RunSQL(
            '''
            UPDATE games_participation AS part SET at = round.at, table_id = version.table_id
            FROM games_round AS round JOIN games_tableversion AS version ON version.id = round.table_version_id
            WHERE round.id = part.round_id
            ''',
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name='participation',
            name='at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AlterField(
            model_name='participation',
            name='table',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.table'),
        ),
        migrations.AddField(
            model_name='participation',
            name='result',
            field=models.GeneratedField(db_persist=True, expression=django.db.models.functions.math.Sign(models.F('paid') - models.F('staked')), output_field=models.SmallIntegerField(choices=[(-1, 'Lost'), (0, 'Even'), (1, 'Won')])),
        ),
        migrations.RemoveIndex(
            model_name='participation',
            name='games_participation_history',
        ),
        migrations.AddIndex(
            model_name='participation',
            index=models.Index(fields=['player', 'mode', 'table', 'result', '-at', '-id'], name='games_participation_search'),
        ),
    ]
