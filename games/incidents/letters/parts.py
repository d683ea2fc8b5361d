"""Write letters in parts of a few players, each in its own transaction.

So hundreds of players make no long transaction, and after a crash another worker continues from the
last whole part. The rows say which letters are in progress. A worker takes the letter's lock;
another worker skips the letter. A constraint refuses a second copy for a player.
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
