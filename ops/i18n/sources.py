"""Files with texts that a player can see, and extraction of their marked texts."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation.template import templatize
from jinja2.ext import babel_extract

APPS = ("accounts", "audit", "backoffice", "casino", "games", "ops", "players", "realtime", "wallet")
TEMPLATE_SUFFIXES = frozenset({".html", ".txt"})
# Swagger UI and the style guide are in English.
ENGLISH_TEMPLATES = frozenset({"styleguide", "swagger"})
# The dossier for the regulator.
ENGLISH_PAGES = frozenset({"staff/incident_file.html"})
# Modules of the back office and of the command line, and the engine, which says nothing.
_ENGLISH_MODULE = re.compile(
    r"(^|/)(audit|backoffice|management|engine)/|(^|/)simulation\.py|(^|/)(staff|styleguide)[^/]*(\.py|/)"
)
_API_MODULE = re.compile(r"/(api|seamless_wallet)(/|\.py$)")
DOMAIN = "django"
ALLOWED = "allowed.toml"


@dataclass(frozen=True)
class Tree:
    """The project's folder: where texts and their translations are."""

    root: Path
    languages: tuple[str, ...]  # those translated into

    def python(self) -> Iterator[Path]:
        """Yield the modules of the apps, in a fixed order; migrations hold no texts of their own."""
        for app in APPS:
            for path in sorted((self.root / app).rglob("*.py")):
                if "migrations" not in path.parts:
                    yield path

    def templates(self) -> Iterator[Path]:
        """Yield every page, fragment and letter, in a fixed order."""
        for path in sorted((self.root / "templates").rglob("*")):
            if path.suffix in TEMPLATE_SUFFIXES:
                yield path

    def fragments(self) -> Iterator[Path]:
        """Yield the fragments of tables, in a fixed order."""
        yield from sorted((self.root / "fragments").rglob("*.html"))

    def player_templates(self) -> Iterator[Path]:
        """Yield the templates in which every text must be translatable."""
        for path in self.templates():
            name = path.relative_to(self.root / "templates")
            if name.as_posix() not in ENGLISH_PAGES and name.parts[0] not in ENGLISH_TEMPLATES:
                yield path

    def player_modules(self) -> Iterator[Path]:
        """Yield the modules whose sentences a player may meet, but for those of the API."""
        return (path for path in self._spoken_python() if not _API_MODULE.search(self.name(path)))

    def api_modules(self) -> Iterator[Path]:
        """Yield the modules of the API, whose sentences a program may meet."""
        return (path for path in self._spoken_python() if _API_MODULE.search(self.name(path)))

    def _spoken_python(self) -> Iterator[Path]:
        return (path for path in self.python() if not _ENGLISH_MODULE.search(self.name(path)))

    def scripts(self) -> Iterator[Path]:
        """Yield the scripts of the house's own, in a fixed order."""
        yield from sorted((self.root / "static" / "js").rglob("*.js"))

    def prose(self) -> Iterator[tuple[Path, str]]:
        """Yield help and terms, each with its language, which is the last part of its name."""
        for path in sorted([*self.root.glob("games/**/help/**/*.md"), *self.root.glob("players/*/texts/*.md")]):
            language = path.stem.rpartition(".")[2]
            if language in (*self.languages, settings.LANGUAGE_CODE):
                yield path, language

    def name(self, path: Path) -> str:
        """Return a path as catalogues and faults name it: from the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def catalogue(self, language: str) -> Path:
        """Return where the translations into *language* are kept."""
        return self.root / "locale" / language / "LC_MESSAGES" / f"{DOMAIN}.po"

    def uncompiled(self) -> list[str]:
        """Return the languages whose catalogue is younger than the file that Django reads, or has none yet."""
        return [language for language in self.languages if _is_younger(self.catalogue(language))]

    def allowed(self) -> Path:
        """Return the list of texts that may stay in English."""
        return self.root / "locale" / ALLOWED


def compiled(catalogue: Path) -> Path:
    """Return the file that Django reads, which is made from a catalogue, in the same folder."""
    return catalogue.with_suffix(".mo")


def _is_younger(catalogue: Path) -> bool:
    made = compiled(catalogue)
    return catalogue.exists() and not (made.exists() and made.stat().st_mtime >= catalogue.stat().st_mtime)


def project() -> Tree:
    """Return this project, with every language offered but the one its sources are written in."""
    languages = tuple(language for language, _name in settings.LANGUAGES if language != settings.LANGUAGE_CODE)
    return Tree(settings.BASE_DIR, languages)


TRANSLATOR_NOTES: Final = ("Translators:",)
# Django's functions: which arguments are the text, its plural and (c) its context; None is the first alone.
KEYWORDS: Final[Mapping[str, tuple[int | tuple[int, str], ...] | None]] = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "gettext_noop": None,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
    # Texts of lists and reports of the back office: English in files, and translated where they are shown.
    "Column": (2,),
    "Choice": (2,),
    "Filter": (2,),
    "chosen": (2,),
    "Find": None,
    # Words that are stored in English (`audit.staff_text`).
    "marked": ((1, "c"), 2),
}
_ODD_SPACE: Final = re.compile(r"[^\S\n ]")


def collect(tree: Tree) -> Catalog:
    """Return an untranslated catalogue of all texts of the project, with their source files."""
    texts = Catalog(fuzzy=False)
    for path in tree.python():
        _add(texts, tree.name(path), _in_python(path.read_bytes()))
    for path in tree.templates():
        _add(texts, tree.name(path), _in_python(as_python(path).encode()))
    for path in tree.fragments():
        _add(texts, tree.name(path), _in_jinja(path.read_bytes()))
    return texts


def as_python(template: Path) -> str:
    """Return a template as gettext calls that Python's tokenizer can read.

    The enclosing brackets disable indentation, since the remaining text is indented like HTML.
    Raises SyntaxError on a translation block that contains other tags.
    """
    calls = templatize(template.read_text(encoding="utf-8"), origin=str(template))
    return f"({_ODD_SPACE.sub(' ', calls)}\n)"


def unextracted(tree: Tree, texts: Catalog) -> Iterator[tuple[str, int, str]]:
    """Yield module, line and text of each marked text of the modules that is not in *texts* from there.

    `extract` reads tokens. It overlooks a text in another marked call, and one in an f-string before Python 3.12, so
    a text in an f-string is reported with every version of Python.
    """
    for path in tree.python():
        module, name = ast.parse(path.read_bytes()), tree.name(path)
        joined = {each for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for each in ast.walk(node)}
        for call in ast.walk(module):
            if not (isinstance(call, ast.Call) and (marked := _marked(call))):
                continue
            text, context = marked
            found = texts.get(text, context)
            if call in joined or found is None or name not in {where for where, _line in found.locations}:
                yield name, call.lineno, text


def _marked(call: ast.Call) -> tuple[str, str | None] | None:
    """Return the text of a marking call and its context; None for another call, or a text that is not literal."""
    called = getattr(call.func, "attr", "") or getattr(call.func, "id", "")
    if called not in KEYWORDS:
        return None
    literals = [argument.value if isinstance(argument, ast.Constant) else None for argument in call.args]
    context = None
    for place in KEYWORDS[called] or (1,):
        literal = dict(enumerate(literals, start=1)).get(place if isinstance(place, int) else place[0])
        if not isinstance(literal, str):
            return None
        if isinstance(place, int):
            return literal, context
        context = literal
    return None


Marked = tuple[int, str | tuple[str, ...], Iterable[str], str | None]


def _add(texts: Catalog, name: str, marked: Iterable[Marked]) -> None:
    for line, text, notes, context in marked:
        texts.add(text, locations=[(name, line)], auto_comments=notes, context=context)


def _in_python(source: bytes) -> Iterator[Marked]:
    yield from extract("python", BytesIO(source), KEYWORDS, TRANSLATOR_NOTES, strip_comment_tags=True)


def _in_jinja(source: bytes) -> Iterator[Marked]:
    strict = {"silent": "false"}  # a fragment that cannot be parsed is an error, not empty
    read: Any = babel_extract
    yield from extract(read, BytesIO(source), KEYWORDS, TRANSLATOR_NOTES, strict, strip_comment_tags=True)
