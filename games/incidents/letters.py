"""Letters to all players of the round of an incident, each in the player's language.

A letter is a message in the player's account and a mail with the same text. Sending it inserts one
row for the round and the kind of letter. A second request waits for that row and sends nothing.

The copies are written in parts of a few players, each in its own transaction. So hundreds of
players make no long transaction, and after a crash another worker continues from the last whole
part. The rows say which letters are in progress. A worker takes the letter's lock; another worker
skips the letter. A constraint refuses a second copy for a player.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from celery import current_app
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Q
from django.utils.translation import gettext, override
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from audit import log
from games import incidents
from games.incidents import Case, Concerned, concerned, without_erased
from games.models import IncidentLetter, LetterCopy, LetterEnd, LetterKind, Phase, Ruling
from players import mail
from players.datetime_format import written_moment
from players.models import Staff, Topic
from players.support import conversations
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
        sentences = [*say(facts), *_money(kind, about, who), added.strip(), *_closing(kind)]
        return Written(who.language, _subject(kind, facts), "\n\n".join(each for each in sentences if each))


def _subject(kind: LetterKind, facts: Mapping[str, str]) -> str:
    match kind:
        case LetterKind.VOIDED:
            return _("Your round %(code)s was voided") % facts
        case LetterKind.CONFIRMED:
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


def _confirmed(facts: Mapping[str, str]) -> Iterator[str]:
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
    LetterKind.CONFIRMED: _confirmed,
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


def _closing(kind: LetterKind) -> Iterator[str]:
    if kind is not LetterKind.APOLOGY:
        yield _("We apologise for the inconvenience.")
    yield _("If you have any questions, reply to this message in your account under “Customer service”.")


TEMPLATE: Final = "incident_letter"
EXPIRES: Final = 60  # seconds until the Celery message expires, since beat asks every minute


class LetterError(Exception):
    """The letter is not sent. The message is for staff."""


@dataclass(frozen=True)
class Offer:
    """A kind of letter that applies to a round, and its readers."""

    kind: LetterKind
    people: Sequence[Concerned]
    sent: IncidentLetter | None  # the letter, if it was already sent to all of them

    @property
    def languages(self) -> Mapping[str, int]:
        """The number of readers by language."""
        return dict(sorted(Counter(each.language for each in self.people).items()))


@dataclass(frozen=True)
class Sent:
    """A letter that is being sent, its progress, and the state of its mails."""

    letter: IncidentLetter
    copies: int  # written so far
    left: int  # still to be written
    sent: int
    waiting: int
    given_up: int

    @property
    def is_ended(self) -> bool:
        """True if all copies are written."""
        return hasattr(self.letter, "end")

    @property
    def people(self) -> int:
        """The number of all readers."""
        return self.copies + self.left


def offers(case: Case) -> Mapping[LetterKind, Offer]:
    """Return the letters that apply to an incident's round and have a reader."""
    people = without_erased(concerned(case.round_id, case.parts))
    before = {each.kind: each for each in IncidentLetter.objects.filter(round_id=case.round_id)}
    found = (
        Offer(kind, [each for each in people if kind is not LetterKind.SHORTFALL or each.shortfall], before.get(kind))
        for kind in LetterKind
        if _is_true(kind, case)
    )
    return {offer.kind: offer for offer in found if offer.people}


def _is_true(kind: LetterKind, case: Case) -> bool:
    is_over = case.finished is not None
    match kind:
        case LetterKind.VOIDED | LetterKind.SHORTFALL:
            return is_over and case.is_void
        case LetterKind.CONFIRMED:
            ruling = getattr(case.incident, "ruling", None)
            return is_over and not case.is_void and ruling is not None and ruling.ruling == Ruling.CONFIRMED
        case LetterKind.COMPLETED:
            was_interrupted = case.finished is not None and case.incident.at < case.finished.at
            return was_interrupted and not case.is_void and not case.awaits_ruling
    return True


def about(case: Case) -> About:
    """Return what letters say about the round of an incident."""
    live = case.incident.live_round
    if case.finished is not None and (live is None or live.phase == Phase.SETTLED):
        return About(case.code, case.incident.table.name, case.finished.at, case.finished.mode)
    assert live  # noqa: S101  (a round of a solo table is in an incident only once it is over)
    return About(case.code, case.incident.table.name, live.opened_at, live.live_table.mode, was_paid=False)


def preview(case: Case, offer: Offer, sentences: Mapping[str, str], player: int | None = None) -> list[Written]:
    """Return a letter as one reader of each language would get it; for a named *player*, as that player would."""
    readers: dict[str, Concerned] = {}
    for each in offer.people:
        readers.setdefault(each.language, each)
    chosen = [each for each in offer.people if each.player.pk == player]
    if player is not None and not chosen:
        raise LetterError(gettext("player:%(player)s was not in this round.") % {"player": player})
    return [
        written(offer.kind, about(case), each, sentences.get(each.language, ""))
        for each in chosen or [readers[language] for language in sorted(readers)]
    ]


def left(letter: IncidentLetter, case: Case) -> Sequence[Concerned]:
    """Return the players who have yet to get a letter, by id; none where it no longer applies."""
    offer = offers(case).get(LetterKind(letter.kind))
    written_to = set(letter.copies.values_list("player_id", flat=True))
    return [each for each in offer.people if each.player.pk not in written_to] if offer else []


@transaction.atomic
def send(*, case: Case, kind: LetterKind, sentences: Mapping[str, str], staff: Staff) -> IncidentLetter:
    """Send a letter to all players of the round.

    Raises LetterError where it does not apply to the round, or one of this kind was already sent.
    """
    offer = offers(case).get(kind)
    if offer is None:
        raise LetterError(
            gettext("“%(kind)s” does not apply to this round, or has no recipients.") % {"kind": kind.label}
        )
    letter = _only_one(case, kind, sentences, staff)
    data: dict[str, log.Json] = {
        "incident": case.incident.pk,
        "letter": letter.pk,
        "kind": str(kind),
        "round": str(case.round_id),
        "languages": cast("log.Json", dict(offer.languages)),
    }
    log.record("incident.written", by=str(staff), on=f"table:{case.incident.table_id}", data=data)
    transaction.on_commit(_ask_for_the_parts)
    return letter


def _ask_for_the_parts() -> None:
    """Send a Celery message to write the copies at once. Without it they are written within a minute."""
    with suppress(OperationalError):
        current_app.send_task("games.tasks.write_letters", retry=False, expires=EXPIRES)


def _only_one(case: Case, kind: LetterKind, sentences: Mapping[str, str], staff: Staff) -> IncidentLetter:
    """Insert the letter first; a concurrent request waits here and finds it. Raises LetterError."""
    said = {language: text.strip() for language, text in sentences.items() if text.strip()}
    try:
        with transaction.atomic():
            return IncidentLetter.objects.create(
                incident=case.incident, round_id=case.round_id, kind=kind, sentences=said, by=str(staff)
            )
    except IntegrityError as error:
        first = IncidentLetter.objects.filter(round_id=case.round_id, kind=kind).first()
        if first is None:
            raise
        raise LetterError(
            gettext("%(by)s has already sent this letter. Each letter is sent only once.") % {"by": first.by}
        ) from error


def letters(case: Case) -> list[Sent]:
    """Return the letters of an incident's round, oldest first, with their progress."""
    rows = IncidentLetter.objects.filter(round_id=case.round_id).select_related("end").order_by("pk")
    waiting = Q(copies__mail__sent_at=None, copies__mail__next_try_at__isnull=False)
    given_up = Q(copies__mail__sent_at=None, copies__mail__next_try_at=None)
    counted = rows.annotate(
        count=Count("copies"),
        sent=Count("copies", filter=Q(copies__mail__sent_at__isnull=False)),
        waiting=Count("copies", filter=waiting & Q(copies__isnull=False)),
        given_up=Count("copies", filter=given_up & Q(copies__isnull=False)),
    )
    return [
        Sent(
            each,
            each.count,
            0 if hasattr(each, "end") else len(left(each, case)),
            each.sent,
            each.waiting,
            each.given_up,
        )
        for each in counted
    ]


def on_page(case: Case) -> dict[str, object]:
    """Return the letters for the page of an incident, and whether one is still being sent."""
    found = letters(case)
    return {"letters": found, "is_going": any(not each.is_ended for each in found)}


def copies(case: Case) -> list[LetterCopy]:
    """Return the copies of all letters about the round of an incident."""
    rows = LetterCopy.objects.filter(letter__round_id=case.round_id).select_related("letter", "mail")
    return list(rows.order_by("letter_id", "player_id"))


PART: Final = 50  # players in one transaction
LOCK: Final = 0x5AB_1E7  # key of pg_try_advisory_xact_lock, with the letter's id


def write_due() -> int:
    """Write all missing copies of all letters, and return how many were written.

    Letters that another worker has locked are skipped.
    """
    count = 0
    for letter_id in IncidentLetter.objects.filter(end=None).order_by("pk").values_list("pk", flat=True):
        while part := _write_part(letter_id):
            count += part
    return count


@transaction.atomic
def _write_part(letter_id: int) -> int:
    """Write the next part of a letter, and return the number of copies; 0 where this worker has nothing to do.

    The last part inserts the `LetterEnd`.
    """
    if not _is_ours(letter_id):
        return 0
    letter = IncidentLetter.objects.select_related("end").get(pk=letter_id)
    case = incidents.case_of(letter.incident_id)
    if case is None or hasattr(letter, "end"):
        return 0
    people = left(letter, case)
    staff = Staff.objects.get(pk=int(letter.by.removeprefix("staff:")))
    for who in people[:PART]:
        _write(letter, case, who, staff)
    if len(people) <= PART:
        _end(letter, case)
    return len(people[:PART])


def _is_ours(letter_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, (%s %% 2147483647)::integer)", [LOCK, letter_id])
        (is_ours,) = cursor.fetchone()
    return bool(is_ours)


def _write(letter: IncidentLetter, case: Case, who: Concerned, staff: Staff) -> None:
    text = written(LetterKind(letter.kind), about(case), who, letter.sentences.get(who.language, ""))
    conversation = conversations.lay_down(
        staff=staff,
        player=who.player,
        topic=Topic.OTHER,
        text=f"{text.subject}\n\n{text.text}",
        about=conversations.RoundNamed(case.round_id, case.code) if case.finished is not None else None,
    )
    values = {"subject": text.subject, "text": text.text}
    sent = mail.write(user=who.player.user, template=TEMPLATE, context=values)
    LetterCopy.objects.create(
        letter=letter, player=who.player, language=who.language, conversation=conversation.pk, mail=sent
    )


def _end(letter: IncidentLetter, case: Case) -> None:
    LetterEnd.objects.create(letter=letter)
    data: dict[str, log.Json] = {
        "incident": letter.incident_id,
        "letter": letter.pk,
        "copies": letter.copies.count(),
    }
    log.record("incident.letter_ended", by="system", on=f"table:{case.incident.table_id}", data=data)
