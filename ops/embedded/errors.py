"""Errors of the embedded servers. Every message tells the user what to do."""


class EmbeddedError(Exception):
    """Base class of all errors of this package."""


class NoServerAccount(EmbeddedError):
    """Started by root, and there is no other account for the servers, which refuse to run as root."""


class UnsafeFolder(EmbeddedError):
    """The folder for sockets exists and other users can access it."""


class DataOfAnotherVersion(EmbeddedError):
    """The data folder belongs to another major version of PostgreSQL."""


class DataOfAnotherAccount(EmbeddedError):
    """The data folder belongs to another user of this host."""


class DidNotStart(EmbeddedError):
    """A server, or the keeper, ended before it was ready."""


class StillHeld(EmbeddedError):
    """A lock was not released in time."""
