"""Application configuration of the project, and of its static files."""

from celery.signals import beat_init, setup_logging, worker_init
from django.apps import AppConfig
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.utils.translation import gettext_noop
from whitenoise.storage import CompressedManifestStaticFilesStorage

from audit import log, replica
from casino.celery import app as celery_app
from ops import logs, without

with without("requests", "pygments"):  # 6 MB and 0.1 s for a test client and for coloured JSON
    import rest_framework.compat  # noqa: F401


class CasinoConfig(AppConfig):
    """Configures logs and registers the production checks, which worker and beat run before they start."""

    name = "casino"

    def ready(self) -> None:
        """Run once per process."""
        celery_app.set_default()  # tasks of every app belong to it
        from accounts import closing
        from audit.models import Category, Weight  # not before the apps are loaded
        from audit.reports import alterations
        from audit.significant import detection
        from ops import checks, program

        closing.register()
        logs.configure()
        if settings.METRICS:
            from ops.metrics import collect

            log.HEARD_BY.append(collect.count)
            replica.HEARD_BY.append(collect.count_read)
            worker_init.connect(collect.serve)
        setup_logging.connect(logs.stay)
        worker_init.connect(checks.refuse_unsafe_start)
        worker_init.connect(program.on_worker)
        beat_init.connect(checks.refuse_unsafe_start)
        detection.register_ordinary(
            (
                *("house.backed_up", "keys.resealed", "personal.exported", "retention.applied", "rows.exported"),
                "program.verified",
            )
        )
        detection.register_kinds(
            {
                "house.restored": (Category.CORRECTION, Weight.ALERT, gettext_noop("Restored from a backup")),
                program.DIFFERS: (Category.ERROR, Weight.ALERT, gettext_noop("Program differs from the release")),
            }
        )
        parts = alterations.added("until", "leaves", "settled", "cancelled", "shoes", "seats", "sessions", "tokens")
        alterations.register(
            gettext_noop("System"), {"house.restored": (gettext_noop("Restored from a backup"), parts)}
        )


class StaticFiles(StaticFilesConfig):
    """Django's static files without source maps, which are the largest files and which no page needs."""

    ignore_patterns = (*StaticFilesConfig.ignore_patterns, "*.map")


class StaticStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage: compressed files under names with their digest.

    It reads no source maps, and modules import each other by digested name.

    Django's own `support_js_module_import_aggregation` reads the scripts of every library, and fails at one that names
    a file in a comment. This reads the project's scripts, whose imports the formatter keeps in one form.
    """

    patterns = (
        *(
            (kind, tuple(each for each in found if "sourceMappingURL" not in str(each)))
            for kind, found in CompressedManifestStaticFilesStorage.patterns
        ),
        (
            "js/*.js",
            (
                (r'(?m)^(?P<matched>(?P<head>import [^"]*)"(?P<url>\.[^"]+)";)$', '%(head)s"%(url)s";'),
                (r'(?P<matched>import\("(?P<url>\.[^"]+)"\))', 'import("%(url)s")'),
            ),
        ),
    )
