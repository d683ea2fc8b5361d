"""Build the answers of the compliance API about rounds (`backoffice.api.round_schemas`)."""

from collections.abc import Iterable, Iterator
from typing import Any

from games.models import CheminCoup, CheminMove, Incident, LiveRound, Participation, Shoe
from games.tables.chemin_rules import GuestRules
from games.verification.records import Kept
from games.verification.service import recalled

Said = dict[str, Any]


def found(part: Participation) -> Said:
    """Return one player's part in a round as a search result."""
    played = part.round
    return _part(part) | {
        "round": played.pk,
        "code": played.code,
        "table": part.table_id,
        "game": played.table_version.table.variant,
        "outcome": played.outcome,
        "at": played.at,
        "void": played.void.reason if hasattr(played, "void") else None,
    }


def going(live: LiveRound) -> Said:
    """Return a round in progress."""
    table = live.live_table
    return {
        "round": live.pk,
        "code": live.code,
        "table": table.table_id,
        "game": table.table.variant,
        "mode": table.mode,
        "phase": live.phase,
        "opened_at": live.opened_at,
        "is_interrupted": table.stopped_by_id is not None,
    }


def whole(kept: Kept, *, shows_incidents: bool) -> Said:
    """Return everything stored about a finished round, and the result of its verification."""
    played, version = kept.round, kept.round.table_version
    again = recalled(kept)
    is_own = played.seed is not None and bool(played.cards)
    return {
        "id": played.pk,
        "code": played.code,
        "at": played.at,
        "table": version.table_id,
        "table_name": version.table.name,
        "table_version": version.number,
        "game": version.table.variant,
        "mode": played.mode,
        "rules_version": version.rules_version,
        "rules_digest": version.rules_digest,
        "commitment": played.commitment,
        "seed": bytes(played.seed or b"").hex() if is_own else None,
        "player_value": played.player_value,
        "shoe": _shoe(played.shoe) if played.shoe else None,
        "first_card": played.first_card,
        "cards": played.cards.split(),
        "outcome": played.outcome,
        "parts": list(_parts(kept)),
        "coup": _coup(kept),
        "void": _picked(played.void, "reason", "by", "at") if kept.is_void else None,
        "incidents": [_incident(each) for each in again.incidents] if shows_incidents else [],
        "events": [_picked(each, "id", "kind", "leaf") for each in kept.events],
        "obstacle": again.deal.obstacle,
        "differences": [
            _picked(each, "what", "stored", "again")
            for each in (*again.differences, *(earlier.cards for earlier in again.earlier_that_differ))
        ],
    }


def _part(part: Participation) -> Said:
    amounts = ("currency", "mode", "staked", "paid", "commission", "balance_before", "balance_after", "session")
    return {"player": f"player:{part.player_id}"} | _picked(part, *amounts)


def _parts(kept: Kept) -> Iterator[Said]:
    back = {each.player_id: each for each in kept.round.void.parts.all()} if kept.is_void else {}
    for part in kept.parts:
        bets = [_picked(each, "bet", "stake", "payout", "commission", "result") for each in part.wagers.all()]
        moved = back.get(part.player_id)
        moved_back = _picked(moved, "returned", "shortfall") if moved else None
        yield _part(part) | {"bets": bets, "moved_back": moved_back}


def _shoe(shoe: Shoe) -> Said:
    kept = _picked(shoe, "id", "number", "decks", "commitment", "burn_card", "burned", "cut", "opened_at", "ended_at")
    return kept | {"seed": None if shoe.seed is None else bytes(shoe.seed).hex()}


def _coup(kept: Kept) -> Said | None:
    rows = CheminCoup.objects.select_related("banker", "punter").prefetch_related("stakes__seat")
    row = rows.filter(pk=kept.round.pk).first()
    if row is None:
        return None
    moves = CheminMove.objects.filter(round_id=row.pk).select_related("seat").order_by("number")
    facts = ("bank", "at_risk", "call", "outcome", "tax")
    hands = ("punter_total", "banker_total", "punter_draws", "banker_draws")
    return _picked(row, *facts, *hands) | {
        "currency": GuestRules.of(kept.round.table_version.limits).currency,
        "banker": row.banker.number,
        "banker_player": _whose(row.banker_player_id),
        "punter": row.punter.number if row.punter else None,
        "stakes": [
            {"seat": each.seat.number, "player": _whose(each.player_id)} | _picked(each, "stake", "returned")
            for each in row.stakes.all()
        ],
        "moves": list(_moves(moves)),
    }


def _moves(moves: Iterable[CheminMove]) -> Iterator[Said]:
    for each in moves:
        said = _picked(each, "number", "kind", "amount", "call", "decider", "asked_at", "at")
        yield said | {"seat": each.seat.number if each.seat else None}


def _incident(found_: Incident) -> Said:
    ruling = found_.ruling.ruling if hasattr(found_, "ruling") else None
    return {"id": found_.pk, "ruling": ruling} | _picked(found_, "kind", "cause", "findings", "done", "at")


def _whose(player: int | None) -> str | None:
    return None if player is None else f"player:{player}"


def _picked(row: object, *names: str) -> Said:
    return {name: getattr(row, name) for name in names}
