"""Go's golang.org/x/mod/sumdb accepts the house's signatures and proofs, and refuses wrong ones."""

import shutil
import subprocess
from base64 import b64encode

import pytest
from django.test import override_settings

from audit import tree
from audit.models import Checkpoint, Leaf
from audit.tree import proof_of
from audit.verification.checking import StoredTiles
from audit.verification.export import bundle
from tests.audit import sealed
from tests.audit.go_program import build
from tests.audit.signing import Pens
from tests.harness import databases

LEAVES = (0, 1, 255, 256, 299, 599)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="module")
def log(django_db_setup, django_db_blocker, tmp_path_factory):
    """Return a folder with checkpoints, single events with proofs, and consistency proofs."""
    folder, pens = tmp_path_factory.mktemp("log"), Pens()
    for name in ("checkpoints", "proofs", "entries", "consistency"):
        (folder / name).mkdir()
    believed = override_settings(AUDIT_KEYS=pens.keys)
    with believed, django_db_blocker.unblock(), databases.clone("go") as database:
        sealed.fill(database, pens)
        (folder / "keys").write_text(pens.keys)
        *older, last = Checkpoint.objects.order_by("size")
        (folder / "checkpoint").write_text(last.note)
        for each in older:
            (folder / "checkpoints" / str(each.size)).write_text(each.note)
            write(folder / "consistency" / str(each.size), tree.consistency_proof(StoredTiles(), each.size, last.size))
        for leaf in Leaf.objects.filter(leaf__in=LEAVES).select_related("event"):
            (folder / "entries" / str(leaf.leaf)).write_bytes(bundle(leaf.leaf, leaf.leaf + 1)[2:])
            head = proof_of(leaf.event_id).partition("\n\n")[0].partition("\nindex ")[2]
            (folder / "proofs" / str(leaf.leaf)).write_text("\n".join(head.split("\n")[1:]))
    return folder


def write(file, proof):
    file.write_text("".join(f"{b64encode(each).decode()}\n" for each in proof))


@pytest.fixture
def check(program, log, tmp_path):
    """Return a function that runs the program on a copy, after *change*."""

    def run(change=lambda folder: None):
        folder = shutil.copytree(log, tmp_path / "log", dirs_exist_ok=True)
        change(folder)
        done = subprocess.run([program, folder], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    return run


def edit(file, old, new):
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new, 1))


def test_it_accepts_checkpoints_single_events_and_how_trees_go_on(check):
    status, said = check()
    assert status == 0, said
    lines = said.splitlines()
    assert lines[0] == "note 600"
    assert {line for line in lines if line.startswith("record")} == {f"record {leaf}" for leaf in LEAVES}
    assert {line for line in lines if line.startswith("tree")} == {"tree 10", "tree 256", "tree 300"}


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda log: edit(log / "checkpoint", b"\n600\n", b"\n601\n"), "REFUSED checkpoint invalid signature"),
        (lambda log: (log / "keys").write_text(Pens().keys), "REFUSED checkpoint note has no verifiable signatures"),
        (lambda log: edit(log / "entries" / "299", b"hash", b"hush"), "REFUSED proofs/299 invalid transparency"),
        (lambda log: write(log / "consistency" / "256", [bytes(32)]), "REFUSED consistency/256 "),
    ],
)
def test_it_refuses_what_was_changed(check, change, refused):
    status, said = check(change)
    assert (status, refused in said) == (1, True), said
