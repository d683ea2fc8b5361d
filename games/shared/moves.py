"""Calls of the database functions that write shoes, rounds and live tables.

Nothing else may write them (``games/sql/functions/shoes.sql``, ``live_rounds.sql``). The functions
check what they are asked against what is stored. Callers have checked the same before, so a refusal
is a bug or an attack: `games.shared.phases` stops the table.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from audit.raw_rows import named_errors
from games.dealer.client import CardsDealt
from games.deals import Ask, NewShoe
from games.models import LiveRound, LiveTable, Phase, Shoe, ShoeCut, ShoeEnding
from players import notify


class MoveRefused(Exception):
    """A change of a shoe, round or live table that the database refuses."""


class NothingOpensHere(MoveRefused):
    """The table takes no new shoe or round now."""


class UsedBefore(MoveRefused):
    """The id or the commitment was used before."""


class DoesNotFit(MoveRefused):
    """Cards, seed or position that do not fit the shoe."""


class WrongPhase(MoveRefused):
    """The shoe has ended, or the round is in another phase."""


class TooEarly(MoveRefused):
    """The deadline has not passed."""


class BetsDiffer(MoveRefused):
    """Bets or money of the round do not agree with the move."""


class StaysStopped(MoveRefused):
    """The table is not stopped, or an incident awaits its ruling."""


ERROR_OF_STATE: Final[Mapping[str, type[MoveRefused]]] = {
    "SB070": NothingOpensHere,
    "SB071": UsedBefore,
    "SB072": DoesNotFit,
    "SB073": WrongPhase,
    "SB074": TooEarly,
    "SB075": BetsDiffer,
    "SB076": StaysStopped,
}
Value = int | str | bytes | datetime | UUID | None
BEGIN_CUT: Final = """
SELECT * FROM games_begin_cut(%s, %s, %s, make_interval(secs => %s), %s, %s, make_interval(secs => %s))
"""
OPEN_SHOE: Final = """
SELECT * FROM games_open_shoe(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
CHANGED_COLUMNS: Final = ("phase", "deadline", "closed_at", "dealt_at", "ended_at", "first_card", "cards")


def open_shoe(live_table: LiveTable, made: NewShoe) -> Shoe:
    """Put a new shoe on the table. Raises NothingOpensHere, UsedBefore, DoesNotFit."""
    binding, cut = made.binding, made.cut
    values = [
        *(live_table.pk, made.id, cut.commitment, binding.decks, binding.rules, made.entropy, cut.root, cut.leaves),
        *(cut.burn_card, cut.burn_salt, cut.burned, cut.cut, cut.key, cut.signature, cut.proof),
    ]
    with named_errors(ERROR_OF_STATE):
        shoe: Shoe = Shoe.objects.raw(OPEN_SHOE, values)[0]
    live_table.shoe = shoe
    return shoe


def begin_cut(
    live_table: LiveTable,
    shoe_id: UUID,
    commitment: str,
    seconds: float,
    *,
    chain: str | None,
    beacon_round: int | None,
    waits: float,
) -> ShoeCut:
    """Let players cut the next shoe of a table, await a round of a beacon for it if any is named, and notify watchers.

    Raises NothingOpensHere, UsedBefore.
    """
    values = [live_table.pk, shoe_id, commitment, seconds, chain, beacon_round, waits]
    with named_errors(ERROR_OF_STATE):
        cut: ShoeCut = ShoeCut.objects.raw(BEGIN_CUT, values)[0]
    notify.notify_table(live_table.pk)
    return cut


def bind_chance(live_table_id: int, shoe_id: UUID, player_id: int, digest: str) -> bool:
    """Bind a player to a value for a shoe that is being cut; return whether that was in time."""
    return bool(_call("games_bind_chance(%s, %s, %s, %s)", live_table_id, shoe_id, player_id, digest))


def open_chance(live_table_id: int, shoe_id: UUID, player_id: int, value: str) -> bool:
    """Open the value of a player for a shoe that is being cut; return whether that was in time."""
    return bool(_call("games_open_chance(%s, %s, %s, %s)", live_table_id, shoe_id, player_id, value))


def squeeze(live_table_id: int, round_id: UUID, player_id: int, side: str, card: int, share: int) -> bool:
    """Note how far a player has lifted a card, and notify watchers; return whether it was theirs to lift now.

    *side*, *card* and *share* are as in ``squeezes.sql``.
    """
    is_noted = bool(
        _call("games_squeeze(%s, %s, %s, %s, %s, %s)", live_table_id, round_id, player_id, side, card, share)
    )
    if is_noted:
        notify.notify_squeeze(live_table_id)
    return is_noted


def take_beacon(shoe_id: UUID, signature: str) -> bool:
    """Take the verified signature of a beacon's round for a shoe; return whether it was awaited."""
    return bool(_call("games_take_beacon(%s, %s)", shoe_id, signature))


def chances(shoe_id: UUID) -> list[str]:
    """Return what goes into the shuffle of a shoe in addition to its seed, line by line.

    Of each player "digest value", in order; then the line of a beacon (`games.beacon`), if one came.
    """
    return _call("games_chances(%s)", shoe_id) or []


def ask_for_cards(round_id: UUID) -> Ask:
    """Return the permission to take cards out of the shoe of a round. Raises WrongPhase, TooEarly."""
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute("SELECT first, count, stakes, ticket FROM games_ask_for_cards(%s)", [round_id])
        first, count, stakes, ticket = cursor.fetchone()
    return Ask(first, count, stakes, bytes(ticket))


def draw_cards(round_id: UUID, dealt: CardsDealt) -> int:
    """Take cards of a coup out of its shoe; return how many have left it. Raises WrongPhase, DoesNotFit."""
    gone: int = _call("games_draw_cards(%s, %s, %s, %s, %s, %s)", round_id, *_said(dealt))
    return gone


def end_shoe(shoe: Shoe, ending: ShoeEnding) -> None:
    """End a shoe. Raises WrongPhase."""
    shoe.ended_at = _call("games_end_shoe(%s, %s)", shoe.pk, ending.value)
    shoe.ending = ending


def ask_for_seed(shoe_id: UUID) -> bytes:
    """Return the permission to publish the seed of a shoe that has ended. Raises WrongPhase."""
    return bytes(_call("games_ask_for_seed(%s)", shoe_id))


def publish_seed(shoe: Shoe, seed: bytes) -> None:
    """Publish the seed of a shoe that has ended. Raises WrongPhase, DoesNotFit."""
    _call("games_publish_seed(%s, %s)", shoe.pk, seed)
    shoe.seed = seed


def open_round(live_table: LiveTable, round_id: UUID, *, version_id: int, code: str) -> LiveRound:
    """Open a round from the shoe on the table. Raises NothingOpensHere, UsedBefore."""
    values = [live_table.pk, round_id, version_id, code]
    with named_errors(ERROR_OF_STATE):
        live_round: LiveRound = LiveRound.objects.raw("SELECT * FROM games_open_round(%s, %s, %s, %s)", values)[0]
    live_table.round = live_round
    return live_round


def take_bets_again(live_round: LiveRound) -> None:
    """Start the betting time again. Raises WrongPhase, TooEarly, BetsDiffer."""
    live_round.deadline = _call("games_take_bets_again(%s)", live_round.pk)


def close_bets(live_round: LiveRound) -> None:
    """Close the bets. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_close_bets(%s)")


def deal_round(live_round: LiveRound, dealt: CardsDealt) -> None:
    """Take the cards of a round out of the shoe. Raises WrongPhase, TooEarly, DoesNotFit."""
    _move(live_round, "games_deal_round(%s, %s, %s, %s, %s, %s)", *_said(dealt))


def finish_round(live_round: LiveRound) -> None:
    """End a paid round. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_finish_round(%s)")


def end_void(live_round: LiveRound) -> None:
    """End a round or a coup without a result. Raises WrongPhase, BetsDiffer."""
    _move(live_round, "games_end_void(%s)")


def move_coup(live_round: LiveRound, phase: Phase, *, at: datetime, deadline: datetime) -> None:
    """Move a coup to its next phase. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_move_coup(%s, %s, %s, %s)", phase.value, at, deadline)


def stop_table(live_table_id: int, incident_id: int) -> None:
    """Stop a live table, unless it is stopped already. Raises StaysStopped."""
    _call("games_stop_table(%s, %s)", live_table_id, incident_id)


def reopen_table(live_table: LiveTable) -> None:
    """Reopen a stopped live table. Raises StaysStopped."""
    _call("games_reopen_table(%s)", live_table.pk)
    live_table.stopped_by = None


def _move(live_round: LiveRound, function: str, *values: Value) -> None:
    """Call a function that returns the round, and take over what has changed."""
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(CHANGED_COLUMNS)} FROM {function}", [live_round.pk, *values])  # noqa: S608  (our own names)
        changed = cursor.fetchone()
    for name, value in zip(CHANGED_COLUMNS, changed, strict=True):
        setattr(live_round, name, value)


def _said(dealt: CardsDealt) -> list[Value]:
    return [dealt.cards, dealt.salts, dealt.key, dealt.signature, dealt.proof]


def _call(function: str, *values: Value) -> Any:
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}", values)
        (returned,) = cursor.fetchone()
    return returned
