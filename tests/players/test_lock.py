"""Three wrong passwords in thirty minutes lock a user name, existing or not.

A mailed code, a second factor or a new password unlocks it.
"""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from players.login import second_factor
from players.models import LogInLock, Mail
from players.tasks import forget_old_tries
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, last_mail, log_in, mailed_code

WRONG = "The e-mail address or password is incorrect."
UNLOCK = "/en/account/unlock/"
NOBODY = "nobody@example.com"


def fail(user, times: int = 1, **data: str):
    """Log in with wrong passwords from one browser."""
    visitor = a_visitor()
    for _ in range(times):
        answer = log_in(visitor, user, "wrong", **data)
    return visitor, answer


CODE_TRIES, CODES_AN_HOUR = 5, 5


def minutes_pass(minutes: int) -> None:
    """Make all counted attempts older."""
    as_owner(
        """UPDATE players_log_in_lock SET code_ends_at = code_ends_at - make_interval(mins => %s),
        tries = ARRAY(SELECT at - make_interval(mins => %s) FROM unnest(tries) AS at),
        codes_sent = ARRAY(SELECT at - make_interval(mins => %s) FROM unnest(codes_sent) AS at)""",
        [minutes] * 3,
    )


def locked(user=None, **data: str):
    """Return a browser that was redirected to the code."""
    visitor, answer = fail(user or a_player().user, times=3, **data)
    assert (answer.status_code, answer["Location"]) == (302, UNLOCK)
    return visitor


def unlock(visitor, code: str):
    return visitor.post(UNLOCK, {"code": code})


@pytest.fixture
def player():
    return a_player(password=PASSWORD)


@pytest.mark.django_db
class TestALock:
    def test_gli19_2_5_3_comes_after_three_failures_even_for_the_right_password(self, player):
        for attempt in range(2):
            assert WRONG in fail(player.user)[1].text, attempt
        answer = fail(player.user)[1]
        assert (answer.status_code, answer["Location"]) == (302, UNLOCK)
        assert last_mail(player.user.email).template == "unlock"
        answer = log_in(a_visitor(), player.user)
        assert (answer.status_code, answer["Location"]) == (302, UNLOCK)
        (on_record,) = events("login.locked", on=str(player))
        assert on_record["by"] == "system"
        assert sorted(on_record["personal"]) == ["ip", "tried"]
        fail(player.user, times=2)
        assert len(events("login.failed", on=str(player))) == 3
        assert len(events("login.locked", on=str(player))) == 1

    @pytest.mark.sweep
    def test_does_not_come_where_a_success_is_between(self, player):
        for _ in range(2):
            fail(player.user, times=2)
            assert log_in(a_visitor(), player.user).status_code == 302
        assert not LogInLock.objects.exists()
        assert WRONG in fail(player.user, times=2)[1].text

    @pytest.mark.sweep
    def test_does_not_come_where_half_an_hour_is_between(self, player):
        fail(player.user, times=2)
        minutes_pass(31)
        assert WRONG in fail(player.user, times=2)[1].text
        assert log_in(a_visitor(), player.user)["Location"] == "/"

    @pytest.mark.sweep
    def test_stays_however_long_nobody_opens_it(self, player):
        locked(player.user)
        minutes_pass(60 * 24 * 30)
        forget_old_tries()
        assert log_in(a_visitor(), player.user)["Location"] == UNLOCK

    @pytest.mark.sweep
    def test_is_by_name_however_it_is_written(self, player):
        fail(player.user, times=3, login=player.user.email.upper())
        assert log_in(a_visitor(), player.user)["Location"] == UNLOCK

    @pytest.mark.sweep
    def test_of_one_name_leaves_others_alone(self, player):
        locked()
        assert log_in(a_visitor(), player.user)["Location"] == "/"

    def test_is_the_same_for_an_unknown_name(self, player):
        def page(visitor, email: str) -> str:
            text = visitor.get(UNLOCK).text
            return re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", text).replace(email, "")

        somebody, nobody = locked(player.user), locked(player.user, login=NOBODY)
        assert page(somebody, player.user.email) == page(nobody, NOBODY)
        answers = [unlock(visitor, "BBBB-BBBB").text for visitor in (somebody, nobody)]
        assert "This code is incorrect" in answers[0]
        assert "This code is incorrect" in answers[1]
        assert Mail.objects.filter(address=player.user.email).count() == 1
        assert last_mail(NOBODY).template == "no_account"
        assert len(events("login.locked", on="log-in")) == 1

    def test_keeps_no_address_in_its_table(self, player):
        fail(player.user)
        (row,) = LogInLock.objects.all()
        assert re.fullmatch(r"[0-9a-f]{64}", row.name)


@pytest.mark.django_db
class TestOpeningIt:
    @pytest.mark.sweep
    def test_with_the_mailed_code(self, player):
        visitor = locked(player.user)
        answer = unlock(visitor, mailed_code(player.user.email, "unlock").lower())
        assert answer["Location"] == "/en/account/login/"
        assert "Your log-in is unlocked" in visitor.get(answer["Location"]).text
        assert log_in(visitor, player.user)["Location"] == "/"
        (opened,) = events("login.unlocked", on=str(player))
        assert opened["data"] == {"by": "mailed code"}

    def test_gli19_2_5_3_with_a_code_of_the_authenticator_app_once(self):
        staff = a_member_of_staff("operator", password=PASSWORD)
        code = second_factor.code_of(staff.user)
        assert code is not None
        assert unlock(locked(staff.user), code).status_code == 302
        (opened,) = events("login.unlocked", on=str(staff))
        assert opened["data"] == {"by": "second factor"}
        again = locked(staff.user)
        assert "This code is incorrect" in unlock(again, code).text

    def test_takes_five_tries_and_no_sixth(self, player):
        visitor = locked(player.user)
        code = mailed_code(player.user.email, "unlock")
        for _ in range(CODE_TRIES):
            assert "This code is incorrect" in unlock(visitor, "BBBB-BBBB").text
        assert "This code is incorrect" in unlock(visitor, code).text

    @pytest.mark.sweep
    def test_takes_a_quarter_of_an_hour_at_most(self, player):
        visitor = locked(player.user)
        minutes_pass(16)
        assert "This code is incorrect" in unlock(visitor, mailed_code(player.user.email, "unlock")).text

    @pytest.mark.sweep
    def test_with_the_code_of_another_name_does_not_work(self, player):
        other = a_player()
        locked(other.user)
        assert "This code is incorrect" in unlock(locked(player.user), mailed_code(other.user.email, "unlock")).text

    @pytest.mark.sweep
    def test_mails_one_code_a_minute_and_five_an_hour(self, player):
        visitor = locked(player.user)
        mails = Mail.objects.filter(address=player.user.email)
        visitor.post(UNLOCK, {"action": "resend"})
        assert mails.count() == 1
        for _ in range(7):
            minutes_pass(2)
            visitor.post(UNLOCK, {"action": "resend"})
        assert mails.count() == CODES_AN_HOUR

    def test_is_for_who_was_led_there(self):
        assert a_visitor().get(UNLOCK)["Location"] == "/en/account/login/"


def test_gli19_2_5_3_sixteen_wrong_passwords_at_the_same_moment_are_three_tries(cloned_db):
    player = a_player(password=PASSWORD)

    def attempt(_number: int) -> int:
        try:
            return log_in(a_visitor(), player.user, "wrong").status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        statuses = sorted(pool.map(attempt, range(16)))
    assert statuses == [200] * 2 + [302] * 14
    assert len(events("login.failed", on=str(player))) == 3
    assert len(events("login.locked", on=str(player))) == 1
    assert Mail.objects.filter(address=player.user.email).count() == 1


@pytest.mark.django_db
def test_what_no_longer_counts_is_forgotten(player):
    fail(player.user)
    forget_old_tries()
    assert LogInLock.objects.count() == 1
    minutes_pass(31)
    forget_old_tries()
    assert not LogInLock.objects.exists()
