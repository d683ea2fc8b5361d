"""Forms of the withdrawal pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Player
from wallet.cashier import AmountForm
from wallet.models import PayoutAccount
from wallet.payouts.accounts import LONGEST, History, IbanError, histories, read_iban

NEW = "new"
BOTH = _("To be paid to this IBAN, choose “Another account” above. Otherwise, leave this field empty.")


class WithdrawalForm(AmountForm):
    """A withdrawal: amount, and one of the player's bank accounts or the IBAN of a new one.

    ``known`` maps ids to the player's stored accounts.
    """

    account = forms.ChoiceField(label=_("Bank account"), required=False)
    iban = forms.CharField(
        label=_("IBAN"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "maxlength": LONGEST, "spellcheck": "false"}),
    )
    mine = forms.BooleanField(
        label=_("This bank account is in my own name. Withdrawals are paid only to my own account."),
        error_messages={"required": _("We pay only to your own account. Confirm that this account is yours.")},
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        super().__init__(*args, currency=player.currency, **kwargs)
        self._jurisdiction: str = player.jurisdiction_id
        self.known = {str(kept.pk): kept for kept in PayoutAccount.objects.filter(player=player).order_by("-at")}
        account = self.fields["account"]
        assert isinstance(account, forms.ChoiceField)  # noqa: S101  (declared above)
        past = histories(list(self.known.values()))
        account.choices = [
            *((identifier, _named(kept, past[kept.pk])) for identifier, kept in self.known.items()),
            (NEW, _("Another account")),
        ]
        # Preselect the latest account, but never one that the bank reported as closed or unknown.
        account.initial = next((key for key, kept in self.known.items() if not past[kept.pk].is_dead), NEW)
        if not self.known:
            del self.fields["account"]

    def clean_iban(self) -> str:
        """Parse the IBAN of a new account.

        An IBAN together with a stored account is ambiguous and an error.
        """
        typed: str = self.cleaned_data["iban"]
        if self.kept is not None:
            if typed:
                raise forms.ValidationError(BOTH, code="both")
            return ""
        try:
            return read_iban(typed, self._jurisdiction)
        except IbanError as error:
            raise forms.ValidationError(str(error), code="iban") from error

    @property
    def kept(self) -> PayoutAccount | None:
        """The chosen stored account, None for a new one."""
        return self.known.get(self.cleaned_data.get("account", NEW))


def _named(account: PayoutAccount, past: History) -> str:
    """Return an account's label, with the bank's reason if payouts to it cannot succeed."""
    return f"{account} – {past.why}" if past.is_dead else str(account)


class CancelForm(forms.Form):
    """The withdrawal to cancel."""

    withdrawal = forms.IntegerField(min_value=1, max_value=2**63 - 1)
