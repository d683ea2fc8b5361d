"""Staff search players by any data that their role may see."""

import html
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client

from backoffice.players.search import PAGE
from games import chat
from games.models import Round
from players import search as finding
from players.models import DocumentKind, Player, Session, Submission
from tests.builders import a_newcomer, a_player, a_round, a_submission, a_table, a_verified_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, bet, round_at
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import IBAN, a_withdrawal
from wallet.models import Payment
from wallet.payments.notifications import ask_about

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def of(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def search(typed: object, role: str = "compliance", **more: Any) -> Any:
    return of(role).get("/staff/players/", {"who": str(typed)} | more)


def found(answer: Any) -> dict[str, list[int]]:
    """Return the listed players by the finder that found them."""
    return {each.finder.name: [one.player.pk for one, _ in each.people] for each in answer.context["found"]}


def leads_to(player: Player, typed: object, role: str = "compliance") -> bool:
    """Return whether the search redirects to the player's page."""
    answer = search(typed, role)
    return answer.status_code == 302 and answer["Location"] == f"/staff/players/{player.pk}/"


@pytest.fixture
def asa() -> Player:
    player = a_player("SE")
    a_submission(
        player,
        given_names="Åsa Maria",
        family_name="Müller-Lüdenscheidt",
        street="Sankt Eriksgatan 112",
        postal_code="113 31",
        city="Malmö",
        phone="+46701234567",
        document_number="AB 1234567",
    )
    return player


@pytest.mark.parametrize(
    "typed",
    sample(
        [
            "Åsa Müller",
            "asa mull",
            "LUEDENSCHEIDT, AASA",
            "müller-lüdenscheidt maria åsa",
            "Sankt Eriksg 112",
            "11331",
            "113 31 malmo",
            "070-123 45 67",
            "+46 70 123 45 67",
            "ab1234567",
        ],
        4,
    ),
)
def test_is_found_by_what_was_sent_in_however_it_is_written(asa, typed):
    a_submission(
        a_player(), given_names="Bo", family_name="Ek", street="Sveavägen 1", postal_code="222 22", city="Lund"
    )
    assert leads_to(asa, typed)


@pytest.mark.sweep
@pytest.mark.parametrize("typed", ["Åsa Andersson", "Mariana Müller", "071-123 45 67", "AB 123456", "Eriksgatan 7"])
def test_is_not_found_by_what_is_only_nearly_so(asa, typed):
    answer = search(typed)
    assert found(answer) == {}
    assert "No players found. Searched by: " in answer.text


def test_is_found_by_an_address_or_how_it_begins(asa):
    begins = asa.user.email.partition("@")[0]
    assert leads_to(asa, asa.user.email.upper())
    assert leads_to(asa, begins)
    assert leads_to(asa, f"{begins}@")


@pytest.mark.sweep
def test_is_found_by_sessions(asa):
    other = a_player()
    for player, ip, browser in ((asa, "192.0.2.7", FIREFOX), (asa, "2001:db8::7", ""), (other, "192.0.2.8", FIREFOX)):
        for _ in range(2):
            session = Session.objects.create(id=uuid4(), user=player.user, ip=ip, browser=browser)
    assert leads_to(asa, "192.0.2.7")
    assert leads_to(asa, "2001:DB8:0::7")
    assert leads_to(other, session.pk)
    assert found(search(FIREFOX)) == {"device": [asa.pk, other.pk]}


@pytest.mark.sweep
def test_is_found_by_money():
    player = a_verified_player(real=100_000)
    payment, withdrawal = a_payment(player), a_withdrawal(player, iban=IBAN)
    at_the_bank(payment)
    ask_about(payment.pk)
    number = Payment.objects.get(pk=payment.pk).authorisation
    for typed in (payment.pk, f"payment:{payment.pk}", number, withdrawal.reference, f"withdrawal {withdrawal.pk}"):
        assert leads_to(player, typed), typed
    for typed in (IBAN, "SE45 5000 0000 0583 9825 7466", IBAN[-4:], f"… {IBAN[-4:]}"):
        assert leads_to(player, typed), typed


@pytest.mark.sweep
def test_is_found_by_rounds_and_by_the_name_at_tables():
    player, other = a_player(real=100_000), a_player(real=100_000)
    played = Round.objects.get(pk=a_round(player, a_table(), player=1000).round_id)
    chat.choose_name(player=player, name="Ada B")
    assert leads_to(player, played.code.lower())
    assert leads_to(player, played.pk)
    assert leads_to(player, "ada b")
    live_table = a_live_table()
    for each in (player, other):
        bet(each, live_table, player=5_000)
    assert found(search(round_at(live_table).code)) == {"round": sorted([player.pk, other.pk])}


@pytest.mark.sweep
def test_several_are_distinguished_and_each_says_what_it_was_found_by(asa):
    other = a_player("DK")
    a_submission(other, given_names="Maria", family_name="Muller", city="Åsa")
    answer = search("maria mull")
    assert found(answer) == {"name": sorted([asa.pk, other.pk])}
    for fact in (
        str(asa),
        "Åsa Maria Müller-Lüdenscheidt",
        other.user.email,
        "DK, DKK",
        "not verified",
        "1990-01-01",
    ):
        assert fact in html.unescape(answer.text)
    assert set(found(search("asa"))) == {"name", "address"}


def test_a_search_of_many_is_one_access_that_names_them_and_not_the_query(asa):
    other = a_player()
    a_submission(other, phone="+46701234567", family_name="Ek")
    search("0701234567")
    seen = events("data.accessed")[-1]
    assert set(seen["data"]["players"]) == {str(asa), str(other)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM audit_personal WHERE field = 'asked' AND strpos(value, '701234567') > 0")
        assert cursor.fetchone() == (0,)


@pytest.mark.sweep
def test_more_of_one_kind_are_on_further_pages_each_of_them_once():
    family = [a_newcomer() for _ in range(PAGE + 3)]
    for number, player in enumerate(family):
        names = "Anna Annika" if number % 2 else "Annika"
        finding.keep_words(a_submission_row(player, names))
    visitor = of("support")
    shown: list[int] = []
    after: Any = 0
    while after is not None:
        (each,) = visitor.get("/staff/players/", {"who": "ann", "by": "name", "after": after}).context["found"]
        shown += [one.player.pk for one, _ in each.people]
        after = each.more
    assert sorted(shown) == [player.pk for player in family]


def a_submission_row(player: Player, given_names: str) -> Any:
    return Submission.objects.create(
        player=player,
        given_names=given_names,
        family_name="Ek",
        street="Storgatan 1",
        postal_code="111 11",
        city="Lund",
        document_kind=DocumentKind.PASSPORT,
        document_number=uuid4().hex,
    )


def test_a_role_finds_by_nothing_that_it_may_not_see(asa):
    Session.objects.create(id=uuid4(), user=asa.user, ip="192.0.2.7", browser=FIREFOX)
    assert leads_to(asa, "Åsa Müller", "finance")
    for typed in ("192.0.2.7", "AB 1234567", "070-123 45 67", "Sankt Eriksgatan", FIREFOX):
        assert found(search(typed, "finance")) == {}
    stated = of("finance").get("/staff/players/").text
    assert "IP address" not in stated
    assert "document number" not in stated
    assert "deposit authorisation number" in stated


@pytest.mark.sweep
@pytest.mark.parametrize(
    "typed",
    sample(["%", "_", "'", "\\", "a:b:c", "::", "-", "1" * 19, "x" * 300, "player:", "\U0010ffff", "(", "&'"], 4),
)
def test_any_query_only_searches(asa, typed):
    answer = of("compliance").get(f"/staff/players/?who={quote(typed)}&after=0")
    assert answer.status_code == 200
    assert found(answer) == {}
