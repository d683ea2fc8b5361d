"""How allauth logs people in and out of this house: every session with an id, every failure on record."""

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from players import services
from players.models import User


class AccountAdapter(DefaultAccountAdapter):
    """allauth asks this object wherever a project may differ."""

    error_messages: ClassVar[dict[str, str | Promise]] = DefaultAccountAdapter.error_messages | {
        # One sentence for both (GLI-19 v3.0, 2.5.3): nobody learns here who has an account.
        "email_password_mismatch": _("The e-mail address or the password is wrong."),
        "too_many_login_attempts": _("Too many attempts. Wait a few minutes, then try again."),
        "email_taken": _("This e-mail address has an account already. Log in instead."),
    }

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin a session, on record."""
        with transaction.atomic():
            super().login(request, user)
            services.begin_session(user=user, session=request.session, ip=self.get_client_ip(request))

    def logout(self, request: HttpRequest) -> None:
        """End the session, on record."""
        with transaction.atomic():
            if not isinstance(request.user, AnonymousUser):
                services.end_session(user=request.user, session=request.session, ip=self.get_client_ip(request))
            super().logout(request)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record the failure, and the lock if this was the last attempt allowed."""
        email, ip = credentials["email"], self.get_client_ip(request)
        services.record_failed_login(email=email, ip=ip)
        if not self._may_try_again(request, **credentials):
            services.record_lock(email=email, ip=ip)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Say that the account is closed, to whoever knows its password."""
        return render(request, "account/closed.html", status=403)

    def is_safe_url(self, url: str | None) -> bool:
        """Lead back to pages of this host only."""
        return url_has_allowed_host_and_scheme(url, {self.request.get_host()}, require_https=self.request.is_secure())

    def is_ajax(self, request: HttpRequest) -> bool:
        """Answer with pages, never with allauth's JSON."""
        return False

    def add_message(self, *args: object, **kwargs: object) -> None:
        """Say nothing: the page that follows a log-in or log-out speaks for itself."""

    def _may_try_again(self, request: HttpRequest, **credentials: Any) -> bool:
        key = self._get_login_attempts_cache_key(request, **credentials)
        return bool(ratelimit.consume(request, app="allauth.account", action="login_failed", key=key, dry_run=True))
