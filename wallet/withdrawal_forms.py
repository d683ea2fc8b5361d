"""What the pages of withdrawals may send."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Player
from wallet.forms import AmountForm, MoneyField
from wallet.models import Currency, PayoutAccount, WithdrawalStatus
from wallet.models.withdrawals import OPEN
from wallet.payout_accounts import LONGEST, IbanError, read_iban
from wallet.withdrawal_queue import OVER, WAITING
from wallet.withdrawal_words import REASONS

NEW = "new"


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
        """Read the IBAN where one is needed."""
        typed: str = self.cleaned_data["iban"]
        if self.kept is not None:
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


class DecisionForm(forms.Form):
    """Staff approve a withdrawal, or refuse it for a reason that the player reads; what they write is on record."""

    action = forms.ChoiceField(choices=[("approve", "Approve"), ("refuse", "Refuse")])
    code = forms.ChoiceField(choices=[(code, code) for code in REASONS], required=False)
    reason = forms.CharField(max_length=300, strip=True)

    def clean(self) -> None:
        """Refusing takes a reason for the player, too."""
        if self.cleaned_data.get("action") == "refuse" and not self.cleaned_data.get("code"):
            self.add_error("code", self.fields["code"].error_messages["required"])


class QueueForm(forms.Form):
    """Which withdrawals staff want to see. The amount is in units of the currency chosen; where none is, of any."""

    STATES = {"": "waiting for a decision", **dict(WithdrawalStatus.choices), "over": "decided, any"}

    number = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label="Number")
    state = forms.ChoiceField(required=False, choices=list(STATES.items()))
    currency = forms.ChoiceField(required=False, choices=[("", "any"), *Currency.choices])
    above = MoneyField(required=False, label="More than")
    hours = forms.IntegerField(required=False, min_value=1, max_value=10_000, label="Open for more hours than")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        chosen, above = data.get("currency", ""), self.fields["above"]
        assert isinstance(above, MoneyField)  # noqa: S101  (as it stands above)
        above.currency = chosen if chosen in Currency.values else Currency.EUR

    def statuses(self) -> Sequence[str]:
        """Return which statuses are asked for; those that wait for staff where nothing is chosen."""
        state = self.cleaned_data.get("state", "")
        return OVER if state == "over" else (state,) if state else WAITING

    def clean(self) -> None:
        """What is decided is without end, and cannot be gone through for an amount."""
        if set(self.statuses()) <= set(OPEN):
            return
        for name in ("above", "hours"):
            if self.cleaned_data.get(name):
                self.add_error(name, "This finds what is still open. For the others there is the report of payments.")
