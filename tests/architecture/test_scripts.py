"""Scripts of one page share one global scope: a function declared twice silently replaces the first."""

import re
from collections import defaultdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
TEMPLATES = PROJECT / "templates"
SCRIPTS = PROJECT / "static/js"
LOADED = re.compile(r"{% static 'js/([\w/]+\.js)' %}")
USED = re.compile(r"""{% (?:extends|include) ["']([\w/.]+)["']""")
# A declaration at the beginning of a line is global: what is inside a function or a block is indented.
DECLARED = re.compile(r"^(?:async )?(?:const|let|var|class|function\*?) +(\w+|[\[{].*?[\]}])", re.MULTILINE)


def loaded_by(template: Path) -> set[str]:
    """Return the scripts that a template loads, with those of the templates it extends and includes."""
    parts, texts = [template], []
    for part in parts:
        texts.append(part.read_text())
        used = (TEMPLATES / name for name in USED.findall(texts[-1]))
        parts += [each for each in used if each.exists() and each not in parts]
    return set(LOADED.findall("".join(texts)))


def declared_in(script: str) -> set[str]:
    """Return the names that a script declares globally."""
    return {name for found in DECLARED.findall((SCRIPTS / script).read_text()) for name in re.findall(r"\w+", found)}


def test_some_pages_load_several_scripts_that_declare_globals():
    assert {"felt.js", "table.js", "house.js"} <= loaded_by(TEMPLATES / "games/table.html")
    assert {"say", "clockAhead"} <= declared_in("felt.js")


def test_no_page_loads_two_scripts_that_declare_the_same_global():
    clashes = set()
    for template in TEMPLATES.rglob("*.html"):
        where = defaultdict(list)
        for script in sorted(loaded_by(template)):
            for name in declared_in(script):
                where[name].append(script)
        clashes |= {(name, *scripts) for name, scripts in where.items() if len(scripts) > 1}
    assert clashes == set()
