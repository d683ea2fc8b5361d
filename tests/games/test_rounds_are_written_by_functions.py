"""A solo round is finished by one function of the database, which believes nothing that it can look up.

Each attack runs as the login role of web and workers. It is refused, and it succeeds once the owner
has taken the guard away.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hmac import digest
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.log import canonical
from audit.models import Event
from games import deals
from games.dealer.keys import proof_key
from games.engine.commitments import Binding, Purpose, Statement, digest_of_entropy, digest_of_stakes
from games.engine.coup import Outcome
from games.engine.settle import settle
from games.errors import CommitmentSpent
from games.models import HighestOdds, Participation, Round, SoloSeat, Wager
from games.rounds import FINISH
from games.rounds.database_refusals import (
    NotCommitted,
    NotDealt,
    NotTaken,
    WrongSeed,
    WrongWagers,
    round_refusals,
)
from games.solo import play_round, seats
from games.tables.status import close_table, pause_table
from games.variants import VARIANTS
from players.account import terms
from tests.builders import a_player, a_round, a_seat, a_shared_table, a_table
from tests.harness.owner import OwnerWithin
from tests.harness.rows_written import rows_written, triggers_called
from tests.people import events
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
STAKE = 1_000


@dataclass(frozen=True)
class Asked:
    """The arguments of ``games_finish_solo_round``, as the product gives them unless changed.

    The proof is one of the dealer for exactly these arguments unless given: the other guards hold even
    if a dealer proves any deal it is asked for.
    """

    seat: int
    round_id: UUID
    account: int
    seed: bytes
    cards: str
    outcome: str
    bets: list[str]
    stakes: list[int]
    payouts: list[int]
    commissions: list[int]
    results: list[str]
    deal: int = 1
    epoch: str = "e" * 32
    key: str = "d" * 64
    value: str = ""
    signature: bytes = b"signature"
    proof: bytes | None = None
    next_round: UUID = field(default_factory=uuid4)
    next_commitment: str = "a" * 64
    next_seed: bytes = b"sealed"
    session: UUID | None = None
    terms: str = terms.VERSION

    def send(self, session: UUID | None = None) -> int:
        """Call the function as the login role and return the balance afterwards."""
        proof = digest(dealer_key(), self.statement.encode(), "sha256") if self.proof is None else self.proof
        values: list[Any] = [
            *(
                self.seat,
                self.round_id,
                uuid4().hex[:14],
                self.account,
                self.seed,
                self.value,
                self.cards,
                self.outcome,
            ),
            *(self.key, self.epoch, self.deal, self.signature, proof),
            *(self.bets, self.stakes, self.payouts, self.commissions, self.results, session or self.session),
            *(self.next_round, self.next_commitment, self.next_seed, "{}", "{}", self.terms, 60),
        ]
        with transaction.atomic(), round_refusals(), ledger.refusals(), connection.cursor() as cursor:
            cursor.execute(FINISH, values)
            balance: int = cursor.fetchone()[0]
        return balance

    @property
    def statement(self) -> str:
        """The statement about the deal that the dealer proves."""
        seat = SoloSeat.objects.select_related("table").get(pk=self.seat)
        variant = VARIANTS[seat.table.variant]
        binding = Binding(Purpose.SOLO, str(self.round_id), seat.table_id, variant.decks, variant.digest)
        stakes = {bet: stake for bet, stake in zip(self.bets, self.stakes, strict=True) if stake is not None}
        return Statement(
            self.key,
            self.epoch,
            self.deal,
            binding,
            seat.commitment,
            digest_of_entropy(self.value),
            digest_of_stakes(stakes),
            self.cards,
            self.outcome,
        ).proof_text(self.signature)


def dealer_key() -> bytes:
    """Return the key of the dealer's proofs, which only the dealer and the owner of the database have."""
    return proof_key(settings.DEALER_PROOF_KEY)


def as_played(seat: SoloSeat, value: str = "", **bets: int) -> Asked:
    """Return the arguments with which the product would finish the round of a seat, with the dealer's own proof."""
    variant = VARIANTS[seat.table.variant]
    dealt = deals.deal(
        Purpose.SOLO,
        seats.committed(seat),
        table_id=seat.table_id,
        variant=variant,
        player_value=value,
        stakes=bets,
    )
    lines = settle(variant, dealt.coup, bets).lines
    return Asked(
        seat=seat.pk,
        round_id=seat.round_id,
        account=accounts.player_account(seat.player_id, Mode(seat.mode)),
        seed=dealt.answer.seed,
        cards=dealt.answer.cards,
        outcome=dealt.answer.outcome,
        deal=dealt.answer.deal,
        signature=dealt.answer.signature,
        epoch=dealt.answer.epoch,
        key=dealt.answer.key,
        value=value,
        bets=[line.bet for line in lines],
        stakes=[line.stake for line in lines],
        payouts=[line.payout for line in lines],
        commissions=[line.commission for line in lines],
        results=[str(line.result) for line in lines],
    )


def weaken(owner: psycopg.Connection | OwnerWithin, function: str, *changes: tuple[str, str]) -> None:
    """Replace parts of a function of the database, as its owner could."""
    ((text,),) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchall()
    for old, new in changes:
        assert old in text, f"{function} has no {old}"
        text = text.replace(old, new)
    owner.execute(text)


def without_refusal(owner: psycopg.Connection | OwnerWithin, function: str, state: str) -> None:
    """Let a function continue where it would raise this SQLSTATE."""
    ((text,),) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchall()
    text, number = re.subn(rf"RAISE EXCEPTION [^;]*?ERRCODE = '{state}'[^;]*;", "NULL;", text)
    assert number, f"{function} does not raise {state}"
    owner.execute(text)


FUNCTION = "games_finish_solo_round"


def another(seat: SoloSeat) -> deals.Commitment:
    """Return a commitment of the dealer to another round of a seat."""
    return deals.commit(Purpose.SOLO, seat.table_id, VARIANTS[seat.table.variant])


@contextmanager
def demand_refusal(
    error: type[Exception] | tuple[type[Exception], ...], what: object, *, match: str | None = None
) -> Iterator[None]:
    """Demand the *error*; a failure names *what* did not raise it."""
    try:
        with pytest.raises(error, match=match):
            yield
    except BaseException as fault:
        fault.add_note(f"by {what}")
        raise


@pytest.fixture
def seat() -> SoloSeat:
    return a_seat(a_player(real=MONEY), a_table(), player=STAKE)


def balance(seat: SoloSeat) -> int:
    return accounts.balance(seat.player_id, Mode.REAL)


def test_the_arguments_of_the_product_are_accepted(seat):
    asked = as_played(seat, player=STAKE, tie=STAKE)
    variant = VARIANTS[seat.table.variant]
    after = asked.send()
    assert after == balance(seat) == MONEY - 2 * STAKE + sum(asked.payouts)
    kept = Participation.objects.get()
    assert (kept.round_id, kept.balance_before, kept.balance_after) == (asked.round_id, MONEY, after)
    assert kept.round.seed
    binding = Binding(Purpose.SOLO, str(asked.round_id), seat.table_id, variant.decks, variant.digest)
    assert kept.round.commitment == binding.commitment(bytes(kept.round.seed))
    (event,) = events("round.settled")
    assert event["data"]["balance_before"] == MONEY
    assert [wager["bet"] for wager in event["data"]["wagers"]] == asked.bets


def test_the_event_is_the_one_that_python_would_write():
    """The function writes canonical JSON, with text of the player in it."""
    seat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    value = 'Ä"\\ \t\x07\x7f🂡'
    as_played(seat, value, player=STAKE).send(uuid4())
    stored = bytes(Event.objects.get(kind="round.settled").body).decode()
    assert canonical(json.loads(stored)) == stored
    assert json.loads(stored)["data"]["player_value"] == value


class TestIsRefused:
    def test_a_stake_of_one_settled_with_a_thousand_under_an_invented_round(self, seat, owner):
        invented = replace(as_played(seat, player=STAKE), round_id=uuid4())
        with pytest.raises(NotCommitted):
            invented.send()
        assert balance(seat) == MONEY
        assert not Round.objects.exists()
        weaken(owner, FUNCTION, (" AND s.round_id = round", ""))
        with pytest.raises(WrongSeed):
            invented.send()
        without_refusal(owner, FUNCTION, "SB061")
        invented.send()
        assert Round.objects.get().pk == invented.round_id

    def test_a_round_that_another_player_is_committed_to(self, seat):
        other = a_seat(a_player(real=MONEY), seat.table, player=STAKE)
        with pytest.raises(NotCommitted):
            replace(as_played(seat, player=STAKE), account=as_played(other, player=STAKE).account).send()

    def test_a_payout_above_the_paytable(self, seat, owner):
        asked = as_played(seat, player=STAKE)
        rich = replace(asked, payouts=[1_000 * STAKE], results=["win"], commissions=[0])
        with pytest.raises(WrongWagers):
            rich.send()
        assert balance(seat) == MONEY
        without_refusal(owner, FUNCTION, "SB063")
        assert rich.send() == MONEY + 999 * STAKE

    def test_a_bet_that_is_named_twice(self, seat, owner):
        asked = as_played(seat, player=STAKE)
        twice = {name: 2 * getattr(asked, name) for name in ("bets", "stakes", "payouts", "commissions", "results")}
        with pytest.raises(NotDealt):  # a dealer deals each bet once
            replace(asked, **twice).send()
        without_refusal(owner, FUNCTION, "SB066")
        with pytest.raises(WrongWagers):
            replace(asked, **twice).send()
        assert balance(seat) == MONEY
        weaken(owner, FUNCTION, ("count(DISTINCT w.bet) = count(*) AND ", ""))
        replace(asked, **twice).send()
        assert list(Wager.objects.values_list("bet", "stake")) == 2 * [("player", STAKE)]

    @pytest.mark.parametrize(("outcome", "lost"), [("banker", "player"), ("player", "banker")])
    def test_even_odds_on_a_bet_that_always_loses_on_the_outcome(self, seat, owner, outcome, lost):
        played = as_played(seat, player=STAKE)
        asked = replace(played, outcome=outcome, bets=[lost], payouts=[2 * STAKE], commissions=[0], results=["win"])
        with pytest.raises(WrongWagers):
            asked.send()
        owner.execute("UPDATE games_highestodds SET win = 1, per = 1")
        assert asked.send() == MONEY + STAKE

    def test_a_seed_that_was_not_committed_to(self, seat, owner):
        asked = replace(as_played(seat, player=STAKE), seed=b"s" * 32)
        with pytest.raises(WrongSeed):
            asked.send()
        assert balance(seat) == MONEY
        without_refusal(owner, FUNCTION, "SB061")
        asked.send()
        assert bytes(Round.objects.get().seed or b"") == b"s" * 32

    def test_a_stake_outside_of_the_limits_of_the_table(self, seat):
        asked = replace(as_played(seat, player=STAKE), payouts=[0], results=["lose"], commissions=[0])
        for stake in (-STAKE, 0, 1, STAKE + 1, 10**9):
            with demand_refusal(WrongWagers, stake):
                replace(asked, stakes=[stake]).send()
        assert balance(seat) == MONEY

    def test_what_does_not_follow_from_the_rules(self, seat):
        asked = as_played(seat, player=STAKE)
        change: dict[str, Any]
        for change in (
            {"bets": ["dragon"], "payouts": [0], "results": ["lose"]},
            {"bets": [], "stakes": [], "payouts": [], "commissions": [], "results": []},
            {"payouts": [STAKE], "results": ["lose"]},
            {"payouts": [0], "results": ["win"]},
            {"payouts": [None]},
            {"stakes": [None]},
            {"commissions": [-5]},
        ):
            with demand_refusal((WrongWagers, NotDealt), change):  # nobody can prove a round without a stake
                replace(asked, **change).send()
        assert balance(seat) == MONEY

    @pytest.mark.parametrize("shut", [close_table, pause_table], ids=["closed", "paused"])
    def test_a_round_at_a_table_that_is_not_open(self, seat, owner, shut: Callable[..., Any]):
        shut(table_id=seat.table_id, reason="for a test", by="staff:1")
        asked = as_played(seat, player=STAKE)
        with pytest.raises(NotTaken):
            asked.send()
        without_refusal(owner, FUNCTION, "SB062")
        asked.send()

    def test_the_same_round_again(self, seat):
        asked = as_played(seat, player=STAKE)
        after = asked.send()
        with pytest.raises(NotCommitted):
            asked.send()
        assert balance(seat) == after

    def test_a_next_round_without_a_commitment(self, seat):
        for change in ({"next_commitment": "x"}, {"next_seed": b""}, {"next_round": seat.round_id}):
            with pytest.raises(NotCommitted):
                replace(as_played(seat, player=STAKE), **change).send()


class TestIsNotDealt:
    """The cards of a round are those that the dealer has dealt, for exactly this round."""

    @pytest.fixture
    def played(self, seat: SoloSeat) -> Asked:
        asked = as_played(seat, "mine", player=STAKE)
        return replace(asked, proof=digest(dealer_key(), asked.statement.encode(), "sha256"))

    def test_with_anything_else_than_the_dealer_said(self, seat, owner, played):
        lost = replace(played, payouts=[0], results=["lose"], commissions=[0])
        with demand_refusal(NotDealt, "without a number"):
            replace(lost, deal=None).send()
        others = [
            replace(lost, **change)
            for change in (
                {"cards": "9H 4D KS 2C"},
                {"value": "another"},
                {"stakes": [2 * STAKE]},
                {"bets": ["banker"]},
                {"deal": 77},
                {"epoch": "f" * 32},
                {"key": "0" * 64},
                {"proof": b""},
                {"proof": b"p" * 32},
                {"signature": b"s" * 64},
            )
        ]
        for other in others:
            with demand_refusal(NotDealt, other):
                other.send()
        assert balance(seat) == MONEY
        assert not events("dealer.started")
        without_refusal(owner, FUNCTION, "SB066")
        for other in others:
            with transaction.atomic():
                other.send()
                assert Round.objects.get().cards == other.cards
                transaction.set_rollback(True)

    def test_with_another_outcome(self, played):
        outcome = next(each for each in Outcome if each != played.outcome)
        with pytest.raises(NotDealt):
            replace(played, outcome=str(outcome)).send()

    def test_with_the_proof_of_the_round_before(self, seat, played):
        following = another(seat)
        committed = {"next_round": following.round_id, "next_commitment": following.commitment}
        replace(played, next_seed=following.sealed, **committed).send()
        current = as_played(SoloSeat.objects.select_related("table").get(pk=seat.pk), player=STAKE)
        as_before = {"cards": played.cards, "outcome": played.outcome, "payouts": [0], "results": ["lose"]}
        for proof in (played.proof, b""):
            with pytest.raises(NotDealt):
                replace(current, proof=proof, deal=played.deal, **as_before).send()
        assert current.send()

    def test_at_another_table(self, seat, played):
        there = a_seat(seat.player, a_table(slug="other"), player=STAKE)
        asked = as_played(there, "mine", player=STAKE)
        with pytest.raises(NotDealt):
            replace(asked, proof=played.proof).send()
        with pytest.raises(WrongSeed):
            replace(asked, seed=played.seed).send()

    def test_by_anybody_who_only_reads_the_database(self, owner):
        read = "SELECT inner_pad FROM games_dealer_key"
        with connection.cursor() as web:
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                web.execute(read)
            owner.execute("GRANT SELECT ON games_dealer_key TO sabot_app")
            web.execute(read)
            assert web.fetchall()

    def test_after_the_cards_are_known_for_other_bets(self, seat, played):
        with pytest.raises(CommitmentSpent) as refused:
            as_played(seat, "mine", banker=STAKE)
        assert refused.value.reason == "dealt"
        assert as_played(seat, "mine", player=STAKE).cards == played.cards


class TestASeat:
    """A commitment that was shown is never replaced, unless the event log says so and why."""

    def renewal(self, seat: SoloSeat, reason: Any = "dealt", **changes: Any) -> list[Any]:
        """Return the arguments of `seats.RENEW` for a round that was dealt for other stakes."""
        as_played(seat, player=STAKE)
        with pytest.raises(CommitmentSpent) as refused:
            as_played(seat, tie=STAKE)
        new = another(seat)
        values = {"seat": seat.pk, "spent": seat.round_id, "reason": reason, "proof": refused.value.proof}
        to_another = {"round": new.round_id, "commitment": new.commitment, "sealed": new.sealed, "rules": new.rules}
        return list((values | to_another | changes).values())

    def renew(self, values: list[Any]) -> bool:
        with transaction.atomic(), round_refusals(), connection.cursor() as cursor:
            cursor.execute(seats.RENEW, values)
            (is_new,) = cursor.fetchone()
        return bool(is_new)

    def test_is_committed_again_with_a_reason_in_the_log(self, seat):
        values = self.renewal(seat)
        assert [self.renew(values) for _ in range(2)] == [True, False]
        *_, said = events("seat.committed")
        now = SoloSeat.objects.get(pk=seat.pk)
        assert said["data"] == {
            "commitment": now.commitment,
            "mode": "R",
            "reason": "dealt",
            "rules": now.rules_digest,
            "spent": str(seat.round_id),
            "table": seat.table_id,
        }
        assert (now.slip, now.commitment == seat.commitment) == ({"player": STAKE}, False)

    def test_is_not_committed_again_while_the_dealer_would_deal_its_round(self, seat):
        for changes, error in (
            ({"reason": "because"}, NotCommitted),
            ({"reason": None}, NotCommitted),
            ({"reason": "rules"}, NotCommitted),
            ({"reason": "restored"}, NotCommitted),
            ({"reason": "expired"}, NotDealt),
            ({"proof": b""}, NotDealt),
            ({"proof": None}, NotDealt),
            ({"commitment": "x"}, NotCommitted),
            ({"sealed": b""}, NotCommitted),
            ({"round": None}, NotCommitted),
            ({"rules": "0" * 64}, NotCommitted),
        ):
            values = self.renewal(seat, **changes)
            with demand_refusal(error, changes):
                self.renew(values)
            assert SoloSeat.objects.get(pk=seat.pk).commitment == seat.commitment

    def test_is_not_committed_again_with_the_refusal_of_another_seat(self, seat, owner):
        other = a_seat(a_player(real=MONEY), seat.table, player=STAKE)
        of_other = self.renewal(other)
        mine = [seat.pk, seat.round_id, *of_other[2:]]
        with pytest.raises(NotDealt):
            self.renew(mine)
        without_refusal(owner, "games_renew_solo_seat", "SB066")
        assert self.renew(mine)

    def test_first_commitment_is_in_the_log_and_so_is_every_next_one(self, seat, dealer):
        (taken,) = events("seat.committed")
        assert (taken["on"], taken["data"]["commitment"]) == (f"round:{seat.round_id}", seat.commitment)
        assert (taken["data"]["reason"], taken["data"]["spent"]) == ("taken", None)
        as_played(seat, player=STAKE).send()
        following = SoloSeat.objects.get(pk=seat.pk)
        (settled,) = events("round.settled")
        assert settled["data"]["next"] == {"commitment": following.commitment, "round": str(following.round_id)}
        assert settled["data"]["follows"] is None
        (started,) = events("dealer.started")
        assert started["data"] == {"epoch": dealer.epoch, "key": dealer.key}
        assert settled["data"]["dealer"]["epoch"] == dealer.epoch

    def test_keeps_what_it_is_committed_to(self, seat, owner):
        new = another(seat)
        values: dict[str, Any] = {
            "commitment": new.commitment,
            "sealed_seed": new.sealed,
            "round_id": new.round_id,
            "mode": "F",
        }
        values |= {"player_id": seat.player_id, "table_id": seat.table_id}
        with connection.cursor() as web:
            for column, value in values.items():
                change = f"UPDATE games_soloseat SET {column} = %s WHERE id = %s"
                with demand_refusal(ProgrammingError, column, match="permission denied"), transaction.atomic():
                    web.execute(change, [value, seat.pk])
                owner.execute(f"GRANT UPDATE ({column}) ON games_soloseat TO sabot_app")
                web.execute(change, [value, seat.pk])
                assert web.rowcount == 1, column

    def test_is_not_committed_again_by_being_taken_again(self, seat, owner):
        new = another(seat)
        values = [seat.player_id, seat.table_id, seat.mode, new.round_id, new.commitment, new.sealed, new.rules]
        with connection.cursor() as cursor:
            cursor.execute(seats.TAKE, values)
            assert SoloSeat.objects.get(pk=seat.pk).commitment == seat.commitment
            again = "ON CONSTRAINT games_soloseat_player_table DO UPDATE SET commitment = excluded.commitment"
            weaken(owner, "games_take_solo_seat", ("CONFLICT DO NOTHING", f"CONFLICT {again}"))
            cursor.execute(seats.TAKE, values)
        assert SoloSeat.objects.get(pk=seat.pk).commitment == new.commitment

    def test_is_taken_at_a_solo_table_only(self):
        player, table = a_player(real=MONEY), a_shared_table()
        values: list[Any] = [player.pk, table.pk, "R", uuid4(), "a" * 64, b"sealed", "b" * 64]
        with pytest.raises(NotTaken), transaction.atomic(), round_refusals(), connection.cursor() as cursor:
            cursor.execute(seats.TAKE, values)
        assert not SoloSeat.objects.filter(player=player).exists()


def test_the_highest_odds_of_every_installed_bet_are_stored():
    stored = {(odds.rules_digest, odds.bet, odds.outcome): (odds.win, odds.per) for odds in HighestOdds.objects.all()}
    for variant in VARIANTS.values():
        assert {(variant.digest, bet.code, outcome) for bet in variant.bets for outcome in Outcome} <= stored.keys()
    baccarat = VARIANTS["baccarat"].digest
    assert stored[baccarat, "tie", "tie"] == (8, 1)
    assert stored[baccarat, "player", "tie"] == (0, 1)
    assert stored[baccarat, "player", "banker"] == (-1, 1)
    assert stored[baccarat, "banker", "banker"] == (19, 20)


WRITTEN_BY_GAMES = {
    "audit_event": 1,
    "audit_pending": 1,
    "games_participation": 1,
    "games_verificationdue": 1,
    "games_round": 1,
    "games_soloseat": 2,  # that the player may play, and the next round
    "players_playtime": 1,
}
WRITTEN_BY_THE_LEDGER = {
    "wallet_account": 1,
    "wallet_day": 1,
    "wallet_entry": 5,  # four if the player wins nothing
    "wallet_journal": 2,
}


TRIGGERS_OF_A_ROUND = {"wallet_refuse_other_writers": 5}  # one for each statement that writes the ledger


def test_the_budget_of_a_solo_round():
    """Statements that the product sends, and rows that PostgreSQL writes, for one bet; more rows are a regression."""
    player, table = a_player(real=MONEY), a_table()
    a_round(player, table, player=STAKE)  # the first round of a day inserts totals that later ones update
    seat, before = a_seat(player, table, player=STAKE), rows_written()
    triggers = triggers_called()
    with CaptureQueriesContext(connection) as sent:
        play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
        )
    assert [query["sql"].split()[0] for query in sent if "SAVEPOINT" not in query["sql"]] == ["SELECT", "SELECT"]
    assert triggers_called() - triggers == TRIGGERS_OF_A_ROUND
    written = rows_written() - before
    assert {table: rows for table, rows in written.items() if not table.startswith("wallet_")} == WRITTEN_BY_GAMES
    assert written <= Counter(WRITTEN_BY_GAMES | WRITTEN_BY_THE_LEDGER)
