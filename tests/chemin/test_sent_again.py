"""An answer that a browser repeats after a lost response counts once at a Chemin de Fer table."""

from functools import partial
from uuid import uuid4

import pytest

from games.chemin import play
from games.errors import CheminRefused, NotEligible, QuestionPassed
from games.models import CheminMove
from players.protection import exclusions, play_sessions
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_seated_player,
    a_session,
    answer,
    asked_at,
    cash,
    chemin_of,
    seated_players,
    sit,
    state_of,
    step,
)
from tests.harness.owner import as_owner
from tests.live.test_bets_at_once import outcome
from tests.people import a_visitor, events
from tests.wallet.test_at_once import at_once

TIMES = 4
refused = partial(events, "play.refused")


@pytest.mark.django_db
class TestAnAnswerSentAgain:
    def test_does_not_report_that_it_came_too_late(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        for _ in range(2):
            answer(first, table, "take_bank", 10_000, question=question, idempotency_key=idempotency_key)
        assert cash(first).balance == MONEY - 10_000
        assert CheminMove.objects.filter(kind="take_bank").count() == 1
        assert not refused()

    def test_is_known_when_the_table_has_gone_on(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        answer(first, table, "take_bank", 10_000, question=question, idempotency_key=idempotency_key)
        moves = CheminMove.objects.count()
        for _ in range(3):
            step(table)
        assert CheminMove.objects.count() > moves
        answer(first, table, "take_bank", 10_000, question=question, idempotency_key=idempotency_key)

    @pytest.mark.sweep
    def test_is_known_when_its_player_has_got_up(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        answer(first, table, "pass", question=question, idempotency_key=idempotency_key)
        play.leave(player=first, live_table_id=table.pk)
        answer(first, table, "pass", question=question, idempotency_key=idempotency_key)
        with pytest.raises(CheminRefused):
            answer(first, table, "pass", question=question, idempotency_key=uuid4())

    def test_that_was_refused_is_refused_again(self):
        table = a_chemin_table()
        _, second = seated_players(table, 2)
        idempotency_key = uuid4()
        for _ in range(2):
            with pytest.raises(CheminRefused):
                answer(second, table, "take_bank", 10_000, idempotency_key=idempotency_key)
        assert len(refused()) == 2

    @pytest.mark.sweep
    def test_and_another_to_the_same_question_are_two(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question = chemin_of(table).question
        answer(first, table, "take_bank", 10_000, question=question, idempotency_key=uuid4())
        with pytest.raises(QuestionPassed):
            answer(first, table, "take_bank", 10_000, question=question, idempotency_key=uuid4())

    @pytest.mark.sweep
    def test_of_a_stranger_is_nobody_s(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        answer(first, table, "pass", question=question, idempotency_key=idempotency_key)
        with pytest.raises(CheminRefused):
            answer(a_player(real=MONEY), table, "pass", question=question, idempotency_key=idempotency_key)

    def test_is_known_while_a_reality_check_waits_for_its_answer(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        session = a_session(player)
        play_sessions.read_session(player, session)
        sit(player, table, 1, session)
        a_seated_player(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        answer(player, table, "take_bank", 10_000, question=question, session=session, idempotency_key=idempotency_key)
        as_owner("UPDATE players_playsession SET checked_at = clock_timestamp() - interval '2 hours'")
        answer(player, table, "take_bank", 10_000, question=question, session=session, idempotency_key=idempotency_key)
        assert not refused()
        with pytest.raises(NotEligible):
            answer(player, table, "take_bank", 10_000, question=question, session=session, idempotency_key=uuid4())

    def test_by_a_player_who_may_no_longer_play_is_refused(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        question, idempotency_key = chemin_of(table).question, uuid4()
        answer(first, table, "pass", question=question, idempotency_key=idempotency_key)
        exclusions.pause(player=first, by=str(first))
        with pytest.raises(NotEligible):
            answer(first, table, "pass", question=question, idempotency_key=idempotency_key)


@pytest.mark.sweep
@pytest.mark.django_db
def test_the_page_says_nothing_of_somebody_who_steps_away_or_comes_back_again():
    table = a_chemin_table()
    first, _ = seated_players(table, 2)
    visitor = a_visitor()
    visitor.force_login(first.user)
    for action in ("step_away", "step_away", "come_back", "come_back"):
        page = visitor.post("/en/table/chemin/real/seat/", {"action": action}, headers={"HX-Request": "true"})
        assert 'id="live-own"' in page.text
        assert "call__notice" not in page.text
    assert CheminMove.objects.filter(kind__in=("step_away", "come_back")).count() == 2


def test_many_at_the_same_moment_all_learn_that_it_was_taken(cloned_db):
    table = a_chemin_table()
    seated_players(table, 3)
    a_bank(table)
    while state_of(table).phase.value != "stakes":
        answer(asked_at(table), table, "pass")
    punter, question, idempotency_key = asked_at(table), chemin_of(table).question, uuid4()
    click = partial(answer, punter, table, "lay_stake", 1_000, question=question, idempotency_key=idempotency_key)
    assert at_once([partial(outcome, click)] * TIMES) == ["accepted"] * TIMES
    assert CheminMove.objects.filter(kind="lay_stake").count() == 1
