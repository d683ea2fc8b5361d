"""Generated documents of players, valid and invalid."""

import struct
import zlib
from io import BytesIO

from PIL import Image, ImageDraw
from pypdf import PdfWriter


def picture(text: str = "", *, kind: str = "JPEG", size: tuple[int, int] = (640, 400), **options: object) -> bytes:
    """Return a picture with a text, so that pictures differ."""
    image = Image.new("RGB", size, "#dde5ee")
    ImageDraw.Draw(image).text((40, 40), text or "PASSPORT", fill="#102030", font_size=48)
    written = BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def pdf(text: str = "", *, password: str = "") -> bytes:
    """Return a PDF of one page, encrypted if there is a password."""
    writer = PdfWriter()
    writer.add_blank_page(595, 842)
    writer.add_metadata({"/Title": text or "Bill"})
    if password:
        writer.encrypt(password)
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def bomb(width: int, height: int) -> bytes:
    """Return a small PNG that declares this number of pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
