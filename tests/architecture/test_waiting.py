"""Browser tests wait only in ways that our script policy always allows, and each that is dear has its turn in time."""

import ast
from pathlib import Path

from tests.harness import sweeps

TESTS = Path(__file__).resolve().parents[1]
VISITED = sorted(path for folder in (TESTS, TESTS.parent / "tools") for path in folder.rglob("*.py"))


def attributes(source: str) -> set[str]:
    """Return the attribute names that a module uses."""
    return {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


def test_a_wait_that_the_policy_refuses_is_seen():
    assert "wait_for_function" in attributes("page.wait_for_function('window.ready')")


def test_nothing_waits_by_evaluating_again_or_for_a_while():
    """Use `wait_in` of `tests.harness.browser` for a condition, and `expect` for the content of a
    page.
    """
    refused = {"wait_for_function", "wait_for_timeout"}
    naming = {path: text for path in VISITED if any(name in (text := path.read_text()) for name in refused)}
    assert [path.name for path, text in naming.items() if refused & attributes(text)] == []


def test_in_three_days_each_has_one_turn(monkeypatch):
    turns: dict[str, list[int]] = {path.name: [] for path in VISITED}
    for day in range(3):
        monkeypatch.setattr(sweeps, "TURN", 740_000 + day)
        for name in filter(lambda each: sweeps.is_of_today(each, 3), turns):
            turns[name].append(day)
    assert all(len(days) == 1 for days in turns.values())
    assert {day for (day,) in turns.values()} == {0, 1, 2}
