"""The house stop, for tests."""

from players.models import Staff
from tests.people import a_member_of_staff
from wallet import house_stop
from wallet.models import HouseStop

REASON = "The authority asks for it."


def stop(*, reason: str = REASON, by: Staff | None = None) -> HouseStop:
    """Start a house stop."""
    return house_stop.stop_house(reason=reason, by=by or a_member_of_staff("supervisor"))


def go_on(*, reason: str = "All is well.", by: Staff | None = None) -> HouseStop:
    """End the house stop."""
    return house_stop.resume_house(reason=reason, by=by or a_member_of_staff("supervisor"))
