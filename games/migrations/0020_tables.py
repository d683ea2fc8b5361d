"""Whom a table serves and for which money stands in its version; the rest is in ``games/sql/0020_tables.sql``."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

# What was in force until now served everybody, for both kinds of money; where the house plays places, for free money.
AS_IT_WAS = """
UPDATE games_tableversion SET
    jurisdictions = ARRAY(SELECT code FROM players_jurisdiction ORDER BY code),
    modes = CASE WHEN jsonb_path_exists(limits, '$.*.house_players ? (@ > 0)') THEN '{F}' ELSE '{F,R}' END::varchar[]
"""


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0019_rules'),
    ]

    operations = [
        migrations.AddField(
            model_name='tableversion',
            name='jurisdictions',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), null=True, size=None),
        ),
        migrations.AddField(
            model_name='tableversion',
            name='modes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=1), null=True, size=None),
        ),
        migrations.RunSQL(AS_IT_WAS),
        migrations.AlterField(
            model_name='tableversion',
            name='jurisdictions',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), size=None),
        ),
        migrations.AlterField(
            model_name='tableversion',
            name='modes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=1), size=None),
        ),
        migrations.AddConstraint(
            model_name='tableversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('jurisdictions', []), _negated=True), models.Q(('modes', []), _negated=True), ('modes__contained_by', ['F', 'R'])), name='games_tableversion_for_somebody'),
        ),
        migrations.AlterField(
            model_name='cheminseat',
            name='why_left',
            field=models.CharField(blank=True, choices=[('wish', 'left'), ('removed', 'was away for too long'), ('session', 'logged out, or was kept from playing'), ('closed', 'the table was closed'), ('broken_up', 'the table was broken up by staff'), ('unserved', 'the table serves them no more'), ('alone', 'a house player without a guest to play against')], default='', max_length=10),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0020_tables.sql").read_text()),
    ]
