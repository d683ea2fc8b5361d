"""The project: settings, addresses, servers."""

from casino.celery import app as celery_app

__all__ = ["celery_app"]
