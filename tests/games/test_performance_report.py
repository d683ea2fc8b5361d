"""Game performance report (GLI-19 v3.0, 2.9.2) and data of each version (2.8.3).

The expected values are summed in another way.
"""

from copy import deepcopy
from datetime import UTC

import pytest
from django.db import connection

from audit.reports.files import in_english
from audit.reports.kinds import Interval, kind_of
from games.engine.odds import exact
from games.models import LiveRound, Phase, Table, TableVersion
from games.reports import performance
from games.shared import malfunction
from games.tables import status as table_status
from games.tables.default_tables import baccarat_limits
from games.variants import VARIANTS
from tests import reports_history
from tests.builders import a_player, a_round, a_table, put_live
from tests.chemin.at_table import a_chemin_table, a_staked_coup, seated_players
from tests.live.at_table import a_live_table, advance_to, bet
from tests.reports_history import ask, clock
from tests.voiding import void_unreproduced
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000

# By version and currency: rounds, stakes, payouts and commission of valid rounds, stakes of voided
# ones.
PLAINLY = """
SELECT round.table_version_id, part.currency,
    count(DISTINCT round.id) FILTER (WHERE void IS NULL),
    coalesce(sum(part.staked) FILTER (WHERE void IS NULL), 0)::bigint,
    coalesce(sum(part.paid) FILTER (WHERE void IS NULL), 0)::bigint,
    coalesce(sum(part.commission) FILTER (WHERE void IS NULL), 0)::bigint,
    coalesce(sum(part.staked) FILTER (WHERE void IS NOT NULL), 0)::bigint,
    count(DISTINCT round.id) FILTER (WHERE void IS NOT NULL)
FROM games_participation AS part JOIN games_round AS round ON round.id = part.round_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE round.at >= %s AND round.at < %s AND round.mode = 'R' GROUP BY 1, 2
"""


def read(interval: Interval, **choices: str):
    """Return rows and totals by column name."""
    names = [column.name for column in performance.PERFORMANCE_COLUMNS]
    answer = performance.performance(ask(interval, **choices))
    rows = [dict(zip(names, in_english(row), strict=True)) for row in answer.rows]
    return rows, [dict(zip(names, in_english(row), strict=True)) for row in answer.totals()]


def test_gli19_2_9_2_has_exactly_these_headings():
    kind = kind_of("performance")
    assert kind is not None
    assert (kind.title, kind.clause) == ("Game performance", "GLI-19 v3.0, 2.9.2")
    assert [column.heading for column in kind.columns][:13] == [
        "Game",
        "Type",
        "Version id",
        "Available from",
        "Status",
        "Theoretical return",
        "Actual return",
        "Rounds",
        "Staked",
        "Paid",
        "Voided",
        "Commission and tax",
        "Funds in interrupted rounds",
    ]


def test_gli19_2_9_2_says_of_each_version_and_currency_what_the_rows_come_to():
    history = reports_history.make()
    interval = history.interval
    rows, totals = read(interval)
    with connection.cursor() as cursor:
        cursor.execute(PLAINLY, [interval.since, interval.until])
        plain = {(str(version), currency): figures for version, currency, *figures in cursor}
    names = ("rounds", "staked", "paid", "commission", "voided", "voided_rounds")
    assert {(row["version"], row["currency"]): [row[name] for name in names] for row in rows} == plain
    assert len({row["game"] for row in rows}) >= 4
    assert any(row["voided_rounds"] for row in rows)
    assert any(row["commission"] for row in rows)
    for row in rows:
        assert row["actual"] == (f"{row['paid'] / row['staked']:.6f}" if row["staked"] else None)
    for total in totals:
        of_it = [row for row in rows if row["currency"] == total["currency"]]
        assert [total[name] for name in names] == [sum(row[name] for row in of_it) for name in names]


def test_gli19_2_8_3_of_each_version_everything_is_kept():
    player, table = a_player("SE", real=MONEY), a_table()
    since = clock()
    voided = a_round(player, table, banker=5_000).round_id
    a_round(player, table, player=5_000, tie=1_000)
    void_unreproduced(voided)
    changed = deepcopy(baccarat_limits())
    changed["SEK"]["bets"]["tie"][1] -= changed["SEK"]["step"]
    later = put_live(table_id=table.pk, limits=changed, reason="fewer ties")
    table = Table.objects.get(pk=table.pk)
    a_round(player, table, banker=5_000)
    first, second = read(Interval(since, clock()))[0]
    kept = TableVersion.objects.get(table=table, number=1)
    odds = exact(VARIANTS["baccarat"])
    assert (first["game"], first["type"]) == ("Baccarat", "solo, on demand")
    assert (first["version"], first["number"], second["version"]) == (str(kept.pk), 1, str(later.pk))
    assert (kept.limits, first["rules"]) == (baccarat_limits(), VARIANTS["baccarat"].version)
    assert first["digest"] == second["digest"] == VARIANTS["baccarat"].digest
    assert first["available"] == kept.created_at.astimezone(UTC).isoformat()
    expected = (5 * odds["player"].rtp + odds["tie"].rtp) / 6
    assert (first["theoretical"], second["theoretical"]) == (
        f"{float(expected):.6f}",
        f"{float(odds['banker'].rtp):.6f}",
    )
    assert (first["rounds"], first["staked"], first["voided"], first["voided_rounds"]) == (1, 6_000, 5_000, 1)
    assert (second["rounds"], second["staked"], second["voided"]) == (1, 5_000, 0)
    assert (first["status"], second["status"]) == ("withdrawn", "in force")
    assert (first["withdrawn"], second["withdrawn"]) == (later.created_at.astimezone(UTC).isoformat(), None)
    for turn, status in ((table_status.pause_table, "table paused"), (table_status.close_table, "table closed")):
        turn(table_id=table.pk, reason="for a test", by="staff:1")
        assert [row["status"] for row in read(Interval(since, clock()))[0]] == ["withdrawn", status]


@pytest.mark.sweep
def test_gli19_2_9_2_shows_the_money_in_interrupted_rounds():
    shared, between = a_live_table(), a_chemin_table()
    since = clock()
    bet(a_player("SE", real=MONEY), shared, player=25_000, tie=5_000)
    dealt = advance_to(shared, Phase.DEALT)
    seated_players(between, 2)
    a_staked_coup(between, amount=10_000, stake=4_000)
    assert read(Interval(since, clock())) == ([], [])
    coup = LiveRound.objects.get(live_table=between)
    for stopped in (dealt, coup):
        malfunction.report(round_id=stopped.pk, cause="The light went out.", by="staff:1")
    rows, (total,) = read(Interval(since, clock()))
    assert {row["game"]: (row["interrupted"], row["rounds"], row["theoretical"]) for row in rows} == {
        "No Commission Baccarat": (30_000, 0, None),
        "Chemin de Fer": (14_000, 0, None),
    }
    assert (total["interrupted"], total["currency"]) == (44_000, "SEK")


@pytest.mark.sweep
def test_free_money_is_not_in_it_and_choices_leave_out_the_rest():
    player, table = a_player("SE", real=MONEY, free=MONEY), a_table()
    since = clock()
    a_round(player, table, Mode.FREE, player=1_000)
    assert read(Interval(since, clock())) == ([], [])
    a_round(player, table, player=1_000)
    assert len(read(Interval(since, clock()), game="baccarat", currency="SEK")[0]) == 1
    for other in ({"game": "golden"}, {"currency": "DKK"}):
        assert read(Interval(since, clock()), **other) == ([], [])
