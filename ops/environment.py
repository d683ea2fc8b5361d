"""Environment variables for the settings: each value can instead be in a file that a variable
names.

With ``SECRET_KEY_FILE=/run/secrets/secret_key`` the file contains the value of ``SECRET_KEY``, as
containers and systemd provide secrets. Variables are visible to anyone who may inspect the process;
a file is not.
"""

from environ.environ import FileAwareEnv
from environ.fileaware_mapping import FileAwareMapping


class Stripped(FileAwareMapping):
    """Mapping that strips white space around the content of files."""

    def __getitem__(self, key: str) -> str:
        """Return the value of a variable, or of its file. Raises KeyError, and OSError without the file."""
        return str(super().__getitem__(key)).strip()


class Environment(FileAwareEnv):
    """Reads variables, converted by type."""

    ENVIRON = Stripped(cache=False)
