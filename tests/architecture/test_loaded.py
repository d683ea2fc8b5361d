"""Every process loads only what it needs: no library that few pages use, no models where none are used."""

import subprocess
import sys

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


def loaded(imports: str) -> set[str]:
    """Return the names of the modules and packages that a process has loaded after these imports."""
    return set(printed(f"{imports}\nprint(*sys.modules)").split())


def test_web_and_worker_start_without_a_library_of_files_of_many_numbers_of_shells_or_of_calls():
    assert (HEAVY | OPTIONAL).isdisjoint(loaded(FORKED))


def test_beat_loads_no_models():
    modules = loaded(BEAT)
    assert modules.isdisjoint({"django.db.models", "django.apps.registry", "django.template", "casino.urls"})
    assert modules.isdisjoint(OPTIONAL | {"yaml"})
    ours = {name.partition(".")[0] for name in modules} & {"games", "wallet", "players", "accounts", "backoffice"}
    assert ours == set()


def test_web_loads_no_texts_but_the_default_ones_before_somebody_asks():
    web = "import casino.asgi\nfrom django.utils.translation import trans_real\nprint(*trans_real._translations)"
    assert printed(web).splitlines()[-1] == settings.LANGUAGE_CODE


def test_web_and_worker_share_addresses_and_tasks_and_django_checks_nothing_again():
    """Each would find them for itself otherwise, and checks would touch the models that are shared."""
    asked = """
from celery import current_app
from django.core.checks.registry import registry
from django.urls import get_resolver
registry.run_checks = None
current_app.loader.import_default_modules()
print(len(current_app.tasks) > 40, get_resolver()._populated)
"""
    assert printed(FORKED + asked).splitlines()[-1] == "True True"


def test_a_page_with_its_address_in_every_language_loads_no_texts_of_the_others():
    """Four languages are 15 MB of texts and addresses in each web process."""
    page = """
import casino.asgi
from casino.templatetags.casino import alternates
from django.test import RequestFactory
from django.urls import resolve
from django.utils.translation import trans_real
request = RequestFactory(SERVER_NAME="localhost").get("/en/")
request.resolver_match = resolve("/en/")
print(*(each["address"] for each in alternates({"request": request})), "with", *trans_real._translations)
"""
    addresses = [f"http://localhost/{language}/" for language, _ in settings.LANGUAGES]
    assert printed(page).splitlines()[-1] == " ".join([*addresses, "with", settings.LANGUAGE_CODE])
