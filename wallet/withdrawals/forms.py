"""What the pages of withdrawals may send."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Player
from wallet.cashier.forms import AmountForm
from wallet.models import PayoutAccount
from wallet.payouts.accounts import LONGEST, IbanError, read_iban
from wallet.payouts.history import History, histories

NEW = "new"
BOTH = _("Which account is it? Choose “Another account” above to be paid to this IBAN, or leave this field empty.")


class WithdrawalForm(AmountForm):
    """An amount, and one of the player's bank accounts or the IBAN of a new one.

    ``known`` are the accounts the player has been asked about before.
    """

    account = forms.ChoiceField(label=_("Bank account"), required=False)
    iban = forms.CharField(
        label=_("IBAN"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "maxlength": LONGEST, "spellcheck": "false"}),
    )
    mine = forms.BooleanField(
        label=_("This bank account is mine. The house does not pay to anybody else’s."),
        error_messages={"required": _("The house pays to your own account only. Confirm that it is yours.")},
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
        # The latest of them, but none that the bank says no money reaches: that one has to be chosen.
        account.initial = next((key for key, kept in self.known.items() if not past[kept.pk].is_dead), NEW)
        if not self.known:
            del self.fields["account"]

    def clean_iban(self) -> str:
        """Read the IBAN where one is needed. Beside a chosen account it is a doubt, and no money goes by one."""
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
        """The account that was chosen, None where it is a new one."""
        return self.known.get(self.cleaned_data.get("account", NEW))


def _named(account: PayoutAccount, past: History) -> str:
    """Name an account to its player, with what its bank said where no money reaches it."""
    return f"{account} – {past.why}" if past.is_dead else str(account)


class CancelForm(forms.Form):
    """Which withdrawal to take back."""

    withdrawal = forms.IntegerField(min_value=1, max_value=2**63 - 1)
