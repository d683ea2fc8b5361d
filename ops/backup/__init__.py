"""The house in one file, and the house put up again from it: ``manage.py back_up``, ``restore`` and ``after_restore``.

The file is PostgreSQL's own archive of one moment, without roles, log-ins and keys. A copy of the database is
not the house yet, wherever it comes from: what was committed to and not dealt when it was made may be public by now,
since the house played on. So a copy is settled before it is opened (`ops.backup.activation`), and a production house
does not start on one that is not (`ops.backup.database_identity`).
"""
