"""Statistics of a player's own bets at a shared table, and their view.

The figures are by bet and period, for one kind of money. Void rounds are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from django.db import connection
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit.raw_rows import Value
from games.engine.bets import Variant
from games.help.figures import percent
from games.labels import bet_name
from games.models import LiveTable, Result, Table
from games.tables.access import at_a_shared_table
from games.variants import VARIANTS
from players.access import PlayerRequest, made_by_the_page, player_required
from players.models import Player
from wallet.models import Mode


class Since(StrEnum):
    """The start of the period that is counted."""

    SHOE = "shoe"
    TODAY = "today"
    MONTH = "month"


BEGINS = {
    Since.SHOE: "(SELECT opened_at FROM games_shoe WHERE live_table_id = %(live)s ORDER BY number DESC LIMIT 1)",
    Since.TODAY: "date_trunc('day', clock_timestamp() AT TIME ZONE %(zone)s) AT TIME ZONE %(zone)s",
    Since.MONTH: "clock_timestamp() - interval '30 days'",
}
# The query lists every result so that it can use the index of the game history search, which also
# has the time.
COUNT = f"""
SELECT wager.bet, count(*), count(*) FILTER (WHERE wager.result = 'win'),
    count(*) FILTER (WHERE wager.result = 'push'), count(*) FILTER (WHERE wager.result = 'lose'),
    sum(wager.stake)::bigint, sum(wager.payout)::bigint
FROM games_participation AS part JOIN games_wager AS wager ON wager.participation_id = part.id
WHERE part.player_id = %(player)s AND part.mode = %(mode)s AND part.table_id = %(table)s
    AND part.result IN ({", ".join(str(result.value) for result in Result)}) AND part.at >= {{begins}}
    AND NOT EXISTS (SELECT FROM games_void AS void WHERE void.round_id = part.round_id)
GROUP BY wager.bet
"""  # noqa: S608  (nothing but numbers of our own)

# Bets on one side share a colour in the pie chart; each slice shows the number of its bet.
TONES = {"tie": "tie", "either_pair": "2", "perfect_pair": "3"}


class Count(NamedTuple):
    """Counts of a bet: placed, won, pushed, lost. Amounts in minor units; `paid` includes returned stakes."""

    placed: int
    won: int
    pushed: int
    lost: int
    staked: int
    paid: int


@dataclass(frozen=True)
class BetLine:
    """One bet on the page."""

    sign: str  # its number in the pie chart
    name: str
    tone: str
    count: Count
    share: str  # of the total staked


@dataclass(frozen=True)
class StatisticsView:
    """A player's own bets at a table. Amounts in minor units of *currency*."""

    since: Since
    choices: tuple[tuple[Since, str], ...]
    currency: str
    bets: tuple[BetLine, ...]  # the bets that were placed, in table order

    @property
    def staked(self) -> int:
        """The total over all bets."""
        return sum(line.count.staked for line in self.bets)

    @property
    def paid(self) -> int:
        """The total over all bets."""
        return sum(line.count.paid for line in self.bets)

    @property
    def figures(self) -> tuple[tuple[str, int, str, str, str], ...]:
        """The bets as segments of a pie chart, by share of the total staked."""
        return tuple((line.name, line.count.staked, line.share, line.tone, line.sign) for line in self.bets)


def count(player: Player, live_table: LiveTable, since: Since) -> Mapping[str, Count]:
    """Return the counts of each bet that the player placed at the table in the period."""
    values: dict[str, Value] = {
        "player": player.pk,
        "mode": live_table.mode,
        "table": live_table.table_id,
        "live": live_table.pk,
        "zone": player.jurisdiction.time_zone,
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT.format(begins=BEGINS[since]), values)
        return {bet: Count(*counted) for bet, *counted in cursor.fetchall()}


def statistics_view(player: Player, live_table: LiveTable, since: Since, language: str) -> StatisticsView:
    """Return the statistics of a player's own bets."""
    variant = VARIANTS[live_table.table.variant]
    counted = count(player, live_table, since)
    return StatisticsView(
        since=since,
        choices=((Since.SHOE, _("This shoe")), (Since.TODAY, _("Today")), (Since.MONTH, _("30 days"))),
        currency=player.currency,
        bets=_lines(variant, counted, language),
    )


def _lines(variant: Variant, counted: Mapping[str, Count], language: str) -> tuple[BetLine, ...]:
    staked = sum(each.staked for each in counted.values())
    placed = [bet.code for bet in variant.bets if bet.code in counted]
    return tuple(
        BetLine(
            sign=str(number),
            name=bet_name(variant, bet, language),
            tone=TONES.get(bet) or ("player" if bet.startswith("player") else "banker"),
            count=counted[bet],
            share=percent(Fraction(counted[bet].staked, staked), language, 0),
        )
        for number, bet in enumerate(placed, 1)
    )


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_shared_table
def live_statistics(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show the player's statistics for the requested period; for the present shoe by default."""
    live = get_object_or_404(LiveTable, table=found, mode=mode)
    live.table = found
    asked = request.GET.get("since", "")
    since = Since(asked) if asked in Since.__members__.values() else Since.SHOE
    context = {
        "table": found,
        "now_mode": mode,
        "address": reverse("live_statistics", args=[found.slug, mode]),
        "own": statistics_view(request.player, live, since, get_language() or "en"),
    }
    return render(request, "games/statistics.html#bets" if request.htmx else "games/statistics.html", context)
