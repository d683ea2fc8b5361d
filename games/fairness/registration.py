"""Registration of the randomness tests and of the monitoring of returns: hourly counts and event kinds."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import detection
from games.fairness import hourly_totals
from games.fairness.randomness import hourly_counts as randomness_counts
from games.fairness.randomness import judgement
from games.fairness.returns import hourly_counts as returns_counts


def register_randomness() -> None:
    """Register the hourly counts of cards and shuffles, and the alarms as significant events."""
    hours.register(
        randomness_counts.CARDS,
        roll=randomness_counts.roll_cards,
        first=randomness_counts.first,
        differences=randomness_counts.card_differences,
    )
    hours.register(
        randomness_counts.SHUFFLES,
        roll=randomness_counts.roll_shuffles,
        first=randomness_counts.first,
        differences=randomness_counts.shuffle_differences,
    )
    detection.register_kinds({judgement.ALARM: (Category.RETURNS, Weight.ALERT, "Randomness test failed")})
    detection.register_ordinary([judgement.TESTED])


def register_returns() -> None:
    """Register the hourly counts and the kinds of significant events."""
    hours.register(
        returns_counts.HOURLY_TOTALS,
        roll=returns_counts.roll,
        first=hourly_totals.first_played,
        differences=returns_counts.differences,
    )
    detection.register_kinds(
        {
            "returns.alarm": (Category.ERROR, Weight.ALERT, "RTP outside the expected range"),
            "returns.stop_policy": (Category.PARAMETER, Weight.NOTICE, "Effect of an RTP alarm"),
        }
    )
