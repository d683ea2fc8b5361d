"""The least a server can do: `python -m bench.fan_out PORT SAMPLE` writes the events of a file to every socket that has
asked for them, one after the other, each time one says so; and the last of them alone where something is said. Python's
own asyncio, one process.
"""

import asyncio
import sys
from pathlib import Path

WATCH, TELL, TALK = b"watch\n", b"tell\n", b"talk\n"


class Server(asyncio.Protocol):
    """One socket."""

    watching: set[asyncio.WriteTransport] = set()
    events: tuple[bytes, ...] = ()
    said = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the line."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Do as the line says."""
        for line in data.splitlines(keepends=True):
            if line == WATCH:
                self.watching.add(self._transport)
                self._transport.write(b"".join(self.events))
                continue
            for event in self.events if line == TELL else (self.said,):
                for transport in self.watching:
                    transport.write(event)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self.watching.discard(self._transport)


async def main() -> None:
    """Serve until killed."""
    *events, said, _ = Path(sys.argv[2]).read_bytes().split(b"\n\n")
    Server.events, Server.said = tuple(event + b"\n\n" for event in events), said + b"\n\n"
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", int(sys.argv[1]), backlog=512)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
