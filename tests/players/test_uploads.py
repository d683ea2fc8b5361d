"""File types are detected from content; every error has its message, and no hidden data of a
picture is stored.
"""

from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from players.identity.uploads import JPEG, LARGEST, LONGEST_EDGE, MESSAGES, PDF, Fault, UnfitFile, check_upload
from tests.harness.sweeps import examples
from tests.players.papers import bomb, pdf, picture

GOOD = picture()
WRONG = {
    "nothing": (b"", Fault.EMPTY),
    "one byte too many": (GOOD.ljust(LARGEST + 1, b"\0"), Fault.LARGE),
    "a page of HTML": (b"<!doctype html><script>alert(1)</script>", Fault.TYPE),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', Fault.TYPE),
    "GIF": (picture(kind="GIF"), Fault.TYPE),
    "a program": (b"MZ" + bytes(100), Fault.TYPE),
    "a PDF with something in front": (b"<script>" + pdf(), Fault.TYPE),
    "half a JPEG": (GOOD[: len(GOOD) // 2], Fault.DAMAGED),
    "half a PNG": (picture(kind="PNG")[:-400], Fault.DAMAGED),
    "the beginning of a JPEG": (GOOD[:4], Fault.DAMAGED),
    "a JPEG in name only": (b"\xff\xd8\xff" + b"<script>" * 100, Fault.DAMAGED),
    "half a PDF": (pdf()[:-40], Fault.DAMAGED),
    "26 million pixels": (bomb(6500, 4000), Fault.PIXELS),
    "100 million pixels": (bomb(10_000, 10_000), Fault.PIXELS),
    "4 thousand million pixels": (bomb(65_500, 65_500), Fault.PIXELS),
    "a stamp": (picture(size=(299, 400)), Fault.SMALL),
    "a locked PDF": (pdf(password="secret"), Fault.LOCKED),
}


@pytest.mark.parametrize(("sent", "fault"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(sent, fault):
    with pytest.raises(UnfitFile) as refused:
        check_upload(sent)
    assert refused.value.fault is fault
    assert str(refused.value) == MESSAGES[fault]


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_is_kept_as_a_jpeg_of_the_house(kind):
    kept = check_upload(picture(kind=kind))
    assert kept.media_type == JPEG
    assert Image.open(BytesIO(kept.content)).size == (640, 400)


def test_a_pdf_is_kept_as_it_is():
    sent = pdf()
    assert check_upload(sent).content == sent
    assert check_upload(sent).media_type == PDF


def test_what_is_hidden_in_a_picture_is_left_behind():
    exif = Image.Exif()
    exif[0x010E] = "taken at 59.3293 N 18.0686 E"
    sent = picture(exif=exif) + b"<script>alert(1)</script>"
    assert b"59.3293" in sent
    kept = check_upload(sent).content
    assert b"59.3293" not in kept
    assert b"script" not in kept


def test_a_sideways_picture_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    assert Image.open(BytesIO(check_upload(picture(exif=exif)).content)).size == (400, 640)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "1", "CMYK"])
def test_every_way_of_colouring_is_read(mode):
    written = BytesIO()
    Image.new(mode, (400, 400)).save(written, "JPEG" if mode == "CMYK" else "PNG")
    assert check_upload(written.getvalue()).media_type == JPEG


def test_what_is_transparent_becomes_white():
    written = BytesIO()
    Image.new("RGBA", (400, 400), (0, 0, 0, 0)).save(written, "PNG")
    assert Image.open(BytesIO(check_upload(written.getvalue()).content)).getpixel((200, 200)) == (255, 255, 255)


@pytest.mark.sweep
def test_more_pixels_than_anyone_needs_are_not_kept():
    kept = Image.open(BytesIO(check_upload(picture(size=(5000, 4000))).content))
    assert kept.size == (LONGEST_EDGE, 2400)


def test_the_same_picture_is_known_again_however_it_was_saved():
    assert (
        check_upload(picture("A", kind="PNG")).sight == check_upload(picture("A", kind="PNG", compress_level=0)).sight
    )
    assert check_upload(picture("A", comment=b"changed")).sight == check_upload(picture("A")).sight
    assert check_upload(picture("A")).sight != check_upload(picture("B")).sight


@settings(max_examples=examples(40, 150))
@given(st.data())
def test_whatever_is_done_to_a_file_it_is_taken_or_refused(data):
    sent = bytearray(data.draw(st.sampled_from([GOOD, picture(kind="PNG"), pdf()])))
    for _ in range(data.draw(st.integers(1, 20))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(sent)))
    with suppress(UnfitFile):
        assert check_upload(bytes(sent[:cut])).content
