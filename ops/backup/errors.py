"""Errors of backup and restore. Every message tells the operator what to do."""


class BackupError(Exception):
    """Base class of all errors of this package."""


class CannotWrite(BackupError):
    """The file cannot be written."""


class CannotRead(BackupError):
    """The file is not a backup, or is damaged."""


class OfAnotherRelease(BackupError):
    """The backup was made by a newer release."""


class NotEmpty(BackupError):
    """The database is not empty."""


class NotReady(BackupError):
    """Something is missing, or other processes use the database."""


class WrongKey(BackupError):
    """A configured key is not the one that the data was encrypted with."""


class ProgramFailed(BackupError):
    """A PostgreSQL program failed; the message is the end of its output."""
