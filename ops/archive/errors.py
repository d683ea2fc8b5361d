"""Why a month cannot go to an archive, or what is wrong with one. Every message is for whoever typed the command."""


class ArchiveError(Exception):
    """Base of everything this package raises."""


class NotYet(ArchiveError):
    """The month is not over for long enough, not the next one, or something in it is still under way."""


class CannotWrite(ArchiveError):
    """The file cannot be written where it should."""


class NotTheArchive(ArchiveError):
    """The file is not the archive of that month, or not whole."""
