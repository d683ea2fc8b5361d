"""Where somebody goes from a sentence of the back office: to a table on the floor."""

import re
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from games.incidents import unruled
from games.models import LiveTable

ROW: Final = re.compile(r"(live|solo)-[0-9]{1,18}")
"""What a row of the floor is called, and what a form says that stands there."""


def to_the_table(sentence: str, row: str) -> str | SafeString:
    """Return a sentence with the way to a row of the floor; alone where that is none."""
    if not ROW.fullmatch(row):
        return sentence
    return format_html('{} <a href="{}#{}">To the table</a>', sentence, reverse("staff_floor"), row)


def after_a_ruling(sentence: str, live_table_id: int) -> str | SafeString:
    """Return a sentence with what is left to do at a live table that is stopped, and the way there."""
    if not LiveTable.objects.filter(pk=live_table_id, stopped_by__isnull=False).exists():
        return to_the_table(sentence, f"live-{live_table_id}")
    waiting = unruled().filter(live_round__live_table=live_table_id).values_list("pk", flat=True)
    numbers = ", ".join(str(each) for each in waiting)
    left = f"awaiting its ruling besides: incident {numbers}" if numbers else "now let it go on"
    return to_the_table(f"{sentence} The table is still stopped: {left}.", f"live-{live_table_id}")
