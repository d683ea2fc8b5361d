"""A small load balancer for tests of a house on several machines.

Not for production.

It distributes connections among the web processes that report ready, and closes connections to one
that stops answering. It prints each connection as the client's port and the address of the web
process.

``python -m deploy.hosts.balancer ADDRESS:PORT HOST-NAME BACKEND:PORT …``
"""

import asyncio
import sys
from contextlib import suppress
from itertools import count

PROBE = "GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
BETWEEN = 0.5  # seconds between two probes
PATIENCE = 1.0  # seconds for the answer to a probe, or for a connection
FALL = 3  # probes in a row without an answer after which a machine counts as down
CHUNK = 65536


class Backend:
    """One web process and its state according to the probes."""

    def __init__(self, address: str) -> None:
        self.name, _, port = address.rpartition(":")
        self.port = int(port)
        self.is_ready = False
        self.lines: set[asyncio.Task[None]] = set()

    async def monitor(self, host: str) -> None:
        """Probe the web process again and again.

        If it stops answering, its connections are closed, so that clients reconnect to another. If
        it reports not ready, it finishes its connections.
        """
        missed = 0
        while True:
            answer = b""
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    reader, writer = await asyncio.open_connection(self.name, self.port)
                    writer.write(PROBE.format(host).encode())
                    answer = await reader.readline()
                    writer.close()
            missed = 0 if answer else missed + 1
            if answer:
                self.is_ready = b" 200 " in answer
            elif missed >= FALL:
                self.is_ready = False
                for line in self.lines:
                    line.cancel()
            await asyncio.sleep(BETWEEN)


class Balancer:
    """Distributes connections."""

    def __init__(self, backends: list[Backend]) -> None:
        self._backends = backends
        self._turn = count()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection in both directions until either side closes it."""
        try:
            backend, inner, outer = await self._connect()
        except ConnectionError:
            writer.close()
            return
        print(writer.get_extra_info("peername")[1], backend.name, flush=True)
        line = asyncio.create_task(_both_ways(reader, writer, inner, outer))
        backend.lines.add(line)
        await asyncio.wait({line})
        backend.lines.discard(line)
        for each in (writer, outer):
            each.transport.abort() if line.cancelled() else each.close()

    async def _connect(self) -> tuple[Backend, asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the next ready web process, or the one after it.

        Raises ConnectionError if there is none.
        """
        ready = [each for each in self._backends if each.is_ready]
        first = next(self._turn)
        for number in range(len(ready)):
            backend = ready[(first + number) % len(ready)]
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    return backend, *await asyncio.open_connection(backend.name, backend.port)
        raise ConnectionError


class _Over(Exception):
    """One side has closed the connection."""


async def _both_ways(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    inner: asyncio.StreamReader,
    outer: asyncio.StreamWriter,
) -> None:
    with suppress(OSError, ExceptionGroup):
        async with asyncio.TaskGroup() as both:
            both.create_task(_copy(reader, outer))
            both.create_task(_copy(inner, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK):
        writer.write(chunk)
        await writer.drain()
    raise _Over


async def main(listen: str, host: str, *addresses: str) -> None:
    """Serve until killed."""
    backends = [Backend(address) for address in addresses]
    at, _, port = listen.rpartition(":")
    server = await asyncio.start_server(Balancer(backends).serve, at, int(port))
    async with server, asyncio.TaskGroup() as watching:
        for backend in backends:
            watching.create_task(backend.monitor(host))
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
