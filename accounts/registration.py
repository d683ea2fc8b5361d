"""Registration view, which also opens the player's wallet accounts."""

from allauth.account.views import SignupView
from django.db import transaction
from django.http import HttpResponse

from players.login.forms import RegistrationForm
from players.registration import EmailTaken
from wallet.ledger import accounts


class Register(SignupView):
    """allauth's registration view. It registers, opens wallet accounts and logs in, in one transaction."""

    def form_valid(self, form: RegistrationForm) -> HttpResponse:
        """Register the player, open the accounts, and mail a code that confirms the address.

        If the address has an account already, the answer is the same, and the mail says so.
        """
        try:
            with transaction.atomic():
                response: HttpResponse = super().form_valid(form)
                if self.user:
                    accounts.open_accounts(self.user.player)
        except EmailTaken:
            form.account_already_exists = True
            return self.form_valid(form)
        return response
