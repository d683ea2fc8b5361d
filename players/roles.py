"""Roles of staff are groups of permissions, kept as data that migrations alone write; this is how they do.

Django makes permission rows only after all migrations have run; those that roles need are made here, and Django then
finds them.
"""

from dataclasses import dataclass
from typing import Final

from django.apps.registry import Apps

# What each role is for, as staff read it where roles are given.
WORDS: Final = {
    "administrator": "looks after accounts of staff, always with a second person; sees no player and no money",
    "compliance": "reads everything, works on significant events and on players’ protection; moves no money",
    "finance": "pays out, holds the books against the providers’ statements, and sees whom it pays",
    "operator": "opens and closes tables, and answers players",
    "supervisor": "rules on what went wrong at tables, agrees to payments, and watches returns and the chat",
    "support": "looks after players: who they are, what they asked, their limits and exclusions",
}


@dataclass(frozen=True)
class Duty:
    """A permission as the model *model* of *app* declares it: its codename and its name there."""

    app: str
    model: str
    codename: str
    name: str


def grant(apps: Apps, alias: str, role: str, *duties: Duty) -> None:
    """Give *role* these permissions, in a migration on the database *alias*; what it has already stays."""
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(alias)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=role)
    for duty in duties:
        content_type, _ = content_types.get_or_create(app_label=duty.app, model=duty.model)
        permission, _ = permissions.get_or_create(
            content_type=content_type, codename=duty.codename, defaults={"name": duty.name}
        )
        group.permissions.add(permission)


def take(apps: Apps, alias: str, role: str, *duties: Duty) -> None:
    """Take these permissions from *role*, in a migration on the database *alias*; what it has not stays so."""
    group = apps.get_model("auth", "Group").objects.using(alias).get(name=role)
    for duty in duties:
        group.permissions.remove(*group.permissions.filter(content_type__app_label=duty.app, codename=duty.codename))
