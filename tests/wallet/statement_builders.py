"""Statements of providers for tests, as files and as far as staff have come with them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from players.models import Staff
from tests.people import a_member_of_staff
from wallet.models import ProviderStatement, StatementDraft
from wallet.provider_statements import drafts
from wallet.provider_statements.parser import COLUMNS

PROVIDER = "sandbox"
LINE = {
    "reference": "",
    "authorisation": "",
    "kind": "deposit",
    "amount": "500.00",
    "currency": "SEK",
    "status": "settled",
}


def today() -> date:
    """The day it is, in UTC."""
    return datetime.now(UTC).date()


def a_file(lines: Sequence[Mapping[str, str]], *, separator: str = ",", columns: Sequence[str] = COLUMNS) -> bytes:
    """A statement of today, each of *lines* saying in what it is not `LINE`."""
    rows = [{**LINE, "date": today().isoformat(), **line} for line in lines]
    text = [columns, *([f'"{row.get(column, "")}"' for column in columns] for row in rows)]
    return "".join(f"{separator.join(cells)}\r\n" for cells in text).encode()


def drafted(
    lines: Sequence[Mapping[str, str]], *, staff: Staff | None = None, content: bytes | None = None
) -> StatementDraft:
    """A statement of the last days that waits for its uploader."""
    return drafts.upload(
        content=a_file(lines) if content is None else content,
        name="statement.csv",
        provider=PROVIDER,
        since=today() - timedelta(days=2),
        until=today() + timedelta(days=1),
        staff=staff or a_member_of_staff("finance"),
    )


def confirmed(lines: Sequence[Mapping[str, str]], *, staff: Staff | None = None) -> ProviderStatement:
    """One that counts."""
    staff = staff or a_member_of_staff("finance")
    return drafts.confirm(drafted(lines, staff=staff).pk, staff)


def named(reference: UUID | str, **changes: str) -> dict[str, str]:
    """A line about something of the house."""
    return {"reference": str(reference)} | changes
