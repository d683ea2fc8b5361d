"""allauth adapter: records every session and every failed log-in, and shows the last log-in."""

from datetime import datetime
from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, gettext, ngettext, override
from django.utils.translation import gettext_lazy as _

from audit.models import Event
from players import mail
from players.account import registration
from players.api import tokens
from players.datetime_format import written_day, written_time
from players.login import locks, sessions, who_asks
from players.login.current_user import actor_of, player_of, session_of, staff_of
from players.models import Ended, User
from players.protection import registers


class HouseBackend(AuthenticationBackend):
    """Loads player or staff member and the state of the second factor with the user."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is closed or locked."""
        user = who_asks.by_id(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


FAILED = "login.failed"


def add_login_message(request: HttpRequest, user: User) -> None:
    """Add the message to the next page, in the user's language. Call it before the log-in is recorded.

    A first log-in has no message.
    """
    if user.last_login:
        with override(user.language):
            messages.info(request, sentence(user, user.last_login))


def sentence(user: User, last: datetime) -> str:
    """Return the message: the time of the last log-in and the failures since then."""
    player = player_of(user)
    zone = player.jurisdiction.time_zone if player else "UTC"
    with timezone.override(zone):
        when = {"day": written_day(last, user.language), "time": written_time(last, user.language), "zone": zone}
    report = gettext("Last log-in: %(day)s, %(time)s (%(zone)s).") % when
    failures = Event.objects.filter(kind=FAILED, on=actor_of(user), at__gt=last).count()
    if not failures:
        return report
    since = ngettext("%d failed attempt since then.", "%d failed attempts since then.", failures)
    return f"{report} {since % failures}"


PASSWORDS = {"app": "allauth.account", "action": "password_failed"}  # allauth's rate limit for wrong passwords

# Template of allauth -> our mail to an address that may have no account.
MAILS = {
    "account/email/email_confirmation_signup": "verify_address",
    "account/email/email_confirmation": "verify_address",
    "account/email/account_already_exists": "already_registered",
    "account/email/unknown_account": "no_account",
    "account/email/password_reset_code": "reset_password",
}
# allauth's template of a notification mail -> kind of the event.
CHANGES = {
    "account/email/password_changed": "password.changed",
    "account/email/password_reset": "password.reset",
    "account/email/email_changed": "address.changed",
}
# allauth's message template -> text on the next page. Other messages of allauth are dropped.
SAID: dict[str | None, str | Promise] = {
    "account/messages/password_changed.txt": _("Your password has been changed."),
    "account/messages/email_confirmed.txt": _("Your e-mail address has been confirmed."),
    "account/messages/email_confirmation_failed.txt": _("This e-mail address cannot be used."),
    "mfa/messages/totp_activated.txt": _(
        "The authenticator app has been set up. From now on you need it every time you log in."
    ),
    "mfa/messages/totp_deactivated.txt": _("The authenticator app has been removed. You no longer need it to log in."),
    "mfa/messages/webauthn_added.txt": _("The passkey has been added."),
    "mfa/messages/webauthn_removed.txt": _("The passkey has been removed."),
}


class AccountAdapter(DefaultAccountAdapter):
    """Overrides of allauth's account adapter."""

    error_messages: ClassVar[dict[str, str | Promise]] = DefaultAccountAdapter.error_messages | {
        # One message for both (GLI-19 v3.0, 2.5.3), so that it does not reveal who has an account.
        "email_password_mismatch": _("The e-mail address or password is incorrect."),
        "too_many_login_attempts": _("Too many attempts. Wait a few minutes, then try again."),
        "rate_limited": _("Too many attempts. Wait a few minutes, then try again."),
        "locked": _("Too many incorrect passwords: log-in is locked. Log out, log in again, and unlock it by e-mail."),
        "email_taken": _("This e-mail address cannot be used."),
        "duplicate_email": _("This is already your e-mail address."),
        "incorrect_code": _("This code is incorrect."),
        "incorrect_password": _("This password is incorrect."),
        "enter_current_password": _("This password is incorrect."),
    }

    def login(self, request: HttpRequest, user: User) -> None:
        """Start a session, record it, and query the exclusion registers."""
        with transaction.atomic():
            self._open_lock(request, user)
            add_login_message(request, user)
            super().login(request, user)
            browser = request.headers.get("User-Agent", "")
            sessions.begin(user=user, session=request.session, ip=self.get_client_ip(request), browser=browser)
        player = player_of(user)
        if player:
            registers.ask(player)

    def set_password(self, user: User, password: str) -> None:
        """Set a password, end all other sessions and revoke all API tokens."""
        with transaction.atomic():
            super().set_password(user, password)
            here, ip = session_of(self.request.session), self.get_client_ip(self.request)
            sessions.end_others(user=user, here=here, why=Ended.PASSWORD, ip=ip)
            tokens.revoke_all(user=user, why=Ended.PASSWORD, by=actor_of(user))

    def logout(self, request: HttpRequest) -> None:
        """End the session and record it."""
        with transaction.atomic():
            known = session_of(request.session)
            if known and not isinstance(request.user, AnonymousUser):
                by, ip = actor_of(request.user), self.get_client_ip(request)
                sessions.end(session_id=known, why=Ended.LOGGED_OUT, by=by, ip=ip)
            super().logout(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt by e-mail address and by IP address. Raises ValidationError above the limit."""
        self._login_failed_rl_usage = ratelimit.consume(request, **PASSWORDS)
        if not self._login_failed_rl_usage:
            raise self.validation_error("too_many_login_attempts")
        number = locks.begin_try(credentials["email"])
        if number is None:
            raise self.validation_error("locked")
        self._try = number

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the user with this e-mail address and password. A right password resets the count."""
        user: User | None = super().authenticate(request, **credentials)
        if user:
            locks.forget_tries(credentials["email"])
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record the failure. Raises ValidationError if this attempt locks the log-in.

        The error leads the visitor directly to the unlock code.
        """
        email, ip = credentials["email"], self.get_client_ip(request)
        registration.record_failed_login(email=email, ip=ip)
        if locks.end_try(email, self._try, ip=ip):
            raise self.validation_error("locked")

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Mail a code, or the reason why there is none, in the user's language or else that of the page."""
        user = User.objects.filter(email=email).first() or context.get("user")
        language = user.language if user else get_language() or "en"
        chosen = {"code": context.get("code")}
        mail.write_to(address=email, language=language, template=MAILS[template_prefix], context=chosen)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Record a change of password or e-mail address, and mail the owner.

        A change of address is mailed to the old address. Changes of second factors are recorded
        where they are made.
        """
        kind = CHANGES.get(template_prefix)
        if kind:
            registration.record_change(kind, user=user, ip=self.get_client_ip(self.request), old_email=email)

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        """Return the page shown after a change of address."""
        return reverse("account_security")

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the page shown after a change of password."""
        return reverse("account_security")

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Show that the account is closed, after the right password.

        Staff read that an administrator can enable it.
        """
        why = "disabled" if staff_of(user) else "closed"
        return render(request, "account/no_log_in.html", {"why": why}, status=403)

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Refuse a log-in to an account that staff locked, and show how to contact support."""
        player = player_of(user)
        if player and locks.lock_of(player):
            context = {"why": "locked", "support": settings.SUPPORT_EMAIL}
            return render(request, "account/no_log_in.html", context, status=403)
        response: HttpResponse | None = super().pre_login(request, user, **kwargs)
        return response

    def is_safe_url(self, url: str | None) -> bool:
        """Accept only paths on this host. A bare word would be resolved as a URL name."""
        return str(url).startswith("/") and url_has_allowed_host_and_scheme(
            url, {self.request.get_host()}, require_https=self.request.is_secure()
        )

    def is_ajax(self, request: HttpRequest) -> bool:
        """Return True only for the request of the passkey script; all other requests get pages."""
        match = request.resolver_match
        return match is not None and match.url_name == "mfa_login_webauthn" and request.user.is_anonymous

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Add our text for a message of allauth, if there is one."""
        sentence = message or SAID.get(message_template)
        if sentence:
            messages.add_message(request, level, str(sentence))

    def _open_lock(self, request: HttpRequest, user: User) -> None:
        """Open the lock of the log-in after a second factor."""
        if any(record["method"] == "mfa" for record in get_authentication_records(request, user)):
            locks.open_lock(user.email, locks.Opened.SECOND_FACTOR)
