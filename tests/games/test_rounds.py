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
from games.models import NextRound, Round
from games.seeds import unseal
from games.solo import seats
from games.variants import VARIANTS
from tests.builders import a_place, a_player, a_table
from wallet.ledger import accounts
from wallet.models import Entry, Mode

MONEY = 1_000_000
STAKES = {"player": 1000}


@pytest.mark.django_db
def test_a_round_that_thinks_of_another_balance_than_the_ledger_is_given_up():
    player, table = a_player(real=MONEY), a_table()
    place = a_place(player, table, **STAKES)
    moved = Entry.objects.count()
    with transaction.atomic():
        locked = seats.lock(player, table.pk, Mode.REAL)
        assert locked is not None
        assert locked.place.table.version is not None
        seed = unseal(place.round_id, bytes(place.sealed_seed))
        coup = deal(shuffle(seed, 1))
        finished = rounds.FinishedRound(
            round_id=place.round_id,
            version=locked.place.table.version,
            mode=Mode.REAL,
            commitment=place.commitment,
            seed=seed,
            player_value="",
            coup=coup,
            settlement=settle(VARIANTS["baccarat"], coup, STAKES),
            player=player,
            account_id=locked.account_id,
            balance_before=locked.balance + 1,
            session=uuid4(),
        )
        seats.succeed(locked.place, last_stakes=STAKES, standing={})
        with pytest.raises(rounds.BalancesDisagree), transaction.atomic():
            rounds.finish(finished, locked.place)
    assert accounts.balance(player.pk, Mode.REAL) == MONEY
    assert Entry.objects.count() == moved
    assert not Round.objects.exists()
    assert not Event.objects.filter(kind="round.settled").exists()
    assert NextRound.objects.get(pk=place.pk).round_id == place.round_id


@pytest.mark.django_db
@pytest.mark.parametrize("how", [Deal.AS_IT_LIES, Deal.DOUBLED], ids=lambda how: how.value)
def test_the_place_that_deal_answers_with_is_the_one_that_is_stored(how):
    player, table = a_player(real=MONEY), a_table()
    place = a_place(player, table, **STAKES)
    deal_it = {"player": player, "table_id": table.pk, "mode": Mode.REAL, "round_id": place.round_id, "how": how}
    for repeated in (False, True):
        played = solo.play_round(**deal_it, slip_version=place.slip_version)
        assert played.repeated is repeated
        told, stored = model_to_dict(played.place), model_to_dict(NextRound.objects.get(pk=place.pk))
        assert bytes(told.pop("sealed_seed", b"")) == bytes(stored.pop("sealed_seed", b""))
        assert told == stored
        assert played.place.last_round == played.place.unseen == place.round_id
