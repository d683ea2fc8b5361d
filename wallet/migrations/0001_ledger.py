"""The ledger: tables as the models say, then what Django cannot say: ``wallet/sql/0001_ledger.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('players', '0002_jurisdictions_and_roles'),
    ]

    operations = [
        migrations.CreateModel(
            name='PostingKey',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('request_hash', models.BinaryField()),
                ('journal_id', models.BigIntegerField()),
            ],
            options={
                'db_table': 'wallet_posting_key',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('cash', 'Cash'), ('escrow', 'Escrow'), ('house', 'House'), ('cashier', 'Cashier'), ('mint', 'Mint')], max_length=10)),
                ('currency', models.CharField(choices=[('SEK', 'Sek'), ('DKK', 'Dkk'), ('RON', 'Ron'), ('EUR', 'Eur'), ('GBP', 'Gbp')], max_length=3)),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('balance', models.BigIntegerField(null=True)),
                ('held', models.BigIntegerField(default=0)),
                ('version', models.BigIntegerField(default=0)),
                ('lock_only', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='accounts', db_index=False, to='players.player')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Journal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('request_hash', models.BinaryField()),
                ('kind', models.CharField(max_length=40)),
                ('round_id', models.UUIDField(null=True)),
                ('at', models.DateTimeField()),
                ('reverses', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='wallet.journal')),
                ('key', models.ForeignKey(db_column='key', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='wallet.postingkey')),
            ],
            options={
                'permissions': [('view_ledger', 'Can view the ledger')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('pk', models.CompositePrimaryKey('journal_id', 'line', blank=True, editable=False, primary_key=True, serialize=False)),
                ('line', models.IntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('mode', models.CharField(max_length=1)),
                ('amount', models.BigIntegerField()),
                ('balance_after', models.BigIntegerField(null=True)),
                ('version', models.BigIntegerField(null=True)),
                ('account', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='wallet.account')),
                ('journal', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='wallet.journal')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('balance__gte', models.F('held')), ('held__gte', 0)), name='wallet_account_covered'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(fields=('owner', 'kind', 'currency', 'mode'), name='wallet_account_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(fields=('id', 'currency', 'mode'), name='wallet_account_money'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('amount', 0), _negated=True), name='wallet_entry_moves'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.UniqueConstraint(condition=models.Q(('version__isnull', False)), fields=('account', 'version'), name='wallet_entry_chain'),
        ),
        migrations.AddIndex(
            model_name='journal',
            index=models.Index(condition=models.Q(('round_id__isnull', False)), fields=['round_id'], name='wallet_journal_round'),
        ),
        migrations.AddConstraint(
            model_name='journal',
            constraint=models.CheckConstraint(condition=models.Q(('kind__regex', '^[a-z_]+$')), name='wallet_journal_kind'),
        ),
        migrations.AddConstraint(
            model_name='journal',
            constraint=models.UniqueConstraint(condition=models.Q(('reverses__isnull', False)), fields=('reverses',), name='wallet_journal_reversed_once'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / 'sql' / '0001_ledger.sql').read_text()),
    ]
