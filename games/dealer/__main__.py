"""``python -m games.dealer --folder F --socket S``: run the dealer.

``--socket`` is the path of a Unix socket, or ``host:port`` where web and workers run on several
machines. ``--make-keys`` creates the keys and ends.
"""

import argparse
import sys
from pathlib import Path

from audit.key_folder import CannotStart, listen, lock
from games.dealer.client import tcp_address
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.server import listen_on, serve


def main() -> None:
    """Run the command line interface."""
    parser = argparse.ArgumentParser(prog="python -m games.dealer", description="Deals the rounds.")
    parser.add_argument("--folder", type=Path, required=True, help="where its keys and its shoes are, or will be")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--socket", help="where to listen: the path of a Unix socket, or host:port")
    task.add_argument("--make-keys", action="store_true", help="make the keys that do not exist, and end")
    parser.add_argument("--group", default="", help="group whose members may ask, in addition to the dealer's own user")
    asked = parser.parse_args()
    try:
        keys = Keys.opened(asked.folder)
        if asked.make_keys:
            print(f"The dealer's public key: {keys.public}")
            return
        lock(asked.folder / "lock", "dealer")
        place = tcp_address(asked.socket)
        dealer = Dealer(keys, asked.folder / "shoes")
        listening = listen_on(*place) if place else listen(Path(asked.socket), asked.group)
    except (CannotStart, OSError, KeyError) as error:
        sys.exit(f"The dealer does not start: {error}")
    print(f"Dealing as {keys.public} at {asked.socket}, epoch {dealer.epoch}", flush=True)
    serve(listening, dealer)


if __name__ == "__main__":
    main()
