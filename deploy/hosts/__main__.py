"""`python -m deploy.hosts`: run a demo house on several machines, print its URL, and stop at
Ctrl-C.
"""

import shutil
import signal
import tempfile
from pathlib import Path

from deploy.hosts.house import House
from deploy.hosts.network import network


def main() -> None:
    """Start the house; remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="sabot-hosts-"))
    folder.chmod(0o755)
    try:
        with House(network(), folder, print) as house:
            house.open()
            for name, host in house.hosts.items():
                print(f"  {name:10}{host.address}")
            print(f"{house.url}/ — logs in {folder}/log. Ctrl-C closes it.", flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
