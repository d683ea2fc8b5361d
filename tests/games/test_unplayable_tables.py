"""A table that a player cannot play is not offered, and its page explains why."""

from html import unescape
from uuid import uuid4

import pytest
from django.test import Client

from games.models import SoloSeat, Status, Table
from games.tables.default_tables import baccarat_limits, golden_limits
from games.tables.status import open_table
from games.tables.versions import make_table
from tests.builders import a_player
from tests.harness.owner import one_as_owner
from tests.harness.sweeps import sample
from wallet.models import Account, AccountKind

pytestmark = pytest.mark.django_db

LANGUAGES = ("sv", "da", "ro", "de", "en")
CURRENCY = "This table is not available in your currency."
CLOSED = "This table is closed. No bet was placed."


def a_table_without_kronor(slug: str, limits) -> Table:
    """Return an open table that takes all currencies but the player's."""
    limits.pop("SEK")
    table = make_table(slug=slug, name=f"Elsewhere {slug}", variant=slug, limits=limits, by="staff:test")
    return open_table(table_id=table.pk, reason="for a test", by="staff:test")


def a_table_never_live(slug: str, limits) -> Table:
    """Return a table row made by hand that never had a version."""
    created: Table = one_as_owner(Table(slug=slug, name=f"Elsewhere {slug}", variant=slug, status=Status.OPEN))
    return created


@pytest.fixture(params=[(a_table_without_kronor, CURRENCY), (a_table_never_live, CLOSED)], ids=["currency", "live"])
def reason(request):
    """Makes `baccarat` and `golden` unplayable; returns the message for it."""
    make, message = request.param
    make("baccarat", baccarat_limits())
    make("golden", golden_limits())
    return message


@pytest.fixture
def visitor():
    client = Client()
    client.force_login(a_player("SE", real=1_000_000, free=1_000_000).user)
    return client


@pytest.mark.sweep
@pytest.mark.parametrize("slug", sample(["baccarat", "golden"], 1))
@pytest.mark.parametrize("mode", sample(["real", "free"], 1))
def test_its_page_says_why_and_leads_to_the_lobby(visitor, reason, slug, mode):
    answer = visitor.get(f"/en/table/{slug}/{mode}/")
    assert answer.status_code == 404
    page = answer.text.partition("<main")[2]
    assert reason in page
    assert "Elsewhere" in page
    assert f'href="/en/{"?money=free" if mode == "free" else ""}"' in page
    assert not SoloSeat.objects.exists(), "nobody takes a place there"
    assert not Account.objects.filter(kind=AccountKind.PURSE).exists()


@pytest.mark.sweep
@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_its_page_speaks_the_language_of_the_player(visitor, reason, language):
    assert (reason in unescape(visitor.get(f"/{language}/table/baccarat/real/").text)) == (language == "en")


FORMS = {
    "bet": ("baccarat/real/play/", {"action": "bet:tie", "chip": "1000"}),
    "deal": ("golden/free/play/", {"action": "deal", "round_id": str(uuid4()), "slip_version": "0"}),
    "nonsense": ("baccarat/real/play/", {"action": "steal"}),
    "re-buy": ("golden/real/re-buy/", {"amount": "100", "key": str(uuid4())}),
}


@pytest.mark.parametrize("htmx", sample([True, False], 1), ids=["htmx", "plain"])
@pytest.mark.parametrize("form", sample(FORMS, 2))
def test_every_form_leads_to_that_page(visitor, reason, form, htmx):
    address, data = FORMS[form]
    headers = {"HX-Request": "true"} if htmx else {}
    answer = visitor.post(f"/en/table/{address}", data, headers=headers)
    assert answer["HX-Redirect" if htmx else "Location"] == f"/en/table/{'/'.join(address.split('/')[:2])}/"
    assert not SoloSeat.objects.exists()


def test_the_game_can_be_left_all_the_same(visitor, reason):
    answer = visitor.post("/en/table/golden/real/leave/", {"key": str(uuid4())})
    assert (answer.status_code, answer["Location"]) == (302, "/en/")


@pytest.mark.sweep
def test_neither_the_lobby_nor_the_rules_offer_it(visitor, reason):
    for page in ("/en/", "/en/help/baccarat/", "/en/help/golden/"):
        answer = visitor.get(page)
        assert answer.status_code == 200
        assert "/table/" not in answer.text


@pytest.mark.sweep
def test_a_player_with_another_currency_is_offered_it():
    a_table_without_kronor("baccarat", baccarat_limits())
    visitor = Client()
    assert "/en/table/baccarat/real/" in visitor.get("/en/").text
    visitor.force_login(a_player("DE").user)
    for page in ("/en/", "/en/help/baccarat/"):
        assert "/en/table/baccarat/real/" in visitor.get(page).text
    assert visitor.get("/en/table/baccarat/real/").status_code == 200


@pytest.mark.sweep
def test_the_rules_lead_to_a_table_that_can_be_played_though_an_older_one_cannot(visitor):
    a_table_without_kronor("baccarat", baccarat_limits())
    make_table(slug="second", name="Second", variant="baccarat", limits=baccarat_limits(), by="staff:test")
    assert "/en/table/second/real/" in visitor.get("/en/help/baccarat/").text
