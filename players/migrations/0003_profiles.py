"""What the law of each jurisdiction asks of the house, as data; the sources stand in ``docs/national-rules.md``."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ASKED = [("required", "Required"), ("offered", "Offered"), ("prompted", "Prompted")]
ALL = ["day", "week", "month"]
DAY = 24  # hours

PROFILES = {
    "SE": {
        "time_zone": "Europe/Stockholm", "deposit_limits": "required", "raise_after_hours": 3 * DAY,
        "raise_after_period": True, "contact_above_month": 10_000_00,
    },
    "DK": {"time_zone": "Europe/Copenhagen", "deposit_limits": "offered"},
    "RO": {"time_zone": "Europe/Bucharest", "deposit_limits": "offered"},
    "DE": {
        "time_zone": "Europe/Berlin", "deposit_limits": "required", "deposit_periods": ["month"],
        "highest_month_deposit": 1_000_00, "raise_after_hours": 7 * DAY, "pause_asks": False,
        "may_play_in_parallel": False,
    },
    "GB": {
        "time_zone": "Europe/London", "deposit_limits": "prompted", "exclusion_days": 184,
        "may_cancel_withdrawals": False,
    },
}


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give each jurisdiction its figures; those not named stand as the columns' defaults below."""
    jurisdictions = apps.get_model("players", "Jurisdiction").objects.using(schema_editor.connection.alias)
    for code, profile in PROFILES.items():
        jurisdictions.filter(code=code).update(**profile)


def added(name: str, field: models.Field) -> migrations.AddField:
    """Return the operation that adds a column, whose default serves the rows there are and no others."""
    return migrations.AddField("jurisdiction", name, field, preserve_default=False)


class Migration(migrations.Migration):
    dependencies = [("players", "0002_jurisdictions_and_roles")]
    operations = [
        added("time_zone", models.CharField(max_length=40, default="UTC")),
        added("deposit_limits", models.CharField(max_length=10, choices=ASKED, default="offered")),
        added("deposit_periods", models.JSONField(default=lambda: ALL)),
        added("highest_month_deposit", models.BigIntegerField(null=True)),
        added("raise_after_hours", models.PositiveSmallIntegerField(default=DAY)),
        added("raise_after_period", models.BooleanField(default=False)),
        added("contact_above_month", models.BigIntegerField(null=True)),
        added("pause_hours", models.PositiveSmallIntegerField(default=24)),
        added("pause_asks", models.BooleanField(default=True)),
        added("exclusion_days", models.PositiveSmallIntegerField(default=30)),
        added("permanent_days", models.PositiveSmallIntegerField(default=366)),
        added("may_cancel_withdrawals", models.BooleanField(default=True)),
        added("may_play_in_parallel", models.BooleanField(default=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
