"""Stored records of a finished round, and the data that the verification page shows about them.

Values are English texts for staff, which pages show in the reader's language (`audit.staff_text.recognised`). A value
that cannot be recomputed is shown alone.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.db.models import Prefetch, Q

from audit.models import Event, Leaf
from audit.staff_text import marked
from games.chemin.coups import stored_coups as chemin_stored
from games.models import Incident, LiveRound, Participation, Phase, Round, Shoe, VoidPart, Wager
from games.rounds.stored import STAKES
from games.tables.presentation import RoundView, SpotView
from games.variants import GAMES
from games.variants.common import Game
from wallet.models import Account, Entry, Journal
from wallet.money import format_money

NOTHING = "none"

TEXTS: Final = (
    marked("finding", "cards gone"),
    marked("finding", "burn card"),
    marked("finding", "dealt cards"),
    marked("finding", "leaves"),
    marked("finding", "moved on"),
    marked("finding", "reversal"),
    marked("finding", "possible"),
    marked("finding", "asked"),
    marked("finding", "others, by the leaves of the shoe"),
    marked("finding", "among the %(count)s that have left the shoe"),
    marked("finding", "declared"),
    marked("finding", "call"),
    marked("finding", "bank"),
    marked("finding", "stakes by place"),
    marked("finding", "settled"),
    marked("finding", "impossible by its record"),
    marked("finding", "of the table"),
    marked("finding", "another"),
    marked("finding", "no such game"),
    marked("finding", "one"),
    marked("finding", "at least one"),
    marked("finding", "valid"),
    marked("finding", "no event"),
    marked("finding", "no signature"),
    marked("finding", "no shoe"),
    marked("finding", "for other cards"),
    marked("finding", "not by a dealer in DEALER_KEYS"),
    marked("finding", "not for this text"),
    marked("finding", "DEALER_KEYS is not set"),
    marked("finding", "commitment in the event log before the bets"),
    marked("finding", "signature of the dealer"),
    marked("finding", "%(who)s mode"),
    marked("finding", "%(who)s money"),
    marked("finding", "%(who)s wagers"),
    marked("finding", "%(who)s staked"),
    marked("finding", "%(who)s paid"),
    marked("finding", "%(who)s commission"),
    marked("finding", "%(who)s balance after"),
    marked("finding", "%(who)s ledger"),
    marked("finding", "%(who)s part"),
    marked("finding", "%(who)s returned"),
    marked("finding", "%(what)s cards"),
    marked("finding", "%(what)s first card"),
    marked("finding", "staked %(amount)s"),
    marked("finding", "paid %(amount)s"),
    marked("finding", "paid %(amount)s in %(money)s"),
    marked("finding", "commission %(amount)s"),
    marked("finding", "win"),
    marked("finding", "push"),
    marked("finding", "lose"),
    marked("finding", "punter"),
    marked("finding", "banker"),
    marked("finding", "draw"),
    marked("finding", "tie"),
    marked("finding", "void"),
    marked("finding", "draws"),
    marked("finding", "stands"),
    marked("finding", "no decision"),
    marked("finding", "punter %(decision)s"),
    marked("finding", "banker %(decision)s"),
    marked(
        "finding",
        "%(outcome)s, %(punter)s to %(bank)s, cards with seat %(seat)s, at risk %(amount)s, tax %(tax)s, "
        "departed: %(sides)s",
    ),
    marked("finding", "nobody"),
    marked("finding", "%(amount)s of %(bank)s at risk"),
    marked("finding", "%(before)s, then %(after)s"),
    marked("finding", "place %(place)s"),
    marked("finding", "bank of tenure %(tenure)s"),
    marked("finding", "seat %(seat)s"),
    marked("finding", "house player"),
    marked("finding", "Seal"),
    marked("finding", "Cards dealt from the shoe before"),
    marked("finding", "Cards, in dealing order"),
    marked("finding", "Outcome"),
    marked("finding", "Seed"),
    marked("finding", "Player seed"),
    marked("finding", "Commitment in the event log before the bets"),
    marked("finding", "Signature of the dealer"),
    marked("finding", "Seal of the shoe"),
    marked("finding", "Root of its cards"),
    marked("finding", "Seed of the shoe, public"),
    marked("finding", "Burn card"),
    marked("finding", "Cards burned"),
    marked("finding", "Settlement in the audit log"),
    marked("finding", "Cards in the audit log"),
    marked("finding", "All bets in the audit log (SHA-256)"),
    marked("finding", "Tax in the audit log"),
    marked("finding", "Table version (its number in the database)"),
    marked("finding", "Rules (SHA-256 of all rules that affect money)"),
    marked("finding", "Money"),
    marked("finding", "money"),
    marked("finding", "Bank at its opening"),
    marked("finding", "Covered"),
    marked("finding", "Call"),
    marked("finding", "%(amount)s was covered"),
    marked("finding", "Held the punters’ cards"),
    marked("finding", "Won by"),
    marked("finding", "Totals, punters to bank"),
    marked("finding", "Punter declared"),
    marked("finding", "Banker declared"),
    marked("finding", "Punter acted against the rule"),
    marked("finding", "Banker acted against the rule"),
    marked("finding", "Tax"),
    marked("finding", "Bank at payment, per ledger"),
    marked("finding", "yes"),
    marked("finding", "no"),
    marked("finding", "stake"),
    marked("finding", "paid back"),
    marked("finding", "commission"),
    marked("finding", "result"),
    marked("finding", "%(amount)s returned"),
    marked("finding", "%(amount)s taken back"),
    marked("finding", "total returned"),
    marked("finding", "total paid back"),
    marked("finding", "balance before, per ledger"),
    marked("finding", "balance after, per ledger"),
    marked("finding", "taken, per ledger"),
    marked("finding", "paid, per ledger"),
    marked("finding", "participation in the round"),
    marked("finding", "participation in the coup"),
    marked("finding", "Decision %(number)s of %(who)s"),
    marked("finding", "%(decision)s by the croupier"),
    marked("finding", "ask croupier"),
    marked("finding", "make call %(call)s"),
    marked("finding", "deal cards"),
    marked("finding", "draw card"),
    marked("finding", "stand"),
    marked("finding", "pass"),
    marked("finding", "lay stake %(amount)s"),
    marked("finding", "Player: %(card)s"),
    marked("finding", "Banker: %(card)s"),
    marked("finding", "Punters: %(card)s"),
    marked("finding", "Bank: %(card)s"),
    marked("finding", "Totals: Player %(player)s, Banker %(banker)s"),
    marked("finding", "Totals: punters %(punters)s, bank %(bank)s"),
    marked("finding", "Outcome: %(outcome)s"),
    marked("finding", "The punter %(decision)s"),
    marked("finding", "The banker %(decision)s"),
    marked("finding", "%(amount)s held"),
    marked("finding", "%(amount)s staked"),
    marked("finding", "%(amount)s in the bank"),
    marked("finding", "real money"),
    marked("finding", "free money"),
    marked("finding", "The rules of the round are not installed. Nothing was recomputed."),
    marked("finding", "The round was voided before the deal."),
    marked("finding", "The round was voided before settlement."),
    marked("finding", "No stakes or decisions are stored for this coup."),
    marked("finding", "The round has no shoe."),
    marked("finding", "The round refers to card %(card)s of its shoe, but fewer have been dealt. No cards are shown"),
    marked("finding", "stored %(stored)s, recomputed %(recomputed)s"),
    marked("finding", "a side departed from the rule although several players had staked"),
    marked("finding", "there is no coup without stakes"),
    marked("finding", "a stake is not above zero"),
    marked("finding", "a seat has staked twice"),
    marked("finding", "stakes of %(stakes)s against a bank of %(bank)s"),
    marked("finding", "the %(side)s declared nothing"),
    marked("finding", "the %(side)s declared although a natural had ended the coup"),
    marked("finding", "the cards ran out before the coup was complete"),
    marked("finding", "the stream of numbers ended before the cards were shuffled"),
    marked("finding", "a seed has %(due)s bytes, this one %(count)s"),
)
"""The content of a verification page and its findings."""


@dataclass(frozen=True)
class Fact:
    """A stored value and the value recomputed from the seed."""

    what: str
    stored: str
    again: str | None = None  # None: nothing to compare it with

    @property
    def head(self) -> str:
        """The name of the value without the name of the player."""
        return self.what.rpartition(": ")[2]

    @property
    def differs(self) -> bool:
        """True if the stored value is not the recomputed one."""
        return self.again is not None and self.stored != self.again


@dataclass(frozen=True)
class Row:
    """Several facts about one thing, for example stake, payout, commission and result of a bet."""

    name: str
    facts: tuple[Fact, ...]

    @property
    def is_compared(self) -> bool:
        """True if any of the facts could be recomputed."""
        return any(fact.again is not None for fact in self.facts)


@dataclass(frozen=True)
class PlayerPart:
    """One player's part in a round."""

    player: int
    session: UUID | None
    bets: tuple[Row, ...]
    facts: tuple[Fact, ...]
    returned: str = ""  # what the voiding of the round did, as text


@dataclass(frozen=True)
class Decided:
    """One decision in a coup of Chemin de Fer."""

    at: datetime
    who: str
    by: str
    waited: float | None  # seconds from the question to the answer
    fact: Fact


@dataclass(frozen=True)
class Step:
    """One step of the round, in order. *due* is the number of the card that is dealt with it."""

    due: int
    text: str


@dataclass(frozen=True)
class Logged:
    """An event of the round with its leaf in the event log (None: not sealed yet)."""

    id: int
    at: datetime
    kind: str
    by: str
    leaf: int | None


@dataclass(frozen=True)
class Earlier:
    """An earlier round from the same shoe."""

    id: UUID
    code: str
    first_card: int  # counted from 1
    cards: Fact


@dataclass(frozen=True)
class Deal:
    """A round dealt again: facts of the deal, each player's part, and the table view."""

    obstacle: str = ""  # why it could not be dealt or settled again
    facts: tuple[Fact, ...] = ()
    parts: tuple[PlayerPart, ...] = ()
    coup: tuple[Fact, ...] = ()  # Chemin de Fer only
    stakes: tuple[Row, ...] = ()
    decisions: tuple[Decided, ...] = ()
    view: RoundView | None = None
    spots: tuple[SpotView, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class RoundVerification:
    """The result of verifying a finished round, with all records that belong to it."""

    round: Round
    deal: Deal
    earlier: tuple[Earlier, ...]
    journals: tuple[Journal, ...]
    events: tuple[Logged, ...]
    incidents: tuple[Incident, ...]

    @property
    def differences(self) -> Sequence[Fact]:
        """The facts of this round that differ, in the order of the page."""
        return [fact for fact in self._facts() if fact.differs]

    @property
    def earlier_that_differ(self) -> Sequence[Earlier]:
        """The earlier rounds of the shoe whose stored cards differ from those of the seed."""
        return [each for each in self.earlier if each.cards.differs]

    @property
    def players(self) -> Sequence[int]:
        """The ids of the players whose data is shown, for the access log."""
        return [part.player for part in self.deal.parts]

    def _facts(self) -> Iterator[Fact]:
        deal = self.deal
        yield from deal.facts
        yield from deal.coup
        for row in deal.stakes:
            yield from row.facts
        for decided in deal.decisions:
            yield decided.fact
        for part in deal.parts:
            for row in part.bets:
                yield from row.facts
            yield from part.facts


def money(minor: int | None, currency: str) -> str:
    """Format an amount of minor units; None becomes "none"."""
    return NOTHING if minor is None else format_money(minor, currency, "en")


SETTLE = "settle"  # the kind of journal that pays


@dataclass(frozen=True)
class RoundRecords:
    """A finished round with all its records."""

    round: Round
    parts: Sequence[Participation]  # in order of player
    entries: Sequence[Entry]  # of its journals, oldest first
    events: Sequence[Logged]
    settlement: Mapping[str, Any] | None  # from the event log; None if the round was voided before settlement

    @property
    def is_void(self) -> bool:
        """True if the round was voided."""
        return hasattr(self.round, "void")

    @cached_property
    def rules(self) -> str:
        """The digest of the rules of the round: from the event log, otherwise of the table version."""
        sealed = self.settlement and self.settlement.get("rules")
        return sealed or self.round.table_version.rules_digest

    @property
    def game(self) -> Game | None:
        """The game; None if the program does not know these rules."""
        game = GAMES.get(self.round.table_version.table.variant)
        return game if game and game.digest == self.rules else None

    @property
    def journals(self) -> Sequence[Journal]:
        """The journals of the round, oldest first."""
        return list(dict.fromkeys(entry.journal for entry in self.entries))

    @cached_property
    def settled_by(self) -> int | None:
        """The id of the journal that paid the round; None if none did."""
        return next((entry.journal_id for entry in self.entries if entry.journal.kind == SETTLE), None)

    def sealed(self, name: str) -> Any:
        """Return a value of the settlement event; None if the event log does not have it."""
        return (self.settlement or {}).get(name)


def read(round_id: UUID) -> RoundRecords | None:
    """Return a finished round; None if there is none.

    The number of queries does not depend on the number of players.
    """
    wagers = Prefetch("wagers", Wager.objects.order_by("pk"))
    back = Prefetch("void__parts", VoidPart.objects.order_by("player_id"))
    found = Round.objects.select_related("table_version__table", "shoe__live_table", "void").prefetch_related(back)
    played = found.filter(pk=round_id).first()
    if played is None:
        return None
    parts = Participation.objects.filter(round=played).order_by("player_id").prefetch_related(wagers)
    entries = Entry.objects.filter(journal__round_id=round_id).select_related("journal", "account")
    rows = list(Event.objects.filter(on=f"round:{round_id}").order_by("id"))
    settled = next((json.loads(bytes(row.body))["data"] for row in rows if row.kind == "round.settled"), None)
    leaves = dict(Leaf.objects.filter(event__in=[row.pk for row in rows]).values_list("event_id", "leaf"))
    return RoundRecords(
        round=played,
        parts=list(parts),
        entries=list(entries.order_by("journal_id", "line")),
        events=[Logged(row.pk, row.at, row.kind, row.by, leaves.get(row.pk)) for row in rows],
        settlement=settled,
    )


def incidents(round_id: UUID) -> Iterable[Incident]:
    """Return the incidents of a round, oldest first."""
    return Incident.objects.filter(Q(round=round_id) | Q(live_round=round_id)).select_related("ruling").order_by("pk")


def face_up(shoe: Shoe) -> int:
    """Return how many cards of a shoe are public.

    All cards of a shoe that has ended; otherwise the cards of its finished rounds.
    """
    if shoe.ended_at is not None:
        return 52 * shoe.decks
    going = LiveRound.objects.filter(shoe=shoe, phase=Phase.DEALT).values_list("first_card", flat=True).first()
    seen = chemin_stored.face_up(shoe)
    return seen if going is None else min(seen, going)


@dataclass(frozen=True)
class LedgerMovements:
    """Money that the ledger moved on a player's accounts in a round. Minor units."""

    staked: int
    paid: int
    before: int | None  # the balance before the first stake; None if nothing was staked
    afterwards: frozenset[int]  # possible balances of the account when the round was paid
    after: int | None  # the latest of these


def ledger_movements(records: RoundRecords) -> Mapping[int, LedgerMovements]:
    """Return the ledger movements of each player until the round was paid.

    Movements of a later voiding are left out.
    """
    own: dict[int, list[Entry]] = defaultdict(list)
    for entry in records.entries:
        if entry.account.owner_id is not None and entry.journal.kind in (*STAKES, SETTLE):
            own[entry.account.owner_id].append(entry)
    between = _between(records, {entry.account_id for entries in own.values() for entry in entries})
    return {player: _ledger_totals(entries, between) for player, entries in own.items()}


def _ledger_totals(entries: Sequence[Entry], between: Mapping[int, Sequence[Entry]]) -> LedgerMovements:
    stakes = [entry for entry in entries if entry.journal.kind in STAKES]
    payouts = [entry for entry in entries if entry.journal.kind == SETTLE]
    last = max(entries, key=lambda entry: entry.version or 0)
    since = (
        []
        if payouts
        else [entry for entry in between.get(last.account_id, ()) if (entry.version or 0) > (last.version or 0)]
    )
    held = [entry.balance_after for entry in (last, *since) if entry.balance_after is not None]
    return LedgerMovements(
        staked=-sum(entry.amount for entry in stakes),
        paid=sum(entry.amount for entry in payouts),
        before=(stakes[0].balance_after or 0) - stakes[0].amount if stakes else None,
        afterwards=frozenset(held),
        after=held[-1] if held else None,
    )


def _between(records: RoundRecords, accounts: set[int]) -> Mapping[int, Sequence[Entry]]:
    """Return other movements on these accounts between the first stake and the payouts.

    A player who is paid nothing has no payout entry that would show the balance at that time.
    """
    if records.settled_by is None or not records.entries:
        return {}
    found = Entry.objects.filter(
        account__in=accounts, journal_id__gt=records.entries[0].journal_id, journal_id__lt=records.settled_by
    ).exclude(journal__round_id=records.round.pk)
    lines: dict[int, list[Entry]] = defaultdict(list)
    for entry in found.order_by("version"):
        lines[entry.account_id].append(entry)
    return lines


def balance_at(account_id: int, journal_id: int) -> int | None:
    """Return the balance of an account after a journal, in minor units; None if it had no entries."""
    entries = Entry.objects.filter(account=account_id, journal_id__lte=journal_id).order_by("-version")
    return entries.values_list("balance_after", flat=True).first()


def cash_of(player_id: int, currency: str, mode: str) -> int | None:
    """Return the id of a player's cash account in this money; None if there is none."""
    own = Account.objects.filter(owner=player_id, kind="cash", currency=currency, mode=mode)
    return own.values_list("pk", flat=True).first()
