"""Provider statements for tests, as files and in each state."""

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
    """Return the current date in UTC."""
    return datetime.now(UTC).date()


def a_file(lines: Sequence[Mapping[str, str]], *, separator: str = ",", columns: Sequence[str] = COLUMNS) -> bytes:
    """Return a statement of today; each of *lines* has its differences from `LINE`."""
    rows = [{**LINE, "date": today().isoformat(), **line} for line in lines]
    text = [columns, *([f'"{row.get(column, "")}"' for column in columns] for row in rows)]
    return "".join(f"{separator.join(cells)}\r\n" for cells in text).encode()


def drafted(
    lines: Sequence[Mapping[str, str]], *, staff: Staff | None = None, content: bytes | None = None
) -> StatementDraft:
    """Return a statement of the last days that waits for confirmation."""
    return drafts.upload(
        content=a_file(lines) if content is None else content,
        name="statement.csv",
        provider=PROVIDER,
        since=today() - timedelta(days=2),
        until=today() + timedelta(days=1),
        staff=staff or a_member_of_staff("finance"),
    )


def confirmed(lines: Sequence[Mapping[str, str]], *, staff: Staff | None = None) -> ProviderStatement:
    """Return a confirmed statement."""
    staff = staff or a_member_of_staff("finance")
    return drafts.confirm(drafted(lines, staff=staff).pk, staff)


def named(reference: UUID | str, **changes: str) -> dict[str, str]:
    """Return a line about a payment of the house."""
    return {"reference": str(reference)} | changes
