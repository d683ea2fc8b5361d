"""Staff cannot learn cards before the players by reporting a round while it is being dealt."""

import pytest

from games.models import Incident, Phase
from games.shared import malfunction
from tests.builders import a_player
from tests.live.at_table import a_live_table, advance_to, bet, step
from tests.live.test_rulings import ask, log_in, seen
from tests.people import a_member_of_staff

pytestmark = pytest.mark.django_db


def test_no_page_tells_a_card_that_is_not_turned_up_of_a_round_that_was_reported():
    live_table = a_live_table()
    bet(a_player(real=1_000_000), live_table, player=5000)
    dealt = advance_to(live_table, Phase.DEALT)
    malfunction.report(round_id=dealt.pk, cause="A card lay face up.", by="staff:1")
    incident = Incident.objects.get()
    asker, reader = a_member_of_staff("supervisor"), a_member_of_staff("supervisor")
    ask(incident, asker)
    page_of_it = f"/staff/incidents/{incident.pk}/"
    floor = ("/staff/floor/", f"/staff/floor/live-{live_table.pk}/")
    pages = ("/staff/incidents/", page_of_it, *floor, "/staff/approvals/")
    first_two = dealt.cards[:5]  # the second is turned up two seconds after the first
    visitor = log_in(reader.user)
    for page in pages:
        assert first_two not in seen(visitor.get(page)), page
    malfunction.let_stand(incident_id=incident.pk, reason="It was the burn card.", by="staff:1")
    step(live_table)
    assert dealt.cards in seen(visitor.get(page_of_it))
