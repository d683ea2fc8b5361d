"""Two staff members act on notices at the same moment: the race is shown first, then prevented."""

from functools import partial

import psycopg
import pytest
from django.db import IntegrityError

from players.models import Notice
from players.staff import notices
from players.staff.notices import Refused
from tests.notices import a_notice, planned
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once


def published() -> str:
    try:
        notices.publish(planned(), by=a_member_of_staff("operator"))
    except Refused:
        return "refused"
    return "published"


def withdrawn(notice_id: int) -> str:
    try:
        notices.withdraw(notice_id=notice_id, reason="postponed", by=a_member_of_staff("supervisor"))
    except Refused:
        return "refused"
    return "withdrawn"


class TestTwoWhoPublish:
    """Both announce the same hour, and neither sees the other's notice."""

    def test_without_the_constraint_everybody_is_notified_twice(self, cloned_db, owner: psycopg.Connection):
        owner.execute("ALTER TABLE players_notice DROP CONSTRAINT players_notice_once")
        assert at_once([published, published]) == ["published", "published"]
        assert Notice.objects.count() == 2

    def test_with_it_one_of_them_is_refused(self, cloned_db):
        assert sorted(at_once([published, published])) == ["published", "refused"]
        assert Notice.objects.count() == len(events("notice.published")) == 1


class TestTwoWhoWithdraw:
    """Both saw the notice in force, and each gives their own reason."""

    def test_the_database_refuses_a_second_that_checked_too_early(self, cloned_db, monkeypatch):
        notice = a_notice()
        monkeypatch.setattr(notices, "state_of", lambda *_: notices.State.IN_FORCE)
        assert withdrawn(notice.pk) == "withdrawn"
        with pytest.raises(IntegrityError):
            withdrawn(notice.pk)

    def test_with_it_one_of_them_is_refused(self, cloned_db):
        notice = a_notice()
        assert sorted(at_once([partial(withdrawn, notice.pk)] * 2)) == ["refused", "withdrawn"]
        assert len(events("notice.withdrawn")) == 1
