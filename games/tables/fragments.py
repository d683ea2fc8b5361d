"""Fragments of tables: parts of pages that are also sent alone, to htmx and on streams.

They are macros in ``fragments/``, named like parts of templates: ``solo.html#game``. A page shows one by
``{% fragment "solo.html#game" page=page %}``.

A large fragment marks the elements in it that change apart by the filter ``part``. What is sent after a move then has
only those that changed, in the root of the fragment: table_stream.js puts them in their places.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from django.conf import settings
from django.template import engines
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from markupsafe import Markup

Digest = tuple[int, ...]
"""Hashes of a fragment: of what is around its parts, of its root, and of each part. Only valid in one process."""

DELIMITER: Final = "<|>"  # before and after a part; escaped texts cannot contain it
CLOCK: Final = re.compile(r'(?<=<time id="live-clock")[^<]*')  # the page's script moves it on
CLOSED: Final = ' aria-disabled="true"'  # of bet areas: the root says it too, as data-closed


def delimit_part(html: str) -> Markup:
    """Delimit an element that changes apart from the rest of its fragment. It has an id, or is missing (``""``)."""
    return Markup(f"{DELIMITER}{html.strip()}{DELIMITER}")  # noqa: S704  (the result of a macro)


class Parts(SafeString):
    """A rendered fragment that knows its parts."""

    layout: str
    """Key of what is around the parts, which also says which parts are missing."""
    digest: Digest
    _opening: str
    _parts: Sequence[str]

    @classmethod
    def of(cls, rendered: str) -> Self:
        """Take the delimiters out of a fragment."""
        first, *pieces = rendered.split(DELIMITER)
        opening, _, first = first.partition(">")
        parts = pieces[::2]
        around = "|".join(
            [first, *(rest if part else f"|{rest}" for part, rest in zip(parts, pieces[1::2], strict=True))]
        )
        layout = hashlib.sha256(around.replace(CLOSED, "").encode()).hexdigest()[:16]
        opening += f' data-layout="{layout}"'
        made = cls("".join([opening, ">", first, *pieces]))
        made.layout, made._opening, made._parts = layout, opening, parts
        made.digest = (hash(layout), hash(opening), *(hash(CLOCK.sub("", part)) for part in parts))
        return made

    def since(self, before: Digest | None) -> SafeString:
        """Return what a reader of the fragment with the digest *before* lacks, or the whole."""
        if before is None or before[0] != self.digest[0]:
            return self
        hashes = zip(self._parts, before[2:], self.digest[2:], strict=True)
        return self._change(part for part, old, new in hashes if old != new)

    def for_layout(self, layout: str | None) -> SafeString:
        """Return all parts for a page that shows this layout, or the whole."""
        return self._change(self._parts) if layout == self.layout else self

    def _change(self, parts: Iterable[str]) -> SafeString:
        return SafeString(f"{self._opening} data-change>{''.join(parts)}</div>")


def render_fragment(name: str, /, **values: Any) -> str:
    """Return a fragment as safe HTML in the active language."""
    return _render(name, values)


def render_parts(name: str, /, **values: Any) -> Parts:
    """Return a fragment that has parts, in the active language."""
    return Parts.of(str(_render(name, values)))


def _render(name: str, values: Mapping[str, Any]) -> str:
    file, _, macro = name.partition("#")
    engine: Any = engines["fragments"]
    environment = engine.env.in_language(get_language() or settings.LANGUAGE_CODE)
    rendered: str = getattr(environment.get_template(file).module, macro)(**values)
    return rendered
