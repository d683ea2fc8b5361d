"""Links from messages of the back office to a table on the floor."""

import re
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from games.incidents import unruled
from games.models import LiveTable

ROW: Final = re.compile(r"(live|solo)-[0-9]{1,18}")
"""The id of a row of the floor, which forms on the floor submit."""


def to_the_table(sentence: str, row: str) -> str | SafeString:
    """Return a message with a link to a row of the floor, or without a link if *row* is not a row id."""
    if not ROW.fullmatch(row):
        return sentence
    return format_html('{} <a href="{}#{}">To the table</a>', sentence, reverse("staff_floor"), row)


def after_a_ruling(sentence: str, live_table_id: int) -> str | SafeString:
    """Return a message with what is left to do at a stopped live table, and a link to the table."""
    if not LiveTable.objects.filter(pk=live_table_id, stopped_by__isnull=False).exists():
        return to_the_table(sentence, f"live-{live_table_id}")
    waiting = unruled().filter(live_round__live_table=live_table_id).values_list("pk", flat=True)
    numbers = ", ".join(str(each) for each in waiting)
    left = f"awaiting its ruling besides: incident {numbers}" if numbers else "now let it go on"
    return to_the_table(f"{sentence} The table is still stopped: {left}.", f"live-{live_table_id}")
