"""Hourly counts of how bets ended, and alarms about returns after each counted hour.

A round counts once for a bet, by its first wager: at a shared table all stakes on a bet win or lose
together. A payout that the bet cannot have is counted for every wager. A round voided before
settlement does not count. A round voided afterwards counts as it ended: omitting it would select
rounds by their result, and wrong payouts are exactly what the monitoring looks for.

If the evidence against a rules version reaches the limit, an alarm is raised, once per version and kind of money. If a
supervisor has set it for the game, its tables under these rules are closed. Rounds in progress are
finished.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import exp, inf, log
from typing import Final

from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Now

from audit import log as event_log
from audit.hours import HOUR
from audit.reports.kinds import Interval
from games.engine.bets import UnknownBet, Variant
from games.engine.evidence import LIMIT, OTHER, bet_test, ending_of, log_evidence_of
from games.engine.odds import percent
from games.models import Evidence, ReturnsAlarm, Status, StopPolicy, Table
from games.tables.checks import TableError
from games.tables.status import close_table
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


LOCK: Final = 1019  # key of advisory locks
SYSTEM: Final = "system"
WITHOUT_END: Final = "without end"
LONGEST: Final = 1_000_000  # larger evidence is shown as a power of ten
Endings = Mapping[str, int]  # ending -> number of rounds


@dataclass(frozen=True)
class Life:
    """A version of the rules of a game with one kind of money, from its first round on."""

    variant: Variant
    mode: Mode
    bets: Mapping[str, Endings]

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of the evidence against it."""
        return log_evidence_of(self.variant, self.bets)

    @property
    def rounds(self) -> int:
        """The rounds of the most frequent bet.

        Rounds with several bets are not counted as one anywhere.
        """
        return max((sum(endings.values()) for endings in self.bets.values()), default=0)


def lives(**scope: object) -> Iterator[Life]:
    """Yield every life under rules that this release has, from the rows of `Evidence` in
    *scope*.
    """
    found: dict[tuple[str, str], dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for slug, variant in VARIANTS.items():
        rows = Evidence.objects.filter(version__table__variant=slug, version__rules_digest=variant.digest, **scope)
        for mode, bet, gain, rounds in rows.values_list("mode", "bet", "gain").annotate(Sum("rounds")).order_by():
            found[slug, mode][bet][gain] = rounds
    for (slug, mode), bets in sorted(found.items()):
        yield Life(VARIANTS[slug], Mode(mode), bets)


def check_returns() -> list[ReturnsAlarm]:
    """Raise all due alarms and return them. Concurrent calls raise each alarm once."""
    suspicious = [life for life in lives() if life.log_evidence >= log(LIMIT)]
    return [alarm for life in suspicious if (alarm := _raise(life))]


@transaction.atomic
def _raise(life: Life) -> ReturnsAlarm | None:
    """Raise the alarm about a life, unless it exists."""
    _lock()
    key = {"variant": life.variant.slug, "rules_digest": life.variant.digest, "mode": life.mode}
    if ReturnsAlarm.objects.filter(**key).exists():
        return None
    evidence = written(life.log_evidence)
    stops = StopPolicy.objects.filter(variant=life.variant.slug, stops=True).exists()
    stopped = _close_tables(life, evidence) if stops else []
    bets = {bet: _bet_figures(life.variant, bet, endings) for bet, endings in life.bets.items()}
    data: dict[str, event_log.Json] = {
        "bets": bets,
        "evidence": evidence,
        "mode": life.mode.value,
        "rounds": life.rounds,
        "rules": life.variant.digest,
        "rules_version": life.variant.version,
        "stopped": stopped,
    }
    event_log.record("returns.alarm", by=SYSTEM, on=f"game:{life.variant.slug}", data=data)
    return ReturnsAlarm.objects.create(**key, rounds=life.rounds, evidence=evidence, bets=bets, stopped=stopped)


def _close_tables(life: Life, evidence: str) -> list[str]:
    found = Table.objects.filter(variant=life.variant.slug, version__rules_digest=life.variant.digest)
    tables = found.exclude(status=Status.CLOSED).order_by("pk")
    reason = f"The RTP of {life.variant.slug} ({life.mode.label.lower()} money): evidence {evidence} against it."
    return [close_table(table_id=table.pk, reason=reason, by=SYSTEM).slug for table in tables]


def _bet_figures(variant: Variant, bet: str, endings: Endings) -> list[str]:
    """Return facts about a bet: rounds, return per unit if each round staked the same, exact
    return, evidence.
    """
    rounds = sum(endings.values())
    if bet not in {each.code for each in variant.bets}:
        return [str(rounds), "–", "–", WITHOUT_END]
    test = bet_test(variant, bet)
    known = {ending: count for ending, count in endings.items() if ending in test.gains}
    back = sum((count * (1 + test.gains[ending]) for ending, count in known.items()), Fraction())
    actual = percent(back / sum(known.values()), 4) if known else "–"
    return [str(rounds), actual, percent(1 + test.mean, 4), written(test.log_evidence(endings))]


def written(log_evidence: float) -> str:
    """Format evidence from its natural logarithm."""
    if log_evidence == inf:
        return WITHOUT_END
    if log_evidence >= log(LONGEST):
        return f"10^{int(log_evidence / log(10))}"
    return f"{exp(log_evidence):,.0f}" if log_evidence >= log(10) else f"{exp(log_evidence):.2f}"


@transaction.atomic
def set_stop(*, variant: str, stops: bool, reason: str, by: str) -> bool:
    """Set whether an alarm closes the tables of a game.

    Return whether this changed the setting.

    Setting the same value again changes and records nothing. Raises TableError without a reason,
    KeyError for a game without bets against the house.
    """
    if not reason.strip():
        raise TableError("Enter a reason. It is recorded in the audit log.")
    slug = VARIANTS[variant].slug
    _lock()
    before = StopPolicy.objects.filter(variant=slug, stops=True).exists()
    if before is stops:
        return False
    data: dict[str, event_log.Json] = {"after": stops, "before": before, "reason": reason.strip()}
    event_log.record("returns.stop_policy", by=by, on=f"game:{slug}", data=data)
    said = {"stops": stops, "by": by, "reason": reason.strip(), "at": Now()}
    StopPolicy.objects.update_or_create(variant=slug, defaults=said)
    return True


def _lock() -> None:
    """Serialise the transactions that raise alarms or change the setting."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
