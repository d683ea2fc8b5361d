"""Property test of the seamless wallet: balance and answers equal a model, and ledger and log are
complete.

Messages come in any order and any number of times.
"""

from dataclasses import asdict, dataclass, field
from io import StringIO
from typing import ClassVar

from django.core.management import call_command
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.audit import sealed
from tests.audit.signing import Pens
from tests.builders import a_player
from tests.harness.sweeps import examples
from tests.wallet.studios import Game, a_game, a_partner, broken
from wallet.ledger.accounts import balance
from wallet.models import Mode, Partner
from wallet.seamless_wallet import host, messages

MONEY = 1_000
names = st.sampled_from([f"t{number}" for number in range(8)])
rounds = st.sampled_from(["r1", "r2"])
stakes = st.sampled_from([1, 300, 700, 1_001])
wins = st.sampled_from([0, 1, 500])


@dataclass
class Row:
    """A transaction in the model."""

    asked: dict[str, object]
    round: str
    bet: int
    win: int
    is_rollback: bool
    answer: int  # the balance after it


@dataclass
class Book:
    """The model of a studio and a player."""

    balance: int = MONEY
    rows: dict[str, Row] = field(default_factory=dict)
    back: dict[str, Row] = field(default_factory=dict)  # by rolled-back transaction

    def accepted(self, of_round: str, without: str = "") -> list[Row]:
        return [
            row
            for name, row in self.rows.items()
            if row.round == of_round and not row.is_rollback and name not in self.back and name != without
        ]

    def move(self, asked: messages.Asked, bet: int, win: int) -> int | str:
        """Return the balance in the answer, or the code of a refusal."""
        if asked.transaction in self.rows:
            return self._again(asked)
        if asked.transaction in self.back:
            return "already-rolled-back"
        if not bet and not any(row.bet for row in self.accepted(asked.round)):
            return "no-bet"
        if bet > self.balance:
            return "insufficient-funds"
        self.balance += win - bet
        self.rows[asked.transaction] = Row(asdict(asked), asked.round, bet, win, False, self.balance)
        return self.balance

    def take_back(self, asked: messages.Rollback) -> int | str:
        """Return the balance in the answer to a rollback, or the code of a refusal."""
        if asked.transaction in self.rows:
            return self._again(asked)
        if asked.takes_back in self.back:
            row = self.back[asked.takes_back]
            return row.answer if row.round == asked.round else "cannot-take-back"
        taken = self.rows.get(asked.takes_back)
        if taken and taken.round != asked.round:
            return "cannot-take-back"
        if asked.transaction in self.back:
            return "already-rolled-back"
        if taken:
            if taken.is_rollback:
                return "cannot-take-back"
            others = self.accepted(taken.round, asked.takes_back)
            if taken.bet and any(row.win for row in others) and not any(row.bet for row in others):
                return "round-won"
            if self.balance + taken.bet - taken.win < 0:
                return "insufficient-funds"
            self.balance += taken.bet - taken.win
        row = Row(asdict(asked), asked.round, 0, 0, True, self.balance)
        self.rows[asked.transaction] = self.back[asked.takes_back] = row
        return self.balance

    def _again(self, asked: messages.Asked) -> int | str:
        row = self.rows[asked.transaction]
        return row.answer if row.asked == asdict(asked) else "transaction-conflict"


class StudioMachine(RuleBasedStateMachine):
    """One player at one studio."""

    partner: ClassVar[Partner]
    game: Game
    book: Book

    @initialize()
    def begin(self) -> None:
        self.game, self.book = a_game(a_player(real=MONEY), self.partner), Book()

    @rule(name=names, round_of=rounds, amount=stakes)
    def bet(self, name: str, round_of: str, amount: int) -> None:
        asked = self.game.a_bet(amount, transaction=self._name(name), round=round_of)
        self._hold(lambda: host.bet(self.partner, asked), self.book.move(asked, amount, 0))

    @rule(name=names, round_of=rounds, amount=wins)
    def win(self, name: str, round_of: str, amount: int) -> None:
        asked = self.game.a_win(amount, transaction=self._name(name), round=round_of)
        self._hold(lambda: host.win(self.partner, asked), self.book.move(asked, 0, amount))

    @rule(name=names, round_of=rounds, stake=stakes, won=wins)
    def both(self, name: str, round_of: str, stake: int, won: int) -> None:
        asked = self.game.both_at_once(stake, won, transaction=self._name(name), round=round_of)
        self._hold(lambda: host.bet_and_win(self.partner, asked), self.book.move(asked, stake, won))

    @rule(name=names, takes_back=names, round_of=rounds)
    def roll_back(self, name: str, takes_back: str, round_of: str) -> None:
        said = {"transaction": self._name(name), "round": round_of, "session": self.game.session}
        asked = self.game.a_rollback(self._name(takes_back), **said)
        self._hold(lambda: host.rollback(self.partner, asked), self.book.take_back(asked))

    @invariant()
    def has_what_the_model_says(self) -> None:
        assert balance(self.game.who.pk, Mode.REAL) == self.book.balance

    def _name(self, name: str) -> str:
        """Return a unique name, because all examples use one studio."""
        return f"{self.game.player}-{name}"

    def _hold(self, ask, due: int | str) -> None:
        try:
            came: int | str = ask().balance
        except host.Refused as refusal:
            came = refusal.code
        assert came == due


def test_a_studio_is_answered_as_the_model_says(cloned_db, tmp_path):
    StudioMachine.partner = a_partner()
    bounded = settings(
        max_examples=examples(1, 30),
        stateful_step_count=25,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(StudioMachine, settings=bounded)
    assert broken() == []
    pens, believed = Pens(), tmp_path / "keys"
    believed.write_text(pens.keys)
    sealed.sign(pens)
    call_command("verify_house", "--keys", str(believed), stdout=StringIO())
