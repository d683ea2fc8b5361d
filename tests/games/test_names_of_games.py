"""Reports name a game and a table: each name is that of one game, or of one table, in every language."""

import pytest

from games.change_requests.requests import check_table
from games.labels import names_of_games, variant_label
from games.models import Shape
from games.tables.checks import TableError, everybody
from games.tables.default_tables import baccarat_limits, shipped
from games.tables.versions import make_table
from games.variants import GAMES
from tests.attacks.statements import refused, send
from tests.builders import a_table
from tests.harness.owner import as_owner

LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_dk_every_game_has_a_name_of_its_own(language):
    names = [variant_label(game, "name", language).casefold() for game in GAMES.values()]
    assert len(set(names)) == len(names) == 5


def test_dk_so_has_every_table_that_ships_and_none_has_that_of_another_game():
    tables = {each.name.casefold(): each.variant for each in shipped()}
    assert len(tables) == len(list(shipped()))
    for name, variant in tables.items():
        assert name not in names_of_games(without=variant)


@pytest.mark.django_db
class TestANewTable:
    @pytest.mark.parametrize(
        ("name", "why"), [("BACCARAT", "Another table has this name"), ("Chemin de Fer", "the name of another game")]
    )
    def test_dk_takes_no_name_of_another_table_or_game(self, name, why):
        a_table()
        asked = {"slug": "new", "name": name, "variant": "baccarat", "shape": "solo", "chat_language": ""}
        with pytest.raises(TableError, match=why):
            check_table(asked, baccarat_limits(), None, everybody(Shape.SOLO, baccarat_limits()))

    def test_dk_takes_none_that_another_table_was_given_at_the_same_moment(self):
        """Two people ask for it at once, and each sees that nobody has it: the database adds one table."""
        add = "SELECT games_add_table(%s, %s, 'baccarat', 'solo')"
        send(add, "one", "Evening table")
        refused(add, "two", "EVENING TABLE", by="23505")
        with pytest.raises(TableError, match="just given this name"):
            make_table(slug="two", name="EVENING TABLE", variant="baccarat", limits=baccarat_limits(), by="staff:1")
        as_owner("DROP INDEX games_table_name_once")
        send(add, "two", "EVENING TABLE")
