"""Write docs/gli-19.md: ``python -m tests.clauses``."""

from tests.clauses.page import PAGE, written

PAGE.write_text(written())
