"""The role of web and workers moves no shoe, round or live table but through the functions, which check what they are
asked against what is stored.

Each attack succeeds once its guard is dropped: the right is granted and the triggers are disabled, or the row that a
function looked at is changed by the owner.
"""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.db import ProgrammingError, connection, transaction

from games import deals
from games.dealer.client import CardsDealt
from games.deals import NewShoe
from games.engine.commitments import Binding, Purpose
from games.errors import ShoeRefused
from games.models import Incident, LiveRound, LiveTable, Phase, Shoe, ShoeEnding, SoloSeat
from games.shared import malfunction, moves, shoes
from games.variants import VARIANTS
from ops.privileges import APP_ROLE
from tests.builders import a_player, a_round, a_seat, a_table
from tests.chemin.at_table import a_chemin_table, a_staked_coup, seated_players
from tests.games.test_rounds_are_written_by_functions import demand_refusal
from tests.harness.owner import as_owner, update_as_owner
from tests.live.at_table import a_live_table, advance_to, bet, hurry, make_late, round_at

pytestmark = pytest.mark.django_db

RICH = 1_000_000
GUARDED = (
    "games_shoe",
    "games_shoeleaves",
    "games_dealtcards",
    "games_liveround",
    "games_livetable",
    "games_livetotal",
)
# Attack -> the phase of the round, and the statement with the round, its shoe and its table.
WRITTEN = {
    "the commitment of a shoe": (Phase.BETTING, "UPDATE games_shoe SET commitment = repeat('0', 64) WHERE id = {shoe}"),
    "the root of a shoe": (Phase.BETTING, "UPDATE games_shoe SET root = repeat('0', 64) WHERE id = {shoe}"),
    "the cards that a shoe commits to": (
        Phase.BETTING,
        "UPDATE games_shoeleaves SET leaves = reverse(leaves) WHERE shoe_id = {shoe}",
    ),
    "cards that were dealt": (Phase.DEALT, "UPDATE games_dealtcards SET cards = '9H 9D KS QC' WHERE shoe_id = {shoe}"),
    "cards that were not dealt": (
        Phase.DEALT,
        """INSERT INTO games_dealtcards (shoe_id, first_card, round_id, cards, salts, stakes, dealer_key, signature)
            SELECT shoe_id, 300, round_id, cards, salts, stakes, dealer_key, signature
            FROM games_dealtcards WHERE shoe_id = {shoe}""",
    ),
    "a seed before its time": (
        Phase.BETTING,
        "UPDATE games_shoe SET seed = 'x', ended_at = opened_at, ending = 'cut_card' WHERE id = {shoe}",
    ),
    "cards that have left the shoe": (Phase.DEALT, "UPDATE games_shoe SET gone = burned WHERE id = {shoe}"),
    "the cards of a dealt round": (Phase.DEALT, "UPDATE games_liveround SET cards = '9H 9D KS QC' WHERE id = {round}"),
    "cards before their time": (Phase.BETTING, "UPDATE games_liveround SET cards = '9H 9D KS QC' WHERE id = {round}"),
    "bets that close early": (Phase.BETTING, "UPDATE games_liveround SET phase = 'closed' WHERE id = {round}"),
    "a deadline": (
        Phase.BETTING,
        "UPDATE games_liveround SET deadline = deadline + interval '1 day' WHERE id = {round}",
    ),
    "the end of a round": (Phase.SETTLED, "UPDATE games_liveround SET ended_at = opened_at WHERE id = {round}"),
    "a void": (Phase.DEALT, "UPDATE games_liveround SET phase = 'void' WHERE id = {round}"),
    "the round of a table": (Phase.BETTING, "UPDATE games_livetable SET round_id = NULL WHERE id = {table}"),
    "the shoe of a table": (Phase.BETTING, "UPDATE games_livetable SET shoe_id = NULL WHERE id = {table}"),
    "a table that is stopped": (
        Phase.BETTING,
        "UPDATE games_livetable SET stopped_by_id = {incident} WHERE id = {table}",
    ),
    "a round": (
        Phase.SETTLED,
        """INSERT INTO games_liveround SELECT (jsonb_populate_record(
                r, jsonb_build_object('id', gen_random_uuid(), 'number', 99, 'phase', 'dealt'))).*
            FROM games_liveround AS r WHERE id = {round}""",
    ),
    "a shoe": (
        Phase.SETTLED,
        """INSERT INTO games_shoe SELECT (jsonb_populate_record(
                s, jsonb_build_object('id', gen_random_uuid(), 'number', 99, 'commitment', repeat('0', 64)))).*
            FROM games_shoe AS s WHERE id = {shoe}""",
    ),
}


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


def played_to(live_table: LiveTable, phase: Phase) -> LiveRound:
    """Take the round, which has a bet, to a phase."""
    bet(a_player(real=RICH), live_table, player=5000)
    return round_at(live_table) if phase == Phase.BETTING else advance_to(live_table, phase)


def drop_guards() -> None:
    """Let the role write the tables, and let no trigger refuse."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for each in GUARDED:
        as_owner(f"GRANT INSERT, UPDATE ON {each} TO {APP_ROLE}")
        as_owner(f"ALTER TABLE {each} DISABLE TRIGGER USER")


def write(statement: str) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.rowcount


def binding(live_table: LiveTable, purpose: Purpose = Purpose.SHOE, shoe_id: UUID | None = None) -> Binding:
    variant = VARIANTS[live_table.table.variant]
    return Binding(purpose, str(shoe_id or uuid4()), live_table.table_id, variant.decks, variant.digest)


def made(live_table: LiveTable, shoe_id: UUID | None = None) -> NewShoe:
    """Have the dealer make a shoe for a table, with this id or a new one."""
    return deals.new_shoe(binding(live_table, shoe_id=shoe_id))


def without_shoe(live_table: LiveTable) -> LiveTable:
    """End the round and the shoe of a table, so that it takes a new shoe."""
    shoes.end(played_to(live_table, Phase.SETTLED).shoe, ShoeEnding.RETIRED)
    return live_table


class TestTheTables:
    @pytest.mark.parametrize("phase", sorted({phase for phase, _ in WRITTEN.values()}))
    def test_are_written_by_functions_alone(self, live_table, phase):
        live_round = played_to(live_table, phase)
        other = a_live_table(slug="other")
        values = {
            "shoe": f"'{live_round.shoe_id}'",
            "round": f"'{live_round.pk}'",
            "table": live_table.pk,
            "incident": malfunction.report(round_id=round_at(other).pk, cause="It hangs.", by="staff:1").pk,
        }
        attacks = {what: statement.format(**values) for what, (at, statement) in WRITTEN.items() if at == phase}
        for what, statement in attacks.items():
            with demand_refusal(ProgrammingError, what, match="permission denied"):
                write(statement)
        drop_guards()
        for what, statement in attacks.items():
            with transaction.atomic():
                assert write(statement) == 1, what
                transaction.set_rollback(True)

    def test_are_not_emptied(self):
        for each in GUARDED:
            with pytest.raises(ProgrammingError, match="permission denied"):
                write(f"DELETE FROM {each}")


class TestAShoe:
    def test_has_no_id_that_a_round_or_another_shoe_had(self, live_table):
        """16 of 16 rounds were predicted when the seed of a solo seat could be put on a table."""
        seat = a_seat(a_player(real=RICH), a_table())
        played = a_round(a_player(real=RICH), a_table(slug="another"), player=5000)
        settled = played_to(live_table, Phase.SETTLED)
        shoes.end(settled.shoe, ShoeEnding.RETIRED)
        for used in (seat.round_id, played.round_id, settled.pk, settled.shoe_id):
            with pytest.raises(moves.UsedBefore), transaction.atomic():
                moves.open_shoe(live_table, made(live_table, used))
        fresh = made(live_table)
        with pytest.raises(moves.UsedBefore), transaction.atomic():
            moves.open_shoe(live_table, replace(fresh, cut=replace(fresh.cut, commitment=settled.shoe.commitment)))
        assert moves.open_shoe(live_table, fresh).number == 2

    def test_is_the_only_one_on_its_table(self, live_table):
        fresh = made(live_table)
        settled = played_to(live_table, Phase.SETTLED)
        with pytest.raises(moves.NothingOpensHere), transaction.atomic():
            moves.open_shoe(live_table, fresh)
        update_as_owner(Shoe.objects.filter(pk=settled.shoe_id), ended_at=settled.ended_at, ending=ShoeEnding.RETIRED)
        assert moves.open_shoe(live_table, fresh)

    def test_begins_as_the_dealer_said(self, live_table):
        without_shoe(live_table)
        fresh = made(live_table)
        for change in (
            {"commitment": "0" * 64},
            {"root": "0" * 64},
            {"leaves": bytes(32 * 416)},
            {"burn_card": ""},
            {"burned": 0},
            {"burn_salt": bytes(16)},
            {"cut": 415},
            {"key": "0" * 64},
            {"signature": bytes(64)},
            {"proof": bytes(32)},
        ):
            with demand_refusal(moves.DoesNotFit, [*change]), transaction.atomic():
                moves.open_shoe(live_table, replace(fresh, cut=replace(fresh.cut, **change)))
        assert moves.open_shoe(live_table, fresh)

    def test_is_the_one_that_the_dealer_shuffled_for_this_table(self, live_table):
        without_shoe(live_table)
        fresh = made(live_table)
        others = {
            "entropy": replace(fresh, entropy="mine"),
            "decks": replace(fresh, binding=replace(fresh.binding, decks=6)),
            "rules": replace(fresh, binding=replace(fresh.binding, rules="0" * 64)),
            "table": made(a_live_table(slug="other")),
            "purpose": deals.new_shoe(binding(live_table, Purpose.CHEMIN)),
        }
        for what, other in others.items():
            with demand_refusal(moves.DoesNotFit, what), transaction.atomic():
                moves.open_shoe(live_table, other)
        assert moves.open_shoe(live_table, fresh)

    def test_ends_once_and_its_seed_is_the_one_committed_to(self, live_table):
        shoe = played_to(live_table, Phase.SETTLED).shoe
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.ask_for_seed(shoe.pk)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.publish_seed(shoe, bytes(32))
        moves.end_shoe(shoe, ShoeEnding.RETIRED)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.end_shoe(shoe, ShoeEnding.RETIRED)
        for other in (bytes(32), b"", bytes(31)):
            with pytest.raises(moves.DoesNotFit), transaction.atomic():
                moves.publish_seed(shoe, other)
        assert shoes.publish(shoe.pk) == ()
        shoe.refresh_from_db()
        assert deals.shoe_binding(shoe).commitment(bytes(shoe.seed or b"")) == shoe.commitment

    @pytest.mark.parametrize("phase", [Phase.BETTING, Phase.CLOSED, Phase.DEALT])
    def test_does_not_end_under_a_round(self, live_table, phase):
        live_round = played_to(live_table, phase)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.end_shoe(live_round.shoe, ShoeEnding.RETIRED)
        drop_guards()
        update_as_owner(LiveRound.objects.filter(pk=live_round.pk), phase=Phase.VOID)
        moves.end_shoe(live_round.shoe, ShoeEnding.RETIRED)

    def test_of_a_shared_table_gives_cards_to_rounds_alone(self, live_table):
        closed = played_to(live_table, Phase.CLOSED)
        hurry(live_table)
        dealt = cards_for(closed)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.draw_cards(closed.pk, dealt)
        moves.deal_round(closed, dealt)


def cards_for(closed: LiveRound) -> CardsDealt:
    """Return what the dealer deals for a round whose bets are closed."""
    return deals.deal_cards(closed.shoe, closed.pk, moves.ask_for_cards(closed.pk))


class TestARound:
    def test_is_opened_at_a_table_that_plays(self, live_table):
        settled = played_to(live_table, Phase.SETTLED)
        other = round_at(a_live_table(slug="other"))
        version = settled.version_id
        for identifier, of_version, error in (
            (uuid4(), other.version_id, moves.NothingOpensHere),
            (settled.pk, version, moves.UsedBefore),
            (settled.shoe_id, version, moves.UsedBefore),
            (a_seat(a_player(), a_table()).round_id, version, moves.UsedBefore),
        ):
            with pytest.raises(error), transaction.atomic():
                moves.open_round(live_table, identifier, version_id=of_version, code="x")
        as_owner("UPDATE games_table SET status = 'closed'")
        with pytest.raises(moves.NothingOpensHere), transaction.atomic():
            moves.open_round(live_table, uuid4(), version_id=version, code="x")
        as_owner("UPDATE games_table SET status = 'open'")
        assert moves.open_round(live_table, uuid4(), version_id=version, code="x").phase == Phase.BETTING
        with pytest.raises(moves.NothingOpensHere), transaction.atomic():
            moves.open_round(live_table, uuid4(), version_id=version, code="x")

    def test_takes_bets_until_its_deadline(self, live_table):
        live_round = played_to(live_table, Phase.BETTING)
        with pytest.raises(moves.TooEarly), transaction.atomic():
            moves.close_bets(live_round)
        hurry(live_table)
        moves.close_bets(live_round)
        assert live_round.phase == Phase.CLOSED

    def test_keeps_its_deadline_once_somebody_has_bet(self, live_table):
        live_round = round_at(live_table)
        with pytest.raises(moves.TooEarly), transaction.atomic():
            moves.take_bets_again(live_round)
        played_to(live_table, Phase.BETTING)
        hurry(live_table)
        with pytest.raises(moves.BetsDiffer), transaction.atomic():
            moves.take_bets_again(live_round)
        as_owner("UPDATE games_liveseat SET stakes = '{}' WHERE round_id = %s", [live_round.pk])
        moves.take_bets_again(live_round)

    def test_is_dealt_once_and_with_the_dealer_s_cards(self, live_table):
        closed = played_to(live_table, Phase.CLOSED)
        with pytest.raises(moves.TooEarly), transaction.atomic():
            moves.ask_for_cards(closed.pk)
        hurry(live_table)
        dealt, before = cards_for(closed), closed.shoe.gone
        for other in (
            *(replace(dealt, cards=cards) for cards in ("9H 4D KS 2C", "", dealt.cards[:8])),
            *(replace(dealt, salts=bytes(len(dealt.salts))), replace(dealt, key="0" * 64)),
            *(replace(dealt, signature=bytes(64)), replace(dealt, proof=bytes(32))),
        ):
            with pytest.raises(moves.DoesNotFit), transaction.atomic():
                moves.deal_round(closed, other)
        moves.deal_round(closed, dealt)
        count = len(dealt.cards.split())
        assert (closed.first_card, Shoe.objects.get(pk=closed.shoe_id).gone) == (before, before + count)
        hurry(live_table)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.deal_round(closed, dealt)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.ask_for_cards(closed.pk)

    def test_is_dealt_for_the_bets_that_were_closed(self, live_table):
        closed = played_to(live_table, Phase.CLOSED)
        hurry(live_table)
        dealt = cards_for(closed)
        as_owner("UPDATE games_liveseat SET stakes = '{\"banker\": 5000}' WHERE round_id = %s", [closed.pk])
        with pytest.raises(moves.DoesNotFit), transaction.atomic():
            moves.deal_round(closed, dealt)
        with pytest.raises(ShoeRefused, match="cards have left the shoe"):
            cards_for(closed)  # nor does the dealer deal it again for other bets

    def test_does_not_end_unpaid(self, live_table):
        dealt = played_to(live_table, Phase.DEALT)
        with pytest.raises(moves.TooEarly), transaction.atomic():
            moves.finish_round(dealt)
        make_late(live_table, 1)
        with pytest.raises(moves.BetsDiffer), transaction.atomic():
            moves.finish_round(dealt)

    def test_is_not_void_while_bets_lie_on_it(self, live_table):
        live_round = played_to(live_table, Phase.BETTING)
        with pytest.raises(moves.BetsDiffer), transaction.atomic():
            moves.end_void(live_round)
        as_owner("SELECT wallet_delete_holds(%s::uuid)", [live_round.pk])
        with pytest.raises(moves.BetsDiffer), transaction.atomic():
            moves.end_void(live_round)
        as_owner("UPDATE games_liveseat SET stakes = '{}' WHERE round_id = %s", [live_round.pk])
        moves.end_void(live_round)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.end_void(live_round)

    def test_of_one_player_moves_nothing(self):
        seat = a_seat(a_player(), a_table())
        assert SoloSeat.objects.filter(pk=seat.pk).exists()
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.close_bets(LiveRound(pk=seat.round_id))


class TestACoup:
    def coup(self) -> LiveRound:
        live_table = a_chemin_table()
        seated_players(live_table)
        a_staked_coup(live_table)
        return round_at(live_table)

    def test_skips_no_phase(self):
        coup = self.coup()
        for phase in (Phase.BETTING, Phase.SETTLED, Phase.VOID):
            with pytest.raises(moves.WrongPhase), transaction.atomic():
                moves.move_coup(coup, phase, at=coup.deadline, deadline=coup.deadline)

    def test_moves_at_the_time_of_its_transaction(self):
        coup = self.coup()
        following = {Phase.BETTING: Phase.CLOSED, Phase.CLOSED: Phase.DEALT}[Phase(coup.phase)]
        with pytest.raises(moves.TooEarly), transaction.atomic():
            moves.move_coup(coup, following, at=coup.opened_at.replace(year=2001), deadline=coup.deadline)

    def test_is_no_round_of_a_shared_table(self, live_table):
        live_round = played_to(live_table, Phase.BETTING)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.move_coup(live_round, Phase.CLOSED, at=live_round.opened_at, deadline=live_round.deadline)

    def test_takes_the_dealer_s_cards_in_their_order(self):
        coup = self.coup()
        update_as_owner(LiveRound.objects.filter(pk=coup.pk), phase=Phase.CLOSED)
        dealt = cards_for(coup)
        assert len(dealt.cards.split()) == 4
        with pytest.raises(moves.DoesNotFit), transaction.atomic():
            moves.draw_cards(coup.pk, replace(dealt, cards="9H 4D KS 2C"))
        assert moves.draw_cards(coup.pk, dealt) == 4
        with pytest.raises(moves.DoesNotFit), transaction.atomic():
            moves.draw_cards(coup.pk, dealt)  # the same once more

    def test_is_not_finished_without_a_card_that_was_seen(self):
        """Draw, look at the card, forget it and stand: the dealer proves that it dealt five cards."""
        coup = self.coup()
        update_as_owner(LiveRound.objects.filter(pk=coup.pk), phase=Phase.CLOSED)
        moves.draw_cards(coup.pk, cards_for(coup))
        update_as_owner(LiveRound.objects.filter(pk=coup.pk), phase=Phase.DEALT, first_card=0)
        four, _ = deals.prove_coup(coup.shoe, coup.pk)
        with transaction.atomic():
            moves.draw_cards(coup.pk, cards_for(coup))
            transaction.set_rollback(True)
        five, _ = deals.prove_coup(coup.shoe, coup.pk)
        assert (len(four.split()), len(five.split())) == (4, 5)


class TestATable:
    def test_is_stopped_by_an_incident_of_its_own_and_reopens_after_the_ruling(self, live_table):
        other = a_live_table(slug="other")
        played_to(live_table, Phase.BETTING)
        with pytest.raises(moves.StaysStopped), transaction.atomic():
            moves.reopen_table(live_table)
        incident = malfunction.report(round_id=round_at(live_table).pk, cause="It hangs.", by="staff:1")
        with pytest.raises(moves.StaysStopped), transaction.atomic():
            moves.stop_table(other.pk, incident.pk)
        with pytest.raises(moves.StaysStopped), transaction.atomic():
            moves.reopen_table(live_table)
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id == incident.pk
        malfunction.let_stand(incident_id=Incident.objects.get().pk, reason="Seen.", by="staff:1")
        moves.reopen_table(live_table)
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is None

    def test_is_there_once_for_each_kind_of_money(self, live_table):
        for table, mode in ((live_table.table_id, "R"), (live_table.table_id, "X"), (a_table().pk, "R")):
            with pytest.raises(Exception, match="no live table is added"), transaction.atomic():
                write(f"SELECT games_add_live_table({table}, '{mode}')")
