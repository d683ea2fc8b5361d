"""The Jinja2 environment of the fragments that tables send.

Django's own Jinja2 backend makes it (`TEMPLATES` in the settings). A fragment is a macro: it knows its
arguments and the globals below, no request and no context. A name that is neither raises an error.

Fragments are compiled once for each language. What depends on nothing but the language is then part of the
compiled fragment: texts, addresses without arguments, icons.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from django.utils.text import capfirst
from django.utils.timezone import localtime
from django.utils.translation import get_language_info
from jinja2 import Environment, StrictUndefined, nodes
from jinja2.ext import Extension
from jinja2.visitor import NodeTransformer

from accounts import banner
from backoffice.templatetags.charts import pie_chart
from games.tables.fragments import mark_part
from players.datetime_format import written_day, written_time
from wallet.money import format_amount, format_figure, format_money, format_signed_money

INDENTED: Final = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
LINE_OF_TAGS: Final = re.compile(r"^((?:\{%[^}]*%\})*\{%[^}]*)%\}$", re.MULTILINE)


class Unindented(Extension):
    """Removes the indentation of the sources, a quarter of their bytes.

    White space between two elements remains white space. Lines keep their numbers.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Remove indentation, and the line break after a line that has nothing but tags."""
        return LINE_OF_TAGS.sub(r"\1-%}", INDENTED.sub("", source))


class Fragments(Environment):
    """Environment of one language."""

    language: str = ""

    @cache  # noqa: B019  (the environment lives as long as the process)
    def in_language(self, language: str) -> "Fragments":
        """Return the environment that compiles for *language*."""
        made = self.overlay()
        made.language = language
        made.filters = {**self.filters, **{name: partial(form, language=language) for name, form in FORMATS.items()}}
        return made

    def _generate(self, source: nodes.Template, *arguments: Any, **named: Any) -> str:
        """Compile a template with everything that its language decides."""
        with translation.override(self.language):
            return super()._generate(_Decided().visit(source), *arguments, **named)


class _Decided(NodeTransformer):
    """Replaces calls that only the language decides by their results.

    Marked texts are in the source itself, so that they are found by their extraction.
    """

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802  (the name of the node's class)
        """Replace ``gettext("Chip")`` by the text, ``url("cashier")`` by the address.

        The arguments of a text are filled in when it is shown.
        """
        self.generic_visit(node)
        if not isinstance(node.node, nodes.Name) or not all(isinstance(each, nodes.Const) for each in node.args):
            return node
        given = [each.as_const() for each in node.args]
        if node.node.name in TEXTS:
            text = nodes.MarkSafe(nodes.Const(TEXTS[node.node.name](*given)))
            values = [nodes.Pair(nodes.Const(each.key), each.value) for each in node.kwargs]
            return nodes.Mod(text, nodes.Dict(values), lineno=node.lineno) if values else text
        if node.node.name in ADDRESSES:
            return nodes.Const(ADDRESSES[node.node.name](*given), lineno=node.lineno)
        return node


def environment(**options: Any) -> Fragments:
    """Return the environment, with the options of Django's backend."""
    options["undefined"] = StrictUndefined
    made = Fragments(**options, extensions=["jinja2.ext.i18n", Unindented])
    texts: Any = made  # the extension adds the method
    texts.install_gettext_callables(
        translation.gettext, translation.ngettext, newstyle=True, pgettext=translation.pgettext
    )
    made.filters |= {**FORMATS, "iso": iso, "clock": clock, "part": mark_part, "language": language_name}
    made.globals |= {**ADDRESSES, "banner_now": banner.on_this_page, "pie_chart": pie_chart}
    return made


def iso(moment: datetime) -> str:
    """Format a time for a script, in the reader's time zone."""
    return localtime(moment).isoformat()


def clock(moment: datetime, zone: str | None) -> str:
    """Format a time of day in a time zone, or in the reader's."""
    return f"{moment.astimezone(ZoneInfo(zone)) if zone else localtime(moment):%H:%M}"


@cache
def language_name(code: str) -> str:
    """Return the name of a language in that language, as on a button."""
    return capfirst(str(get_language_info(code)["name_local"]))


def url(name: str, *arguments: object) -> str:
    """Return the address of a page."""
    return reverse(name, args=arguments)


def icon(name: str) -> str:
    """Return the address of an icon of the sprite."""
    return _sprite() + name


@cache
def _sprite() -> str:
    return f"{static('icons/sprite.svg')}#"


FORMATS: Final[dict[str, Callable[..., str]]] = {
    "money": format_money,
    "amount": format_amount,
    "signed_money": format_signed_money,
    "figure": format_figure,
    "day": written_day,
    "time": written_time,
}
TEXTS: Final[dict[str, Callable[..., str]]] = {"gettext": translation.gettext, "pgettext": translation.pgettext}
ADDRESSES: Final[dict[str, Callable[..., str]]] = {"url": url, "icon": icon}
