"""What GLI-19 v3.0 asks of the house, what shows that it is met, and what a second reader found when they read both.

``python -m tests.clauses`` writes it all into ``docs/gli-19.md``; `test_clauses` holds that page, this list and the
tests together.
"""
