"""Files of provider statements: parsed lines, and a message for every invalid line."""

from datetime import date

import pytest
from django.utils.translation import override

from wallet.provider_statements import parser
from wallet.provider_statements.parser import COLUMNS, NotAStatement, read

HEADING = ",".join(COLUMNS)
REFERENCE = "8d0c1b1e-7f0a-4a52-9f1c-5f2f9f7f0001"
GOOD = f"{REFERENCE},SB1,deposit,1234.50,SEK,2026-11-22,settled"
SINCE, UNTIL = date(2026, 11, 1), date(2026, 11, 30)


def said(text: str | bytes) -> parser.Statement:
    return read(text if isinstance(text, bytes) else text.encode(), since=SINCE, until=UNTIL)


def test_a_line_is_read_exactly():
    (line,) = said(f"{HEADING}\n{GOOD}\n").lines
    assert line == parser.Line(2, REFERENCE, "SB1", "deposit", 123_450, "SEK", date(2026, 11, 22), "settled")


@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_file_is_read_alike_however_it_was_saved(separator, coding, ending):
    heading = separator.join([*COLUMNS, "payer"])
    row = separator.join([*GOOD.split(","), "Åsa Öberg"])
    text = ending.join([heading, row, "", separator * len(COLUMNS), "", ""])
    statement = said(text.encode(coding))
    assert [line.amount for line in statement.lines] == [123_450]
    assert statement.faults == []


@pytest.mark.parametrize(
    ("written", "minor"),
    [("1234.50", 123_450), ("1234,50", 123_450), ("1234,5", 123_450), ("1234", 123_400), ("0.01", 1), ("0,1", 10)],
)
def test_an_amount_has_a_point_or_a_comma_and_is_never_rounded(written, minor):
    (line,) = said(f"{HEADING}\n" + GOOD.replace("1234.50", f'"{written}"')).lines
    assert line.amount == minor


@pytest.mark.parametrize(
    ("column", "written", "message"),
    [
        ("amount", "-5.00", "must have no sign"),
        ("amount", "1.234,50", "without thousands separators"),
        ("amount", "1,234", "without thousands separators"),
        ("amount", "1 234,50", "without thousands separators"),
        ("amount", "12.345", "without thousands separators"),
        ("amount", "0.001", "without thousands separators"),
        ("amount", "1.5e3", "Invalid amount"),
        ("amount", "١٢", "Invalid amount"),
        ("amount", "0.00", "is zero"),
        ("amount", "99999999999999", "zero or too large"),
        ("amount", "", "Invalid amount"),
        ("currency", "USD", "currency must be one of SEK"),
        ("kind", "fee", "kind must be one of deposit"),
        ("status", "done", "status must be one of settled"),
        ("date", "22.11.2026", "Invalid date"),
        ("date", "2026-02-30", "Invalid date"),
        ("date", "2026-12-01", "outside the days"),
        ("reference", "Åsa", "may contain only letters, digits"),
        ("reference", "x" * 65, "at most 64 characters"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_its_number_and_its_text(column, written, message):
    cells = dict(zip(COLUMNS, GOOD.split(","), strict=True)) | {column: f'"{written}"'}
    statement = said(f"{HEADING}\n{GOOD}\n{','.join(cells.values())}\n")
    assert len(statement.lines) == 1
    (fault,) = statement.faults
    assert fault.number == 3
    assert message in " ".join(fault.wrong)
    assert "2026-11-22" in fault.text or column == "date"


def test_everything_that_is_wrong_with_a_line_is_said_at_once():
    (fault,) = said(f"{HEADING}\n,,fee,x,USD,today,done\n").faults
    assert len(fault.wrong) == 6


def test_a_line_of_one_cell_is_reported_without_a_plural_in_every_language():
    (fault,) = said(f"{HEADING}\nrubbish\n").faults
    assert fault.wrong[0].startswith("Cells: 1; columns in the header row: 7.")
    with override("de"):
        (fault,) = said(f"{HEADING}\nrubbish\n").faults
    assert fault.wrong[0].startswith("Zellen: 1; Spalten in der Kopfzeile: 7.")


def test_a_decimal_comma_between_commas_is_distinguished_from_an_extra_cell():
    (fault,) = said(f"{HEADING}\n{GOOD.replace('1234.50', '1234,50')}\n").faults
    assert "needs quotes" in fault.wrong[0]


def test_columns_that_are_not_declared_are_let_go_of():
    statement = said(f"{HEADING},payer,iban\n{GOOD},Åsa Öberg,SE455000\n{GOOD.replace('SEK', 'X')},Åsa,SE455000\n")
    assert "Åsa" not in str(statement)
    assert "SE455000" not in str(statement)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "lacks: kind"),
        (b"reference;kind\n", "lacks: amount, currency, date, status"),
        (b"kind,amount,currency,date,status\n", "lacks both reference and authorisation"),
        (f"{HEADING},kind\n".encode(), "duplicate column: kind"),
        (HEADING.encode("utf-16"), "UTF-16"),
        (HEADING.encode() + b"\n\x81", "neither UTF-8 nor Windows-1252"),
        (HEADING.encode() + b"\n\x00", "not text"),
        (HEADING.encode() + b'\n"a"b', "cannot be read as CSV"),
        (b"x" * (parser.MOST_BYTES + 1), "larger than 5 MB"),
    ],
)
def test_a_file_that_is_no_statement_is_refused_in_a_sentence(content, message):
    with pytest.raises(NotAStatement, match=message):
        said(content)


@pytest.mark.sweep
def test_a_file_of_too_many_lines_is_refused():
    with pytest.raises(NotAStatement, match="more than 20,000 lines"):
        said(f"{HEADING}\n" + f"{GOOD}\n" * (parser.MOST_LINES + 1))


def test_a_statement_of_nothing_is_one():
    assert said(f"{HEADING}\n") == parser.Statement([], [])
