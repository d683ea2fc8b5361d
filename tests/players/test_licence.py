"""In Germany, table games are offered for real money only under a licence of a Land."""

from html import unescape

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import translation

from games.errors import NotEligible
from games.models import Participation
from players.models import Jurisdiction, Player
from players.protection import eligibility
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table, sit
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, bet
from wallet.models import Mode

MONEY = 50_000  # minor units
OTHERS = ["SE", "DK", "RO", "GB"]
TEXT = "We have no licence to offer these games for real money in your country. You can play for free."


@pytest.fixture
def player(db) -> Player:
    as_owner("UPDATE players_jurisdiction SET licence = '' WHERE asks_licence")
    return a_player("DE", real=MONEY, free=MONEY)


def test_de_the_demo_house_has_one(db):
    assert settings.LAND_LICENCE
    said = dict(Jurisdiction.objects.values_list("code", "licence"))
    assert said == dict.fromkeys(OTHERS, "") | {"DE": settings.LAND_LICENCE}
    assert eligibility.check_play(a_player("DE"), real=True) is None


def test_de_without_one_nothing_is_played_for_real_money_and_all_for_free(player):
    table, shared = a_table(), a_live_table()
    for start in (
        lambda: a_round(player, table, Mode.REAL, player=1000),
        lambda: bet(player, shared, player=1000),
        lambda: sit(player, a_chemin_table(currency="EUR"), 1),
    ):
        with pytest.raises(NotEligible) as refusal:
            start()
        assert refusal.value.ineligibility.code is eligibility.Code.LICENCE
    assert not Participation.objects.exists()
    assert not a_round(player, table, Mode.FREE, player=1000).repeated


def test_de_without_one_nothing_is_deposited(player):
    found = eligibility.check_deposit(player)
    assert found
    assert found.code is eligibility.Code.LICENCE
    browser = Client()
    browser.force_login(player.user)
    assert 'id="deposit"' not in browser.get("/en/cashier/").text


@pytest.mark.parametrize("language", sample(["en", "sv", "da", "ro", "de"], 2))
def test_de_the_page_says_so(player, language):
    a_table()
    browser = Client()
    browser.force_login(player.user)
    page = unescape(browser.get(f"/{language}/table/baccarat/real/").text)
    with translation.override(language):
        said = translation.gettext(TEXT)
    assert (said == TEXT) == (language == "en")
    assert 'data-ineligibility="licence"' in page
    assert said in page
    assert 'id="act-deal"' in browser.get(f"/{language}/table/baccarat/free/").text


@pytest.mark.parametrize("code", sample(OTHERS, 1))
def test_elsewhere_no_such_licence_is_asked_for(player, code):
    assert eligibility.check_play(a_player(code), real=True) is None


def test_migrate_stores_the_one_that_is_configured_and_web_cannot(cloned_db, settings, owner):
    settings.LAND_LICENCE = "Schleswig-Holstein 2026/1"
    with pytest.raises(DatabaseError, match="permission denied"), connection.cursor() as cursor:
        eligibility.store_licence(cursor)
    with owner.cursor() as cursor:
        eligibility.store_licence(cursor)
    stored = Jurisdiction.objects.exclude(licence="").values_list("code", "licence")
    assert list(stored) == [("DE", settings.LAND_LICENCE)]
