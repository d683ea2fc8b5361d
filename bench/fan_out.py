"""The least a server can do: `python -m bench.fan_out PORT SAMPLE` writes the bytes of a file to every socket that has
asked for them, each time one says so. Python's own asyncio, one process.
"""

import asyncio
import sys
from pathlib import Path

WATCH, TELL = b"watch\n", b"tell\n"


class Server(asyncio.Protocol):
    """One socket."""

    watching: set[asyncio.WriteTransport] = set()
    event = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the line."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Do as the line says."""
        if data == WATCH:
            self.watching.add(self._transport)
            self._transport.write(self.event)
        else:
            for transport in self.watching:
                transport.write(self.event)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self.watching.discard(self._transport)


async def main() -> None:
    """Serve until killed."""
    Server.event = Path(sys.argv[2]).read_bytes()
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", int(sys.argv[1]), backlog=512)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
