"""Finishing a round checks it against the ledger; the returned seat equals the stored one."""

from uuid import uuid4

import pytest
from django.db import transaction
from django.forms.models import model_to_dict

from audit.models import Event
from games import rounds, solo
from games.betting.controls import Deal
from games.engine.coup import deal
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.models import Round, SoloSeat
from games.seeds import Purpose, unseal
from games.solo import seats
from games.variants import VARIANTS
from tests.builders import a_player, a_seat, a_table
from wallet.ledger import accounts
from wallet.models import Entry, Mode

MONEY = 1_000_000
STAKES = {"player": 1000}


@pytest.mark.django_db
def test_a_round_that_thinks_of_another_balance_than_the_ledger_is_given_up():
    player, table = a_player(real=MONEY), a_table()
    seat = a_seat(player, table, **STAKES)
    moved = Entry.objects.count()
    with transaction.atomic():
        locked = seats.lock(player, table.pk, Mode.REAL)
        assert locked is not None
        assert locked.seat.table.version is not None
        seed = unseal(Purpose.SOLO, seat.round_id, bytes(seat.sealed_seed))
        coup = deal(shuffle(seed, 1))
        finished = rounds.FinishedRound(
            round_id=seat.round_id,
            version=locked.seat.table.version,
            mode=Mode.REAL,
            commitment=seat.commitment,
            seed=seed,
            player_value="",
            coup=coup,
            settlement=settle(VARIANTS["baccarat"], coup, STAKES),
            player=player,
            account_id=locked.account_id,
            balance_before=locked.balance + 1,
            session=uuid4(),
        )
        seats.succeed(locked.seat, last_stakes=STAKES, remaining={})
        with pytest.raises(rounds.BalancesDisagree), transaction.atomic():
            rounds.finish(finished, locked.seat)
    assert accounts.balance(player.pk, Mode.REAL) == MONEY
    assert Entry.objects.count() == moved
    assert not Round.objects.exists()
    assert not Event.objects.filter(kind="round.settled").exists()
    assert SoloSeat.objects.get(pk=seat.pk).round_id == seat.round_id


@pytest.mark.django_db
@pytest.mark.parametrize("how", [Deal.AS_IT_LIES, Deal.DOUBLED], ids=lambda how: how.value)
def test_the_place_that_deal_answers_with_is_the_one_that_is_stored(how):
    player, table = a_player(real=MONEY), a_table()
    seat = a_seat(player, table, **STAKES)
    deal_it = {"player": player, "table_id": table.pk, "mode": Mode.REAL, "round_id": seat.round_id, "how": how}
    for repeated in (False, True):
        played = solo.play_round(**deal_it, slip_version=seat.slip_version)
        assert played.repeated is repeated
        told, stored = model_to_dict(played.seat), model_to_dict(SoloSeat.objects.get(pk=seat.pk))
        assert bytes(told.pop("sealed_seed", b"")) == bytes(stored.pop("sealed_seed", b""))
        assert told == stored
        assert played.seat.last_round == played.seat.unseen == seat.round_id
