"""Pages of API tokens: the owner's list, the key shown once, and who may revoke which."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from players.api import tokens
from players.models import ApiToken, Scope, Session, User
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, last_mail
from tests.players.test_tokens import a_token, comes_in

pytestmark = pytest.mark.django_db

API_TOKENS = "/en/account/api-tokens/"
NEW = f"{API_TOKENS}new/"
ASKED = {"name": "Chart", "scopes": ["read", "limits"], "days": 30}
OF_STAFF = "/staff/api-tokens/"
KEY = re.compile(r'<code class="secret" id="key">(sabot_[A-Za-z0-9_-]{43})</code>')


def logged_in(user: User) -> Client:
    visitor = a_visitor()
    visitor.force_login(user)
    return visitor


def surely(user: User) -> Client:
    """Return a logged-in browser that has confirmed the password."""
    user.set_password(PASSWORD)
    user.save()
    visitor = logged_in(User.objects.get(pk=user.pk))
    visitor.post("/en/account/security/reauthenticate/", {"password": PASSWORD})
    return visitor


def once_of(answer: Any) -> str:
    """Return the form's value that allows one token."""
    (found,) = re.findall(r'name="once" value="([0-9a-f-]{36})"', answer.text)
    return str(found)


def key_of(answer: Any) -> str:
    """Return the key that a page shows."""
    found = KEY.search(answer.text)
    assert found, answer.status_code
    return found[1]


class TestOfAPlayer:
    @pytest.mark.sweep
    def test_without_any_says_what_they_are_for_and_leads_to_the_first(self):
        page = logged_in(a_player().user).get(API_TOKENS).text
        assert "You have no API tokens." in page
        assert f'href="{NEW}"' in page
        assert 'href="/api/docs/"' in page

    @pytest.mark.sweep
    def test_is_listed_with_its_rights_and_times_of_use(self):
        player = a_player()
        token, key = a_token(player.user, Scope.READ, Scope.LIMITS, name="<b>Chart")
        comes_in(key)
        token.refresh_from_db()
        page = logged_in(player.user).get(API_TOKENS).text
        assert "&lt;b&gt;Chart" in page
        for words in ("View tables", "Set your limits", token.start, token.used_from, "600"):
            assert words in page
        assert "Play for you" not in page
        assert key not in page

    @pytest.mark.sweep
    def test_is_led_to_from_the_account(self):
        assert f'href="{API_TOKENS}"' in logged_in(a_player().user).get("/en/account/").text

    def test_is_made_only_after_the_password_was_given_once_more(self):
        player = a_player(password=PASSWORD)
        visitor = logged_in(player.user)
        for answer in (visitor.get(NEW), visitor.post(NEW, ASKED)):
            assert answer.status_code == 302
            assert "/account/security/reauthenticate/" in answer["Location"]
        assert not tokens.running(player.user).exists()

    def test_is_shown_with_its_key_once(self):
        player = a_player()
        visitor = surely(player.user)
        assert 'value="90"' in visitor.get(NEW).text
        made = visitor.post(NEW, ASKED)
        key = key_of(made)
        assert "it is shown only once" in made.text
        assert "no-store" in made["Cache-Control"]
        assert comes_in(key) == 200
        (token,) = tokens.running(player.user)
        assert (token.name, token.scopes) == ("Chart", ["limits", "read"])
        assert (token.ends_at - token.made_at).days == 29  # plus the rest of a day
        assert key not in visitor.get(API_TOKENS).text

    @pytest.mark.sweep
    def test_reloading_the_page_with_the_key_makes_no_second_one(self):
        player = a_player()
        visitor = surely(player.user)
        asked = ASKED | {"once": once_of(visitor.get(NEW))}
        key_of(visitor.post(NEW, asked))
        again = visitor.post(NEW, asked, follow=True)
        assert again.redirect_chain == [(API_TOKENS, 302)]
        assert "its key is shown only once" in again.text
        assert tokens.running(player.user).count() == 1
        key_of(visitor.post(NEW, ASKED | {"once": once_of(visitor.get(NEW))}))
        assert tokens.running(player.user).count() == 2

    @pytest.mark.sweep
    def test_a_form_that_was_refused_is_sent_again(self):
        player = a_player()
        visitor = surely(player.user)
        asked = ASKED | {"once": once_of(visitor.get(NEW))}
        assert once_of(visitor.post(NEW, asked | {"name": ""})) == asked["once"]
        held = [a_token(player.user)[0] for _ in range(tokens.MOST)]
        assert "the maximum number of tokens" in visitor.post(NEW, asked, follow=True).text
        tokens.revoke(token_id=held[0].pk, by=str(player))
        assert comes_in(key_of(visitor.post(NEW, asked))) == 200

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "wrong",
        sample(
            [
                {"name": ""},
                {"name": "x" * 61},
                {"scopes": []},
                {"scopes": ["events"]},
                {"scopes": ["read", "everything"]},
                {"days": 0},
                {"days": 366},
                {"days": "1e3"},
            ],
            3,
        ),
        ids=str,
    )
    def test_is_not_made_of_what_is_wrong(self, wrong):
        player = a_player()
        visitor = surely(player.user)
        answer = visitor.post(NEW, ASKED | wrong)
        assert answer.status_code == 200
        assert "errorlist" in answer.text
        assert not ApiToken.objects.exists()

    @pytest.mark.sweep
    def test_beyond_twenty_has_one_revoked_first(self):
        player = a_player()
        for _ in range(tokens.MOST):
            a_token(player.user)
        visitor = surely(player.user)
        assert f'href="{NEW}"' not in visitor.get(API_TOKENS).text
        assert "the maximum number of tokens" in visitor.post(NEW, ASKED, follow=True).text
        assert tokens.running(player.user).count() == tokens.MOST

    @pytest.mark.sweep
    def test_is_revoked_once_that_is_confirmed(self):
        player = a_player()
        token, key = a_token(player.user)
        visitor = logged_in(player.user)
        address = f"{API_TOKENS}{token.pk}/revoke/"
        assert escape("“Chart”") in visitor.get(address).text
        assert comes_in(key) == 200
        assert "The token is revoked." in visitor.post(address, follow=True).text
        assert comes_in(key) == 401
        assert visitor.post(address).status_code == 404

    def test_of_another_is_not_there(self):
        token, key = a_token(a_player().user)
        visitor = logged_in(a_player().user)
        assert visitor.post(f"{API_TOKENS}{token.pk}/revoke/").status_code == 404
        assert comes_in(key) == 200


class TestOfStaff:
    @pytest.mark.sweep
    def test_is_made_for_what_the_role_reads(self):
        member = a_member_of_staff("compliance")
        visitor = surely(member.user)
        assert "Read the audit log" in visitor.get(f"{OF_STAFF}new/").text
        once = once_of(visitor.get(f"{OF_STAFF}new/"))
        asked = {"name": "Mirror", "scopes": ["events", "checkpoints"], "days": 30, "once": once}
        assert comes_in(key_of(visitor.post(f"{OF_STAFF}new/", asked))) == 200
        assert "its key is shown only once" in visitor.post(f"{OF_STAFF}new/", asked, follow=True).text
        (event,) = events("staff.token_made")
        assert event["by"] == str(member)
        assert "Mirror" in visitor.get(OF_STAFF).text

    def test_never_plays(self):
        visitor = surely(a_member_of_staff("compliance").user)
        answer = visitor.post(f"{OF_STAFF}new/", {"name": "Mirror", "scopes": ["events", "play"], "days": 30})
        assert "errorlist" in answer.text
        assert not ApiToken.objects.exists()

    @pytest.mark.parametrize("role", sample(["operator", "supervisor", "finance", "support"], 1))
    def test_is_for_no_other_role(self, role):
        visitor = surely(a_member_of_staff(role).user)
        assert [visitor.get(page).status_code for page in (OF_STAFF, f"{OF_STAFF}new/")] == [403, 403]

    @pytest.mark.sweep
    def test_is_seen_and_revoked_by_an_administrator_with_a_reason(self):
        member, administrator = a_member_of_staff("compliance", name="Ada"), a_member_of_staff("administrator")
        token, key = a_token(member.user, Scope.EVENTS, name="Mirror")
        visitor = logged_in(administrator.user)
        page = visitor.get(OF_STAFF).text
        assert "Mirror" in page
        assert f"Ada ({member})" in page
        address = f"{OF_STAFF}{token.pk}/revoke/"
        assert "Enter a reason." in visitor.post(address, follow=True).text
        assert comes_in(key) == 200
        assert "Token revoked." in visitor.post(address, {"reason": "left the house"}, follow=True).text
        assert comes_in(key) == 401
        (event,) = events("token.revoked")
        assert (event["by"], event["on"]) == (str(administrator), str(member))
        assert event["data"]["reason"] == "left the house"
        assert "“Mirror”" in last_mail(member.user.email, "token_revoked").body

    def test_is_no_way_to_a_players(self):
        token, key = a_token(a_player().user)
        visitor = logged_in(a_member_of_staff("administrator").user)
        assert visitor.post(f"{OF_STAFF}{token.pk}/revoke/", {"reason": "x"}).status_code == 404
        assert comes_in(key) == 200

    @pytest.mark.sweep
    def test_of_a_person_who_lost_the_role_is_marked(self):
        a_token(a_member_of_staff("support").user, Scope.EVENTS, name="Mirror")
        assert "refused" in logged_in(a_member_of_staff("administrator").user).get(OF_STAFF).text


@pytest.mark.parametrize(("code", "money"), [("GB", "with play money"), ("SE", "with your money")])
def test_the_pages_say_for_which_money_an_api_client_plays(code, money):
    user = a_player(code).user
    a_token(user, Scope.PLAY)
    for page in (surely(user).get(NEW).text, logged_in(user).get(API_TOKENS).text):
        assert f"Play for you, {money}" in page
        assert page.count("Play for you") == 1


class TestAPlayersOnTheirPageForStaff:
    @pytest.mark.sweep
    def test_is_listed_and_revoked_from_the_list_with_a_reason(self):
        player, staff = a_player(), a_member_of_staff("support")
        token, key = a_token(player.user, Scope.PLAY)
        visitor = logged_in(staff.user)
        page = visitor.get(f"/staff/players/{player.pk}/").text
        assert "Play for you, with your money" in page
        (address,) = re.findall(r'href="(/staff/lists/players/apitoken/[^"]*)"', page)
        assert token.start in visitor.get(address).text
        sent = {"action": "revoke", "chosen": [token.pk], "reason": "stolen", "confirm": "1"}
        visitor.post("/staff/lists/players/apitoken/", sent)
        assert comes_in(key) == 401
        (event,) = events("token.revoked")
        assert (event["by"], event["on"], event["data"]["reason"]) == (str(staff), str(player), "stolen")

    @pytest.mark.sweep
    def test_in_the_list_one_of_staff_is_left_alone(self):
        token, key = a_token(a_member_of_staff("compliance").user, Scope.EVENTS)
        visitor = logged_in(a_member_of_staff("support").user)
        sent = {"action": "revoke", "chosen": [token.pk], "reason": "stolen", "confirm": "1"}
        visitor.post("/staff/lists/players/apitoken/", sent)
        assert comes_in(key) == 200


@pytest.mark.sweep
def test_a_session_of_a_api_client_reads_in_the_language_of_its_owner():
    player = a_player()
    Session.objects.create(
        id="00000000-0000-4000-8000-000000000001", user=player.user, ip="", browser="API client: Chart"
    )
    assert "API-klient: Chart" in logged_in(player.user).get("/sv/account/sessions/").text
