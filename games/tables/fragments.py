"""Fragments of tables: parts of pages that are also sent alone, to htmx and on streams.

They are macros in ``fragments/``, named like parts of templates: ``solo.html#game``. A page shows one by
``{% fragment "solo.html#game" page=page %}``.
"""

from typing import Any

from django.conf import settings
from django.template import engines
from django.utils.translation import get_language


def render_fragment(name: str, /, **values: Any) -> str:
    """Return a fragment as safe HTML in the active language."""
    file, _, macro = name.partition("#")
    engine: Any = engines["fragments"]
    environment = engine.env.in_language(get_language() or settings.LANGUAGE_CODE)
    rendered: str = getattr(environment.get_template(file).module, macro)(**values)
    return rendered
