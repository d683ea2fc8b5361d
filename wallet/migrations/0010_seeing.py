"""Who sees money without moving any: compliance."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

SEE_LEDGER = Duty("wallet", "journal", "view_ledger", "Can view the ledger")
SEE_WITHDRAWALS = Duty("wallet", "withdrawal", "see_withdrawals", "Can see withdrawals, and decide none")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let compliance see the ledger and withdrawals."""
    grant(apps, schema_editor.connection.alias, "compliance", SEE_LEDGER, SEE_WITHDRAWALS)


class Migration(migrations.Migration):
    dependencies = [("wallet", "0009_banks"), ("players", "0012_keeping")]

    operations = [
        migrations.AlterModelOptions(
            name="withdrawal",
            options={
                "default_permissions": (),
                "permissions": [
                    ("approve_withdrawal", "Can approve withdrawals"),
                    ("see_withdrawals", "Can see withdrawals, and decide none"),
                ],
            },
        ),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
