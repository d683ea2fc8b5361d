"""Patterns that the code must not contain: SQL built from values, markup that is not escaped, checks disabled
without a reason.

Exceptions are listed here, each with its reason.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.product import PROJECT, module_name, modules

PRODUCT = [path for _, path in modules()]
TEMPLATES = sorted(
    path
    for folder in ("templates", "fragments")
    for path in (PROJECT / folder).rglob("*")
    if path.suffix in (".html", ".txt", ".svg")
)


def named(path: Path) -> str:
    return module_name(path) if path.suffix == ".py" else str(path.relative_to(PROJECT))


# --- SQL -------------------------------------------------------------------------------------------------------------

RUNS = {"execute", "executemany", "raw", "RawSQL", "extra"}
ASKED = "a statement that others in the product ask with: their own texts, with values next to them"
NAMES = "names that PostgreSQL's own library quotes"
# Modules that run SQL that is neither a literal nor their own constant, and why it contains no input.
PUT_TOGETHER = {
    "audit.id_ranges": NAMES,
    "audit.verification.checking": ASKED,
    "audit.verification.export": "one of three texts of the module, with values next to it",
    "audit.verification.house": NAMES,
    "audit.initial_migration": "the SQL file next to a migration",
    "audit.verification.verify_events": "two constants of the module, one after the other",
    "audit.prepared": "the name of a savepoint, with a number of the module",
    "audit.reports.runner": ASKED,
    "ops.backup.activation": "names of sequences' tables, from the catalogue of the database; two texts, one with "
    + NAMES,
    "ops.beat": "texts of ops/beat.py",
    "backoffice.dashboard.queues": "queries of Django's, with their values next to them",
    "backoffice.lists.totals": "a query of Django's, with its values next to it, and names of columns",
    "backoffice.players.timeline": "texts of the module",
    "backoffice.rounds": "the text of a search of the module games.verification.search, with values escaped by psycopg",
    "players.cases": "texts of the module",
    "realtime.listener": "the name of the channel, and texts of the module",
    "ops.metrics.collect": "it counts what others run",
    "ops.metrics": "texts of the module",
    "ops.postgresql.roles": NAMES,
    "ops.privileges": "names and rights declared in the module",
    "ops.reencryption": "names of tables and columns, declared in the module",
    "ops.sql_files": "SQL files of the program, and names from the catalogue of the database",
    "games.chemin.collusion.statistics": ASKED,
    "games.chemin.moves": "names of columns, declared in the module",
    "games.chemin.state.table_state": "two texts of the module",
    "games.shared.pages.statistics": "one of the texts of BEGINS",
    "games.verification.search": "texts of the module, one for each filter, with values next to them",
    "games.reports.reconciliation": "texts of the module",
    "audit.raw_rows": ASKED,
    "games.rounds.verification_queue": "one of two texts of the module",
    "games.shared.moves": "names of functions and columns, declared in the module",
    "players.rates": "texts of the module",
    "players.search": ASKED,
    "players.protection.screening": "texts of the module",
    "players.protection.eligibility": "texts of the module",
    "players.login.locks": "texts of the module",
    "players.protection.harm_markers": "the text of a marker's definition, between two constants",
    "wallet.invariants.guards": "texts of the module",
    "wallet.ledger": "texts of the module",
    "wallet.ledger.hourly_totals": "texts of the module",
    "wallet.invariants.verify": "the text of an invariant",
}


def is_constant(node: ast.expr, constants: set[str]) -> bool:
    """Return whether a statement is a text of the code: a literal, a constant, or several of them together."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper() or name in constants
        case ast.Attribute(attr=name):
            return name.isupper()
        case ast.JoinedStr(values=values):
            return all(is_constant(value, constants) for value in values)
        case ast.FormattedValue(value=value):
            return is_constant(value, constants)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_constant(left, constants) and is_constant(right, constants)
        case ast.IfExp(body=body, orelse=orelse):
            return is_constant(body, constants) and is_constant(orelse, constants)
        case ast.Subscript(value=value):
            return is_constant(value, constants)
        case _:
            return False


def put_together(source: str) -> Iterator[str]:
    """Yield the statements of a module that are not its own text."""
    for node in ast.walk(ast.parse(source)) if any(name in source for name in RUNS) else ():
        if isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in RUNS and not is_constant(node.args[0], set()):
                yield ast.unparse(node.args[0])


def test_no_statement_is_put_together_from_values():
    assert {named(path) for path in PRODUCT if any(put_together(path.read_text()))} == set(PUT_TOGETHER)


@pytest.mark.parametrize(
    "planted",
    [
        'cursor.execute(f"SELECT 1 FROM t WHERE name = {name}")',
        'cursor.execute("SELECT 1 FROM t WHERE name = " + name)',
        'cursor.execute("SELECT 1 FROM t WHERE name = %s" % name)',
        'cursor.execute("SELECT 1 FROM t WHERE name = {}".format(name))',
        'Thing.objects.raw(f"SELECT {columns} FROM t")',
        "Thing.objects.extra({'a': name})",
    ],
)
def test_one_that_is_would_be_found(planted):
    assert list(put_together(planted))


# --- Markup ----------------------------------------------------------------------------------------------------------

UNESCAPED = re.compile(
    r"\bmark_safe\(|(?:SafeString|Markup)\([^)]|\|\s*safe(?:seq)?\b|autoescape (?:off|false)|MarkSafe|__html__"
)
# Places where markup reaches a page without being escaped, and what has escaped it before.
SAFE = {
    "backoffice.staff.handbook": "docs/handbook.md, our own text, by a renderer that escapes HTML",
    "casino.templates": "texts of the catalogues, whose markup is ours",
    "games.history.card_proofs": "our own scripts and styles, and JSON without <",
    "games.help.page": "help texts of ours, by a renderer that escapes HTML",
    "games.tables.fragments": "fragments, from templates that escape",
    "games.tables.roads_svg": "numbers, and titles that are escaped",
    "games.lobby.selectors": "a card of the lobby, from a template that escapes",
    "backoffice.tables.views": "a row of the floor, from a template that escapes",
    "games.templatetags.games": "a sentence that is escaped before cards are set into it",
    "players.account.terms": "the terms, our own text, by a renderer that escapes HTML",
    "templates/games/lobby.html": "the same cards of the lobby, for the page's own refresh",
}


def test_markup_that_nobody_escapes_is_listed_with_its_reason():
    found = {named(path) for path in (*PRODUCT, *TEMPLATES) if UNESCAPED.search(path.read_text())}
    mails = {name for name in found if "/mail/" in name and name.endswith(".txt")}  # plain text: nothing reads markup
    assert found - mails == set(SAFE)


@pytest.mark.parametrize(
    "planted",
    [
        *("mark_safe(name)", "{{ name|safe }}", "{% autoescape off %}", "SafeString(name)"),
        *("Markup(name)", "{% autoescape false %}", "{{ name | safe }}"),
    ],
)
def test_what_is_not_escaped_would_be_found(planted):
    assert UNESCAPED.search(planted)


def test_every_page_is_made_by_an_engine_that_escapes(settings):
    for engine in settings.TEMPLATES:
        assert engine["OPTIONS"].get("autoescape", True) is True


# --- Rules -----------------------------------------------------------------------------------------------------------

SWITCHED_OFF = re.compile(r"# noqa: (?P<rules>[A-Z]+\d+(?:, ?[A-Z]+\d+)*)(?P<reason>.*)")


def test_ruffs_rules_on_security_hold_for_all_of_the_product():
    lint = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert [rule for rule in lint["ignore"] if re.match(r"S\d", rule)] == ["S603", "S607"]
    for where, rules in lint["per-file-ignores"].items():
        assert where in ("tests/**", "bench/**") or not [rule for rule in rules if re.match(r"S\d|S$", rule)], where


def test_a_planted_fault_is_found():
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--stdin-filename",
        "wallet.planted",
        "--output-format",
        "concise",
    ]
    planted = "import pickle\n\n\ndef read(sent: bytes) -> object:\n    return pickle.loads(sent)\n"
    found = subprocess.run([*ruff, "-"], input=planted, capture_output=True, text=True, cwd=PROJECT)
    assert "S301" in found.stdout


def without_reason(line: str) -> bool:
    """Return whether a security rule is switched off in a line without a reason."""
    found = SWITCHED_OFF.search(line)
    return bool(found and re.search(r"\bS\d", found["rules"]) and not found["reason"].strip())


def test_a_rule_is_switched_off_with_a_reason():
    files = [*PRODUCT, *(PROJECT / "tools").glob("*.py"), *(PROJECT / "deploy").glob("*.py"), PROJECT / "manage.py"]
    bare = [
        f"{named(path)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if without_reason(line)
    ]
    assert bare == []
    assert without_reason("x = eval(y)  # noqa: S307")
    assert not without_reason("x = eval(y)  # noqa: S307  (a number, as checked above)")


def test_nothing_that_runs_what_it_is_given():
    """Deserialisers and shells, by name: the product uses only those that are listed."""
    risky = re.compile(r"\bpickle\b|\bmarshal\b|\bshelve\b|yaml\.load\(|\beval\(|(?<!\.)\bexec\(|shell=True|os\.system")
    found = {named(path) for path in PRODUCT if risky.search(path.read_text())}
    assert found == set()
