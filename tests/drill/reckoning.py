"""What must be true when a round is over, whatever died in it: worked out from the clicks that players remember and the
cards that the seeds of the shoes deal, and compared with what the house has stored.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import Sum

from audit.models import Event
from games.engine.coup import Coup
from games.engine.dealing import coups
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.live import shoes
from games.models import Incident, LiveRound, LiveTable, Participation, Phase, Round, Shoe, Void, Wager
from games.variants import VARIANTS
from tests.drill.bettors import Bettor
from wallet import verify
from wallet.models import Account, AccountKind, Entry, Hold, Journal

NOTHING: Mapping[str, int] = {}


class Reckoning:
    """The books of one table and its players, from a moment when nobody had bet yet."""

    def __init__(self, live_table: LiveTable, accounts: Mapping[int, int]) -> None:
        self._live_table = live_table
        self._accounts = accounts  # player -> account
        self._began_with = self._balances()
        self._coups: dict[UUID, tuple[Coup, ...]] = {}

    def faults(self, bettors: Iterable[Bettor]) -> list[str]:
        """Say what is wrong while nothing lies on the table: nothing, always."""
        expected = dict(self._began_with)
        found = []
        for live_round in LiveRound.objects.filter(live_table=self._live_table).select_related("shoe"):
            for bettor in bettors:
                told = bettor.told.get(live_round.pk)
                stakes = _stakes(live_round.pk, bettor.player_id)
                if stakes not in (told.stakes() if told else [NOTHING]):
                    found.append(f"{live_round.pk} of {bettor.player_id}: {stakes}, told {told}")
                expected[bettor.player_id] += self._won(live_round, stakes)
            found += self._faults_of(live_round)
        balances = self._balances()
        found += [
            f"{player} has {balances[player]}, not {expected[player]}"
            for player in balances
            if balances[player] != expected[player]
        ]
        return found + self._faults_of_the_house()

    def _won(self, live_round: LiveRound, stakes: Mapping[str, int]) -> int:
        """What the player has more than before, as the engine settles it."""
        if not stakes or live_round.phase == Phase.VOID:
            return 0
        settled = settle(VARIANTS[self._live_table.table.variant], self._coup(live_round), stakes)
        return settled.paid - settled.staked

    def _coup(self, live_round: LiveRound) -> Coup:
        """The coup that the seed of the shoe deals when so many rounds have been dealt before this one."""
        dealt = LiveRound.objects.filter(shoe=live_round.shoe).exclude(cards="")
        return self._dealt(live_round.shoe)[dealt.filter(number__lt=live_round.number).count()]

    def _dealt(self, shoe: Shoe) -> tuple[Coup, ...]:
        if shoe.pk not in self._coups:
            self._coups[shoe.pk] = tuple(coups(shuffle(shoes.seed_of(shoe), shoe.decks)))
        return self._coups[shoe.pk]

    def _faults_of(self, live_round: LiveRound) -> list[str]:
        """A round is settled once, annulled before its deal, or nobody was there."""
        name, phase = str(live_round.pk), live_round.phase
        staked = Wager.objects.filter(participation__round_id=live_round.pk).exists()
        kinds = sorted(Journal.objects.filter(round_id=live_round.pk).values_list("kind", flat=True))
        found = []
        if Hold.objects.filter(round_id=live_round.pk).exists():
            found.append(f"{name}: money is held")
        if phase == Phase.SETTLED:
            if live_round.cards != shoes.written(self._coup(live_round).cards):
                found.append(f"{name}: other cards than the shoe deals")
            settled = Event.objects.filter(kind="round.settled", on=f"round:{name}").count()
            if not staked or kinds != ["held_stake", "settle"] or settled != 1:
                found.append(f"{name}: not settled once, with journals {kinds} and {settled} events")
        elif phase == Phase.VOID:
            if live_round.cards or staked is not Void.objects.filter(pk=live_round.pk).exists():
                found.append(f"{name}: annulled with cards {live_round.cards!r}")
        elif phase != Phase.BETTING or kinds or Round.objects.filter(pk=live_round.pk).exists():
            found.append(f"{name}: is {phase}, with journals {kinds}")
        return found

    def _faults_of_the_house(self) -> list[str]:
        escrow = Entry.objects.filter(account__kind=AccountKind.ESCROW).values("currency", "mode")
        lies = escrow.annotate(sum=Sum("amount")).exclude(sum=0)
        found = [f"escrow has {each}" for each in lies]
        held = Account.objects.filter(pk__in=self._accounts.values()).exclude(held=0)
        found += [f"account {each.pk}: {each.held} is held" for each in held]
        found += [f"{check.invariant.name}: {row}" for check in verify.run() for row in check.rows]
        return found + [f"incident: {each.cause}" for each in Incident.objects.filter(table=self._live_table.table_id)]

    def _balances(self) -> dict[int, int]:
        balances = dict(Account.objects.filter(pk__in=self._accounts.values()).values_list("pk", "balance"))
        return {player: balances[account] or 0 for player, account in self._accounts.items()}


def _stakes(round_id: UUID, player_id: int) -> Mapping[str, int]:
    """What the house says that a player had on a round."""
    part = Participation.objects.filter(round_id=round_id, player_id=player_id).first()
    return dict(part.wagers.values_list("bet", "stake")) if part else NOTHING
