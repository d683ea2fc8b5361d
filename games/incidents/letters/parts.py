"""Letters are written in parts, each in a transaction of its own: hundreds of players are no long transaction, and a
worker that dies in the middle leaves whole parts behind, from which any other goes on.

Which letters are under way stands in the rows. Of two workers one has the letter's lock, the other passes it over, and
the database lets nobody have two copies.
"""

from typing import Final

from django.db import connection, transaction

from audit import log
from games import incidents
from games.incidents import Case
from games.incidents.letters.delivery import TEMPLATE, about, left
from games.incidents.letters.messages import written
from games.incidents.participants import Concerned
from games.models import IncidentLetter, LetterCopy, LetterEnd, LetterKind
from players import mail
from players.models import Staff, Topic
from players.support import conversations

PART: Final = 50  # players in one transaction
LOCK: Final = 0x5AB_1E7  # of pg_try_advisory_xact_lock, beside a letter's number


def write_due() -> int:
    """Write every letter to whoever has yet to get it, and return how many copies were written. Letters that another
    worker is at are left to it.
    """
    count = 0
    for letter_id in IncidentLetter.objects.filter(end=None).order_by("pk").values_list("pk", flat=True):
        while part := _write_part(letter_id):
            count += part
    return count


@transaction.atomic
def _write_part(letter_id: int) -> int:
    """Write the next part of a letter and return how many copies that were; 0 where nothing is left to this worker. The
    last part says that it was the last.
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
    words = {"subject": text.subject, "text": text.text}
    sent = mail.write(user=who.player.user, template=TEMPLATE, context=words)
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
