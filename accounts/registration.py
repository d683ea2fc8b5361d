"""Registration: the one act that makes both a person and their accounts, so it stands on the floor above both."""

from allauth.account.views import SignupView
from django.db import transaction
from django.http import HttpResponse

from players.login.forms import RegistrationForm
from players.registration import EmailTaken
from wallet.ledger import accounts


class Register(SignupView):
    """allauth's registration, which also opens the player's accounts: all of it happens, log-in too, or nothing."""

    def form_valid(self, form: RegistrationForm) -> HttpResponse:
        """Make the player, open the accounts, mail the code that confirms the address. Where the address has an
        account, the answer is the same, and the mail says so.
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
