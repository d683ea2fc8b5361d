"""Every process loads only what it needs: no library that few pages use, no models where none are used."""

import subprocess
import sys

import pytest
from django.conf import settings

# For statistics, simulations, workbooks, documents, for a shell that nobody opens, and for calls that few tasks make.
HEAVY = {"markdown_it", "mpmath", "numpy", "openpyxl", "PIL", "reportlab", "click_repl", "prompt_toolkit", "requests"}
# Modules that libraries load where they are installed, and that the house does not use.
OPTIONAL = {"pygments", "rich"}
FORKED = """
import django, sys
from ops import fork_server
django.setup()
fork_server.preload()
"""
BEAT = """
import sys
from casino.celery import app
from ops import beat
"""


def printed(program: str) -> str:
    """Return what a process prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    return done.stdout


def loaded(said: str) -> set[str]:
    """Return the names of modules and packages that a process has printed in one line."""
    return set(said.split())


@pytest.fixture(scope="module")
def forked() -> list[str]:
    """Return what web and worker print after their start: the loaded modules, and what they have prepared."""
    asked = """
print(*sys.modules)
from celery import current_app
from django.core.checks.registry import registry
from django.urls import get_resolver
registry.run_checks = None
current_app.loader.import_default_modules()
print(len(current_app.tasks) > 40, get_resolver()._populated)
"""
    return printed(FORKED + asked).splitlines()[-2:]


def test_web_and_worker_start_without_a_library_of_files_of_many_numbers_of_shells_or_of_calls(forked):
    modules = loaded(forked[0])
    assert "django.urls" in modules
    assert (HEAVY | OPTIONAL).isdisjoint(modules)


def test_web_and_worker_share_addresses_and_tasks_and_django_checks_nothing_again(forked):
    """Each would find them for itself otherwise, and checks would touch the models that are shared."""
    assert forked[1] == "True True"


def test_beat_loads_no_models():
    modules = loaded(printed(f"{BEAT}\nprint(*sys.modules)").splitlines()[-1])
    assert modules.isdisjoint({"django.db.models", "django.apps.registry", "django.template", "casino.urls"})
    assert modules.isdisjoint(OPTIONAL | {"yaml"})
    ours = {name.partition(".")[0] for name in modules} & {"games", "wallet", "players", "accounts", "backoffice"}
    assert ours == set()


def test_web_loads_no_texts_but_the_default_ones_even_by_a_page_with_its_address_in_every_language():
    """Four languages are 15 MB of texts and addresses in each web process."""
    page = """
import casino.asgi
from casino.templatetags.casino import alternates
from django.test import RequestFactory
from django.urls import resolve
from django.utils.translation import trans_real
print(*trans_real._translations)
request = RequestFactory(SERVER_NAME="localhost").get("/en/")
request.resolver_match = resolve("/en/")
print(*(each["address"] for each in alternates({"request": request})), "with", *trans_real._translations)
"""
    addresses = [f"http://localhost/{language}/" for language, _ in settings.LANGUAGES]
    assert printed(page).splitlines()[-2:] == [
        settings.LANGUAGE_CODE,
        " ".join([*addresses, "with", settings.LANGUAGE_CODE]),
    ]
