"""Coups of Chemin de Fer are verified soon after they were played.

A difference stops the table and calls the supervisor; nobody voids anything alone.
"""

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.models import (
    CheminCoup,
    CheminSeat,
    Incident,
    LiveTable,
    Round,
    VerificationDue,
    Void,
)
from games.rounds.stored import problems
from games.verification import verification_task
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_practice_table, seated_players, sit
from tests.chemin.evenings import play_evening, play_until
from tests.games.verified_rounds import differences
from tests.harness.sweeps import sweep

# Damage as only the owner of the database tables can do -> its statement, and what is found.
SPOILT = {
    "cards": ("UPDATE games_round SET cards = '9H 4D KS 2C' WHERE id = %(round)s", "not_reproduced"),
    "first card": ("UPDATE games_round SET first_card = first_card + 1 WHERE id = %(round)s", "not_reproduced"),
    "outcome": ("UPDATE games_round SET outcome = {another} WHERE id = %(round)s", "not_reproduced"),
    "commitment": ("UPDATE games_round SET commitment = repeat('0', 64) WHERE id = %(round)s", "not_reproduced"),
    "who won": ("UPDATE games_chemincoup SET outcome = {another} WHERE round_id = %(round)s", "not_recomputed"),
    "tax": ("UPDATE games_chemincoup SET tax = tax + 1 WHERE round_id = %(round)s", "not_recomputed"),
    "bank": ("UPDATE games_chemincoup SET bank = bank + 1 WHERE round_id = %(round)s", "not_recomputed"),
    "punter": ("UPDATE games_chemincoup SET punter_id = banker_id WHERE round_id = %(round)s", "not_recomputed"),
    "declared": (
        "UPDATE games_chemincoup SET punter_draws = (CASE WHEN punter_draws IS NULL THEN true END) {of_coup}",
        "not_recomputed",
    ),
    "stake": ("UPDATE games_cheminstake SET stake = stake - 1 WHERE coup_id = %(round)s", "not_recomputed"),
    "returned": ("UPDATE games_cheminstake SET returned = returned + 1 WHERE coup_id = %(round)s", "not_recomputed"),
    "the coup": (
        "WITH s AS (DELETE FROM games_cheminstake WHERE coup_id = %(round)s) DELETE FROM games_chemincoup {of_coup}",
        "not_recomputed",
    ),
    "payout": ("UPDATE games_wager SET payout = payout + 1 WHERE participation_id IN ({parts})", "not_recomputed"),
    "part": ("UPDATE games_participation SET staked = staked + 1 WHERE round_id = %(round)s", "not_recomputed"),
}
PIECES = {
    "another": "CASE outcome WHEN 'draw' THEN 'punter' ELSE 'draw' END",
    "of_coup": "WHERE round_id = %(round)s",
    "parts": "SELECT id FROM games_participation WHERE round_id = %(round)s",
}
KEPT = ("games_round", "games_chemincoup", "games_cheminstake", "games_participation")


def spoil(owner: psycopg.Connection, coup: Round, what: str) -> None:
    """Damage a finished coup, with all guards disabled."""
    for table in KEPT:
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    done = owner.execute(SPOILT[what][0].format(**PIECES), {"round": coup.pk})
    for table in KEPT:
        owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    assert done.rowcount


def finished(live_table: LiveTable) -> list[Round]:
    return list(Round.objects.filter(shoe__live_table=live_table).order_by("at"))


@pytest.mark.django_db
class TestEvenings:
    @pytest.mark.parametrize(("seed", "coups"), sweep([(0, 5), *((seed, 12) for seed in range(3))], {(0, 5)}))
    def test_are_reproduced_coup_by_coup(self, seed: int, coups: int) -> None:
        live_table = a_chemin_table(maximum=50_000)
        seated_players(live_table, 4)
        play_evening(live_table, coups, seed=seed)
        assert verification_task.verify_finished_rounds() == verification_task.Verified(coups, ())
        assert not VerificationDue.objects.exists()
        assert not Incident.objects.exists()
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is None
        assert CheminCoup.objects.count() == coups
        assert [differences(coup) for coup in finished(live_table)] == [[]] * coups

    @pytest.mark.sweep
    @pytest.mark.parametrize("coups", sweep([4, 12], {4}))
    def test_against_house_players_are_reproduced_too(self, coups: int) -> None:
        live_table = a_practice_table()
        sit(a_player(free=10_000_000), live_table)
        play_evening(live_table, coups, seed=1)
        assert CheminSeat.objects.filter(player=None).exists()
        assert verification_task.verify_finished_rounds() == verification_task.Verified(coups, ())
        assert [differences(coup) for coup in finished(live_table)] == [[]] * coups

    @pytest.mark.sweep
    def test_cost_the_same_number_of_queries_however_many_coups_there_were(self, django_assert_num_queries) -> None:
        live_table = a_chemin_table()
        seated_players(live_table, 3)
        play_evening(live_table, 1, seed=5)
        with CaptureQueriesContext(connection) as one:
            list(problems([each.pk for each in finished(live_table)]))
        play_evening(live_table, 6, seed=5)
        with django_assert_num_queries(len(one)):
            assert [problem for _, problem in problems([each.pk for each in finished(live_table)])] == [None] * 6


class TestWhatDoesNotFollow:
    @pytest.mark.sweep
    def test_is_found_stops_the_table_and_calls_the_supervisor(self, cloned_db, owner) -> None:
        live_table = a_chemin_table()
        seated_players(live_table, 4)
        play_evening(live_table, len(SPOILT) + 1, seed=2)
        sound, *coups = finished(live_table)
        spoilt = dict(zip(SPOILT, coups, strict=True))
        for what, coup in spoilt.items():
            spoil(owner, coup, what)
        done = verification_task.verify_finished_rounds()
        assert done.rounds == len(SPOILT) + 1
        assert set(done.suspicious) == {coup.pk for coup in coups}
        kinds = {incident.live_round_id: incident.kind for incident in Incident.objects.all()}
        assert {what: kinds[coup.pk] for what, coup in spoilt.items()} == {
            what: kind for what, (_, kind) in SPOILT.items()
        }
        assert sound.pk not in kinds
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is not None
        assert not Void.objects.exists()
        assert not VerificationDue.objects.exists()

    def test_reveals_no_face_down_card(self, cloned_db, owner) -> None:
        """Not even if a finished coup is changed to claim the cards on the table."""
        live_table = a_chemin_table()
        seated_players(live_table, 3)
        play_evening(live_table, 1, seed=3)
        table_state = play_until(live_table, lambda table: table.state.phase is Phase.PUNTER, seed=4)
        hands, (over, *_) = table_state.state.dealt_hands, finished(live_table)
        first = there(over.shoe).gone - 4
        owner.execute("UPDATE games_round SET first_card = %s WHERE id = %s", [first, over.pk])
        ((_, problem),) = problems([over.pk])
        assert problem
        assert [each.what for each in problem.found] == ["first card"]
        assert not any(card.code in str(problem.found) for card in (*hands.punter.pair, *hands.banker.pair))
