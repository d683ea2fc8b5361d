"""Which static files a house has, and how it keeps them in production: under names with their digest, compressed.

Maps of scripts are left out: nobody's page needs them, and they are the largest files there are.
"""

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(StaticFilesConfig):
    """Django's, without maps."""

    ignore_patterns = (*StaticFilesConfig.ignore_patterns, "*.map")


class StaticStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's, which looks for no map where a script names one."""

    patterns = tuple(
        (kind, tuple(each for each in found if "sourceMappingURL" not in str(each)))
        for kind, found in CompressedManifestStaticFilesStorage.patterns
    )
