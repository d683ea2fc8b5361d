"""Cards of the account page: one for each page about the player."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Card:
    """A link on the account page: name of the URL, title, one sentence."""

    page: str
    title: str | Promise
    sentence: str | Promise


CARDS: tuple[Card, ...] = (
    Card("cashier", _("Cashier"), _("Your balance, deposits, and every movement of your money.")),
    Card("cashier_withdraw", _("Withdraw"), _("Ask for your money, and see what became of what you asked for.")),
    Card("statement", _("Statement"), _("Any period to the cent, to look at or to keep as a file.")),
    Card("history", _("Game logs"), _("Every round that you played with real money, to look at again.")),
    Card("limits", _("Limits"), _("How much you deposit, bet and lose at most, and how long you play.")),
    Card("protection", _("Safer play"), _("A pause, a time-out, self-exclusion, and the reality check at tables.")),
    Card("identity", _("Identity"), _("Show us who you are: it is needed before your first withdrawal.")),
    Card(
        "account_security",
        _("Security"),
        _("How you log in: e-mail address, password, authenticator app and passkeys."),
    ),
    Card("account_sessions", _("Sessions"), _("Where you are logged in. End what you no longer use.")),
    Card("account_programs", _("Programs"), _("Tokens for programs of yours: what each may do, and when it last did.")),
    Card("service", _("Customer service"), _("Write to us, read our answers, complain about a round.")),
    Card("account_data", _("Your data"), _("Download everything we hold about you.")),
    Card("account_close", _("Close your account"), _("For good, with your balance paid out.")),
)
