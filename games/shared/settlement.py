"""Settle a round of a shared table: a few statements pay everybody, however many have bet.

The engine says once what each bet of the game pays on this coup. PostgreSQL computes every payout,
the engine checks the results, and only then does money move.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from django.db import connection

from audit import log
from audit.log import Json
from games.engine.bets import PUSH, BetRule, Variant
from games.engine.coup import Coup
from games.engine.dealing import coup_at
from games.engine.settle import Result, SettlementError, line_of
from games.models import LiveRound
from games.raw_rows import Value
from games.rounds.insert import INSERT, NEW_ROUND, NewRound
from games.rounds.integrity import NotRecomputed, NotReproduced
from games.rounds.redeal import Finding
from games.shared import shoes
from games.shared.rounds import rules_of
from games.shared.shoes import SYSTEM
from players.protection import play_sessions
from wallet import ledger

# Players' accounts are locked by ascending id, as everywhere, and stay locked until they are paid.
LOCK = """
SELECT count(*) FROM (
    SELECT FROM wallet_account AS account
    WHERE account.id IN (SELECT seat.account_id FROM games_liveseat AS seat WHERE seat.round_id = %(round)s)
    ORDER BY account.id FOR UPDATE
) AS locked
"""

# PostgreSQL's statistics do not cover the rows of a round, which were just written. It would expect
# one row and compare ten thousand with ten thousand in nested loops. So rows of a round are joined
# to each other by FULL JOIN only, which always hashes or sorts. Anything else is looked up by its
# key.

# Insert the finished round with every participation and wager. The engine supplies what each bet
# pays, one row for each bet of the game. Amounts are rounded down bet by bet, by integer division.
# The balance before is the one right before the stakes were posted: other postings may have
# followed.
KEEP = f"""
WITH pays AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(pays)s::jsonb)
        AS pays (bet text, win bigint, per bigint, bears_commission boolean, result text)
), seat AS (
    SELECT account_id, player_id, currency, session, stakes FROM games_liveseat WHERE round_id = %(round)s
), before AS (
    SELECT entry.account_id, entry.balance_after - entry.amount AS balance
    FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
    WHERE journal.round_id = %(round)s AND journal.kind = 'held_stake' AND entry.balance_after IS NOT NULL
), slip AS MATERIALIZED (
    SELECT nextval('games_participation_id_seq') AS id, player_id, currency, session, stakes,
        before.balance AS balance_before,
        (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
    FROM seat FULL JOIN before USING (account_id)
), line AS MATERIALIZED (
    SELECT slip.id, slip.player_id, slip.currency, slip.session, slip.balance,
        coalesce(slip.balance_before, slip.balance) AS balance_before, lain.bet, lain.stake, made.payout, pays.result,
        CASE WHEN pays.bears_commission THEN 2 * lain.stake - made.payout ELSE 0 END AS commission
    FROM slip
    CROSS JOIN LATERAL (SELECT key, value::bigint FROM jsonb_each_text(slip.stakes)) AS lain (bet, stake)
    LEFT JOIN pays ON pays.bet = lain.bet  -- a bet that the game does not know cannot be kept
    CROSS JOIN LATERAL (
        SELECT CASE pays.result WHEN 'lose' THEN 0 ELSE lain.stake + lain.stake * pays.win / pays.per END
    ) AS made (payout)
), {NEW_ROUND}, new_part AS (
    SELECT id, player_id, currency, balance_before, balance + sum(payout)::bigint AS balance_after,
        sum(stake)::bigint AS staked, sum(payout)::bigint AS paid, sum(commission)::bigint AS commission, session
    FROM line GROUP BY id, player_id, currency, session, balance_before, balance
    ORDER BY player_id
), new_wager AS (
    SELECT id AS part_id, bet, stake, payout, commission, result FROM line ORDER BY player_id, bet COLLATE "C"
), {INSERT}
SELECT count(*) FROM round
"""  # noqa: S608  (nothing but statements of our own)

# Distinct lines and distinct combinations of bets: a few, however many players have bet.
LINES = """
SELECT DISTINCT wager.bet, wager.stake, wager.payout, wager.commission, wager.result
FROM games_participation AS part JOIN games_wager AS wager ON wager.participation_id = part.id
WHERE part.round_id = %(round)s
"""
SLIPS = """
SELECT DISTINCT array_agg(wager.bet ORDER BY wager.bet)
FROM games_participation AS part JOIN games_wager AS wager ON wager.participation_id = part.id
WHERE part.round_id = %(round)s GROUP BY part.id
"""

# Players whose participation differs from the stakes that the ledger took.
STAKED_OTHERWISE = """
SELECT coalesce(part.player_id, taken.player_id),
    coalesce(part.staked || ' ' || part.currency || ' ' || part.mode, 'nothing'),
    coalesce(taken.staked || ' ' || taken.currency || ' ' || taken.mode, 'nothing')
FROM (SELECT * FROM games_participation WHERE round_id = %(round)s) AS part
FULL JOIN (
    SELECT account.owner_id AS player_id, entry.currency, entry.mode, -sum(entry.amount)::bigint AS staked
    FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
    JOIN wallet_account AS account ON account.id = entry.account_id AND account.owner_id IS NOT NULL
    WHERE journal.round_id = %(round)s AND journal.kind = 'held_stake'
    GROUP BY account.owner_id, entry.currency, entry.mode
) AS taken ON taken.player_id = part.player_id
WHERE (part.staked, part.currency, part.mode) IS DISTINCT FROM (taken.staked, taken.currency, taken.mode)
ORDER BY 1 LIMIT 20
"""

# One journal for all players, also where nobody has won.
PAY = """
SELECT count(*) FROM (
    SELECT array_agg(seat.account_id) AS accounts, array_agg(part.paid) AS paid
    FROM (SELECT player_id, paid FROM games_participation WHERE round_id = %(round)s) AS part
    FULL JOIN (SELECT player_id, account_id FROM games_liveseat WHERE round_id = %(round)s) AS seat USING (player_id)
) AS everybody CROSS JOIN LATERAL wallet_settle_stakes(%(round)s, %(key)s, everybody.accounts, everybody.paid)
"""

# Players whose balance differs from the one stored with their participation. There must be none.
ENDED_OTHERWISE = """
SELECT player_id, balance_after::text, balance::text
FROM (SELECT player_id, balance_after FROM games_participation WHERE round_id = %(round)s) AS part
FULL JOIN (
    SELECT seat.player_id,
        (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
    FROM games_liveseat AS seat WHERE seat.round_id = %(round)s AND seat.stakes <> '{}'
) AS ended USING (player_id)
WHERE balance_after IS DISTINCT FROM balance
ORDER BY 1 LIMIT 20
"""

PLAYED = "SELECT player_id, session, mode, staked, paid FROM games_participation WHERE round_id = %(round)s"

# Digest of the whole settlement, to which the log commits: one line "player bet stake payout
# commission result" for each bet, ordered by player id and bet code, separated by line feeds.
SUMS = """
WITH line AS (
    SELECT part.player_id, part.currency, wager.*
    FROM games_participation AS part JOIN games_wager AS wager ON wager.participation_id = part.id
    WHERE part.round_id = %(round)s
), total AS (
    SELECT currency, count(DISTINCT player_id) AS players, count(*) AS wagers, sum(stake)::bigint AS staked,
        sum(payout)::bigint AS paid, sum(commission)::bigint AS commission
    FROM line GROUP BY currency
)
SELECT encode(sha256(convert_to(string_agg(
        concat_ws(' ', player_id, bet, stake, payout, commission, result), E'\\n' ORDER BY player_id, bet COLLATE "C"
    ), 'UTF8')), 'hex'),
    (SELECT jsonb_object_agg(currency, to_jsonb(total) - 'currency') FROM total)
FROM line
"""


def settle(live_round: LiveRound, coup: Coup) -> None:
    """Pay everybody who has bet on a dealt round, and store it as a finished round.

    *coup* is what the seed of the shoe deals, as `dealt_again` returns it. Raises NotRecomputed,
    RulesUnknown, LedgerError.
    """
    variant = rules_of(live_round)
    values = _values(live_round, coup, variant)
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(LOCK, values)
        cursor.execute(KEEP, values)
        _demand(list(_unlike(live_round, variant, coup)), "The settlement of a bet violates the rules.")
        cursor.execute(STAKED_OTHERWISE, values)
        _demand(_findings("staked", cursor.fetchall()), "The bets differ from the stakes in the ledger.")
        cursor.execute(PAY, values)
        cursor.execute(ENDED_OTHERWISE, values)
        _demand(_findings("balance after", cursor.fetchall()), "A balance differs from the settlement.")
        play_sessions.note_all(PLAYED, {"round": live_round.pk})  # after the money has moved, as at a solo table
        cursor.execute(SUMS, values)
        digest, totals = cursor.fetchone()
    _record(live_round, coup, digest, json.loads(totals))


def redeal(live_round: LiveRound) -> Coup:
    """Deal the round again from the seed of its shoe and compare the cards.

    Raises NotReproduced where the cards differ, and what `shoes.cards_of` raises.
    """
    coup = coup_at(shoes.cards_of(live_round.shoe), live_round.first_card or 0)
    if (again := shoes.written(coup.cards)) != live_round.cards:
        raise NotReproduced(
            "The cards of the round do not match the seed of the shoe.", Finding("cards", live_round.cards, again)
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


def _values(live_round: LiveRound, coup: Coup, variant: Variant) -> dict[str, Value]:
    pays = [_Pay.of(bet, coup) for bet in variant.bets]
    inserted = NewRound(
        round_id=live_round.pk,
        code=live_round.code,
        table_version=live_round.version_id,
        mode=live_round.live_table.mode,
        commitment=live_round.shoe.commitment,
        cards=live_round.cards,
        outcome=str(coup.outcome),
        shoe=live_round.shoe_id,
        first_card=live_round.first_card,
    )
    return vars(inserted) | {
        "round": live_round.pk,
        "pays": json.dumps([asdict(pay) for pay in pays]),
        "key": ledger.system_key(live_round.pk, "settle"),
    }


def _demand(found: Sequence[Finding], cause: str) -> None:
    """Raise NotRecomputed if there are findings."""
    if found:
        raise NotRecomputed(cause, *found)


def _findings(what: str, rows: Iterable[tuple[int, str, str]]) -> list[Finding]:
    return [Finding(f"player:{player} {what}", stored, recomputed) for player, stored, recomputed in rows]


def _unlike(live_round: LiveRound, variant: Variant, coup: Coup) -> Iterator[Finding]:
    """Recompute every distinct line with the engine alone, and check the combinations of bets."""
    with connection.cursor() as cursor:
        cursor.execute(LINES, {"round": live_round.pk})
        for bet, stake, *kept in cursor.fetchall():
            line = line_of(variant.bet(bet), coup, stake)
            settled: list[int | str] = [line.payout, line.commission, str(line.result)]
            if kept != settled:
                yield Finding(f"{bet} {stake}", _spoken(kept), _spoken(settled))
        cursor.execute(SLIPS, {"round": live_round.pk})
        for (bets,) in cursor.fetchall():
            try:
                variant.check(dict.fromkeys(bets, 1))
            except SettlementError as error:
                yield Finding("bets", ", ".join(bets), f"{type(error).__name__}: {error}")


def _spoken(settled: Sequence[int | str]) -> str:
    payout, commission, result = settled
    return f"{result}, paid {payout}, commission {commission}"


def _record(live_round: LiveRound, coup: Coup, digest: str, totals: dict[str, Json]) -> None:
    log.record(
        "round.settled",
        by=SYSTEM,
        on=f"round:{live_round.pk}",
        data={
            "cards": live_round.cards,
            "code": live_round.code,
            "commitment": live_round.shoe.commitment,
            "first_card": live_round.first_card,
            "mode": live_round.live_table.mode,
            "outcome": str(coup.outcome),
            "rules": live_round.version.rules_digest,
            "sha256": digest,
            "shoe": str(live_round.shoe_id),
            "table_version": live_round.version_id,
            "totals": totals,
        },
    )
