"""Registration of the randomness tests: hourly counts and event kinds."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import detection
from games.fairness.randomness import hourly_counts, judgement


def register() -> None:
    """Register the hourly counts of cards and shuffles, and the alarms as significant events."""
    hours.register(
        hourly_counts.CARDS,
        roll=hourly_counts.roll_cards,
        first=hourly_counts.first,
        differences=hourly_counts.card_differences,
    )
    hours.register(
        hourly_counts.SHUFFLES,
        roll=hourly_counts.roll_shuffles,
        first=hourly_counts.first,
        differences=hourly_counts.shuffle_differences,
    )
    detection.register_kinds({judgement.ALARM: (Category.RETURNS, Weight.ALERT, "Randomness test failed")})
    detection.register_ordinary([judgement.TESTED])
