"""Requirements of GLI-19 v3.0, the evidence that the house meets them, and the findings of a second reader.

``python -m tests.clauses`` writes it all into ``docs/gli-19.md``; `test_clauses` holds that page, this list and the
tests together.
"""
