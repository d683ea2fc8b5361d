"""Web servers forked from a process that has already imported the project.

Imports and parsed templates take most of the time of a server for one test. Python's fork server
does both once for each worker of xdist. A forked server gets the environment, database and settings
of a new one, then runs the web server. The process that is forked has no threads or connections.
"""

import gc
import os
import sys
import threading
from collections.abc import Mapping
from importlib import import_module, reload
from multiprocessing import get_context
from multiprocessing.reduction import DupFd
from pathlib import Path
from types import ModuleType
from typing import Any

from ops.forked import Forked

NURSERY = "SABOT_TEST_NURSERY"  # environment variable of the process from which servers are forked
ENVIRONMENT = {NURSERY: "1", "DJANGO_SETTINGS_MODULE": "casino.settings"}
IMPORTS = (
    "casino.wsgi",
    "casino.urls",
    "casino.refusals",
    "ops.http.server",
    "realtime.asgi",
    "realtime.hub",
    "ops.fork_server",
    "players.identity.views",
)
SERVERS = ("uvicorn.loops.auto", "uvicorn.lifespan.on")
# Settings that are read when a module is imported cannot change after the fork.
READ_ONCE = {"AUTH_USER_MODEL", "DATA_UPLOAD_MAX_MEMORY_SIZE", "INSTALLED_APPS", "LOGGING", "MIDDLEWARE", "TEMPLATES"}
READ_ONCE |= {"PLAYER_IDLE_SECONDS", "SESSION_COOKIE_AGE", "STORAGES", "VAR_DIR"}
LANGUAGE = "en"  # of most pages in tests: a language more takes 0.4 s of each worker, and a fragment of it 0.03 s
SECONDS_TO_KEEP_FILES = 3600  # static files do not change, so browsers need not request them again

_context = get_context("forkserver")


def begin(application: str, listening: int, output: int, environment: Mapping[str, str]) -> Forked:
    """Run *application* ("module:name") on an open socket, as the launcher does."""
    _context.set_forkserver_preload([__name__])
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        process = _context.Process(
            target=_serve, args=(application, DupFd(listening), DupFd(output), dict(environment)), daemon=True
        )
        process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return Forked(process)


def _serve(application: str, listening: Any, output: Any, environment: Mapping[str, str]) -> None:
    """Become the server that `python -m ops.http.server` would start with this environment."""
    descriptor = listening.detach()
    written = output.detach()
    for stream in (1, 2):
        os.dup2(written, stream)
    if NURSERY not in os.environ or "casino.urls" not in sys.modules:
        sys.exit("the house was not loaded before this process was forked")
    os.environ.clear()
    os.environ.update(environment)
    _take_settings()
    sys.argv = list(import_module("ops.fork_server").web_arguments(descriptor, application)[2:])
    import_module("ops.http.server").main()


def _take_settings() -> None:
    """Apply the settings of this environment, including copies that other modules hold."""
    from casino import settings as module  # settings read the environment on import

    changed = _changed_settings(module)
    if changed.keys() & READ_ONCE:
        sys.exit(f"a server with other {sorted(changed.keys() & READ_ONCE)} cannot be forked")
    settings = import_module("django.conf").settings
    for name, value in changed.items():
        setattr(settings, name, value)
    for handler in _handlers():
        handler.settings = handler.configure_settings(None)
    vars(import_module("payments.core"))["PAYMENT_HOST"] = settings.PAYMENT_HOST
    import_module("casino.celery").app.conf.broker_url = settings.BROKER_URL


def _changed_settings(module: ModuleType) -> dict[str, Any]:
    """Return the settings that differ in this environment."""
    before = dict(vars(module))
    after = vars(reload(module))
    return {name: value for name, value in after.items() if name.isupper() and value != before[name]}


def _handlers() -> tuple[Any, Any]:
    return import_module("django.db").connections, import_module("django.core.cache").caches


def _verify_nothing(process: str) -> None:
    """Replace `ops.program.verify_in_thread`."""


def _load() -> None:
    """Import the project, and parse its templates and translations."""
    settings = import_module("django.conf").settings
    settings.WHITENOISE_AUTOREFRESH, settings.WHITENOISE_MAX_AGE = False, SECONDS_TO_KEEP_FILES
    settings.STATIC_ROOT = None  # a demo has no collected static files
    for name in (*SERVERS, *IMPORTS):
        import_module(name)
    # Each server would read every file of the house, and all guards of its database, while a test waits for a page.
    # `tests.start.test_run` and `tests.operating.test_program` show that a house does.
    vars(import_module("ops.program"))["verify_in_thread"] = _verify_nothing
    translation = import_module("django.utils.translation")
    get_template = import_module("django.template.loader").get_template
    resolve = import_module("django.urls").resolve
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            resolve(f"/{language}/")
    for folder in settings.TEMPLATES[0]["DIRS"]:
        for path in sorted(Path(folder).rglob("*.html")):
            get_template(str(path.relative_to(folder)))
    fragments = import_module("django.template").engines["fragments"].env.in_language(LANGUAGE)
    for name in fragments.list_templates():
        fragments.get_template(name)
    connections, caches = _handlers()
    begun = [connection.alias for connection in connections.all(initialized_only=True) if not connection.connection]
    for alias in begun:
        del connections[alias]  # created for quoting, never opened
    if threading.active_count() > 1 or any(handler.all(initialized_only=True) for handler in (connections, caches)):
        raise RuntimeError("a process with threads or connections cannot be forked")
    gc.collect()
    gc.freeze()


if NURSERY in os.environ and "pytest" not in sys.modules:
    _load()
