"""Start of a deposit: the service, then the pages, with htmx and without JavaScript."""

import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import translation

from players.identity import confirmation
from players.identity.confirmation import Stated
from players.models import LimitKind, Period
from players.protection.limits import set_limit
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.people import events, last_mail
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from wallet import cashier
from wallet.models import BankOrder, Behaviour, OrderState, Payment, PaymentNotice, PaymentState
from wallet.money import format_money
from wallet.payments import deposits, notifications, providers
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank.orders import Answer, seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player()


@pytest.fixture
def visitor(player):
    client = Client()
    client.force_login(player.user)
    return client


class TestBeginning:
    def test_moves_no_money(self, player):
        payment = a_payment(player)
        assert (payment.state, payment.amount, payment.currency) == ("waiting", 50_000, "SEK")
        assert balance(player) == 0

    def test_is_on_record(self, player):
        payment = a_payment(player)
        (event,) = events("deposit.begun", on=str(player))
        assert event["data"] == {
            "payment": str(payment.pk),
            "provider": "sandbox",
            "amount": 50_000,
            "currency": "SEK",
        }

    def test_the_same_key_begins_it_once(self, player):
        key = uuid4()
        first, again = (deposits.begin(player=player, amount=50_000, key=key) for _ in range(2))
        assert first.pk == again.pk
        assert Payment.objects.count() == 1
        assert len(events("deposit.begun", on=str(player))) == 1

    def test_the_same_key_begins_one_for_each_player(self, player):
        other, key = a_player(), uuid4()
        payments = {deposits.begin(player=each, amount=50_000, key=key).pk for each in (player, other)}
        assert len(payments) == 2

    def test_the_same_key_with_another_amount_is_refused(self, player):
        key = uuid4()
        deposits.begin(player=player, amount=50_000, key=key)
        with pytest.raises(deposits.FormUsed):
            deposits.begin(player=player, amount=60_000, key=key)

    @pytest.mark.sweep
    @pytest.mark.parametrize("jurisdiction", ["SE", "DK", "RO", "DE", "GB"])
    def test_the_smallest_and_the_largest_deposit_are_allowed(self, jurisdiction):
        player = a_player(jurisdiction)
        single = cashier.DEPOSIT_LIMITS[player.currency]
        by_law = player.jurisdiction.highest_month_deposit or single.largest
        for amount in (single.smallest, min(single.largest, by_law) - single.smallest):
            assert a_payment(player, amount).total * 100 == amount

    @pytest.mark.parametrize(
        ("limit", "step", "error"),
        [("smallest", -1, deposits.DepositTooSmall), ("largest", 1, deposits.DepositTooLarge)],
    )
    def test_beyond_them_it_is_refused_and_that_is_recorded(self, player, limit, step, error):
        amount = getattr(cashier.DEPOSIT_LIMITS["SEK"], limit) + step
        with pytest.raises(error):
            a_payment(player, amount)
        (event,) = events("deposit.refused", on=str(player))
        assert event["data"] == {"reason": error.__name__, "amount": amount, "currency": "SEK"}

    @pytest.mark.sweep
    def test_a_player_who_must_agree_to_new_terms_is_led_to_them(self, player, visitor, monkeypatch):
        monkeypatch.setattr("players.account.terms.VERSION", "another")
        with pytest.raises(deposits.DepositNotEligible) as barred:
            a_payment(player)
        assert f'href="{reverse(barred.value.page)}?next=' in deposit(visitor, "500").text
        assert not Payment.objects.exists()

    def test_a_house_without_providers_takes_none(self, player, settings):
        settings.PAYMENT_VARIANTS = {}
        with translation.override("en"), pytest.raises(deposits.NoDeposits, match="no payment provider"):
            a_payment(player)


class TestWhatComesWhileItBegins:
    """The database refuses what was allowed a moment before; the player reads the same sentence."""

    @pytest.mark.parametrize(
        ("before", "change", "page"),
        [
            ('INSERT INTO "wallet_payment"', "identity_before_play = true", "identity"),
            ("wallet_reserve", "deposit_limits = 'required', deposit_periods = '[\"day\"]'", "limits"),
        ],
    )
    def test_is_a_reason_not_to_be_eligible(self, before, change, page):
        as_owner("UPDATE players_jurisdiction SET identity_before_play = false")
        player = a_player("DK", is_known=False)
        confirmation.state(player=player, stated=Stated("Søren", "Groß", "Nørregade 2", "1165", "København"))

        def change_and_execute(execute, sql, params, many, context):
            if before in sql:
                as_owner(f"UPDATE players_jurisdiction SET {change}")
            return execute(sql, params, many, context)

        with connection.execute_wrapper(change_and_execute), pytest.raises(deposits.DepositNotEligible) as refused:
            deposits.begin(player=player, amount=50_000, key=uuid4())
        assert refused.value.page == page
        assert not Payment.objects.exists()
        (event,) = events("deposit.refused", on=str(player))
        assert event["data"]["reason"] == "DepositNotEligible"


class TestAsking:
    @pytest.fixture(autouse=True)
    def at_once(self, settings):
        """No waiting time before and between status queries; the house gives up after an hour."""
        settings.PAYMENT_ASK_SECONDS, settings.PAYMENT_GIVE_UP_SECONDS = 0, 3600

    def test_a_bank_that_never_calls_back_is_asked(self, player, settings):
        payment = a_payment(player)
        at_the_bank(payment, behaviour=Behaviour.NEVER)
        notifications.ask_undecided()
        assert balance(player) == 50_000
        (notice,) = payment.notices.all()
        assert (notice.path, notice.decision) == ("query", "credited")

    @pytest.mark.sweep
    @pytest.mark.parametrize(("said", "state"), [(Answer.DECLINE, "declined"), (Answer.LEAVE, "abandoned")])
    def test_and_its_refusal_counts(self, player, said, state, settings):
        payment = a_payment(player)
        at_the_bank(payment, said)
        notifications.ask_undecided()
        payment.refresh_from_db()
        assert payment.state == state
        assert balance(player) == 0

    def test_nobody_is_asked_early(self, player, settings):
        settings.PAYMENT_ASK_SECONDS = 120
        payment = a_payment(player)
        at_the_bank(payment)
        notifications.ask_undecided()
        assert balance(player) == 0
        assert not payment.notices.exists()

    def test_after_a_time_the_house_gives_up(self, player, settings):
        settings.PAYMENT_ASK_SECONDS = settings.PAYMENT_GIVE_UP_SECONDS = 0
        payment = a_payment(player)
        notifications.ask_undecided()
        payment.refresh_from_db()
        assert payment.state == PaymentState.EXPIRED
        assert len(events("payment.expired", on=str(player))) == 1

    def test_an_approval_that_comes_later_still_is_held(self, player, settings):
        settings.PAYMENT_ASK_SECONDS = settings.PAYMENT_GIVE_UP_SECONDS = 0
        payment = a_payment(player)
        notifications.ask_undecided()
        assert call_back(statement(payment)) == 200
        assert balance(player) == 0
        assert len(events("deposit.held", on=str(player))) == 1
        assert list(payment.notices.order_by("id").values_list("decision", flat=True)) == ["noted", "expired", "held"]

    @pytest.mark.sweep
    def test_a_provider_that_is_no_more_does_not_stop_the_others(self, player, settings):
        variants = settings.PAYMENT_VARIANTS
        settings.PAYMENT_VARIANTS = {"gone": variants["sandbox"]}
        lost = a_payment(player)
        settings.PAYMENT_VARIANTS = variants
        found = a_payment(player)
        at_the_bank(found)
        notifications.ask_undecided()
        assert balance(player) == 50_000
        lost.refresh_from_db()
        assert lost.state == PaymentState.WAITING
        assert len(events("payment.not_answered", on=str(player))) == 1


def deposit(visitor, amount, *, key=None, htmx=True, language="en"):
    headers = {"HX-Request": "true"} if htmx else {}
    form = {"amount": amount, "key": str(key or uuid4())}
    return visitor.post(f"/{language}/cashier/deposit/", form, headers=headers)


def key_on(page, form):
    """Return the hidden key of a form."""
    (found,) = re.findall(rf'action="/en/cashier/{form}/".*?name="key" value="([0-9a-f-]+)"', page, re.DOTALL)
    return found


class TestTheForm:
    @pytest.mark.parametrize(
        ("language", "typed"),
        sample([("en", "1,234.50"), ("sv", "1 234,50"), ("de", "1.234,50"), ("da", "1.234,50 SEK")], 1),
    )
    def test_an_amount_is_typed_as_the_language_writes_it(self, visitor, player, language, typed):
        deposit(visitor, typed, language=language)
        assert Payment.objects.get(player=player).amount == 123_450

    @pytest.mark.sweep
    def test_htmx_is_led_to_the_bank(self, visitor, player):
        answer = deposit(visitor, "500")
        payment = Payment.objects.get(player=player)
        assert answer["HX-Redirect"] == f"/en/cashier/deposit/{payment.pk}/bank/"
        onward = visitor.get(answer["HX-Redirect"])
        assert onward["Location"].startswith("/en/sandbox-bank/")
        assert "SEK\xa0500.00" in visitor.get(onward["Location"]).text

    @pytest.mark.sweep
    def test_a_form_without_javascript_leads_within_the_house(self, visitor, player):
        answer = deposit(visitor, "500", htmx=False)
        payment = Payment.objects.get(player=player)
        assert (answer.status_code, answer["Location"]) == (302, f"/en/cashier/deposit/{payment.pk}/")
        assert f"/en/cashier/deposit/{payment.pk}/bank/" in visitor.get(answer["Location"]).text

    @pytest.mark.sweep
    def test_who_comes_back_before_the_bank_has_spoken_is_promised_nothing(self, visitor, player):
        payment = a_payment(player)
        assert "You can play with the money" in visitor.get(f"/en/cashier/deposit/{payment.pk}/").text
        page = visitor.get(f"/pay/return/{payment.token}/?language=en", follow=True).text
        assert "We are asking the bank what happened." in page
        assert "You can play with the money" not in page

    @pytest.mark.parametrize("htmx", [True, False])
    def test_a_double_click_begins_one(self, visitor, player, htmx):
        key = key_on(visitor.get("/en/cashier/").text, "deposit")
        for _ in range(2):
            deposit(visitor, "500", key=key, htmx=htmx)
        assert Payment.objects.filter(player=player).count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize("htmx", sample([True, False], 1))
    @pytest.mark.parametrize(
        ("typed", "message"),
        sample([("1", "The minimum deposit is"), ("50,000.01", "The maximum single deposit is")], 1),
    )
    def test_an_invalid_deposit_is_reported_next_to_the_typed_text(self, visitor, player, typed, message, htmx):
        answer = deposit(visitor, typed, htmx=htmx)
        assert answer.status_code == 200
        assert message in answer.text
        assert f'value="{typed}"' in answer.text
        assert 'aria-invalid="true"' in answer.text
        assert not Payment.objects.filter(player=player).exists()

    @pytest.mark.sweep
    def test_a_used_form_is_replaced_by_a_new_one(self, visitor, player):
        key = uuid4()
        deposit(visitor, "500", key=key)
        answer = deposit(visitor, "600", key=key)
        assert "already been sent with a different amount" in answer.text
        assert key_on(answer.text, "deposit") != str(key)
        assert Payment.objects.get(player=player).amount == 50_000

    def test_the_field_names_what_the_player_s_limit_leaves_and_not_the_house_s_maximum(self):
        player, visitor = a_player("GB"), Client()
        visitor.force_login(player.user)
        page = visitor.get("/en/cashier/").text
        assert "From £10.00 to £5,000.00." in page
        set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.DAY, amount=50_000, by=str(player))
        page = visitor.get("/en/cashier/").text
        assert "Your daily deposit limit is £500.00. You can deposit £500.00 more today." in page
        assert "£5,000" not in page

    @pytest.mark.parametrize("key", ["", "not a key"])
    def test_a_form_without_its_key_is_refused(self, visitor, key):
        answer = visitor.post("/en/cashier/deposit/", {"amount": "500", "key": key}, headers={"HX-Request": "true"})
        assert "This form was incomplete. Try again." in answer.text
        assert not Payment.objects.exists()

    @pytest.mark.sweep
    @pytest.mark.parametrize("htmx", [True, False])
    def test_a_wrong_amount_has_the_focus_and_names_what_says_more(self, visitor, htmx):
        answer = deposit(visitor, "lots", htmx=htmx).text
        (field,) = re.findall(r'<input[^>]*name="amount"[^>]*>', answer)
        assert " autofocus" in field
        assert 'aria-describedby="deposit-limits id_amount_error"' in field
        assert '<div role="alert"><ul class="errorlist" id="id_amount_error">' in answer

    def test_a_forged_form_is_refused(self, player):
        client = Client(enforce_csrf_checks=True)
        client.force_login(player.user)
        assert deposit(client, "500").status_code == 403
        assert not Payment.objects.exists()

    @pytest.mark.sweep
    def test_deposits_in_progress_are_in_the_cashier(self, visitor, player):
        payment = a_payment(player)
        assert f"/en/cashier/deposit/{payment.pk}/" in visitor.get("/en/cashier/").text
        call_back(statement(payment))
        assert f"/en/cashier/deposit/{payment.pk}/" not in visitor.get("/en/cashier/").text


class TestThePage:
    @pytest.mark.parametrize(
        ("state", "message"),
        sample(
            [
                (OrderState.APPROVED, "The money is in your account."),
                (OrderState.DECLINED, "The bank has declined this payment."),
                (OrderState.CANCELLED, "You left the bank without paying."),
                (OrderState.OPEN, "The bank has not confirmed this payment yet."),
            ],
            1,
        ),
    )
    def test_gli19_2_5_6_the_page_shows_the_state_of_a_deposit_and_why(self, visitor, player, state, message):
        payment = a_payment(player)
        call_back(statement(payment, state))
        page = visitor.get(f"/en/cashier/deposit/{payment.pk}/").text
        assert message in page
        assert ("every 3s" in page) is (state == OrderState.OPEN)

    def test_a_page_asks_often_just_after_the_player_is_back(self, visitor, player):
        payment = a_payment(player)
        address = f"/en/cashier/deposit/{payment.pk}/"
        before = visitor.get(address).text
        visitor.get(f"/pay/return/{payment.token}/")
        after = visitor.get(address).text
        assert ["every 3s" in page for page in (before, after)] == [True, False]
        assert "every 400ms" in after

    @pytest.mark.sweep
    def test_what_it_asks_for_by_itself_is_the_fragment(self, visitor, player):
        payment = a_payment(player)
        call_back(statement(payment))
        answer = visitor.get(f"/en/cashier/deposit/{payment.pk}/state/", headers={"HX-Request": "true"}).text
        assert answer.lstrip().startswith('<div id="payment"')
        assert "SB0123456789" in answer
        assert format_money(50_000, "SEK", "en") in answer
        assert 'hx-swap-oob="true"' in answer

    @pytest.mark.parametrize("page", sample(["", "state/", "bank/"], 1))
    def test_nobody_sees_another_player_s(self, visitor, page):
        payment = a_payment(a_player())
        assert visitor.get(f"/en/cashier/deposit/{payment.pk}/{page}").status_code == 404

    def test_a_decided_payment_does_not_lead_to_the_bank_again(self, visitor, player):
        payment = a_payment(player)
        call_back(statement(payment))
        answer = visitor.get(f"/en/cashier/deposit/{payment.pk}/bank/")
        assert answer["Location"] == f"/en/cashier/deposit/{payment.pk}/"

    @pytest.mark.sweep
    def test_a_provider_that_fails_is_said(self, visitor, player, monkeypatch):
        payment = a_payment(player)
        settings_of_it: dict[str, tuple[str, dict[str, str]]] = {
            "sandbox": ("tests.wallet.other_providers.OutOfOrder", {})
        }
        monkeypatch.setattr(settings, "PAYMENT_VARIANTS", settings_of_it)
        monkeypatch.setattr("payments.core.PROVIDER_CACHE", {})
        answer = visitor.get(f"/en/cashier/deposit/{payment.pk}/bank/", follow=True)
        assert "The bank cannot be reached right now." in answer.text


class TestTheBank:
    def bank_page(self, payment, *, key=None):
        return f"/en/sandbox-bank/{seal(request_for(payment), key or settings.SANDBOX_BANK_KEY)}/"

    def test_shows_amount_and_payee_and_that_nobody_pays(self, visitor, player):
        page = visitor.get(self.bank_page(a_payment(player))).text
        for text in ("SEK\xa0500.00", "No real payments", "Approve", "Decline", "Leave without paying"):
            assert text in page

    @pytest.mark.parametrize(
        ("answer", "state"), [("approve", "approved"), ("decline", "declined"), ("leave", "cancelled")]
    )
    def test_takes_the_answer_and_leads_back(self, visitor, player, answer, state):
        payment = a_payment(player)
        back = visitor.post(self.bank_page(payment), {"answer": answer})
        assert back["Location"].partition("?")[0] == f"/pay/return/{payment.token}/"
        assert BankOrder.objects.get().state == state

    @pytest.mark.parametrize("language", sample(["de", "en"], 1))
    def test_leads_back_in_the_language_the_player_was_reading(self, visitor, player, language):
        payment = a_payment(player)
        bank = visitor.get(f"/{language}/cashier/deposit/{payment.pk}/bank/")["Location"]
        back = visitor.post(bank, {"answer": "decline"})["Location"]
        assert visitor.get(back)["Location"] == f"/{language}/cashier/deposit/{payment.pk}/"

    @pytest.mark.sweep
    def test_leads_back_in_the_account_s_language_where_the_other_was_lost(self, visitor, player):
        payment = a_payment(player)
        type(player.user).objects.filter(pk=player.user_id).update(language="sv")
        for lost in ("", "?language=xx"):
            answer = visitor.get(f"/pay/return/{payment.token}/{lost}")
            assert answer["Location"] == f"/sv/cashier/deposit/{payment.pk}/"

    def test_the_reason_of_a_decline_is_passed_on_in_the_player_s_language(self, visitor, player):
        payment = a_payment(player)
        visitor.post(self.bank_page(payment), {"answer": "decline", "reason": "funds"})
        notifications.ask_about(payment.pk)
        assert "not enough money in the account." in visitor.get(f"/en/cashier/deposit/{payment.pk}/").text
        assert "nicht ausreichend gedeckt ist." in visitor.get(f"/de/cashier/deposit/{payment.pk}/").text
        assert "not enough money in the account." in last_mail(player.user.email, "deposit_declined").body
        assert events("payment.declined", on=str(player))[0]["data"]["because"] == "funds"

    @pytest.mark.parametrize("reason", ["", "do_not_honour_05"])
    def test_says_that_it_gave_no_reason_or_one_that_we_have_no_words_for(self, visitor, player, reason):
        payment = a_payment(player)
        call_back(statement(payment, OrderState.DECLINED, reason=reason))
        page = visitor.get(f"/en/cashier/deposit/{payment.pk}/").text
        assert "Your bank gave no reason. Please contact your bank." in page
        assert "honour" not in page

    def test_an_answer_is_final(self, visitor, player):
        payment = a_payment(player)
        visitor.post(self.bank_page(payment), {"answer": "decline"})
        visitor.post(self.bank_page(payment), {"answer": "approve"})
        assert BankOrder.objects.get().state == "declined"
        assert "This payment has already been answered." in visitor.get(self.bank_page(payment)).text

    @pytest.mark.sweep
    def test_knows_no_request_that_is_not_sealed(self, visitor, player):
        assert visitor.get(self.bank_page(a_payment(player), key="another")).status_code == 404
        assert visitor.get("/en/sandbox-bank/nonsense/").status_code == 404

    @pytest.mark.sweep
    def test_is_closed_in_a_house_that_is_no_demo(self, visitor, player, settings):
        address = self.bank_page(a_payment(player))
        settings.DEMO = False
        assert visitor.get(address).status_code == 404


class TestAnyProvider:
    """A django-payments provider without code for this house, added by configuration alone."""

    @pytest.fixture(autouse=True)
    def another(self, settings, monkeypatch):
        monkeypatch.setattr("payments.core.PROVIDER_CACHE", {})
        settings.PAYMENT_VARIANTS = {"plain": ("tests.wallet.other_providers.Plain", {"secret": "s"})}

    def test_is_led_to_and_believed(self, visitor, player):
        payment = a_payment(player)
        assert providers.page(payment) == f"https://plain.example/{payment.token}"
        body = {"token": payment.token, "secret": "s", "paid": "500.00"}
        assert visitor.post("/pay/callback/plain/", body, content_type="application/json").status_code == 200
        assert balance(player) == 50_000
        assert Payment.objects.get().authorisation == "plain-1"

    def test_is_held_to_the_amount(self, visitor, player):
        payment = a_payment(player)
        body = {"token": payment.token, "secret": "s", "paid": "499.99"}
        visitor.post("/pay/callback/plain/", body, content_type="application/json")
        assert balance(player) == 0
        assert payment.notices.get().decision == "mismatched"

    @pytest.mark.parametrize("paid", sample(["500.005", "NaN", "Infinity"], 1))
    def test_is_refused_where_it_says_an_amount_that_cannot_be(self, visitor, player, paid):
        payment = a_payment(player)
        body = {"token": payment.token, "secret": "s", "paid": paid}
        answer = visitor.post("/pay/callback/plain/", body, content_type="application/json")
        assert (answer.status_code, answer.json()) == (400, {"taken": False})
        assert PaymentNotice.objects.get().decision == "refused"
        assert Payment.objects.get().state == PaymentState.WAITING
        assert balance(player) == 0

    def test_is_not_believed_where_it_does_not_believe_itself(self, visitor, player):
        payment = a_payment(player)
        body = {"token": payment.token, "secret": "wrong", "paid": "500.00"}
        assert visitor.post("/pay/callback/plain/", body, content_type="application/json").status_code == 400
        assert balance(player) == 0


def test_the_ledger_is_whole_afterwards(player):
    call_back(statement(a_payment(player)))
    a_payment(player)
    assert [check.invariant.name for check in wholeness.checks() if check.rows] == []
