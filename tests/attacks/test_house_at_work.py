"""Everything that moves money or protects players has an event that says the same.

So the verification of the house finds nothing, and nothing again a minute later.
"""

from uuid import uuid4

from django.core.management import call_command
from django.utils import timezone

from audit.sealing import sealer
from audit.significant import detection
from audit.verification import house
from games.models import CheminCoup, Participation, Phase, Table
from games.verification import verification_task
from players.identity import verification
from players.models import LimitKind, Period
from players.protection import exclusions, limits
from tests.builders import a_purse, a_round, a_submission
from tests.chemin.at_table import a_practice_table, sit
from tests.chemin.evenings import play_until
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff
from tests.recorded import a_recorded_player
from tests.voiding import cancel, void_as_two_agree, void_unreproduced
from tests.wallet.adjusting import adjust
from tests.wallet.payout_builders import a_withdrawal, paid, returned
from wallet import cashier
from wallet.ledger import hourly_totals, purse
from wallet.models import Mode

MONEY = 4_000_000


def found(*, is_whole: bool) -> list[str]:
    """Seal and read the log, and verify the house. What has no checkpoint needs a signer."""
    for _ in range(2):
        sealer.seal()
        detection.find()
    sealer.seal()
    return [each.text for each in house.run(is_whole=is_whole)]


def test_a_demo_house_is_verified(cloned_db):
    call_command("load_demo")
    assert found(is_whole=False) == []
    assert found(is_whole=True) == []


def test_a_house_at_work_is_verified(cloned_db, signed):
    call_command("load_tables")
    player, other = a_recorded_player(MONEY), a_recorded_player(MONEY)
    solo = Table.objects.get(slug="baccarat")
    a_round(player, solo, player=1_000)
    void_unreproduced(a_round(player, solo, player=1_000).round_id)
    a_purse(player, 50_000)
    purse.leave(player=player, mode=Mode.REAL, key=uuid4())

    live_table = a_live_table()
    bet(player, live_table, player=5_000)
    cancel(round_id=round_at(live_table).pk, by="staff:test")
    advance_to(live_table, Phase.BETTING)
    bet(player, live_table, player=5_000)
    bet(other, live_table, player=5_000)
    void_as_two_agree(advance_to(live_table, Phase.SETTLED).pk)

    practice = a_practice_table(house_players=2)
    cashier.top_up_free(player=other, key=uuid4())
    sit(other, practice)
    play_until(practice, lambda _: CheminCoup.objects.count() > 2, seed=3)

    for each in (player, other):
        verification.verify(submission_id=a_submission(each).pk, by=a_member_of_staff("compliance"))
    adjust(player, 700)
    paid(a_withdrawal(player, 60_000))
    returned(a_withdrawal(other, 60_000))
    limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=10**9, by=str(player))
    exclusions.pause(player=other, by=str(other))
    hourly_totals.roll(timezone.now().replace(minute=0, second=0, microsecond=0))
    assert Participation.objects.count() > 3
    assert found(is_whole=False) == []
    assert found(is_whole=True) == []
    assert found(is_whole=False) == []
    assert verification_task.verify_finished_rounds().suspicious == ()
