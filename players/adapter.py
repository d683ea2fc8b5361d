"""How allauth logs people in and out of this house: every session with an id, every failure on record."""

import time
from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from players import services
from players.models import User

LIMIT = {"app": "allauth.account", "action": "login_failed"}  # what allauth calls the limit of failures


class AccountAdapter(DefaultAccountAdapter):
    """allauth asks this object wherever a project may differ."""

    error_messages: ClassVar[dict[str, str | Promise]] = DefaultAccountAdapter.error_messages | {
        # One sentence for both (GLI-19 v3.0, 2.5.3): nobody learns here who has an account.
        "email_password_mismatch": _("The e-mail address or the password is wrong."),
        "too_many_login_attempts": _("Too many attempts. Wait a few minutes, then try again."),
        "email_taken": _("This e-mail address already has an account. Log in instead."),
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
        """Record the failure, and the lock if this was the last attempt allowed. Failures at the same moment all find
        the lock; the first of them records it.
        """
        email, ip = credentials["email"], self.get_client_ip(request)
        services.record_failed_login(email=email, ip=ip)
        if self._finds_a_new_lock(request, **credentials):
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

    def _finds_a_new_lock(self, request: HttpRequest, **credentials: Any) -> bool:
        """Say whether no more attempts are allowed, by name or by address, and this is the first to ask since then.

        While a lock lasts no attempt is counted, so the one counted last names the lock.
        """
        key, is_new = self._get_login_attempts_cache_key(request, **credentials), False
        for rate in ratelimit.get_rates(**LIMIT):
            counter = ratelimit.get_cache_key(request, rate=rate, key=key, **LIMIT)
            may_try, attempts = ratelimit.apply_rate(cache.get(counter, []), time.time(), rate, dry_run=True)
            if not may_try and cache.add(f"{counter}:lock:{attempts[0]}", True, timeout=rate.duration):
                is_new = True
        return is_new
