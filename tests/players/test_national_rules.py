"""Each cell of ``docs/national-rules.md`` equals the database and names its source."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from players.models import Jurisdiction

pytestmark = pytest.mark.django_db

DOCUMENT = Path(settings.BASE_DIR, "docs", "national-rules.md")
CODES = ["SE", "DK", "RO", "DE", "GB"]


def yes(value: bool) -> str:
    return "yes" if value else "no"


def money(minor: int | None, where: Jurisdiction) -> str:
    return "none" if minor is None else f"{minor / 100:,.2f} {where.currencies[0]}"


SAYS: dict[str, Callable[[Jurisdiction], str]] = {
    "time zone of days, weeks (from Monday) and months": lambda where: where.time_zone,
    "deposit limits before play": lambda where: f"{where.deposit_limits}: {', '.join(where.deposit_periods)}",
    "highest deposits in a month": lambda where: money(where.highest_month_deposit, where),
    "a looser limit waits": lambda where: f"{where.raise_after_hours} h",
    "and until the running period ends": lambda where: yes(where.raise_after_period),
    "staff get in touch above deposits a month of": lambda where: money(where.contact_above_month, where),
    "pause button": lambda where: f"{where.pause_hours} h",
    "it asks before it pauses": lambda where: yes(where.pause_asks),
    "shortest self-exclusion": lambda where: f"{where.exclusion_days} days",
    "a permanent one can be reopened after": lambda where: f"{where.permanent_days} days",
    "a player can cancel a withdrawal": lambda where: yes(where.may_cancel_withdrawals),
    "play at several tables at once": lambda where: yes(where.may_play_in_parallel),
    "a complaint is decided within": lambda where: f"{where.complaint_days} days",
    "a player can have it opened again for": lambda where: f"{where.reopen_days} days",
}

# The legal rules as read; a changed figure must change here too. [v] read, [s] second hand, [c] our
# choice.
RULES = [
    ("SE", "[v]", "deposit_limits", "required"),
    ("SE", "[v]", "deposit_periods", ["day", "week", "month"]),
    ("SE", "[v]", "raise_after_hours", 72),
    ("SE", "[v]", "raise_after_period", True),
    ("SE", "[v]", "contact_above_month", 1_000_000),
    ("SE", "[s]", "pause_hours", 24),
    ("DK", "[v]", "deposit_limits", "offered"),
    ("DK", "[v]", "deposit_periods", ["day", "week", "month"]),
    ("DK", "[v]", "raise_after_hours", 24),
    ("DK", "[v]", "pause_hours", 24),
    ("DK", "[v]", "exclusion_days", 30),
    ("DK", "[v]", "permanent_days", 366),
    ("DK", "[s]", "complaint_days", 14),
    ("RO", "[c]", "deposit_limits", "offered"),
    ("RO", "[c]", "raise_after_hours", 24),
    ("RO", "[c]", "pause_hours", 24),
    ("DE", "[s]", "deposit_limits", "required"),
    ("DE", "[s]", "deposit_periods", ["month"]),
    ("DE", "[s]", "highest_month_deposit", 100_000),
    ("DE", "[c]", "raise_after_hours", 7 * 24),
    ("DE", "[v]", "pause_hours", 24),
    ("DE", "[v]", "pause_asks", False),
    ("DE", "[v]", "may_play_in_parallel", False),
    ("GB", "[v]", "deposit_limits", "prompted"),
    ("GB", "[v]", "deposit_periods", ["day", "week", "month"]),
    ("GB", "[v]", "raise_after_hours", 24),
    ("GB", "[c]", "pause_hours", 24),
    ("GB", "[s]", "exclusion_days", 184),
    ("GB", "[v]", "may_cancel_withdrawals", False),
]


def table() -> dict[str, dict[str, str]]:
    """Return the cells of the document's table, by row and jurisdiction."""
    lines = [line.strip("|\n ").split(" | ") for line in DOCUMENT.read_text().splitlines() if line.startswith("|")]
    head = [cell.strip() for cell in lines[0]][-len(CODES) :]
    assert head == CODES
    return {row[0]: dict(zip(CODES, row[1:], strict=True)) for row in lines[2:]}


def test_the_data_say_what_the_rule_says(subtests):
    profiles = Jurisdiction.objects.in_bulk(CODES)
    for code, _source, column, value in RULES:
        with subtests.test(code=code, column=column):
            assert getattr(profiles[code], column) == value


def test_the_document_says_what_the_data_say(subtests):
    profiles, rows = Jurisdiction.objects.in_bulk(CODES), table()
    for row, says in SAYS.items():
        for code in CODES:
            with subtests.test(row=row, code=code):
                said = re.sub(r" \[[vsc]\]$", "", rows[row][code])
                assert said == says(profiles[code])
                assert said != rows[row][code] or said in ("none", "no"), "a figure names its source"


def test_the_document_has_no_row_that_nothing_holds_to_the_data():
    assert set(table()) == set(SAYS)


def test_the_document_marks_each_rule_with_its_source(subtests):
    row_of = {
        "deposit_limits": "deposit limits before play",
        "deposit_periods": "deposit limits before play",
        "highest_month_deposit": "highest deposits in a month",
        "raise_after_hours": "a looser limit waits",
        "raise_after_period": "and until the running period ends",
        "contact_above_month": "staff get in touch above deposits a month of",
        "pause_hours": "pause button",
        "pause_asks": "it asks before it pauses",
        "exclusion_days": "shortest self-exclusion",
        "permanent_days": "a permanent one can be reopened after",
        "may_cancel_withdrawals": "a player can cancel a withdrawal",
        "may_play_in_parallel": "play at several tables at once",
        "complaint_days": "a complaint is decided within",
    }
    rows = table()
    for code, source, column, _value in RULES:
        with subtests.test(code=code, column=column):
            assert rows[row_of[column]][code].endswith(source)


def test_every_figure_of_a_profile_is_in_the_document():
    plain = {"code", "language", "currencies", "minimum_age", "deposit_periods"}
    columns = {field.name for field in Jurisdiction._meta.get_fields() if field.concrete} - plain
    assert len(columns) == len(SAYS)
