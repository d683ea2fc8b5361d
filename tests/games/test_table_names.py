"""The names of tables that players read."""

import pytest
from django.utils import translation

from games.models import Table
from games.tables.default_tables import load_tables
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
