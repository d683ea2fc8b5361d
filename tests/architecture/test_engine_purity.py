"""The engine imports only the standard library, and uses neither randomness nor a clock."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE, VARIANTS = ROOT / "games" / "engine", ROOT / "games" / "variants"

CHANCE_AND_CLOCKS = {"random", "secrets", "time", "uuid", "threading", "os", "socket", "subprocess", "sqlite3"}
READS_THE_CLOCK = {"now", "today", "utcnow", "fromtimestamp"}


def modules(*folders: Path) -> list[Path]:
    """Return every Python module in these folders."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def named(path: Path) -> str:
    """Return a module's path relative to the project."""
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    """Yield the full names of all imports of a module, relative imports resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level] if node.level else ()
            yield ".".join((*above, *([node.module] if node.module else [])))


def names(path: Path) -> set[str]:
    """Return every name and attribute that a module uses."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def top(module: str) -> str:
    """Return the top-level package of a module."""
    return module.partition(".")[0]


def foreign_to(folder: Path, *known: str) -> dict[str, set[str]]:
    """Return the imports of a folder from neither the standard library nor the packages in
    *known*.
    """
    found = {
        named(path): {
            name for name in imports(path) if top(name) not in sys.stdlib_module_names and not name.startswith(known)
        }
        for path in modules(folder)
    }
    return {path: foreign for path, foreign in found.items() if foreign}


def test_the_engine_imports_the_standard_library_and_itself() -> None:
    assert foreign_to(ENGINE, "games.engine") == {}


def test_variants_import_the_standard_library_the_engine_and_each_other() -> None:
    assert foreign_to(VARIANTS, "games.engine", "games.variants") == {}


def test_rules_know_neither_chance_nor_the_time() -> None:
    found = {
        named(path): ({top(name) for name in imports(path)} & CHANCE_AND_CLOCKS) | (names(path) & READS_THE_CLOCK)
        for path in modules(ENGINE, VARIANTS)
    }
    assert {path: known for path, known in found.items() if known} == {}


def test_the_tests_look_at_modules() -> None:
    assert len(modules(ENGINE)) > 10
    assert len(modules(VARIANTS)) >= 7
