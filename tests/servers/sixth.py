"""The house with one more variant, which only tests know."""

import django

django.setup()

from tests import sixth  # noqa: E402  (what has models needs the set-up)

sixth.add()

from casino.asgi import application  # noqa: E402  (the rest of the house)

__all__ = ["application"]
