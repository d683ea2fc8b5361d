"""A purse per player, currency and mode, for games with a balance of their own: ``wallet/sql/0003_purse.sql``."""

from pathlib import Path

from django.db import migrations, models

KINDS = [
    ("cash", "Cash"),
    ("purse", "Purse"),
    ("escrow", "Escrow"),
    ("house", "House"),
    ("cashier", "Cashier"),
    ("mint", "Mint"),
]


class Migration(migrations.Migration):
    dependencies = [("wallet", "0002_house_accounts")]
    operations = [
        migrations.AlterField("account", "kind", models.CharField(choices=KINDS, max_length=10)),
        migrations.AddIndex(
            "account", models.Index(fields=["owner"], condition=models.Q(kind="purse"), name="wallet_account_purses")
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0003_purse.sql").read_text()),
    ]
