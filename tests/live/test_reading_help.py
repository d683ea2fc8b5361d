"""The help of the games at shared tables has the limits and minimum returns of these tables."""

from html import unescape

import pytest
from django.test import Client

from games.betting.limits import Limits
from games.models import Shape, Table
from games.variants import VARIANTS
from tests.builders import a_player, a_shared_table, a_table
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from wallet.money import format_money

pytestmark = pytest.mark.django_db


@pytest.mark.sweep
@pytest.mark.parametrize("slug", ["no_commission", "pairs"])
@pytest.mark.parametrize(
    ("language", "currency"), sample([("sv", "SEK"), ("da", "DKK"), ("ro", "RON"), ("de", "EUR")], 2)
)
def test_shows_what_every_bet_may_be_in_the_market_s_currency(
    client: Client, slug: str, language: str, currency: str
) -> None:
    before = unescape(client.get(f"/{language}/help/{slug}/").text)
    table = a_shared_table(slug)
    page = unescape(client.get(f"/{language}/help/{slug}/").text)
    assert table.version is not None
    limits = Limits.of(table.version.limits, currency)
    for bet in VARIANTS[slug].bets:
        allowed = limits.bets[bet.code]
        for amount in (allowed.minimum, allowed.maximum):
            assert format_money(amount, currency, language) in page
    largest = format_money(limits.bets["player"].maximum, currency, language)
    assert largest not in before


@pytest.mark.sweep
@pytest.mark.parametrize("slug", ["no_commission", "pairs"])
def test_leads_back_to_the_table(client: Client, slug: str) -> None:
    a_shared_table(slug, slug="here")
    client.force_login(a_player().user)
    assert client.get(f"/en/help/{slug}/").text.count("/en/table/here/") >= 2


def test_a_player_cannot_try_a_shared_table_whatever_is_played_there(client: Client) -> None:
    a_shared_table("pairs", slug="here")
    a_table("there")
    assert client.get("/en/demo/there/").status_code == 200
    update_as_owner(Table.objects.filter(slug="there"), shape=Shape.SHARED)
    page = client.get("/en/").text
    for slug in ("here", "there"):
        assert client.get(f"/en/demo/{slug}/").status_code == 404
        assert f"/en/demo/{slug}/" not in page
