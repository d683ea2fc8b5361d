"""Stored finished coups of Chemin de Fer, loaded for `games.chemin.coups.redeal` to verify."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Prefetch

from games.chemin.coups.redeal import StoredCoup, StoredPlay, StoredStake
from games.engine.cards import Card
from games.engine.chemin.state import there
from games.models import CheminCoup, CheminStake, CheminTable, Round, Shoe
from games.rounds.redeal import LedgerTotals, StoredPart
from games.tables.chemin_rules import CheminRules
from wallet.models import Account, AccountKind, Entry

STAKE, SETTLE = "stake", "settle"  # kinds of journals


@dataclass(frozen=True)
class CoupRecords:
    """The stored data of a coup other than its round and participations."""

    play: StoredPlay | None = None
    ledger_totals: Mapping[str, LedgerTotals] = field(default_factory=dict)
    bank: tuple[int, int] | None = None


def read_records(ids: Sequence[UUID]) -> Mapping[UUID, CoupRecords]:
    """Return the stored data of these coups, by id. A fixed number of queries, none without ids."""
    if not ids:
        return {}
    stakes = Prefetch("stakes", CheminStake.objects.select_related("seat").order_by("pk"))
    found = CheminCoup.objects.filter(pk__in=ids).select_related("tenure", "banker", "punter").prefetch_related(stakes)
    coups = {coup.pk: coup for coup in found}
    entries: dict[UUID, list[Entry]] = defaultdict(list)
    for entry in Entry.objects.filter(journal__round_id__in=ids).select_related("journal", "account"):
        entries[there(entry.journal.round_id)].append(entry)
    banks = _banks({coup.tenure.account_id for coup in coups.values()})
    return {
        coup_id: CoupRecords(
            _play(coup), _ledger_totals(coup, entries[coup_id]), _bank(entries[coup_id], banks[coup.tenure.account_id])
        )
        for coup_id, coup in coups.items()
    }


def stored_coup(
    played: Round, shoe_cards: tuple[Card, ...], parts: tuple[StoredPart, ...], others: CoupRecords
) -> StoredCoup:
    """Return a stored coup, with the cards of its shoe."""
    return StoredCoup(
        shoe_cards=shoe_cards,
        shoe_commitment=there(played.shoe).commitment,
        commitment=played.commitment,
        first_card=played.first_card or 0,
        cards=played.cards,
        outcome=played.outcome,
        currency=CheminRules.of(played.table_version.limits).currency,
        mode=played.mode,
        play=others.play,
        parts=parts,
        ledger_totals=others.ledger_totals,
        bank=others.bank,
    )


def face_up(shoe: Shoe) -> int:
    """Return how many cards have left a shoe, without those of a coup in progress, which may be face down."""
    table = CheminTable.objects.filter(pk=shoe.live_table_id, live_table__shoe=shoe).first()
    coup = table.state["coup"] if table else None
    if coup and coup["hands"] and coup["outcome"] is None:
        return coup["hands"]["first"]
    return shoe.gone


def _play(coup: CheminCoup) -> StoredPlay:
    return StoredPlay(
        banker_player=coup.banker_player_id,
        bank=coup.bank,
        call=coup.call,
        at_risk=coup.at_risk,
        punter=coup.punter.number if coup.punter else None,
        outcome=coup.outcome,
        punter_total=coup.punter_total,
        banker_total=coup.banker_total,
        punter_draws=coup.punter_draws,
        banker_draws=coup.banker_draws,
        punter_departs=coup.punter_departs,
        banker_departs=coup.banker_departs,
        tax=coup.tax,
        stakes=tuple(map(_stake, coup.stakes.all())),
    )


def _stake(stake: CheminStake) -> StoredStake:
    return StoredStake(stake.seat.number, stake.player_id, stake.stake, stake.returned)


def _ledger_totals(coup: CheminCoup, entries: Sequence[Entry]) -> Mapping[str, LedgerTotals]:
    """Return what the ledger moved for the coup, by owner: stakes, and all other payments."""
    names = {stake.seat.account_id: _stake(stake).name for stake in coup.stakes.all()}
    ledger_totals: dict[str, LedgerTotals] = {}
    for entry in entries:
        name = names.get(entry.account_id) or _owner(coup, entry.account)
        before = ledger_totals.get(name, LedgerTotals(0, 0, frozenset()))
        staked, paid = (-entry.amount, 0) if entry.journal.kind == STAKE else (0, entry.amount)
        money = before.money | {(entry.currency, entry.mode)}
        ledger_totals[name] = LedgerTotals(before.staked + staked, before.paid + paid, money)
    return ledger_totals


def _owner(coup: CheminCoup, account: Account) -> str:
    """Return the owner of an account that is not a punter's."""
    if account.pk == coup.tenure.account_id:
        return "bank"
    if account.kind == AccountKind.STAKES and account.subject_id == coup.pk:
        return "stakes"
    return "house" if account.kind == AccountKind.HOUSE else f"account:{account.pk}"


def _banks(accounts: set[int]) -> Mapping[int, Sequence[Entry]]:
    """Return all entries of the banks' accounts, oldest first."""
    ledger_totals: dict[int, list[Entry]] = defaultdict(list)
    for entry in Entry.objects.filter(account__in=accounts).order_by("version"):
        ledger_totals[entry.account_id].append(entry)
    return ledger_totals


def _bank(entries: Sequence[Entry], bank: Sequence[Entry]) -> tuple[int, int] | None:
    """Return the bank before and after the journal that settled the coup; None if there is none."""
    settled = next((entry.journal_id for entry in entries if entry.journal.kind == SETTLE), None)
    if settled is None:
        return None
    before = [entry.balance_after or 0 for entry in bank if entry.journal_id < settled]
    after = [entry.balance_after or 0 for entry in bank if entry.journal_id <= settled]
    return (before[-1] if before else 0, after[-1] if after else 0)
