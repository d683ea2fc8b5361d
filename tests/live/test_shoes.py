"""A shoe from its first card to the publication of its seed: commitment, dealing, and secrecy."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from games.engine.cards import Card
from games.engine.commitments import Purpose
from games.engine.dealing import CUT_CARD, coup_at, coups, opening
from games.engine.shoe import commitment, shuffle
from games.models import (
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Phase,
    Shoe,
    ShoeEnding,
    Void,
)
from games.rounds.integrity import NotReproduced, WrongCard
from games.seeds import new_sealed_seed, unseal
from games.shared import moves, phases, rounds, shoes
from players.models import Player
from tests.builders import a_player
from tests.harness.owner import readable_tables, update_as_owner
from tests.live.at_table import a_live_table, advance_to, hurry, lay, round_at, step
from tests.people import events
from tests.voiding import void_as_two_agree

pytestmark = pytest.mark.django_db

RICH = 10**9


def seed_of(shoe: Shoe) -> bytes:
    """Return the seed, which only the server can read while the shoe is in play."""
    return unseal(Purpose.SHOE, shoe.pk, bytes(shoe.sealed_seed))


def everything_stored() -> Iterator[str]:
    """Yield every row of every table as text, with bytes in hexadecimal."""
    with connection.cursor() as cursor:
        for table in readable_tables():
            cursor.execute(f'SELECT each::text FROM "{table}" AS each')
            yield from (f"{table}: {row}" for (row,) in cursor.fetchall())


def where(secret: bytes) -> set[str]:
    """Return the tables that contain this secret, as bytes or as hexadecimal text."""
    shapes = (secret.hex(), secret.hex().encode().hex())
    return {row.split(":")[0] for row in everything_stored() if any(shape in row for shape in shapes)}


def play_rounds(live_table: LiveTable, player: Player, count: int) -> list[LiveRound]:
    """Play rounds with a bet, each dealt, paid and followed by the next."""
    played = []
    for _ in range(count):
        lay(player, live_table, {"player": 100})
        played.append(advance_to(live_table, Phase.SETTLED))
        step(live_table)
    return played


class TestTheOpening:
    def test_commits_to_the_seed_and_burns_as_the_first_card_says(self):
        shoe = round_at(a_live_table()).shoe
        seed = seed_of(shoe)
        begins = opening(shuffle(seed, 8))
        assert (shoe.commitment, shoe.decks) == (commitment(seed), 8)
        assert (shoe.burn_card, shoe.burned, shoe.cut) == (begins.burn_card.code, begins.burned, begins.cut)
        assert (shoe.gone, shoe.cut) == (begins.burned, 8 * 52 - CUT_CARD)
        assert (shoe.seed, shoe.ended_at, shoe.ending) == (None, None, "")

    def test_is_on_record_with_the_commitment_before_anybody_can_bet(self):
        live_round = round_at(a_live_table())
        shoe = live_round.shoe
        (event,) = events("shoe.opened", on=f"shoe:{shoe.pk}")
        assert event["data"] == {
            "burn_card": shoe.burn_card,
            "burned": shoe.burned,
            "commitment": shoe.commitment,
            "cut": shoe.cut,
            "decks": 8,
            "mode": "R",
            "number": 1,
            "table": live_round.live_table.table_id,
        }
        assert shoe.opened_at <= live_round.opened_at


class TestAWholeShoe:
    """One shoe played to its end: about eighty rounds."""

    @pytest.fixture
    def played(self) -> list[LiveRound]:
        live_table, player = a_live_table(), a_player(real=RICH)
        found: list[LiveRound] = []
        while not found or not found[-1].is_last:
            found += play_rounds(live_table, player, 1)
            assert len(found) < 120
        return found

    @pytest.mark.sweep
    def test_is_dealt_in_order_to_one_coup_after_the_cut_card_and_then_shown_to_everybody(self, played):
        shoe = Shoe.objects.get(pk=played[0].shoe_id)
        cards = shuffle(bytes(shoe.seed or b""), shoe.decks)
        assert [each.cards for each in played] == [" ".join(card.code for card in coup.cards) for coup in coups(cards)]
        assert [each.number for each in played] == list(range(1, len(played) + 1))
        assert {each.shoe_id for each in played} == {shoe.pk}
        # Announced once, before its bets.
        assert [each.is_last for each in played] == [False] * (len(played) - 1) + [True]
        behind = [each.first_card for each in played if (each.first_card or 0) > shoe.cut]
        assert behind == [played[-1].first_card]
        assert shoe.ending == ShoeEnding.CUT_CARD
        (event,) = events("shoe.ended", on=f"shoe:{shoe.pk}")
        assert event["data"] == {
            "commitment": shoe.commitment,
            "ending": "cut_card",
            "gone": shoe.gone,
            "seed": bytes(shoe.seed or b"").hex(),
        }
        # The next round is dealt from a new shoe.
        following = round_at(played[0].live_table)
        assert (following.number, following.is_last) == (1, False)
        assert (following.shoe.number, following.shoe.seed) == (2, None)
        assert following.shoe.commitment != shoe.commitment
        assert not Incident.objects.exists()


class TestTheSeed:
    def test_stands_nowhere_while_the_shoe_is_dealt(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        seed = seed_of(round_at(live_table).shoe)
        for _ in range(5):
            assert where(seed) == set()
            lay(player, live_table, {"player": 100})
            step(live_table)
            assert where(seed) == set()
            step(live_table)
            assert where(seed) == set()
            advance_to(live_table, Phase.BETTING)
        assert where(seed) == set()
        (event,) = events("shoe.opened")
        assert "seed" not in event["data"]

    def test_stands_in_the_shoe_and_in_the_log_once_it_has_ended(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        (played,) = play_rounds(live_table, player, 1)
        seed = seed_of(played.shoe)
        void_as_two_agree(played.pk)
        advance_to(live_table, Phase.BETTING)  # nobody has bet, so betting opens again in the same round
        assert where(seed) == set()
        lay(player, live_table, {"player": 100})
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
        assert where(seed) == {"games_shoe", "audit_event"}

    def test_is_not_shown_while_a_round_is_in_progress(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        for phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT):
            live_round = round_at(live_table)
            assert live_round.phase == phase
            for ending in ShoeEnding:
                with pytest.raises(shoes.ShoeInUse):
                    shoes.end(live_round.shoe, ending)
            step(live_table)

    @pytest.mark.sweep
    def test_of_a_shoe_that_has_ended_stays_as_it_was_shown(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        shoe = advance_to(live_table, Phase.SETTLED).shoe
        shoes.end(shoe, ShoeEnding.RETIRED)
        ended = Shoe.objects.get(pk=shoe.pk)
        shoes.end(ended, ShoeEnding.CUT_CARD)
        assert Shoe.objects.get(pk=shoe.pk).ending == ShoeEnding.RETIRED
        assert len(events("shoe.ended")) == 1


class TestAShoeThatIsNotWhatWasShuffled:
    """Whoever can write rows cannot choose cards: the next deal detects it and draws nothing."""

    def test_cards_passed_over_are_found_before_the_next_deal(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        closed = advance_to(live_table, Phase.CLOSED)
        update_as_owner(Shoe.objects.filter(pk=closed.shoe_id), gone=closed.shoe.gone + 1)
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        incident = Incident.objects.get()
        assert (incident.kind, incident.live_round_id) == (IncidentKind.WRONG_CARD, closed.pk)
        assert (round_at(live_table).phase, round_at(live_table).cards) == (Phase.CLOSED, "")

    @pytest.mark.sweep
    def test_a_whole_coup_passed_over_is_found_as_well(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        (first,) = play_rounds(live_table, player, 1)
        shoe = Shoe.objects.get(pk=first.shoe_id)
        skipped = coup_at(shuffle(seed_of(shoe), 8), shoe.gone)
        update_as_owner(Shoe.objects.filter(pk=shoe.pk), gone=shoe.gone + len(skipped.cards))
        lay(player, live_table, {"player": 100})
        advance_to(live_table, Phase.CLOSED)
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        assert Incident.objects.get().kind == IncidentKind.WRONG_CARD

    def test_a_seed_sealed_for_another_shoe_deals_nothing(self):
        other = new_sealed_seed(Purpose.SHOE)
        shoe = round_at(a_live_table()).shoe
        shoe.sealed_seed = other.sealed
        assert not shoes.is_sound(shoe)

    def test_a_seed_that_is_not_the_one_committed_to_deals_nothing(self):
        shoe = round_at(a_live_table()).shoe
        shoe.commitment = new_sealed_seed(Purpose.SHOE).commitment
        with pytest.raises(NotReproduced):
            shoes.next_coup(shoe)

    @pytest.mark.sweep
    @pytest.mark.parametrize(("field", "value"), [("burn_card", "XX"), ("burned", 12), ("cut", 401)])
    def test_a_shoe_that_begins_otherwise_deals_nothing(self, field, value):
        shoe = round_at(a_live_table()).shoe
        setattr(shoe, field, value)
        with pytest.raises(WrongCard) as raised:
            shoes.next_coup(shoe)
        assert [each.stored for each in raised.value.found] == [str(value)]

    def test_the_database_takes_no_other_seed_for_a_shoe(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        shoe = advance_to(live_table, Phase.SETTLED).shoe
        with pytest.raises(moves.DoesNotFit), transaction.atomic():
            moves.end_shoe(shoe, b"x" * 32, ShoeEnding.CUT_CARD)
        with pytest.raises(IntegrityError, match="not the seed"), transaction.atomic():
            update_as_owner(Shoe.objects.filter(pk=shoe.pk), seed=b"x" * 32, ended_at=shoe.opened_at, ending="cut_card")


class TestARetiredShoe:
    @pytest.mark.sweep
    def test_makes_way_for_a_fresh_one_when_the_next_round_opens(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        played = advance_to(live_table, Phase.SETTLED)
        void_as_two_agree(played.pk)
        assert Void.objects.filter(pk=played.pk).exists()
        following = step(live_table)
        assert (following.shoe.number, following.number) == (2, 1)
        retired = Shoe.objects.get(pk=played.shoe_id)
        assert retired.ending == ShoeEnding.RETIRED
        assert commitment(bytes(retired.seed or b"")) == retired.commitment

    def test_nothing_is_opened_on_it_by_a_worker_that_saw_it_in_play(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        played = advance_to(live_table, Phase.SETTLED)
        stale = LiveTable.objects.select_related("table__version", "shoe").get(pk=live_table.pk)
        shoes.end(played.shoe, ShoeEnding.RETIRED)
        assert rounds.open_next(stale).shoe_id != played.shoe_id


@pytest.mark.sweep
def test_cards_are_written_as_they_are_read():
    cards = (Card.parse("9H"), Card.parse("TD"))
    assert shoes.written(cards) == "9H TD"
