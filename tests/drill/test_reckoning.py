"""The checks of the final state find every planted fault.

The database refuses all of these faults, so a superuser plants them without the guards.
"""

from collections.abc import Iterator

import psycopg
import pytest

from games.models import CheminCoup, Participation, Phase, Round
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import a_bank_to_keep, a_chemin_table, answer, asked_at, seated_players
from tests.drill import reckoning
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet

MONEY = 1_000_000


@pytest.fixture
def house(cloned_db) -> Iterator[psycopg.Connection]:
    """A house in which a solo round and a shared one are over; a superuser that no guard stops."""
    player, live_table = a_player(real=MONEY), a_live_table()
    a_round(player, a_table(), player=1000, tie=1000)
    bet(player, live_table, banker=5000)
    advance_to(live_table, Phase.SETTLED)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        yield superuser


def found() -> list[str]:
    """Return all findings except those about the log, which is not sealed in tests."""
    return [fault for fault in reckoning.faults() if not fault.startswith("verify_")]


def a_solo_round() -> Round:
    return Round.objects.get(shoe=None)


def test_nothing_is_found_in_a_house_that_is_well(house):
    assert found() == []


@pytest.mark.parametrize("is_solo", sample([True, False], 1))
def test_a_stake_with_a_second_outcome_is_found(house, is_solo):
    played = Round.objects.get(shoe__isnull=is_solo)
    house.execute(
        "INSERT INTO wallet_journal (key, kind, round_id, request_hash, at)"
        " SELECT gen_random_uuid(), kind, round_id, request_hash, at FROM wallet_journal"
        " WHERE round_id = %s AND kind = 'settle'",
        [played.pk],
    )
    assert f"round {played.pk}: 1 stakes, settled 2 times, reversed 0 times" in found()


@pytest.mark.sweep
def test_a_stake_without_an_outcome_is_found(house):
    played = a_solo_round()
    house.execute("DELETE FROM wallet_journal WHERE round_id = %s AND kind = 'settle'", [played.pk])
    assert f"round {played.pk}: 1 stakes, settled 0 times, reversed 0 times" in found()


@pytest.mark.sweep
def test_a_drawn_round_that_is_void_is_found(house):
    played = a_solo_round()
    house.execute("INSERT INTO games_void (round_id, reason, by) VALUES (%s, 'overdue', 'system')", [played.pk])
    assert f"round {played.pk}: void, with the cards {played.cards}" in found()


@pytest.mark.sweep
def test_a_drawn_round_of_a_shared_table_that_is_void_is_found(house):
    played = Round.objects.exclude(shoe=None).get()
    house.execute("UPDATE games_liveround SET phase = 'void' WHERE id = %s", [played.pk])
    assert f"round {played.pk}: void, with the cards {played.cards}" in found()


def test_a_bet_that_is_paid_otherwise_than_the_engine_settles_it_is_found(house):
    part = Participation.objects.get(round=a_solo_round())
    house.execute("UPDATE games_participation SET paid = paid + 1 WHERE id = %s", [part.pk])
    assert len([fault for fault in found() if str(part.round_id) in fault]) == 3  # the accounts, the bets, the engine


@pytest.mark.sweep
def test_a_bet_that_is_gone_is_found(house):
    part = Participation.objects.get(round=a_solo_round())
    house.execute(
        "UPDATE games_participation SET bets = bets[2:], stakes = stakes[2:], payouts = payouts[2:],"
        " commissions = commissions[2:], results = results[2:] WHERE id = %s",
        [part.pk],
    )
    assert any(f"round {part.round_id}: the bets of player {part.player_id}" in fault for fault in found())


@pytest.mark.parametrize("is_solo", sample([True, False], 1))
def test_other_cards_than_the_seed_deals_are_found(house, is_solo):
    played = Round.objects.get(shoe__isnull=is_solo)
    cards = " ".join(reversed(played.cards.split()))
    for table in ("games_round", "games_liveround"):
        house.execute(f"UPDATE {table} SET cards = %s WHERE id = %s", [cards, played.pk])
    assert f"round {played.pk}: {cards} is not what its seed deals" in found()


@pytest.mark.sweep
def test_money_that_is_held_for_nothing_is_found(house):
    part = Participation.objects.get(round=a_solo_round())
    house.execute("UPDATE wallet_account SET held = 5 WHERE owner_id = %s AND mode = 'R'", [part.player_id])
    assert any(fault.endswith("cash, 5 held") for fault in found())


@pytest.mark.sweep
def test_money_that_is_left_in_escrow_is_found(house):
    house.execute(
        "UPDATE wallet_entry SET amount = amount + 7 WHERE (journal_id, line) = ("
        " SELECT e.journal_id, e.line FROM wallet_entry AS e"
        " JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow' LIMIT 1)"
    )
    assert "escrow: 7 SEK R is left" in found()


@pytest.mark.sweep
def test_what_the_ledger_finds_itself_is_reported(house):
    house.execute("UPDATE wallet_account SET balance = balance + 1 WHERE kind = 'cash' AND balance > 0")
    assert any(fault.startswith("verify_house: balances_are_sums") for fault in reckoning.faults())


class TestBetweenPlayers:
    """Coups at Chemin de Fer, the last of which the bank did not lose."""

    @pytest.fixture
    def house(self, cloned_db) -> Iterator[psycopg.Connection]:
        table = a_chemin_table()
        seated_players(table)
        answer(asked_at(a_bank_to_keep(table)), table, "give_suite")
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            yield superuser

    def a_coup(self) -> CheminCoup:
        return CheminCoup.objects.latest("at")

    @pytest.mark.sweep
    def test_nothing_is_found_where_all_is_well(self, house):
        assert found() == []

    @pytest.mark.sweep
    def test_other_cards_than_the_seed_deals_are_found(self, house):
        coup = self.a_coup()
        cards = " ".join(reversed(Round.objects.get(pk=coup.pk).cards.split()))
        house.execute("UPDATE games_round SET cards = %s WHERE id = %s", [cards, coup.pk])
        assert f"coup {coup.pk}: {cards} is not what its seed deals" in found()

    def test_another_outcome_than_the_cards_say_is_found(self, house):
        coup = self.a_coup()
        house.execute("UPDATE games_chemincoup SET outcome = 'punter' WHERE round_id = %s", [coup.pk])
        assert f"coup {coup.pk}: punter, and the cards say {coup.outcome}" in found()

    @pytest.mark.sweep
    def test_a_declaration_that_cannot_have_been_made_is_found(self, house):
        coup = self.a_coup()
        other = None if coup.punter_draws is not None else True
        house.execute("UPDATE games_chemincoup SET punter_draws = %s WHERE round_id = %s", [other, coup.pk])
        assert any(each.startswith(f"coup {coup.pk}: ") for each in found())

    @pytest.mark.sweep
    @pytest.mark.parametrize("what", ["games_cheminstake SET returned = returned", "games_chemincoup SET tax = tax"])
    def test_a_stake_or_a_tax_that_does_not_follow_is_found(self, house, what):
        coup = self.a_coup()
        column = "coup_id" if "stake" in what else "round_id"
        house.execute(f"UPDATE {what} + 1 WHERE {column} = %s", [coup.pk])
        assert any(each.startswith(f"coup {coup.pk}: ") and "come to" in each for each in found())
