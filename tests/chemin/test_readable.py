"""Stored coups of Chemin de Fer must make a coup; otherwise they are sent to verification."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from games.models import Participation, VerificationDue
from games.rounds.verification_queue import is_readable
from games.verification.verification_task import verify_finished_rounds
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.chemin.evenings import play_evening
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.people import events

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Three coups that were verified without a difference."""
    with django_db_blocker.unblock(), databases.kept_for_several_tests():
        live_table = a_chemin_table()
        seated_players(live_table, 3)
        play_evening(live_table, 3, seed=31)
        assert not verify_finished_rounds().suspicious
        yield


@pytest.fixture
def parts(played: None) -> list[Participation]:
    """All players' parts in them."""
    return list(Participation.objects.select_related("round__table_version__table").prefetch_related("wagers"))


@pytest.mark.sweep
def test_coups_are_readable_for_punters_and_bankers(parts: list[Participation]) -> None:
    assert {wager.bet for part in parts for wager in part.wagers.all()} == {"punter", "bank"}
    assert all(is_readable(part) for part in parts)
    assert not VerificationDue.objects.exists()


@pytest.mark.parametrize(
    ("stored", "fault"),
    sample(
        [
            ({"cards": "9H XX"}, "cards: "),
            ({"cards": "TC TD 4C"}, "outcome: punter, by the cards none"),
            ({"cards": "TC TD 9C 5D 2H"}, "outcome: punter, by the cards none"),
            ({"cards": "TC TD 9C 5D", "outcome": "banker"}, "outcome: banker, by the cards punter"),
            ({"cards": "TC TD 5C 5D 3H", "outcome": "draw"}, "outcome: draw, by the cards banker or punter"),
        ],
        2,
    ),
)
def test_cards_that_make_no_such_coup_are_examined(
    parts: list[Participation], stored: dict[str, str], fault: str
) -> None:
    part = parts[0]
    for name, value in {"outcome": "punter", **stored}.items():
        setattr(part.round, name, value)
    assert not is_readable(part)
    assert VerificationDue.objects.get().pk == part.round_id
    (event,) = events("round.unreadable", on=f"round:{part.round_id}")
    assert event["data"]["fault"].startswith(fault)


def test_a_bet_that_there_is_not_is_examined(parts: list[Participation]) -> None:
    for wager in parts[0].wagers.all():
        wager.bet = "player"
    assert not is_readable(parts[0])
