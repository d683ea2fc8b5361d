"""URLs of log-in and security pages: the subset of allauth's pages that is offered.

Registration also creates wallet accounts and is in `accounts.views`. The log-out URL is in
`players.urls`; the adapter in `accounts.views` returns money from open games.
"""

from functools import wraps
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.urls import path, reverse_lazy

from players.access import View
from players.login import second_factor, views

LOG_IN = reverse_lazy("account_login")


def changing(view: View[...]) -> View[...]:
    """Require a log-in, and run the view, its event and its mail in one transaction.

    Secrets that the view encrypts or decrypts belong to the user who is logged in.
    """

    @wraps(view)
    def for_the_owner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with transaction.atomic(), second_factor.belonging_to(request.user.pk):
            return view(request, *args, **kwargs)

    return login_required(for_the_owner)


urlpatterns = [
    path("login/", views.Login.as_view(), name="account_login"),
    path("login/code/", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("unlock/", views.unlock, name="account_unlock"),
    path("verify/", transaction.atomic(views.ConfirmAddress.as_view()), name="account_email_verification_sent"),
    path("password/forgotten/", account.password_reset, name="account_reset_password"),
    path("password/forgotten/code/", views.ConfirmReset.as_view(), name="account_confirm_password_reset_code"),
    path(
        "password/forgotten/new/",
        transaction.atomic(account.CompletePasswordResetView.as_view(success_url=LOG_IN)),
        name="account_complete_password_reset",
    ),
    path("security/", views.security, name="account_security"),
    path("security/email/", changing(account.email), name="account_email"),
    path("security/password/", changing(account.password_change), name="account_change_password"),
    path("security/app/", changing(views.ActivateApp.as_view()), name="mfa_activate_totp"),
    path("security/app/remove/", changing(views.DeactivateApp.as_view()), name="mfa_deactivate_totp"),
    path("security/passkeys/add/", changing(views.AddPasskey.as_view()), name="mfa_add_webauthn"),
    path("security/passkeys/<int:pk>/name/", changing(views.RenamePasskey.as_view()), name="mfa_edit_webauthn"),
    path(
        "security/passkeys/<int:pk>/remove/",
        changing(views.RemovePasskey.as_view()),
        name="mfa_remove_webauthn",
    ),
    path("security/codes/", changing(views.ShowRecoveryCodes.as_view()), name="mfa_view_recovery_codes"),
    path("security/codes/new/", changing(views.MakeRecoveryCodes.as_view()), name="mfa_generate_recovery_codes"),
    path("security/reauthenticate/", account.reauthenticate, name="account_reauthenticate"),
    path("security/reauthenticate/code/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("security/reauthenticate/passkey/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
]
