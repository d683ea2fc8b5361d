"""Changes of log-in data: password, address, second factors; each recorded and reported by mail."""

import re
import time
from typing import Any
from urllib.parse import unquote

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from cryptography.exceptions import InvalidTag
from django.core.cache import cache
from django.test import Client

from players.login import second_factor
from players.login.forms import ConfirmAddressForm
from players.models import Player, User
from tests.builders import a_player
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, give_code, last_mail, log_in, mailed_code

NEXT_PASSWORD = "catching-the-tram-8"
SECURITY = "/en/account/security/"
AGAIN = "/en/account/security/reauthenticate/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player(password=PASSWORD)


def logged_in(user: User):
    visitor = a_visitor()
    log_in(visitor, user)
    return visitor


def trusted(user: User):
    """Return a browser that has just confirmed the password."""
    visitor = logged_in(user)
    visitor.post(AGAIN, {"password": PASSWORD})
    return visitor


def code_of_app(secret: str) -> str:
    """Return the current code of an authenticator app with this secret."""
    _past, now, _next = yield_hotp_counters_from_time()
    return str(format_hotp_value(hotp_value(secret, now)))


def set_up_app(user: User):
    """Return a browser whose owner has just set up an authenticator app."""
    visitor = trusted(user)
    (secret,) = re.findall(r'<code class="secret">(\w+)</code>', visitor.get(f"{SECURITY}app/").text)
    answer = visitor.post(f"{SECURITY}app/", {"code": code_of_app(secret)})
    assert answer["Location"] == f"{SECURITY}codes/"
    return visitor


class TestAPassword:
    FORM = f"{SECURITY}password/"
    GOOD = {"oldpassword": PASSWORD, "password1": NEXT_PASSWORD, "password2": NEXT_PASSWORD}

    def test_changes_and_ends_all_other_sessions(self, player):
        here, elsewhere = logged_in(player.user), logged_in(player.user)
        assert here.post(self.FORM, self.GOOD)["Location"] == SECURITY
        assert "Your password has been changed." in here.get(SECURITY).text
        assert elsewhere.get(SECURITY).status_code == 302
        (changed,) = events("password.changed", on=str(player))
        assert list(changed["personal"]) == ["ip"]
        assert last_mail(player.user.email).template == "account_changed"
        assert log_in(a_visitor(), player.user, NEXT_PASSWORD).status_code == 302

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("field", "value"),
        sample([("oldpassword", "wrong"), ("password1", "short"), ("password2", "another-one-9")], 1),
    )
    def test_does_not_change_where_a_field_is_wrong(self, player, field, value):
        answer = logged_in(player.user).post(self.FORM, self.GOOD | {field: value})
        assert answer.status_code == 200
        assert not events("password.changed", on=str(player))

    def test_forgotten_is_reset_with_a_mailed_code(self, player):
        visitor, ours = a_visitor(), "/en/account/password/forgotten/"
        assert visitor.post(ours, {"email": player.user.email})["Location"] == f"{ours}code/"
        assert "This code is incorrect." in visitor.post(f"{ours}code/", {"code": "BBBB-BBBB"}).text
        code = mailed_code(player.user.email, "reset_password")
        assert visitor.post(f"{ours}code/", {"code": code})["Location"] == f"{ours}new/"
        answer = visitor.post(f"{ours}new/", {"password1": NEXT_PASSWORD, "password2": NEXT_PASSWORD})
        assert answer["Location"] == "/en/account/login/"
        assert events("password.reset", on=str(player))
        assert last_mail(player.user.email).template == "account_changed"
        assert log_in(a_visitor(), player.user, NEXT_PASSWORD)["Location"] == "/"

    @pytest.mark.sweep
    def test_forgotten_of_an_address_that_nobody_has_is_answered_alike(self, player):
        def page(email: str) -> str:
            visitor = a_visitor()
            answer = visitor.post("/en/account/password/forgotten/", {"email": email}, follow=True)
            return re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", answer.text).replace(email, "")

        assert page(player.user.email) == page("nobody@example.com")
        assert last_mail("nobody@example.com").template == "no_account"

    def test_forgotten_mails_three_codes_and_no_fourth(self, player):
        visitor = a_visitor()
        statuses = [
            visitor.post("/en/account/password/forgotten/", {"email": player.user.email}).status_code for _ in range(4)
        ]
        assert statuses == [302, 302, 302, 429]


class TestAnAddress:
    FORM = f"{SECURITY}email/"

    def test_changes_once_the_new_one_is_confirmed_and_the_old_one_is_notified(self, player):
        old, visitor = player.user.email, trusted(player.user)
        answer = visitor.post(self.FORM, {"email": "next@example.com", "action_add": "1"})
        assert answer["Location"] == "/en/account/verify/"
        assert User.objects.get(pk=player.user.pk).email == old
        assert "next@example.com" in visitor.get(SECURITY).text
        answer = visitor.post("/en/account/verify/", {"code": mailed_code("next@example.com")})
        assert answer["Location"] == SECURITY
        assert User.objects.get(pk=player.user.pk).email == "next@example.com"
        (kept,) = EmailAddress.objects.filter(user=player.user)
        assert (kept.email, kept.primary, kept.verified) == ("next@example.com", True, True)
        assert last_mail(old).template == "account_changed"
        (changed,) = events("address.changed", on=str(player))
        assert sorted(changed["personal"]) == ["email", "ip", "old_email"]

    def test_asks_for_the_password_first(self, player):
        answer = logged_in(player.user).post(self.FORM, {"email": "next@example.com", "action_add": "1"})
        assert answer["Location"].startswith(AGAIN)

    @pytest.mark.sweep
    def test_of_someone_else_is_answered_like_any_other(self, player):
        other = a_player()
        visitor = trusted(player.user)
        answer = visitor.post(self.FORM, {"email": other.user.email, "action_add": "1"})
        assert answer["Location"] == "/en/account/verify/"
        code = visitor.session["account_email_verification_code"]["code"]
        assert visitor.post("/en/account/verify/", {"code": code}).status_code == 200
        assert User.objects.get(pk=player.user.pk).email == player.user.email

    @pytest.mark.sweep
    def test_reports_that_someone_else_has_registered_in_the_meantime(self, player):
        visitor = self.wanting(player)
        User.objects.create_user("next@example.com")
        assert "This e-mail address cannot be used." in self.confirm(visitor).text
        assert User.objects.get(pk=player.user.pk).email == player.user.email

    def test_that_someone_else_registers_while_the_code_is_checked_is_said(self, player, monkeypatch):
        checked = ConfirmAddressForm.clean_code

        def register_then(form: ConfirmAddressForm) -> str:
            code = checked(form)
            User.objects.create_user("next@example.com")
            return code

        visitor = self.wanting(player)
        monkeypatch.setattr(ConfirmAddressForm, "clean_code", register_then)
        assert "This e-mail address cannot be used." in self.confirm(visitor).text
        assert User.objects.get(pk=player.user.pk).email == player.user.email
        assert not EmailAddress.objects.filter(user=player.user, email="next@example.com", verified=True).exists()
        assert not events("address.changed", on=str(player))

    def wanting(self, player: Player) -> Client:
        """Return a browser that has requested another address and is about to type the code."""
        visitor = trusted(player.user)
        visitor.post(self.FORM, {"email": "next@example.com", "action_add": "1"})
        return visitor

    def confirm(self, visitor: Client) -> Any:
        return visitor.post("/en/account/verify/", {"code": mailed_code("next@example.com")}, follow=True)


class TestAMailedCode:
    """allauth counts attempts per session; the house counts them per address, over all sessions."""

    WRONG = {"code": "BBBB-BBBB"}

    def test_that_allows_a_new_password_is_not_guessed_from_ever_new_sessions(self, player):
        forgotten = "/en/account/password/forgotten/"
        for _session in range(3):
            visitor = a_visitor()
            visitor.post(forgotten, {"email": player.user.email})
            for _try in range(2):
                assert "This code is incorrect." in visitor.post(f"{forgotten}code/", self.WRONG).text
        right = {"code": mailed_code(player.user.email, "reset_password")}
        assert visitor.post(f"{forgotten}code/", right)["Location"] == f"{forgotten}code/"
        assert "Too many attempts." in visitor.get(f"{forgotten}code/").text

    @pytest.mark.sweep
    def test_that_confirms_an_address_neither(self, player, time_machine):
        verify, begun = "/en/account/verify/", time.time()
        for minute in (0, 4, 8):  # one mail every three minutes
            time_machine.move_to(begun + 60 * minute)
            visitor = trusted(player.user)
            visitor.post(f"{SECURITY}email/", {"email": "next@example.com", "action_add": "1"})
            for _try in range(2):
                assert "This code is incorrect." in visitor.post(verify, self.WRONG).text
        right = {"code": visitor.session["account_email_verification_code"]["code"]}
        assert visitor.post(verify, right)["Location"] == verify
        assert User.objects.get(pk=player.user.pk).email == player.user.email


class TestAnAuthenticatorApp:
    def test_is_set_up_with_its_first_code_and_asked_for_from_then_on(self, player):
        set_up_app(player.user)
        assert events("authenticator.added", on=str(player))
        assert last_mail(player.user.email).template == "account_changed"
        visitor = a_visitor()
        assert log_in(visitor, player.user)["Location"] == "/en/account/login/code/"
        assert visitor.get(SECURITY).status_code == 302
        assert give_code(visitor, player.user)["Location"] == "/"
        assert visitor.get(SECURITY).status_code == 200

    def test_asks_for_the_password_before_it_shows_a_secret(self, player):
        assert logged_in(player.user).get(f"{SECURITY}app/")["Location"].startswith(AGAIN)

    def test_takes_no_code_twice(self, player):
        set_up_app(player.user)
        code = second_factor.code_of(player.user)
        first, second = a_visitor(), a_visitor()
        for visitor in (first, second):
            log_in(visitor, player.user)
        assert first.post("/en/account/login/code/", {"code": code}).status_code == 302
        cache.clear()
        assert "This code is incorrect" in second.post("/en/account/login/code/", {"code": code}).text

    def test_takes_five_wrong_codes_in_five_minutes_on_record(self, player):
        set_up_app(player.user)
        visitor = a_visitor()
        log_in(visitor, player.user)
        for _ in range(5):
            visitor.post("/en/account/login/code/", {"code": "000000"})
        assert "Too many attempts" in visitor.post("/en/account/login/code/", {"code": "000000"}).text
        assert len(events("second_factor.failed", on=str(player))) == 5

    def test_keeps_its_secret_encrypted(self, player):
        held = second_factor.give(player.user)
        secret = second_factor.secret_of(held)
        assert re.fullmatch(r"[A-Z2-7]{32}", secret)
        assert secret not in str(Authenticator.objects.get(pk=held.pk).data)

    @pytest.mark.parametrize("kind", ["app", "recovery codes"])
    def test_a_secret_that_was_copied_from_another_user_opens_nothing(self, player, kind):
        """A person who can write to the table gives a supervisor their own app, and still cannot log in with it."""
        other = a_member_of_staff("supervisor").user
        theirs, own = Authenticator.objects.get(user=other), second_factor.give(player.user)
        if kind == "recovery codes":
            with second_factor.belonging_to(player.user.pk):
                own = RecoveryCodes.activate(player.user).instance
            with second_factor.belonging_to(other.pk):
                theirs = RecoveryCodes.activate(other).instance
        code = second_factor.code_of(player.user)
        assert code
        update_as_owner(Authenticator.objects.filter(pk=theirs.pk), data=own.data)
        with pytest.raises(InvalidTag):
            second_factor.accepts(other, code)
        assert second_factor.accepts(player.user, code)

    def test_no_secret_is_encrypted_that_belongs_to_nobody(self):
        with pytest.raises(LookupError):
            second_factor.MFAAdapter().encrypt("JBSWY3DP")

    @pytest.mark.sweep
    def test_is_removed_by_players_but_not_by_staff_who_have_nothing_else(self, player):
        visitor = set_up_app(player.user)
        assert visitor.post(f"{SECURITY}app/remove/")["Location"] == SECURITY
        assert not Authenticator.objects.filter(user=player.user).exists()
        assert events("authenticator.removed", on=str(player))
        staff = a_member_of_staff("operator", password=PASSWORD)
        visitor = a_visitor()
        log_in(visitor, staff.user)
        give_code(visitor, staff.user)
        visitor.post(AGAIN, {"password": PASSWORD})
        assert "Staff must have at least one second factor" in visitor.post(f"{SECURITY}app/remove/").text
        assert second_factor.is_set_up(staff.user)


class TestRecoveryCodes:
    def codes(self, page: str) -> list[str]:
        return re.findall(r"<li><code>(\d+)</code></li>", page)

    def test_are_shown_once_and_let_in_once_each(self, player):
        visitor = set_up_app(player.user)
        codes = self.codes(visitor.get(f"{SECURITY}codes/").text)
        assert len(set(codes)) == 10
        assert self.codes(visitor.get(f"{SECURITY}codes/").text) == []
        assert "10 codes are left" in visitor.get(SECURITY).text
        for expected in (302, 200):
            other = a_visitor()
            log_in(other, player.user)
            assert other.post("/en/account/login/code/", {"code": codes[0]}).status_code == expected

    @pytest.mark.sweep
    def test_are_saved_as_a_file_that_says_whose_they_are_and_how_often_they_let_in(self, player):
        visitor = set_up_app(player.user)
        page = visitor.get(f"{SECURITY}codes/").text
        (quoted,) = re.findall(r'href="data:text/plain;charset=utf-8,([^"]+)"', page)
        saved = unquote(quoted)
        head, _blank, codes = saved.partition("\n\n")
        assert codes.split() == self.codes(page)
        made = Authenticator.objects.get(user=player.user, type=Authenticator.Type.RECOVERY_CODES).created_at
        for said in ("Sabot, testserver", player.user.email, f"{made:%Y-%m-%d}", "Each code lets you log in once"):
            assert said in head

    @pytest.mark.sweep
    def test_are_made_again(self, player):
        visitor = set_up_app(player.user)
        before = self.codes(visitor.get(f"{SECURITY}codes/").text)
        assert visitor.post(f"{SECURITY}codes/new/")["Location"] == f"{SECURITY}codes/"
        after = self.codes(visitor.get(f"{SECURITY}codes/").text)
        assert len(after) == 10
        assert not set(after) & set(before)
        assert events("recovery_codes.made", on=str(player))


class TestStaffWithoutASecondFactor:
    def staff(self):
        return a_member_of_staff("operator", "compliance", "finance", password=PASSWORD, factor=False)

    @pytest.mark.parametrize(
        "page", sample(["/staff/", "/staff/tables/", "/staff/ledger/", "/staff/events/", "/styleguide/"], 2)
    )
    def test_gli19_b_2_3_get_no_further_than_to_where_they_set_one_up(self, page):
        visitor = logged_in(self.staff().user)
        answer = visitor.get(page)
        assert (answer.status_code, answer["Location"]) == (302, SECURITY)
        assert "Staff need a second factor" in visitor.get(SECURITY).text

    def test_are_led_there_from_a_fragment_too(self):
        answer = logged_in(self.staff().user).get("/staff/tables/", headers={"HX-Request": "true"})
        assert answer["HX-Redirect"] == SECURITY

    @pytest.mark.sweep
    def test_get_in_once_they_have(self):
        visitor = set_up_app(self.staff().user)
        assert visitor.get("/staff/").status_code == 200
