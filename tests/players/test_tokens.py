"""API tokens: the key is never readable again; valid until they end, are revoked, or their owner
loses access.
"""

import hashlib
import logging
import re
from datetime import timedelta

import pytest
from django.db import connection

from audit import approvals
from audit.models import Approval, Event
from players import staff as staffing
from players.account import closures
from players.api import tokens
from players.login import locks
from players.models import ApiToken, Ended, Mail, Scope, Session, Staff, StaffAction, User
from tests.builders import PASSWORD, a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events, last_mail

pytestmark = pytest.mark.django_db

SELF = "/api/v1/self/"


def a_token(user: User, *scopes: Scope, name: str = "Chart", days: int = 90) -> tuple[ApiToken, str]:
    return tokens.make(user=user, name=name, scopes=scopes or (Scope.READ,), days=days)


def comes_in(key: str) -> int:
    """Return the status of a call with this key."""
    return a_visitor(headers={"Authorization": f"Bearer {key}"}).get(SELF).status_code


class TestTheKey:
    def test_begins_so_that_anybody_sees_what_it_is_and_has_256_random_bits(self):
        _, key = a_token(a_player().user)
        assert re.fullmatch(r"sabot_[A-Za-z0-9_-]{43}", key)

    def test_is_kept_as_its_hash_alone(self):
        token, key = a_token(a_player().user)
        assert bytes(token.digest) == hashlib.sha256(key.encode()).digest()
        secret = key.removeprefix(token.start)
        with connection.cursor() as cursor:
            cursor.execute("SELECT kept::text FROM players_api_token AS kept")
            assert not any(secret in row for (row,) in cursor)
        assert not any(secret.encode() in bytes(body) for body in Event.objects.values_list("body", flat=True))
        assert not any(secret in body for body in (mail.body for mail in Mail.objects.all()))

    def test_is_another_one_each_time(self):
        user = a_player().user
        assert len({a_token(user)[1] for _ in range(5)}) == 5


class TestMaking:
    def test_is_on_record_and_its_owner_is_mailed(self):
        player = a_player()
        token, _ = tokens.make(user=player.user, name="Chart", scopes=[Scope.READ, Scope.PLAY], days=30, ip="192.0.2.7")
        (event,) = events("token.made")
        assert (event["by"], event["on"]) == (str(player), str(player))
        assert event["data"] == {"token": token.pk, "scopes": ["play", "read"], "days": 30}
        assert "192.0.2.7" not in str(event)
        shown = last_mail(player.user.email, "account_changed").body
        assert f"Its name is “Chart”, and its key begins with {token.start}." in shown

    def test_of_staff_is_reviewed_by_somebody(self):
        member = a_member_of_staff("compliance")
        token, _ = a_token(member.user, Scope.EVENTS, days=1)
        (event,) = events("staff.token_made")
        assert event["data"]["token"] == token.pk
        assert events("token.made") == []

    def test_of_a_player_is_for_nothing_that_staff_read(self):
        with pytest.raises(tokens.NotTheirs):
            a_token(a_player().user, Scope.READ, Scope.EVENTS)

    @pytest.mark.parametrize("scope", tokens.OF_PLAYERS)
    def test_of_staff_never_plays(self, scope):
        with pytest.raises(tokens.NotTheirs):
            a_token(a_member_of_staff("compliance").user, Scope.EVENTS, scope)

    def test_without_scopes_is_refused(self):
        with pytest.raises(tokens.NotTheirs):
            tokens.make(user=a_player().user, name="Chart", scopes=[], days=1)

    def test_stops_at_twenty_that_hold(self):
        user = a_player().user
        first, _ = a_token(user)
        for _ in range(tokens.MOST - 1):
            a_token(user)
        with pytest.raises(tokens.TooMany):
            a_token(user)
        tokens.revoke(token_id=first.pk, by=str(user.player))
        a_token(user)
        assert tokens.running(user).count() == tokens.MOST


class TestHolding:
    def test_until_it_is_revoked_which_is_on_record_once(self):
        player = a_player()
        token, key = a_token(player.user, Scope.READ, Scope.LIMITS)
        assert comes_in(key) == 200
        assert tokens.revoke(token_id=token.pk, by=str(player), ip="192.0.2.7")
        assert comes_in(key) == 401
        assert not tokens.revoke(token_id=token.pk, by=str(player))
        (event,) = events("token.revoked")
        assert event["on"] == str(player)
        assert event["data"] == {"token": token.pk, "scopes": ["limits", "read"], "why": Ended.REVOKED}

    @pytest.mark.parametrize(
        "sent",
        sample(
            [
                "",
                "Bearer",
                "Bearer ",
                "Bearer nonsense",
                "Basic {key}",
                "{key}",
                "Bearer {key}x",
                "Bearer " + "x" * 5000,
            ],
            2,
        ),
    )
    def test_for_nobody_who_sends_something_else(self, sent):
        _, key = a_token(a_player().user)
        answer = a_visitor(headers={"Authorization": sent.format(key=key)}).get(SELF)
        assert (answer.status_code, answer.json()["code"]) == (401, "token-refused")

    def test_for_nobody_who_is_logged_in_with_a_browser_alone(self):
        visitor = a_visitor()
        visitor.force_login(a_player().user)
        assert visitor.get(SELF).status_code == 401


class TestTheOwner:
    def test_who_chooses_another_password_ends_all_of_them(self):
        player = a_player(password=PASSWORD)
        (_, one), (_, other), (_, of_another) = a_token(player.user), a_token(player.user), a_token(a_player().user)
        visitor = a_visitor()
        visitor.force_login(player.user)
        new = "correct-horse-battery-9"
        sent = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        assert visitor.post("/en/account/security/password/", sent).status_code == 302
        assert [comes_in(key) for key in (one, other, of_another)] == [401, 401, 200]
        assert [event["data"]["why"] for event in events("token.revoked")] == [Ended.PASSWORD] * 2

    def test_whose_account_is_locked_has_none_that_holds_until_it_is_opened(self):
        player, staff = a_player(), a_member_of_staff("support")
        _, key = a_token(player.user)
        locks.lock(player=player, reason="for a test", by=staff)
        assert comes_in(key) == 401
        locks.unlock(player=player, reason="for a test", by=staff)
        assert comes_in(key) == 200

    def test_whose_account_is_closed_has_none_any_more(self):
        player = a_player()
        token, key = a_token(player.user)
        closures.begin(player=player, ip="192.0.2.7")
        assert comes_in(key) == 200
        closures.finish(player=player, by="system")
        assert comes_in(key) == 401
        closures.let_in(player=player, by="system")
        assert comes_in(key) == 401
        token.refresh_from_db()
        assert token.revoked_at

    def test_of_staff_who_lost_the_role_is_refused_and_let_in_with_it_again(self):
        member = a_member_of_staff("compliance")
        _, key = a_token(member.user, Scope.EVENTS)
        assert comes_in(key) == 200
        give_roles(member, "operator")
        assert comes_in(key) == 403
        give_roles(member, "operator", "compliance")
        assert comes_in(key) == 200

    @pytest.mark.parametrize("action", [StaffAction.DISABLE, StaffAction.FACTORS])
    def test_of_staff_shut_out_by_two_others_does_not_exist_any_more(self, action):
        member = a_member_of_staff("compliance")
        asker, decider = a_member_of_staff("administrator"), a_member_of_staff("administrator")
        token, key = a_token(member.user, Scope.EVENTS)
        decide(staffing.ask(action=action, member=member, reason="for a test", by=asker), decider)
        assert comes_in(key) == 401
        token.refresh_from_db()
        assert token.revoked_at

    def test_of_staff_without_a_second_factor_is_refused(self):
        _, key = a_token(a_member_of_staff("compliance", factor=False).user, Scope.EVENTS)
        assert comes_in(key) == 403


def give_roles(member: Staff, *roles: str) -> None:
    """Give a staff member exactly these roles."""
    asker, decider = a_member_of_staff("administrator"), a_member_of_staff("administrator")
    decide(staffing.ask_for_roles(member=member, roles=roles, reason="for a test", by=asker), decider)


def decide(asked: Approval, decider: Staff) -> None:
    """Let another person approve."""
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(decider), person=decider.person, reason="for a test", may=bool
    )


class Listening(logging.Handler):
    """Collects all log records of all loggers, with their extra data."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.getMessage()} {vars(record)}")


class TestLogs:
    @pytest.mark.parametrize("path", sample([SELF, "/api/v1/nowhere/", "/en/", "/en/broken/"], 2))
    def test_never_have_the_key(self, path, capfd, monkeypatch):
        _, key = a_token(a_player().user)
        everything, root = Listening(), logging.getLogger()
        monkeypatch.setattr(root, "handlers", [*root.handlers, everything])
        monkeypatch.setattr(root, "level", logging.DEBUG)
        a_visitor(headers={"Authorization": f"Bearer {key}"}).get(path)
        written = capfd.readouterr()
        assert everything.said
        assert key not in "".join([*everything.said, written.out, written.err])


class TestTheLastUse:
    def test_says_when_and_from_where(self):
        token, key = a_token(a_player().user)
        visitor = a_visitor(headers={"Authorization": f"Bearer {key}"})
        visitor.get(SELF)
        token.refresh_from_db()
        assert token.used_at
        assert token.used_from == visitor.defaults["REMOTE_ADDR"]

    def test_is_not_written_at_every_call(self):
        token, key = a_token(a_player().user)
        comes_in(key)
        token.refresh_from_db()
        first = token.used_at
        assert first
        comes_in(key)
        token.refresh_from_db()
        assert token.used_at == first
        ApiToken.objects.filter(pk=token.pk).update(used_at=first - timedelta(seconds=61))
        comes_in(key)
        token.refresh_from_db()
        assert token.used_at
        assert token.used_at > first - timedelta(seconds=61)

    def test_of_a_refused_one_does_not_exist(self):
        player = a_player()
        token, key = a_token(player.user)
        tokens.revoke(token_id=token.pk, by=str(player))
        comes_in(key)
        token.refresh_from_db()
        assert token.used_at is None

    def test_begins_no_session(self):
        _, key = a_token(a_player().user)
        comes_in(key)
        assert not Session.objects.exists()
