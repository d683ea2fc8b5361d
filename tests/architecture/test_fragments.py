"""Fragments of tables (``fragments/``): each name is known, each macro is used with its arguments, and nothing is
left unescaped or undefined.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import pytest
from django.template import Context, Template, TemplateSyntaxError, engines
from django.template.backends.jinja2 import Jinja2
from django.utils.translation import override
from jinja2 import StrictUndefined, UndefinedError, nodes
from jinja2.meta import find_undeclared_variables

from games.tables.fragments import render_fragment
from ops.i18n.sources import KEYWORDS
from tests.harness.product import modules
from tests.harness.sweeps import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "fragments"
FILES = sorted(path.name for path in FOLDER.rglob("*.html"))
TAG = re.compile(r"""\{% fragment "([\w.]+)#(\w+)"((?: \w+=(?:"[^"]*"|[\w.]+))*) %\}""")
ARGUMENT = re.compile(r""" (\w+)=(?:"[^"]*"|[\w.]+)""")
Use = tuple[str, str, frozenset[str], int]  # file, macro, names of its arguments, number of those without a name


def environment() -> Any:
    engine: Any = engines["fragments"]
    return engine.env


@cache
def parsed(file: str) -> nodes.Template:
    return environment().parse((FOLDER / file).read_text(), name=file)


@cache
def macros(file: str) -> dict[str, nodes.Macro]:
    return {macro.name: macro for macro in parsed(file).find_all(nodes.Macro)}


def imported(file: str) -> dict[str, tuple[str, str]]:
    """Return the macros that a file takes from others, by the names that it gives them."""
    found = {}
    for taken in parsed(file).find_all(nodes.FromImport):
        for name in taken.names:
            theirs, ours = name if isinstance(name, tuple) else (name, name)
            found[ours] = (taken.template.as_const(), theirs)
    return found


def uses_by_fragments() -> Iterator[Use]:
    for file in FILES:
        known = {**{name: (file, name) for name in macros(file)}, **imported(file)}
        for call in parsed(file).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in known:
                yield *known[call.node.name], frozenset(each.key for each in call.kwargs), len(call.args)


def uses_by_pages() -> Iterator[Use]:
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        found = TAG.findall(text)
        assert len(found) == text.count("{% fragment "), path  # each tag has the form that is read here
        for file, macro, arguments in found:
            yield file, macro, frozenset(ARGUMENT.findall(arguments)), 0


RENDERERS = ("render_fragment", "render_parts")


def uses_by_modules() -> Iterator[Use]:
    for _, path in modules():
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if any(name in text for name in RENDERERS) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RENDERERS:
                name = node.args[0]
                assert isinstance(name, ast.Constant), path
                file, _, macro = str(name.value).partition("#")
                yield file, macro, frozenset(each.arg or "" for each in node.keywords), len(node.args) - 1


def uses() -> list[Use]:
    return [*uses_by_fragments(), *uses_by_pages(), *uses_by_modules()]


def signature(macro: nodes.Macro) -> Signature:
    required = len(macro.args) - len(macro.defaults)
    return Signature(
        [
            Parameter(
                each.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if index < required else None,
            )
            for index, each in enumerate(macro.args)
        ]
    )


def faults_of_a_use(use: Use) -> str:
    """Return what is wrong with a use of a macro; "" where nothing is."""
    file, macro, named, unnamed = use
    if file not in FILES or macro not in macros(file):
        return f"{file}#{macro} does not exist"
    try:
        signature(macros(file)[macro]).bind(*range(unnamed), **dict.fromkeys(named))
    except TypeError as error:
        return f"{file}#{macro}: {error}"
    return ""


def test_every_macro_that_is_used_exists_and_is_given_its_arguments():
    found = uses()
    assert len(found) > 50
    assert [fault for use in found if (fault := faults_of_a_use(use))] == []


@pytest.mark.parametrize(
    ("use", "fault"),
    [
        (("cards.html", "fan", frozenset(), 0), "does not exist"),
        (("decks.html", "card", frozenset(), 0), "does not exist"),
        (("cards.html", "stage", frozenset(), 0), "missing a required argument"),
        (("cards.html", "stage", frozenset({"round", "hand"}), 0), "unexpected keyword argument"),
        (("cards.html", "stage", frozenset(), 4), "too many positional arguments"),
    ],
)
def test_a_wrong_use_would_be_found(use, fault):
    assert fault in faults_of_a_use(use)


def test_every_macro_is_used():
    used = {(file, macro) for file, macro, _, _ in uses()}
    assert {(file, macro) for file in FILES for macro in macros(file)} - used == set()


def test_every_import_is_used():
    for file in FILES:
        called = {call.node.name for call in parsed(file).find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
        assert imported(file).keys() <= called, file


def test_a_fragment_knows_only_its_arguments_and_the_globals():
    known = environment().globals.keys()
    for file in FILES:
        assert find_undeclared_variables(parsed(file)) <= known, file


def test_a_file_has_nothing_but_macros():
    for file in FILES:
        for node in parsed(file).body:
            text = "".join(each.data for each in node.find_all(nodes.TemplateData))
            if isinstance(node, nodes.Macro):
                continue
            assert isinstance(node, nodes.FromImport | nodes.Output), (file, node.lineno)
            assert not text.strip(), (file, node.lineno)
            assert not list(node.find_all(nodes.Call)), (file, node.lineno)


def test_a_marked_text_is_a_constant():
    """Otherwise it would neither be extracted nor become part of the compiled fragment."""
    for file in FILES:
        for call in parsed(file).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in KEYWORDS and call.node.name != "ngettext":
                assert all(isinstance(each, nodes.Const) for each in call.args), (file, call.lineno)


def test_fragments_are_made_by_django_s_backend_strictly():
    engine = engines["fragments"]
    assert isinstance(engine, Jinja2)
    for language in LANGUAGES:
        made = environment().in_language(language)
        assert made.undefined is StrictUndefined
        assert made.autoescape is True
        for file in FILES:
            made.get_template(file)


@pytest.mark.parametrize(
    "source", ["{{ unknown }}", "{% if unknown %}{% endif %}", "{{ 'a'.unknown }}", "{{ x|string == unknown }}"]
)
def test_an_unknown_name_is_an_error(source):
    with pytest.raises((UndefinedError, AttributeError)):
        environment().in_language("en").from_string(source).render(x=1)


def test_what_is_shown_is_escaped():
    made = (
        environment()
        .in_language("en")
        .from_string('{{ gettext("Bet %(amount)s", amount=amount) }} <i>{{ amount }}</i>')
    )
    assert made.render(amount="<b>1</b>") == "Bet &lt;b&gt;1&lt;/b&gt; <i>&lt;b&gt;1&lt;/b&gt;</i>"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fragment_speaks_the_active_language(language):
    with override(language):
        made = (
            environment()
            .in_language(language)
            .from_string('{{ gettext("Chip") }} {{ url("fair") }} {{ 100|money("EUR") }}')
        )
        shown = Template("{% load i18n money %}{% translate 'Chip' %} {% url 'fair' %} {{ 100|money:'EUR' }}")
        assert made.render() == shown.render(Context())


def test_indentation_is_removed_and_white_space_between_elements_is_not():
    source = (
        "<p>\n  <b>a</b>\n  {% if true %}\n    <i>b</i> {% if true %}c{% endif %}\n  {% endif %}\n  <u>d</u>\n</p>\n"
    )
    made = environment().in_language("en").from_string(source)
    assert made.render() == "<p>\n<b>a</b>\n<i>b</i> c\n<u>d</u>\n</p>"


def test_the_tag_of_pages_renders_the_macro():
    page = Template('{% load games %}{% fragment "cards.html#stage" round=None %}')
    assert page.render(Context()) == render_fragment("cards.html#stage", round=None)
    assert '<div class="stage">' in page.render(Context())


def test_a_page_that_gives_a_macro_something_else_fails():
    page = Template('{% load games %}{% fragment "cards.html#stage" hand=None %}')
    with pytest.raises((TypeError, TemplateSyntaxError)):
        page.render(Context())


def test_a_macro_is_called_with_its_arguments_in_each_way():
    """Fragments call macros as functions: `casino.templates` binds the arguments, not Jinja."""
    source = (
        "{% macro pair(first, second='two', third=none) %}<{{ first }},{{ second }},{{ third }}>{% endmacro %}"
        "{{ pair('a') }}{{ pair('<', third=3) }}{{ pair(second=2, first=1, third=3) }}"
        "{% for each in [1] %}{{ pair(each, 2, 3) }}{% endfor %}"
    )
    made = environment().in_language("en").from_string(source).render()
    assert made == "<a,two,None><&lt;,two,3><1,2,3><1,2,3>"
    for wrong in ("pair(1, 2, 3, 4)", "pair(1, fourth=4)"):
        with pytest.raises(TypeError, match="does not take"):
            environment().in_language("en").from_string(f"{source}{{{{ {wrong} }}}}").render()
    with pytest.raises(UndefinedError):
        environment().in_language("en").from_string(f"{source}{{{{ pair() }}}}").render()
