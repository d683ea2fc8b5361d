"""Account locks by staff: no log-in, open sessions end, and the owner learns how to contact the
house.
"""

import pytest
from django.db import DatabaseError, connection, transaction

from players.login import locks
from players.models import AccountLock, Ended, Session
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, last_mail, log_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    player = a_player("SE")
    player.user.set_password(PASSWORD)
    player.user.save(update_fields=["password"])
    return player


def lock(player, reason="stolen card"):
    return locks.lock(player=player, reason=reason, by=a_member_of_staff("compliance"))


def is_in(visitor):
    return visitor.get("/en/account/").status_code == 200


def test_gli19_2_4_1_a_locked_player_is_out_at_once_and_does_not_get_in_again(player):
    visitor = a_visitor()
    log_in(visitor, player.user)
    assert is_in(visitor)
    lock(player)
    assert not is_in(visitor)
    assert Session.objects.get(user=player.user).why == Ended.HOUSE
    log_in(visitor, player.user)
    assert not is_in(visitor)


@pytest.mark.sweep
def test_gli19_2_5_3_only_the_right_password_learns_of_the_lock_and_how_to_reach_the_house(player, settings):
    lock(player)
    wrong = log_in(a_visitor(), player.user, "another-password-1")
    nobody = a_visitor().post("/en/account/login/", {"login": "nobody@example.com", "password": PASSWORD})
    message = "The e-mail address or password is incorrect."
    assert [message in answer.content.decode() for answer in (wrong, nobody)] == [True, True]
    assert "locked" not in wrong.content.decode()
    right = log_in(a_visitor(), player.user)
    assert right.status_code == 403
    assert "Your account is locked" in right.content.decode()
    assert settings.SUPPORT_EMAIL in right.content.decode()


def test_a_session_begun_during_the_lock_is_over_at_its_next_page(player):
    """A log-in checked before the lock gets its session after it."""
    visitor = a_visitor()
    lock(player)
    visitor.force_login(player.user)
    assert not is_in(visitor)


def test_a_player_is_let_in_again_when_staff_open_the_account(player):
    lock(player)
    locks.unlock(player=player, reason="it was found", by=a_member_of_staff("support"))
    visitor = a_visitor()
    log_in(visitor, player.user)
    assert is_in(visitor)
    assert locks.lock_of(player) is None


def test_both_are_on_record_with_a_reason_and_mailed(player):
    lock(player, "stolen card")
    locks.unlock(player=player, reason="found again", by=a_member_of_staff("support"))
    assert [event["data"]["reason"] for kind in ("account.locked", "account.unlocked") for event in events(kind)] == [
        "stolen card",
        "found again",
    ]
    assert last_mail(player.user.email, "account_locked")
    assert last_mail(player.user.email, "account_unlocked")


def test_is_refused_twice_and_without_a_reason(player):
    with pytest.raises(locks.LockError, match="Enter a reason"):
        lock(player, "  ")
    lock(player)
    with pytest.raises(locks.LockError, match="already locked"):
        lock(player)


def test_an_erased_account_is_neither_locked_nor_opened(player):
    locked, erased = a_player("SE"), a_player("SE")
    lock(locked)
    for each in (locked, erased):
        as_owner("INSERT INTO players_closure (player_id, state, by) VALUES (%s, 'erased', 'system')", [each.pk])
    with pytest.raises(locks.LockError, match="erased"):
        lock(erased)
    with pytest.raises(locks.LockError, match="erased"):
        locks.unlock(player=locked, reason="found", by=a_member_of_staff("support"))


@pytest.mark.parametrize("role", ["finance", "operator"])
def test_the_database_takes_no_lock_from_another_role(player, role):
    """The web login can insert a row, but not in the name of a staff member."""
    with pytest.raises(DatabaseError, match="may not lock accounts"), transaction.atomic():
        AccountLock.objects.create(player=player, locks=True, reason="for a test", by=a_member_of_staff(role))


def test_the_database_keeps_locks_and_their_order(player):
    made = lock(player)
    for change in (
        lambda: AccountLock.objects.filter(pk=made.pk).update(locks=False),
        lambda: AccountLock.objects.filter(pk=made.pk).delete(),
        lambda: AccountLock.objects.create(player=player, locks=True, reason="again", by=made.by),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM players_accountlock")
        assert cursor.fetchone() == (1,)
