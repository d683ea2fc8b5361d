"""The jurisdictions served and the roles of staff: data of the house, here from the first migration on.

Django makes permission rows only after all migrations have run; those that roles need are made here, and Django then finds them.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# code, language offered first, currencies (the first is offered first), minimum age in whole years
JURISDICTIONS = [
    ("SE", "sv", ["SEK"], 18),
    ("DK", "da", ["DKK"], 18),
    ("RO", "ro", ["RON"], 18),
    ("DE", "de", ["EUR"], 18),
    ("GB", "en", ["GBP", "EUR"], 18),
]

# app, model, codename, name as the model declares it
WORK = ("players", "staff", "work", "Can enter the back office")
SEE_PLAYERS = ("players", "player", "view_player", "Can view player")
OPERATE_TABLES = ("games", "table", "operate_table", "Can open and close tables")
SEE_LEDGER = ("wallet", "journal", "view_ledger", "Can view the ledger")
SEE_EVENTS = ("audit", "event", "view_event", "Can view event")

ROLES = {
    "operator": [WORK, OPERATE_TABLES],
    "supervisor": [WORK, OPERATE_TABLES],
    "finance": [WORK, SEE_LEDGER],
    "compliance": [WORK, SEE_EVENTS, SEE_PLAYERS],
    "support": [WORK, SEE_PLAYERS],
}


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Insert what is missing; what staff have changed since stays."""
    alias = schema_editor.connection.alias
    jurisdictions = apps.get_model("players", "Jurisdiction").objects.using(alias)
    for code, language, currencies, minimum_age in JURISDICTIONS:
        jurisdictions.get_or_create(code=code, defaults={"language": language, "currencies": currencies, "minimum_age": minimum_age})
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(alias)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    groups = apps.get_model("auth", "Group").objects.using(alias)
    for role, granted in ROLES.items():
        group, _ = groups.get_or_create(name=role)
        for app, model, codename, name in granted:
            content_type, _ = content_types.get_or_create(app_label=app, model=model)
            permission, _ = permissions.get_or_create(content_type=content_type, codename=codename, defaults={"name": name})
            group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0001_people"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
