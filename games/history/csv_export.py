"""Game logs as a CSV file in the format that spreadsheets of the reader's language expect."""

import csv
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from babel.numbers import get_decimal_symbol
from django.utils import translation
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.chemin.pages import log_details as coups
from games.chemin.pages.log_details import CoupLine
from games.engine.cards import Card
from games.engine.coup import deal
from games.history import HistoryLine, history_lines, is_coup, paid_back
from games.labels import bet_name
from games.models import Participation
from games.rounds.verification_queue import is_readable, is_showable
from games.variants import VARIANTS
from wallet.models import Mode

BYTE_ORDER_MARK = "\ufeff"  # tells spreadsheets that the file is UTF-8
MINOR = 100
AT_ONCE: Final = 500  # rounds whose Chemin de Fer details are read together
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets treat text that begins with these as a formula


class RoundLabels(NamedTuple):
    """Texts in place of a result, in the reader's language."""

    void: str
    examined: str

    def instead(self, *, is_void: bool) -> str:
        """Return the text for a voided round, or for one that is being examined."""
        return self.void if is_void else self.examined


class DescribedRound(NamedTuple):
    """The result columns of a round."""

    hands: tuple[str, str]
    result: str
    bets: tuple[tuple[str, int], ...]  # name and stake
    paid: int
    coup: str  # the whole coup as text, Chemin de Fer only


class Echo:
    """File-like object that returns each written line instead of storing it."""

    def write(self, line: str) -> str:
        return line


def lines(parts: Iterable[Participation], language: str, *, uses_operator_wallet: bool = False) -> Iterator[str]:
    """Return the file line by line, in the language and time zone that are active at the call.

    For a player of an operator (*uses_operator_wallet*), balances of real money are left out, because the
    operator keeps that money.
    """
    labels = RoundLabels(pgettext("a round", "void"), pgettext("a round", "under review"))
    return _lines(
        parts, language, _headings(), labels, get_current_timezone(), uses_operator_wallet=uses_operator_wallet
    )


def safe(text: str) -> str:
    """Escape text that a spreadsheet would treat as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def amount(minor: int, decimal: str) -> str:
    """Format *minor* units as a decimal number."""
    return f"{'-' if minor < 0 else ''}{abs(minor) // MINOR}{decimal}{abs(minor) % MINOR:02d}"


def _headings() -> list[str]:
    return [
        _("Time (%(zone)s)") % {"zone": get_current_timezone()},
        _("Round code"),
        pgettext("table heading", "Table"),
        _("Player’s cards"),
        _("Banker’s cards"),
        pgettext("table heading", "Result"),
        _("Bets"),
        _("Staked"),
        _("Paid out"),
        _("Balance before"),
        _("Balance after"),
        pgettext("table heading", "Currency"),
        _("Rules version"),
        _("Table version"),
        _("Coup details"),
    ]


def _lines(
    parts: Iterable[Participation],
    language: str,
    headings: list[str],
    labels: RoundLabels,
    zone: tzinfo,
    *,
    uses_operator_wallet: bool,
) -> Iterator[str]:
    decimal = get_decimal_symbol(language)
    writer = csv.writer(Echo(), delimiter=";" if decimal == "," else ",")
    yield BYTE_ORDER_MARK + writer.writerow(headings)
    waiting = iter(parts)
    while some := list(islice(waiting, AT_ONCE)):
        coups_among_them = _coups(some, language, decimal, labels)
        for part in some:
            described = coups_among_them.get(part.round_id) or _describe_round(part, language, labels)
            shows_balances = not uses_operator_wallet or part.mode != Mode.REAL
            yield writer.writerow(_row(part, described, decimal, zone, shows_balances=shows_balances))


def _row(
    part: Participation, described: DescribedRound, decimal: str, zone: tzinfo, *, shows_balances: bool
) -> list[str]:
    version, balances = part.round.table_version, (part.balance_before, part.balance_after)
    bets = (f"{name} {amount(stake, decimal)}" for name, stake in described.bets)
    return [
        f"{part.at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
        part.round.code,
        safe(version.table.name),
        *described.hands,
        described.result,
        safe(", ".join(bets) if decimal == "." else "; ".join(bets)),
        *(amount(each, decimal) for each in (part.staked, described.paid)),
        *(amount(each, decimal) if shows_balances else "" for each in balances),
        part.currency,
        safe(version.rules_version),
        str(version.number),
        safe(described.coup),
    ]


def _describe_round(part: Participation, language: str, labels: RoundLabels) -> DescribedRound:
    variant = VARIANTS[part.round.table_version.table.variant]
    is_void = hasattr(part.round, "void")
    is_examined = not is_void and not is_readable(part)
    is_shown = is_showable(part) if is_void else not is_examined
    coup = deal([Card.parse(code) for code in part.round.cards.split()]) if is_shown else None
    wagers = () if is_examined else part.wagers.all()
    player, banker = (" ".join(card.code for card in hand) for hand in (coup.player, coup.banker)) if coup else ("", "")
    return DescribedRound(
        hands=(player, banker),
        result=bet_name(variant, coup.outcome.value, language)
        if coup and not is_void
        else labels.instead(is_void=is_void),
        bets=tuple((bet_name(variant, each.bet, language), each.stake) for each in wagers),
        paid=sum(paid_back(each) for each in wagers) if is_void else part.paid,
        coup="",
    )


def _coups(parts: list[Participation], language: str, decimal: str, labels: RoundLabels) -> dict[UUID, DescribedRound]:
    """Return the result columns of the Chemin de Fer rounds among *parts*."""
    with translation.override(language):
        found = history_lines((part for part in parts if is_coup(part)), language)
        return {line.id: _describe_coup(line, decimal, labels) for line in found}


def _describe_coup(line: HistoryLine, decimal: str, labels: RoundLabels) -> DescribedRound:
    hands = (line.view.player, line.view.banker) if line.view else ()
    player, banker = (" ".join(card.code for card in hand.cards) for hand in hands) if hands else ("", "")
    return DescribedRound(
        hands=(player, banker),
        result=coups.outcome_name(line.view.outcome)
        if line.view and line.status == "complete"
        else labels.instead(is_void=line.status == "void"),
        bets=tuple((wager.name, wager.stake) for wager in line.wagers),
        paid=line.paid,
        coup="; ".join(_in_full(line.coup, decimal)) if line.coup else "",
    )


def _in_full(coup: CoupLine, decimal: str) -> Iterator[str]:
    facts = [
        (_("Bank before the coup"), amount(coup.bank, decimal)),
        (_("Held the bank"), coup.banker),
        (_("Held the punters’ cards"), coup.punter),
        (pgettext("at the table", "Call"), coup.call),
        (_("Tax"), amount(coup.tax, decimal) if coup.tax else ""),
    ]
    yield from (f"{label}: {value}" for label, value in facts if value)
    staked, paid = _("Staked"), _("Paid out")
    for stake in coup.stakes:
        yield f"{stake.seat}: {staked} {amount(stake.stake, decimal)}, {paid} {amount(stake.returned, decimal)}"
    by_house = _("Decided by the croupier")
    for decision in coup.decisions:
        yield f"{decision.message} ({by_house})" if decision.by_house else decision.message
    yield from coup.departures
