"""The files in deploy/ agree with the program: variables, commands, files. No container is started."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from audit.verification.verify import LOG, TIME, Key
from casino import worker
from casino.celery import app
from ops import beat
from ops.http import server
from ops.management.commands import healthy
from tests.harness.sweeps import TURN, sweep

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "sabot"}
EXAMPLE = (DEPLOY / "environment.example").read_text()
CONTAINERFILE = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
TABLE = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", (PROJECT / "docs" / "settings.md").read_text(), re.MULTILINE)
KNOWN = {name for names in TABLE for name in re.findall(r"[A-Z_]+", names)}
# Variables of create_roles, of Python and of systemd.
COMPANIONS = {"DATABASE_SUPERUSER_URL", "PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def settings_of(names: set[str]) -> set[str]:
    """Return the settings that these variables set, also by files."""
    return {name.removesuffix("_FILE") for name in names}


def lines_of(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def commands() -> dict[str, list[str]]:
    """Return every command that a unit, a container or a probe runs, as the arguments of Python."""
    found = {unit.name: shlex.split(lines_of(unit, "ExecStart")[0])[1:] for unit in UNITS}
    for name, service in OURS.items():
        if "command" in service and name != "prepare":
            command = [str(part) for part in service["command"]]
            found[name] = command[1:] if command[0] == "python" else ["-m", *command]
        if "healthcheck" in service:
            found[f"{name} is well"] = service["healthcheck"]["test"][2:]
    (last,) = re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.MULTILINE)
    return found | {"Containerfile": yaml.safe_load(last)[1:]}


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_there_and_takes_what_it_is_given(name):
    match COMMANDS[name]:
        case ["manage.py", "beat"]:  # which manage.py itself takes
            assert callable(beat.main)
        case ["manage.py", command, *arguments]:
            parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
            assert parser.parse_args(arguments)
        case ["-m", "ops.http.server", *arguments]:
            served = server.parse([part.replace("%i", "8000") for part in arguments])
            assert (served.application, served.port, served.graceful) == ("casino.asgi:application", 8000, 20)
        case ["-m", "casino.worker", *arguments]:
            assert worker.parse(arguments).queues in {queue.name for queue in app.conf.task_queues}
        case ["-m", "audit.sealing.signer", *arguments]:
            assert {"--folder", "--socket", "--name"} <= set(arguments)
            assert "usage" in usage("audit.sealing.signer", arguments)
        case ["-m", "games.dealer", *arguments]:
            assert {"--folder", "--socket"} <= set(arguments)
            assert "usage" in usage("games.dealer", arguments)
        case other:
            pytest.fail(f"what is {other}?")


def usage(module: str, arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments, "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_queues_configured_for_workers_are_those_that_tasks_go_to():
    queues = {queue.name for queue in app.conf.task_queues}
    for command in COMMANDS.values():
        for option in (part for part in command if part.startswith("--queues=")):
            queues.discard(option.removeprefix("--queues="))
    assert queues == set()
    assert set(app.conf.task_routes.values()) == {"seal"}
    assert app.conf.task_routes.keys() <= app.tasks.keys() | {"audit.tasks.seal", "audit.tasks.check_the_signer"}


def test_the_example_of_an_environment_names_every_setting_and_no_other():
    named = settings_of(set(re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.MULTILINE)))
    assert named == KNOWN | {"SUPPORT_EMAIL"}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_sets_what_the_house_reads_and_gives_nothing_away(unit):
    pairs = [pair for line in lines_of(unit, "Environment") for pair in shlex.split(line)]
    assert settings_of({pair.partition("=")[0] for pair in pairs}) <= KNOWN
    for name, _, value in (pair.partition("=") for pair in pairs):
        if name.endswith("_FILE"):
            assert f"{value.removeprefix('%d/')}:/etc/sabot/secrets/" in "".join(lines_of(unit, "LoadCredential"))
    assert lines_of(unit, "User") != ["root"]
    for hardened in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome"):
        assert lines_of(unit, hardened) == ["yes"]
    assert lines_of(unit, "ProtectSystem") == ["strict"]


@pytest.mark.parametrize("name", OURS)
def test_a_container_sets_what_the_house_reads_and_has_its_secrets_as_files(name):
    service = OURS[name]
    variables = set(service["environment"])
    assert settings_of(variables) <= KNOWN | COMPANIONS
    files = {service["environment"][variable] for variable in variables if variable.endswith("_FILE")}
    assert files == {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
    assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]


def pairs_of(lines: list[str]) -> dict[str, str]:
    """Return the pairs in lines of NAME=VALUE, with several pairs in a line as in systemd."""
    return dict(pair.split("=", 1) for line in lines for pair in shlex.split(line))


def environment_of(program: str, secrets: Path) -> dict[str, str]:
    """Return all that a unit or a container gives its program, with the example unchanged; secrets are in a folder.

    A file of an environment overrides the values of a unit, and is overridden by those of a container.
    """
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
    if program in OURS:
        image = pairs_of(re.findall(r"^ENV (.*)$", CONTAINERFILE, re.MULTILINE))
        service = image | example | {name: str(value) for name, value in OURS[program]["environment"].items()}
        assert OURS[program]["env_file"] == "environment"
        return {name: value.replace("/run/secrets", str(secrets)) for name, value in service.items()}
    unit = DEPLOY / "systemd" / program
    assert lines_of(unit, "EnvironmentFile") == ["/etc/sabot/environment"]
    said = pairs_of(lines_of(unit, "Environment")) | example
    handed_over = dict(line.split(":") for line in lines_of(unit, "LoadCredential"))
    for name, value in said.items():
        if value.startswith("%d/"):
            said[name] = handed_over[value.removeprefix("%d/")].replace("/etc/sabot/secrets", str(secrets))
    return said


def made_secrets(folder: Path) -> Path:
    """Return the secrets of a new house, once its signer and its dealer have made their keys."""
    subprocess.run([sys.executable, DEPLOY / "make_secrets.py", folder], check=True, capture_output=True)
    keys = [Key("casino.example/log", kind, bytes(32)).vkey for kind in (LOG, TIME)]
    (folder / "audit_keys").write_text("\n".join(keys) + "\n")
    (folder / "dealer_keys").write_text(f"{bytes(32).hex()}\n")
    return folder


def test_web_and_workers_have_one_role_and_nothing_of_the_dealer(tmp_path: Path) -> None:
    """Each asks the dealer at its socket; its keys and its folder are its own user's."""
    web, worker = (environment_of(unit, tmp_path) for unit in ("sabot-web@.service", "sabot-worker.service"))
    assert web["DATABASE_URL_FILE"] == worker["DATABASE_URL_FILE"]
    for unit, environment in (("sabot-web@.service", web), ("sabot-worker.service", worker)):
        assert {name for name in environment if "DEALER" in name} == {"DEALER", "DEALER_KEYS_FILE"}
        assert "DATABASE_OWNER_URL" not in settings_of(set(environment))
        assert lines_of(DEPLOY / "systemd" / unit, "User") == ["sabot"]
        assert "/var/lib/sabot-dealer" not in (DEPLOY / "systemd" / unit).read_text()
    dealer = DEPLOY / "systemd" / "sabot-dealer.service"
    assert lines_of(dealer, "User") == ["sabot-dealer"]
    assert lines_of(dealer, "StateDirectoryMode") == ["0700"]


# The environment of every other program differs from one of these at most in the port of metrics.
DIFFERENT = ("prepare", "web", "worker", "sabot-worker.service")  # one of them each day
APART = ("signer", "dealer")  # these get nothing of the house
HOUSE = [name for name in OURS if name not in APART]
HOUSE += [unit.name for unit in UNITS if not any(each in unit.name for each in APART)]


@pytest.mark.sweep
@pytest.mark.parametrize("program", sweep(HOUSE, always=[DIFFERENT[TURN % len(DIFFERENT)]]))
def test_gli19_b_6_4_a_program_starts_with_what_its_unit_or_container_gives_it_and_nothing_else(program, tmp_path):
    environment = environment_of(program, made_secrets(tmp_path / "secrets"))
    environment |= {"PATH": os.environ["PATH"], "PYTHONWARNINGS": "ignore::RuntimeWarning"}  # no database answers here
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=PROJECT,
        env=environment | {"SABOT_VAR": str(tmp_path), "STATIC_ROOT": str(tmp_path), "METRICS_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


SECRETS = re.findall(r"^#([A-Z_]+)=$", EXAMPLE.partition("# Secrets")[2].partition("\n\n")[0], re.MULTILINE)


def test_every_secret_that_the_example_speaks_of_is_handed_over(tmp_path):
    folder = made_secrets(tmp_path / "secrets")
    for program in HOUSE:
        environment = environment_of(program, folder)
        for name in SECRETS:
            assert environment[f"{name}_FILE"] == f"{folder}/{name.lower()}", program
            assert (folder / name.lower()).exists(), program
    assert {"DATABASE_URL", "METRICS_TOKEN", "REPLICA_URL", "CACHE_URL"} <= set(SECRETS)
    assert "_FILE" not in EXAMPLE


def test_what_a_secret_s_file_says_is_what_the_house_reads(tmp_path):
    environment = environment_of("web", folder := made_secrets(tmp_path / "secrets"))
    (folder / "replica_url").write_text("postgresql://sabot_web:kept@replica/sabot\n")
    script = (
        "from casino import settings as s; print(s.REPLICA_URL, s.CACHE_URL, s.METRICS_TOKEN, s.SECRET_KEY_FALLBACKS)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env=environment | {"PATH": os.environ["PATH"], "SABOT_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = [(folder / name).read_text().strip() for name in ("replica_url", "cache_url", "metrics_token")]
    assert done.stdout.split() == [*said, "[]"]


def test_who_seals_has_a_user_of_its_own_that_alone_may_ask_the_signer():
    users = {unit.name.partition("@")[0].removesuffix(".service"): lines_of(unit, "User") for unit in UNITS}
    assert users.pop("sabot-sealer") == ["sabot-sealer"]
    assert users.pop("sabot-signer") == ["sabot-signer"]
    assert users.pop("sabot-dealer") == ["sabot-dealer"]
    assert set(map(tuple, users.values())) == {("sabot",)}
    (signer,) = (unit for unit in UNITS if unit.name == "sabot-signer.service")
    assert lines_of(signer, "ExecStart")[0].endswith("--group sabot-sealer")
    for unit in UNITS:
        own = lines_of(unit, "User")
        assert lines_of(unit, "StateDirectory") == lines_of(unit, "RuntimeDirectory") == own
        assert lines_of(unit, "SupplementaryGroups") == []
    assert [
        name for name, service in OURS.items() if "signer-socket:/run/sabot-signer" in service.get("volumes", [])
    ] == [
        "sealer",
        "signer",
    ]


def test_who_deals_may_ask_the_dealer_which_has_a_user_of_its_own():
    """Web and workers, and `prepare`, in which a restored house plays interrupted coups out."""
    (dealer,) = (unit for unit in UNITS if unit.name == "sabot-dealer.service")
    assert lines_of(dealer, "ExecStart")[0].endswith("--group sabot")
    assert not lines_of(dealer, "LoadCredential")
    assert OURS["dealer"]["network_mode"] == "none"
    asking = {name for name, service in OURS.items() if "dealer-socket:/run/sabot-dealer" in service.get("volumes", [])}
    assert asking == {"web", "web-2", "worker", "prepare", "dealer"}
    proving = {name for name, service in OURS.items() if "dealer_proof_key" in service.get("secrets", [])}
    assert proving == {"prepare"}


def test_the_dealer_s_shoes_survive_a_restart():
    """Its folder is in the unit's state, or on a named volume, which only the dealer has; not in memory."""
    (dealer,) = (unit for unit in UNITS if unit.name == "sabot-dealer.service")
    assert lines_of(dealer, "StateDirectoryMode") == ["0700"]
    assert "--folder /var/lib/sabot-dealer/keys " in lines_of(dealer, "ExecStart")[0]
    service = OURS["dealer"]
    assert "dealer:/var/lib/sabot-dealer" in service["volumes"]
    assert not [place for place in service["tmpfs"] if place.startswith("/var/lib")]
    assert service["command"][service["command"].index("--folder") + 1] == "/var/lib/sabot-dealer/keys"
    others = [name for name, each in OURS.items() if "dealer:/var/lib/sabot-dealer" in each.get("volumes", [])]
    assert others == ["dealer"]
    assert COMPOSE["volumes"]["dealer"] is None  # a disk of the host, without a volume driver


def test_whichever_container_is_started_first_builds_the_image():
    for service in OURS.values():
        assert service["build"] == {"context": "..", "dockerfile": "deploy/Containerfile"}


def test_two_webs_have_two_ports():
    ports = [port for service in OURS.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8000:8000", "127.0.0.1:8001:8000"]
    assert not re.search(r"--scale web", (DEPLOY / "compose.yaml").read_text().replace("one port and --scale", ""))


def test_the_signer_s_keys_can_be_written_to_their_configured_folder(tmp_path):
    made = tmp_path / "secrets"
    subprocess.run([sys.executable, DEPLOY / "make_secrets.py", made], check=True, capture_output=True)
    modes = {path.name: path.stat().st_mode & 0o777 for path in made.iterdir()}
    to_be_written = ("audit_keys", "dealer_keys", "dealer_proof_key", "replica_url", "secret_key_fallbacks")
    assert [modes.pop(name) for name in to_be_written] == [0o644] * 5
    assert set(modes.values()) == {0o444}


def test_every_program_is_started_and_asked_how_it_is():
    probes = {name: service["healthcheck"]["test"][-1] for name, service in OURS.items() if "healthcheck" in service}
    assert set(probes) == set(OURS) - {"prepare"}
    assert set(probes.values()) == set(healthy.ROLES)
    assert {unit.name.partition("@")[0].removesuffix(".service") for unit in UNITS} == {
        f"sabot-{role}" for role in healthy.ROLES
    }


def test_the_secrets_that_are_made_are_those_that_are_asked_for(tmp_path):
    made = tmp_path / "secrets"
    for status in (0, 1):  # the second time they are kept
        done = subprocess.run([sys.executable, DEPLOY / "make_secrets.py", made], check=False, capture_output=True)
        assert done.returncode == status
    assert {path.name for path in made.iterdir()} == COMPOSE["secrets"].keys()
    assert made.stat().st_mode & 0o777 == 0o700


def test_the_image_is_made_of_what_is_there_and_ends_without_tools_as_nobody_in_particular():
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    for place in re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINERFILE, re.MULTILINE):
        assert all((PROJECT / part).exists() for part in place.split())
    assert re.findall(r"^USER (.*)$", last, re.MULTILINE) == ["sabot"]
    assert "apt-get" not in last
    variables = {
        pair.partition("=")[0] for line in re.findall(r"^ENV (.*)$", last, re.MULTILINE) for pair in line.split()
    }
    assert variables <= KNOWN | COMPANIONS


def test_a_secret_may_be_in_a_file_without_the_end_of_its_line(tmp_path):
    (tmp_path / "key").write_text("0123456789\n")
    script = "from ops.environment import Environment; print(repr(Environment().str('SECOND_FACTOR_KEY', default='')))"
    environment = os.environ | {"SECOND_FACTOR_KEY_FILE": str(tmp_path / "key"), "SECOND_FACTOR_KEY": "another"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "'0123456789'"
