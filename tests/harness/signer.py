"""A signer of the test's own: the real one, on a real socket, in a thread, since each test begins a log anew."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest_django import Settings

from audit.sealing import signer

NAME = "test.example/log"


@contextmanager
def signing(folder: Path, name: str = NAME) -> Iterator[Path]:
    """Sign in *folder*, where an earlier signer may have worked, and give the socket."""
    works = signer.Signer(folder, name)
    listening = signer.listen(folder / "socket")
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
    """Let the house ask a signer that has signed nothing yet; gives its folder."""
    folder = tmp_path / "signer"
    with signing(folder) as at:
        settings.AUDIT_SIGNER = str(at)
        settings.AUDIT_KEYS = (folder / "keys").read_text()
        yield folder
