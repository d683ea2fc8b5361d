"""Tokens over time: they end, and their personal data is erased."""

import psycopg
import pytest

from accounts.data_export import PARTS
from accounts.retention import erase, forget_addresses
from players.account import closures
from players.models import ApiToken, Player
from tests.ageing import age
from tests.builders import a_player
from tests.players.test_tokens import a_token, comes_in


def test_a_token_holds_until_it_ends(cloned_db, owner: psycopg.Connection):
    (_, short), (_, long) = a_token(a_player().user, days=2), a_token(a_player().user, days=3)
    age(owner, "players_api_token", "ends_at", 1)
    assert [comes_in(short), comes_in(long)] == [200, 200]
    age(owner, "players_api_token", "ends_at", 1)
    assert [comes_in(short), comes_in(long)] == [401, 200]


@pytest.mark.sweep
def test_from_where_it_was_used_is_forgotten_after_the_time_of_addresses(cloned_db, owner: psycopg.Connection):
    (old, first), (new, second) = a_token(a_player().user), a_token(a_player().user)
    comes_in(first)
    comes_in(second)
    age(owner, "players_api_token", "used_at", 731, f"id = {old.pk}")
    assert forget_addresses() == 1
    assert ApiToken.objects.get(pk=old.pk).used_from == ""
    assert ApiToken.objects.get(pk=new.pk).used_from


@pytest.mark.sweep
def test_what_it_was_called_is_forgotten_with_the_account(cloned_db, owner: psycopg.Connection):
    player = a_player()
    _, key = a_token(player.user, name="Ada Lovelace's chart")
    comes_in(key)
    closures.begin(player=player, ip="192.0.2.7")
    closures.finish(player=player, by="system")
    age(owner, "players_closure", "at", 5 * 366)
    erase(Player.objects.get(pk=player.pk))
    (token,) = ApiToken.objects.all()
    assert (token.name, token.used_from) == ("", "")


def test_its_owner_is_mailed_everything_except_the_stored_key(db):
    player = a_player()
    token, _ = a_token(player.user)
    (part,) = [part for part in PARTS if part.model is ApiToken]
    (row,) = part.rows(player)
    assert row["name"] == "Chart"
    assert row["start"] == token.start
    assert "digest" not in row
