"""Every process loads only what it needs: no library that few pages use."""

import subprocess
import sys

import pytest
from django.conf import settings

HEAVY = {"mpmath", "numpy", "openpyxl"}  # for statistics, simulations and workbooks
LOAD = "import django, sys; django.setup(); import casino.urls; print(*sys.modules)"


@pytest.mark.sweep
def test_no_page_waits_for_a_library_of_files_or_of_many_numbers():
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert HEAVY.isdisjoint(done.stdout.split())
