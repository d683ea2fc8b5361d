"""Tests in a browser wait in ways that our policy for scripts allows each time, not the first time only."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
LOOKED_AT = sorted(path for folder in (TESTS, TESTS.parent / "tools") for path in folder.rglob("*.py"))


def attributes(source: str) -> set[str]:
    """The names that a module asks of anything."""
    return {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


def test_a_wait_that_the_policy_refuses_is_seen():
    assert "wait_for_function" in attributes("page.wait_for_function('window.ready')")


@pytest.mark.parametrize("refused", ["wait_for_function", "wait_for_timeout"])
def test_nothing_waits_by_evaluating_again_or_for_a_while(refused):
    """`wait_in` of `tests.harness.browser` waits for a condition, and `expect` for what a page shows."""
    assert [path.name for path in LOOKED_AT if refused in attributes(path.read_text())] == []
