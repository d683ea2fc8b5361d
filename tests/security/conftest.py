"""The house that tests of every address ask."""

from tests.pages.conftest import house

__all__ = ["house"]
