"""Folders for houses of single tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.start.support import fresh_var


@pytest.fixture
def var() -> Iterator[Path]:
    """A ``var/`` that is not there yet."""
    with fresh_var() as place:
        yield place
