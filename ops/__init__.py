"""Operations: launcher, servers, beat, backup, migrations, metrics, health, message catalogues, logs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Let what is imported in the block do without optional *packages*, which stay importable afterwards.

    A library that imports a package where it is installed, for a feature that the house does not use, takes memory in
    each process.
    """
    missing = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(missing))  # type: ignore[arg-type]  # None: importing it raises ImportError
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]
