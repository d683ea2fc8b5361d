"""Uploads to the pages that take files.

The files' contents are tested in `tests/players/test_uploads.py` and
`tests/wallet/test_reading_statements.py`.
"""

import ast
import re
import zipfile
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from casino import settings as house
from players.models import Document, Part, Submission
from tests.builders import a_player
from tests.harness.product import modules
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.players.papers import bomb, pdf, picture
from tests.players.test_identity_pages import PAGE, SAID, file, files
from wallet.models import ProviderStatement
from wallet.provider_statements.parser import MOST_BYTES

UPLOAD = "/staff/statements/upload/"
SCRIPT = b"<script>alert(1)</script>"

pytestmark = pytest.mark.django_db


def zipped(content: bytes, name: str = "xl/workbook.xml") -> bytes:
    """Return an archive as spreadsheets are."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return written.getvalue()


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "' + b"ha" * 50 + b'"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>'
HOSTILE = {
    "a page that begins as a picture": b"\xff\xd8\xff" + SCRIPT * 30,
    "a script that begins as a GIF": b"GIF89a/*" + SCRIPT,
    "a drawing with a script in it": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "a page in a PDF's clothes": SCRIPT + pdf(),
    "an archive": zipped(b"x" * 1000),
    "an archive that is a thousand times as large": zipped(b"\0" * 5_000_000),
    "XML that doubles": LAUGHS,
    "a picture of 4 thousand million pixels": bomb(65_500, 65_500),
    "a program": b"\x7fELF" + bytes(500),
}
NAMES = (
    "../../../etc/passwd",
    "a\0.jpg",
    "me.jpg.html",
    "x" * 500 + ".jpg",
    "C:\\evil.exe",
    '"><script>.jpg',
    "con.jpg",
)


class TestAPlayer:
    @pytest.fixture
    def visitor(self):
        visitor = a_visitor()
        visitor.force_login(a_player().user)
        return visitor

    @pytest.mark.parametrize("content", sample(HOSTILE.values(), 3))
    @pytest.mark.parametrize("claimed", sample(["image/jpeg", "application/pdf"], 1))
    def test_sends_nothing_but_pictures_and_pdfs(self, content, claimed, visitor):
        answer = visitor.post(PAGE, SAID | files(front=file(content, "me.jpg", claimed)))
        assert answer.status_code == 200
        assert not Submission.objects.exists()

    @pytest.mark.parametrize("name", sample(NAMES, 2))
    def test_names_no_location(self, name, visitor):
        visitor.post(PAGE, SAID | files(front=file(picture("FRONT"), name)))
        document = Document.objects.get(part=Part.FRONT)
        staff = a_visitor()
        staff.force_login(a_member_of_staff("compliance").user)
        answer = staff.get(reverse("staff_document", args=[document.pk]))
        shown = f'inline; filename="{document.submission_id}-front.jpg"'
        assert answer["Content-Disposition"] == shown

    def test_has_a_script_after_a_picture_removed(self, visitor):
        visitor.post(PAGE, SAID | files(front=file(picture("FRONT") + SCRIPT)))
        staff = a_visitor()
        staff.force_login(a_member_of_staff("compliance").user)
        answer = staff.get(reverse("staff_document", args=[Document.objects.get(part=Part.FRONT).pk]))
        assert answer["Content-Type"] == "image/jpeg"
        assert SCRIPT not in answer.content

    def test_has_a_pdf_handed_out_and_never_shown(self, visitor):
        """A script in it would run in no page of the house."""
        visitor.post(PAGE, SAID | files())
        staff = a_visitor()
        staff.force_login(a_member_of_staff("compliance").user)
        answer = staff.get(reverse("staff_document", args=[Document.objects.get(part=Part.ADDRESS).pk]))
        assert answer["Content-Type"] == "application/pdf"
        assert answer["Content-Disposition"].startswith("attachment; ")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in answer["Content-Security-Policy"]

    def test_sends_so_many_files_and_no_more(self, visitor):
        more = {f"more{number}": file(picture()) for number in range(house.DATA_UPLOAD_MAX_NUMBER_FILES)}
        visitor.raise_request_exception = False
        assert visitor.post(PAGE, SAID | files() | more).status_code == 400
        assert not Submission.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        zipped(b"<workbook/>"),
        zipped(b"\0" * 20_000_000),
        LAUGHS,
        b"\x89PNG\r\n\x1a\n" + bytes(300),
        b"\xff\xfe" + bytes(range(256)) * 20,
        b'reference,kind,amount,currency,date,status\r\n=cmd|"/c calc"!A1,deposit,1,SEK,2026-01-01,settled\r\n',
        b"reference,kind,amount,currency,date,status\r\n" + b'"' + b"x" * 200_000,
        b"a" * 1000 + b"\r\n" + b"," * 100_000,
        b"x" * (MOST_BYTES + 1),
    ],
    ids=[
        "a spreadsheet",
        "a large archive",
        "XML",
        "a picture",
        "no text",
        "a formula",
        "no end of a cell",
        "no end of cells",
        "too large",
    ],
)
def test_a_statement_is_text_of_declared_columns(content):
    visitor = a_visitor(raise_request_exception=False)
    visitor.force_login(a_member_of_staff("finance").user)
    sent = SimpleUploadedFile("../../statement.csv", content)
    form = {"provider": "sandbox", "since": "2026-01-01", "until": "2026-01-02", "file": sent}
    answer = visitor.post(UPLOAD, form, follow=True)
    assert answer.status_code == 200
    assert not ProviderStatement.objects.exists()


def test_nobody_reads_archives_or_xml_that_somebody_sent():
    """The house reads such files only if it wrote them itself, or if an operator on its machine asks for it."""
    reads = re.compile(
        r"load_workbook|xml\.(?!sax\.saxutils)|lxml|zipfile\.ZipFile\((?!.*\"[wx]\")|tarfile|unpack_archive|defusedxml"
    )
    found = {name for name, path in modules() if reads.search(path.read_text())}
    # An exported log, by the person who verifies it at their own machine.
    assert found == {"audit.verification.verify"}


@pytest.mark.sweep
def test_gli19_2_6_5_these_are_the_forms_that_take_a_file():
    taken = set()
    for name, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "FILES":
                taken.add(name)
    assert taken == {
        "backoffice.money.exchange_rates",
        "backoffice.money.provider_statements",
        "players.identity.requested_documents",
        "players.identity.views",
    }
