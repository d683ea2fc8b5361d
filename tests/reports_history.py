"""A short history of a house in which money moves in every way there is, for tests of reports.

All of it goes through the product's own services, so that what is booked and what rounds and payments say agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from django.db import connection

from audit.reports.kinds import Asked, Interval
from games.models import LiveRound, Participation, Phase
from players.identity import verification
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_submission, a_table
from tests.chemin.at_table import a_chemin_table, a_staked_coup, answer, play_out, sit
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff
from tests.voiding import void_as_two_agree, void_unreproduced
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet import cashier, payouts, withdrawals
from wallet.ledger import purse
from wallet.models import Mode, Withdrawal
from wallet.payments.notifications import ask_about
from wallet.sandbox_bank.orders import Answer

PLENTY = 1_000_000  # minor units of a deposit


@dataclass(frozen=True)
class History:
    """An interval with events, the interval *before* it, and two players."""

    before: Interval
    interval: Interval
    swede: Player
    romanian: Player


def make() -> History:
    """Create events in two successive intervals."""
    begin = clock()
    swede, romanian = a_depositor("SE"), a_depositor("RO")
    tables = Tables()
    since = clock()
    _live(swede, romanian, tables)
    _solo(swede, romanian, tables)
    _players(tables)
    _payments(swede)
    _shortfall(tables)
    return History(Interval(begin, since), Interval(since, clock()), swede, romanian)


class Tables:
    """One of each shape."""

    def __init__(self) -> None:
        self.solo, self.golden = a_table(), a_golden_table()
        self.live = a_live_table()
        self.seated_players, self.bank = a_chemin_table(), a_chemin_table(slug="bank")


def a_depositor(jurisdiction: str, amount: int = PLENTY) -> Player:
    """A player known to be who they are, who has paid *amount* in."""
    player = a_player(jurisdiction)
    verification.verify(submission_id=a_submission(player).pk, by=a_member_of_staff("compliance"))
    deposit(player, amount)
    return player


def deposit(player: Player, amount: int, said: Answer = Answer.APPROVE) -> None:
    """A deposit that the bank decides on."""
    payment = a_payment(player, amount)
    at_the_bank(payment, said)
    ask_about(payment.pk)


def paid_out(withdrawal: Withdrawal) -> None:
    """Have it approved, sent, and paid by the bank."""
    approve(withdrawal)
    withdrawals.send(withdrawal.pk, provider="test")
    word = payouts.BankAnswer(withdrawal.reference, "paid", withdrawal.amount, withdrawal.currency, "BANK-1")
    payouts.hear(word, provider="test", path="callback", raw=b"raw")


def clock() -> datetime:
    """Return the time of the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now.astimezone(UTC)


def moment(cell: object) -> datetime:
    """Return a cell of a report that is a moment."""
    return datetime.fromisoformat(str(cell))


def ask(interval: Interval, **choices: str) -> Asked:
    """Return a report of an interval, in days of Stockholm."""
    return Asked(interval, choices, "Europe/Stockholm")


def _solo(swede: Player, romanian: Player, tables: Tables) -> None:
    for player, chip in ((swede, 1000), (romanian, 500)):
        for _ in range(3):
            a_round(player, tables.solo, player=10_000, banker=10_000, tie=chip)
    cashier.top_up_free(player=swede, key=uuid4())
    a_round(swede, tables.solo, Mode.FREE, player=1000)
    a_purse(swede, 50_000)
    a_round(swede, tables.golden, banker=1000)
    purse.leave(player=swede, mode=Mode.REAL, key=uuid4())
    voided = a_round(swede, tables.solo, player=5000)
    void_unreproduced(voided.round_id)


def _live(swede: Player, romanian: Player, tables: Tables) -> None:
    """A round that is settled, one voided after that, one voided before, and one in which stakes still lie."""
    endings: tuple[Callable[[], object], ...] = (
        lambda: advance_to(tables.live, Phase.SETTLED),
        lambda: _void(advance_to(tables.live, Phase.SETTLED)),
        lambda: _void(round_at(tables.live)),
        lambda: advance_to(tables.live, Phase.CLOSED),
    )
    for end in endings:
        if round_at(tables.live).phase != Phase.BETTING:
            advance_to(tables.live, Phase.BETTING)
        bet(swede, tables.live, player=5000)
        bet(romanian, tables.live, banker=2000)
        end()


def _void(live_round: LiveRound) -> None:
    void_as_two_agree(live_round.pk)


def _players(tables: Tables) -> None:
    """A coup that is settled, taxed where the bank wins, and a bank that nobody has staked against."""
    for place in (1, 2, 3):
        sit(a_depositor("SE"), tables.seated_players, place)
    banker, _punter = a_staked_coup(tables.seated_players)
    answer(banker, tables.seated_players, "deal_cards")
    play_out(tables.seated_players)
    banker = a_depositor("SE")
    sit(banker, tables.bank, 1)
    sit(a_depositor("SE"), tables.bank, 2)
    answer(banker, tables.bank, "take_bank", 10_000)


def _payments(player: Player) -> None:
    """Deposits credited, declined and not decided; withdrawals paid, refused, and waiting."""
    deposit(player, 30_000)
    deposit(player, 40_000, Answer.DECLINE)
    a_payment(player, 10_000)
    paid_out(a_withdrawal(player, 20_000))
    staff = a_member_of_staff("finance")
    withdrawals.refuse(withdrawal_id=a_withdrawal(player, 15_000).pk, by=str(staff), code="identity", note="for a test")
    a_withdrawal(player, 12_000)


def _shortfall(tables: Tables) -> None:
    """A round that was won, the money asked for, and the round voided after that."""
    player = a_depositor("SE", 100_000)
    while True:
        played = a_round(player, tables.solo, player=5000)
        part = Participation.objects.get(round_id=played.round_id)
        if part.paid > part.staked:
            break
    a_withdrawal(player, balance(player))
    void_unreproduced(part.round_id)
