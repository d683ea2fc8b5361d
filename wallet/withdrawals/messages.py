"""Labels and messages about withdrawals for players: statuses and reasons."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from wallet.models import WithdrawalStatus

STATUS: Mapping[str, Promise] = {
    WithdrawalStatus.REQUESTED: _("Being checked"),
    WithdrawalStatus.SECONDING: _("Being checked"),
    WithdrawalStatus.APPROVED: pgettext_lazy("withdrawal", "Approved"),
    WithdrawalStatus.SENDING: _("Sent to the bank"),
    WithdrawalStatus.PAID: pgettext_lazy("withdrawal", "Paid out"),
    WithdrawalStatus.RETURNED: _("Returned by the bank"),
    WithdrawalStatus.REFUSED: pgettext_lazy("withdrawal", "Refused"),
    WithdrawalStatus.CANCELLED: pgettext_lazy("withdrawal", "Cancelled"),
}

# Reasons for refusal by staff. The code is stored. The player reads the sentence in their language.
REASONS: Mapping[str, Promise] = {
    "details": _("The details of the bank account could not be confirmed."),
    "holder": _("The bank account does not belong to you. The house pays to your own account only."),
    "identity": _("We need to look at your identity again before we can pay out."),
    "enquiry": _("We need an answer from you first. Customer service will write to you."),
}

UNDECIDED = _("It was not approved after a second look. Customer service can tell you more.")

# Reasons for a return by the bank, by the code in the provider's answer.
BANK_REASONS: Mapping[str, Promise] = {
    "account_closed": _("The bank says that this account is closed."),
    "account_unknown": _("The bank does not know this account."),
    "not_accepted": _("The bank did not accept the payment."),
}


def bank_reason(code: str) -> Promise:
    """Return the sentence for a bank's reason code, for lazy translation. Unknown codes get the general sentence."""
    return BANK_REASONS.get(code, BANK_REASONS["not_accepted"])


def told(reason: str) -> str:
    """Return the sentence for the player from a stored reason: a code, then the note of the staff member."""
    return str(REASONS.get(reason.partition(":")[0], UNDECIDED))
