"""The program in tests/audit/go, which checks the house's signatures and proofs with Go's own
packages.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

API_CLIENT = Path(__file__).with_name("go") / "check.go"
GOPATH = Path("/usr/share/gocode")  # Debian's folder of Go libraries
PACKAGES = ("golang-go", "golang-golang-x-mod-dev")


def install() -> None:
    """Install Debian's packages if they are missing; fail if that is impossible."""
    if shutil.which("go") and (GOPATH / "src" / "golang.org" / "x" / "mod" / "sumdb").is_dir():
        return
    how = f"Go is missing: as root, apt-get update && apt-get install -y {' '.join(PACKAGES)}"
    if os.geteuid() or not shutil.which("apt-get"):
        pytest.fail(how, pytrace=False)
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(["apt-get", *command], capture_output=True, text=True, timeout=600)
        if done.returncode:
            pytest.fail(f"{how}\n{done.stderr}", pytrace=False)


def build(folder: Path) -> Path:
    """Build it in a folder from Debian's sources, without a network."""
    install()
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": str(GOPATH), "GOCACHE": str(folder / "cache")}
    built = subprocess.run(
        ["go", "build", "-o", folder / "check", API_CLIENT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    return folder / "check"
