"""The page of database functions is up to date."""

from ops.management.commands.list_functions import PAGE, page


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text() == page(), "run make guards"
