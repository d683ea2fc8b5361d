"""Kinds of player limits: the unit of each, and its texts.

Pages, API and ledger read this table. What counts against a kind is in SQL: money in `wallet_used`,
time in ``players/sql/functions/play_time.sql``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from players.models import LimitKind, Period


@dataclass(frozen=True)
class KindOfLimit:
    """A kind of limit. *counts* says in the API what counts against it."""

    title: str | Promise
    meaning: str | Promise
    counts: str
    reached: Mapping[Period, str | Promise] = field(default_factory=dict)  # the refusals of the ledger
    is_money: bool = True  # minor units; otherwise seconds


LIMIT_KINDS: Final[Mapping[LimitKind, KindOfLimit]] = {
    LimitKind.DEPOSIT: KindOfLimit(
        gettext_lazy("Deposits"),
        gettext_lazy("The total amount you deposit. Withdrawals are not deducted from it."),
        "paid in",
        {
            Period.DAY: gettext_lazy("Your daily deposit limit is %(limit)s. You can deposit %(left)s more today."),
            Period.WEEK: gettext_lazy(
                "Your weekly deposit limit is %(limit)s. You can deposit %(left)s more this week."
            ),
            Period.MONTH: gettext_lazy(
                "Your monthly deposit limit is %(limit)s. You can deposit %(left)s more this month."
            ),
        },
    ),
    LimitKind.STAKE: KindOfLimit(
        gettext_lazy("Stakes"),
        gettext_lazy("The total amount you bet, whatever the results."),
        "bet",
        {
            Period.DAY: gettext_lazy("Your daily stake limit is %(limit)s. You can stake %(left)s more today."),
            Period.WEEK: gettext_lazy("Your weekly stake limit is %(limit)s. You can stake %(left)s more this week."),
            Period.MONTH: gettext_lazy(
                "Your monthly stake limit is %(limit)s. You can stake %(left)s more this month."
            ),
        },
    ),
    LimitKind.LOSS: KindOfLimit(
        gettext_lazy("Losses"),
        gettext_lazy(
            "The total amount you bet minus what is paid out to you. A bet counts as lost until its round is over."
        ),
        "bet less what came back",
        {
            Period.DAY: gettext_lazy("Your daily loss limit is %(limit)s. You can stake %(left)s more today."),
            Period.WEEK: gettext_lazy("Your weekly loss limit is %(limit)s. You can stake %(left)s more this week."),
            Period.MONTH: gettext_lazy("Your monthly loss limit is %(limit)s. You can stake %(left)s more this month."),
        },
    ),
    LimitKind.TIME: KindOfLimit(
        gettext_lazy("Time"), gettext_lazy("How long you play, including with play money."), "played", is_money=False
    ),
}
