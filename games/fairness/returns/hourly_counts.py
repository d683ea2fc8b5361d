"""Hourly counts of how bets ended.

A round counts once for a bet, by its first wager: at a shared table all stakes on a bet win or lose
together. A payout that the bet cannot have is counted for every wager. A round voided before
settlement does not count. A round voided afterwards counts as it ended: omitting it would select
rounds by their result, and wrong payouts are exactly what the monitoring looks for.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db import connection

from audit.hours import HOUR
from audit.reports.kinds import Interval
from games.engine.bets import UnknownBet
from games.engine.evidence import OTHER, ending_of
from games.models import Evidence
from games.variants import VARIANTS
from wallet.models import Mode

HOURLY_TOTALS: Final = "games.evidence"
CHECKED: Final = 168  # hours that are recounted at once

# Uses the index of the round search, like `games.fairness.hourly_totals`. OFFSET 0 keeps PostgreSQL
# from turning a lookup by key into a join that scans a whole table.
READ: Final = """
    SELECT hour, version, mode, bet, variant, rules, stake, payout, result,
        count(*) FILTER (WHERE wager_number = 1), count(*)
    FROM (
        SELECT date_trunc('hour', part.at, 'UTC') AS hour, version.id AS version, part.mode, wager.bet, tables.variant,
            version.rules_digest AS rules, wager.stake, wager.payout, wager.result,
            row_number() OVER (PARTITION BY part.round_id, wager.bet ORDER BY part.id) AS wager_number
        FROM games_table AS tables CROSS JOIN unnest(%(modes)s::text[]) AS money (mode)
        CROSS JOIN LATERAL (
            SELECT id, round_id, mode, at FROM games_participation
            WHERE table_id = tables.id AND mode = money.mode AND at >= %(since)s AND at < %(until)s
        ) AS part
        CROSS JOIN LATERAL (SELECT table_version_id FROM games_round WHERE id = part.round_id OFFSET 0) AS round
        CROSS JOIN LATERAL (
            SELECT bet, stake, payout, result FROM games_wager WHERE participation_id = part.id OFFSET 0
        ) AS wager
        JOIN games_tableversion AS version ON version.id = round.table_version_id
        WHERE tables.variant = ANY(%(variants)s) AND wager.result <> 'void'
    ) AS ended
    GROUP BY hour, version, mode, bet, variant, rules, stake, payout, result
"""

Ended = tuple[datetime, int, str, str, str]
"""An hour, a table version, a kind of money, a bet, and an ending."""


def roll(hour: datetime) -> int:
    """Count the endings of the hour that starts at *hour*.

    Return the number of wagers read.

    Rounds under rules that this release does not have are omitted, because their probabilities are
    unknown.
    """
    counts, read = count(Interval(hour, hour + HOUR))
    Evidence.objects.bulk_create(
        Evidence(hour=begins, version_id=version, mode=mode, bet=bet, gain=gain, rounds=rounds)
        for (begins, version, mode, bet, gain), rounds in sorted(counts.items())
    )
    return read


def differences(whole: Interval) -> Iterator[str]:
    """Recount whole hours and yield a sentence for each difference, for rules that this release
    has.
    """
    begins = whole.since
    while begins < whole.until:
        interval = Interval(begins, min(begins + CHECKED * HOUR, whole.until))
        yield from _differences(interval)
        begins = interval.until


def _differences(interval: Interval) -> Iterator[str]:
    counted, _read = count(interval)
    rules = [variant.digest for variant in VARIANTS.values()]
    stored: Counter[Ended] = Counter()
    rows = Evidence.objects.filter(hour__gte=interval.since, hour__lt=interval.until, version__rules_digest__in=rules)
    for each in rows:
        stored[each.hour, each.version_id, each.mode, each.bet, each.gain] = each.rounds
    for ended in sorted(counted.keys() | stored.keys()):
        if counted[ended] != stored[ended]:
            hour, version, mode, bet, gain = ended
            yield (
                f"{hour:%Y-%m-%d %H}:00, table version {version}, mode {mode}, {bet}, {gain}:"
                f" {stored[ended]} kept, {counted[ended]} counted"
            )


def count(interval: Interval) -> tuple[Counter[Ended], int]:
    """Return the counts of endings by hour, and the number of wagers read."""
    counts: Counter[Ended] = Counter()
    read = 0
    with connection.cursor() as cursor:
        cursor.execute(
            READ,
            {
                "since": interval.since,
                "until": interval.until,
                "modes": list(Mode.values),
                "variants": list(VARIANTS),
            },
        )
        for hour, version, mode, bet, variant, rules, stake, payout, result, rounds, wagers in cursor:
            read += wagers
            if VARIANTS[variant].digest == rules:
                gain = _ending(variant, bet, stake, payout, result)
                counts[hour, version, mode, bet, gain] += wagers if gain == OTHER else rounds
    return +counts, read


def _ending(variant: str, bet: str, stake: int, payout: int, result: str) -> str:
    try:
        return ending_of(VARIANTS[variant], bet, stake=stake, payout=payout, result=result)
    except UnknownBet:
        return OTHER
