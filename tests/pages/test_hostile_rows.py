"""All stored text stays text on every page of staff. The rows are written directly, so no form
has validated them.
"""

from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connections, models, transaction
from django.urls import reverse

from audit import log
from backoffice.lists.index import LISTS
from players import staff
from players.models import Session
from tests.builders import a_verified_player
from tests.harness.sweeps import share
from tests.matrix import LINES, PAGE, STAFF, Line
from tests.pages.house import House, undone
from tests.wallet.payout_builders import a_withdrawal

PLACEHOLDER = "hostile"
# It closes attributes, elements and scripts, and has in it what templates of the browser would evaluate.
TEXT = f"""'"><b {PLACEHOLDER} x-data={PLACEHOLDER}()></script><script>{PLACEHOLDER}()</script>{{{{{PLACEHOLDER}}}}}"""
SHORT = f"""'"><b {PLACEHOLDER}>"""
# Columns that contain text: a player's, a member of staff's, a provider's, a browser's.
WORDS = """
    authorisation because billing_address_1 billing_address_2 billing_city billing_first_name billing_last_name
    billing_phone billing_postcode browser cause city description document_number evidence failure family_name
    fraud_message given_names ip last_error last_four message method name note number phone postal_code reason reference
    refusal register removed_by said sentence source street subject terms_version text title transaction_id value
"""
ASKED = """
    about account action after amount as before by category chosen code currency day doubt email evidence first form
    from given hours id item kind last mark name next number on order page period player q reason role round settled
    since staff state status table text to until variant verdict weight what which who whose year zone state__exact
    category__exact
"""
OF_STAFF = [line for line in LINES if line.name.startswith("staff_")]


# Columns that the texts must have reached; otherwise nothing was tried.
SPOILT = {
    "audit_approval.reason",
    "games_chatmessage.text",
    "games_playreport.text",
    "games_table.name",
    "players_note.text",
    "players_servicemessage.text",
    "players_session.browser",
    "players_staff.name",
    "players_submission.family_name",
    "wallet_payment.message",
    "wallet_statement_line.reference",
}
ON_PAGES = {
    "staff_list_audit_event_row",
    "staff_significant",
    "staff_list_games_incident_row",
    "staff_list_games_table",
    "staff_approval",
    "staff_chat_log",
    "staff_deposit",
    "staff_events",
    "staff_identity_case",
    "staff_people",
    "staff_player",
    "staff_player_notes",
    "staff_player_sessions",
    "staff_service_thread",
    "staff_significant_event",
    "staff_statement",
    "staff_withdrawals",
}


class Written(HTMLParser):
    """Finds hostile text in a page outside of its text: the page's faults."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self._is_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Look at the names of an element and of its attributes, and at what a script would evaluate."""
        self._is_script = tag in ("script", "style")
        for name, value in attributes:
            is_code = name.startswith(("x-", "@", ":", "on", "hx-on", "hx-vals", "style", "srcdoc"))
            is_script = (value or "").strip().lower().startswith(("javascript:", "data:text", "vbscript:"))
            if PLACEHOLDER in name or (PLACEHOLDER in (value or "") and (is_code or is_script)):
                self.faults.append(f"<{tag} {name}={value!r}>")
        if PLACEHOLDER in tag:
            self.faults.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        """Leave a script."""
        self._is_script = False

    def handle_data(self, data: str) -> None:
        """Look at what a script says."""
        if self._is_script and PLACEHOLDER in data:
            self.faults.append(f"script: {data[:80]!r}")


def columns() -> Iterator[tuple[str, str, int | None]]:
    """Yield every column that contains text, with its maximum length."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if (
                isinstance(field, models.CharField | models.TextField)
                and field.name in WORDS.split()
                and not field.choices
            ):
                yield model._meta.db_table, str(field.column), field.max_length


def spoil() -> set[str]:
    """Write it into all columns that the database allows, with the guards off; return these columns."""
    spoilt = set()
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        for table in {"players_user", *(table for table, _, _ in columns())}:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for table, column, longest in columns():
            text = TEXT if longest is None or longest >= len(TEXT) else SHORT
            try:
                with transaction.atomic("owner"):
                    cursor.execute(f"UPDATE {table} SET {column} = %s", [text[:longest]])
            except DatabaseError:  # what it refuses, no page holds
                continue
            if cursor.rowcount:
                spoilt.add(f"{table}.{column}")
        cursor.execute("UPDATE games_table SET name = id || %s", [SHORT])  # no two have one name
        spoilt.add("games_table.name")
        cursor.execute(
            "UPDATE players_user SET email = id || %s WHERE id IN (SELECT user_id FROM players_player)", [TEXT]
        )
    return spoilt


class Spoilt(House):
    """A house with an event of which the data is hostile."""

    event_id: int


@pytest.fixture(scope="module")
def spoilt(house: Spoilt) -> Spoilt:
    """A house in which every page of staff has something on it, and all that was written is hostile."""
    for line in OF_STAFF:
        line.arguments(house)
        line.data(house)
    a_withdrawal(a_verified_player(real=100_000))
    for role in STAFF:
        house.visitor(role)
    staff.add(player=house.player, text="Likes to be called.", restricted=False, by=house.finance)
    Session.objects.create(id=uuid4(), user=house.player.user, ip="192.0.2.7", browser="Firefox")
    with transaction.atomic():
        event = log.record("note.added", by="system", on=str(house.player), data={TEXT: TEXT})
    assert spoil() >= SPOILT
    house.event_id = event
    return house


@pytest.fixture(autouse=True)
def world(spoilt: Spoilt) -> Iterator[Spoilt]:
    """The same house, in which nobody has done anything else."""
    with undone():
        yield spoilt


def reader(line: Line) -> str | None:
    """Return a role that gets a page there."""
    found = [role for role in STAFF if line.answers[role] is PAGE]
    return ("compliance" if "compliance" in found else found[0]) if found else None


def pages(world: Spoilt, parts: int, also: Collection[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield every page of staff, and of every list the first row: name, role, address. `make test` looks at one of
    *parts* pages, and at those named *also*.
    """
    lines, listings = share(OF_STAFF, parts), share(LISTS, parts)
    for line in OF_STAFF:
        if line not in lines and line.name not in also:
            continue
        role = reader(line)
        if line.method == "GET" and role:
            yield line.name, role, line.url(world)
    one = "staff_list_audit_event_row"
    yield one, "compliance", reverse(one, args=[world.event_id])
    visitor = world.visitor("compliance")
    for listing in LISTS:
        if listing not in listings and listing.url_name("row") not in also:
            continue
        listed: Any = visitor.get(reverse(listing.url_name()))
        for row in listed.context["page"].rows[:1]:
            yield listing.url_name("row"), "compliance", reverse(listing.url_name("row"), args=[row.pk])


def faults(answer: Any) -> list[str]:
    """Return the faults of a page."""
    if answer.status_code >= 500:
        return [str(answer.status_code)]
    return Written(answer.text).faults if "html" in answer["Content-Type"] else []


def test_what_was_written_stays_text_on_every_page(world):
    found, shown = {}, set()
    for name, role, address in pages(world, parts=12, also=ON_PAGES):
        visitor = world.visitor(role)
        visitor.raise_request_exception = False
        with transaction.atomic():
            answer = visitor.get(address)
        if wrong := faults(answer):
            found[name] = (wrong, getattr(answer, "exc_info", None) and repr(answer.exc_info[1])[:200])
        if "html" in answer["Content-Type"] and PLACEHOLDER in answer.text:
            shown.add(name)
    assert found == {}
    assert shown >= ON_PAGES


@pytest.mark.sweep
def test_what_is_asked_for_in_an_address_stays_text(world):
    found = {}
    for name, role, address in pages(world, parts=5):
        visitor = world.visitor(role)
        visitor.raise_request_exception = False
        with transaction.atomic():
            answer = visitor.get(f"{address}?{urlencode(dict.fromkeys(ASKED.split(), TEXT))}")
        if wrong := faults(answer):
            found[name] = wrong
    assert found == {}
