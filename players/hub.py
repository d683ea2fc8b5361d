"""What a player finds on the page of their account: one card for each page about themselves, in the order of their use."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Card:
    """A page, as the page of the account leads to it: the name of its address, its title, one sentence about it."""

    page: str
    title: str | Promise
    sentence: str | Promise


CARDS: tuple[Card, ...] = (
    Card("cashier", _("Cashier"), _("Your balance, deposits, and every movement of your money.")),
    Card("history", _("Game logs"), _("Every round that you played with real money, to look at again.")),
)
