"""An operator with players who play here, in tests: the reference host, its partner row, and visits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from uuid import UUID, uuid4

from django.db.models.functions import Now

from audit import approvals
from games.models import Table
from games.solo import Click, Played, add_chip, open_table, solo_seat_at
from games.solo.operator_money import play, refresh_operator_balance
from players.models import Player, Session
from tests.harness.reference_host import Host, reference_host
from tests.people import a_member_of_staff
from wallet.models import Mode, OperatorLaunch, OperatorMessage, Partner, PartnerKey, PartnerKind
from wallet.operator_wallet import operators, queue
from wallet.seamless_wallet import partners, signing

MONEY = 100_000
BORN = date(1990, 5, 1)


@dataclass
class Operator:
    """The house's side of an operator, and the operator itself."""

    partner: Partner
    host: Host

    def doubt(self, table: Table) -> OperatorMessage:
        """Return a win that the operator refuses."""
        visitor = self.visit()
        visitor.plays(table, banker=5_000)
        self.host.refuse("win", "no-bet")
        queue.send_due()
        return OperatorMessage.objects.get(bet__player=visitor.player)

    def visit(self, name: str = "", *, money: int = MONEY, game: str = "baccarat") -> "Visitor":
        """Return a player of the operator with a session of ours, as the page of an address would begin it."""
        name, token = name or f"p-{uuid4().hex[:8]}", f"s-{uuid4().hex}"
        self.host.balances.setdefault(name, money)
        self.host.sessions.add(token)
        announced = operators.announce(self.partner, a_visit(name, token, game=game, currency=self.host.currency))
        launch = operators.use(announced.code)
        assert launch
        player = launch.operator_player.player
        session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
        operators.begin(launch, session.pk)
        return Visitor(player, name, session.pk, launch)


@dataclass
class Visitor:
    """A player of an operator's, who is here."""

    player: Player
    name: str  # at the operator
    session: UUID
    launch: OperatorLaunch

    def click(self, table: Table, **bets: int) -> Click:
        """DEAL with one chip on each bet named."""
        refresh_operator_balance(self.player, Mode.REAL, self.session)
        open_table(player=self.player, table_id=table.pk, mode=Mode.REAL)
        for bet, chip in bets.items():
            add_chip(player=self.player, table_id=table.pk, mode=Mode.REAL, bet=bet, chip=chip)
        seat = solo_seat_at(player=self.player, table_id=table.pk, mode=Mode.REAL)
        return Click(self.player, table.pk, Mode.REAL, seat.round_id, seat.slip_version, session=self.session)

    def plays(self, table: Table, **bets: int) -> Played:
        """Return a round with one chip on each bet named."""
        return play(self.click(table, **bets))


def a_visit(name: str, token: str, *, game: str = "baccarat", currency: str = "SEK") -> operators.Visit:
    """Return the data that an operator sends about a visit."""
    return operators.Visit(
        player=name, session=token, currency=currency, jurisdiction="SE", language="sv", birth_date=BORN, game=game
    )


def a_partner(address: str, *, kind: PartnerKind = PartnerKind.OPERATOR) -> Partner:
    """A partner approved by two people."""
    code = f"op-{uuid4().hex[:8]}"
    asked = partners.ask_to_add(
        code=code,
        name="An operator",
        kind=kind,
        address=address,
        per_minute=1000,
        reason="for a test",
        by=a_member_of_staff("finance", factor=False),
    )
    second = a_member_of_staff("supervisor", factor=False)
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="seen", may=lambda permission: True
    )
    return Partner.objects.get(code=code)


@contextmanager
def an_operator(*, currency: str = "SEK") -> Iterator[Operator]:
    """An operator that runs until the block ends."""
    with reference_host("", "", currency=currency) as host:
        partner = a_partner(host.address)
        key = PartnerKey.objects.get(partner=partner)
        host.key, host.secret = key.name, signing.secret_of(key)
        yield Operator(partner, host)


def make_due() -> None:
    """Let everything that waits be due now."""
    OperatorMessage.objects.filter(state="waiting").update(due_at=Now())
