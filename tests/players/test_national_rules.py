"""Each cell of ``docs/national-rules.md`` equals the database, and both name the same source."""

from itertools import product
from pathlib import Path

import pytest
from django.conf import settings

from players.models import Jurisdiction
from players.protection import national_rules
from players.protection.national_rules import RULES

pytestmark = pytest.mark.django_db

DOCUMENT = Path(settings.BASE_DIR, "docs", "national-rules.md")
CODES = ["SE", "DK", "RO", "DE", "GB"]

# The legal rules as read; a changed figure or source must change here too. R read, S second hand, c our
# choice.
FIGURES = [
    ("SE", "R", "deposit_limits", "required"),
    ("SE", "R", "deposit_periods", ["day", "week", "month"]),
    ("SE", "R", "raise_after_hours", 72),
    ("SE", "R", "raise_after_period", True),
    ("SE", "R", "contact_above_month", 1_000_000),
    ("SE", "S", "pause_hours", 24),
    ("DK", "R", "deposit_limits", "offered"),
    ("DK", "R", "deposit_periods", ["day", "week", "month"]),
    ("DK", "R", "raise_after_hours", 24),
    ("DK", "R", "pause_hours", 24),
    ("DK", "R", "exclusion_days", 30),
    ("DK", "R", "permanent_days", 366),
    ("DK", "S", "complaint_days", 14),
    ("RO", "c", "deposit_limits", "offered"),
    ("RO", "c", "raise_after_hours", 24),
    ("RO", "c", "pause_hours", 24),
    ("DE", "S", "deposit_limits", "required"),
    ("DE", "S", "deposit_periods", ["month"]),
    ("DE", "S", "highest_month_deposit", 100_000),
    ("DE", "c", "raise_after_hours", 7 * 24),
    ("DE", "R", "pause_hours", 24),
    ("DE", "R", "pause_asks", False),
    ("DE", "S", "may_play_in_parallel", False),
    ("DE", "S", "may_show_tables_together", False),
    ("DE", "S", "asks_licence", True),
    ("GB", "R", "deposit_limits", "prompted"),
    ("GB", "R", "deposit_periods", ["day", "week", "month"]),
    ("GB", "R", "raise_after_hours", 24),
    ("GB", "c", "pause_hours", 24),
    ("GB", "S", "exclusion_days", 184),
    ("GB", "R", "may_cancel_withdrawals", False),
    ("GB", "S", "may_show_tables_together", False),
    ("GB", "S", "seconds_between_games", 5),
    ("GB", "R", "may_hurry_results", False),
    ("GB", "c", "api_clients_may_play", False),
    ("GB", "R", "limit_reminder_days", 181),
    ("SE", "S", "identity_before_play", True),
    ("DK", "R", "identity_before_play", True),
    ("RO", "S", "identity_before_play", True),
    ("DE", "S", "identity_before_play", True),
    ("GB", "S", "identity_before_play", True),
    ("SE", "S", "credit_forbidden", True),
    ("GB", "S", "credit_forbidden", True),
    ("DE", "c", "credit_forbidden", False),
    ("GB", "S", "raise_confirmed", True),
]


def table() -> dict[str, dict[str, str]]:
    """Return the cells of the document's table, by row and jurisdiction."""
    lines = [line.strip("|\n ").split(" | ") for line in DOCUMENT.read_text().splitlines() if line.startswith("|")]
    head = [cell.strip() for cell in lines[0]][-len(CODES) :]
    assert head == CODES
    return {row[0]: dict(zip(CODES, row[1:], strict=True)) for row in lines[2:]}


def test_the_data_say_what_the_rule_says(subtests):
    profiles = Jurisdiction.objects.in_bulk(CODES)
    for code, source, rule, value in FIGURES:
        with subtests.test(code=code, rule=rule):
            assert getattr(profiles[code], rule) == value
            assert national_rules.source_of(profiles[code], rule) == source


def test_every_rule_is_a_row_of_the_document():
    assert list(table()) == [field.verbose_name for field in RULES.values()]


def test_each_cell_of_the_document_is_the_rule_in_force_with_its_source():
    profiles, cells, sources = Jurisdiction.objects.in_bulk(CODES), table(), national_rules.sources()
    wrong = []
    for rule, code in product(RULES, CODES):
        value = getattr(profiles[code], rule)
        key = sources.get((code, rule), None if value is None else "c")
        written = national_rules.written(profiles[code], rule, value) + (f" [{key}]" if key else "")
        if (said := cells[str(RULES[rule].verbose_name)][code]) != written:
            wrong.append((rule, code, said, written))
    assert wrong == []
