"""What deploy/ says, held to the program: variables, commands, files. No container is started for that."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from celery.bin.base import CLIContext
from celery.bin.worker import worker
from django.core.management import get_commands, load_command_class
from uvicorn.main import main as uvicorn

from casino import health
from casino.celery import app

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "sabot"}
CONTAINERFILE = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
TABLE = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", (PROJECT / "docs" / "settings.md").read_text(), re.MULTILINE)
KNOWN = {name for names in TABLE for name in re.findall(r"[A-Z_]+", names)}
# Of create_roles and of Python, and systemd's own.
BESIDE = {"DATABASE_SUPERUSER_URL", "PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def settings_of(names: set[str]) -> set[str]:
    """The settings that these variables are, files in their place included."""
    return {name.removesuffix("_FILE") for name in names}


def lines_of(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def commands() -> dict[str, list[str]]:
    """Every command that a unit, a container or a probe runs: from what Python is told on."""
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
        case ["manage.py", command, *arguments]:
            parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
            assert parser.parse_args(arguments)
        case ["-m", "uvicorn", *arguments]:
            given = [part.replace("%i", "8000") for part in arguments]
            assert uvicorn.make_context("uvicorn", given).params["app"] == "casino.asgi:application"
        case ["-m", "celery", *arguments]:
            given = arguments[arguments.index("worker") + 1 :]
            assert worker.make_context("worker", given, obj=CLIContext(app, no_color=True, workdir=None))
        case ["-m", "audit.signer", *arguments]:
            assert {"--folder", "--socket", "--name"} <= set(arguments)
            assert "usage" in signer_usage(arguments)
        case other:
            pytest.fail(f"what is {other}?")


def signer_usage(arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "audit.signer", *arguments, "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_queues_that_workers_are_told_of_are_those_that_tasks_go_to():
    queues = {queue.name for queue in app.conf.task_queues}
    for command in COMMANDS.values():
        for option in (part for part in command if part.startswith("--queues=")):
            queues.discard(option.removeprefix("--queues="))
    assert queues == set()
    assert set(app.conf.task_routes.values()) == {"seal"}
    assert app.conf.task_routes.keys() <= app.tasks.keys() | {"audit.tasks.seal", "audit.tasks.watch_the_signer"}


def test_the_example_of_an_environment_names_every_setting_and_no_other():
    text = (DEPLOY / "environment.example").read_text()
    named = settings_of(set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE)))
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
    assert settings_of(variables) <= KNOWN | BESIDE
    files = {service["environment"][variable] for variable in variables if variable.endswith("_FILE")}
    assert files == {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
    assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]


def test_every_program_is_started_and_asked_how_it_is():
    probes = {name: service["healthcheck"]["test"][-1] for name, service in OURS.items() if "healthcheck" in service}
    assert set(probes) == set(OURS) - {"prepare"}
    assert set(probes.values()) == set(health.ROLES)
    assert {unit.name.partition("@")[0].removesuffix(".service") for unit in UNITS} == {
        f"sabot-{role}" for role in health.ROLES
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
    assert variables <= KNOWN | BESIDE


def test_a_secret_may_be_in_a_file_without_the_end_of_its_line(tmp_path):
    (tmp_path / "key").write_text("0123456789\n")
    script = "from casino.environment import Environment; print(repr(Environment().str('SEED_KEY', default='')))"
    environment = os.environ | {"SEED_KEY_FILE": str(tmp_path / "key"), "SEED_KEY": "another"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "'0123456789'"
