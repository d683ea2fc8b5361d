"""What the ledger moved in each hour; the rest is in ``wallet/sql/0011_moved.sql``."""

from pathlib import Path

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_hours'),
        ('wallet', '0010_seeing'),
    ]

    operations = [
        migrations.CreateModel(
            name='Moved',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'journal_kind', 'account_kind', 'currency', 'mode', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('journal_kind', models.CharField(max_length=40)),
                ('account_kind', models.CharField(choices=[('cash', 'Cash'), ('purse', 'Purse'), ('pending', 'Pending'), ('escrow', 'Escrow'), ('house', 'House'), ('cashier', 'Cashier'), ('mint', 'Mint'), ('bank', 'Bank'), ('stakes', 'Stakes'), ('seat', 'Seat')], max_length=10)),
                ('currency', models.CharField(choices=[('SEK', 'Sek'), ('DKK', 'Dkk'), ('RON', 'Ron'), ('EUR', 'Eur'), ('GBP', 'Gbp')], max_length=3)),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('entries', models.BigIntegerField()),
                ('amount', models.BigIntegerField()),
                ('into', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('pk', models.CompositePrimaryKey('at', 'account_kind', 'currency', 'mode', blank=True, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('account_kind', models.CharField(choices=[('cash', 'Cash'), ('purse', 'Purse'), ('pending', 'Pending'), ('escrow', 'Escrow'), ('house', 'House'), ('cashier', 'Cashier'), ('mint', 'Mint'), ('bank', 'Bank'), ('stakes', 'Stakes'), ('seat', 'Seat')], max_length=10)),
                ('currency', models.CharField(choices=[('SEK', 'Sek'), ('DKK', 'Dkk'), ('RON', 'Ron'), ('EUR', 'Eur'), ('GBP', 'Gbp')], max_length=3)),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('balance', models.BigIntegerField()),
                ('held', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['begun_at'], name='wallet_payment_begun'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['decided_at'], name='wallet_payment_decided'),
        ),
        migrations.AddIndex(
            model_name='withdrawal',
            index=models.Index(fields=['at'], name='wallet_withdrawal_at'),
        ),
        migrations.AddIndex(
            model_name='withdrawalstep',
            index=models.Index(fields=['at'], name='wallet_withdrawal_step_at'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0011_moved.sql").read_text()),
    ]
