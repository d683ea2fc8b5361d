"""Go's own packages accept a log that was read through the API alone, and refuse it after a change."""

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from tests.api.client import ApiClient
from tests.audit import sealed
from tests.audit.go_program import build
from tests.audit.signing import Pens
from tests.people import a_member_of_staff

LEAVES = (0, 1, 255, 256, 299)


@pytest.fixture(scope="module")
def check(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("go"))


@pytest.fixture
def read(db, settings, tmp_path) -> Path:
    """Files with what the API told of a log of three hundred events and of an earlier tree of it."""
    pens = Pens()
    settings.AUDIT_KEYS = pens.keys.replace("\n", ",")
    for count in (100, 200):
        for number in range(count):
            sealed.an_event(number)
        sealed.sign(pens)
    api_client = ApiClient(a_member_of_staff("compliance").user)
    for name in ("checkpoints", "proofs", "entries", "consistency"):
        (tmp_path / name).mkdir()
    (tmp_path / "keys").write_text("\n".join(api_client.get("log/keys/").json()["keys"]))
    (tmp_path / "checkpoint").write_bytes(Client().get("/log/checkpoint").content)
    last, older = api_client.get("log/checkpoints/").json()["items"]
    (tmp_path / "checkpoints" / str(older["size"])).write_text(older["note"])
    proof = api_client.get("log/consistency/", old=older["size"], size=last["size"]).json()["hashes"]
    (tmp_path / "consistency" / str(older["size"])).write_text("\n".join(proof))
    for leaf in LEAVES:
        (event,) = api_client.get("events/", first_leaf=leaf, end_leaf=leaf + 1).json()["items"]
        said = api_client.get(f"events/{event['id']}/").json()
        hashed = hashlib.sha256(bytes.fromhex(said["salt"]) + base64.b64decode(said["body"])).hexdigest()
        proof = api_client.get(f"events/{event['id']}/proof/").content.decode().partition("\n\n")[0]
        (tmp_path / "entries" / str(leaf)).write_text(f'{{"hash":"{hashed}"}}')
        (tmp_path / "proofs" / str(leaf)).write_text("\n".join(proof.partition("\nindex ")[2].split("\n")[1:]))
    return tmp_path


def said(check: Path, folder: Path) -> tuple[int, list[str]]:
    done = subprocess.run([check, folder], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.sweep
def test_api_clients_that_are_not_ours_accept_it_and_nothing_else(check, read):
    (older,) = (read / "checkpoints").iterdir()
    status, lines = said(check, read)
    assert (status, lines[-1]) == (0, f"tree {older.name}"), lines
    assert {line for line in lines if line.startswith("record")} == {f"record {leaf}" for leaf in LEAVES}
    entry = read / "entries" / "255"
    entry.write_bytes(entry.read_bytes().replace(b"hash", b"hush"))
    status, lines = said(check, read)
    assert (status, lines[-1].startswith("REFUSED proofs/255")) == (1, True), lines
