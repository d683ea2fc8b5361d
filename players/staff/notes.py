"""Notes about players: what one member of staff leaves for the next. They are added, and stay as they are.

A note says what staff know of somebody, so it is theirs to be told (Regulation (EU) 2016/679, article 15) and stands in
the export of their data, but for restricted ones: of what is suspected under the law against money laundering nobody
may tell them (Directive (EU) 2015/849, articles 39 and 41).
"""

from django.db import connection, transaction
from django.db.models import QuerySet

from audit import log
from players.models import Note, Player, Staff

PERMISSION = "players.note_players"


class EmptyNote(Exception):
    """There is nothing to note."""


@transaction.atomic
def add(*, player: Player, text: str, restricted: bool, by: Staff) -> Note:
    """Note *text*, at most `LONGEST_NOTE` characters. Raises EmptyNote.

    The event of a restricted note does not name the player: events that do are told them with their data.
    """
    said = text.strip()
    if not said:
        raise EmptyNote
    note = Note.objects.create(player=player, by=by, text=said, restricted=restricted)
    on = f"note:{note.pk}" if restricted else str(player)
    log.record("note.added", by=str(by), on=on, data={"note": note.pk, "restricted": restricted})
    note.refresh_from_db()
    return note


def notes(player: Player, *, restricted_too: bool, before: int | None = None) -> QuerySet[Note]:
    """Return the notes about a player, newest first, those older than the note *before* where it is given. One that has
    been erased is none.
    """
    found = Note.objects.filter(player=player).exclude(text="").select_related("by").order_by("-id")
    if not restricted_too:
        found = found.filter(restricted=False)
    return found.filter(pk__lt=before) if before else found


def forget(player: Player) -> None:
    """Forget what was noted about a player. The database refuses where the account has not been erased."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget_notes(%s)", [player.pk])
