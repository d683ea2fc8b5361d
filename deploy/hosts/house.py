"""A demo house on several machines.

It has PostgreSQL with a streaming replica for reads, Valkey, two machines with web, two with a
worker and beat, one that seals, one with the dealer, and a balancer in front.
"""

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any, Final, LiteralString, Self

import psycopg
import redis

from deploy.hosts.network import Host, Network
from games.dealer.keys import Keys
from ops.embedded import binaries
from ops.embedded.paths import Paths
from ops.embedded.users import make_private
from ops.postgresql.roles import Login, make_house

PROJECT: Final = Path(__file__).resolve().parents[2]
PORT: Final = 8000
DEALER_PORT: Final = 7070
PATIENCE: Final = 180.0  # seconds that a busy machine may need for any step
POLL_SECONDS: Final = 0.05
NAME: Final = "casino.example"  # the host name of the house
ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC"}
PYTHON: Final = sys.executable

BEHIND: Final[LiteralString] = """
SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
    ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END
"""

Say = Callable[[str], object]


class House:
    """The machines by name, and the programs on each. All files are in *folder*."""

    def __init__(self, network: Network, folder: Path, say: Say) -> None:
        self.network, self._folder, self._say = network, folder, say
        self._logs = folder / "log"
        self._logs.mkdir()
        self._password = secrets.token_urlsafe(16)
        self._keys = ""  # of the log, after the signer has created them
        self._dealer = Keys.opened(folder / "dealer-keys")
        names = ("database", "replica", "broker", "web1", "web2", "worker1", "worker2", "sealer", "dealer", "front")
        self.hosts: Mapping[str, Host] = {name: network.host(name) for name in names}
        self._paths = Paths(folder / "servers")
        make_private(self._paths.home, self._paths.account)
        self._binaries = binaries.for_servers(self._paths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.network.close()

    @property
    def url(self) -> str:
        """The URL for players."""
        return f"http://{self.hosts['front'].address}:{PORT}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the programs, and of an observer."""
        database, broker = self.hosts["database"].address, self.hosts["broker"].address
        return {
            **ENVIRONMENT,
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "SABOT_DEMO": "1",
            "SABOT_VAR": str(self._folder / "var"),
            "AUDIT_KEYS": self._keys,
            "DEALER": f"{self.hosts['dealer'].address}:{DEALER_PORT}",
            "DEALER_KEYS": self._dealer.public,
            "ALLOWED_HOSTS": f"{NAME},{self.hosts['front'].address}",
            "BROKER_URL": f"redis://:{self._password}@{broker}:6379/0",
            "DATABASE_URL": f"postgresql://sabot_web:{self._password}@{database}/sabot",
            "DATABASE_OWNER_URL": f"postgresql://sabot_owner:{self._password}@{database}/sabot",
            "PORT": str(PORT),
            "REPLICA_URL": f"postgresql://sabot_web:{self._password}@{self.hosts['replica'].address}/sabot",
            "PYTHONUNBUFFERED": "1",
            "WEB_DRAIN_SECONDS": "3",  # the balancer probes twice a second
        }

    def open(self) -> Self:
        """Start everything in order."""
        self._start_database()
        self._start_broker()
        self._say("tables and demo people …")
        for command in (("migrate", "-v0"), ("load_demo", "-v0")):
            subprocess.run(
                [PYTHON, "manage.py", *command],
                cwd=PROJECT,
                env=self.environment | {"DEALER_PROOF_KEY": self._dealer.proof_text},
                check=True,
                stdout=subprocess.DEVNULL,
            )
        self._start_replica()
        self.start("dealer")
        self.start("sealer")
        self._until(self._learn_keys, "the signer")
        for name in ("worker1", "worker2", "web1", "web2"):
            self.start(name)
        backends = [f"{self.hosts[name].address}:{PORT}" for name in ("web1", "web2")]
        listen = f"{self.hosts['front'].address}:{PORT}"
        self._run("front", "balancer", PYTHON, "-m", "deploy.hosts.balancer", listen, NAME, *backends)
        self._say("web, workers, beats, sealer, balancer …")
        for name in ("web1", "web2", "front"):
            self._until(partial(self.demand_ready, name), name)
        return self

    def demand_ready(self, name: str) -> None:
        """Ask a web machine or the balancer whether it is ready. Raises OSError if it is not."""
        line = HTTPConnection(self.hosts[name].address, PORT, timeout=2)
        try:
            line.request("GET", "/readyz", headers={"Host": NAME})
            if line.getresponse().status != HTTPStatus.OK:
                raise ConnectionError
        except HTTPException as error:
            raise ConnectionError from error
        finally:
            line.close()

    def start(self, name: str) -> None:
        """Start the programs of a machine, or the replica, as after a power failure."""
        if name == "replica":
            self._postgres(self.hosts[name], self._paths.home / name)
            return
        if name == "dealer":
            place = ("--folder", str(self._folder / "dealer-keys"), "--socket", self.environment["DEALER"])
            self._run(name, "dealer", PYTHON, "-m", "games.dealer", *place)
            return
        queue = "--queues=seal" if name == "sealer" else "--queues=celery"
        if name.startswith("web"):
            at = ("--host", self.hosts[name].address, "--port", str(PORT))
            self._run(name, "web", PYTHON, "-m", "ops.http.server", *at, "--graceful", "10")
            return
        worker = ("-m", "casino.worker", "--concurrency=2", queue)
        self._run(name, "worker", PYTHON, *worker, f"--hostname=celery@{name}")
        if name == "sealer":
            folder = self._var(name) / "signer"
            place = ("--folder", str(folder), "--socket", str(folder / "socket"))
            self._run(name, "signer", PYTHON, "-m", "audit.sealing.signer", *place, "--name", "sabot.demo/log")
        else:
            self._run(name, "beat", PYTHON, "manage.py", "beat")

    def lag(self) -> float:
        """Return the replica's lag in seconds, as it reports it."""
        return float(self.ask_replica(BEHIND))

    def ask_replica(self, question: LiteralString) -> Any:
        """Return the first cell of a query on the replica, executed as superuser."""
        address = f"postgresql://postgres:{self._password}@{self.hosts['replica'].address}/sabot"
        with psycopg.connect(address, connect_timeout=2) as replica:
            rows = replica.execute(question).fetchall()
        return rows[0][0]

    def web_of(self, port: int) -> str:
        """Return the web machine to which the balancer connected the client with this port; "" if
        there is none.
        """
        addresses = {host.address: name for name, host in self.hosts.items()}
        lines = [line.split() for line in self.log("front", "balancer").splitlines()]
        return next((addresses[words[1]] for words in reversed(lines) if words[0] == str(port)), "")

    def log(self, name: str, program: str) -> str:
        """Return the output of a program."""
        return (self._logs / f"{name}-{program}.log").read_text(errors="replace")

    def tails(self, lines: int = 5) -> str:
        """Return the ends of all outputs."""
        ends = (
            f"{path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
            for path in self._all()
        )
        return "\n".join(ends)

    def _all(self) -> list[Path]:
        return sorted(self._logs.iterdir())

    def _var(self, name: str) -> Path:
        """Return the folder of a machine, which contains only a copy of the keys of the house."""
        folder = self._folder / name
        if not folder.exists():
            shutil.copytree(self._folder / "var" / "keys", folder / "keys")
        return folder

    def _learn_keys(self) -> None:
        """Read the public keys of the log for other machines.

        Raises OSError if there are none yet.
        """
        self._keys = ",".join((self._var("sealer") / "signer" / "keys").read_text().split())
        if not self._keys:
            raise FileNotFoundError

    def _run(self, name: str, program: str, *command: str) -> None:
        inside = ("env", "-C", str(PROJECT), *command)
        log = self._logs / f"{name}-{program}.log"
        environment = self.environment | {"SABOT_VAR": str(self._var(name))}
        self.network.run(self.hosts[name], inside, log=log, environment=environment)

    def _start_database(self) -> None:
        """Create a cluster and roles with passwords, because other machines log in over the
        network.
        """
        host, cluster = self.hosts["database"], self._paths.home / "database"
        password = self._paths.home / "password"
        password.write_text(self._password)
        self._own(password)
        made = ("--username=postgres", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}")
        self._as_server(host, str(self._binaries.initdb), f"--pgdata={cluster}", "--no-sync", *made).wait()
        with (cluster / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\nhost replication all samenet scram-sha-256\n")
            rules.write("host all all 127.77.0.0/16 scram-sha-256\nhost replication all 127.77.0.0/16 scram-sha-256\n")
        self._postgres(host, cluster)
        superuser = f"postgresql://postgres:{self._password}@{host.address}/postgres"
        self._until(lambda: psycopg.connect(superuser, connect_timeout=2).close(), "PostgreSQL")
        web, owner = Login("sabot_web", self._password), Login("sabot_owner", self._password)
        with psycopg.connect(superuser, autocommit=True) as connection:
            make_house(connection, web=web, owner=owner, database="sabot")

    def _start_replica(self) -> None:
        """Copy the database and start streaming."""
        host, cluster = self.hosts["replica"], self._paths.home / "replica"
        copier = self._binaries.postgres.with_name("pg_basebackup")
        source = f"postgresql://postgres:{self._password}@{self.hosts['database'].address}/"
        arguments = (
            f"--dbname={source}",
            f"--pgdata={cluster}",
            "--write-recovery-conf",
            "--create-slot",
            "--slot=replica",
            "--checkpoint=fast",
            "--no-sync",
        )
        if self._as_server(host, str(copier), *arguments).wait():
            raise RuntimeError(self.log("replica", "postgresql"))
        self._postgres(host, cluster)
        self._until(self.lag, "the replica")
        self._say(f"a replica follows, {self.lag():.1f} s behind")

    def _start_broker(self) -> None:
        host = self.hosts["broker"]
        options = (
            "--bind",
            host.address,
            "--requirepass",
            self._password,
            "--save",
            "",
            "--dir",
            str(self._paths.home),
        )
        self._as_server(host, str(self._binaries.valkey_server), *options)
        broker = redis.Redis(host=host.address, password=self._password)
        self._until(broker.ping, "Valkey")

    def _postgres(self, host: Host, cluster: Path) -> None:
        settings = {
            "listen_addresses": host.address,
            "unix_socket_directories": "",
            "max_connections": "150",
            "fsync": "off",
            "log_min_messages": "warning",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._as_server(host, str(self._binaries.postgres), "-D", str(cluster), *options)

    def _as_server(self, host: Host, *command: str) -> "subprocess.Popen[bytes]":
        account = self._paths.account
        log = self._logs / f"{host.name}-{'valkey' if host.name == 'broker' else 'postgresql'}.log"
        inside = ("env", "-C", str(self._paths.home), *command)
        return self.network.run(host, inside, log=log, environment=ENVIRONMENT, user=account.uid if account else None)

    def _own(self, path: Path) -> None:
        if account := self._paths.account:
            os.chown(path, account.uid, account.gid)

    def _until(self, act: Callable[[], object], what: str) -> None:
        """Repeat *act* until it succeeds. Raises TimeoutError."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                act()
            except (psycopg.Error, redis.RedisError, OSError) as error:
                if time.monotonic() > until:
                    raise TimeoutError(f"{what} did not start; see {self._logs}") from error
                time.sleep(POLL_SECONDS)
            else:
                return
