"""`make release KEY=file`: write and sign ``RELEASE``, the digests of all files of the program.

*file* has the private key in the format of the signer's files; a missing one is made. Prints the
public key, which houses set as ``RELEASE_SIGNER``. The schema is that of ``wallet/guards.txt``.
"""

import os
import sys
import tomllib
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit.sealing.signer import Pen
from audit.verification.verify import LOG
from ops.program import FILE, hashed, manifest

NAME: Final = "sabot.release"


def release(top: Path, pen: Pen) -> str:
    """Return the signed note about the files below *top*."""
    version = tomllib.loads((top / "pyproject.toml").read_text())["project"]["version"]
    text = f"Sabot {version}\n{manifest(dict(hashed(top)))}"
    return f"{text}\n{pen.line(text, 0)}"


def main() -> None:
    """Write the file. Exits with status 2 without a key's file."""
    if len(sys.argv) != 2:
        sys.exit("usage: make release KEY=file")
    file, top = Path(sys.argv[1]), Path(__file__).parents[1]
    if not file.exists():
        made = Pen.of(NAME, LOG, Ed25519PrivateKey.generate())
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as written:
            written.write(made.text)
    pen = Pen.read(file.read_text())
    (top / FILE).write_text(release(top, pen))
    print(f"{FILE} is written. RELEASE_SIGNER={pen.key.vkey}")


if __name__ == "__main__":
    main()
