"""Why the embedded servers cannot run. Every message is one that whoever typed the command can act on."""


class EmbeddedError(Exception):
    """Base of everything this package raises."""


class NoServerAccount(EmbeddedError):
    """Started by root, and there is no account that the servers, which refuse to run as root, could run as."""


class UnsafeFolder(EmbeddedError):
    """A folder for sockets exists already and others could reach into it."""


class DataOfAnotherVersion(EmbeddedError):
    """The data folder was made by another major version of PostgreSQL."""


class DataOfAnotherAccount(EmbeddedError):
    """The data folder belongs to another account of this machine."""


class DidNotStart(EmbeddedError):
    """A server, or the keeper itself, ended before it was ready."""


class StillHeld(EmbeddedError):
    """A lock was not given back in time."""
