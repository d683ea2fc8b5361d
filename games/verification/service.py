"""Verifies a round on request, and lists everything that belongs to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from audit.staff_text import in_sentence
from games.chemin.pages.floor import Laid, phase_text, read_chemin_states
from games.engine.bets import Variant
from games.models import OPEN_PHASES, LiveRound, LiveSeat, Phase, Round, Shape
from games.rounds.integrity import Doubt
from games.shared.shoes import cards_of
from games.verification import chemin_comparison, punto_comparison
from games.verification.records import (
    Deal,
    Earlier,
    Fact,
    RoundRecords,
    RoundVerification,
    face_up,
    incidents,
    ledger_movements,
    money,
    read,
)
from wallet.models import Mode


@dataclass(frozen=True)
class Going:
    """A round of a live table without stored results: in progress, or ended without a bet.

    It shows the stakes of the players but no cards.
    """

    round: LiveRound
    is_over: bool
    phase: str  # "" if it is over
    is_interrupted: bool  # its table is stopped
    laid: Sequence[tuple[str, str]]  # player or seat, and the amount as text

    @property
    def players(self) -> Sequence[int]:
        """The ids of the players whose data is shown, for the access log."""
        return [int(who.removeprefix("player:")) for who, _ in self.laid if who.startswith("player:")]


def verify_round(round_id: UUID) -> RoundVerification | None:
    """Deal a finished round again and return it with all its records; None if there is none."""
    records = read(round_id)
    return None if records is None else verify_records(records)


def verify_records(records: RoundRecords) -> RoundVerification:
    """Deal a finished round again from its records."""
    deal = _deal(records)
    return RoundVerification(
        round=records.round,
        deal=replace(deal, facts=(*_rules(records), *deal.facts)),
        earlier=tuple(_earlier(records.round)),
        journals=tuple(records.journals),
        events=tuple(records.events),
        incidents=tuple(incidents(records.round.pk)),
    )


def _deal(records: RoundRecords) -> Deal:
    game = records.game
    if game is None:
        why = "The rules of the round are not installed. Nothing was recomputed."
        return Deal(
            why, punto_comparison.as_stored(records), punto_comparison.as_recorded(records, ledger_movements(records))
        )
    return (
        punto_comparison.compare_round(records, game)
        if isinstance(game, Variant)
        else chemin_comparison.compare_round(records)
    )


def _rules(records: RoundRecords) -> Iterator[Fact]:
    """Yield the table version, the rules and the kind of money of the round."""
    version = records.round.table_version
    sealed = records.sealed("table_version")
    yield Fact("Table version (its number in the database)", str(version.pk), None if sealed is None else str(sealed))
    yield Fact(
        "Rules (SHA-256 of all rules that affect money)",
        version.rules_digest,
        records.rules if records.settlement else None,
    )
    mode = records.sealed("mode")
    yield Fact("Money", _kind_of_money(records.round.mode), mode and _kind_of_money(mode))
    for part in records.parts:
        yield Fact(
            f"player:{part.player_id}: money", _kind_of_money(part.mode), _kind_of_money(mode or records.round.mode)
        )


def _kind_of_money(mode: str) -> str:
    return in_sentence(Mode(mode).label)


def _earlier(played: Round) -> Iterator[Earlier]:
    """Yield the earlier rounds of the same shoe, with their cards as the shoe is committed to them."""
    shoe = played.shoe
    if shoe is None or played.first_card is None:
        return
    of_shoe = LiveRound.objects.filter(shoe=shoe).values("pk")  # the table of rounds has no index on the shoe
    before = Round.objects.filter(pk__in=of_shoe, first_card__lt=played.first_card).exclude(cards="")
    try:
        cards = cards_of(shoe)
    except Doubt:
        cards = ()
    seen = face_up(shoe)
    for each in before.order_by("first_card"):
        first, count = each.first_card or 0, len(each.cards.split())
        dealt = " ".join(card.code for card in cards[first : first + count])
        is_known = bool(cards) and first + count <= seen
        fact = Fact(f"{each.code}: cards", each.cards, dealt if is_known else None)
        yield Earlier(each.pk, each.code, first + 1, fact)


def going(round_id: UUID) -> Going | None:
    """Return a round of a live table that is in progress or ended without a bet; None if not found."""
    found = LiveRound.objects.select_related("live_table__table", "version__table", "shoe")
    live = found.filter(pk=round_id).first()
    if live is None:
        return None
    if live.phase not in OPEN_PHASES:
        return Going(live, is_over=True, phase="", is_interrupted=False, laid=())
    is_stopped = live.live_table.stopped_by_id is not None
    return Going(live, is_over=False, phase=phase_text(live), is_interrupted=is_stopped, laid=tuple(_laid(live)))


def _laid(live: LiveRound) -> Iterator[tuple[str, str]]:
    if live.live_table.table.shape != Shape.CHEMIN:
        verb = "held" if live.phase == Phase.BETTING else "staked"
        for seat in LiveSeat.objects.filter(round_id=live.pk).exclude(stakes={}).order_by("player_id"):
            yield f"player:{seat.player_id}", f"{money(sum(seat.stakes.values()), seat.currency)} {verb}"
        return
    for chemin_state in read_chemin_states([live.live_table_id]).values():
        if chemin_state.bank is not None:
            yield _who(chemin_state.bank), f"{money(chemin_state.bank.amount, chemin_state.currency)} in the bank"
        for laid in chemin_state.stakes:
            yield _who(laid), f"{money(laid.amount, chemin_state.currency)} staked"


def _who(laid: Laid) -> str:
    return f"player:{laid.seated.player}" if laid.seated.player else f"seat {laid.seated.number}, house player"
