"""HTTP calls of studios: signed, and answered with the codes of docs/seamless.md."""

import json
import time

import pytest
from django.core.cache import cache
from django.test import Client

from players.models import Scope
from players.protection import exclusions
from tests.api.client import ApiClient
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet.stopped import stop
from tests.wallet.studios import a_game, a_partner, another_key, secret
from wallet.ledger.accounts import balance
from wallet.models import GameSession, Mode, PartnerKey, PartnerKind, StudioTransaction
from wallet.seamless_wallet import messages, partners, signing
from wallet.seamless_wallet.partners import digest_of

pytestmark = pytest.mark.django_db

BASE = "/api/v1/wallet/"
MONEY = 10_000


@pytest.fixture
def game():
    return a_game(a_player(real=MONEY))


def call(game, message, *, at=None, key=None, path="", sent=None, method="post", **headers):
    """Send a message as the studio does; each part can be replaced by a wrong one."""
    name, shared = key or secret(game.partner)
    address, body = path or f"{BASE}{message.operation}/", message.body()
    said = signing.headers(
        name, shared, at=int(time.time()) if at is None else at, method=method.upper(), path=address, body=body
    )
    send = getattr(Client(), method)
    return send(address, body if sent is None else sent, content_type="application/json", headers=said | headers)


def asked(game):
    return messages.BalanceAsked(game.player, game.session)


def code(response):
    assert response["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


class TestAnswers:
    def test_a_round_as_a_studio_plays_it(self, game):
        assert call(game, asked(game)).json() == {"player": game.player, "balance": MONEY, "currency": "SEK"}
        bet = call(game, game.a_bet(2_500, transaction="one"))
        assert bet.status_code == 200
        assert bet.json() == {"transaction": "one", "reference": bet.json()["reference"], "balance": 7_500} | {
            "currency": "SEK"
        }
        assert call(game, game.a_win(5_000)).json()["balance"] == 12_500
        assert call(game, game.both_at_once(100, 0, round="r2")).json()["balance"] == 12_400
        nothing = call(game, game.a_rollback("none")).json()
        assert (nothing["reference"], nothing["balance"]) == (None, None)
        assert balance(game.who.pk, Mode.REAL) == 12_400

    @pytest.mark.sweep
    def test_what_is_sent_again_is_answered_again(self, game):
        bet = game.a_bet(2_500)
        assert call(game, bet).json() == call(game, bet, at=int(time.time()) - 30).json()
        assert StudioTransaction.objects.count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("of", "expected"),
        sample(
            [
                (lambda game: game.a_bet(100, player="nobody"), (404, "unknown-player")),
                (lambda game: game.a_bet(100, session="none"), (409, "session-over")),
                (lambda game: game.a_bet(MONEY + 1), (409, "insufficient-funds")),
                (lambda game: game.a_bet(100, currency="EUR"), (409, "wrong-currency")),
                (lambda game: game.a_win(100), (409, "no-bet")),
            ],
            1,
        ),
    )
    def test_a_refusal_is_a_problem_with_its_code(self, game, of, expected):
        assert code(call(game, of(game))) == expected
        assert balance(game.who.pk, Mode.REAL) == MONEY

    @pytest.mark.sweep
    def test_needs_no_cookie_and_no_form_token(self, game):
        name, shared = secret(game.partner)
        body = asked(game).body()
        said = signing.headers(name, shared, at=int(time.time()), method="POST", path=f"{BASE}balance/", body=body)
        strict = Client(enforce_csrf_checks=True)
        answer = strict.post(f"{BASE}balance/", body, content_type="application/json", headers=said)
        assert (answer.status_code, answer.cookies) == (200, {})


class TestRefused:
    @pytest.mark.sweep
    def test_malformed_names_the_field(self, game):
        answer = call(game, asked(game), path=f"{BASE}bet/")
        assert code(answer) == (400, "malformed")
        assert {"/amount", "/transaction"} <= {error["pointer"] for error in answer.json()["errors"]}

    @pytest.mark.parametrize("sent", [r'{"\ud800": 1}', r'{"\ud800": 1, "\ud800": 1}', r'{"\u0000": "\udfff"}'])
    def test_malformed_with_names_that_no_text_has(self, game, sent):
        name, shared = secret(game.partner)
        body, address = sent.encode(), f"{BASE}bet/"
        said = signing.headers(name, shared, at=int(time.time()), method="POST", path=address, body=body)
        assert code(Client().post(address, body, content_type="application/json", headers=said)) == (400, "malformed")

    def test_before_it_is_read_by_who_has_not_signed(self, game):
        assert code(call(game, asked(game), sent=b"{")) == (401, "bad-signature")
        assert code(Client().post(f"{BASE}bet/", b"{", content_type="application/json")) == (401, "bad-signature")

    @pytest.mark.parametrize("key", [("unknown", "secret"), ("\N{SNOWMAN}".encode().decode("latin-1"), "secret")])
    def test_by_an_unknown_key(self, game, key):
        assert code(call(game, asked(game), key=key)) == (401, "bad-signature")

    def test_by_the_key_of_an_operator(self, game):
        operator = a_partner(PartnerKind.OPERATOR)
        assert code(call(game, asked(game), key=secret(operator))) == (401, "bad-signature")

    def test_with_another_path_or_a_query(self, game):
        signed_for = f"{BASE}bet/"
        name, shared = secret(game.partner)
        body = asked(game).body()
        said = signing.headers(name, shared, at=int(time.time()), method="POST", path=signed_for, body=body)
        for address in (f"{BASE}balance/", f"{BASE}bet/?a=1"):
            answer = Client().post(address, body, content_type="application/json", headers=said)
            assert code(answer) == (401, "bad-signature")

    def test_outside_the_window_with_our_time(self, game):
        answer = call(game, asked(game), at=int(time.time()) - 120)
        assert code(answer) == (401, "outside-window")
        assert abs(answer.json()["now"] - time.time()) < 60

    @pytest.mark.sweep
    def test_of_another_method_or_type(self, game):
        assert code(call(game, asked(game), method="put")) == (405, "method-not-allowed")
        name, shared = secret(game.partner)
        body = asked(game).body()
        said = signing.headers(name, shared, at=int(time.time()), method="POST", path=f"{BASE}balance/", body=body)
        for charset, statuses in (("nonsense", {415}), ("latin-1", {400, 415}), ("UTF-8", {200})):
            kind = f"application/json; charset={charset}"
            answer = Client().generic("POST", f"{BASE}balance/", body, content_type=kind, headers=said)
            assert answer.status_code in statuses
        form = Client().post(f"{BASE}bet/", {"amount": 1})
        assert code(form) == (415, "unsupported-media-type")
        assert code(Client().post(f"{BASE}gift/")) == (404, "not-found")

    @pytest.mark.sweep
    def test_more_often_than_was_agreed(self):
        cache.clear()
        game = a_game(a_player(real=MONEY), a_partner(per_minute=2))
        answers = [call(game, asked(game)) for _ in range(5)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert late
        assert code(late[0]) == (429, "too-often")
        assert 0 < int(late[0]["Retry-After"]) <= 60

    def test_with_an_ended_key_while_the_other_goes_on(self, game):
        old = signing.signing_key(game.partner)
        before = (old.name, signing.secret_of(old))
        another_key(game.partner)
        assert call(game, asked(game), key=before).status_code == call(game, asked(game)).status_code == 200
        partners.end_key(key=old, reason="replaced", by=a_member_of_staff("finance"))
        assert code(call(game, asked(game), key=before)) == (401, "bad-signature")
        assert call(game, asked(game)).status_code == 200

    @pytest.mark.sweep
    def test_and_when_a_key_was_used_is_known(self, game):
        assert PartnerKey.objects.get(partner=game.partner).used_at is None
        call(game, asked(game), at=0)
        assert PartnerKey.objects.get(partner=game.partner).used_at is None
        call(game, asked(game))
        assert PartnerKey.objects.get(partner=game.partner).used_at is not None


class TestSessions:
    @pytest.fixture
    def player(self):
        return a_player(real=MONEY)

    def test_a_api_client_opens_one_and_the_studio_takes_bets(self, player):
        studio = a_partner()
        shown = ApiClient(player.user).post(f"studios/{studio.code}/sessions/", {"mode": "real"})
        assert shown.status_code == 201
        said = shown.json()
        assert said["address"] == studio.address
        opened = GameSession.objects.get(digest=digest_of(said["session"]))
        assert opened.session.user == player.user
        assert said["session"] not in str(events("studio.session_opened", on=str(player)))
        bet = messages.Bet(
            player=said["player"],
            game="g",
            round="r",
            transaction="t",
            currency="SEK",
            amount=100,
            session=said["session"],
        )
        assert call(a_game(player, studio), bet).json()["balance"] == MONEY - 100

    @pytest.mark.sweep
    def test_lists_studios_that_are_on(self, player):
        studio, off = a_partner(), a_partner()
        partners.switch_off(partner=off, reason="no contract", by=a_member_of_staff("finance"))
        a_partner(PartnerKind.OPERATOR)
        listed = ApiClient(player.user).get("studios/").json()
        assert ([each["code"] for each in listed["items"]], listed["next"]) == ([studio.code], None)

    @pytest.mark.sweep
    def test_none_with_a_studio_that_is_off_or_an_operator(self, player):
        off, operator = a_partner(), a_partner(PartnerKind.OPERATOR)
        partners.switch_off(partner=off, reason="no contract", by=a_member_of_staff("finance"))
        for partner in (off, operator):
            answer = ApiClient(player.user).post(f"studios/{partner.code}/sessions/", {"mode": "real"})
            assert code(answer) == (404, "not-found")

    def test_none_for_who_may_not_play(self, player):
        exclusions.pause(player=player, by=str(player))
        answer = ApiClient(player.user).post(f"studios/{a_partner().code}/sessions/", {"mode": "free"})
        assert code(answer) == (403, "not-eligible")
        assert not GameSession.objects.exists()

    def test_none_while_the_house_is_stopped(self, player):
        stop()
        answer = ApiClient(player.user).post(f"studios/{a_partner().code}/sessions/", {"mode": "real"})
        assert code(answer) == (409, "house-stopped")

    @pytest.mark.sweep
    def test_none_with_a_token_that_may_only_read(self, player):
        reads = ApiClient(player.user, Scope.READ)
        assert code(reads.post(f"studios/{a_partner().code}/sessions/", {"mode": "real"})) == (403, "forbidden")

    @pytest.mark.sweep
    @pytest.mark.parametrize("body", sample([{}, {"mode": "both"}, {"mode": "real", "more": 1}, {"mode": True}], 1))
    def test_none_for_what_is_not_said_rightly(self, player, body):
        assert code(ApiClient(player.user).post(f"studios/{a_partner().code}/sessions/", body)) == (400, "invalid")


def test_no_secret_is_in_the_log(game):
    _name, shared = secret(game.partner)
    call(game, game.a_bet(100))
    shown = json.dumps([events(kind) for kind in ("partner.added", "partner.key_made", "studio.bet")])
    assert shared not in shown
    assert game.session not in shown
