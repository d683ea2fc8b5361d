"""Partners of the seamless wallet and calls of their games, for tests."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from uuid import uuid4

from audit import approvals
from audit.models import Approval, Decision
from players.models import Player, Session, Staff
from tests.people import a_member_of_staff
from tests.wallet import wholeness
from wallet.models import Mode, Partner, PartnerKey, PartnerKind
from wallet.seamless_wallet import host, messages, partners, signing

_numbers = count(1)


def ask_for_partner(kind: PartnerKind = PartnerKind.STUDIO, *, by: Staff | None = None, **said: Any) -> Approval:
    """Request a partner."""
    code = f"partner-{uuid4().hex[:8]}"
    usual: dict[str, Any] = {"address": "https://games.example/", "code": code, "name": "Old Oak", "per_minute": 6000}
    finance = by or a_member_of_staff("finance")
    return partners.ask_to_add(kind=kind, reason="a contract", by=finance, **(usual | said))


def decide(asked: Approval, *, yes: bool = True, by: Staff | None = None) -> Decision:
    """Decide a request about a partner."""
    staff = by or a_member_of_staff("supervisor")
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(staff), person=staff.person, reason="read it", may=staff.user.has_perm
    )


def a_partner(kind: PartnerKind = PartnerKind.STUDIO, *, by: Staff | None = None, **said: Any) -> Partner:
    """Return an approved partner with one key."""
    asked = ask_for_partner(kind, by=by, **said)
    decide(asked)
    return Partner.objects.get(approval=asked)


def another_key(partner: Partner) -> PartnerKey:
    """Return a second key of a partner."""
    asked = partners.ask_for_key(partner=partner, reason="once a year", by=a_member_of_staff("finance"))
    decide(asked)
    return PartnerKey.objects.get(approval=asked)


def secret(partner: Partner) -> tuple[str, str]:
    """Return the name and the secret of a partner's newest key."""
    key = partner.keys.filter(ended_at=None).latest("pk")
    return key.name, signing.secret_of(key)


def a_log_in(player: Player) -> Session:
    """Return an open session of a player."""
    return Session.objects.create(id=uuid4(), user=player.user, ip="10.0.0.1", browser="a program")


@dataclass(frozen=True)
class Game:
    """A studio's game in a session, and its calls."""

    partner: Partner
    who: Player
    player: str
    session: str
    log_in: Session

    @property
    def now(self) -> int:
        """Return the player's available balance as the studio gets it."""
        return host.balance(self.partner, messages.BalanceAsked(self.player, self.session)).balance

    def bet(self, amount: int, **said: Any) -> messages.Done:
        return host.bet(self.partner, self.a_bet(amount, **said))

    def win(self, amount: int, **said: Any) -> messages.Done:
        return host.win(self.partner, self.a_win(amount, **said))

    def roll_back(self, takes_back: str, **said: Any) -> messages.Done:
        return host.rollback(self.partner, self.a_rollback(takes_back, **said))

    def both(self, bet: int, win: int, **said: Any) -> messages.Done:
        return host.bet_and_win(self.partner, self.both_at_once(bet, win, **said))

    def a_bet(self, amount: int, **said: Any) -> messages.Bet:
        return replace(messages.Bet(**self._said(), amount=amount, session=self.session), **said)

    def a_win(self, amount: int, **said: Any) -> messages.Win:
        return replace(messages.Win(**self._said(), amount=amount), **said)

    def a_rollback(self, takes_back: str, **said: Any) -> messages.Rollback:
        return replace(messages.Rollback(**self._said(), takes_back=takes_back), **said)

    def both_at_once(self, bet: int, win: int, **said: Any) -> messages.BetAndWin:
        return replace(messages.BetAndWin(**self._said(), bet=bet, win=win, session=self.session), **said)

    def _said(self) -> dict[str, str]:
        return {
            "player": self.player,
            "game": "roulette",
            "round": "r1",
            "transaction": f"t{next(_numbers)}",
            "currency": self.who.currency,
        }


def a_game(player: Player, partner: Partner | None = None, *, mode: Mode = Mode.REAL) -> Game:
    """Return a game session that a player has opened."""
    studio, log_in = partner or a_partner(), a_log_in(player)
    opened = partners.open_session(player=player, studio=studio, mode=mode, session=log_in.pk)
    return Game(studio, player, opened.player, opened.token, log_in)


def broken() -> list[tuple[str, tuple[str, ...]]]:
    """Return the violated invariants of the ledger with their rows."""
    return [(check.invariant.name, check.rows) for check in wholeness.checks() if check.rows]
