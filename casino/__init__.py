"""The project: settings, URLs, and the ASGI, WSGI and Celery applications."""
