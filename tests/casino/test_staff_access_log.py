"""The access log page, where compliance reads who viewed whose data."""

import csv
import hashlib
import io
import re
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from audit.models import Checkpoint, Personal
from audit.sealing import sealer
from backoffice.audit import access_log
from backoffice.lists.staff_list import StaffList
from players.models import Player
from players.staff import access_log as looking
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.harness.product import PROJECT
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

PAGE = "/staff/access-log/"
OF_SUPPORT = "timeline, notes, account, identity, money, play, protection, cases, service, sessions, chat"


def as_staff(role: str) -> tuple[str, Client]:
    member, visitor = a_member_of_staff(role), a_visitor()
    visitor.force_login(member.user)
    return str(member), visitor


def accesses(reader: Client, **asked: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return who viewed which data of which player, as the page lists it."""
    answer = reader.get(PAGE, asked)
    assert answer.status_code == 200
    return [(look.by, look.what, look.players) for look in answer.context["list"].shown]


@pytest.fixture
def pair() -> tuple[Player, Player]:
    return a_player(), a_player()


@pytest.fixture
def reader(pair: tuple[Player, Player]) -> Client:
    """A compliance browser, after a support member has viewed both players and a list with both."""
    _, visitor = as_staff("support")
    for player in pair:
        visitor.get(f"/staff/players/{player.pk}/")
    for player in pair:
        visitor.post("/staff/exclusions/", {"player": player.pk, "reason": "for a test"})
    visitor.get("/staff/exclusions/")
    return as_staff("compliance")[1]


def test_a_list_names_the_players_shown_and_is_found_by_each_of_them(pair, reader):
    one, other = map(str, pair)
    whats = [(what, players) for _, what, players in accesses(reader, player=one)]
    assert ("exclusions", (one, other)) in whats
    assert (OF_SUPPORT, (one,)) in whats
    assert (OF_SUPPORT, (other,)) not in whats
    assert whats == [(what, players) for _, what, players in accesses(reader, player=one.removeprefix("player:"))][1:]


def test_what_was_shown_is_read_in_the_language_of_the_reader(pair, reader):
    reader.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    page = reader.get(PAGE, {"player": str(pair[0])}).text
    assert 'data-label="Daten">Zeitleiste, Notizen, Konto, KYC, Guthaben und Zahlungen, Spiel, ' in page
    assert 'data-label="Daten">Sperren<' in page
    assert "timeline" not in page.partition("<tbody>")[2].partition("</tbody>")[0]


@pytest.mark.parametrize("language", ["sv", "da", "ro", "de"])
def test_every_word_for_what_is_shown_has_a_text_in_every_language(language):
    files = [each for app in ("backoffice", "players", "wallet", "games") for each in (PROJECT / app).rglob("*.py")]
    said = {
        word
        for each in files
        for found in re.findall(r'(?:listed\(|access_log\.note(?:_list)?\(.*what=)"([^"{]+)"', each.read_text("utf-8"))
        for word in found.split(", ")
        if word
    }
    assert len(said) > 30
    names = {name for each in subclasses(StaffList) if (name := getattr(each, "name", ""))}
    with override(language):
        untranslated = {each for each in (*said, *map(str.lower, names)) if access_log.data_label(each).lower() == each}
    # Words that are the same in that language.
    assert untranslated <= {
        "checkpoints",
        "chat",
        "tags",
        "journal",
        "incident",
        "limits",
        "e-mail",
        "sessions",
        "complaint",
        "case",
    }


def subclasses(of: type) -> set[type]:
    direct: list[type] = of.__subclasses__()
    return {each for one in direct for each in (one, *subclasses(one))}


@pytest.mark.sweep
def test_accesses_are_found_by_viewer_and_by_time(pair, reader):
    (first, *_) = events("data.accessed")
    assert {by for by, _, _ in accesses(reader, staff=first["by"])} == {first["by"]}
    assert accesses(reader, staff="1") == []
    assert accesses(reader, since="2099-01-01T00:00") == []
    assert accesses(reader, until="2099-01-01T00:00")
    assert accesses(reader, player="x") == []


@pytest.mark.sweep
def test_the_page_has_pages_and_the_whole_log_is_a_file(pair, reader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(access_log.AccessLog, "size", 2)
    before = len(events("data.accessed"))
    answer, seen = reader.get(PAGE), []
    while True:
        seen += [look.id for look in answer.context["list"].shown]
        if not answer.context["page"].older:
            break
        answer = reader.get(PAGE, {"before": answer.context["page"].older})
    assert len(seen) == before
    assert seen == sorted(seen, reverse=True)
    table = reader.get(f"{PAGE}access-log.csv").text
    assert [int(row["No."]) for row in csv.DictReader(io.StringIO(table))][-before:] == seen


@pytest.mark.sweep
def test_who_reads_whose_data_was_seen_is_on_record_too(pair, reader):
    reader.get(PAGE)
    reader.get(f"{PAGE}access-log.csv")
    page, file = [event["data"] for event in events("data.accessed")][-2:]
    assert (page["page"], file["page"]) == ("staff_access_log", "staff_access_log_file")
    assert {str(player) for player in pair} <= set(page["players"]) & set(file["players"])


def test_a_file_of_accesses_is_an_export_with_its_hash_on_record(pair, reader):
    answer = reader.get(f"{PAGE}access-log.csv")
    (taken,) = events("rows.exported")
    assert taken["on"] == "list:audit.access"
    assert taken["data"]["sha256"] == hashlib.sha256(answer.content).hexdigest()
    assert taken["data"]["rows"] == len(reader.get(PAGE).context["list"].shown) - 1  # since then, the export itself
    assert "access-log.csv" in reader.get(PAGE).text
    as_owner(
        "DELETE FROM auth_group_permissions WHERE permission_id IN"
        " (SELECT id FROM auth_permission WHERE codename = 'export_rows')"
    )
    _, other = as_staff("compliance")
    assert "access-log.csv" not in other.get(PAGE).text
    assert other.get(f"{PAGE}access-log.csv").status_code == 403


@pytest.mark.sweep
def test_of_a_long_list_the_number_is_kept_and_no_names(pair, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(looking, "MOST_NAMED", 1)
    _, visitor = as_staff("support")
    for player in pair:
        visitor.post("/staff/exclusions/", {"player": player.pk, "reason": "for a test"})
    visitor.get("/staff/exclusions/")
    said = events("data.accessed")[-1]["data"]
    assert (said["count"], "players" in said) == (2, False)


@pytest.mark.sweep
def test_the_export_of_the_log_is_in_the_log(pair, reader, signed):
    sealer.seal()
    _, taker = as_staff("compliance")
    assert taker.get("/staff/log/export/").getvalue().startswith(b"PK")
    shown = reader.get(PAGE).context["list"].shown
    assert (shown[0].kind, shown[0].page, shown[0].what) == (
        "log.exported",
        "staff_log_export",
        "exported the whole log",
    )
    size = Checkpoint.objects.get().size
    assert shown[0].of == f"leaves 0 to {size - 1} of {size}"
    assert [look.id for look in shown] == sorted((look.id for look in shown), reverse=True)
    assert "exported the whole log" in reader.get(f"{PAGE}access-log.csv").text
    assert "kind=log.exported" in reader.get(PAGE).text
    assert "log.exported" not in {look.kind for look in reader.get(PAGE, {"player": pair[0].pk}).context["list"].shown}


@pytest.mark.sweep
@pytest.mark.parametrize("page", ["/staff/players/?who={email}", "/staff/players/?who={pk}", "/staff/limits/?who={pk}"])
def test_a_search_that_identifies_a_player_is_an_access(pair, page):
    _, visitor = as_staff("support")
    address = page.format(email=pair[0].user.email, pk=pair[0].pk)
    assert visitor.get(address).status_code == 302
    (seen,) = events("data.accessed", on=str(pair[0]))
    assert seen["data"]["what"] == "the selected player"


def test_what_was_asked_for_is_kept_where_it_cannot_name_anybody():
    player = a_player()
    _, visitor = as_staff("support")
    visitor.get(
        f"/staff/players/{player.pk}/?since=2026-11-22T18:00&round={UUID(int=2**128 - 1)}&who=Ada+Byron&by=staff:3"
    )
    assert dict(parse_qsl(Personal.objects.get(field="asked").value)) == {
        "since": "2026-11-22T18:00",
        "round": str(UUID(int=2**128 - 1)),
        "who": "…",
        "by": "staff:3",
    }


def test_the_player_s_page_shows_the_access_log_to_compliance_only(pair, reader):
    player = pair[0]
    assert "Access log" in reader.get(f"/staff/players/{player.pk}/").text
    assert "Access log" not in as_staff("support")[1].get(f"/staff/players/{player.pk}/").text
