"""The page of the event log shows its state in plain words."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from audit import log
from audit.models import VerificationFinding
from audit.sealing import checkpoint_delivery, sealer
from audit.verification import house
from tests.harness.signer import signing
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("compliance").user)
    return visitor


def page(reader: Client) -> str:
    text = html.unescape(reader.get(reverse("staff_log")).content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def happen() -> None:
    log.record("test.happened", by="system", on="test:1", data={})


@pytest.mark.sweep
def test_a_log_that_is_empty_says_so(reader, settings, tmp_path):
    settings.SIGNER_DIR = tmp_path
    said = page(reader)
    for each in (
        "The tree is empty.",
        "No public key is configured.",
        "Checkpoints are not delivered to an external destination.",
        "Nothing is signed",
    ):
        assert each in said


@pytest.mark.sweep
def test_it_shows_the_last_checkpoint_the_keys_and_what_waits(reader, signed):
    happen()
    sealed = sealer.seal()
    happen()
    said = page(reader)
    assert f"Events in the tree {sealed.size}" in said
    assert re.search(r"Not yet in the tree [1-9]", said)
    assert re.search(rf"Last checkpoint {sealed.size} events, signed \d+ s ago", said)
    for vkey in (signed / "keys").read_text().splitlines():
        assert vkey in said
    assert "refuses" not in said
    assert "All events are signed." in said
    assert "Contact system operations, also about “External copies”" in said


@pytest.mark.sweep
def test_it_shows_what_has_left_the_house_and_what_has_not(reader, signed, settings, tmp_path):
    there, gone = f"file:{tmp_path}", f"file:{tmp_path}/gone"
    settings.AUDIT_CHECKPOINTS_TO = [there, gone]
    happen()
    size = sealer.seal().size
    for destination in (there, gone):
        checkpoint_delivery.send(destination)
    said = page(reader)
    assert f"{there} {size} events" in said
    assert "Contact system operations." in said
    assert re.search(rf"{gone} nothing yet – 1, last at .*: .*No such file or directory", said)


def test_it_explains_a_refusal_and_a_lag(reader, signed, settings, tmp_path):
    with signing(tmp_path / "other"):
        settings.AUDIT_KEYS = (tmp_path / "other" / "keys").read_text()
    settings.AUDIT_LAG_SECONDS = -1
    happen()
    sealer.seal()
    said = page(reader)
    assert "The signer refuses to sign the audit log." in said
    assert "has signed the tree of" in said
    assert "an older backup of the database was restored" in said
    assert "No signed checkpoint covers the events of the last" in said
    assert "All events are signed." not in said
    assert "When the log is red" in said


def test_keys_that_are_none_are_named(reader, settings):
    settings.AUDIT_KEYS = "no key"
    assert "AUDIT_KEYS cannot be read: 'no key' is no key" in page(reader)


def test_it_shows_the_last_verifications_and_what_they_found(reader):
    assert "New records, every minute not yet" in page(reader)
    happen()
    assert house.run(is_whole=False) == []
    said = page(reader)
    assert re.search(r"New records, every minute \d{4}-\d\d-\d\d [\d:]+ \d{4}-\d\d-\d\d [\d:]+ 0–0 0 ", said)
    assert "No open findings." in said
    VerificationFinding.objects.create(
        key="k", part="rounds", verified="cards are sound", on="round:1", text="round 1: no."
    )
    assert "Cards are sound: round 1: no." in page(reader)
