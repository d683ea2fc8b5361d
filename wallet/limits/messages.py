"""Messages about limits in the active language."""

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from wallet.money import format_money

# Message for each limit that would be exceeded.
MESSAGES = {
    ("deposit", "day"): gettext_noop("Your daily deposit limit is %(limit)s. You can deposit %(left)s more today."),
    ("deposit", "week"): gettext_noop(
        "Your weekly deposit limit is %(limit)s. You can deposit %(left)s more this week."
    ),
    ("deposit", "month"): gettext_noop(
        "Your monthly deposit limit is %(limit)s. You can deposit %(left)s more this month."
    ),
    ("stake", "day"): gettext_noop("Your daily stake limit is %(limit)s. You can stake %(left)s more today."),
    ("stake", "week"): gettext_noop("Your weekly stake limit is %(limit)s. You can stake %(left)s more this week."),
    ("stake", "month"): gettext_noop("Your monthly stake limit is %(limit)s. You can stake %(left)s more this month."),
    ("loss", "day"): gettext_noop("Your daily loss limit is %(limit)s. You can stake %(left)s more today."),
    ("loss", "week"): gettext_noop("Your weekly loss limit is %(limit)s. You can stake %(left)s more this week."),
    ("loss", "month"): gettext_noop("Your monthly loss limit is %(limit)s. You can stake %(left)s more this month."),
}


def reached(kind: str, period: str, limit: int, left: int, currency: str) -> str:
    """Return the message about a limit that would be exceeded. Amounts in minor units."""
    language = get_language() or "en"
    return _(MESSAGES[kind, period]) % {
        "limit": format_money(limit, currency, language),
        "left": format_money(left, currency, language),
    }
