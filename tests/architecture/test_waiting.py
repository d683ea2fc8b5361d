"""Tests in a browser wait in ways that our policy for scripts allows each time, not the first time only."""

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LOOKED_AT = sorted(path for folder in (TESTS, TESTS.parent / "tools") for path in folder.rglob("*.py"))


def attributes(source: str) -> set[str]:
    """The names that a module asks of anything."""
    return {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


def test_a_wait_that_the_policy_refuses_is_seen():
    assert "wait_for_function" in attributes("page.wait_for_function('window.ready')")


def test_nothing_waits_by_evaluating_again_or_for_a_while():
    """`wait_in` of `tests.harness.browser` waits for a condition, and `expect` for what a page shows."""
    refused = {"wait_for_function", "wait_for_timeout"}
    naming = {path: text for path in LOOKED_AT if any(name in (text := path.read_text()) for name in refused)}
    assert [path.name for path, text in naming.items() if refused & attributes(text)] == []
