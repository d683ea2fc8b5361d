"""A shoe from its first card to the publication of its seed: commitment, dealing, and secrecy."""

import re
from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from games.deals import shoe_binding
from games.engine import card_tree
from games.engine.cards import Card
from games.engine.dealing import CUT_CARD, coup_at, coups, opening
from games.engine.shoe import shuffle
from games.models import (
    DealtCards,
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Phase,
    Shoe,
    ShoeEnding,
    ShoeLeaves,
    Void,
)
from games.rounds.integrity import NotReproduced, WrongCard
from games.rounds.stored import problems
from games.shared import moves, phases, rounds, shoes
from games.verification import verification_task
from players.models import Player
from tests.builders import a_player
from tests.harness.dealer import seed_of, the_dealer
from tests.harness.owner import as_owner, readable_tables, update_as_owner, without_guards
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, hurry, lay, round_at, step
from tests.people import events
from tests.voiding import void_as_two_agree

pytestmark = pytest.mark.django_db

RICH = 10**9
OTHERS = "9H 9D KS QC"  # dealt nowhere here
CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")


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
        advance_to(live_table, Phase.BETTING)  # a new shoe is cut before
    return played


def spoil_cards(shoe: Shoe, first: LiveRound, second: LiveRound, damage: str) -> None:
    """Damage what is stored of a shoe of two rounds, as the owner of the tables without guards."""
    last, leaves = DealtCards.objects.filter(round_id=second.pk), ShoeLeaves.objects.filter(pk=shoe.pk)
    stored, shoe_row = b"".join(shoes.leaves_of(shoe)), Shoe.objects.filter(pk=shoe.pk)
    with without_guards("games_shoe", "games_shoeleaves", "games_dealtcards"):
        match damage:
            case "another card than that of the leaf":
                update_as_owner(last, cards=OTHERS)
            case "no card":
                update_as_owner(last, cards="XX")
            case "another salt":
                update_as_owner(last, salts=bytes(16 * len(second.cards.split())))
            case "a row that is missing" | "a row that is missing before others":
                missing = second if damage == "a row that is missing" else first
                as_owner("DELETE FROM games_dealtcards WHERE round_id = %s", [missing.pk])
            case "more cards gone":
                update_as_owner(shoe_row, gone=shoe.gone + 1)
            case "another leaf of a card to come":
                update_as_owner(leaves, leaves=stored[:-32] + bytes(32))
            case "another root":
                update_as_owner(shoe_row, root="0" * 64)
            case "too few leaves":
                update_as_owner(leaves, leaves=stored[:-32])
            case _:
                raise AssertionError(damage)


class TestTheOpening:
    def test_commits_to_the_seed_and_burns_as_the_first_card_says(self):
        shoe = round_at(a_live_table()).shoe
        seed = seed_of(shoe)
        begins = opening(shuffle(seed, 8))
        assert (shoe.commitment, shoe.decks) == (shoe_binding(shoe).commitment(seed), 8)
        leaves = card_tree.leaves(shuffle(seed, 8), card_tree.salts(seed, 8 * 52))
        assert (shoes.leaves_of(shoe), shoe.root) == (leaves, card_tree.root(leaves).hex())
        assert (shoe.burn_card, shoe.burned, shoe.cut) == (begins.burn_card.code, begins.burned, begins.cut)
        assert (shoe.gone, shoe.cut) == (begins.burned, 8 * 52 - CUT_CARD)
        assert (shoe.seed, shoe.ended_at, shoe.ending) == (None, None, "")

    def test_is_on_record_with_the_commitment_before_anybody_can_bet(self):
        live_round = round_at(a_live_table())
        shoe = live_round.shoe
        (event,) = events("shoe.opened", on=f"shoe:{shoe.pk}")
        assert event["data"] == {
            "beacon": None,
            "burn_card": shoe.burn_card,
            "burned": shoe.burned,
            "chances": [],
            "commitment": shoe.commitment,
            "cut": shoe.cut,
            "dealer": the_dealer().key,
            "decks": 8,
            "entropy": "",
            "mode": "R",
            "number": 1,
            "purpose": "shoe",
            "root": shoe.root,
            "rules": shoe.rules_digest,
            "signature": bytes(shoe.signature).hex(),
            "table": live_round.live_table.table_id,
            "unopened": [],
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
        }
        (event,) = events("shoe.published", on=f"shoe:{shoe.pk}")
        assert event["data"] == {"seed": bytes(shoe.seed or b"").hex()}
        # The next round is dealt from a new shoe.
        following = round_at(played[0].live_table)
        assert (following.number, following.is_last) == (1, False)
        assert (following.shoe.number, following.shoe.seed) == (2, None)
        assert following.shoe.commitment != shoe.commitment
        assert not Incident.objects.exists()


class TestTheSeed:
    def test_is_nowhere_while_the_shoe_is_dealt(self):
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

    def test_is_in_the_shoe_and_in_the_log_once_it_has_ended(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        (played,) = play_rounds(live_table, player, 1)
        seed = seed_of(played.shoe)
        void_as_two_agree(played.pk)
        advance_to(live_table, Phase.BETTING)  # nobody has bet, so betting opens again in the same round
        assert where(seed) == set()
        lay(player, live_table, {"player": 100})
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
        assert where(seed) == set()
        verification_task.publish_seeds()
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
    """A person who can write rows cannot choose cards: the next deal detects it and draws nothing."""

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

    @pytest.mark.parametrize(
        ("damage", "error", "what"),
        sample(
            [
                ("another card than that of the leaf", WrongCard, "dealt cards"),
                ("another salt", WrongCard, "dealt cards"),
                ("no card", WrongCard, "dealt cards"),
                ("a row that is missing", WrongCard, "cards gone"),
                ("a row that is missing before others", WrongCard, "first card"),
                ("more cards gone", WrongCard, "cards gone"),
                ("another leaf of a card to come", NotReproduced, "root"),
                ("another root", NotReproduced, "root"),
                ("too few leaves", NotReproduced, "leaves"),
            ],
            3,
        ),
    )
    def test_its_cards_are_refused_and_no_card_to_come_is_revealed(self, damage, error, what):
        """Its cards are refused when read: by the next deal, by the settlement and by the verification task."""
        live_table, player = a_live_table(), a_player(real=RICH)
        first, second = play_rounds(live_table, player, 2)
        shoe, seed = second.shoe, seed_of(second.shoe)
        shoe.refresh_from_db()
        assert shoes.cards_of(shoe)[shoe.burned :] == shuffle(seed, 8)[shoe.burned : shoe.gone]
        spoil_cards(shoe, first, second, damage)
        shoe = Shoe.objects.get(pk=shoe.pk)
        with pytest.raises(error) as raised:
            shoes.cards_of(shoe)
        assert [each.what for each in raised.value.found] == [what]
        assert not shoes.is_sound(shoe)
        (problem,) = (problem for _, problem in problems([second.pk]))
        assert problem
        assert [each.what for each in problem.found] == [what]
        shown = f"{raised.value} {raised.value.found} {problem.found}"
        dealt = {*first.cards.split(), *second.cards.split(), *OTHERS.split(), shoe.burn_card}
        assert set(CARD.findall(shown)) <= dealt
        lay(player, live_table, {"player": 100})
        closed = advance_to(live_table, Phase.CLOSED)
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        incident = Incident.objects.get()
        assert (incident.kind, incident.live_round_id) == (error.kind, closed.pk)
        assert [found["what"] for found in incident.findings] == [what]
        assert (round_at(live_table).phase, round_at(live_table).cards) == (Phase.CLOSED, "")

    @pytest.mark.parametrize(("field", "value"), [("burn_card", "XX"), ("burned", 12), ("cut", 401)])
    def test_a_start_that_differs_is_found_once_the_seed_is_public(self, field, value):
        shoe = round_at(a_live_table()).shoe
        shoe.seed = seed_of(shoe)
        assert shoes.cards_of(shoe) == shuffle(bytes(shoe.seed), 8)
        setattr(shoe, field, value)
        with pytest.raises(WrongCard) as raised:
            shoes.cards_of(shoe)
        assert [each.stored for each in raised.value.found] == [str(value)]

    def test_another_seed_is_found_once_it_is_public(self):
        shoe = round_at(a_live_table()).shoe
        shoe.seed = bytes(32)
        with pytest.raises(NotReproduced, match="does not match its commitment"):
            shoes.cards_of(shoe)

    def test_the_database_takes_no_other_seed_for_a_shoe(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        shoe = advance_to(live_table, Phase.SETTLED).shoe
        shoes.end(shoe, ShoeEnding.CUT_CARD)
        with pytest.raises(moves.DoesNotFit), transaction.atomic():
            moves.publish_seed(shoe, b"x" * 32)
        with pytest.raises(IntegrityError, match="not the seed"), transaction.atomic():
            update_as_owner(Shoe.objects.filter(pk=shoe.pk), seed=b"x" * 32)


class TestARetiredShoe:
    @pytest.mark.sweep
    def test_makes_way_for_a_fresh_one_when_the_next_round_opens(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        played = advance_to(live_table, Phase.SETTLED)
        void_as_two_agree(played.pk)
        assert Void.objects.filter(pk=played.pk).exists()
        following = advance_to(live_table, Phase.BETTING)
        assert (following.shoe.number, following.number) == (2, 1)
        retired = Shoe.objects.get(pk=played.shoe_id)
        assert retired.ending == ShoeEnding.RETIRED
        verification_task.publish_seeds()
        retired.refresh_from_db()
        assert bytes(retired.seed or b"") == seed_of(retired)

    def test_nothing_is_opened_on_it_by_a_worker_that_saw_it_in_play(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {"player": 100})
        played = advance_to(live_table, Phase.SETTLED)
        stale = LiveTable.objects.select_related("table__version", "shoe").get(pk=live_table.pk)
        shoes.end(played.shoe, ShoeEnding.RETIRED)
        assert rounds.open_next(stale) is None  # players cut the next one
        hurry(live_table)
        opened = rounds.open_next(stale)
        assert opened
        assert opened.shoe_id != played.shoe_id


@pytest.mark.sweep
def test_cards_are_written_as_they_are_read():
    cards = (Card.parse("9H"), Card.parse("TD"))
    assert shoes.written(cards) == "9H TD"
