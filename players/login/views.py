"""Views of log-in with a lock, and of mailed codes."""

from allauth.account import views
from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from allauth.decorators import rate_limit
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import IntegrityError, transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from players.login import locks
from players.login.forms import LoginForm, UnlockForm

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
