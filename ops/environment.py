"""The environment as settings read it: whatever may be said by a variable may be in a file instead that it names.

``SECRET_KEY_FILE=/run/secrets/secret_key`` says what ``SECRET_KEY`` is, as containers and systemd hand secrets over: a
variable is shown to whoever may look at a process, a file is not.
"""

from environ.environ import FileAwareEnv
from environ.fileaware_mapping import FileAwareMapping


class Stripped(FileAwareMapping):
    """What the files say without the end of their last line."""

    def __getitem__(self, key: str) -> str:
        """Return what a variable, or the file in its place, says. Raises KeyError, and OSError without the file."""
        return str(super().__getitem__(key)).strip()


class Environment(FileAwareEnv):
    """Reads variables, each by its kind."""

    ENVIRON = Stripped(cache=False)
