"""Compliance staff: they read everything and change nothing of play or money; the access log has every view of
personal data, theirs included.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.db import connection, transaction
from django.urls import reverse

from audit.models import Event
from backoffice.lists.index import LISTS
from games.models import Shoe
from players.models import Player, Submission, User
from players.staff import access_log
from tests.builders import a_player, a_verified_player
from tests.harness.dealer import seed_of
from tests.harness.sweeps import share
from tests.matrix import DOCUMENT, FORBIDDEN, LINES, PAGE, STAFF, TEXT, Line, World
from tests.pages.house import House, undone
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Withdrawal

OF_STAFF = [line for line in LINES if line.name.startswith("staff_")]
# Pages that are only the form for an action; their content is on the page of tables, or on no page for others yet.
FORMS_ONLY = {
    "staff_incident_letter",
    "staff_live_break_up",
    "staff_notice_new",
    "staff_partner_new",
    "staff_person_new",
    "staff_statement_draft",
    "staff_table_change",
    "staff_table_new",
    "staff_webhook_change",
    "staff_webhook_new",
}
TABLES = """
SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
AND NOT relispartition AND relname ~ '^(games|wallet)_'
AND (has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege(oid, 'DELETE')) ORDER BY relname
"""
# Columns that no list and no page of a row ever shows: secrets that open or decide something, and identities.
HIDDEN = {
    "account_emailaddress": ("email",),
    "audit_personal": ("CASE WHEN field NOT IN ('asked', 'note', 'reason') THEN value END", "encode(salt, 'hex')"),
    "players_browsersession": ("session_key", "session_data"),
    "games_chatmessage": ("text",),
    "games_soloseat": ("commitment", "encode(sealed_seed, 'hex')", "encode(sealed_seed, 'base64')"),
    "games_round": ("encode(seed, 'hex')",),
    "mfa_authenticator": ("data ->> 'secret'", "data ->> 'seed'"),
    "players_documentcontent": ("left(encode(sealed, 'hex'), 64)",),
    "players_mail": ("address", "encode(sealed_body, 'hex')"),
    "players_servicemessage": ("text",),
    "players_submission": ("given_names", "family_name", "street", "city", "phone", "document_number"),
    "players_trait": ("fingerprint",),
    "players_user": ("password", "email"),
    "wallet_payout_account": ("sealed", "fingerprint"),
}
TYPED = re.compile(r"<input\b[^>]*>")  # what staff typed themselves, or a form sends along, tells nothing of anybody
LEAST = 6  # characters; a shorter value may be in any page by chance


@pytest.fixture(scope="module")
def full(house: House) -> House:
    """A house in which every page of staff has something on it."""
    for line in OF_STAFF:
        line.arguments(house)
        line.data(house)
    a_withdrawal(a_verified_player(real=100_000))
    for role in STAFF:
        house.visitor(role)
    return house


@pytest.fixture(autouse=True)
def world(full: House) -> Iterator[House]:
    """The same, reset before each test; changes of the test are rolled back."""
    with undone():
        yield full


def play_and_money() -> dict[str, str]:
    """Return the content of every table of play or money, as one hash each."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {table} AS t")
            found[table] = cursor.fetchone()[0]
    return found


def queries(world: World) -> dict[str, list[str]]:
    """Return the query strings to request, by address."""
    who = world.player
    return {
        "staff_events": [f"?on={who}", f"?by={who}"],
        "staff_exclusions": [f"?player={who.pk}"],
        "staff_chat_log": [f"?player={who.pk}", "?text=e"],
        "staff_service": [f"?player={who.pk}"],
        "staff_play": ["?which=all"],
        "staff_significant": [f"?about={who}", f"?state=all&about={who.pk}"],
        "staff_ledger": [f"?round={world.round_id}"],
        "staff_rounds": [f"?round={world.round_id}"],
        "staff_access_log": [f"?player={who.pk}"],
        "staff_access_log_file": [f"?player={who.pk}"],
    }


# Pages with a list that is also a file of the same address.
HAVE_FILES = {
    "staff_access_log",
    "staff_approvals",
    "staff_chat",
    "staff_chat_log",
    "staff_deposits",
    "staff_duplicates",
    "staff_events",
    "staff_exchange_rates",
    "staff_exclusions",
    "staff_game_table",
    "staff_identity",
    "staff_incidents",
    "staff_ledger",
    "staff_ledger_account",
    "staff_cases",
    "staff_operators",
    "staff_people",
    "staff_play",
    "staff_play_pair",
    "staff_play_reports",
    "staff_player_money",
    "staff_player_notes",
    "staff_player_timeline",
    "staff_player_payments",
    "staff_player_sessions",
    "staff_reports",
    "staff_report_schedules",
    "staff_rounds",
    "staff_rules",
    "staff_service",
    "staff_significant",
    "staff_statement",
    "staff_statements",
    "staff_tables",
    "staff_stop",
    "staff_webhook",
    "staff_withdrawals",
}
SHOW_SOMEBODY = {"staff_player", "staff_document", "staff_service_thread", "staff_withdrawals", "staff_cases"}


def asked_for(world: World) -> Iterator[tuple[Line, str, str]]:
    """Addresses at which staff see something, each with a role that may read it and the query.

    `make test` asks for an eighth of them, and for those that are known to show somebody.
    """
    more = queries(world)
    drawn = share(OF_STAFF, parts=8)
    for line in OF_STAFF:
        if line not in drawn and line.name not in SHOW_SOMEBODY:
            continue
        insiders = [role for role in STAFF if line.answers[role] in (PAGE, TEXT, DOCUMENT)]
        files = ("?as=csv",) if line.name in HAVE_FILES else ()
        for query in (
            ("", *files, *more.get(line.name, ())) if insiders and line.method == "GET" else ("",) * bool(insiders)
        ):
            yield line, "compliance" if "compliance" in insiders else insiders[0], query


def text_of(answer: Any) -> str:
    """Return the text of an answer; for an archive, the text of all its files."""
    if answer["Content-Type"] != "application/zip":
        return str(answer.getvalue().decode())
    with ZipFile(BytesIO(answer.getvalue())) as whole:
        return "\n".join(whole.read(name).decode() for name in whole.namelist())


def people_in(answer: Any, world: World) -> list[set[int]]:
    """Return the players whose number, e-mail address, name or document an answer shows; namesakes are in one set."""
    if answer["Content-Type"].startswith("image/"):
        return [{world.submission.player_id}]
    stated = html.unescape(TYPED.sub("", text_of(answer)))
    named: dict[str, set[int]] = {}
    for number, name in Submission.objects.exclude(family_name="").values_list("player", "family_name"):
        named.setdefault(name, set()).add(number)
    players = dict(Player.objects.values_list("pk", "user__email"))
    for number, email in players.items():
        named[email] = {number}
    numbers = [{int(number)} for number in re.findall(r"\bplayer:(\d+)\b", stated) if int(number) in players]
    return [*numbers, *(who for name, who in named.items() if name in stated)]


def bare_numbers(said: Any, players: set[int], name: str = "") -> list[str]:
    """Return the places in an event that name a player by a number alone, which `looking` does not recognise."""
    if isinstance(said, dict):
        return [found for key, value in said.items() for found in bare_numbers(value, players, key)]
    if isinstance(said, list):
        return [found for value in said for found in bare_numbers(value, players, name)]
    return [name] if type(said) is int and said in players else []


def people_on_record(after: int) -> set[int]:
    """Return the players that the access records after an event name."""
    seen: set[int] = set()
    for event in Event.objects.filter(kind=access_log.ACCESSED, pk__gt=after):
        names = [event.on, *json.loads(bytes(event.body))["data"].get("players", [])]
        seen |= {int(name.partition(":")[2]) for name in names if name.startswith("player:")}
    return seen


def test_every_page_file_and_list_puts_on_record_whose_data_it_shows(world):
    """A new page that declares nobody, or somebody it does not show, fails here."""
    forgotten, not_shown, shown = [], [], set()
    visitors = {role: world.visitor(role) for role in STAFF}
    for line, role, query in asked_for(world):
        before = Event.objects.latest("pk").pk
        with transaction.atomic():
            answer = getattr(visitors[role], line.method.lower())(line.url(world) + query, dict(line.data(world)))
            stated = people_in(answer, world)
            on_record = people_on_record(before)
            missing = [who for who in stated if who.isdisjoint(on_record)]
            transaction.set_rollback(line.method == "POST")
        if answer.status_code == 200 and missing:
            forgotten.append(f"{line.name}{query} {line.method}: {missing}")
        of_address = {line.arguments(world).get("player_id")}  # a CSV file does not name the owner of its rows
        if answer.status_code == 200 and (others := on_record.difference(*stated, of_address)):
            not_shown.append(f"{line.name}{query} {line.method}: {others}")
        if stated:
            shown.add(line.name)
    assert (forgotten, not_shown) == ([], [])
    assert shown >= SHOW_SOMEBODY


def test_text_typed_by_staff_is_no_access(world):
    player = a_player()
    before = Event.objects.latest("pk").pk
    assert str(player) in world.visitor("compliance").get(f"/staff/significant/?about={player}").text
    assert people_on_record(before) == set()


def test_events_of_every_kind_name_a_player_as_the_access_log_does():
    players = set(Player.objects.values_list("pk", flat=True))
    said = {kind: json.loads(bytes(body))["data"] for kind, body in Event.objects.values_list("kind", "body")}
    assert {kind: names for kind, data in said.items() if (names := bare_numbers(data, players))} == {}
    assert len(said) >= 15


def test_gli19_2_8_5_an_access_record_says_who_saw_whose_data_and_from_where():
    player, by = a_player(), a_member_of_staff("support")
    visitor = a_visitor()
    visitor.force_login(by.user)
    visitor.get(f"/staff/players/{player.pk}/")
    (seen,) = events("data.accessed", on=str(player))
    assert seen["by"] == str(by)
    assert seen["data"] == {
        "page": "staff_player",
        "of": {"player_id": str(player.pk)},
        "what": "timeline, notes, account, identity, money, play, protection, cases, service, sessions, chat",
    }
    assert sorted(seen["personal"]) == ["from"]
    visitor.get(f"/staff/exclusions/?player={player.pk}")
    assert sorted(events("data.accessed", on=str(player))[-1]["personal"]) == ["asked", "from"]


def test_what_cannot_be_put_on_record_is_not_shown(world, monkeypatch: pytest.MonkeyPatch):
    player, visitor = a_player(), world.visitor("compliance")
    exclude = {"player": player.pk, "reason": "for a test"}
    visitor.post("/staff/exclusions/", exclude)
    visitor.raise_request_exception = False
    # An event of this kind that the database refuses, as one does that says something else than its columns.
    monkeypatch.setattr(access_log, "ACCESSED", "data.accessed\0")
    for page in (f"/staff/players/{player.pk}/", "/staff/exclusions/"):
        with transaction.atomic():
            answer = visitor.get(page)
            transaction.set_rollback(True)
        assert answer.status_code == 500
        assert player.user.email not in answer.text


def hidden() -> set[str]:
    """Return every value of the columns that no list may show."""
    found: set[str] = set()
    with connection.cursor() as cursor:
        for table, columns in HIDDEN.items():
            values: set[str] = set()
            for column in columns:
                cursor.execute(f"SELECT DISTINCT ({column})::text FROM {table}")
                values |= {value for (value,) in cursor.fetchall() if value and len(value) >= LEAST}
            assert values, f"{table} has nothing to hide"
            found |= values
    in_play = {seed_of(shoe).hex() for shoe in Shoe.objects.filter(ended_at=None)}
    assert in_play
    return found | in_play


def test_no_list_tells_a_secret_or_who_somebody_is(world):
    visitor, seen = world.visitor("compliance"), {}
    listings = share(LISTS, parts=8)
    for listing in listings:
        page: Any = visitor.get(reverse(listing.url_name()))
        seen[f"{listing.name}, the list"] = page.text
        seen[f"{listing.name}, as a file"] = visitor.get(reverse(listing.url_name("file"))).text
        for row in page.context["page"].rows[:2]:
            address = reverse(listing.url_name("row"), args=[row.pk])
            seen[f"{listing.name}: {row.pk}"] = visitor.get(address).text
    who = {"compliance", *User.objects.filter(staff__isnull=False).values_list("email", flat=True)}
    secrets = hidden() - who
    seen = {where: html.unescape(text) for where, text in seen.items()}
    stated = {(where, value) for where, text in seen.items() for value in secrets if value in text}
    assert stated == set()
    assert len(seen) >= 2 * len(listings)  # there are views to be logged


def test_compliance_opens_every_page_of_the_back_office():
    closed = {line.name for line in OF_STAFF if line.method == "GET" and line.answers["compliance"] is FORBIDDEN}
    assert closed == FORMS_ONLY


@pytest.mark.sweep
def test_compliance_changes_nothing_of_play_or_money(world):
    visitor = world.visitor("compliance")
    forms = [line for line in OF_STAFF if line.method == "POST"]
    before = play_and_money()
    answers = Counter(visitor.post(line.url(world), dict(line.data(world))).status_code for line in forms)
    changed = {table for table, content in play_and_money().items() if content != before[table]}
    assert changed == {"games_incidentnote", "games_playreport"}, "what it notes and decides about play"
    assert answers[403] > 20
    assert answers[302] > 20


def test_compliance_reads_requests_about_money_and_decides_none(world):
    page = world.visitor("compliance").get(reverse("staff_withdrawals")).text
    withdrawal = Withdrawal.objects.get()
    assert str(withdrawal.player) in page
    page += world.visitor("compliance").get(reverse("staff_withdrawal", args=[withdrawal.pk])).text
    forms = set(re.findall(r'method="post" action="(/staff/[^"]*)"', page))
    assert forms == {reverse("staff_columns")}


@pytest.mark.sweep
def test_every_page_with_a_list_has_its_files_and_says_who_took_them(world):
    visitor = world.visitor("compliance")
    lines = {line.name: line for line in OF_STAFF if line.method == "GET" and line.name in HAVE_FILES}
    assert set(lines) == HAVE_FILES
    for line in lines.values():
        if line.answers["compliance"] is not PAGE:
            continue
        for form, begins in (("csv", rb"[A-Z][^\r\n]*,[^\r\n]*\r\n"), ("xlsx", b"PK")):
            answer = visitor.get(line.url(world), {"as": form})
            taken = (line.name, form)
            if "account" in line.name and answer["Content-Type"].startswith("text/html"):
                continue  # an account of the house is a sum, not a list
            assert answer.status_code == 200, taken
            assert re.match(begins, answer.content), taken
            assert answer["Content-Disposition"].startswith("attachment"), taken
        assert visitor.get(line.url(world), {"as": "pdf"}).status_code == 404, line.name
    assert len(events("rows.exported")) >= 2 * (len(HAVE_FILES) - 2)
