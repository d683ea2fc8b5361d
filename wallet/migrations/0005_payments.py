"""Payments through providers, and the books of the sandbox bank: tables as the models say, then
``wallet/sql/0005_payments.sql``.
"""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
import phonenumber_field.modelfields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('wallet', '0004_days')]

    operations = [
        migrations.CreateModel(
            name='BankOrder',
            fields=[
                ('reference', models.UUIDField(primary_key=True, serialize=False)),
                ('amount', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('callback_url', models.URLField(max_length=500)),
                ('state', models.CharField(choices=[('open', 'Open'), ('approved', 'Approved'), ('declined', 'Declined'), ('cancelled', 'Cancelled')], default='open', max_length=10)),
                ('sequence', models.PositiveIntegerField(default=1)),
                ('authorisation', models.CharField(blank=True, max_length=20)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'wallet_bank_order',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Payment',
            fields=[
                ('variant', models.CharField(max_length=255)),
                ('status', models.CharField(choices=[('waiting', 'Waiting for confirmation'), ('preauth', 'Pre-authorized'), ('confirmed', 'Confirmed'), ('rejected', 'Rejected'), ('refunded', 'Refunded'), ('error', 'Error'), ('input', 'Input'), ('cancelled', 'Cancelled')], default='waiting', max_length=10)),
                ('fraud_status', models.CharField(choices=[('unknown', 'Unknown'), ('accept', 'Passed'), ('reject', 'Rejected'), ('review', 'Review')], default='unknown', max_length=10, verbose_name='fraud check')),
                ('fraud_message', models.TextField(blank=True, default='')),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('modified', models.DateTimeField(auto_now=True)),
                ('transaction_id', models.CharField(blank=True, max_length=255)),
                ('currency', models.CharField(max_length=10)),
                ('total', models.DecimalField(decimal_places=2, default='0.0', max_digits=9)),
                ('delivery', models.DecimalField(decimal_places=2, default='0.0', max_digits=9)),
                ('tax', models.DecimalField(decimal_places=2, default='0.0', max_digits=9)),
                ('description', models.TextField(blank=True, default='')),
                ('billing_first_name', models.CharField(blank=True, max_length=256)),
                ('billing_last_name', models.CharField(blank=True, max_length=256)),
                ('billing_address_1', models.CharField(blank=True, max_length=256)),
                ('billing_address_2', models.CharField(blank=True, max_length=256)),
                ('billing_city', models.CharField(blank=True, max_length=256)),
                ('billing_postcode', models.CharField(blank=True, max_length=256)),
                ('billing_country_code', models.CharField(blank=True, max_length=2)),
                ('billing_country_area', models.CharField(blank=True, max_length=256)),
                ('billing_email', models.EmailField(blank=True, max_length=254)),
                ('billing_phone', phonenumber_field.modelfields.PhoneNumberField(blank=True, max_length=128, region=None)),
                ('customer_ip_address', models.GenericIPAddressField(blank=True, null=True)),
                ('extra_data', models.TextField(blank=True, default='')),
                ('message', models.TextField(blank=True, default='')),
                ('token', models.CharField(blank=True, default='', max_length=36)),
                ('captured_amount', models.DecimalField(decimal_places=2, default='0.0', max_digits=9)),
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('amount', models.BigIntegerField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('credited', 'Credited'), ('declined', 'Declined'), ('abandoned', 'Abandoned'), ('expired', 'Expired'), ('error', 'Error')], default='waiting', max_length=10)),
                ('authorisation', models.CharField(blank=True, max_length=255)),
                ('last_sequence', models.BigIntegerField(default=0)),
                ('is_disputed', models.BooleanField(default=False)),
                ('begun_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('decided_at', models.DateTimeField(null=True)),
                ('asked_at', models.DateTimeField(null=True)),
                ('journal', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='wallet.journal')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='players.player')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='PaymentNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('variant', models.CharField(max_length=255)),
                ('path', models.CharField(choices=[('callback', 'Callback'), ('return', 'Return'), ('query', 'Query')], max_length=10)),
                ('raw_hash', models.BinaryField()),
                ('is_authentic', models.BooleanField()),
                ('word', models.CharField(blank=True, choices=[('waiting', 'Waiting for confirmation'), ('preauth', 'Pre-authorized'), ('confirmed', 'Confirmed'), ('rejected', 'Rejected'), ('refunded', 'Refunded'), ('error', 'Error'), ('input', 'Input'), ('cancelled', 'Cancelled')], max_length=10)),
                ('sequence', models.BigIntegerField(default=0)),
                ('decision', models.CharField(max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('payment', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='wallet.payment')),
            ],
            options={
                'db_table': 'wallet_payment_notice',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='BankNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField()),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='wallet.bankorder')),
            ],
            options={
                'db_table': 'wallet_bank_notice',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('sent_at__isnull', True)), fields=['due_at'], name='wallet_bank_notice_due')],
            },
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['player', '-begun_at'], name='wallet_payment_player'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(condition=models.Q(('state', 'waiting'), ('is_disputed', True), _connector='OR'), fields=['begun_at'], name='wallet_payment_open'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='wallet_payment_amount'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('authorisation__gt', ''), ('journal__isnull', False), ('state', 'credited')), models.Q(models.Q(('state', 'credited'), _negated=True), ('journal__isnull', True)), _connector='OR'), name='wallet_payment_credited'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.UniqueConstraint(fields=('token',), name='wallet_payment_token'),
        ),
        migrations.AddIndex(
            model_name='paymentnotice',
            index=models.Index(fields=['payment', 'id'], name='wallet_payment_notice_of'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / 'sql' / '0005_payments.sql').read_text()),
    ]
