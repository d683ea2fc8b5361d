"""A seed that the dealer has lost calls the supervisor once; the dealer is still asked again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.models import Incident, IncidentKind, Phase, Shoe, ShoeEnding
from games.shared import malfunction, shoes
from games.verification import verification_task
from tests.builders import a_player
from tests.harness.dealer import dealing
from tests.live.at_table import a_live_table, advance_to, bet

pytestmark = pytest.mark.django_db


@pytest.fixture
def empty_disk(settings: Any, tmp_path: Path) -> Iterator[str]:
    """A dealer with the keys of the run and without a shoe; gives its address."""
    at = tmp_path / "socket"
    with dealing(Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "shoes"), at):
        yield str(at)


def test_a_lost_seed_stops_the_table_once_and_is_published_where_it_is_found(empty_disk: str, settings: Any) -> None:
    live_table, with_it = a_live_table(), settings.DEALER
    bet(a_player(real=10**6), live_table, player=25_000)
    shoe = advance_to(live_table, Phase.SETTLED).shoe
    with transaction.atomic():
        shoes.end(shoe, ShoeEnding.RETIRED)
    settings.DEALER = empty_disk
    verification_task.publish_seeds()
    verification_task.publish_seeds()
    incident = Incident.objects.get()
    assert (incident.kind, incident.cause) == (
        IncidentKind.NOT_DEALT,
        "The dealer does not have the seed of the shoe.",
    )
    malfunction.let_stand(incident_id=incident.pk, reason="its disk broke", by="staff:1")
    verification_task.publish_seeds()
    assert Incident.objects.count() == 1
    settings.DEALER = with_it
    verification_task.publish_seeds()
    assert Shoe.objects.get(pk=shoe.pk).seed is not None
    assert shoes.unpublished() == []
