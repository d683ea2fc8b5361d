"""A shoe of Chemin de Fer that the dealer has lost: its coup is void, and the table drops the shoe."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.models import Incident, IncidentKind, Shoe, ShoeEnding
from games.shared import malfunction
from tests.chemin.at_table import MONEY, a_chemin_table, a_staked_coup, cash, hurry, seated_players, seen_of, step
from tests.harness.dealer import dealing
from tests.live.at_table import round_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def empty_disk(settings: Any, tmp_path: Path) -> Iterator[str]:
    """A dealer with the keys of the run and without a shoe; gives its address."""
    at = tmp_path / "socket"
    with dealing(Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "shoes"), at):
        yield str(at)


def test_it_is_retired_with_the_coup_that_cannot_be_dealt(empty_disk: str, settings: Any) -> None:
    live_table = a_chemin_table()
    seated_players(live_table)
    _, punter = a_staked_coup(live_table)
    coup = round_at(live_table)
    settings.DEALER = empty_disk
    hurry(live_table)
    step(live_table)
    incident = Incident.objects.get()
    assert (incident.kind, incident.live_round_id) == (IncidentKind.NOT_DEALT, coup.pk)
    malfunction.cancel(round_id=coup.pk, reason="the dealer's disk broke", by="staff:1")
    assert Shoe.objects.get(pk=coup.shoe_id).ending == ShoeEnding.RETIRED
    assert cash(punter).balance == MONEY
    malfunction.reopen(live_table_id=live_table.pk, reason="a new disk", by="staff:1")
    step(live_table)
    assert seen_of(live_table).shoe is None  # the next one is brought when somebody takes the bank
