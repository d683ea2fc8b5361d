"""Somebody in the house tries to choose the cards of a solo round, and what notices it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from hmac import digest
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from pytest_django import Settings

from audit.sealing import sealer
from games import deals
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.engine.commitments import Binding, Purpose, digest_of_stakes
from games.engine.coup import deal
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.errors import CommitmentSpent
from games.models import Incident, Round, SoloSeat, Table
from games.rounds.database_refusals import NotDealt, WrongSeed
from games.solo import play_round, seats
from games.variants import VARIANTS
from games.verification import deals as log_deals
from games.verification import verification_task
from games.verification.service import verify_round
from tests.builders import a_player, a_round, a_seat, a_table
from tests.games.test_rounds_are_written_by_functions import FUNCTION, Asked, as_played, dealer_key, without_refusal
from tests.harness.dealer import dealing
from tests.harness.owner import unguarded
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY, STAKE = 1_000_000, 1_000


@pytest.fixture
def own_dealer(tmp_path: Path, settings: Settings) -> Iterator[Dealer]:
    """A separate dealer, whose first deal has the number 1. It has the keys of the run."""
    own = Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "shoes")
    with dealing(own, tmp_path / "socket"):
        settings.DEALER = str(tmp_path / "socket")
        yield own


@pytest.fixture
def seat(own_dealer: Dealer) -> SoloSeat:
    return a_seat(a_player(real=MONEY), a_table(), player=STAKE)


def fresh(seat: SoloSeat) -> SoloSeat:
    return SoloSeat.objects.select_related("table", "player").get(pk=seat.pk)


def play(seat: SoloSeat) -> Round:
    """Press DEAL with the current slip."""
    now = fresh(seat)
    played = play_round(
        player=now.player,
        table_id=now.table_id,
        mode=Mode(now.mode),
        round_id=now.round_id,
        slip_version=now.slip_version,
    )
    return Round.objects.get(pk=played.round_id)


def names(said: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints, whether or not it fails."""
    with suppress(CommandError):
        said()
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No deal is still to come: nobody else plays."""
    monkeypatch.setattr(log_deals, "LATE", timedelta(0))


def deals_verified(capsys: pytest.CaptureFixture[str]) -> str:
    sealer.seal()
    return names(lambda: call_command("verify_house", "--part", "rounds"), capsys)


def demand_noticed(round_id: Any, what: str) -> None:
    """The verification task closes the table and opens an incident; the page of the round names the difference."""
    assert verification_task.verify_finished_rounds().suspicious == (round_id,)
    incident = Incident.objects.get()
    assert (incident.kind, incident.round_id) == ("not_dealt", round_id)
    assert what in {finding["what"] for finding in incident.findings}
    assert incident.done == ["Table closed.", "The round stands."]
    assert not Table.objects.get().is_open
    found = verify_round(round_id)
    assert found
    assert what.capitalize() in {fact.what for fact in found.differences}


def test_an_honest_house_is_clean(seat, capsys):
    for _ in range(3):
        a_round(seat.player, seat.table, player=STAKE)
    assert verification_task.verify_finished_rounds().suspicious == ()
    assert deals_verified(capsys) == "The house is verified: rounds.\n"


class TestTheLoginRole:
    """Web and workers: they have the password of their role and the dealer's socket."""

    def test_cannot_open_a_seed(self, seat):
        sealed = bytes(seat.sealed_seed)
        for key in (sha256(sealed).digest(), bytes(32), dealer_key()):
            with pytest.raises(InvalidTag):
                AESGCM(key).decrypt(sealed[16:28], sealed[28:], b"")

    def test_cannot_swap_the_seed_after_its_seal_was_shown(self, seat, own_dealer):
        other = own_dealer.commit(Binding(Purpose.SOLO, str(seat.round_id), seat.table_id, *named(seat)))
        change = "UPDATE games_soloseat SET sealed_seed = %s"
        denied = pytest.raises(ProgrammingError, match="permission denied")
        with connection.cursor() as web, denied, transaction.atomic():
            web.execute(change, [other.sealed])
        swapped = replace(seats.committed(fresh(seat)), sealed=other.sealed)
        with pytest.raises(CommitmentSpent) as refused:
            deals.deal(
                Purpose.SOLO,
                swapped,
                table_id=seat.table_id,
                variant=VARIANTS[seat.table.variant],
                player_value="",
                stakes={"player": STAKE},
            )
        assert refused.value.reason == "foreign"

    def test_one_that_reads_the_cards_of_many_commitments_leaves_gaps(self, seat, capsys):
        """It has the round dealt; where the cards do not suit it, it asks for other bets, so that the dealer
        refuses, and the seat may commit to another round. Every look is a deal with a number.
        """
        accesses = 0
        while True:
            now, accesses = fresh(seat), accesses + 1
            seen = dealt_with(now, player=STAKE)
            if seen.answer.outcome == "banker" and accesses > 2:
                break
            with pytest.raises(NotDealt):
                seats.renew(now, deals.Reason.EXPIRED)
            with pytest.raises(CommitmentSpent) as refused:
                dealt_with(now, banker=STAKE)
            seats.renew(now, deals.Reason.DEALT, refused.value.proof)
        assert play(seat).outcome == "banker"
        assert "dealt but not stored." in deals_verified(capsys)
        assert len([each for each in events("seat.committed") if each["data"]["reason"] == "dealt"]) == accesses - 1

    def test_cannot_choose_the_bets_after_the_cards(self, seat):
        seen = as_played(seat, player=STAKE)
        with pytest.raises(CommitmentSpent):
            as_played(seat, banker=STAKE)
        proof = digest(b"k" * 32, seen.statement.encode(), "sha256")
        other = replace(seen, bets=["banker"], payouts=[0], results=["lose"], commissions=[0], proof=proof)
        with pytest.raises(NotDealt):
            other.send()

    def test_cannot_run_a_dealer_of_its_own(self, seat, owner, tmp_path):
        own = Dealer(Keys.new(), tmp_path, draw=lambda _size: b"c" * 32)
        asked, commitment = dealt_by(own, seat)
        with pytest.raises(WrongSeed):
            asked.send()
        owner.execute("UPDATE games_soloseat SET commitment = %s", [commitment])  # as if the seat had begun with it
        with pytest.raises(NotDealt):
            asked.send()


class TestTheOwner:
    """The owner of the tables reads the key of the proofs, and can write any row. The dealer's signature and the event
    log, which is signed elsewhere, then do not fit.
    """

    def test_that_swaps_the_seed_is_noticed(self, seat, owner, own_dealer, capsys):
        """Without the check, 6 of 6 rounds could be made to lose: any seed of the dealer, after a look at its cards."""
        binding = Binding(Purpose.SOLO, str(seat.round_id), seat.table_id, *named(seat))
        other = own_dealer.commit(binding)
        change = "UPDATE games_soloseat SET sealed_seed = %s, commitment = %s"
        owner.execute(change, [other.sealed, other.commitment])
        played = play(seat)
        assert played.commitment == other.commitment != seat.commitment
        assert "the log has a different commitment before it" in deals_verified(capsys)
        demand_noticed(played.pk, "commitment in the event log before the bets")

    def test_that_takes_the_commitment_out_of_the_log_before_it_is_sealed_is_noticed(self, seat, capsys):
        assert unguarded(
            "WITH gone AS (DELETE FROM audit_event WHERE kind = 'seat.committed' RETURNING id)"
            " DELETE FROM audit_pending WHERE event_id IN (SELECT id FROM gone)"
        )
        played = play(seat)
        assert f"round {played.pk}: the log has no commitment before it." in deals_verified(capsys)

    def test_that_deals_with_a_dealer_of_its_own_is_noticed(self, seat, owner, capsys, tmp_path):
        """It knows the key of the proofs, so the database takes the cards."""
        chosen = Dealer(replace(Keys.new(), proof=dealer_key()), tmp_path, draw=lambda _size: b"c" * 32)
        asked, commitment = dealt_by(chosen, seat)
        owner.execute("UPDATE games_soloseat SET commitment = %s", [commitment])
        asked.send()
        said = deals_verified(capsys)
        assert "signature of the dealer: not by a dealer in DEALER_KEYS" in said
        assert "the log has a different commitment before it" in said
        demand_noticed(asked.round_id, "signature of the dealer")

    def test_that_removes_the_guard_and_chooses_the_bets_after_the_cards_is_noticed(self, seat, owner, capsys):
        asked, variant = as_played(seat, player=STAKE), VARIANTS[seat.table.variant]
        (line,) = settle(variant, deal(shuffle(asked.seed, variant.decks)), {"banker": STAKE}).lines
        without_refusal(owner, FUNCTION, "SB066")
        paid: dict[str, Any] = {"payouts": [line.payout], "commissions": [line.commission]}
        replace(asked, bets=["banker"], results=[str(line.result)], proof=b"none", **paid).send()
        assert "signature of the dealer: not by a dealer in DEALER_KEYS" in deals_verified(capsys)
        demand_noticed(asked.round_id, "signature of the dealer")

    def test_that_throws_a_round_away_is_noticed(self, seat, capsys):
        """The round was dealt, and its transaction is not committed."""
        with suppress(InterruptedError), transaction.atomic():
            play(seat)
            raise InterruptedError
        with pytest.raises(CommitmentSpent) as refused:
            dealt_with(fresh(seat), banker=STAKE)
        seats.renew(fresh(seat), deals.Reason.DEALT, refused.value.proof)
        play(seat)
        said = deals_verified(capsys)
        assert "was dealt but not stored." in said
        assert accounts.balance(seat.player_id, Mode.REAL) != MONEY or "tie" in Round.objects.get().outcome

    def test_that_stores_a_deal_twice_is_noticed(self, seat, owner, capsys):
        first = play(seat)
        a_slip = as_played(a_seat(seat.player, seat.table, player=STAKE), player=STAKE)
        (settled,) = events("round.settled", on=f"round:{first.pk}")
        number = settled["data"]["dealer"]["deal"]
        replace(a_slip, deal=number).send()
        assert f"deal {number} of epoch {a_slip.epoch} is in the log twice" in deals_verified(capsys)

    def test_that_gives_a_seat_the_seal_of_another_round_is_refused(self, seat, owner):
        """A round whose cards the owner has seen at another seat is given to the victim."""
        own = a_seat(a_player(real=MONEY), seat.table, player=STAKE)
        copied = "UPDATE games_soloseat SET (commitment, sealed_seed) = (%s, %s) WHERE id = %s"
        owner.execute(copied, [own.commitment, bytes(own.sealed_seed), seat.pk])
        with pytest.raises(CommitmentSpent) as refused:
            play(seat)
        assert refused.value.reason == "foreign"


class TestTheDealersUser:
    """This person has the operating-system user of the dealer: its keys and its memory, and can run another program."""

    def test_that_deals_another_seed_than_it_committed_to_is_refused(self, seat, own_dealer, monkeypatch):
        monkeypatch.setattr(own_dealer, "_opened", lambda *_asked: (0, b"c" * 32))
        with pytest.raises(WrongSeed):
            play(seat)
        assert not Round.objects.exists()

    def test_that_draws_only_seeds_with_which_player_loses_needs_a_player_who_adds_nothing(self, seat, own_dealer):
        """A player who adds nothing always loses; only statistics find it. With a value, the dealer cannot choose."""
        seeds = [sha256(b"%d" % number).digest() for number in range(200)]
        losing = [seed for seed in seeds if outcome(seed, "") == "banker"]
        remaining = list(losing)
        own_dealer.draw = lambda _size: remaining.pop()
        victim = a_seat(a_player(real=MONEY), seat.table, player=STAKE)
        for _ in range(3):
            a_round(victim.player, seat.table, player=STAKE)
        assert set(Round.objects.values_list("outcome", flat=True)) == {"banker"}
        added = [outcome(seed, f"{number:032x}") for number, seed in enumerate(losing)]
        assert added.count("player") > len(losing) / 4

    def test_that_signs_for_another_table_or_round_is_refused(self, seat, owner, settings, tmp_path):
        """Owner's help does not suffice: the database makes the text of the proof from its own table and round."""
        dealer = Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "own")
        asked, _ = dealt_by(dealer, seat)
        other, commitment = dealt_by(dealer, seat, table=seat.table_id + 1)
        owner.execute("UPDATE games_soloseat SET commitment = %s", [commitment])
        with pytest.raises(WrongSeed):
            replace(other, proof=asked.proof).send()
        with pytest.raises(WrongSeed):
            other.send()

    def test_that_repeats_a_number_is_noticed(self, seat, own_dealer, capsys):
        play(seat)
        own_dealer._counts[Purpose.SOLO] = 0
        a_round(seat.player, seat.table, player=STAKE)
        assert "deal 1 of epoch" in deals_verified(capsys)

    def test_that_signs_other_cards_than_the_seed_gives_is_noticed(self, seat, own_dealer, monkeypatch):
        """The database cannot shuffle. The player's browser notices at once, the verification task within a minute:
        the round is void.
        """
        monkeypatch.setattr("games.dealer.dealer.shuffle", lambda *_asked: shuffle(b"c" * 32, 1))
        played = play(seat)
        assert verification_task.verify_finished_rounds().suspicious == (played.pk,)
        assert {incident.kind for incident in Incident.objects.all()} == {"not_reproduced"}
        assert accounts.balance(seat.player_id, Mode.REAL) == MONEY
        assert not Table.objects.get().is_open


def dealt_with(seat: SoloSeat, **bets: int) -> deals.Deal:
    """Have the dealer deal the round of a seat, and store nothing."""
    return deals.deal(
        Purpose.SOLO,
        seats.committed(seat),
        table_id=seat.table_id,
        variant=VARIANTS[seat.table.variant],
        player_value="",
        stakes=bets,
    )


def named(seat: SoloSeat) -> tuple[int, str]:
    variant = VARIANTS[seat.table.variant]
    return variant.decks, variant.digest


def outcome(seed: bytes, value: str) -> str:
    return deal(shuffle(seed, 1, value)).outcome.value


def dealt_by(own: Dealer, seat: SoloSeat, *, table: int | None = None) -> tuple[Asked, str]:
    """Return a round as another dealer dealt it, at another table if given, with its commitment and its proof."""
    binding = Binding(Purpose.SOLO, str(seat.round_id), table or seat.table_id, *named(seat))
    stakes = {"player": STAKE}
    made = own.commit(binding)
    shown = own.deal(
        binding, commitment=made.commitment, sealed=made.sealed, player_value="", stakes=digest_of_stakes(stakes)
    )
    variant, said = VARIANTS[seat.table.variant], shown.statement
    (line,) = settle(variant, deal(shuffle(shown.seed, variant.decks)), stakes).lines
    asked = Asked(
        seat=seat.pk,
        round_id=seat.round_id,
        account=accounts.player_account(seat.player_id, Mode(seat.mode)),
        seed=shown.seed,
        cards=said.cards,
        outcome=said.outcome,
        bets=[line.bet],
        stakes=[line.stake],
        payouts=[line.payout],
        commissions=[line.commission],
        results=[str(line.result)],
        deal=said.number,
        epoch=said.epoch,
        key=said.key,
        signature=shown.signature,
        proof=shown.proof,
    )
    return asked, made.commitment
