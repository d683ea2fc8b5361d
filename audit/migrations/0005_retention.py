"""How long what is kept: one table, changed by two people; the rest is in ``audit/sql/0005_retention.sql``."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0004_guards'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='approval',
            options={'default_permissions': ('view',)},
        ),
        migrations.CreateModel(
            name='Retention',
            fields=[
                ('what', models.TextField(choices=[('account', 'Who somebody was, after their account was closed'), ('conversation', 'Messages of players and answers to them, after the last one'), ('chat', 'What was said at tables'), ('refused papers', 'Identity documents that were refused, after the refusal'), ('mail', 'To whom mails went, and what they were about'), ('address', 'From where somebody logged in, played or registered: addresses and browsers'), ('wrong log-in', 'E-mail addresses given in log-ins that failed'), ('look', 'From where staff looked at somebody’s data, and what they asked for')], primary_key=True, serialize=False)),
                ('days', models.IntegerField()),
                ('minimum', models.IntegerField()),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('source', models.TextField()),
                ('approval', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.approval')),
            ],
            options={
                'db_table': 'audit_retention',
                'default_permissions': ('change',),
            },
        ),
        migrations.AddIndex(
            model_name='personal',
            index=models.Index(fields=['field', 'event'], name='audit_personal_field'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0005_retention.sql").read_text()),
    ]
