"""Why a house cannot be backed up or put up again. Every message says what to do to whoever typed the command."""


class BackupError(Exception):
    """Base of everything this package raises."""


class CannotWrite(BackupError):
    """The file cannot be written where it should."""


class CannotRead(BackupError):
    """The file is no backup, or a damaged one."""


class OfAnotherProgram(BackupError):
    """The backup was made by a program that knows more than this one."""


class NotEmpty(BackupError):
    """The database holds something already."""


class NotReady(BackupError):
    """Something is missing before the house can be put up, or somebody is at work in it."""


class WrongKey(BackupError):
    """A key of the environment is not the one that the house used."""


class ProgramFailed(BackupError):
    """PostgreSQL's own program gave up; the message is its last words."""
