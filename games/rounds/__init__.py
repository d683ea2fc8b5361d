"""Finish a solo round in one SQL statement in the caller's transaction.

The statement moves the money, inserts the round, the player's part and every wager, records the
event, and stores the next round.
"""

import json
from dataclasses import asdict, dataclass
from typing import TypeAlias
from uuid import UUID

from django.db import connection

from audit import log
from games.engine.coup import Coup
from games.engine.settle import Settlement
from games.models import SoloSeat, TableVersion
from games.rounds.codes import round_code
from games.rounds.insert import INSERT, NEW_PARTS, NEW_ROUND, NewPart, NewRound, NewWager, parts_parameter
from players.models import Player
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode

Value: TypeAlias = str | int | bytes | UUID | None


@dataclass(frozen=True)
class FinishedRound:
    """Everything known about one player's solo round. Amounts in minor units of the player's currency."""

    round_id: UUID
    version: TableVersion
    mode: Mode
    commitment: str
    seed: bytes
    player_value: str
    coup: Coup
    settlement: Settlement
    player: Player
    account_id: int
    balance_before: int
    session: UUID | None

    @property
    def balance_after(self) -> int:
        """The balance after the payouts. The account is locked from before the stakes, so no other
        movement intervenes.
        """
        return self.balance_before - self.settlement.staked + self.settlement.paid

    @property
    def cards(self) -> str:
        """The cards in dealing order: "9H 4D KS 2C"."""
        return " ".join(card.code for card in self.coup.cards)


class BalancesDisagree(Exception):
    """The ledger's balance differs from the round's: the caller did not lock the account."""


# One statement, because a round trip costs as much as the work. It calls the SQL functions of the ledger and the
# audit log.
FINISH = f"""
WITH {NEW_ROUND}, {NEW_PARTS}, {INSERT}, succession AS (
    UPDATE games_soloseat
    SET round_id = %(next_round)s, commitment = %(next_commitment)s, sealed_seed = %(next_seed)s, undo = '[]',
        slip = %(slip)s::jsonb, slip_version = 0, last_stakes = %(last_stakes)s::jsonb, last_round = round_id,
        unseen = round_id
    WHERE id = %(place)s
)
SELECT audit_record(%(event_kind)s, %(event_by)s, %(event_on)s, %(event)s, NULL),
    (SELECT array_agg(balance ORDER BY place DESC)
     FROM wallet_post(%(journals)s::jsonb) WHERE account = %(account)s) AS balances,
    players_note_round(%(player)s, %(session)s, %(mode)s, %(staked)s, %(paid)s)
"""  # noqa: S608  (nothing but statements of our own)


def finish(finished: FinishedRound, seat: SoloSeat) -> None:
    """Move the money, insert the round, record ``round.settled`` and store *seat*, already
    committed to the next round.

    Raises ledger.InsufficientFunds; BalancesDisagree if the account was not locked.
    """
    wagers = tuple(
        NewWager(line.bet, line.stake, line.payout, line.commission, str(line.result))
        for line in finished.settlement.lines
    )
    values = _row(finished, wagers) | _event(finished, wagers) | _succession(seat)
    values["journals"] = ledger.request(*_journals(finished))
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(FINISH, values)
        _, balances, _ = cursor.fetchone()
    if balances[0] != finished.balance_after:
        raise BalancesDisagree(f"{finished.round_id}: {balances[0]}, not {finished.balance_after}")


def _journals(finished: FinishedRound) -> tuple[ledger.Journal, ledger.Journal]:
    """Return stakes and payouts as journals."""
    currency, mode, round_id = finished.player.currency, finished.mode, finished.round_id
    escrow = accounts.house_account(AccountKind.ESCROW, currency, mode)
    house = accounts.house_account(AccountKind.HOUSE, currency, mode)
    staked, paid = finished.settlement.staked, finished.settlement.paid

    def journal(kind: str, *amounts: tuple[int, int]) -> ledger.Journal:
        lines = tuple(ledger.Line(account, currency, mode, amount) for account, amount in amounts if amount)
        return ledger.Journal(ledger.system_key(round_id, kind), kind, lines, round_id)

    return (
        journal("stake", (finished.account_id, -staked), (escrow, staked)),
        journal("settle", (escrow, -staked), (finished.account_id, paid), (house, staked - paid)),
    )


def _event(finished: FinishedRound, wagers: tuple[NewWager, ...]) -> dict[str, Value]:
    event = log.event(
        "round.settled",
        by=f"player:{finished.player.pk}",
        on=f"round:{finished.round_id}",
        data={
            "balance_after": finished.balance_after,
            "balance_before": finished.balance_before,
            "cards": finished.cards,
            "commitment": finished.commitment,
            "currency": finished.player.currency,
            "mode": finished.mode,
            "player_value": finished.player_value,
            "rules": finished.version.rules_digest,
            "seed": finished.seed.hex(),
            "session": str(finished.session) if finished.session else None,
            "table_version": finished.version.pk,
            "wagers": [asdict(wager) for wager in wagers],
        },
    )
    return {"event_kind": event.kind, "event_by": event.by, "event_on": event.on, "event": event.rest}


def _succession(seat: SoloSeat) -> dict[str, Value]:
    return {
        "place": seat.pk,
        "next_round": seat.round_id,
        "next_commitment": seat.commitment,
        "next_seed": bytes(seat.sealed_seed),
        "slip": json.dumps(seat.slip),
        "last_stakes": json.dumps(seat.last_stakes),
    }


def _row(finished: FinishedRound, wagers: tuple[NewWager, ...]) -> dict[str, Value]:
    part = NewPart(
        player_id=finished.player.pk,
        currency=finished.player.currency,
        balance_before=finished.balance_before,
        balance_after=finished.balance_after,
        staked=finished.settlement.staked,
        paid=finished.settlement.paid,
        commission=sum(wager.commission for wager in wagers),
        session=finished.session,
        wagers=wagers,
    )
    inserted = NewRound(
        round_id=finished.round_id,
        code=round_code(finished.round_id),
        table_version=finished.version.pk,
        mode=finished.mode,
        commitment=finished.commitment,
        cards=finished.cards,
        outcome=str(finished.coup.outcome),
        seed=finished.seed,
        player_value=finished.player_value,
    )
    return vars(inserted) | {
        "parts": parts_parameter([part]),
        "player": part.player_id,
        "account": finished.account_id,
        "staked": part.staked,
        "paid": part.paid,
        "session": finished.session,
    }
