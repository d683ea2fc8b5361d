"""Settle a round of a shared table: a few statements pay everybody, however many have bet.

The engine says once what each bet of the game pays on this coup. One function of the database
(``games/sql/functions/live_settlement.sql``) computes every payout from the stored bets, stores the
round, turns what is held into stakes and pays; it refuses what the stored rules, holds and balances
do not allow. Then the engine checks the results. If they differ, everything is rolled back.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from django.db import connection
from django.utils.translation import gettext_noop

from audit import log
from audit.raw_rows import Value
from games.engine.bets import PUSH, BetRule, Variant
from games.engine.coup import Coup
from games.engine.dealing import coup_at
from games.engine.settle import Result, SettlementError, line_of
from games.models import LiveRound
from games.rounds.database_refusals import BalancesDiffer, StakesDiffer, WrongWagers, round_refusals
from games.rounds.integrity import NotRecomputed, NotReproduced
from games.rounds.redeal import Finding
from games.shared import shoes
from games.shared.rounds import rules_of
from wallet import ledger

SETTLE = """
SELECT lines, slips
FROM games_settle_live_round(%(round)s::uuid, %(pays)s::jsonb, %(stake_key)s::uuid, %(settle_key)s::uuid)
"""


def settle(live_round: LiveRound, coup: Coup) -> None:
    """Pay everybody who has bet on a dealt round, and store it as a finished round.

    *coup* is what was dealt from the shoe, as `redeal` returns it. Raises NotRecomputed,
    RulesUnknown, LedgerError.
    """
    variant = rules_of(live_round)
    values: dict[str, Value] = {
        "round": live_round.pk,
        "pays": json.dumps([asdict(_Pay.of(bet, coup)) for bet in variant.bets]),
        "stake_key": ledger.system_key(live_round.pk, "stake"),
        "settle_key": ledger.system_key(live_round.pk, "settle"),
    }
    with _recomputed(), ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(SETTLE, values)
        lines, slips = map(json.loads, cursor.fetchone())
    if found := list(_unlike(variant, coup, lines or (), slips or ())):
        raise NotRecomputed(gettext_noop("The settlement of a bet violates the rules."), *found)
    log.count("round.settled", {})


@contextmanager
def _recomputed() -> Iterator[None]:
    """Raise NotRecomputed with the findings of the database."""
    try:
        with round_refusals():
            yield
    except WrongWagers as error:
        raise NotRecomputed("A bet pays more than the rules allow.") from error
    except StakesDiffer as error:
        found = _findings("staked", error.found)
        raise NotRecomputed(gettext_noop("The bets differ from the stakes that are held."), *found) from error
    except BalancesDiffer as error:
        found = _findings("balance after", error.found)
        raise NotRecomputed(gettext_noop("A balance differs from the settlement."), *found) from error


def _findings(what: str, rows: Iterable[tuple[int, str, str]]) -> list[Finding]:
    return [Finding(f"player:{player} {what}", stored, recomputed) for player, stored, recomputed in rows]


def redeal(live_round: LiveRound) -> Coup:
    """Deal the round again from what its shoe is committed to and compare the cards.

    Raises NotReproduced where the cards differ, and what `shoes.cards_of` raises.
    """
    coup = coup_at(shoes.cards_of(live_round.shoe), live_round.first_card or 0)
    if (again := shoes.written(coup.cards)) != live_round.cards:
        raise NotReproduced(
            gettext_noop("The cards of the round do not match the shoe."), Finding("cards", live_round.cards, again)
        )
    return coup


@dataclass(frozen=True)
class _Pay:
    """What a bet pays on a coup, as a row for PostgreSQL: `win` units for each `per` units staked."""

    bet: str
    win: int
    per: int
    bears_commission: bool
    result: Result

    @classmethod
    def of(cls, bet: BetRule, coup: Coup) -> "_Pay":
        """Return what *bet* pays on *coup*, from the engine."""
        pays = bet.pays(coup)
        if pays is None:
            return cls(bet.code, 0, 1, bears_commission=False, result=Result.LOSE)
        is_push = pays is PUSH
        result = Result.PUSH if is_push else Result.WIN
        return cls(bet.code, pays.win, pays.per, bears_commission=bet.commission and not is_push, result=result)


def _unlike(
    variant: Variant, coup: Coup, lines: Iterable[tuple[str, int, int, int, str]], slips: Iterable[Sequence[str]]
) -> Iterator[Finding]:
    """Recompute every distinct stored line with the engine alone, and check the combinations of bets.

    They are a few, however many players have bet.
    """
    for bet, stake, payout, commission, result in lines:
        line = line_of(variant.bet(bet), coup, stake)
        stored: list[int | str] = [payout, commission, result]
        settled: list[int | str] = [line.payout, line.commission, str(line.result)]
        if stored != settled:
            yield Finding(f"{bet} {stake}", _spoken(stored), _spoken(settled))
    for bets in slips:
        try:
            variant.check(dict.fromkeys(bets, 1))
        except SettlementError as error:
            yield Finding("bets", ", ".join(bets), f"{type(error).__name__}: {error}")


def _spoken(settled: Sequence[int | str]) -> str:
    payout, commission, result = settled
    return f"{result}, paid {payout}, commission {commission}"
