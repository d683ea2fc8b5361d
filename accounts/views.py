"""Views of an account that concern money and games as well: registration, log-out, data export, closing.

`HouseAdapter` is what allauth calls at log-in and log-out.
"""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.account.views import SignupView
from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import closing, data_export
from audit import log, retention
from audit.models import RetainedData
from games.demo import session_state
from games.history import in_progress
from players.access import PlayerRequest, player_required
from players.account import closures
from players.account.registration import EmailTaken
from players.login import second_factor
from players.login.adapter import AccountAdapter
from players.login.current_user import player_of
from players.login.forms import RegistrationForm
from players.login.second_factor import ReauthenticateForm
from players.models import ClosureState, Player, User
from players.rates import now_and_then, one_at_a_time
from wallet import cashier, withdrawals
from wallet.ledger import accounts as wallet_accounts
from wallet.ledger import purse
from wallet.models import Mode, PayoutAccount
from wallet.payouts import accounts
from wallet.withdrawals.views import WithdrawalForm


class HouseAdapter(AccountAdapter):
    """The adapter of `players`, which also ends demo games and returns money from open games.

    Log-out and return of money are one transaction.
    """

    def login(self, request: HttpRequest, user: User) -> None:
        """Forget the visitor's demo game and start a session."""
        session_state.forget(request.session)
        super().login(request, user)

    def logout(self, request: HttpRequest) -> None:
        """Return the money from open games, then end the session."""
        player = player_of(request.user)
        with transaction.atomic():
            if player:
                for mode in Mode:
                    purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
            super().logout(request)


class Register(SignupView):
    """allauth's registration view. It registers, opens wallet accounts with free money and logs in, in one
    transaction.
    """

    def form_valid(self, form: RegistrationForm) -> HttpResponse:
        """Register the player, open the accounts, and mail a code that confirms the address.

        If the address has an account already, the answer is the same, and the mail says so.
        """
        try:
            with transaction.atomic():
                response: HttpResponse = super().form_valid(form)
                if self.user:
                    wallet_accounts.open_accounts(self.user.player)
                    cashier.give_first_free_money(self.user.player)
        except EmailTaken:
            form.account_already_exists = True
            return self.form_valid(form)
        return response


@player_required
@require_safe
@reauthentication_required
def account_data(request: PlayerRequest) -> HttpResponse:
    """Show retention periods and the download button, after reauthentication."""
    context = {"years": retention.years(RetainedData.ACCOUNT), "state": closures.state_of(request.player)}
    return render(request, "players/data.html", context)


@player_required
@require_POST
@now_and_then
@one_at_a_time
def account_data_export(request: PlayerRequest) -> HttpResponseBase:
    """Send the data export, if the user reauthenticated recently.

    The file contains documents and bank accounts, and a session alone may be stolen. Otherwise
    redirect to the page, which asks for the password.
    """
    if not did_recently_reauthenticate(request):
        return redirect("account_data")
    who = str(request.player)
    ip = str(get_adapter().get_client_ip(request))
    log.record("personal.exported", by=who, on=who, data={}, personal={"ip": ip})
    response = StreamingHttpResponse(data_export.export(request.player), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="sabot.zip"'
    return response


class ClosingForm(WithdrawalForm):
    """Form to close an account.

    It asks for the password, a code of the authenticator app if set up, and a bank account if there
    is money. A passkey is requested on a page of its own.
    """

    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    code = forms.CharField(
        label=gettext_lazy("Code from your authenticator app"),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    sure = forms.BooleanField(label=gettext_lazy("I want to close my account permanently."))

    def __init__(self, *args: Any, player: Player, owed: int, **kwargs: Any) -> None:
        super().__init__(*args, player=player, **kwargs)
        self._user = player.user
        del self.fields["amount"]
        if not owed:
            for name in {"account", "iban", "mine"} & set(self.fields):
                del self.fields[name]
        if not Authenticator.objects.filter(user=player.user, type=Authenticator.Type.TOTP).exists():
            del self.fields["code"]

    def clean_password(self) -> str:
        """Check the player's password, counted as at log-in, so that a stolen session cannot be used to guess it."""
        password: str = self.cleaned_data["password"]
        if not get_adapter().reauthenticate(self._user, password):
            raise forms.ValidationError(_("The password is incorrect."), code="password")
        return password

    def clean_code(self) -> str:
        """Check a code of the player's authenticator app."""
        asked = ReauthenticateForm({"code": self.cleaned_data["code"]}, user=self._user)
        if not asked.is_valid():
            raise forms.ValidationError(asked.errors["code"].as_data(), code="code")
        return str(asked.cleaned_data["code"])


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@now_and_then
def account_close(request: PlayerRequest) -> HttpResponse:
    """Show the form and the consequences; afterwards, the progress of closing."""
    player = request.player
    state, owed = closures.state_of(player), closing.owed(player)
    form = ClosingForm(request.POST or None, player=player, owed=owed)
    wants_passkey = second_factor.has_only_passkeys(player.user) and not second_factor.was_shown_again(request)
    if request.method == "POST" and state is None and not wants_passkey and form.is_valid():
        refused = _close(request, form)
        if not refused:
            return _after(request)
        form.add_error(None, refused)
    context = {
        "form": form,
        "owed": owed,
        "currency": player.currency,
        "is_closing": state is not None,
        "is_playing": in_progress(player).exists(),
        "wants_passkey": wants_passkey,
    }
    return render(request, "players/close.html", context)


def _close(request: PlayerRequest, form: ClosingForm) -> str:
    """Close the account. Return the reason if it is refused, otherwise ""."""
    ip = str(get_adapter().get_client_ip(request))
    try:
        with transaction.atomic():
            account = _account(request.player, form)
            closing.close(player=request.player, account=account, key=form.cleaned_data["key"], ip=ip)
    except closures.AlreadyClosing:
        return ""
    except closing.NoBankAccount:
        return _("Your account has received money since you opened this page. Choose where to send it.")
    except withdrawals.WithdrawalError as error:
        return str(error)
    return ""


def _account(player: Player, form: ClosingForm) -> PayoutAccount | None:
    if "iban" not in form.fields:
        return None
    return form.known_account or accounts.keep(player=player, iban=form.cleaned_data["iban"])


def _after(request: PlayerRequest) -> HttpResponse:
    if closures.state_of(request.player) is ClosureState.CLOSED:
        request.session.flush()
        messages.success(request, _("Your account is closed and you have been logged out. We have sent you an e-mail."))
        return redirect("lobby")
    messages.success(request, _("Your account is being closed. We are paying out your balance."))
    return redirect("account_close")
