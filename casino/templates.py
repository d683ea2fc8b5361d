"""Template engines: Django's for pages, Jinja's for fragments.

Texts, addresses without arguments and names of static files are two thirds of the nodes of a page. Neighbours of them
become one node with one text for each language.

Django's own Jinja2 backend makes it (`TEMPLATES` in the settings). A fragment is a macro: it knows its
arguments and the globals below, no request and no context. A name that is neither raises an error.

Fragments are compiled once for each language. What depends on nothing but the language is then part of the
compiled fragment: texts, addresses without arguments, icons.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache, partial
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest
from django.template import Context, Template, Variable
from django.template.base import FilterExpression, Node, NodeList, TextNode
from django.template.defaulttags import IfNode, URLNode
from django.template.loaders import cached
from django.template.loaders.base import Loader as BaseLoader
from django.templatetags.i18n import TranslateNode
from django.templatetags.static import StaticNode, static
from django.urls import reverse
from django.utils import translation
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.timezone import localtime
from django.utils.translation import get_language, get_language_info
from jinja2 import Environment, StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.runtime import Context as FragmentContext
from jinja2.runtime import Macro
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer
from markupsafe import Markup, _escape_inner, escape  # type: ignore[attr-defined]  # what `escape` calls

from accounts import banner
from backoffice.templatetags.charts import pie_chart
from games.tables.fragments import delimit_part
from players import staff
from players.datetime_format import written_day, written_time
from players.login import second_factor
from players.login.current_user import player_of, staff_of
from wallet.models import Mode
from wallet.money import format_amount, format_figure, format_money, format_signed_money
from wallet.operator_wallet.operators import funds

WORK: Final = "players.work"  # permission of all staff
NO_ID: Final = str(UUID(int=0))
ALONE: Final = 1  # a single text is as fast as it can be


class ConstantNode(Node):
    """Neighbouring nodes that render the same in every page of a language."""

    child_nodelists = ()

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = NodeList(nodes)
        self._texts: dict[str | None, SafeString] = {}
        self.token, self.origin = self._nodes[0].token, self._nodes[0].origin

    def render(self, context: Context) -> SafeString:
        """Return the text of the active language."""
        language = get_language()
        if language not in self._texts:
            self._texts[language] = self._nodes.render(context)
        return self._texts[language]


class _Folding(BaseLoader):
    """Compiles a template and folds its constants."""

    def get_template(self, template_name: str, skip: Any = None) -> Template:
        """Return the compiled template. Raises TemplateDoesNotExist."""
        template = super().get_template(template_name, skip)
        fold(template.nodelist)
        return template


class Loader(cached.Loader, _Folding):
    """Django's loader that keeps templates in memory, which gets folded ones."""


def fold(nodes: NodeList) -> None:
    """Replace neighbouring constants by one node, here and in all nodes inside."""
    for node in nodes:
        for inside in _lists_in(node):
            fold(inside)
    nodes[:] = list(_folded(nodes))


def _lists_in(node: Node) -> Iterator[NodeList]:
    if isinstance(node, IfNode):
        for _condition, inside in node.conditions_nodelists:
            yield inside
        return
    for name in node.child_nodelists:
        named = getattr(node, name, None)
        if isinstance(named, NodeList):
            yield named


def _folded(nodes: NodeList) -> Iterator[Node]:
    run: list[Node] = []
    for node in [*nodes, None]:
        if node is not None and _is_constant(node):
            run.append(node)
            continue
        if len(run) > ALONE or (run and not isinstance(run[0], TextNode)):
            yield ConstantNode(run)
        else:
            yield from run
        run = []
        if node is not None:
            yield node


def _is_constant(node: Node) -> bool:
    if isinstance(node, TextNode):
        return True
    if isinstance(node, TranslateNode):
        is_plain = _is_literal(node.filter_expression) and not (node.asvar or node.noop)
        return is_plain and (node.message_context is None or _is_literal(node.message_context))
    if isinstance(node, URLNode):
        return _is_literal(node.view_name) and not (node.args or node.kwargs or node.asvar)
    return isinstance(node, StaticNode) and node.varname is None and _is_literal(node.path)


def _is_literal(expression: FilterExpression) -> bool:
    """Return whether an expression is a text in quotes, without filters."""
    variable: Any = expression.var
    literal = variable.literal if isinstance(variable, Variable) else variable
    return isinstance(literal, str) and not expression.filters


INDENTED: Final = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
LINE_OF_TAGS: Final = re.compile(r"^((?:\{%[^}]*%\})*\{%[^}]*)%\}$", re.MULTILINE)


class Unindented(Extension):
    """Removes the indentation of the sources, a quarter of their bytes.

    White space between two elements remains white space. Lines keep their numbers.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Remove indentation, and the line break after a line that has nothing but tags."""
        return LINE_OF_TAGS.sub(r"\1-%}", INDENTED.sub("", source))


class _Direct(CodeGenerator):
    """Reads an attribute as Python does. Jinja's way, which looks for an item too, takes four times as long."""

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802  (the name of the node's class)
        """Write ``value.name``. An undefined value and an unknown name raise an error."""
        self.write("(")
        self.visit(node.node, frame)
        self.write(f").{node.attr}")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo) -> None:
        """Write the beginning of a value in the text, escaped by `Fragments.escaped`."""
        if not frame.eval_ctx.autoescape or finalize.src is not None:
            raise NotImplementedError("fragments are escaped, and nothing else is done with a value")
        self.write("environment.escaped(")


def escaped(value: object) -> str:
    """Return what markupsafe's `escape` returns, as plain text, which the compiled fragment joins at once."""
    if type(value) is str:
        return _escape_inner(value)
    if type(value) is Markup:
        return value
    return str(value) if type(value) is int else escape(value)


class _DirectCalls(FragmentContext):
    """Calls a macro as the function that it is. Jinja's way makes 17 calls of one."""

    def call(self, called: Any, *arguments: Any, **named: Any) -> Any:
        """Return what *called* returns: of a macro, a text without unescaped values."""
        if type(called) is not Macro or called.caller or called.catch_kwargs or called.catch_varargs:
            return super().call(called, *arguments, **named)
        named.pop("_loop_vars", None)  # Jinja's own, in a loop and in a block
        named.pop("_block_vars", None)
        given = [*arguments]
        given += [named.pop(name, missing) for name in called.arguments[len(given) :]]  # the macro knows its defaults
        if named or len(given) > len(called.arguments):
            raise TypeError(f"{called!r} does not take {', '.join(named) or 'so many arguments'}")
        return Markup(called._func(*given))  # noqa: S704  (values in a fragment are escaped)


class Fragments(Environment):
    """Environment of one language."""

    language: str = ""
    context_class = _DirectCalls
    code_generator_class = _Direct
    escaped = staticmethod(escaped)

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
    made.filters |= {**FORMATS, "iso": iso, "clock": clock, "part": delimit_part, "language": language_name}
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
    """Return the address of a page; of one with an id without asking Django's patterns each time."""
    if len(arguments) == 1 and isinstance(arguments[0], UUID):
        return _address_with_id(name, get_language()).replace(NO_ID, str(arguments[0]))
    return reverse(name, args=arguments)


@cache
def _address_with_id(name: str, _language: str | None) -> str:
    return reverse(name, args=[UUID(NO_ID)])


def icon(name: str) -> str:
    """Return the address of an icon of the sprite."""
    return _sprite() + name


@cache
def _sprite() -> str:
    return f"{static('icons/sprite.svg')}#"


def face(suit: str, rank: str) -> str:
    """Return the address of the face of a card, such as hearts and 10, without its index."""
    return f"{_faces()}{suit}-{rank}"


@cache
def _faces() -> str:
    return f"{static('icons/cards.svg')}#"


FORMATS: Final[dict[str, Callable[..., str]]] = {
    "money": format_money,
    "amount": format_amount,
    "signed_money": format_signed_money,
    "figure": format_figure,
    "day": written_day,
    "time": written_time,
}
TEXTS: Final[dict[str, Callable[..., str]]] = {"gettext": translation.gettext, "pgettext": translation.pgettext}
ADDRESSES: Final[dict[str, Callable[..., str]]] = {"url": url, "icon": icon, "face": face}


def _frame_of(request: HttpRequest) -> str:
    """Return the template of the frame: the back office for staff who may enter it, else the casino."""
    is_inside = staff_of(request.user) and request.user.has_perm(WORK) and second_factor.is_set_up(request.user)
    return "staff/base.html" if is_inside else "base.html"


def house(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of every page: ``reader``, the player who reads it (None for visitors
    and staff); ``page_frame``, the template that pages for players and staff extend; ``demo``;
    ``support_email``; ``csp_nonce``, as django-htmx expects it; and ``real_balance``,
    ``staff_names`` and ``banner`` (shown to everybody), which are queried only if used.

    A page may be about a ``player`` other than the reader.
    """
    player = player_of(request.user)
    return {
        "reader": player,
        "page_frame": partial(_frame_of, request),
        "real_balance": partial(funds, player, Mode.REAL) if player else None,
        "staff_names": SimpleLazyObject(staff.called),
        "banner": banner.on_this_page,
        "demo": settings.DEMO,
        "support_email": settings.SUPPORT_EMAIL,
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
