"""Lists of rounds, tables, voided rounds and incidents.

No list shows a seed. The page of a round verifies it from its seed.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.db.models import Q
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, pgettext

from audit.reports.kinds import Column, Form
from backoffice.lists.actions import Action, Plan
from backoffice.lists.filters import Filter, Find, Option, called, chosen, number, unique_id
from backoffice.lists.staff_list import NO_PLAYERS
from backoffice.lists.view import Part, StaffListView
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.tables.versions import READERS as GAME_READERS
from games.models import (
    OPEN_PHASES,
    CheminCoup,
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Participation,
    Phase,
    Result,
    ReturnsAlarm,
    RulesVersion,
    Status,
    Table,
    TableVersion,
    VoidPart,
)
from games.models.rounds import read_code
from games.shared.floor.rows import READERS as TABLE_READERS
from games.tables.checks import TableError
from games.tables.status import close_table, open_table
from games.variants import GAMES
from players.staff import Section
from wallet.models import Mode

NUMBER = Column("id", "No.", Form.NUMBER)
AT = Column("at", "When", Form.TIME)
CURRENCY = Column("currency", "Currency")
BY_NUMBER = Find("number", "pk", number)
BY_CODE = Find("round code", "round__code", read_code)
BY_ROUND = Find("round id", "round_id", unique_id)


def _tables() -> Iterable[Option]:
    for table, name in Table.objects.order_by("name").values_list("pk", "name"):
        for mode, money in Mode.choices:
            yield f"{table}{mode}", f"{name}, {money}"


AT_TABLE = Filter(
    "table", "Table", _tables, lambda value: Q(table=int(value[:-1]), mode=value[-1]), key=("at", "id")
)  # in the order of the filter's index


class RoundsPlayed(StaffListView):
    """List of players' parts in rounds: one line for each player in a round."""

    model = Participation
    section = Section.GAMES
    name = gettext_noop("Rounds played")
    purpose = gettext_noop("Rounds and bets, one row per player and round.")
    readers = ROUND_READERS
    players = ("player_id",)
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
    filters = (AT_TABLE,)
    period = "at"
    links = {"round__code": ("staff_round", "round_id", "round_id")}
    related = ("round", "table", "player")

    def of_result(self, part: Participation) -> str:
        """Return the result as a word."""
        return str(Result(part.result).label)

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the bets."""
        columns = (
            Column("bet", "Bet"),
            Column("stake", "Stake", Form.MONEY),
            Column("payout", "Bet payout", Form.MONEY),
            Column("commission", "Commission", Form.MONEY),
            Column("result", "Result"),
        )
        bets = row.wagers.order_by("pk").values_list("bet", "stake", "payout", "commission", "result")
        return [Part(gettext("Bets"), columns, list(bets))]


def _live_tables() -> Iterable[Option]:
    for each in LiveTable.objects.select_related("table").order_by("table__name", "mode"):
        yield str(each.pk), f"{each.table.name}, {each.get_mode_display()}"


def _states() -> Iterable[Option]:
    yield "open", pgettext("state of a round", "In progress")
    yield "void", gettext("Voided, or ended without a bet")


HOW_FAR = {"open": Q(phase__in=OPEN_PHASES), "void": Q(phase=Phase.VOID)}
STATUS = Filter("status", "Status", _states, HOW_FAR.__getitem__, is_few=True)


class SharedRounds(StaffListView):
    """List of rounds of shared tables from their opening on, with or without bets."""

    model = LiveRound
    section = Section.GAMES
    name = gettext_noop("Rounds of shared tables")
    purpose = gettext_noop("Every round of the live tables and of Chemin de Fer, finished or in progress.")
    readers = ROUND_READERS
    players = NO_PLAYERS
    key = ("opened_at", "id")
    columns = (
        Column("code", "Round"),
        Column("live_table__table__name", "Table"),
        Column("live_table__mode", "Money"),
        Column("shoe__number", "Shoe", Form.NUMBER),
        Column("number", "Round in shoe", Form.NUMBER),
        Column("phase", "Phase"),
        Column("opened_at", "Opened", Form.TIME),
        Column("ended_at", "Ended", Form.TIME),
    )
    more = (
        Column("id", "Round id"),
        Column("closed_at", "Bets closed", Form.TIME),
        Column("dealt_at", "Dealt", Form.TIME),
        Column("over", "Cards"),
        Column("version__number", "Table version", Form.NUMBER),
    )
    finds = (Find("round id", "pk", unique_id),)
    filters = (
        Filter("table", "Table", _live_tables, lambda value: Q(live_table=int(value))),
        STATUS,
    )
    period = "opened_at"
    related = ("live_table__table", "shoe", "version")
    links = {"code": ("staff_round", "round_id", "pk")}

    def of_over(self, live_round: LiveRound) -> str:
        """Return the cards of a finished round.

        Before the end, the table reveals them one by one.
        """
        return live_round.cards if live_round.ended_at else ""


def _outcomes() -> Iterable[Option]:
    yield "punter", gettext("Punter")
    yield "banker", gettext("Banker")
    yield "draw", pgettext("outcome", "Draw")
    yield "void", gettext("Voided")


OUTCOME = Filter("outcome", "Outcome", _outcomes, lambda outcome: Q(outcome="" if outcome == "void" else outcome))


class CheminCoups(StaffListView):
    """List of finished coups of Chemin de Fer."""

    model = CheminCoup
    section = Section.GAMES
    name = gettext_noop("Chemin de Fer coups")
    purpose = gettext_noop("Finished coups of Chemin de Fer: banker, punters and result.")
    readers = ROUND_READERS
    players = ("banker_player_id", "punter__player_id")
    key = ("at", "round_id")
    columns = (
        Column("round__code", "Round"),
        AT,
        Column("round__live_table__table__name", "Table"),
        Column("holder", "Holder of the bank"),
        Column("bank", "Bank", Form.MONEY),
        Column("call", "Call"),
        Column("at_risk", "At risk", Form.MONEY),
        Column("against", "Punter"),
        Column("outcome", "Outcome"),
        Column("tax", "Tax", Form.MONEY),
        Column("currency", "Currency"),
    )
    more = (
        Column("punter_total", "Punter’s total", Form.NUMBER),
        Column("banker_total", "Banker’s total", Form.NUMBER),
        Column("punter_departs", "Punter’s deviation from the rule"),
        Column("banker_departs", "Banker’s deviation from the rule"),
    )
    finds = (Find("round id", "pk", unique_id), Find("player:12", "banker_player", called("player")))
    filters = (OUTCOME,)
    period = "at"
    related = ("round__live_table__table", "round__version", "banker", "banker_player", "punter__player")
    links = {"round__code": ("staff_round", "round_id", "pk")}

    def of_holder(self, coup: CheminCoup) -> str:
        """Return the banker."""
        return str(coup.banker_player or (gettext("the house, at seat %(number)s") % {"number": coup.banker.number}))

    def of_against(self, coup: CheminCoup) -> str:
        """Return the punter, "" if there was none."""
        if coup.punter is None:
            return ""
        return str(coup.punter.player or (gettext("the house, at seat %(number)s") % {"number": coup.punter.number}))

    def of_currency(self, coup: CheminCoup) -> str:
        """Return the currency of the table, which has only one."""
        (currency,) = coup.round.version.limits
        return str(currency)

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the stakes against the bank."""
        columns = (
            Column("place", "Seat", Form.NUMBER),
            Column("player", "Player"),
            Column("stake", "Stake", Form.MONEY),
            Column("returned", "Returned", Form.MONEY),
            CURRENCY,
        )
        stakes = list(row.stakes.select_related("seat", "player").order_by("seat__number"))
        lines = [
            (
                each.seat.number,
                str(each.player or gettext("the house")),
                each.stake,
                each.returned,
                self.of_currency(row),
            )
            for each in stakes
        ]
        return [Part(gettext("Stakes"), columns, lines, {each.player_id for each in stakes if each.player_id})]


class VoidedParts(StaffListView):
    """List of voided rounds: one line for each player in a round."""

    model = VoidPart
    section = Section.GAMES
    name = gettext_noop("Voided rounds")
    purpose = gettext_noop("Voided rounds: returned stakes and shortfalls.")
    readers = ROUND_READERS
    players = ("player_id",)
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
    period = "void__at"
    links = {"void__round__code": ("staff_round", "round_id", "void_id")}
    related = ("void__round", "player")


class Incidents(StaffListView):
    """List of incidents."""

    model = Incident
    section = Section.GAMES
    name = gettext_noop("Incidents")
    purpose = gettext_noop("Rounds with errors and their findings.")
    readers = ("games.view_incident",)
    players = NO_PLAYERS
    columns = (NUMBER, AT, Column("kind", "Kind"), Column("table__name", "Table"), Column("round_id", "Round"))
    more = (Column("cause", "Cause"), Column("cards", "Cards"))
    finds = (BY_NUMBER, BY_ROUND, Find("table:3", "table", called("table")))
    filters = (chosen("kind", "Kind", IncidentKind),)
    period = "at"
    related = ("table",)

    def of_round_id(self, incident: Incident) -> str:
        """Return the name of the round ("": none)."""
        return f"round:{incident.round_id}" if incident.round_id else ""


def game_name(slug: str) -> str:
    """Return the name of a game in the active language."""
    return GAMES[slug].label(get_language() or "en", "name") if slug in GAMES else slug


class GameShown:
    """A list whose column of the game shows its name in the reader's language."""

    def show_variant(self, row: Any) -> str:
        """Return the name of the game."""
        return game_name(row.variant)


class ReturnsAlarms(GameShown, StaffListView):
    """List of alarms about returns."""

    model = ReturnsAlarm
    section = Section.GAMES
    name = gettext_noop("RTP alarms")
    purpose = gettext_noop("Alarms about returns that chance does not explain.")
    readers = ("games.view_returns",)
    players = NO_PLAYERS
    columns = (
        NUMBER,
        AT,
        Column("variant", "Game"),
        Column("mode", "Money"),
        Column("rounds", "Rounds", Form.NUMBER),
        Column("stopped", "Closed the tables"),
    )
    more = (Column("rules_digest", "SHA-256 of the rules"), Column("evidence", "Evidence"), Column("bets", "Bets"))
    finds = (BY_NUMBER,)
    period = "at"


def _close(table: Table) -> Plan:
    if table.status == Status.CLOSED:
        return Plan(gettext("Already closed."), is_skipped=True)
    return Plan(gettext("Will be closed. A round in progress is completed."))


def _open(table: Table) -> Plan:
    if table.status == Status.PAUSED:
        return Plan(gettext("Paused: resume it on the Floor."), is_skipped=True)
    if table.is_open:
        return Plan(gettext("Already open."), is_skipped=True)
    return Plan(gettext("Will be opened with its newest version."))


class Tables(GameShown, StaffListView):
    """List of all tables, open or closed."""

    model = Table
    section = Section.GAMES
    name = gettext_noop("Tables")
    purpose = gettext_noop("Every table with game, format and state; close or open several at once.")
    readers = TABLE_READERS
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("name", "Name"),
        Column("variant", "Game"),
        Column("shape", "Format"),
        Column("status", "State"),
        Column("version__number", "Version", Form.NUMBER),
        Column("chat_language", "Chat language"),
    )
    more = (Column("slug", "Name in URLs"), Column("version__rules_digest", "SHA-256 of the rules"))
    finds = (BY_NUMBER, Find("table:3", "pk", called("table")))
    sorts = {"name": ("name", "id"), "variant": ("variant", "id"), "status": ("status", "id")}
    related = ("version",)
    actions: ClassVar[tuple[Action, ...]] = (
        Action(
            name="close",
            label=gettext_lazy("Close tables"),
            permission="games.supervise_table",
            meaning=gettext_lazy(
                "Rounds in progress are completed. No new bets are accepted until the table is opened again."
            ),
            plan=_close,
            do=lambda table, reason, by: close_table(table_id=table.pk, reason=reason, by=by),
            refusals=(TableError,),
        ),
        Action(
            name="open",
            label=gettext_lazy("Open tables"),
            permission="games.supervise_table",
            meaning=gettext_lazy("The tables appear in the lobby at once."),
            plan=_open,
            do=lambda table, reason, by: open_table(table_id=table.pk, reason=reason, by=by),
            refusals=(TableError,),
        ),
    )


class TableVersions(StaffListView):
    """List of table versions: limits and rules, and since when they hold."""

    model = TableVersion
    section = Section.GAMES
    name = gettext_noop("Table versions")
    purpose = gettext_noop("Limits, timing and rules of each table, by version.")
    readers = TABLE_READERS
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("table__name", "Table"),
        Column("number", "Version", Form.NUMBER),
        Column("rules_version", "Rules"),
        Column("created_at", "Created", Form.TIME),
    )
    more = (Column("rules_digest", "SHA-256 of the rules"), Column("limits", "Limits"), Column("clock", "Timing"))
    finds = (BY_NUMBER, Find("table:3", "table", called("table")))
    related = ("table",)
    period = "created_at"


class VersionsOfRules(GameShown, StaffListView):
    """List of rules versions of every game."""

    model = RulesVersion
    section = Section.GAMES
    name = gettext_noop("Rule versions")
    purpose = gettext_noop("Rules of every game by version, with the SHA-256 that rounds refer to.")
    readers = GAME_READERS
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("variant", "Game"),
        Column("version", "Version"),
        Column("available_from", "Available from", Form.TIME),
    )
    more = (Column("digest", "SHA-256 of the rules"), Column("body", "Rules"))
    finds = (BY_NUMBER,)
    filters = (
        Filter(
            "game",
            "Game",
            lambda: [(slug, game_name(slug)) for slug in sorted(GAMES)],
            lambda slug: Q(variant=slug),
        ),
    )
    period = "available_from"
