"""Limits as sentences in the active language."""

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from wallet.money import format_money

# What is said of each limit that would be passed.
SENTENCES = {
    ("deposit", "day"): gettext_noop("Your deposit limit for a day is %(limit)s. You can deposit %(left)s more today."),
    ("deposit", "week"): gettext_noop(
        "Your deposit limit for a week is %(limit)s. You can deposit %(left)s more this week."
    ),
    ("deposit", "month"): gettext_noop(
        "Your deposit limit for a month is %(limit)s. You can deposit %(left)s more this month."
    ),
    ("stake", "day"): gettext_noop("Your stake limit for a day is %(limit)s. You can stake %(left)s more today."),
    ("stake", "week"): gettext_noop("Your stake limit for a week is %(limit)s. You can stake %(left)s more this week."),
    ("stake", "month"): gettext_noop(
        "Your stake limit for a month is %(limit)s. You can stake %(left)s more this month."
    ),
    ("loss", "day"): gettext_noop("Your loss limit for a day is %(limit)s. You can stake %(left)s more today."),
    ("loss", "week"): gettext_noop("Your loss limit for a week is %(limit)s. You can stake %(left)s more this week."),
    ("loss", "month"): gettext_noop(
        "Your loss limit for a month is %(limit)s. You can stake %(left)s more this month."
    ),
}


def reached(kind: str, period: str, limit: int, left: int, currency: str) -> str:
    """Say which limit would be passed, and what it leaves. Amounts in minor units."""
    language = get_language() or "en"
    return _(SENTENCES[kind, period]) % {
        "limit": format_money(limit, currency, language),
        "left": format_money(left, currency, language),
    }
