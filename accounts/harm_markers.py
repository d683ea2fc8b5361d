"""Markers of harm in rounds, deposits, withdrawals and changes of limits.

Only rounds for real money count, without voided ones. ``docs/markers.md`` gives reasons for the thresholds.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from players.models import Marker
from players.protection.harm_markers import MOST_WITHIN, Definition, Found
from wallet.models import Currency
from wallet.money import format_money

A_DAY = timedelta(days=1)
A_MONTH = timedelta(days=30)
AN_HOUR = timedelta(hours=1)
RUN: Final = 10  # rounds before and after, for the comparison of stakes

# In minor units. A lower loss, or a higher remaining balance, does not count.
LITTLE_LOST: Final[Mapping[str, int]] = {
    Currency.SEK: 100_00,
    Currency.DKK: 100_00,
    Currency.RON: 50_00,
    Currency.EUR: 10_00,
    Currency.GBP: 10_00,
}
MUCH_LOST: Final = {currency: 10 * amount for currency, amount in LITTLE_LOST.items()}
EMPTY: Final = {currency: amount // 10 for currency, amount in LITTLE_LOST.items()}

ROUNDS = """
, round AS (
    SELECT p.player_id, p.id, p.at, p.staked, p.paid, p.balance_after, jsonb_build_object(
        'table', 'games_round', 'id', p.round_id, 'at', p.at, 'amount', p.paid - p.staked) AS item
    FROM who JOIN games_participation AS p ON p.player_id = who.player_id AND p.mode = 'R'
    WHERE p.at > who.since AND NOT EXISTS (SELECT FROM games_void AS v WHERE v.round_id = p.round_id)
)
"""

# The stakes of some rounds, compared with those of as many rounds before, in which enough was lost.
RAISED = """
, compared AS (
    SELECT r.player_id, r.id, r.at, count(*) OVER earlier AS rounds_before, count(*) OVER later AS rounds_after,
        sum(r.staked) OVER earlier AS staked_before, sum(r.staked) OVER later AS staked_after,
        sum(r.staked - r.paid) OVER earlier AS lost, min(r.at) OVER earlier AS began, max(r.at) OVER later AS ended
    FROM round AS r
    WINDOW played AS (PARTITION BY r.player_id ORDER BY r.at, r.id),
        earlier AS (played ROWS BETWEEN %(run)s::int PRECEDING AND 1 PRECEDING),
        later AS (played ROWS BETWEEN CURRENT ROW AND %(run)s::int - 1 FOLLOWING)
), worst AS (
    SELECT DISTINCT ON (c.player_id) c.player_id, c.began, c.ended,
        floor(c.staked_after / c.staked_before)::bigint AS degree
    FROM compared AS c JOIN who ON who.player_id = c.player_id
    WHERE c.rounds_before = %(run)s::int AND c.rounds_after = %(run)s::int
        AND c.ended - c.began <= %(within)s::interval
        AND c.staked_after >= %(times)s::int * c.staked_before
        AND c.lost * %(run)s::int >= %(stakes_lost)s::int * c.staked_before
        AND c.lost >= (%(little)s::jsonb ->> who.currency)::bigint
    ORDER BY c.player_id, floor(c.staked_after / c.staked_before) DESC, c.at DESC
), found AS (
    SELECT w.player_id, w.began, w.ended, w.degree, jsonb_agg(r.item) AS rows
    FROM worst AS w JOIN round AS r ON r.player_id = w.player_id AND r.at BETWEEN w.began AND w.ended
    GROUP BY w.player_id, w.began, w.ended, w.degree
)
"""

LOST_THEN_DEPOSITED = """
, happened AS (
    SELECT d.player_id, d.begun_at AS at, d.begun_at AS window_time, lately.items || jsonb_build_object(
        'table', 'wallet_payment', 'id', d.id, 'at', d.begun_at, 'amount', d.amount) AS items
    FROM who JOIN wallet_payment AS d ON d.player_id = who.player_id
    CROSS JOIN LATERAL (
        SELECT sum(r.staked - r.paid) AS lost, max(r.at) AS last, jsonb_agg(r.item) AS items FROM round AS r
        WHERE r.player_id = d.player_id AND r.at <= d.begun_at AND r.at > d.begun_at - %(losing)s::interval) AS lately
    WHERE d.begun_at > who.since AND d.state = 'credited' AND d.begun_at - lately.last <= %(soon)s::interval
        AND lately.lost >= (%(much)s::jsonb ->> who.currency)::bigint
)
"""

EMPTIED_THEN_DEPOSITED = """
, happened AS (
    SELECT d.player_id, d.begun_at AS at, d.begun_at AS window_time, jsonb_build_array(last.item, jsonb_build_object(
        'table', 'wallet_payment', 'id', d.id, 'at', d.begun_at, 'amount', d.amount)) AS items
    FROM who JOIN wallet_payment AS d ON d.player_id = who.player_id
    JOIN wallet_entry AS e ON e.journal_id = d.journal_id AND e.balance_after IS NOT NULL
    CROSS JOIN LATERAL (
        SELECT r.at, r.balance_after, r.item FROM round AS r
        WHERE r.player_id = d.player_id AND r.at <= d.begun_at ORDER BY r.at DESC, r.id DESC LIMIT 1) AS last
    WHERE d.begun_at > who.since AND d.state = 'credited' AND d.begun_at - last.at <= %(soon)s::interval
        AND greatest(last.balance_after, e.balance_after - e.amount) < (%(empty)s::jsonb ->> who.currency)::bigint
)
"""

AT_NIGHT = """
, nightly AS (
    SELECT r.player_id, r.id, r.at, r.item, (r.at AT TIME ZONE who.time_zone)::date AS night
    FROM round AS r JOIN who ON who.player_id = r.player_id
    WHERE (r.at AT TIME ZONE who.time_zone)::time < %(until)s::time
)
"""
NIGHTLY = """
, happened AS (
    SELECT n.player_id, max(n.at) AS at, n.night::timestamp AS window_time, jsonb_agg(n.item) AS items
    FROM nightly AS n GROUP BY n.player_id, n.night
)
"""
LONG = """
, gap AS (
    SELECT n.*, n.at - lag(n.at) OVER (PARTITION BY n.player_id, n.night ORDER BY n.at, n.id) AS waited
    FROM nightly AS n
), played AS (
    SELECT g.player_id, min(g.at) AS began, max(g.at) AS ended, jsonb_agg(g.item) AS rows,
        coalesce(sum(g.waited) FILTER (WHERE g.waited <= %(pause)s::interval), interval '0') AS lasted
    FROM gap AS g GROUP BY g.player_id, g.night
), found AS (
    SELECT DISTINCT ON (p.player_id) p.player_id, p.began, p.ended,
        floor(extract(epoch FROM p.lasted) / 3600)::bigint AS degree, p.rows
    FROM played AS p WHERE p.lasted > %(longest)s::interval ORDER BY p.player_id, p.lasted DESC
)
"""

TAKEN_BACK = """
, happened AS (
    SELECT w.player_id, s.at, s.at AS window_time, jsonb_build_array(jsonb_build_object(
        'table', 'wallet_withdrawal', 'id', w.id, 'at', s.at, 'amount', w.amount), next.item) AS items
    FROM who JOIN wallet_withdrawal AS w ON w.player_id = who.player_id AND w.status = 'cancelled'
    JOIN wallet_withdrawal_step AS s ON s.withdrawal_id = w.id AND s.after = 'cancelled'
    CROSS JOIN LATERAL (
        SELECT r.item FROM round AS r
        WHERE r.player_id = w.player_id AND r.at > s.at AND r.at <= s.at + %(soon)s::interval
        ORDER BY r.at, r.id LIMIT 1) AS next
    WHERE s.at > who.since
)
"""


def _raised(found: Found) -> str:
    lost = format_money(-sum(row["amount"] for row in found.rows[:RUN]), found.currency, "en")
    return f"After {lost} lost in {RUN} rounds, the next {RUN} were played for {found.degree} times the stakes."


def _lost(found: Found) -> str:
    deposits = found.of("wallet_payment")
    total = format_money(sum(row["amount"] for row in deposits), found.currency, "en")
    lost = format_money(-sum(row["amount"] for row in found.of("games_round")), found.currency, "en")
    times = "once" if len(deposits) == 1 else f"{len(deposits)} times"
    return f"Deposited {times} within an hour of losing: {total}, {lost} lost in the previous days."


def _emptied(found: Found) -> str:
    return f"{found.degree} times within 24 hours the balance was lost and topped up within one hour."


def _nights(found: Found) -> str:
    return f"Played for real money on {found.degree} nights of 14, between 00:00 and 05:00 in {found.time_zone}."


def _long(found: Found) -> str:
    began, ended = found.local(found.began), found.local(found.ended)
    hours = "2 hours" if found.degree == 2 else f"{found.degree} hours"
    return f"More than {hours} of play in one night, from {began} to {ended} in {found.time_zone}."


def _taken_back(found: Found) -> str:
    back = format_money(sum(row["amount"] for row in found.of("wallet_withdrawal")), found.currency, "en")
    return f"{found.degree} withdrawals, {back} in total, were cancelled and staked within a day."


RAISED_STAKES = Definition(
    Marker.RAISED_STAKES,
    A_DAY,
    {"run": RUN, "times": 2, "stakes_lost": 5, "within": timedelta(hours=6), "little": json.dumps(LITTLE_LOST)},
    ROUNDS + RAISED,
    _raised,
)
LOSS_DEPOSIT = Definition(
    Marker.LOSS_DEPOSIT,
    timedelta(days=8),
    {"within": timedelta(days=7), "least": 1, "losing": A_DAY, "soon": AN_HOUR, "much": json.dumps(MUCH_LOST)},
    ROUNDS + LOST_THEN_DEPOSITED + MOST_WITHIN,
    _lost,
)
EMPTIED = Definition(
    Marker.EMPTIED,
    timedelta(days=2),
    {"within": A_DAY, "least": 2, "soon": AN_HOUR, "empty": json.dumps(EMPTY)},
    ROUNDS + EMPTIED_THEN_DEPOSITED + MOST_WITHIN,
    _emptied,
)
NIGHTS = Definition(
    Marker.NIGHTS,
    timedelta(days=14),
    {"within": timedelta(days=13), "least": 4, "until": "05:00"},  # first night to the fourteenth
    ROUNDS + AT_NIGHT + NIGHTLY + MOST_WITHIN,
    _nights,
)
LONG_NIGHT = Definition(
    Marker.LONG_NIGHT,
    A_DAY,
    {"longest": timedelta(hours=2), "pause": timedelta(minutes=9), "until": "05:00"},
    ROUNDS + AT_NIGHT + LONG,
    _long,
)
WITHDRAWALS_UNDONE = Definition(
    Marker.WITHDRAWALS_UNDONE,
    timedelta(days=30),
    {"within": timedelta(days=30), "least": 2, "soon": A_DAY},
    ROUNDS + TAKEN_BACK + MOST_WITHIN,
    _taken_back,
)


# A player undoes a limit change by withdrawing it while it is pending, or by asking for a looser
# limit soon after a stricter one.
UNDONE = """
, change AS (
    SELECT c.*, lag(c.amount) OVER same AS stricter, lag(c.before) OVER same AS was, lag(c.asked_at) OVER same AS asked
    FROM who JOIN players_limitchange AS c ON c.player_id = who.player_id AND c.source = 'player'
    WINDOW same AS (PARTITION BY c.player_id, c.kind, c.period ORDER BY c.id)
), happened AS (
    SELECT c.player_id, c.asked_at AS at, c.asked_at AS window_time, jsonb_build_array(jsonb_build_object(
        'table', 'players_limitchange', 'id', c.id, 'at', c.asked_at, 'amount', c.amount)) AS items
    FROM who JOIN change AS c ON c.player_id = who.player_id
    WHERE c.asked_at > who.since AND (
        c.amount IS NOT DISTINCT FROM c.before
        OR (c.stricter < c.was OR c.stricter IS NOT NULL AND c.was IS NULL)
            AND (c.amount > c.before OR c.amount IS NULL) AND c.asked_at - c.asked <= %(soon)s::interval)
)
"""

ABOVE = """
, happened AS (
    SELECT c.player_id, c.asked_at AS at, c.asked_at AS window_time, jsonb_build_array(jsonb_build_object(
        'table', 'players_limitchange', 'id', c.id, 'at', c.asked_at, 'amount', c.amount)) AS items
    FROM who JOIN players_limitchange AS c ON c.player_id = who.player_id AND c.source = 'player'
        AND c.kind = 'deposit' AND c.period = 'month'
    WHERE c.asked_at > who.since AND c.amount IS DISTINCT FROM c.before
        AND (c.amount > who.contact_above_month OR c.amount IS NULL AND who.contact_above_month IS NOT NULL)
)
"""

CREDITED = """
, happened AS (
    SELECT d.player_id, d.begun_at AS at, d.begun_at AS window_time, jsonb_build_array(jsonb_build_object(
        'table', 'wallet_payment', 'id', d.id, 'at', d.begun_at, 'amount', d.amount)) AS items
    FROM who JOIN wallet_payment AS d ON d.player_id = who.player_id
    WHERE d.begun_at > who.since AND d.state = 'credited'
)
"""

RETRIED = """
, happened AS (
    SELECT d.player_id, d.begun_at AS at, d.begun_at AS window_time, jsonb_build_array(
        jsonb_build_object('table', 'wallet_payment', 'id', d.id, 'at', d.begun_at, 'amount', d.amount),
        jsonb_build_object('table', 'wallet_payment', 'id', n.id, 'at', n.begun_at, 'amount', n.amount)) AS items
    FROM who JOIN wallet_payment AS d ON d.player_id = who.player_id
    CROSS JOIN LATERAL (
        SELECT p.id, p.begun_at, p.amount FROM wallet_payment AS p
        WHERE p.player_id = d.player_id AND p.begun_at > d.begun_at ORDER BY p.begun_at LIMIT 1) AS n
    WHERE d.begun_at > who.since AND d.state = 'declined' AND n.begun_at - d.begun_at <= %(soon)s::interval
)
"""


def _undone(found: Found) -> str:
    return f"{found.degree} limit changes were withdrawn within 30 days."


def _above(found: Found) -> str:
    amount = found.rows[-1]["amount"]
    asked = "no limit" if amount is None else f"a limit of {format_money(amount, found.currency, 'en')}"
    return f"The player requested {asked} on monthly deposits. The law requires contact with the player."


def _deposits(found: Found) -> str:
    total = format_money(sum(row["amount"] for row in found.rows), found.currency, "en")
    return f"{found.degree} deposits within 24 hours, {total} together."


def _retried(found: Found) -> str:
    return f"Within 24 hours {found.degree} declined deposits were retried within one hour."


LIMITS_UNDONE = Definition(
    Marker.LIMITS_UNDONE, A_MONTH, {"within": A_MONTH, "least": 2, "soon": A_DAY}, UNDONE + MOST_WITHIN, _undone
)
CONTACT_DUE = Definition(Marker.CONTACT_DUE, A_MONTH, {"within": A_MONTH, "least": 1}, ABOVE + MOST_WITHIN, _above)
RAPID_DEPOSITS = Definition(
    Marker.RAPID_DEPOSITS, A_DAY, {"within": A_DAY, "least": 3}, CREDITED + MOST_WITHIN, _deposits
)
RETRIED_DEPOSITS = Definition(
    Marker.RETRIED_DEPOSITS, A_DAY, {"within": A_DAY, "least": 2, "soon": AN_HOUR}, RETRIED + MOST_WITHIN, _retried
)
MARKERS = (
    RAISED_STAKES,
    LOSS_DEPOSIT,
    EMPTIED,
    NIGHTS,
    LONG_NIGHT,
    WITHDRAWALS_UNDONE,
    LIMITS_UNDONE,
    CONTACT_DUE,
    RAPID_DEPOSITS,
    RETRIED_DEPOSITS,
)
