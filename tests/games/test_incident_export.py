"""The export of an incident for the regulator: complete, logged, without cards of open rounds."""

import hashlib
import html
import io
import json
import subprocess
import zipfile
from typing import Any

import pytest
from django.test import Client

from backoffice.incidents import note
from games.deals import shoe_binding
from games.models import Incident, LiveTable, Participation, Phase, Shoe
from games.shared import malfunction
from games.verification import verification_task
from players.models import Player, Staff
from tests.audit.sealed import sign
from tests.audit.signing import Pens
from tests.games.test_letters import STAKE, a_reader, case, reported, send
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.live.test_rulings import void_by_two
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def reader() -> Staff:
    return a_member_of_staff("compliance", name="Ada Lovelace")


def taken(reader: Staff, incident: Incident, language: str = "en") -> tuple[bytes, dict[str, bytes]]:
    visitor: Client = a_visitor(headers={"accept-language": language})
    visitor.force_login(reader.user)
    answer = visitor.get(f"/staff/incidents/{incident.pk}/export/")
    assert answer["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return answer.content, {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def voided(live_table) -> tuple[Incident, Player]:
    player = a_reader("SE")
    incident = reported(live_table, player)
    note(incident=incident, text="The camera was looked at.", by="staff:1")
    void_by_two(incident)
    send(incident)
    return incident, player


def described(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files["incident.json"])
    return found


def test_is_in_english_whatever_language_staff_read(voided, reader):
    incident, _player = voided
    english, german = (taken(reader, incident, language)[1] for language in ("en", "de"))
    first, second = described(english), described(german)
    assert second["what"] == "Reported by staff"
    assert second.pop("taken_at") != first.pop("taken_at")
    *course, _exported = second.pop("course")
    assert (second, course) == (first, first.pop("course"))
    assert german["round.json"] == english["round.json"]
    assert f"Incident {incident.pk}: Reported by staff" in german["incident.html"].decode()


@pytest.mark.sweep
def test_has_everything_that_the_page_has(voided, reader):
    incident, player = voided
    _content, files = taken(reader, incident)
    shown = described(files)
    part = Participation.objects.get(round_id=incident.live_round_id)
    assert shown["round"]["code"] == case(incident).code
    assert shown["players"] == [
        {
            "player": str(player),
            "language": "sv",
            "currency": "SEK",
            "staked": STAKE,
            "paid": part.paid,
            "returned": part.staked - part.paid,
            "shortfall": 0,
        }
    ]
    assert (shown["cause"], shown["ruling"]["ruling"]) == ("A card lay face up.", "void")
    assert [each["decision"]["verdict"] for each in shown["requests"]] == ["approved"]
    assert [(each["kind"], each["player"]) for each in shown["letters"]] == [("apology", str(player))]
    assert [each["text"] for each in shown["notes"]] == ["The camera was looked at."]
    assert "Round settled and paid" in [each["what"] for each in shown["course"]]


@pytest.mark.sweep
def test_can_be_read_and_checked_by_an_outsider(voided, reader, tmp_path):
    incident, player = voided
    content, _files = taken(reader, incident)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    checked = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True)
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert checked.returncode == 0, checked.stderr
    assert {line.partition(": ")[0] for line in checked.stdout.decode().splitlines()} == names - {"SHA256SUMS"}
    page = " ".join(html.unescape((tmp_path / "incident.html").read_text()).split())
    shown = json.loads((tmp_path / "incident.json").read_text())
    for words in (
        shown["cause"],
        shown["round"]["code"],
        str(player),
        "the round is void",
        shown["requests"][0]["reason"],
        shown["requests"][0]["decision"]["reason"],
        "Apology",
        "The camera was looked at.",
        "All recomputed values match the stored values.",
        *(moment["what"] for moment in shown["course"]),
        *(fact["what"] for fact in json.loads((tmp_path / "round.json").read_text())["facts"]),
    ):
        assert words in page, words


@pytest.mark.sweep
def test_has_the_verification_with_seed_and_seal_once_they_are_public(voided, reader):
    incident, _player = voided
    verification_task.publish_seeds()
    _content, files = taken(reader, incident)
    facts = {each["what"]: each["stored"] for each in json.loads(files["round.json"])["facts"]}
    binding = shoe_binding(Shoe.objects.get(commitment=facts["Seal of the shoe"]))
    assert binding.commitment(bytes.fromhex(facts["Seed of the shoe, public"])) == facts["Seal of the shoe"]


def test_has_no_seed_of_a_shoe_in_play(live_table, reader):
    incident = reported(live_table, a_reader("SE"))
    _content, files = taken(reader, incident)
    facts = {each["what"] for each in json.loads(files["round.json"])["facts"]}
    assert "Seal of the shoe" in facts
    assert "Seed of the shoe, public" not in facts


@pytest.mark.sweep
def test_names_nobody(voided, reader):
    incident, player = voided
    _content, files = taken(reader, incident)
    everything = b"".join(files.values()).decode()
    for name in (player.user.email, "Ada Lovelace", "Someone"):
        assert name not in everything


@pytest.mark.sweep
def test_has_events_as_they_were_signed_each_with_its_proof(voided, reader, settings):
    incident, pens = voided[0], Pens()
    settings.AUDIT_KEYS = pens.keys.replace("\n", ",")
    _content, before = taken(reader, incident)
    assert not any(name.endswith(".tlog-proof") for name in before)  # nothing is signed yet
    sign(pens)
    _content, files = taken(reader, incident)
    bodies = {name.removesuffix(".json") for name in files if name.startswith("events/") and name.endswith(".json")}
    proven = {name.removesuffix(".tlog-proof") for name in files if name.endswith(".tlog-proof")}
    assert bodies == proven
    kinds = {json.loads(files[f"{name}.json"])["kind"] for name in bodies}
    assert {"round.settled", "incident.opened", "incident.ruled", "approval.decided", "round.voided"} <= kinds


def test_of_a_round_in_progress_has_no_face_down_card(live_table, reader):
    incident = reported(live_table, a_reader("SE"), phase=Phase.DEALT)
    _content, files = taken(reader, incident)
    assert incident.live_round
    cards = incident.live_round.cards
    assert cards
    assert "round.json" not in files
    assert cards.encode() not in b"".join(files.values())
    assert cards[:5].encode() not in b"".join(files.values())
    assert b"The round is still in progress" in files["README.txt"]
    malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")


def test_is_on_record_with_its_hash_and_in_the_access_log_of_its_players(voided, reader):
    incident, player = voided
    content, _files = taken(reader, incident)
    (shown,) = events("incident.exported")
    assert shown["by"] == str(reader)
    assert shown["data"] == {"incident": incident.pk, "players": 1, "sha256": hashlib.sha256(content).hexdigest()}
    assert events("data.accessed")[-1]["data"]["players"] == [str(player)]


@pytest.mark.sweep
@pytest.mark.parametrize("role", sample(["operator", "supervisor", "finance", "support", "administrator"], 2))
def test_is_taken_by_those_alone_who_may_take_files_out_and_see_incidents(voided, role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    assert visitor.get(f"/staff/incidents/{voided[0].pk}/export/").status_code == 403
    assert not events("incident.exported")
