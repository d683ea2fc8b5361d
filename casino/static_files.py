"""Which static files a house has, and how it keeps them in production: under names with their digest, compressed.

Maps of scripts are left out: nobody's page needs them, and they are the largest files there are.
"""

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(StaticFilesConfig):
    """Django's, without maps."""

    ignore_patterns = (*StaticFilesConfig.ignore_patterns, "*.map")


class StaticStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage. It reads no source maps, and modules import each other by digested name.

    Django's own `support_js_module_import_aggregation` reads the scripts of every library, and fails at one that names
    a file in a comment. This reads the project's scripts, whose imports the formatter keeps in one form.
    """

    patterns = (
        *(
            (kind, tuple(each for each in found if "sourceMappingURL" not in str(each)))
            for kind, found in CompressedManifestStaticFilesStorage.patterns
        ),
        ("js/*.js", ((r'(?m)^(?P<matched>(?P<head>import [^"]*)"(?P<url>\.[^"]+)";)$', '%(head)s"%(url)s";'),)),
    )
