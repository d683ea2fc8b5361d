"""Markers of harm in limit changes, deposits and withdrawals.

``docs/markers.md`` gives reasons for the thresholds.
"""

from datetime import timedelta

from players.models import Marker
from players.protection.harm_markers import MOST_WITHIN, Definition, Found
from wallet.money import format_money

A_DAY = timedelta(days=1)
A_MONTH = timedelta(days=30)
AN_HOUR = timedelta(hours=1)

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
MARKERS = (LIMITS_UNDONE, CONTACT_DUE, RAPID_DEPOSITS, RETRIED_DEPOSITS)
