"""What other floors are to know of randomness."""

from audit import hours
from audit.models import Category, Weight
from audit.significant import finding
from games.randomness import judging, rolling


def register() -> None:
    """Have cards and shuffles counted every hour, and alarms looked at."""
    hours.register(rolling.CARDS, roll=rolling.roll_cards, first=rolling.first, differences=rolling.card_differences)
    hours.register(
        rolling.SHUFFLES, roll=rolling.roll_shuffles, first=rolling.first, differences=rolling.shuffle_differences
    )
    finding.register_kinds(
        {judging.ALARM: (Category.RETURNS, Weight.ALERT, "Cards or shuffles are not what chance gives")}
    )
    finding.register_ordinary([judging.TESTED])
