"""Common elements of every table: its name in the player's language, and the colours of chips."""

from typing import cast

import pytest
from django.utils import translation

from games.betting.limits import Limits, StoredLimits
from games.models import Shape, Table
from games.tables.board import chip_view
from games.tables.default_tables import load_tables, shipped
from games.variants import GAMES

NAMES = {slug: game.label("en", "name") for slug, game in GAMES.items()}


@pytest.mark.parametrize(("language", "name"), [("de", "Baccarat mit Paaren"), ("ro", "Baccarat cu perechi")])
def test_a_table_called_like_its_game_has_the_game_s_name_in_the_language_of_the_page(language, name):
    with translation.override(language):
        assert Table(name=NAMES["pairs"], variant="pairs").title == name


def test_a_table_with_a_name_of_its_own_keeps_it():
    with translation.override("sv"):
        assert Table(name="Table 7", variant="pairs").title == "Table 7"


@pytest.mark.django_db
def test_the_lobby_names_the_tables_in_the_language_of_the_page(client):
    load_tables()
    page = client.get("/de/").content.decode()
    assert "Baccarat mit Paaren" in page
    assert NAMES["pairs"] not in page


def test_a_chip_has_the_same_colour_at_every_table_and_no_two_of_a_tray_share_one():
    colours = dict[int, int]()
    for each in shipped():
        if each.shape == Shape.CHEMIN:
            continue
        for currency in each.limits:
            tray = Limits.of(cast("StoredLimits", each.limits), currency).chips
            tones = [chip_view(value, tray).tone for value in tray]
            assert len(set(tones)) == len(tones), (each.slug, currency)
            for value, tone in zip(tray, tones, strict=True):
                assert colours.setdefault(value, tone) == tone, (each.slug, currency, value)
