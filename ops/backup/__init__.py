"""Backup and restore: ``manage.py back_up``, ``restore`` and ``after_restore``.

A backup is a PostgreSQL archive of a single snapshot, without roles, sessions and keys. A copy of
the database, wherever it comes from, must not be used as it is: play went on after it was made, so
the rounds that it had committed to may be public. Therefore a copy is activated before use
(`ops.backup.activation`), and a production system does not start on a copy that was not activated
(`ops.backup.activation`).
"""
