"""Registration of the monitoring of returns: hourly counts and event kinds."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import detection
from games.fairness import hourly_totals
from games.fairness.returns import hourly_counts


def ready() -> None:
    """Register the hourly counts and the kinds of significant events."""
    hours.register(
        hourly_counts.HOURLY_TOTALS,
        roll=hourly_counts.roll,
        first=hourly_totals.first_played,
        differences=hourly_counts.differences,
    )
    detection.register_kinds(
        {
            "returns.alarm": (Category.ERROR, Weight.ALERT, "RTP outside the expected range"),
            "returns.stop_policy": (Category.PARAMETER, Weight.NOTICE, "Effect of an RTP alarm"),
        }
    )
