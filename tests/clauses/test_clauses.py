"""The list of clauses, the tests that they name and the page about both agree."""

import re

from tests.clauses.applicable import APPLICABLE
from tests.clauses.demand import Demand, Met
from tests.clauses.page import PAGE, demands, functions, written

NUMBERED = re.compile(r"test_gli19_((?:[ab]_)?\d+(?:_\d+)*)_[a-z]")
DEMANDS = tuple(demands())


def number_of(test: str) -> str:
    """Return the clause that a test is named after, "" where none: ``test_gli19_a_3_7_…`` is of A.3.7."""
    found = NUMBERED.match(test)
    return found[1].replace("_", ".").upper() if found else ""


def test_the_page_is_what_the_list_says():
    assert PAGE.read_text() == written(), "run make clauses"


def test_everything_a_clause_asks_for_is_in_a_row_of_it():
    asked = {clause: " ".join(each.asks for each in DEMANDS if clause in each.numbers) for clause in APPLICABLE}
    missing = {clause: [what for what in APPLICABLE[clause] if what not in asked[clause]] for clause in APPLICABLE}
    assert {clause: what for clause, what in missing.items() if what} == {}


def test_no_row_is_of_a_clause_that_does_not_apply():
    numbers = {number for each in DEMANDS if each.met is not Met.OUTSIDE for number in each.numbers}
    assert numbers == set(APPLICABLE)


def test_every_test_that_a_row_names_exists_once():
    assert [test for each in DEMANDS for test in each.tests if len(functions().get(test, ())) != 1] == []


def test_every_test_named_after_a_clause_is_in_a_row_of_it():
    named = {(number, test) for each in DEMANDS for test in each.tests for number in each.numbers}
    of_clauses = [test for test in functions() if test.startswith("test_gli19_")]
    assert [test for test in of_clauses if (number_of(test), test) not in named] == []


def fault_of(demand: Demand) -> str:
    """Say what a row lacks, "" where it lacks nothing."""
    if demand.met in (Met.NO, Met.OUTSIDE):
        return "" if demand.left else "does not say what is not met, or why it does not apply"
    if bool(demand.left) is not (demand.met is Met.PARTLY):
        return "says what is left although it is met, or does not say it although it is met in part"
    if not demand.found:
        return "does not say what a second reader found"
    if not demand.tests:
        return "names no test"
    is_national = len(demand.clause) == 2
    if not is_national and all(number_of(test) not in demand.numbers for test in demand.tests):
        return "names no test that is named after it"
    return ""


def test_a_row_is_shown_by_a_test_named_after_it_or_says_what_is_not_met():
    faults = {f"{each.clause}: {each.asks[:40]}": fault_of(each) for each in DEMANDS}
    assert {row: fault for row, fault in faults.items() if fault} == {}
