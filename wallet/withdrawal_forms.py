"""What the pages of withdrawals may send."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Player
from wallet.forms import AmountForm
from wallet.models import PayoutAccount
from wallet.payout_accounts import LONGEST, IbanError, read_iban

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
        choices = [(identifier, str(kept)) for identifier, kept in self.known.items()]
        account = self.fields["account"]
        assert isinstance(account, forms.ChoiceField)  # noqa: S101  (declared above)
        account.choices = [*choices, (NEW, _("Another account"))]
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


class CancelForm(forms.Form):
    """Which withdrawal to take back."""

    withdrawal = forms.IntegerField(min_value=1, max_value=2**63 - 1)
