"""Texts in five languages, without GNU gettext: Babel reads the sources, keeps the catalogues and compiles them.

English stands in the sources themselves and needs no catalogue. `manage.py messages` brings the catalogues up to date,
`compile_messages` makes the files Django reads, `check_messages` says what is wrong.
"""
