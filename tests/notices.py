"""Notices of maintenance, for tests."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from players.models import Notice, Staff
from players.protection import exclusions
from players.staff import notices
from players.staff.notices import Planned, shipped
from tests.people import a_member_of_staff

HOUR = timedelta(hours=1)


def planned(begins_in: timedelta = HOUR, **changes: Any) -> Planned:
    """Return a notice of an hour's work, shown from now until it ends, in the words the house ships."""
    begins = exclusions.now() + begins_in
    made = Planned(begins, begins + HOUR, begins - begins_in - HOUR, begins + HOUR, shipped())
    return replace(made, **changes)


def a_notice(begins_in: timedelta = HOUR, *, by: Staff | None = None, **changes: Any) -> Notice:
    """One that is published, and shown unless *changes* say otherwise."""
    return notices.publish(planned(begins_in, **changes), by=by or a_member_of_staff("operator"))
