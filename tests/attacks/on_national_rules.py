"""Attacks on the rules of jurisdictions and on the history of their changes.

The columns are read from the model, so that a new rule is attacked too.
"""

from django.db import models

from players.models import Jurisdiction
from tests.attacks.attack import changed, kept, nothing, twice

FIELDS = Jurisdiction._meta.concrete_fields
TABLE = "players_jurisdiction"
HISTORY = "players_national_rule_change"
FORBIDDEN = {
    "adults": "minimum_age = 17",
    "limits": "deposit_periods = '[]'",
    "waits": "raise_after_hours = 23",
    "highest": "highest_month_deposit = 0",
    "contact": "contact_above_month = 0",
    "lasts": "pause_hours = 0",
    "permanent": "permanent_days = exclusion_days - 1",
    "reminders": "limit_reminder_days = 0",
}

ATTACKS = [
    *nothing(TABLE, " ".join(field.name for field in FIELDS if not field.null)),
    *(
        changed(TABLE, f"{TABLE}_{field.column}_check", f"{field.column} = -1")
        for field in FIELDS
        if isinstance(field, models.PositiveSmallIntegerField | models.PositiveIntegerField)
    ),
    *(changed(TABLE, f"{TABLE}_{name}", change) for name, change in FORBIDDEN.items()),
    twice(TABLE, f"{TABLE}_pkey"),
    *kept(HISTORY, f"{HISTORY}_is_kept", "after"),
    *nothing(HISTORY, "after at id jurisdiction_id rule source"),
    changed(HISTORY, f"{HISTORY}_source", "source = 'v'"),
    changed(HISTORY, "players_national_rul_approval_id_e492fbc8_fk_audit_app", "approval_id = -1"),
    changed(HISTORY, "players_national_rul_jurisdiction_id_35d7ad84_fk_players_j", "jurisdiction_id = 'XX'"),
    twice(HISTORY, f"{HISTORY}_pkey"),
    twice(HISTORY, f"{HISTORY}_approval_id_key", "approval_id IS NOT NULL"),
]
