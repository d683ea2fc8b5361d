"""The lists about play: rounds as they were played, tables, what was void or went wrong. No seed stands in any of them;
the page of a round deals it again from its own.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib.admin import register

from audit.reports.kinds import Column, Form
from games.codes import read_code
from games.models import Incident, Participation, ReturnsAlarm, Table, TableVersion, VoidPart
from games.staff_floor import READERS as TABLE_READERS
from games.staff_rounds import READERS as ROUND_READERS
from games.tables import TableError, set_open
from players.lists.deeds import Deed, Plan
from players.lists.finds import Find, called, number, unique_id
from players.lists.listing import Listing, Part
from players.lists.site import SITE
from players.sections import Section

NUMBER = Column("id", "No.", Form.NUMBER)
AT = Column("at", "When", Form.TIME)
CURRENCY = Column("currency", "Currency")
BY_NUMBER = Find("number", "pk", number)
BY_CODE = Find("round code", "round__code", read_code)
BY_ROUND = Find("round id", "round_id", unique_id)


@register(Participation, site=SITE)
class RoundsPlayed(Listing):
    """Every round, once for each player in it."""

    section = Section.GAMES
    name = "Rounds played"
    purpose = "Every round, once for each player in it, with each of their bets."
    readers = ROUND_READERS
    columns = (
        NUMBER,
        AT,
        Column("round__code", "Round"),
        Column("table__name", "Table"),
        Column("player", "Player"),
        Column("mode", "Money"),
        Column("staked", "Staked", Form.MONEY),
        Column("paid", "Paid", Form.MONEY),
        CURRENCY,
        Column("result", "Result"),
    )
    more = (
        Column("commission", "Commission", Form.MONEY),
        Column("balance_before", "Balance before", Form.MONEY),
        Column("balance_after", "Balance after", Form.MONEY),
        Column("session", "Session"),
        Column("round__outcome", "Outcome"),
        Column("round__cards", "Cards"),
    )
    finds = (BY_CODE, BY_ROUND, BY_NUMBER)
    links = {"round__code": ("staff_round", "round_id", "round_id")}
    related = ("round", "table", "player")

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the bets."""
        columns = (
            Column("bet", "Bet"),
            Column("stake", "Stake", Form.MONEY),
            Column("payout", "Payout", Form.MONEY),
            Column("commission", "Commission", Form.MONEY),
            Column("result", "Result"),
        )
        bets = row.wagers.order_by("pk").values_list("bet", "stake", "payout", "commission", "result")
        return [Part("Bets", columns, list(bets))]


@register(VoidPart, site=SITE)
class VoidedParts(Listing):
    """Rounds that were annulled, once for each player in them."""

    section = Section.GAMES
    name = "Voided rounds"
    purpose = "Rounds that were annulled: whose stakes went back, and what was missing."
    readers = ROUND_READERS
    columns = (
        NUMBER,
        Column("void__at", "When", Form.TIME),
        Column("void__round__code", "Round"),
        Column("player", "Player"),
        Column("void__reason", "Reason"),
        Column("void__by", "By"),
        Column("returned", "Returned", Form.MONEY),
        Column("shortfall", "Shortfall", Form.MONEY),
        CURRENCY,
    )
    finds = (BY_NUMBER, Find("player:12", "player", called("player")), Find("round id", "void", unique_id))
    links = {"void__round__code": ("staff_round", "round_id", "void_id")}
    related = ("void__round", "player")


@register(Incident, site=SITE)
class Incidents(Listing):
    """Rounds that were not what they should be."""

    section = Section.GAMES
    name = "Incidents"
    purpose = "Rounds that were not what they should be, and what was found."
    readers = ("games.view_incident",)
    columns = (NUMBER, AT, Column("kind", "Kind"), Column("table__name", "Table"), Column("round_id", "Round"))
    more = (Column("cause", "Cause"), Column("cards", "Cards"))
    finds = (BY_NUMBER, BY_ROUND)
    related = ("table",)


@register(ReturnsAlarm, site=SITE)
class ReturnsAlarms(Listing):
    """When bets brought back what they should not have."""

    section = Section.GAMES
    name = "Alarms of returns"
    purpose = "When bets brought back what chance does not explain."
    readers = ("games.view_returns",)
    columns = (
        NUMBER,
        AT,
        Column("variant", "Game"),
        Column("mode", "Money"),
        Column("rounds", "Rounds", Form.NUMBER),
        Column("stopped", "Stopped the game"),
    )
    more = (Column("rules_digest", "Digest of the rules"), Column("evidence", "Evidence"), Column("bets", "Bets"))
    finds = (BY_NUMBER,)


def _close(table: Table) -> Plan:
    if not table.is_open:
        return Plan("It is closed already.", is_skipped=True)
    return Plan("It takes no more bets; what is in progress concludes.")


def _open(table: Table) -> Plan:
    if table.is_open:
        return Plan("It is open already.", is_skipped=True)
    return Plan("It takes bets again, under its newest version.")


@register(Table, site=SITE)
class Tables(Listing):
    """Every table, open or not."""

    section = Section.GAMES
    name = "Tables"
    purpose = "Every table: its game, its shape, whether it is open; close or open many at once."
    readers = TABLE_READERS
    columns = (
        NUMBER,
        Column("name", "Name"),
        Column("variant", "Game"),
        Column("shape", "Shape"),
        Column("is_open", "Open"),
        Column("version__number", "Version", Form.NUMBER),
        Column("chat_language", "Language of the chat"),
    )
    more = (Column("slug", "In addresses"), Column("version__rules_digest", "Digest of the rules"))
    finds = (BY_NUMBER, Find("table:3", "pk", called("table")))
    related = ("version",)
    deeds: ClassVar[tuple[Deed, ...]] = (
        Deed(
            name="close",
            label="Close tables",
            permission="games.supervise_table",
            meaning="What is in progress concludes; nobody bets there until the table is opened again.",
            plan=_close,
            do=lambda table, reason, by: set_open(table_id=table.pk, is_open=False, reason=reason, by=by),
            refusals=(TableError,),
        ),
        Deed(
            name="open",
            label="Open tables",
            permission="games.supervise_table",
            meaning="Players find them in the lobby at once.",
            plan=_open,
            do=lambda table, reason, by: set_open(table_id=table.pk, is_open=True, reason=reason, by=by),
            refusals=(TableError,),
        ),
    )


@register(TableVersion, site=SITE)
class TableVersions(Listing):
    """Under which limits and rules a table was played, and from when on."""

    section = Section.GAMES
    name = "Versions of tables"
    purpose = "Limits, clock and rules of each table, as they were from when on."
    readers = TABLE_READERS
    columns = (
        NUMBER,
        Column("table__name", "Table"),
        Column("number", "Version", Form.NUMBER),
        Column("rules_version", "Rules"),
        Column("created_at", "Made", Form.TIME),
    )
    more = (Column("rules_digest", "Digest of the rules"), Column("limits", "Limits"), Column("clock", "Clock"))
    finds = (BY_NUMBER, Find("table:3", "table", called("table")))
    related = ("table",)
