"""Texts in five languages, without GNU gettext: Babel extracts them, updates the catalogues and
compiles them.

English is in the sources and needs no catalogue. `manage.py messages` updates the catalogues,
`compile_messages` makes the files that Django reads, `check_messages` reports errors.
"""
