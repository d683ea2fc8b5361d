"""Player statement report for staff (GLI-19 v3.0, 2.5.7).

It has the figures of `games.history.statement`, which the player sees too.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from django.utils.translation import gettext_noop, override

from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, CannotMake, Choice, Column, Form, Row
from audit.staff_text import marked
from games.history.statement.figures import Figures, Owned, figures_between
from games.labels import game_cell
from players.models import Player
from wallet.models import Mode
from wallet.reports import MODE, MODES

COLUMNS: Final = (
    Column("player", "Player"),
    Column("currency", "Currency"),
    Column("mode", "Money", Form.WORD),
    Column("part", "Section", Form.WORD),
    Column("at", "Time", Form.TIME),
    Column("what", "Item", Form.WORD),
    Column("journal", "Journal", Form.ID),
    Column("rounds", "Rounds", Form.NUMBER),
    Column("staked", "Staked", Form.MONEY),
    Column("paid", "Paid", Form.MONEY),
    Column("amount", "Amount", Form.MONEY),
)


def answer(asked: Asked) -> Answer:
    """Return opening balance, payments, totals by game, and closing balance of a player.

    Raises CannotMake if no player is given.
    """
    number = asked.choices.get("player", "").strip().removeprefix("player:")
    player = Player.objects.filter(pk=int(number)).first() if number.isdecimal() and len(number) <= LONGEST else None
    if player is None:
        raise CannotMake(gettext_noop("Enter a player number, such as 12."))
    modes = [mode for mode in Mode if asked.choices.get("mode", "") in ("", mode.value)]
    return Answer(rows=(row for mode in modes for row in _rows(asked, player, mode)), notes=lambda: NOTES)


LONGEST: Final = 18  # digits of a player number
NOTES: Final = (
    gettext_noop("Opening balance plus all movements gives the closing balance."),
    gettext_noop("Games are a breakdown of the movements."),
)


def _rows(asked: Asked, player: Player, mode: Mode) -> Iterator[Row]:
    interval = asked.interval
    found = figures_between(player, mode, interval.since, interval.until, asked.zone)
    if found.is_empty and not found.opening.total:
        return
    first = (str(player), player.currency, MODES[mode])
    for part, *rest in _figure_rows(found, interval.since, interval.until):
        yield (*first, part, *rest)


def _figure_rows(found: Figures, since: datetime, until: datetime) -> Sequence[Row]:
    with override("en"):
        return [
            *_owned(gettext_noop("Opening balance"), since, found.opening),
            *(
                (
                    marked("report", "Payments"),
                    _moment(lump.at),
                    str(lump.name),
                    lump.journal_id,
                    None,
                    None,
                    None,
                    lump.amount,
                )
                for lump in found.money
            ),
            *(
                (gettext_noop("Movements"), None, str(each.name), None, None, None, None, each.amount)
                for each in found.sums
            ),
            *(
                (
                    marked("report", "Games"),
                    None,
                    game_cell(game.variant) if game.variant else marked("report", "unknown"),
                    None,
                    game.rounds,
                    game.staked,
                    game.paid,
                    game.net,
                )
                for game in found.games
            ),
            *_owned(gettext_noop("Closing balance"), until, found.closing),
        ]


def _owned(part: str, at: datetime, owned: Owned) -> Iterator[Row]:
    lying = {
        marked("report", "Total"): owned.total,
        marked("report", "Cash"): owned.cash,
        gettext_noop("In Golden Baccarat"): owned.purse,
        gettext_noop("In banks at Chemin de Fer"): owned.bank,
        gettext_noop("Pending withdrawals"): owned.pending,
        gettext_noop("Deposits to send back"): owned.refund,
    }
    for name, amount in lying.items():
        if amount or name == "Total":
            yield (part, _moment(at), name, None, None, None, None, amount)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


KIND: Final = kinds.Kind(
    name="statement",
    title=gettext_noop("Player statement"),
    purpose=gettext_noop("Balances, deposits, withdrawals, stakes and winnings of one player, by game."),
    clause="GLI-19 v3.0, 2.5.7",
    columns=COLUMNS,
    answer=answer,
    choices=(
        Choice("player", "Player number", None),
        MODE,
    ),
    is_daily=False,
    names_players=True,
)
