"""The public log is a plain C2SP tlog-tiles log that anybody may read and any cache may keep."""

import hashlib
import struct
from datetime import UTC, datetime
from html import unescape

import pytest
import time_machine
from django.test import Client
from django.utils.html import escape

from audit.models import Checkpoint, Leaf, Tile
from audit.sealing import sealer
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify import keys_of, root_from, split, tile_path
from tests.audit import sealed
from tests.audit.signing import TIME, Pen, Pens
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_visitor, events

pytestmark = pytest.mark.django_db


@pytest.fixture
def pens(settings) -> Pens:
    made = Pens()
    settings.AUDIT_KEYS = made.keys.replace("\n", ",")
    return made


@pytest.fixture
def size(pens) -> int:
    """A log of some three hundred events, signed twice, and some events more."""
    for number in range(290):
        sealed.an_event(number)
    sealed.sign(pens)
    for number in range(20):
        sealed.an_event(number)
    sealed.sign(pens)
    for number in range(5):
        sealed.an_event(number)
    sealer.seal()
    return Checkpoint.objects.latest("size").size


@pytest.fixture
def log(client):
    """Return a function that asks for a file of the log, as anybody."""
    return lambda name: client.get(f"/log/{name}")


class TestTiles:
    def test_lead_to_the_root_that_is_signed(self, log, size, pens):
        note = log("checkpoint")
        assert note["Content-Type"] == "text/plain; charset=utf-8"
        tree = Signed.of(note.content.decode(), keys_of(pens.keys)).tree
        assert tree.size == size < Leaf.objects.count()

        def tile(level: int, number: int) -> list[bytes]:
            width = min(256, (size >> 8 * level) - 256 * number)
            answer = log(tile_path(level, number, width))
            assert answer["Content-Type"] == "application/octet-stream"
            return split(answer.content)

        assert root_from(tile, size) == tree.root

    def test_have_the_entries_that_they_hash(self, log, size):
        hashes = split(log("tile/0/000").content)
        bundle, found = log("tile/entries/000").content, []
        while bundle:
            (length,) = struct.unpack(">H", bundle[:2])
            found.append(hashlib.sha256(b"\0" + bundle[2 : 2 + length]).digest())
            bundle = bundle[2 + length :]
        assert found == hashes

    @pytest.mark.sweep
    def test_may_be_asked_for_as_narrow_as_an_earlier_tree_had_them(self, log, size):
        for kind in ("0", "entries"):
            narrow = log(f"tile/{kind}/000.p/3").content
            assert narrow
            assert log(f"tile/{kind}/000").content.startswith(narrow)

    def test_end_where_the_last_checkpoint_does(self, log, size):
        width = size % 256
        assert len(bytes(Tile.objects.get(level=0, number=1).hashes)) > width * 32
        for kind in ("0", "entries"):
            assert log(f"tile/{kind}/001.p/{width}").status_code == 200
            assert log(f"tile/{kind}/001.p/{width + 1}").status_code == 404
            assert log(f"tile/{kind}/001").status_code == 404

    def test_that_nobody_signed_are_not_shown(self, log, size, settings):
        settings.AUDIT_KEYS = Pens().keys.replace("\n", ",")
        for name in ("checkpoint", "tile/0/000", "tile/entries/000"):
            assert log(name).status_code == 404

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "name",
        sample(
            [
                *("0/0", "0/00", "0/0000", "0/x000/000", "0/000.p/0", "0/000.p/256", "0/000.p/03", "0/000.p/", "0/-01"),
                *("0/000/", "0/999", "0/x999/x999/x999/x999/x999/x999/999", "1/001", "7/000", "64/000", "00/000"),
                *("99999999999/000", "0/٠٠٠", "٠/000", "entries/999", "entries/0", "leaves/000", "0/../0/000"),
                *("0/000.p/1.p/1", "0/000%00"),
            ],
            4,
        ),
    )
    def test_of_unknown_names_are_not_found(self, log, size, name):
        assert log(f"tile/{name}").status_code == 404


class TestCaches:
    @pytest.mark.parametrize(
        ("name", "how"),
        [
            ("checkpoint", "public, max-age=5"),
            ("tile/0/000", "public, max-age=31536000, immutable"),
            ("tile/entries/000", "public, max-age=31536000, immutable"),
            ("tile/1/000.p/1", "public, max-age=86400, immutable"),
            ("tile/entries/000.p/3", "public, max-age=86400, immutable"),
        ],
    )
    def test_may_keep_a_file_for_everybody(self, size, name, how):
        reader = a_visitor()
        reader.force_login(a_player().user)
        answers = [asker.get(f"/log/{name}", headers={"Accept-Language": "sv"}) for asker in (Client(), reader)]
        for answer in answers:
            assert (answer.status_code, answer["Cache-Control"]) == (200, how)
            assert answer.get("Vary", "Accept-Encoding") == "Accept-Encoding"
            assert "Content-Language" not in answer
            assert not answer.cookies
        assert answers[0].content == answers[1].content

    def test_keep_no_refusal(self, log, size):
        assert log("tile/0/999")["Cache-Control"] == "no-store, private"


def test_too_many_requests_are_answered_with_the_time_to_ask_again(log, size, settings):
    settings.LOG_REQUESTS_PER_MINUTE = 2
    with time_machine.travel(datetime(2031, 5, 1, 12, 0, 15, tzinfo=UTC), tick=False):
        *answers, refused = [log(name) for name in ("checkpoint", "tile/0/000", "checkpoint")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert (refused.status_code, refused["Retry-After"]) == (429, "45")
    assert refused["Cache-Control"] == "no-store, private"


def test_reading_it_is_not_put_on_record(log, size):
    before = len(events("data.accessed")) + len(events("log.exported"))
    for name in ("checkpoint", "tile/0/000", "tile/entries/000"):
        assert log(name).status_code == 200
    assert len(events("data.accessed")) + len(events("log.exported")) == before


class TestThePage:
    @pytest.mark.parametrize(
        ("language", "heading"),
        [("en", "Public event log"), ("sv", "Offentlig händelselogg"), ("de", "Öffentliches Ereignisprotokoll")],
    )
    def test_shows_the_checkpoint_and_how_to_keep_a_copy(self, client, size, language, heading):
        page = client.get(f"/{language}/log/").content.decode()
        assert f"<h1>{heading}</h1>" in page
        assert escape(Checkpoint.objects.get(size=size).note) in page
        assert "python3 mirror_log.py http://testserver FOLDER --keys KEYS" in page
        assert "http://testserver/log/" in page

    def test_names_the_witnesses_and_how_many_have_to_sign(self, client, size, settings):
        keys = [Pen("one.example/w", TIME).vkey, Pen("two.example/w", TIME).vkey]
        settings.AUDIT_WITNESSES = [f"{key} https://witness.example/" for key in keys]
        settings.AUDIT_WITNESS_QUORUM = 2
        page = client.get("/en/log/").content.decode()
        assert "2 of 2 witnesses must sign" in page
        assert [key in unescape(page) for key in keys] == [True, True]
        assert page.count("nothing signed yet") == 2
        assert "No checkpoint has been signed yet." in page  # none that the public may see

    def test_says_that_nothing_is_signed(self, client, db):
        assert "No checkpoint has been signed yet." in client.get("/en/log/").content.decode()
