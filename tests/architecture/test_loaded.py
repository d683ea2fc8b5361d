"""Every process loads only what it needs: no library that few pages use, no models where none are used."""

import subprocess
import sys

from django.conf import settings

# For statistics, simulations, workbooks, documents, and for a shell that nobody opens.
HEAVY = {"mpmath", "numpy", "openpyxl", "PIL", "reportlab", "click_repl", "prompt_toolkit"}
FORKED = """
import django, sys
from importlib import import_module
from ops.fork_server import PRELOADED
django.setup()
for name in (*PRELOADED, "casino.worker"):
    import_module(name)
"""
BEAT = """
import sys
from casino.celery import app
from ops import beat
"""


def loaded(imports: str) -> set[str]:
    """Return the names of the modules and packages that a process has loaded after these imports."""
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}\nprint(*sys.modules)"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_web_and_worker_start_without_a_library_of_files_of_many_numbers_or_of_shells():
    assert HEAVY.isdisjoint(loaded(FORKED))


def test_beat_loads_no_models():
    modules = loaded(BEAT)
    assert modules.isdisjoint({"django.db.models", "django.apps.registry", "django.template", "casino.urls"})
    ours = {name.partition(".")[0] for name in modules} & {"games", "wallet", "players", "accounts", "backoffice"}
    assert ours == set()
