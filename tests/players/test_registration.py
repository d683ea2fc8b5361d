"""Registration: who may, what is created, and that it is all or nothing."""

import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection

from audit.models import Event
from players.account import registration, terms
from players.login import forms
from players.login.forms import RegistrationForm
from players.models import Agreement, Jurisdiction, Player, User
from tests.harness.sweeps import sample
from tests.people import PASSWORD, a_visitor, confirm_address, events, last_mail, log_in, mailed_code
from wallet.cashier import FREE_MONEY
from wallet.ledger import accounts
from wallet.models import Mode

PAGE = "/en/account/register/"
GOOD = {
    "email": "New.Player@Example.com",
    "password1": PASSWORD,
    "residence": "GB:EUR",
    "birth_date": "1990-02-28",
    "agrees": "on",
}


def send(visitor=None, **changes):
    """Send the form with some answers changed (None: omitted)."""
    data = {field: answer for field, answer in (GOOD | changes).items() if answer is not None}
    return (visitor or a_visitor()).post(PAGE, data)


def years_ago(years: int, days: int = 0) -> date:
    today = registration.today()
    birthday = (
        today.replace(year=today.year - years)
        if (today.month, today.day) != (2, 29)
        else date(today.year - years, 3, 1)
    )
    return birthday + timedelta(days=days)


@pytest.mark.parametrize(
    ("born", "on", "expected"),
    [
        (date(2000, 6, 15), date(2018, 6, 14), 17),
        (date(2000, 6, 15), date(2018, 6, 15), 18),
        (date(2000, 2, 29), date(2018, 2, 28), 17),
        (date(2000, 2, 29), date(2018, 3, 1), 18),
        (date(2000, 2, 29), date(2020, 2, 29), 20),
        (date(2000, 12, 31), date(2001, 1, 1), 0),
        (date(2030, 1, 1), date(2026, 1, 1), -4),
    ],
)
def test_age_counts_whole_years(born, on, expected):
    assert registration.age(born, on) == expected


@pytest.mark.django_db
class TestAGoodForm:
    def test_makes_a_player_with_accounts_and_agreement_and_logs_them_in_once_the_address_is_confirmed(self):
        visitor = a_visitor()
        answer = send(visitor)
        assert (answer.status_code, answer["Location"]) == (302, "/en/account/verify/")
        assert visitor.get("/en/history/").status_code == 302
        assert confirm_address(visitor, "new.player@example.com")["Location"] == "/"
        player = Player.objects.get(user__email="new.player@example.com")
        assert (player.jurisdiction_id, player.currency, player.birth_date) == ("GB", "EUR", date(1990, 2, 28))
        assert player.user.check_password(PASSWORD)
        assert player.user.password.startswith("argon2")
        assert Agreement.objects.get(player=player).terms_version == terms.VERSION
        assert accounts.totals(player.pk).balances() == {Mode.REAL: 0, Mode.FREE: FREE_MONEY["EUR"]}
        (given,) = events("top_up.posted", on=str(player))
        assert given["data"]["amount"] == FREE_MONEY["EUR"]
        assert visitor.get("/en/history/").status_code == 200

    def test_is_on_record_without_personal_data(self):
        visitor = a_visitor()
        send(visitor)
        confirm_address(visitor, "new.player@example.com")
        player = Player.objects.get(user__email="new.player@example.com")
        (registered,) = events("player.registered", on=str(player))
        assert registered["data"] == {"jurisdiction": "GB", "currency": "EUR", "terms": terms.VERSION, "demo": False}
        assert sorted(registered["personal"]) == ["birth_date", "email", "ip"]
        (began,) = events("session.began", on=str(player))
        assert began["data"] == {"session": visitor.session["sid"]}
        bodies = [bytes(event.body).decode() for event in Event.objects.filter(on=str(player))]
        secrets = ("example.com", GOOD["birth_date"], visitor.defaults["REMOTE_ADDR"])
        assert not any(secret in body for body in bodies for secret in secrets)

    def test_keeps_the_language_it_was_filled_in(self):
        a_visitor().post("/da/account/register/", GOOD)
        assert User.objects.get(email="new.player@example.com").language == "da"

    def test_takes_someone_who_turns_eighteen_today(self):
        assert send(birth_date=years_ago(18).isoformat()).status_code == 302


@pytest.mark.django_db
def test_gli19_2_6_8_the_form_says_which_cookies_there_are_and_what_for():
    """Three: `tests/security/test_headers.py` counts those that are set."""
    said = a_visitor().get(PAGE).content.decode()
    assert "three cookies, and all are necessary" in said
    assert "Without them you cannot log in or play." in said


class TestAFormIsRefused:
    def refused(self, field, **changes):
        answer = send(**changes)
        assert answer.status_code == 200
        assert list(answer.context["form"].errors) == [field]
        assert not User.objects.filter(email="new.player@example.com").exists()
        return answer.context["form"].errors[field][0]

    def test_one_day_too_young(self):
        assert "18" in self.refused("birth_date", birth_date=years_ago(18, days=1).isoformat())

    @pytest.mark.sweep
    @pytest.mark.parametrize("years", [-1, 126])
    def test_a_date_nobody_alive_was_born(self, years):
        self.refused("birth_date", birth_date=years_ago(years, days=0).isoformat())

    def test_without_agreement_to_the_terms(self):
        self.refused("agrees", agrees=None)

    @pytest.mark.parametrize("residence", sample(["SE:EUR", "XX:EUR", "SE", None], 1))
    def test_a_country_or_currency_that_is_not_offered(self, residence):
        self.refused("residence", residence=residence)

    @pytest.mark.sweep
    @pytest.mark.parametrize("password", ["short", "password123", "8675309867", "new.player@example.com"])
    def test_a_weak_password(self, password):
        self.refused("password1", password1=password)

    def test_an_address_that_is_too_long_to_be_kept(self):
        self.refused("email", email=f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 60}.com")


@pytest.mark.django_db
class TestAnAddressThatHasAnAccount:
    """Registration does not reveal who has an account."""

    def page_after(self, **changes: Any) -> str:
        visitor = a_visitor()
        answer = send(visitor, **changes)
        assert (answer.status_code, answer["Location"]) == (302, "/en/account/verify/")
        text = visitor.get(answer["Location"]).text.replace(changes["email"].lower(), "")
        return re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", text)

    def test_is_answered_like_any_other_and_its_owner_is_informed(self):
        User.objects.create_user("new.player@example.com", language="da")
        taken = self.page_after(email="NEW.player@example.COM")
        assert taken == self.page_after(email="another@example.com")
        assert last_mail("new.player@example.com").template == "already_registered"
        assert last_mail("new.player@example.com").language == "da"
        assert Player.objects.count() == 1

    def test_takes_no_code(self):
        User.objects.create_user("new.player@example.com")
        visitor = a_visitor()
        send(visitor)
        code = visitor.session["account_email_verification_code"]["code"]
        assert visitor.post("/en/account/verify/", {"code": code}).status_code == 200
        assert not Player.objects.exists()

    def test_hashes_a_password_all_the_same(self, monkeypatch):
        hashed: list[str] = []
        monkeypatch.setattr(forms, "make_password", hashed.append)
        User.objects.create_user("new.player@example.com")
        send()
        assert hashed == [PASSWORD]

    def test_taken_while_the_form_was_checked_is_answered_so_too(self, monkeypatch):
        User.objects.create_user("new.player@example.com")

        def pass_by(form, email):
            form.account_already_exists = False
            return email

        monkeypatch.setattr(RegistrationForm, "validate_unique_email", pass_by)
        assert send()["Location"] == "/en/account/verify/"
        assert last_mail("new.player@example.com").template == "already_registered"
        assert Player.objects.count() == 0


@pytest.mark.django_db
class TestConfirmingTheAddress:
    EMAIL = "new.player@example.com"

    @pytest.mark.sweep
    def test_is_asked_for_at_the_next_log_in_too(self):
        send()
        user = User.objects.get(email=self.EMAIL)
        cache.clear()  # at most one code every ten seconds
        visitor = a_visitor()
        assert log_in(visitor, user)["Location"] == "/en/account/verify/"
        assert confirm_address(visitor, self.EMAIL)["Location"] == "/"

    def test_takes_three_tries(self):
        visitor = a_visitor()
        send(visitor)
        for _ in range(2):
            assert "This code is incorrect." in visitor.post("/en/account/verify/", {"code": "BBBB-BBBB"}).text
        answer = visitor.post("/en/account/verify/", {"code": "BBBB-BBBB"})
        assert answer["Location"] == "/en/account/login/"
        assert "Too many attempts" in visitor.get(answer["Location"]).text

    @pytest.mark.sweep
    def test_mails_another_code_where_asked(self):
        visitor = a_visitor()
        send(visitor)
        first = mailed_code(self.EMAIL)
        cache.clear()
        visitor.post("/en/account/verify/", {"action": "resend"})
        assert mailed_code(self.EMAIL) != first
        assert confirm_address(visitor, self.EMAIL)["Location"] == "/"


@pytest.mark.django_db
class TestTheService:
    def register(self, **changes: Any):
        facts: dict[str, Any] = {
            "email": "a@example.com",
            "password": PASSWORD,
            "jurisdiction": Jurisdiction.objects.get(pk="SE"),
            "currency": "SEK",
            "birth_date": date(1990, 1, 1),
            "language": "sv",
            "ip": None,
        }
        return registration.register(**(facts | changes))

    def test_lets_no_form_get_round_the_rules(self):
        with pytest.raises(registration.TooYoung):
            self.register(birth_date=years_ago(18, days=1))
        with pytest.raises(registration.CurrencyNotOffered):
            self.register(currency="EUR")
        self.register()
        with pytest.raises(registration.EmailTaken):
            self.register(email="A@Example.com")

    def test_follows_the_minimum_age_of_the_jurisdiction(self):
        stricter = Jurisdiction(code="SE", currencies=["SEK"], language="sv", minimum_age=21)
        with pytest.raises(registration.TooYoung):
            self.register(jurisdiction=stricter, birth_date=years_ago(20))


def test_nothing_is_made_where_the_accounts_cannot_be_opened(cloned_db, monkeypatch):
    def fail(player):
        raise RuntimeError

    monkeypatch.setattr(accounts, "open_accounts", fail)
    with pytest.raises(RuntimeError):
        send()
    assert not User.objects.exists()
    assert not Event.objects.filter(kind__in=["player.registered", "session.began"]).exists()


@pytest.mark.django_db
def test_the_age_is_counted_on_the_databases_date():
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_DATE")
        assert registration.today() == cursor.fetchone()[0]
