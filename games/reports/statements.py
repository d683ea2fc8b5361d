"""Player statement report for staff (GLI-19 v3.0, 2.5.7).

It has the figures of `games.history.statement`, which the player sees too.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from django.utils.translation import get_language, gettext_noop, override

from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, CannotMake, Choice, Column, Form, Row
from games.history.statement.figures import Figures, Owned, figures_between
from games.labels import variant_label
from games.variants import GAMES
from players.models import Player
from wallet.models import Mode
from wallet.reports import MODE

COLUMNS: Final = (
    Column("player", "Player"),
    Column("currency", "Currency"),
    Column("mode", "Money"),
    Column("part", "Section"),
    Column("at", "Time", Form.TIME),
    Column("what", "Item"),
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
        raise CannotMake("Enter a player number, such as 12.")
    modes = [mode for mode in Mode if asked.choices.get("mode", "") in ("", mode.value)]
    return Answer(rows=(row for mode in modes for row in _rows(asked, player, mode)), notes=lambda: NOTES)


LONGEST: Final = 18  # digits of a player number
NOTES: Final = (
    "Opening balance plus all movements gives the closing balance.",
    "Games are a breakdown of the movements.",
)


def _rows(asked: Asked, player: Player, mode: Mode) -> Iterator[Row]:
    interval = asked.interval
    found = figures_between(player, mode, interval.since, interval.until, asked.zone)
    if found.is_empty and not found.opening.total:
        return
    first = (str(player), player.currency, mode.label.lower())
    for part, *rest in _figure_rows(found, interval.since, interval.until):
        yield (*first, part, *rest)


def _figure_rows(found: Figures, since: datetime, until: datetime) -> Sequence[Row]:
    with override("en"):
        return [
            *_owned("Opening balance", since, found.opening),
            *(
                ("Payments", _moment(lump.at), str(lump.name), lump.journal_id, None, None, None, lump.amount)
                for lump in found.money
            ),
            *(("Movements", None, str(each.name), None, None, None, None, each.amount) for each in found.sums),
            *(
                ("Games", None, _name(game.variant), None, game.rounds, game.staked, game.paid, game.net)
                for game in found.games
            ),
            *_owned("Closing balance", until, found.closing),
        ]


def _owned(part: str, at: datetime, owned: Owned) -> Iterator[Row]:
    lying = {
        "Total": owned.total,
        "Cash": owned.cash,
        "In Golden Baccarat": owned.purse,
        "In banks at Chemin de Fer": owned.bank,
        "Pending withdrawals": owned.pending,
        "Deposits to send back": owned.refund,
    }
    for name, amount in lying.items():
        if amount or name == "Total":
            yield (part, _moment(at), name, None, None, None, None, amount)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _name(variant: str) -> str:
    game = GAMES.get(variant)
    return variant_label(game, "name", get_language() or "en") if game else variant or "unknown"


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
