"""What lists of money are filtered by: each index goes on in the order of its list. Journals and entries get none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wallet", "0016_adjusting")]
    operations = [
        migrations.AddIndex("account", models.Index(fields=["kind", "-id"], name="wallet_account_kind")),
        migrations.AddIndex("payment", models.Index(fields=["state", "-begun_at", "-id"], name="wallet_payment_state")),
        migrations.AddIndex("withdrawal", models.Index(fields=["status", "-id"], name="wallet_withdrawal_status")),
        migrations.AddIndex(
            "statementline", models.Index(fields=["verdict", "-id"], name="wallet_statement_line_verdict")
        ),
    ]
