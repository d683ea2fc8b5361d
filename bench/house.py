"""The environment of the benchmarks: servers with durable storage, production settings, and a web
server.

Each benchmark gets a fresh copy of one migrated database. Concurrent processes work there. pgbench
is the yardstick.
"""

import atexit
import multiprocessing
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import django
import psutil
import psycopg
import redis
from cryptography.fernet import Fernet
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connections
from django.test import override_settings
from psycopg.sql import SQL, Identifier

from audit.verification.verify import LOG, TIME, Key
from bench.measuring import Rate, Unavailable, say
from games.dealer.keys import Keys
from ops.embedded import Addresses, EmbeddedError, Purpose, ensure_running, leave
from ops.embedded.binaries import client
from ops.embedded.paths import DATABASE, OWNER_ROLE, PORT, SUPERUSER, WEB_ROLE
from ops.fork_server import web_arguments
from ops.launcher import ADDRESS, PROJECT, listening_socket
from ops.postgresql.roles import close_to_public

CLIENTS: Final = 4  # of both the house and the yardstick
WORK: Final = Path(os.environ.get("SABOT_VAR") or PROJECT / "var").resolve() / "bench"
MIGRATED: Final = "migrated"
DURABILITY: Final = """
SELECT string_agg(name || ' ' || setting, ', ') FROM pg_settings
WHERE name IN ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes')
"""
FORK: Final = multiprocessing.get_context("fork")


@cache
def open_house() -> Addresses:
    """Start the servers, set up Django and migrate; all is removed when the process ends.

    Raises Unavailable.
    """
    var = new_folder("house-")
    atexit.register(_close, var)
    try:
        addresses = ensure_running(var, Purpose.BENCH)
    except EmbeddedError as error:
        raise Unavailable(str(error)) from error
    os.environ.update(_production(var, addresses))
    _start_dealer(var)
    django.setup()
    with psycopg.connect(addresses.superuser_url) as superuser:
        (said,) = superuser.execute(DURABILITY).fetchone() or ("",)
    say(f"PostgreSQL for both sides: {said}. Migrating …")
    call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()
    _execute(addresses, "ALTER DATABASE {} RENAME TO {}", DATABASE, MIGRATED)
    return addresses


def _start_dealer(var: Path) -> None:
    """Run the dealer until this process ends."""
    arguments = ("--folder", str(var / "dealer"), "--socket", os.environ["DEALER"])
    dealer = subprocess.Popen([sys.executable, "-m", "games.dealer", *arguments], stdout=subprocess.PIPE, cwd=PROJECT)
    atexit.register(dealer.kill)
    assert dealer.stdout
    dealer.stdout.readline()  # it listens now


def new_folder(prefix: str) -> Path:
    """Create a folder for servers. If root starts them, they run as another account."""
    WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=WORK))
    folder.chmod(0o755)
    return folder


def _close(var: Path) -> None:
    with suppress(FileNotFoundError):  # the server's own cleanup may have removed the folder
        leave(var)
    shutil.rmtree(var, ignore_errors=True)


def _production(var: Path, addresses: Addresses) -> Mapping[str, str]:
    """Return the environment of a production house behind an HTTPS proxy."""
    dealer = Keys.opened(var / "dealer")
    return {
        name: Fernet.generate_key().decode()
        for name in ("SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY", "CREDENTIALS_KEY")
    } | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "SABOT_VAR": str(var),
        "SABOT_DEMO": "0",
        "DEBUG": "0",
        "HTTPS": "1",
        "TRUST_PROXY": "1",
        "ALLOWED_HOSTS": ADDRESS,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "DEALER": str(var / "dealer" / "socket"),
        "DEALER_KEYS": dealer.public,
        "DEALER_PROOF_KEY": dealer.proof_text,
        "AUDIT_SIGNER": str(var / "signer" / "socket"),  # without a signer; leaves are made anyway
        "AUDIT_KEYS": ",".join(Key("bench.example/log", kind, bytes(32)).vkey for kind in (LOG, TIME)),
        "DATABASE_URL": addresses.database_url,
        "DATABASE_OWNER_URL": addresses.database_owner_url,
        "BROKER_URL": addresses.broker_url,
        "CACHE_URL": addresses.cache_url,
        "FORMS_PER_SECOND": "1000000",  # four players do the work of many
    }


def _execute(addresses: Addresses, statement: str, *names: str) -> None:
    with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
        superuser.execute(SQL(statement).format(*map(Identifier, names)))


@contextmanager
def fresh_house(name: str = DATABASE, *, template: str = MIGRATED) -> Iterator[None]:
    """Point Django at a copy of the migrated or another database; it is dropped afterwards."""
    addresses = open_house()
    from ops.backup import activation  # needs the set-up of Django, which a bench without a house has not

    point_at(name)
    _execute(addresses, "CREATE DATABASE {} OWNER {} TEMPLATE {}", name, OWNER_ROLE, template)
    with psycopg.connect(addresses.database(name, SUPERUSER), autocommit=True) as superuser:
        close_to_public(superuser, name)  # a copy does not include access rights
        activation.settle_in(superuser)
        superuser.execute("CHECKPOINT")  # so that earlier writes do not affect the measurement
    redis.Redis.from_url(addresses.cache_url).flushall()
    try:
        yield
    finally:
        connections.close_all()
        _execute(addresses, "DROP DATABASE {} WITH (FORCE)", name)


def superuser_of(name: str) -> psycopg.Connection:
    """Connect as a superuser."""
    url = open_house().database(name, SUPERUSER)
    return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor)


def point_at(name: str) -> None:
    """Make Django use another database."""
    connections.close_all()
    for connection in connections.all():
        connection.settings_dict["NAME"] = name


@contextmanager
def running(work: Callable[[], object]) -> Iterator[None]:
    """Run *work* in a forked process until the end of the block."""
    connections.close_all()
    process = FORK.Process(target=work, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


@contextmanager
def team(*prepare: Callable[[], Rate]) -> Iterator[Rate]:
    """Fork a process for each and wait until all are prepared; yield their joint rate.

    Raises Unavailable.
    """
    with ExitStack() as stack:
        pipes = []
        for each in prepare:
            ours, theirs = FORK.Pipe()
            stack.enter_context(running(partial(_work, theirs, each)))
            theirs.close()
            pipes.append(ours)

        def answers() -> float:
            try:
                return sum(pipe.recv() for pipe in pipes)
            except EOFError:
                raise Unavailable("a process of the bench died; the reason is above") from None

        def rate(seconds: float) -> float:
            for pipe in pipes:
                pipe.send(seconds)
            return answers()

        answers()
        yield rate


def _work(pipe: Connection, prepare: Callable[[], Rate]) -> None:
    rate = prepare()
    pipe.send(0.0)
    while True:
        pipe.send(rate(pipe.recv()))


@contextmanager
def web(processes: int, name: str = DATABASE, **environment: str) -> Iterator[int]:
    """Start the web server as in production and yield its port.

    The first request waits until it answers.
    """
    if not Path(os.environ["SABOT_VAR"], "static").exists():
        kinds = {path.rpartition(".")[2] for finder in get_finders() for path, _ in finder.list([])}
        with override_settings(WHITENOISE_SKIP_COMPRESS_EXTENSIONS=kinds):  # compressing takes a minute
            call_command("collectstatic", verbosity=0, interactive=False)
    urls = {"DATABASE_URL": WEB_ROLE, "DATABASE_OWNER_URL": OWNER_ROLE}
    environment |= {url: open_house().database(name, role) for url, role in urls.items()}
    with (
        listening_socket(0) as listening,
        Path(os.environ["SABOT_VAR"], "web.log").open("wb") as log,
        ExitStack() as stack,
    ):
        port = listening.getsockname()[1]
        environment["CSRF_TRUSTED_ORIGINS"] = f"http://{ADDRESS}:{port}"  # a browser comes without the HTTPS proxy
        for _ in range(processes):
            process = subprocess.Popen(
                web_arguments(listening.fileno()),
                cwd=PROJECT,
                env=os.environ | environment,
                pass_fds=[listening.fileno()],
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        try:
            yield port
        except (Unavailable, OSError):
            say(Path(log.name).read_text()[-2000:])
            raise


def seconds_of_web() -> float:
    """Return the processor time of the web servers."""
    return _seconds(each for each in psutil.Process().children() if "ops.http.server" in each.cmdline())


def seconds_of_postgresql() -> float:
    """Return the processor time of the database server, its finished processes included."""
    with psycopg.connect(open_house().superuser_url) as superuser:
        server = psutil.Process(superuser.info.backend_pid).parent()
        assert server
        finished = server.cpu_times()
        return _seconds([server, *server.children()]) + finished.children_user + finished.children_system


def seconds_by_program() -> dict[str, float]:
    """Return the processor time of all processes that take part in requests. Clients are the processes of `team`."""
    ours, sockets = psutil.Process(), str(open_house().sockets)
    children = {child: child.cmdline() for child in ours.children()}
    return {
        "web": seconds_of_web(),
        "postgresql": seconds_of_postgresql(),
        "dealer": _seconds(child for child, line in children.items() if "games.dealer" in line),
        "valkey": _seconds(each for each in psutil.process_iter() if _is_valkey(each, sockets)),
        "clients": _seconds(child for child, line in children.items() if line == ours.cmdline()),
    }


def _is_valkey(process: psutil.Process, sockets: str) -> bool:
    with suppress(psutil.Error):
        return "valkey" in process.name() and sockets in " ".join(process.cmdline())
    return False


def _seconds(processes: Iterable[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (each.cpu_times() for each in processes))


@contextmanager
def pgbench() -> Iterator[Rate]:
    """Yield the rate of pgbench's TPC-B, transactions of five statements, on the same server.

    Raises Unavailable.
    """
    addresses = open_house()
    login = f"--host={addresses.sockets}", f"--port={PORT}", f"--username={SUPERUSER}", "pgbench"

    def run(*options: str) -> str:
        done = subprocess.run([client("pgbench"), *options, *login], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"pgbench failed: {done.stderr.strip()}")
        return done.stdout

    def rate(seconds: float) -> float:
        """Return the rate. pgbench counts whole seconds, so less than one second runs a few
        transactions.
        """
        length = f"--time={round(seconds)}" if seconds >= 1 else "--transactions=100"
        said = run("--no-vacuum", f"--client={CLIENTS}", "--jobs=2", length)
        return float(said.partition("\ntps = ")[2].split()[0])

    _execute(addresses, "CREATE DATABASE pgbench")
    try:
        # More branches than clients, because clients would otherwise wait for each other's rows.
        run("--initialize", "--quiet", f"--scale={2 * CLIENTS + 2}")
        yield rate
    finally:
        _execute(addresses, "DROP DATABASE pgbench")
