"""Loader of the templates of pages, which computes once for each language what only the language decides.

Texts, addresses without arguments and names of static files are two thirds of the nodes of a page. Neighbours of them
become one node with one text for each language.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.template import Context, Template, Variable
from django.template.base import FilterExpression, Node, NodeList, TextNode
from django.template.defaulttags import IfNode, URLNode
from django.template.loaders import cached
from django.template.loaders.base import Loader as BaseLoader
from django.templatetags.i18n import TranslateNode
from django.templatetags.static import StaticNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language

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
