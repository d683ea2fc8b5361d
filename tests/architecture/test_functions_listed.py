"""The page of database functions is up to date."""

from tests.harness.list_guards import PAGE, page


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text() == page(), "run make guards"
