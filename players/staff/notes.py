"""Notes about players, by staff for other staff. Notes are added and never changed.

Players have a right to read notes about them (Regulation (EU) 2016/679, article 15), so the data
export contains them. Restricted notes are excluded: nobody may tell a player about a suspicion of
money laundering (Directive (EU) 2015/849, articles 39 and 41).
"""

from django.db import connection, transaction
from django.db.models import QuerySet

from audit import log
from players.models import Note, Player, Staff

PERMISSION = "players.note_players"


class EmptyNote(Exception):
    """The note is empty."""


@transaction.atomic
def add(*, player: Player, text: str, restricted: bool, by: Staff) -> Note:
    """Add a note of at most `LONGEST_NOTE` characters. Raises EmptyNote.

    The event of a restricted note does not name the player, because players can export the events
    that name them.
    """
    said = text.strip()
    if not said:
        raise EmptyNote
    note = Note.objects.create(player=player, by=by, text=said, restricted=restricted)
    on = f"note:{note.pk}" if restricted else str(player)
    log.record("note.added", by=str(by), on=on, data={"note": note.pk, "restricted": restricted})
    note.refresh_from_db()
    return note


def notes(player: Player, *, restricted_too: bool) -> QuerySet[Note]:
    """Return the notes about a player, newest first. Erased notes are left out."""
    found = Note.objects.filter(player=player).exclude(text="").select_related("by").order_by("-id")
    return found if restricted_too else found.filter(restricted=False)


def forget(player: Player) -> None:
    """Erase the texts of all notes about a player. The database refuses unless the account has been erased."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget_notes(%s)", [player.pk])
