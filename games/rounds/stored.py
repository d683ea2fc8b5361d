"""Load stored rounds and verify them against their seed and rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, Sum

from games.chemin.coups import redeal as chemin_redeal
from games.chemin.coups import stored_coups as chemin_stored
from games.engine.bets import Variant
from games.engine.cards import Card
from games.models import IncidentKind, Participation, Round, Shoe, Void
from games.rounds.dealt import binding_of, read_evidence, read_shoe_evidence
from games.rounds.integrity import Doubt
from games.rounds.redeal import (
    COMMITTED,
    SIGNATURE,
    Evidence,
    Finding,
    InShoe,
    LedgerTotals,
    StoredPart,
    StoredRound,
    StoredWager,
    findings,
    unproven,
)
from games.shared.shoes import cards_of
from games.variants import GAMES
from games.variants.common import CheminGame, Game
from wallet.models import Entry

STAKES = ("stake", "held_stake")  # kinds of journals
OF_THE_DEALER = frozenset({COMMITTED, SIGNATURE})  # findings about the proof of a deal
OF_THE_CARDS = frozenset(
    {
        "seed",
        "commitment",
        "root",
        "leaves",
        "burn card",
        "burned",
        "cut",
        "cards gone",
        "first card",
        "cards",
        "dealt cards",
        "outcome",
    }
)  # findings about the deal


@dataclass(frozen=True)
class Problem:
    """Fault of a round: the kind of incident, and the findings."""

    kind: IncidentKind
    found: tuple[Finding, ...]


def problems(ids: Sequence[UUID]) -> Iterator[tuple[Round, Problem | None]]:
    """Verify finished rounds; yield each with its problem, or None if the seed reproduces it.

    Skips voided rounds. Uses a fixed number of queries, and one for each shoe.
    """
    parts: dict[UUID, list[StoredPart]] = {}
    for part in Participation.objects.filter(round_id__in=ids).prefetch_related("wagers").order_by("pk"):
        parts.setdefault(part.round_id, []).append(_stored_part(part))
    ledger_totals = _ledger_totals(ids)
    voided = Void.objects.filter(pk__in=ids).values("pk")
    found = (
        Round.objects.filter(pk__in=ids)
        .exclude(pk__in=voided)
        .select_related("table_version__table", "shoe__leaves", "shoe__live_table__table")
    )
    coups = chemin_stored.read_records([played.pk for played in found if _is_chemin(played)])
    evidence = read_evidence({played.pk: _decks(played) for played in found if played.shoe_id is None})
    evidence |= read_shoe_evidence({played.pk: played.shoe for played in found if played.shoe})
    of_shoes = {played.shoe_id: played.shoe for played in found if played.shoe}
    shoes = {shoe_id: _cards(shoe) for shoe_id, shoe in of_shoes.items()}
    for played in found:
        others = coups.get(played.pk, chemin_stored.CoupRecords())
        own, posted = tuple(parts.get(played.pk, ())), ledger_totals.get(played.pk, {})
        records = _RoundRecords(own, posted, others, evidence.get(played.pk), shoes.get(played.shoe_id, ()))
        yield played, _problem(played, records)


@dataclass(frozen=True)
class _RoundRecords:
    """Stored records of a round outside its row; *others* only for a Chemin de Fer round."""

    parts: tuple[StoredPart, ...]
    ledger_totals: Mapping[int, LedgerTotals]
    others: chemin_stored.CoupRecords
    evidence: Evidence | None
    shoe: tuple[Card, ...] | Doubt  # the cards of its shoe, or why it cannot be dealt again

    @property
    def shoe_cards(self) -> tuple[Card, ...]:
        """The cards of its shoe. Raises Doubt."""
        if isinstance(self.shoe, Doubt):
            raise self.shoe
        return self.shoe


def _cards(shoe: Shoe) -> tuple[Card, ...] | Doubt:
    """Return the cards of a shoe, or why it cannot be dealt again: once for all of its rounds."""
    try:
        return cards_of(shoe)
    except Doubt as doubt:
        return doubt


def _decks(played: Round) -> int:
    game = GAMES.get(played.table_version.table.variant)
    return game.decks if isinstance(game, Variant) else 0


def _is_chemin(played: Round) -> bool:
    return isinstance(GAMES.get(played.table_version.table.variant), CheminGame)


def _problem(played: Round, records: _RoundRecords) -> Problem | None:
    version = played.table_version
    game = _rules(version.table.variant, version.rules_digest)
    if game is None:
        known = GAMES.get(version.table.variant)
        rules = Finding("rules", version.rules_digest, known.digest if known else "no such game")
        return Problem(IncidentKind.RULES_UNKNOWN, (rules,))
    try:
        found = _found(played, game, records)
    except Doubt as doubt:
        found = doubt.found
    if not found:
        return None
    if all(each.what in OF_THE_DEALER for each in found):
        return Problem(IncidentKind.NOT_DEALT, found)
    if played.shoe and played.shoe.ended_at is None:
        found = _without_cards_to_come(played, played.shoe, found)
    is_of_the_cards = played.shoe_id is None or any(each.what in OF_THE_CARDS for each in found)
    return Problem(IncidentKind.NOT_REPRODUCED if is_of_the_cards else IncidentKind.NOT_RECOMPUTED, found)


def _found(played: Round, game: Game, records: _RoundRecords) -> tuple[Finding, ...]:
    """Verify a round by the rules of its game. Raises Doubt where its shoe cannot be dealt again."""
    if isinstance(game, Variant):
        return findings(_stored(played, game, records), game)
    if played.shoe is None:
        return (Finding("shoe", "none", "one"),)
    coup = chemin_stored.stored_coup(played, records.shoe_cards, records.parts, records.others)
    return (*chemin_redeal.findings(coup), *unproven(records.evidence, played.shoe.commitment))


def _without_cards_to_come(played: Round, shoe: Shoe, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Report only where the round claims to have begun, if dealing from there needs cards nobody
    has seen yet.
    """
    first = played.first_card or 0
    taken = max((len(each.recomputed.split()) for each in found if each.what == "cards"), default=0)
    seen = chemin_stored.face_up(shoe)
    if first + taken <= seen:
        return found
    return (Finding("first card", str(first), f"among the {seen} that have left the shoe"),)


def _rules(slug: str, digest: str) -> Game | None:
    """Return the rules with this digest: a round settles under the rules it was staked under."""
    game = GAMES.get(slug)
    return game if game and game.digest == digest else None


def _stored(played: Round, variant: Variant, records: _RoundRecords) -> StoredRound:
    shoe = played.shoe
    return StoredRound(
        seed=b"" if shoe else bytes(played.seed or b""),
        commitment=played.commitment,
        player_value=played.player_value,
        cards=played.cards,
        outcome=played.outcome,
        mode=played.mode,
        parts=records.parts,
        ledger_totals=records.ledger_totals,
        shoe=InShoe(records.shoe_cards, played.first_card or 0, shoe.commitment) if shoe else None,
        binding=None if shoe else binding_of(played, variant.decks, variant.digest),
        evidence=records.evidence,
    )


def _stored_part(part: Participation) -> StoredPart:
    return StoredPart(
        player=part.player_id,
        currency=part.currency,
        mode=part.mode,
        staked=part.staked,
        paid=part.paid,
        commission=part.commission,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        wagers=tuple(
            StoredWager(wager.bet, wager.stake, wager.payout, wager.commission, wager.result)
            for wager in part.wagers.all()
        ),
    )


def _ledger_totals(ids: Sequence[UUID]) -> dict[UUID, dict[int, LedgerTotals]]:
    """Return what the ledger moved for each round and player: stakes, and everything else its journals paid."""
    is_stake = Q(journal__kind__in=STAKES)
    entries = (
        Entry.objects.filter(journal__round_id__in=ids, account__owner__isnull=False)
        .values_list("journal__round_id", "account__owner_id", "currency", "mode")
        .annotate(staked=Sum("amount", filter=is_stake, default=0), paid=Sum("amount", filter=~is_stake, default=0))
    )
    ledger_totals: dict[UUID, dict[int, LedgerTotals]] = {}
    for round_id, owner, currency, mode, staked, paid in entries:
        players = ledger_totals.setdefault(round_id, {})
        before = players.get(owner, LedgerTotals(0, 0, frozenset()))
        money = before.money | {(currency, mode)}
        players[owner] = LedgerTotals(before.staked - staked, before.paid + paid, money)
    return ledger_totals
