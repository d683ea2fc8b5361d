"""The real signer on a real socket in a thread, for tests that begin a new log."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest_django import Settings

from audit import key_folder
from audit.sealing import signer

NAME = "test.example/log"


@contextmanager
def signing(folder: Path, name: str = NAME) -> Iterator[Path]:
    """Run a signer in *folder*, which may have the state of an earlier one, and return the socket."""
    works = signer.Signer(folder, name)
    listening = key_folder.listen(folder / "socket")
    thread = threading.Thread(target=signer.serve, args=(listening, works), daemon=True)
    thread.start()
    try:
        yield folder / "socket"
    finally:
        listening.shutdown(2)
        listening.close()
        thread.join()
        works.close()


@pytest.fixture
def signed(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """Configure a new signer and return its folder."""
    folder = tmp_path / "signer"
    with signing(folder) as at:
        settings.AUDIT_SIGNER = str(at)
        settings.AUDIT_KEYS = (folder / "keys").read_text()
        yield folder
