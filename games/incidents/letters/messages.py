"""Texts of letters in the five languages, with the facts of the round and its reader, and additions of staff."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import override

from games.incidents.participants import Concerned
from games.models import LetterKind
from players.datetime_format import written_moment
from wallet.models import Mode
from wallet.money import format_money

LONGEST_ADDITION: Final = 500  # characters that staff may add


@dataclass(frozen=True)
class About:
    """The round that a letter is about."""

    code: str
    table: str
    at: datetime  # time of the round, not of the ruling
    mode: str
    was_paid: bool = True  # the round was settled, even if it was voided later


@dataclass(frozen=True)
class Written:
    """A letter as one player reads it."""

    language: str
    subject: str
    text: str


def written(kind: LetterKind, about: About, who: Concerned, added: str = "") -> Written:
    """Return the letter for one player, in their language and time zone; *added* is the addition of staff."""
    with override(who.language):
        facts: Mapping[str, str] = {
            "code": about.code,
            "table": about.table,
            "moment": written_moment(about.at, who.language, who.player.jurisdiction.time_zone),
        }
        say = _unpaid if kind is LetterKind.VOIDED and not about.was_paid else _SAY[kind]
        sentences = [*say(facts), *_money(kind, about, who), added.strip(), *_end(kind)]
        return Written(who.language, _subject(kind, facts), "\n\n".join(each for each in sentences if each))


def _subject(kind: LetterKind, facts: Mapping[str, str]) -> str:
    match kind:
        case LetterKind.VOIDED:
            return _("Your round %(code)s was voided") % facts
        case LetterKind.STANDS:
            return _("The result of your round %(code)s stands") % facts
        case LetterKind.COMPLETED:
            return _("Your round %(code)s was completed") % facts
        case LetterKind.SHORTFALL:
            return _("You owe nothing for round %(code)s") % facts
    return _("We are sorry about your round %(code)s") % facts


def _voided(facts: Mapping[str, str]) -> Iterator[str]:
    yield _was_voided(facts)
    yield _("The round does not count. All stakes were returned and any payout was reversed.")


def _unpaid(facts: Mapping[str, str]) -> Iterator[str]:
    """Yield the text for a round that was voided before it was settled, so that no payout was taken back."""
    yield _was_voided(facts)
    yield _("The round does not count. All stakes were returned.")


def _was_voided(facts: Mapping[str, str]) -> str:
    return _("Your round %(code)s at table %(table)s on %(moment)s was voided because of an error.") % facts


def _stands(facts: Mapping[str, str]) -> Iterator[str]:
    yield (
        _("We received a report about your round %(code)s at table %(table)s on %(moment)s and reviewed the round.")
        % facts
    )
    yield _("The round was played according to the rules. The result stands and your balance has not changed.")


def _completed(facts: Mapping[str, str]) -> Iterator[str]:
    yield _("Your round %(code)s at table %(table)s on %(moment)s was interrupted by an error on our side.") % facts
    yield _("The round was completed according to the rules, with the cards already fixed in the shoe, and paid out.")


def _shortfall(facts: Mapping[str, str]) -> Iterator[str]:
    yield _("Your round %(code)s at table %(table)s on %(moment)s was voided after it had been paid out.") % facts
    yield _("Part of the payout was no longer in your account. We cover the difference: you owe us nothing.")


def _apology(facts: Mapping[str, str]) -> Iterator[str]:
    yield _("Something went wrong with your round %(code)s at table %(table)s on %(moment)s.") % facts
    yield _("This should not have happened, and we apologise.")


_SAY: Final = {
    LetterKind.VOIDED: _voided,
    LetterKind.STANDS: _stands,
    LetterKind.COMPLETED: _completed,
    LetterKind.SHORTFALL: _shortfall,
    LetterKind.APOLOGY: _apology,
}


def _money(kind: LetterKind, about: About, who: Concerned) -> Iterator[str]:
    """Yield what the round did to the reader's money, one line each."""

    def money(minor: int) -> str:
        return format_money(minor, who.currency, who.language)

    lines = [_("Your stake: %(amount)s") % {"amount": money(who.staked)}]
    if who.paid is not None and not (kind is LetterKind.VOIDED and not who.paid):
        lines.append(_("Paid out: %(amount)s") % {"amount": money(who.paid)})
    if who.returned:
        back = (
            _("Credited to your account: %(amount)s")
            if who.returned > 0
            else _("Debited from your account: %(amount)s")
        )
        lines.append(back % {"amount": money(abs(who.returned))})
    if who.shortfall:
        lines.append(_("Covered by us: %(amount)s") % {"amount": money(who.shortfall)})
    if about.mode == Mode.FREE:
        lines.append(_("The round was played with play money."))
    yield "\n".join(lines)


def _end(kind: LetterKind) -> Iterator[str]:
    if kind is not LetterKind.APOLOGY:
        yield _("We apologise for the inconvenience.")
    yield _("If you have any questions, reply to this message in your account under “Customer service”.")
