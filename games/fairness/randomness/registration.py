"""What other floors are to know of randomness."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import detection
from games.fairness.randomness import hourly_counts, judgement


def register() -> None:
    """Have cards and shuffles counted every hour, and alarms looked at."""
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
    detection.register_kinds(
        {judgement.ALARM: (Category.RETURNS, Weight.ALERT, "Cards or shuffles are not what chance gives")}
    )
    detection.register_ordinary([judgement.TESTED])
