"""Documents that players send, made on the spot, and all that can be wrong with them."""

import struct
import zlib
from io import BytesIO

from PIL import Image, ImageDraw
from pypdf import PdfWriter


def picture(text: str = "", *, kind: str = "JPEG", size: tuple[int, int] = (640, 400), **options: object) -> bytes:
    """A picture with something written on it: other text, other pixels."""
    image = Image.new("RGB", size, "#dde5ee")
    ImageDraw.Draw(image).text((40, 40), text or "PASSPORT", fill="#102030", font_size=48)
    written = BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def pdf(text: str = "", *, password: str = "") -> bytes:
    """A PDF of one page, locked where there is a password."""
    writer = PdfWriter()
    writer.add_blank_page(595, 842)
    writer.add_metadata({"/Title": text or "Bill"})
    if password:
        writer.encrypt(password)
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it has that many pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
