"""A small balancer for trying out a house on many machines: it shares connections out among those web processes that
say that they are ready, and hangs up on one that answers no more. It prints who is connected with which: the port of
the one, the address of the other. A rig, not for production.

``python -m deploy.hosts.balancer ADDRESS:PORT HOST-NAME BACKEND:PORT …``
"""

import asyncio
import sys
from contextlib import suppress
from itertools import count

PROBE = "GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
BETWEEN = 0.5  # seconds between two probes
PATIENCE = 1.0  # seconds for the answer to one, or for a connection
FALL = 3  # probes in a row without an answer, after which a machine is gone
CHUNK = 65536


class Backend:
    """One web process, as the probes find it."""

    def __init__(self, address: str) -> None:
        self.name, _, port = address.rpartition(":")
        self.port = int(port)
        self.is_ready = False
        self.lines: set[asyncio.Task[None]] = set()

    async def watch(self, host: str) -> None:
        """Ask again and again how it is. Whoever is connected to one that says nothing any more is let go, so that they
        come back to another; one that says that it is not ready finishes what it has.
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
    """Shares out what comes."""

    def __init__(self, backends: list[Backend]) -> None:
        self._backends = backends
        self._turn = count()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on, both ways, until either end hangs up."""
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
        """Connect to the next that is ready, or one after it. Raises ConnectionError where none is."""
        ready = [each for each in self._backends if each.is_ready]
        first = next(self._turn)
        for number in range(len(ready)):
            backend = ready[(first + number) % len(ready)]
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    return backend, *await asyncio.open_connection(backend.name, backend.port)
        raise ConnectionError


class _Over(Exception):
    """One end has hung up."""


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
            watching.create_task(backend.watch(host))
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
