"""Game logs: a player's finished rounds, newest first, and the player's rounds in progress.

The cost of a page does not depend on the number of rounds. Details of Chemin de Fer come from
`games.chemin.pages.log_details`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import Q, QuerySet

from audit.raw_rows import fetch_one
from games.betting.limits import Limits
from games.chemin.pages import log_details as coups
from games.chemin.pages.log_details import CoupLine, FinishedCoup
from games.engine.commitments import Purpose
from games.history import card_proofs
from games.history.card_proofs import ProvenCard
from games.history.search import Search, find
from games.labels import bet_name
from games.models import (
    OPEN_PHASES,
    LiveRound,
    LiveSeat,
    Participation,
    Phase,
    Round,
    Shape,
    Shoe,
    Table,
    VoidReason,
    Wager,
)
from games.rounds.verification_queue import is_readable, is_showable
from games.solo.page import dealt, participation
from games.tables.board import round_view, spots
from games.tables.presentation import RoundView, SpotView
from games.variants import GAMES, VARIANTS
from players.models import Player
from wallet.models import Mode

Status = Literal["complete", "void", "examined"]

PAGE = 20
# Finds a round in progress with a bet of the player, or a seat at Chemin de Fer. Most players have neither, and
# Django's compiler would take longer for the full queries than the rest of the page takes.
MAY_PLAY = """
SELECT FROM games_liveseat AS seat JOIN games_liveround AS round ON round.id = seat.round_id
WHERE seat.player_id = %(player)s AND seat.stakes <> '{}' AND round.phase = ANY (%(open)s::text[])
UNION ALL
SELECT FROM games_cheminseat WHERE player_id = %(player)s AND left_at IS NULL LIMIT 1
"""
EVERYTHING = Search()


@dataclass(frozen=True)
class WagerLine:
    """One bet of a round. Amounts in minor units; the payout includes the stake."""

    bet: str  # its code
    name: str
    stake: int
    payout: int
    result: str


@dataclass(frozen=True)
class InShoe:
    """The position of a round of a shared table in its shoe."""

    id: UUID
    number: int  # of the shoe at its table
    round_number: int  # in the shoe
    card: int  # position of the round's first card in the shoe, counted from 1; 0 if it was not dealt
    purpose: str  # of `games.engine.commitments.Purpose`
    rules_digest: str  # that the commitment names
    cards_root: str  # of `games.engine.card_tree`, in hex
    entropy: str  # what went into the shuffle in addition to the seed
    cards: tuple[ProvenCard, ...] = ()  # of a round that is over


@dataclass(frozen=True)
class HistoryLine:
    """A round as shown in Game logs. Amounts in minor units of *currency*."""

    id: UUID
    code: str
    at: datetime
    table_name: str
    table_slug: str
    table_id: int
    mode: Mode
    currency: str
    status: Status
    is_dealt: bool  # a voided round may have no cards
    is_undone_by_people: bool  # voided by a decision of staff, not because of a detected malfunction
    view: RoundView | None  # of complete rounds, and of void ones that were dealt
    wagers: tuple[WagerLine, ...]  # empty while the round is being examined, because its bets may be wrong
    staked: int
    paid: int
    commission: int
    balance_before: int
    balance_after: int
    rules_version: str
    rules_digest: str
    table_version: int
    commitment: str
    seed: str  # hex; empty while the shoe is in play
    player_value: str
    decks: int
    shoe: InShoe | None = None  # only set for a single round, not in lists
    coup: CoupLine | None = None  # Chemin de Fer only

    @property
    def cards_shown(self) -> str:
        """The cards of the view in dealing order: "9H 4D KS 2C"; empty without one."""
        shown = (
            sorted((*self.view.player.cards, *self.view.banker.cards), key=lambda card: card.order) if self.view else ()
        )
        return " ".join(card.code for card in shown)


@dataclass(frozen=True)
class PlayingLine:
    """A round in progress at a live table with the player's bets.

    Amounts in minor units of *currency*.
    """

    id: UUID
    code: str
    at: datetime
    table_name: str
    table_slug: str
    table_id: int
    mode: Mode
    currency: str
    is_held: bool  # bets are open: the money is held and can be taken back; afterwards it is staked
    wagers: tuple[WagerLine, ...]
    staked: int
    rules_version: str
    table_version: int
    commitment: str  # of its shoe
    shoe: InShoe
    is_coup: bool = False  # Chemin de Fer: stakes are final, and no hand is shown before the end


@dataclass(frozen=True)
class HistoryPage:
    """A page of rounds, and the id to continue with for older ones (None: there are none)."""

    rounds: tuple[HistoryLine, ...]
    older: int | None


def history(
    player: Player, *, before: int | None, language: str, search: Search = EVERYTHING, limit: int = PAGE
) -> HistoryPage:
    """Return a page of the player's rounds that match *search* and are older than the id *before*.

    Only real-money rounds unless *search* asks for other modes.
    """
    parts = find(player, search, before=before, limit=limit + 1)
    older = parts[limit - 1].pk if len(parts) > limit else None
    return HistoryPage(history_lines(parts[:limit], language), older)


def round_of(player: Player, round_id: UUID, language: str) -> HistoryLine | None:
    """Return one round of this player, or None."""
    part = participation(round_id, player.pk)
    return None if part is None else line_of(part, language)


def line_of(part: Participation, language: str) -> HistoryLine:
    """Return one round, with its shoe."""
    (line,) = history_lines([part], language)
    return replace(line, shoe=_in_shoe(part.round))


def in_progress(player: Player) -> QuerySet[LiveRound]:
    """Return the real-money rounds in progress in which the player has bets or holds the bank."""
    return _in_progress(player).filter(live_table__mode=Mode.REAL)


def playing(
    player: Player, language: str, *, round_id: UUID | None = None, modes: Collection[Mode] = (Mode.REAL,)
) -> tuple[PlayingLine, ...]:
    """Return the player's rounds in progress, oldest first.

    The result has the rounds of these *modes*, or only the round *round_id*.
    """
    if fetch_one(MAY_PLAY, {"player": player.pk, "open": [phase.value for phase in OPEN_PHASES]}) is None:
        return ()
    asked = Q(pk=round_id) if round_id else Q(live_table__mode__in=list(modes))
    found = _in_progress(player).filter(asked)
    rounds = found.select_related("version__table", "shoe", "live_table").order_by("opened_at")
    seats = {
        seat.round_id: seat for seat in LiveSeat.objects.filter(player=player, round_id__in=[r.pk for r in rounds])
    }
    return tuple(
        _playing_line(each, seats[each.pk], language) if each.pk in seats else _playing_coup(each, player)
        for each in rounds
    )


def _in_progress(player: Player) -> QuerySet[LiveRound]:
    bet_on = LiveSeat.objects.filter(player=player, round_id__isnull=False).exclude(stakes={}).values("round_id")
    theirs = Q(pk__in=bet_on, phase__in=OPEN_PHASES) | Q(pk__in=coups.in_progress(player.pk).values("pk"))
    return LiveRound.objects.filter(theirs)


def replay_spots(player: Player, round_id: UUID, language: str) -> tuple[SpotView, ...]:
    """Return the bet areas of a finished round with stakes and results, under its limits."""
    part = participation(round_id, player.pk)
    if part is None or part.round.table_version.table.variant not in VARIANTS:
        return ()
    version = part.round.table_version
    bets = dealt(part).bets
    stakes = {bet: line.stake for bet, line in bets.items()}
    return spots(VARIANTS[version.table.variant], Limits.of(version.limits, part.currency), stakes, bets, language)


def history_lines(parts: Iterable[Participation], language: str) -> tuple[HistoryLine, ...]:
    """Return stored rounds as lines of Game logs. Reads the Chemin de Fer details in one query."""
    parts = tuple(parts)
    finished = coups.read_finished(part.round_id for part in parts if is_coup(part))
    return tuple(_line(part, finished, language) for part in parts)


def is_coup(part: Participation) -> bool:
    """Return True if the round is a coup of Chemin de Fer."""
    return part.round.table_version.table.variant not in VARIANTS


def decks_of(part: Participation) -> int:
    """Return the number of decks from which a round was dealt."""
    shoe = part.round.shoe
    return shoe.decks if shoe else GAMES[part.round.table_version.table.variant].decks


def _line(part: Participation, finished: Mapping[UUID, FinishedCoup], language: str) -> HistoryLine:
    played, status, wagers = part.round, _status(part), part.wagers.all()
    version = played.table_version
    table = version.table
    coup = finished.get(part.round_id)
    is_shown = status == "complete" or (status == "void" and is_showable(part))
    view = _view(part, coup, language) if is_shown else None
    if status == "complete" and view is None:
        status = "examined"
    return HistoryLine(
        id=part.round_id,
        code=played.code,
        at=played.at,
        table_name=table.title,
        table_slug=table.slug,
        table_id=table.pk,
        mode=Mode(part.mode),
        currency=part.currency,
        status=status,
        is_dealt=bool(played.cards) or (coup is not None and played.first_card is not None),
        is_undone_by_people=status == "void" and VoidReason(played.void.reason).is_of_people,
        view=view,
        wagers=tuple(
            WagerLine(wager.bet, wager_name(part, wager.bet, language), wager.stake, paid_back(wager), wager.result)
            for wager in wagers
            if status != "examined"
        ),
        staked=part.staked,
        paid=sum(paid_back(wager) for wager in wagers) if status == "void" else part.paid,
        commission=part.commission,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        rules_version=version.rules_version,
        rules_digest=version.rules_digest,
        table_version=version.number,
        commitment=played.commitment,
        seed=_seed(played),
        player_value=played.player_value,
        decks=decks_of(part),
        coup=coups.coup_line(coup, part.player_id, part.currency, language) if coup and status != "examined" else None,
    )


def _view(part: Participation, coup: FinishedCoup | None, language: str) -> RoundView | None:
    if is_coup(part):
        return coups.round_view(dealt(part), coup) if coup else None
    return round_view(dealt(part), VARIANTS[part.round.table_version.table.variant], language=language, fresh=False)


def wager_name(part: Participation, bet: str, language: str) -> str:
    """Return the name of a bet of a stored round."""
    if is_coup(part):
        return coups.bet_name(bet)
    return bet_name(VARIANTS[part.round.table_version.table.variant], bet, language)


def paid_back(wager: Wager) -> int:
    """Return the payout of a bet; its stake if the round was voided before settlement."""
    return wager.stake if wager.result == "void" else wager.payout


def _seed(played: Round) -> str:
    """Return the seed of a round or of its shoe in hex; empty until it is public."""
    return bytes((played.shoe or played).seed or b"").hex()


def _in_shoe(played: Round) -> InShoe | None:
    if played.shoe is None:
        return None
    number = LiveRound.objects.values_list("number", flat=True).get(pk=played.pk)
    card = 0 if played.first_card is None else played.first_card + 1
    cards = card_proofs.proven(played.shoe, played.pk)
    return _of_shoe(played.shoe, played.table_version.table, number, card, cards)


def _of_shoe(shoe: Shoe, table: Table, round_number: int, card: int = 0, cards: tuple[ProvenCard, ...] = ()) -> InShoe:
    purpose = Purpose.CHEMIN if table.shape == Shape.CHEMIN else Purpose.SHOE
    return InShoe(
        id=shoe.pk,
        number=shoe.number,
        round_number=round_number,
        card=card,
        purpose=purpose.value,
        rules_digest=shoe.rules_digest,
        cards_root=shoe.root,
        entropy=shoe.entropy,
        cards=cards,
    )


def _playing_line(going: LiveRound, seat: LiveSeat, language: str) -> PlayingLine:
    version = going.version
    variant = VARIANTS[version.table.variant]
    return PlayingLine(
        id=going.pk,
        code=going.code,
        at=going.opened_at,
        table_name=version.table.title,
        table_slug=version.table.slug,
        table_id=version.table_id,
        mode=Mode(going.live_table.mode),
        currency=seat.currency,
        is_held=going.phase == Phase.BETTING,
        wagers=tuple(
            WagerLine(bet.code, bet_name(variant, bet.code, language), seat.stakes[bet.code], 0, "")
            for bet in variant.bets
            if bet.code in seat.stakes
        ),
        staked=sum(seat.stakes.values()),
        rules_version=version.rules_version,
        table_version=version.number,
        commitment=going.shoe.commitment,
        shoe=_of_shoe(going.shoe, version.table, going.number),
    )


def _playing_coup(going: LiveRound, player: Player) -> PlayingLine:
    version = going.version
    bet, amount = coups.part_in_progress(going, player.pk)
    return PlayingLine(
        id=going.pk,
        code=going.code,
        at=going.opened_at,
        table_name=version.table.title,
        table_slug=version.table.slug,
        table_id=version.table_id,
        mode=Mode(going.live_table.mode),
        currency=player.currency,
        is_held=False,
        wagers=(WagerLine(bet, coups.bet_name(bet), amount, 0, ""),),
        staked=amount,
        rules_version=version.rules_version,
        table_version=version.number,
        commitment=going.shoe.commitment,
        shoe=_of_shoe(going.shoe, version.table, going.number),
        is_coup=True,
    )


def _status(part: Participation) -> Status:
    if hasattr(part.round, "void"):
        return "void"
    return "complete" if is_readable(part) else "examined"
