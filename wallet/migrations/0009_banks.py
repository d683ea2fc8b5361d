"""Banks, stakes and house players' chips: accounts that stand for a tenure, a coup, a seat. ``wallet/sql/0009_banks.sql``."""

from pathlib import Path

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('players', '0011_person'),
        ('wallet', '0008_sets'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='account',
            name='wallet_account_once',
        ),
        migrations.AddField(
            model_name='account',
            name='stands_for',
            field=models.UUIDField(null=True),
        ),
        migrations.AlterField(
            model_name='account',
            name='kind',
            field=models.CharField(choices=[('cash', 'Cash'), ('purse', 'Purse'), ('pending', 'Pending'), ('escrow', 'Escrow'), ('house', 'House'), ('cashier', 'Cashier'), ('mint', 'Mint'), ('bank', 'Bank'), ('stakes', 'Stakes'), ('seat', 'Seat')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(fields=('owner', 'kind', 'currency', 'mode', 'stands_for'), name='wallet_account_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('stands_for__isnull', False)), fields=('stands_for',), name='wallet_account_stands'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0009_banks.sql").read_text()),
    ]
