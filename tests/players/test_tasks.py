"""Periodic tasks of the players app."""

from datetime import timedelta

import pytest
from django.utils import timezone

from players.models import BrowserSession
from players.tasks import clear_expired_sessions


@pytest.mark.django_db
def test_sessions_that_are_over_are_cleared_and_no_others():
    now = timezone.now()
    for key, ends in (("over", now - timedelta(hours=1)), ("going", now + timedelta(hours=1))):
        BrowserSession.objects.create(session_key=key, session_data="", expire_date=ends)
    clear_expired_sessions()
    assert [session.session_key for session in BrowserSession.objects.all()] == ["going"]
