"""What returns have the ground floor know: sums of every hour, and which events matter."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import finding
from games import tallies
from games.returns import rolling


def ready() -> None:
    """Register it, once."""
    hours.register(rolling.SUMS, roll=rolling.roll, first=tallies.first_played, differences=rolling.differences)
    finding.register_kinds(
        {
            "returns.alarm": (Category.ERROR, Weight.ALERT, "Returns are not what chance gives"),
            "returns.stop_policy": (Category.PARAMETER, Weight.NOTICE, "What an alarm about returns does"),
        }
    )
