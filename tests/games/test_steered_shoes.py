"""Somebody in the house tries to know or to choose the cards of a shoe, and what stops or notices it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from hmac import digest
from itertools import count
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from pytest_django import Settings

from audit.sealing import sealer
from games import deals
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.engine.chemin.rules import DECKS
from games.engine.commitments import ticket_text
from games.engine.coup import total
from games.engine.shoe import shuffle
from games.errors import TableStopped
from games.models import Incident, LiveRound, LiveTable, Phase, Shoe, ShoeEnding
from games.shared import moves
from games.verification import verification_task
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, answer, seated_players, table_state_of
from tests.games.test_rounds_are_written_by_functions import dealer_key
from tests.harness.dealer import dealing, first, seeds_drawn, the_dealer
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step

RICH = 1_000_000


class Inspected(Exception):
    """Ends a transaction after its cards were seen."""


@pytest.fixture
def live_table(cloned_db) -> LiveTable:
    return a_live_table()


def trust_what_is_not_committed(owner: psycopg.Connection) -> None:
    owner.execute(
        "CREATE OR REPLACE FUNCTION games_is_committed(wrote xid) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    )


def close(live_table: LiveTable) -> LiveRound:
    """Close the bets of the round in the present transaction, whose cards are due then."""
    live_round = round_at(live_table)
    moves.close_bets(live_round)
    return live_round


class TestTheWebRole:
    def test_sees_no_card_while_it_can_still_take_the_bets_back(self, live_table, owner):
        """Bet, let the time pass, close, look, and forget it all if the cards do not suit: within one transaction."""
        owner.execute("UPDATE games_tableversion SET clock = jsonb_set(clock, '{call}', '0')")
        bet(a_player(real=RICH), live_table, player=5000)
        hurry(live_table)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.ask_for_cards(close(live_table).pk)
        trust_what_is_not_committed(owner)
        with suppress(Inspected), transaction.atomic():
            closed = close(live_table)
            seen = deals.deal_cards(closed.shoe, closed.pk, moves.ask_for_cards(closed.pk)).cards
            raise Inspected
        assert round_at(live_table).phase == Phase.BETTING
        assert advance_to(live_table, Phase.DEALT).cards == seen

    def test_sees_no_seed_before_the_end_of_the_shoe_is_committed(self, live_table, owner):
        bet(a_player(real=RICH), live_table, player=5000)
        shoe = advance_to(live_table, Phase.SETTLED).shoe
        with transaction.atomic():
            moves.end_shoe(shoe, ShoeEnding.RETIRED)
            with pytest.raises(moves.WrongPhase), transaction.atomic():
                moves.ask_for_seed(shoe.pk)
            transaction.set_rollback(True)
        trust_what_is_not_committed(owner)
        with suppress(Inspected), transaction.atomic():
            moves.end_shoe(shoe, ShoeEnding.RETIRED)
            deals.end_shoe(shoe, moves.ask_for_seed(shoe.pk))
            raise Inspected
        step(live_table)
        bet(a_player(real=RICH), live_table, player=5000)
        advance_to(live_table, Phase.CLOSED)
        hurry(live_table)
        with suppress(AssertionError):
            step(live_table)
        assert Incident.objects.get().kind == "not_dealt"  # the dealer deals nothing more from a shoe that it gave away

    def test_gives_no_card_back_that_a_player_has_seen(self, cloned_db):
        """Draw, look, forget it, and stand: the dealer proves how many cards it dealt."""
        live_table = a_chemin_table()
        with seeds_drawn(first(of_a_free_choice())):
            seated_players(live_table)
            banker, punter = a_dealt_coup(live_table)
        before = table_state_of(live_table).state
        with suppress(Inspected), transaction.atomic():
            answer(punter, live_table, "draw_card")
            raise Inspected
        assert table_state_of(live_table).state == before
        answer(punter, live_table, "stand")
        with pytest.raises(TableStopped):
            answer(banker, live_table, "stand")
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is not None
        assert not LiveRound.objects.filter(phase=Phase.SETTLED).exists()


def of_a_free_choice() -> str:
    """Return a seed whose first coup leaves the punter the choice, with five, while the bank holds six."""
    for number in count():
        cards = shuffle(number.to_bytes(32, "big"), DECKS)
        if (total(cards[0:3:2]), total(cards[1:4:2])) == (5, 6):
            return number.to_bytes(32, "big").hex()
    raise AssertionError


@pytest.fixture
def house_of_their_own(cloned_db, tmp_path: Path, settings: Settings) -> Iterator[Dealer]:
    """A dealer whose operator knows the key of the proofs, as the owner of the tables does, and chooses seeds."""
    chosen = Dealer(replace(Keys.new(), proof=dealer_key()), tmp_path / "shoes", draw=lambda _size: b"c" * 32)
    with dealing(chosen, tmp_path / "socket"):
        settings.DEALER = str(tmp_path / "socket")
        yield chosen


def verified(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `manage.py verify_house --part rounds` prints."""
    sealer.seal()
    with suppress(CommandError):
        call_command("verify_house", "--part", "rounds")
    return capsys.readouterr().out


def test_an_honest_house_is_clean(live_table, capsys):
    bet(a_player(real=RICH), live_table, player=5000)
    advance_to(live_table, Phase.SETTLED)
    assert verification_task.verify_finished_rounds().suspicious == ()
    assert verified(capsys) == "The house is verified: rounds.\n"


class TestTheOwner:
    def test_that_deals_with_a_dealer_of_its_own_is_noticed(self, house_of_their_own, capsys):
        live_table = a_live_table()
        bet(a_player(real=RICH), live_table, player=5000)
        settled = advance_to(live_table, Phase.SETTLED)
        said = verified(capsys)
        assert f"shoe:{settled.shoe_id}: signature of the dealer: not by a dealer in DEALER_KEYS." in said
        assert f"round {settled.pk}: signature of the dealer: not by a dealer in DEALER_KEYS." in said
        assert verification_task.verify_finished_rounds().suspicious == (settled.pk,)
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by == Incident.objects.get(kind="not_dealt")

    def test_that_swaps_what_a_shoe_commits_to_is_noticed(self, live_table, owner, house_of_their_own, capsys):
        """The shoe of the true dealer is replaced by one of theirs, after its commitment was in the log."""
        shoe = Shoe.objects.get()
        binding = deals.shoe_binding(shoe)
        house_of_their_own.open_shoe(binding)
        kept, said = house_of_their_own.cut_shoe(binding, "")
        for table in ("games_shoe", "games_shoeleaves"):
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        owner.execute(
            "UPDATE games_shoe SET commitment = %s, root = %s, burn_card = %s, burn_salt = %s, burned = %s, gone = %s",
            [said.statement.commitment, said.statement.root, kept.burn_card, kept.salts[0], kept.burned, kept.burned],
        )
        owner.execute("UPDATE games_shoeleaves SET leaves = %s", [b"".join(kept.leaves)])
        for table in ("games_shoe", "games_shoeleaves"):
            owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        bet(a_player(real=RICH), live_table, player=5000)
        settled = advance_to(live_table, Phase.SETTLED)
        assert f"round {settled.pk}: the log has a different commitment before it." in verified(capsys)
        assert verification_task.verify_finished_rounds().suspicious == (settled.pk,)
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is not None

    def test_that_reads_the_next_cards_with_a_ticket_of_its_own_is_noticed_if_the_bets_are_others(self, live_table):
        live_round = round_at(live_table)
        seen = deal_unasked(live_round, b"")
        assert len(seen.split()) >= 4
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table)
        assert not LiveRound.objects.filter(phase=Phase.SETTLED).exists()

    def test_that_turns_a_shoe_back_is_refused(self, live_table, owner):
        """The owner wants the known cards of an earlier round dealt again."""
        bet(a_player(real=RICH), live_table, player=5000)
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
        owner.execute("ALTER TABLE games_shoe DISABLE TRIGGER USER")
        owner.execute("ALTER TABLE games_dealtcards DISABLE TRIGGER USER")
        owner.execute("DELETE FROM games_dealtcards")
        owner.execute("UPDATE games_shoe SET gone = burned")
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table)


class TestTheDealersUser:
    """This person has the operating-system user of the dealer: its keys and its shoes, and can run another program."""

    def test_that_deals_another_card_than_it_committed_to_is_refused(self, live_table):
        shoe = the_dealer().shoes.of(deals.shoe_binding(Shoe.objects.get()))
        at = shoe.gone
        shoe.cards = (*shoe.cards[:at], *shoe.cards[at + 1 :], shoe.cards[at])
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table, "phase_raised")

    def test_that_shuffles_again_when_the_values_of_players_are_known_is_refused(self, live_table):
        """Its commitment was in the log before: another seed fits neither it nor the root."""
        shoe = Shoe.objects.get()
        kept = the_dealer().shoes.of(deals.shoe_binding(shoe))
        before, kept.seed = kept.gone, b"c" * 32
        kept.shuffled("")
        kept.gone = before
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table, "phase_raised")

    def test_that_gives_the_cards_of_another_shoe_is_refused(self, live_table):
        other = a_live_table("pairs", slug="other")
        theirs = the_dealer().shoes.of(deals.shoe_binding(round_at(other).shoe))
        kept = the_dealer().shoes.of(deals.shoe_binding(round_at(live_table).shoe))
        kept.cards, kept.salts = theirs.cards, theirs.salts
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table, "phase_raised")

    def test_that_gives_the_cards_of_an_earlier_round_again_is_refused(self, live_table):
        bet(a_player(real=RICH), live_table, player=5000)
        played = advance_to(live_table, Phase.SETTLED)
        step(live_table)
        kept = the_dealer().shoes.of(deals.shoe_binding(played.shoe))
        before = played.first_card, kept.gone
        again = kept.cards[before[0] : before[1]], kept.salts[before[0] : before[1]]
        kept.cards = (*kept.cards[: before[1]], *again[0], *kept.cards[before[1] + len(again[0]) :])
        kept.salts = (*kept.salts[: before[1]], *again[1], *kept.salts[before[1] + len(again[1]) :])
        bet(a_player(real=RICH), live_table, player=5000)
        stopped(live_table, "phase_raised")


def deal_unasked(live_round: LiveRound, lines: bytes) -> str:
    """Have the cards of a round dealt for chosen stakes, with a ticket that only the owner can make."""
    shoe, stakes = live_round.shoe, sha256(lines).hexdigest()
    text = ticket_text(str(shoe.pk), str(live_round.pk), shoe.gone, 0, stakes)
    ticket = deals.Ask(shoe.gone, 0, stakes, digest(dealer_key(), text.encode(), "sha256"))
    return deals.deal_cards(shoe, live_round.pk, ticket).cards


def stopped(live_table: LiveTable, kind: str = "not_dealt") -> None:
    """Play on, and demand that the table stops with an incident before the round has a card."""
    advance_to(live_table, Phase.CLOSED)
    hurry(live_table)
    with suppress(AssertionError):
        step(live_table)
    assert LiveTable.objects.get(pk=live_table.pk).stopped_by == Incident.objects.get(kind=kind)
    assert not LiveRound.objects.filter(phase=Phase.DEALT).exists()
