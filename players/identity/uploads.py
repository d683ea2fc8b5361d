"""What a file is that somebody sent, by its contents alone: neither its name nor the type its sender claims counts.

A picture is decoded and written anew, so what staff look at was made by the house: nothing hidden in the file, such as
the place a photo was taken at or a script, comes along. A PDF is kept as it is and only ever handed out as a download.
"""

import struct
import zlib
from dataclasses import dataclass
from enum import Enum
from io import BytesIO

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageOps

LARGEST = 8 * 1024 * 1024  # bytes
TOO_MUCH = "too-much"  # query parameter: the door has led somebody here whose files were too large to be let in
MOST_PIXELS = 25_000_000  # what one decoded picture takes of memory is three times that, in bytes
SHORTEST_EDGE = 300  # pixels; nobody can read a document on less
LONGEST_EDGE = 3000  # pixels, as kept: enough to read the smallest print of a letter
QUALITY = 88  # of JPEG
TAIL = 1024  # bytes at the end of a PDF that its end mark has to be in, as viewers ask

JPEG, PNG, PDF = "image/jpeg", "image/png", "application/pdf"
SIGNATURES = {b"\xff\xd8\xff": JPEG, b"\x89PNG\r\n\x1a\n": PNG, b"%PDF-": PDF}
# What Pillow raises over a file that is not what it began as.
DAMAGE = (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, EOFError, struct.error, zlib.error)


class Fault(Enum):
    """What is wrong with a file."""

    EMPTY = "empty"
    LARGE = "large"
    TYPE = "type"
    PIXELS = "pixels"
    SMALL = "small"
    DAMAGED = "damaged"
    LOCKED = "locked"


SENTENCES: dict[Fault, str | Promise] = {
    Fault.EMPTY: _("This file is empty."),
    Fault.LARGE: _("This file is too large: at most 8 MB."),
    Fault.TYPE: _("This is neither a JPEG or PNG picture nor a PDF, whatever its name says."),
    Fault.PIXELS: _("This picture has too many pixels: at most 25 million."),
    Fault.SMALL: _("This picture is too small to be read. Take it from closer by."),
    Fault.DAMAGED: _("This file is damaged or not complete. Save it again and send that."),
    Fault.LOCKED: _("This PDF is locked with a password. Save it without one and send that."),
}


class UnfitFile(Exception):
    """A file that cannot be taken, and why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(SENTENCES[fault])
        self.fault = fault

    def __str__(self) -> str:
        return str(SENTENCES[self.fault])


@dataclass(frozen=True)
class Evidence:
    """A file that was taken: *content* as it is kept, *sight* what has to be equal for two to show the same."""

    content: bytes
    media_type: str
    sight: bytes


def examine(sent: bytes) -> Evidence:
    """Return what was *sent* as the house keeps it. Raises UnfitFile."""
    if not sent:
        raise UnfitFile(Fault.EMPTY)
    if len(sent) > LARGEST:
        raise UnfitFile(Fault.LARGE)
    media_type = next((kind for signature, kind in SIGNATURES.items() if sent.startswith(signature)), None)
    if media_type is None:
        raise UnfitFile(Fault.TYPE)
    return _pdf(sent) if media_type == PDF else _picture(sent)


def _pdf(sent: bytes) -> Evidence:
    """Refuse what is cut off or locked; the dictionary that says so is never itself compressed (ISO 32000-1, 7.5.8)."""
    if b"%%EOF" not in sent[-TAIL:]:
        raise UnfitFile(Fault.DAMAGED)
    if b"/Encrypt" in sent:
        raise UnfitFile(Fault.LOCKED)
    return Evidence(sent, PDF, sent)


def _picture(sent: bytes) -> Evidence:
    try:
        with Image.open(BytesIO(sent), formats=["JPEG", "PNG"]) as image:
            if image.width * image.height > MOST_PIXELS:
                raise UnfitFile(Fault.PIXELS)
            if min(image.size) < SHORTEST_EDGE:
                raise UnfitFile(Fault.SMALL)
            plain = _plain(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as bomb:
        raise UnfitFile(Fault.PIXELS) from bomb
    except DAMAGE as damage:
        raise UnfitFile(Fault.DAMAGED) from damage
    written = BytesIO()
    plain.save(written, "JPEG", quality=QUALITY)
    return Evidence(written.getvalue(), JPEG, _sight(plain))


def _plain(image: Image.Image) -> Image.Image:
    """Return the picture upright, on white where it is transparent, and no larger than is kept."""
    image.draft("RGB", (LONGEST_EDGE, LONGEST_EDGE))
    upright = ImageOps.exif_transpose(image)
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        upright = Image.new("RGB", layer.size, "white")
        upright.paste(layer, mask=layer)
    plain = upright.convert("RGB")
    plain.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
    return plain


def _sight(image: Image.Image) -> bytes:
    """Return the size and every pixel of a picture: equal ones show the same, however they were saved."""
    return struct.pack(">II", *image.size) + image.tobytes()
