"""Pages of log-in, and of the account's security.

The flows are allauth's. Each change is one transaction, with its event and a mail to the owner.
"""

from typing import Any, cast

from allauth.account import views
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.manage_email import list_email_addresses
from allauth.core.internal import ratelimit
from allauth.decorators import rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, EditWebAuthnView, RemoveWebAuthnView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from players.account import registration
from players.login import locks, second_factor, sessions
from players.login.current_user import session_of, staff_of
from players.login.forms import LoginForm, UnlockForm
from players.login.second_factor import MFAAdapter
from players.models import User

LOCKED_EMAIL = "locked_email"  # session key: the e-mail address of the locked log-in


class Login(views.LoginView):
    """allauth's log-in. If the log-in is locked, it leads to the unlock page."""

    def form_invalid(self, form: LoginForm) -> HttpResponse:
        """Show the errors. If the log-in is locked, mail a code and ask for it."""
        if not form.has_error(NON_FIELD_ERRORS, "locked"):
            answer: HttpResponse = super().form_invalid(form)
            return answer
        email = form.cleaned_data["login"].lower()
        self.request.session[LOCKED_EMAIL] = email
        locks.send_code(email, language=get_language() or "en")
        return redirect("account_unlock")


class ConfirmAddress(views.ConfirmEmailVerificationCodeView):
    """Confirmation of an e-mail address by mailed code."""

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Check the code, unless too many have been tried for this address."""
        if self._action == "verify" and not _may_try(request, self._process.email):
            return _too_many(request)
        answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Confirm the address, unless another user has taken it."""
        try:
            with transaction.atomic():
                answer: HttpResponse = super().form_valid(form)
        except IntegrityError:
            messages.error(self.request, str(get_adapter().error_messages["email_taken"]))
            return redirect("account_email")
        return answer


class ConfirmReset(views.ConfirmPasswordResetCodeView):
    """Code that permits a new password."""

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Check the code, unless too many have been tried for this address."""
        if not _may_try(request, self._process.state["email"]):
            return _too_many(request)
        answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer


def _may_try(request: HttpRequest, address: str) -> bool:
    """Count an attempt at a mailed code by e-mail address. allauth's own count restarts with every session."""
    return bool(ratelimit.consume(request, app="allauth.account", action="code", key=address.lower()))


def _too_many(request: HttpRequest) -> HttpResponse:
    messages.error(request, str(get_adapter().error_messages["rate_limited"]))
    return redirect(request.path)


@require_http_methods(["GET", "HEAD", "POST"])
@rate_limit(action="unlock")
def unlock(request: HttpRequest) -> HttpResponse:
    """Ask for the code that opens a lock. The page is the same for addresses without an account."""
    email = request.session.get(LOCKED_EMAIL)
    if request.user.is_authenticated:
        return redirect("home")
    if email is None:
        return redirect("account_login")
    if request.POST.get("action") == "resend":
        locks.send_code(email, language=get_language() or "en")
        messages.info(request, _("If the last e-mail is more than a minute old, we have sent you a new one."))
        return redirect("account_unlock")
    form = UnlockForm(request.POST or None)
    if form.is_valid():
        if locks.redeem(email, form.cleaned_data["code"]):
            del request.session[LOCKED_EMAIL]
            messages.success(request, _("Your log-in is unlocked. Log in now."))
            return redirect("account_login")
        form.add_error("code", _("This code is incorrect or has expired. After five attempts, request a new code."))
    return render(request, "account/unlock.html", {"form": form, "email": email})


SECURITY = reverse_lazy("account_security")


@login_required
@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Show how the user logs in, with links to change each part."""
    held = Authenticator.objects.filter(user=request.user.pk).order_by("id")
    context = {
        "app": held.filter(type=Authenticator.Type.TOTP).first(),
        "passkeys": held.filter(type=Authenticator.Type.WEBAUTHN),
        "codes": held.filter(type=Authenticator.Type.RECOVERY_CODES).first(),
        "pending": [address for address in list_email_addresses(request, request.user) if not address.verified],
        "must_set_up": staff_of(request.user) is not None and not second_factor.is_set_up(request.user),
    }
    with second_factor.belonging_to(request.user.pk):  # the page counts the recovery codes that are left
        return render(request, "account/security.html", context)


class ActivateApp(ActivateTOTPView):
    """Set up an authenticator app. The code that confirms it cannot be used again."""

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Store the secret, use up the code, record and mail the change."""
        answer: HttpResponse = super().form_valid(form)
        _end_what_began_without(self.request)
        held = Authenticator.objects.get(user=self.request.user.pk, type=Authenticator.Type.TOTP)
        second_factor.spend(held, form.cleaned_data["code"])
        _mail_owner(self.request, "authenticator.added")
        return answer

    def get_success_url(self) -> str:
        """Redirect to the recovery codes if they are new."""
        return _after_adding(self.did_generate_recovery_codes)


class DeactivateApp(DeactivateTOTPView):
    """Remove the authenticator app."""

    success_url = SECURITY

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Remove it, record and mail the change."""
        _mail_owner(self.request, "authenticator.removed")
        answer: HttpResponse = super().form_valid(form)
        return answer


class AddPasskey(AddWebAuthnView):
    """Add a passkey."""

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Store it, record and mail the change."""
        answer: HttpResponse = super().form_valid(form)
        _end_what_began_without(self.request)
        _mail_owner(self.request, "passkey.added")
        return answer

    def get_success_url(self) -> str:
        """Redirect to the recovery codes if they are new."""
        return _after_adding(self.did_generate_recovery_codes)


class RenamePasskey(EditWebAuthnView):
    """Rename a passkey."""

    success_url = SECURITY


class RemovePasskey(RemoveWebAuthnView):
    """Remove a passkey after confirmation."""

    success_url = SECURITY

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Remove it, record and mail the change. The last factor of staff cannot be removed."""
        if not MFAAdapter().can_delete_authenticator(self.object):
            messages.error(self.request, str(MFAAdapter.error_messages["cannot_delete_authenticator"]))
            return redirect(SECURITY)
        _mail_owner(self.request, "passkey.removed")
        answer: HttpResponse = super().form_valid(form)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the name of the passkey."""
        return {**super().get_context_data(**kwargs), "name": self.object.wrap().name}


class MakeRecoveryCodes(GenerateRecoveryCodesView):
    """Generate new recovery codes. The old ones become invalid."""

    def form_valid(self, form: BaseForm) -> HttpResponse:
        """Generate them, record and mail the change."""
        answer: HttpResponse = super().form_valid(form)
        _mail_owner(self.request, "recovery_codes.made")
        return answer


class ShowRecoveryCodes(ViewRecoveryCodesView):
    """Show the recovery codes; redirect if there are none."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the unused codes."""
        if not self._held().exists():
            return redirect(SECURITY)
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the download file: user, host, date of creation, instructions, and the codes."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        user = cast("User", self.request.user)
        head = (
            gettext("Recovery codes"),
            f"Sabot, {self.request.get_host()}",
            user.email,
            f"{self._held().get().created_at:%Y-%m-%d}",
            gettext("Each code lets you log in once if you have neither the app nor a passkey with you."),
        )
        return context | {"file": "\n".join((*head, "", *context["unused_codes"], ""))}

    def _held(self) -> QuerySet[Authenticator]:
        return Authenticator.objects.filter(user=self.request.user.pk, type=Authenticator.Type.RECOVERY_CODES)


def _after_adding(are_codes_new: bool) -> str:
    return reverse("mfa_view_recovery_codes" if are_codes_new else "account_security")


def _end_what_began_without(request: HttpRequest) -> None:
    """End all other sessions if the second factor just added is the first one.

    Those sessions began with a password only. They would otherwise count as having a second factor.
    """
    user = cast("User", request.user)
    if not user.has_second_factor:  # type: ignore[attr-defined]  # annotated by `HouseBackend`
        ip = get_adapter().get_client_ip(request)
        sessions.end_others(user=user, here=session_of(request.session), ip=ip)


def _mail_owner(request: HttpRequest, kind: str) -> None:
    registration.record_change(kind, user=cast("User", request.user), ip=get_adapter().get_client_ip(request))
