"""Inspection of uploaded files, by content only. File name and claimed type are ignored.

A picture is decoded and encoded again, so that staff see nothing hidden in the file, such as a
location or a script. A PDF is stored unchanged and only ever served as a download.
"""

import struct
import zlib
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from PIL import Image

LARGEST = 8 * 1024 * 1024  # bytes
TOO_MUCH = "too-much"  # query parameter: the request was refused because its files were too large
MOST_PIXELS = 25_000_000  # a decoded picture needs three times as many bytes of memory
SHORTEST_EDGE = 300  # pixels; a smaller document is unreadable
LONGEST_EDGE = 3000  # pixels, as stored: enough to read the smallest print of a letter
QUALITY = 88  # of JPEG
TAIL = 1024  # bytes at the end of a PDF that must contain the end marker, as PDF viewers require

JPEG, PNG, PDF = "image/jpeg", "image/png", "application/pdf"
SIGNATURES = {b"\xff\xd8\xff": JPEG, b"\x89PNG\r\n\x1a\n": PNG, b"%PDF-": PDF}
# Exceptions that Pillow raises for a damaged file.
DAMAGE = (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, EOFError, struct.error, zlib.error)


class Fault(Enum):
    """Reasons to refuse a file."""

    EMPTY = "empty"
    LARGE = "large"
    TYPE = "type"
    PIXELS = "pixels"
    SMALL = "small"
    DAMAGED = "damaged"
    LOCKED = "locked"


MESSAGES: dict[Fault, str | Promise] = {
    Fault.EMPTY: _("This file is empty."),
    Fault.LARGE: _("This file is too large: at most 8 MB."),
    Fault.TYPE: _("This file is not a JPEG, PNG or PDF, even if its name says so."),
    Fault.PIXELS: _("This picture has too many pixels: at most 25 million."),
    Fault.SMALL: _("This picture is too small to read. Take it from a shorter distance."),
    Fault.DAMAGED: _("This file is damaged or incomplete. Save it again and upload the new file."),
    Fault.LOCKED: _("This PDF is protected with a password. Save it without a password and upload it again."),
}


class UnfitFile(Exception):
    """The file is refused; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(MESSAGES[fault])
        self.fault = fault

    def __str__(self) -> str:
        return str(MESSAGES[self.fault])


@dataclass(frozen=True)
class Evidence:
    """An accepted file. *content* is stored; two files with equal *sight* show the same."""

    content: bytes
    media_type: str
    sight: bytes


def check_upload(sent: bytes) -> Evidence:
    """Return the file as it is to be stored. Raises UnfitFile."""
    if not sent:
        raise UnfitFile(Fault.EMPTY)
    if len(sent) > LARGEST:
        raise UnfitFile(Fault.LARGE)
    media_type = next((kind for signature, kind in SIGNATURES.items() if sent.startswith(signature)), None)
    if media_type is None:
        raise UnfitFile(Fault.TYPE)
    return _pdf(sent) if media_type == PDF else _picture(sent)


def _pdf(sent: bytes) -> Evidence:
    """Return a PDF. Raises UnfitFile if it is truncated or encrypted.

    The dictionary with ``/Encrypt`` is never compressed itself (ISO 32000-1, 7.5.8).
    """
    if b"%%EOF" not in sent[-TAIL:]:
        raise UnfitFile(Fault.DAMAGED)
    if b"/Encrypt" in sent:
        raise UnfitFile(Fault.LOCKED)
    return Evidence(sent, PDF, sent)


def _picture(sent: bytes) -> Evidence:
    from PIL import Image  # 2.4 MB in each process, and only uploads need it

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


def _plain(image: "Image.Image") -> "Image.Image":
    """Return the picture upright, on white if it is transparent, at most `LONGEST_EDGE` pixels long."""
    from PIL import Image, ImageOps  # see above

    image.draft("RGB", (LONGEST_EDGE, LONGEST_EDGE))
    upright = ImageOps.exif_transpose(image)
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        upright = Image.new("RGB", layer.size, "white")
        upright.paste(layer, mask=layer)
    plain = upright.convert("RGB")
    plain.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
    return plain


def _sight(image: "Image.Image") -> bytes:
    """Return size and pixels of a picture. They are equal for equal pictures, however these were saved."""
    return struct.pack(">II", *image.size) + image.tobytes()
