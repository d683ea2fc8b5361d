"""The dealer is away: shared tables and Chemin de Fer wait without an incident, and continue when it is back."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.engine.chemin import Phase as Asked
from games.engine.dealing import coups
from games.engine.shoe import shuffle
from games.errors import DealerAway
from games.models import Incident, IncidentKind, LiveTable, Phase, Shoe, ShoeEnding, Void, VoidReason
from games.shared import malfunction, phases, shoes
from games.verification import verification_task
from players.models import Player
from tests.builders import a_player, a_shared_table
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    a_staked_coup,
    chemin_of,
    seated_players,
    seen_of,
    state_of,
)
from tests.chemin.at_table import step as chemin_step
from tests.harness.dealer import dealing, first, seeds_drawn
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, advance_to, bet, hurry, live_table_of, make_late, round_at, step
from tests.live.betting import balance, held
from tests.live.so_far import a_played_table
from tests.people import events

MONEY, STAKE = 1_000_000, 5_000
AWAY = "No cards can be dealt at the moment."
SEED = "5a" * 32


class OwnDealer:
    """A dealer of the test's own, with the keys of the run, which can end and begin again on its folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._keys, self._folder, self._running = Keys.opened(settings.VAR_DIR / "dealer"), folder, ExitStack()
        settings.DEALER = str(folder / "socket")
        self.begin()

    def begin(self) -> None:
        self._running.enter_context(dealing(Dealer(self._keys, self._folder / "shoes"), self._folder / "socket"))

    def end(self) -> None:
        self._running.close()


@pytest.fixture
def own_dealer(cloned_db, settings: Settings, tmp_path: Path) -> Iterator[OwnDealer]:
    own = OwnDealer(settings, tmp_path)
    yield own
    own.end()


def waits(live_table: LiveTable, *, seconds: float = 0) -> bool:
    """Return True if the table, due for so long, waits for the dealer without an incident."""
    for _ in range(2):
        hurry(live_table)
        make_late(live_table, seconds)
        with pytest.raises(DealerAway):
            phases.advance(live_table.pk)
    return not Incident.objects.exists() and LiveTable.objects.get(pk=live_table.pk).stopped_by is None


@transaction.atomic
def retire(shoe: Shoe) -> None:
    shoes.end(shoe, ShoeEnding.RETIRED)


class TestASharedTable:
    @pytest.fixture
    def player(self, cloned_db) -> Player:
        return a_player(real=MONEY)

    @pytest.fixture
    def closed(self, own_dealer: OwnDealer, player: Player) -> LiveTable:
        live_table = a_live_table()
        bet(player, live_table, player=STAKE)
        advance_to(live_table, Phase.CLOSED)
        own_dealer.end()
        return live_table

    def test_waits_with_closed_bets_and_deals_the_same_shoe_when_it_is_back(self, closed, player, own_dealer):
        shoe = round_at(closed).shoe
        assert waits(closed)
        assert (round_at(closed).phase, held(player)) == (Phase.CLOSED, STAKE)
        own_dealer.begin()
        assert step(closed).phase == Phase.DEALT
        assert advance_to(closed, Phase.SETTLED).shoe == shoe
        assert verification_task.verify_finished_rounds().suspicious == ()
        assert not Incident.objects.exists()

    def test_gives_the_stakes_back_when_it_is_away_for_too_long(self, closed, player, own_dealer, settings):
        make_late(closed, settings.LIVE_LATE_SECONDS + 1)
        assert phases.advance(closed.pk)
        assert (round_at(closed).phase, Void.objects.get().reason) == (Phase.VOID, VoidReason.OVERDUE)
        assert (balance(player), held(player)) == (MONEY, 0)
        incident = Incident.objects.get()
        assert incident.kind == IncidentKind.OVERDUE
        own_dealer.begin()
        malfunction.accept_void(incident_id=incident.pk, reason="the dealer was away", by="staff:1")
        malfunction.reopen(live_table_id=closed.pk, reason="it is back", by="staff:1")
        step(closed)
        bet(player, closed, player=STAKE)
        advance_to(closed, Phase.SETTLED)
        assert Incident.objects.get() == incident

    def test_settles_what_is_dealt(self, own_dealer, player):
        live_table = a_live_table()
        bet(player, live_table, player=STAKE)
        advance_to(live_table, Phase.DEALT)
        own_dealer.end()
        assert step(live_table).phase == Phase.SETTLED

    def test_waits_for_its_first_shoe(self, own_dealer):
        own_dealer.end()
        live_table = live_table_of(a_shared_table("no_commission"))
        for _ in range(2):
            with pytest.raises(DealerAway):
                phases.advance(live_table.pk)
        assert not Incident.objects.exists()
        assert not Shoe.objects.exists()
        own_dealer.begin()
        assert phases.advance(live_table.pk)

    def test_waits_for_another_shoe_however_long(self, own_dealer, player, settings):
        live_table = a_live_table()
        bet(player, live_table, player=STAKE)
        retire(advance_to(live_table, Phase.SETTLED).shoe)
        own_dealer.end()
        assert waits(live_table, seconds=settings.LIVE_LATE_SECONDS + 1)
        own_dealer.begin()
        step(live_table)  # players cut the next shoe
        own_dealer.end()
        assert waits(live_table)
        assert Shoe.objects.count() == 1
        own_dealer.begin()
        assert step(live_table).shoe.number == 2


class TestATableBetweenPlayers:
    @pytest.fixture
    def live_table(self, own_dealer: OwnDealer) -> LiveTable:
        live_table = a_chemin_table()
        seated_players(live_table, 2)
        return live_table

    @pytest.fixture
    def banker(self, live_table: LiveTable, own_dealer: OwnDealer) -> Player:
        """The banker, who is asked to deal."""
        banker, _ = a_staked_coup(live_table)
        assert seen_of(live_table).phase is Asked.CARDS
        own_dealer.end()
        return banker

    def test_refuses_to_deal_with_a_sentence_and_undoes_the_move(self, live_table, banker, own_dealer):
        before = chemin_of(live_table)
        visitor = Client()
        visitor.force_login(banker.user)
        form = {"question": before.question, "action": "deal_cards", "amount": ""}
        answered = visitor.post(f"/en/table/{live_table.table.slug}/real/act/", form, headers={"HX-Request": "true"})
        assert AWAY in answered.text
        (refused,) = events("play.refused")
        assert refused["data"]["reason"] == "DealerAway"
        for _ in range(2):  # nor does the croupier
            with pytest.raises(DealerAway):
                chemin_step(live_table)
        after = chemin_of(live_table)
        assert (after.move, after.question, after.state) == (before.move, before.question, before.state)
        assert (Shoe.objects.get().gone, round_at(live_table).phase) == (0, Phase.CLOSED)
        assert not Incident.objects.exists()
        own_dealer.begin()
        assert chemin_step(live_table)
        assert Shoe.objects.get().gone == 4

    def test_gives_the_stakes_back_when_it_is_away_for_too_long(self, live_table, banker, settings):
        assert chemin_step(live_table, settings.LIVE_LATE_SECONDS + 1)
        assert (round_at(live_table).phase, Void.objects.get().reason) == (Phase.VOID, VoidReason.OVERDUE)
        assert Incident.objects.get().kind == IncidentKind.OVERDUE

    def test_has_nobody_take_the_bank_without_a_shoe(self, live_table, own_dealer):
        own_dealer.end()
        before = chemin_of(live_table)
        with pytest.raises(DealerAway):
            a_bank(live_table)
        assert chemin_of(live_table).state == before.state
        assert not Incident.objects.exists()
        assert not Shoe.objects.exists()
        own_dealer.begin()
        a_bank(live_table)
        assert state_of(live_table).phase is Asked.CALLS


class TestTheSeed:
    @pytest.fixture
    def nobody(self, settings: Settings, tmp_path: Path) -> str:
        return str(tmp_path / "nobody")

    def test_of_a_shoe_that_ended_without_the_dealer_is_published_later(self, cloned_db, settings, nobody):
        with seeds_drawn(first(SEED)):
            live_table = a_played_table(len(list(coups(shuffle(bytes.fromhex(SEED), 8)))) - 1)
        bet(a_player(real=MONEY), live_table, player=STAKE)
        dealt = advance_to(live_table, Phase.DEALT)
        assert dealt.is_last
        there, settings.DEALER = settings.DEALER, nobody
        assert step(live_table).phase == Phase.SETTLED
        verification_task.publish_seeds()
        shoe = Shoe.objects.get()
        assert (shoe.ending, shoe.seed) == (ShoeEnding.CUT_CARD, None)
        assert events("shoe.published") == []
        settings.DEALER = there
        for _ in range(2):
            verification_task.publish_seeds()
        shoe.refresh_from_db()
        assert bytes(shoe.seed or b"").hex() == SEED
        (published,) = events("shoe.published", on=f"shoe:{shoe.pk}")
        assert published["data"] == {"seed": SEED}
        assert not Incident.objects.exists()

    def test_that_does_not_fit_stops_its_table_once_and_keeps_no_other_back(self, cloned_db):
        player, tables = a_player(real=MONEY), [a_live_table(slug=slug) for slug in ("one", "other")]
        for live_table in tables:
            bet(player, live_table, player=STAKE)
            retire(advance_to(live_table, Phase.SETTLED).shoe)
        wrong, right = Shoe.objects.order_by("ended_at")
        as_owner("ALTER TABLE games_shoe DISABLE TRIGGER USER")
        as_owner("UPDATE games_shoe SET commitment = repeat('0', 64) WHERE id = %s", [wrong.pk])
        as_owner("ALTER TABLE games_shoe ENABLE TRIGGER USER")
        verification_task.publish_seeds()
        incident = Incident.objects.get()
        assert incident.live_round
        assert (incident.kind, incident.live_round.shoe_id) == (IncidentKind.NOT_DEALT, wrong.pk)
        assert [found["what"] for found in incident.findings] == ["commitment"]
        right.refresh_from_db()
        wrong.refresh_from_db()
        assert (right.seed is not None, wrong.seed) == (True, None)
        malfunction.let_stand(incident_id=incident.pk, reason="looked into it", by="staff:1")
        verification_task.publish_seeds()
        assert Incident.objects.get() == incident
        malfunction.reopen(live_table_id=tables[0].pk, reason="looked into it", by="staff:1")
