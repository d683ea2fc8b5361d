"""Attacks on every address of `tests/matrix.py`: open redirects, unknown fields, values that are SQL,
texts that are markup.

What staff see of the last two is tested in `tests/pages/test_hostile_*.py`.
"""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit
from uuid import uuid4

import pytest
from allauth.account import app_settings
from allauth.mfa import app_settings as factors
from django.db import DatabaseError, transaction

from players import rates
from players.models import Player, Session, Staff, User
from tests.harness.sweeps import TURN, in_turn, share
from tests.matrix import FORBIDDEN, INSIDE, LINES, LOG_IN, NOT_FOUND, ROLES, UNSIGNED, Line
from tests.pages.house import House, undone
from tests.pages.test_hostile_rows import PLACEHOLDER, TEXT, Written, spoil
from wallet.models import Account

HOST = "testserver"
SHUT = (FORBIDDEN, NOT_FOUND, LOG_IN, UNSIGNED)
OF_PLAYERS = [line for line in LINES if not line.name.startswith("staff_")]


def insider(line: Line) -> str | None:
    """Return a role that gets in there: a player before staff."""
    return next((role for role in (*ROLES[1:], "anonymous") if line.answers[role] not in SHUT), None)


def ask(
    house: House, line: Line, role: str, query: str = "", data: dict[str, Any] | None = None, **headers: str
) -> Any:
    """Ask as the line says, with more in the address, the form and the headers. A fault of ours comes back as 500."""
    visitor = house.visitor(role)
    visitor.raise_request_exception = False
    url = line.url(house)
    if line.method == "GET":
        return visitor.get(f"{url}{'&' if '?' in url else '?'}{query}", headers=headers)
    return visitor.post(f"{url}?{query}", dict(line.data(house)) | (data or {}), headers=headers)


def prepared(house: House, lines: list[Line]) -> None:
    """Create the objects of the addresses before anything is rolled back."""
    for line in lines:
        line.arguments(house)
        line.data(house)
    for role in ROLES:
        house.visitor(role)


# --- Leading elsewhere -----------------------------------------------------------------------------------------------

LEADS = "next to url return return_to return_url redirect redirect_to redirect_uri goto continue back from onward"
EVIL = ("//evil.example/", "https://evil.example/", "/\\evil.example/", f"http://{HOST}@evil.example/")
LEADING = ("Location", "HX-Redirect", "HX-Location", "HX-Push-Url", "HX-Replace-Url", "Refresh")


def leads_out(address: str) -> bool:
    """Return whether a browser that follows the address leaves the house. Backslashes count as slashes."""
    parts = urlsplit(urljoin(f"http://{HOST}/en/", address.replace("\\", "/")))
    return parts.scheme not in ("http", "https") or parts.netloc != HOST


@pytest.mark.parametrize("address", [*EVIL, "javascript:alert(1)"])
def test_leading_out_would_be_seen(address):
    assert leads_out(address)
    assert not leads_out("/en/cashier/?next=//evil.example/")


def test_nothing_leads_out_of_the_house(house):
    """Nothing in an address, a form or a header decides where the visitor is led."""
    lines = share((line for line in LINES if {INSIDE, LOG_IN} & set(line.answers.values())), parts=12)
    prepared(house, lines)
    led, seen = [], 0
    for number, line in enumerate(lines):
        evil = EVIL[number % len(EVIL)]
        asked = dict.fromkeys(LEADS.split(), evil)
        headers = {"Referer": evil, "Origin": "null", "X-Forwarded-Host": "evil.example"}
        if number % 2:
            headers |= {"HX-Request": "true", "HX-Current-URL": evil}
        # One function redirects people to the log-in page: every tenth address shows it.
        for role in filter(None, (insider(line), "anonymous" if number % 10 == 0 else None)):
            with undone():
                answer = ask(house, line, role, urlencode(asked), dict(asked), **headers)
            seen += any(answer.get(name) for name in LEADING)
            led += [
                (line.name, role, name, answer[name])
                for name in LEADING
                if answer.get(name) and leads_out(answer[name].removeprefix("0;url="))
            ]
    # A real bank has another host, to which the house redirects; the demo's bank has this one.
    assert led == []
    assert seen > len(lines) / 5  # or nothing was tried


# --- Fields that no form has -----------------------------------------------------------------------------------------

MORE_FIELDS = {
    "is_staff": "on",
    "is_superuser": "on",
    "is_active": "on",
    "is_demo": "on",
    "is_verified": "on",
    "verified": "on",
    "balance": "999999999",
    "held": "0",
    "owner": "1",
    "owner_id": "1",
    "player": "1",
    "player_id": "1",
    "user": "1",
    "user_id": "1",
    "staff": "1",
    "roles": "administrator",
    "permissions": "players.ask_staff",
    "jurisdiction": "DE",
    "jurisdiction_id": "DE",
    "birth_date": "1950-01-01",
    "currency": "RON",
    "state": "paid",
    "approved": "on",
    "decided_by": "1",
    "person": str(uuid4()),
    "payout": "999999999",
    "seed": "00" * 32,
    "result": "player",
    "shoe": "1",
}

CHANGING = {"cashier_top_up", "live_top_up", "table_rebuy"}  # forms that do change existing rows


def stored_rows() -> dict[str, list[Any]]:
    """Return the rows of accounts, rights and money."""
    return {
        "users": list(User.objects.order_by("pk").values_list("pk", "email", "is_active", "is_demo", "password")),
        "players": list(Player.objects.order_by("pk").values_list()),
        "staff": list(Staff.objects.order_by("pk").values_list()),
        "accounts": list(
            Account.objects.order_by("pk").values_list("pk", "owner", "kind", "currency", "mode", "balance")
        ),
    }


def changes(row: Any, before: list[Any]) -> Any:
    """Return a row that is new or has changed; a new one has another number each time."""
    return row if row[0] in {each[0] for each in before} else row[1:]


def test_no_field_that_a_form_does_not_have_does_anything(house):
    """Every form does the same with as without them: its object comes from the address and from the sender."""
    lines = [line for line in LINES if line.method == "POST" and insider(line)]
    drawn = share(lines, parts=12)
    lines = [line for line in lines if line in drawn or line.name in CHANGING]
    prepared(house, lines)
    changed, tried = [], 0
    for line in lines:
        role = insider(line) or ""
        more = {name: value for name, value in MORE_FIELDS.items() if name not in line.data(house)}
        found = []
        for sent in ({}, more):
            with undone():
                before = stored_rows()
                status = ask(house, line, role, data=sent).status_code
                after = stored_rows()
            new = {
                what: [changes(row, before[what]) for row in rows if row not in before[what]]
                for what, rows in after.items()
            }
            found.append((status, new))
        tried += any(found[0][1].values())
        if found[0] != found[1]:
            changed.append((line.name, found))
    assert changed == []
    assert tried  # some forms do change these


# --- Haste -----------------------------------------------------------------------------------------------------------

# Limits on forms other than the pace of a person.
BY_ALLAUTH = "allauth's counts of requests: by address, by user"
A_MINUTE = "thirty a minute"
UNPACED = {
    BY_ALLAUTH: """
        account_change_password account_complete_password_reset account_email account_login account_reauthenticate
        account_signup account_unlock mfa_login_webauthn
    """,
    "what is filled in is counted, as `test_people.py` and `tests/players/test_security.py` show": """
        account_email_verification_sent account_reset_password mfa_authenticate
    """,
    "the password is asked for first, which is counted": """
        account_api_token_new mfa_activate_totp mfa_add_webauthn mfa_deactivate_totp mfa_edit_webauthn
        mfa_generate_recovery_codes mfa_remove_webauthn
    """,
    "a person without a second factor is led on; else its codes are counted": """
        mfa_reauthenticate mfa_reauthenticate_webauthn
    """,
    A_MINUTE: """
        account_close account_data_export demo_start demo_watch documents identity identity_confirm service_close
        service_new service_reopen service_thread
    """,
    "it protects a player, and is taken while nobody can count": """
        account_logout account_session_end account_sessions_end account_api_token_revoke exclude_self limits
        limits_confirm limits_decline limits_review limits_withdraw pause reality_check reality_interval time_out
    """,
    "it writes nothing, or once": "session_stay set_language terms_agree",
}


def refused_as_too_many(house: House, asked: Collection[str]) -> set[str]:
    """Return which of these forms are refused as too many, whether a player or a visitor sends them."""
    lines = [line for line in OF_PLAYERS if line.method == "POST" and line.name in asked and insider(line)]
    prepared(house, lines)
    refused = set()
    for line in lines:
        for role in {insider(line) or "", "anonymous"}:
            with undone():
                if ask(house, line, role).status_code == 429:
                    refused.add(line.name)
    return refused


def assert_alone_too_many(house: House, names: str) -> None:
    """Check that of all forms of players only these are refused; of the others `make test` tries a fifth."""
    others = share(sorted({line.name for line in OF_PLAYERS} - set(names.split())), parts=5)
    assert refused_as_too_many(house, {*names.split(), *others}) == set(names.split())


def test_every_form_of_a_player_has_a_pace(house, settings):
    settings.FORMS_PER_SECOND = 0
    of_players = {line.name for line in OF_PLAYERS if line.method == "POST" and insider(line)}
    unpaced = {name for names in UNPACED.values() for name in names.split()}
    assert of_players - refused_as_too_many(house, of_players) == unpaced


@pytest.mark.sweep
def test_what_is_begun_now_and_then_has_a_pace(house, monkeypatch):
    monkeypatch.setattr(rates, "STARTS", 0)
    assert_alone_too_many(house, UNPACED[A_MINUTE])


@pytest.mark.sweep
def test_what_allauth_counts_is_counted(house, settings):
    settings.ACCOUNT_RATE_LIMITS = dict.fromkeys(app_settings.RATE_LIMITS, "0/m/ip")
    settings.MFA_RATE_LIMITS = dict.fromkeys(factors.RATE_LIMITS, "0/m/ip")
    assert_alone_too_many(house, UNPACED[BY_ALLAUTH])


# --- SQL -------------------------------------------------------------------------------------------------------------

SQL = {
    "always": "x' OR '1'='1' -- %s%(a)s%%",
    "asleep": "1 OR pg_sleep(30) IS NULL",
    "a NUL": "a\0b",
    "beyond a bigint": str(2**63),
    "markup": TEXT,
}
ASKED = """
    account after amount as at before begin bet code currency day days doubt email ended end first form from game given
    hours id jurisdiction kind language last limit mark mode month name next number on only order outcome page period
    player q reason role round search session settled since sort state status table text to until variant what which
    who year zone too-much
"""


def test_gli19_b_3_1_no_value_in_an_address_is_sql_or_markup_to_a_page_of_players(house, is_sweep):
    """`make test` asks a quarter of the pages with one of the values."""
    lines = share((line for line in OF_PLAYERS if line.method == "GET" and insider(line)), parts=4)
    prepared(house, lines)
    wrong = []
    for number, line in enumerate(lines, TURN):
        for what, value in in_turn(SQL.items(), number, is_sweep):
            with undone(), transaction.atomic():
                answer = ask(house, line, insider(line) or "", urlencode(dict.fromkeys(ASKED.split(), value)))
                if answer.status_code >= 500:
                    wrong.append((line.name, what, str(answer.status_code)))
                elif what == "markup" and not answer.streaming and "html" in answer["Content-Type"]:
                    wrong += [(line.name, what, fault) for fault in Written(answer.text).faults]
    assert wrong == []


# --- Headers ---------------------------------------------------------------------------------------------------------


def test_roles_get_no_further_by_what_they_say_they_are(house):
    """Headers that some servers believe."""
    line = next(line for line in LINES if line.name == "staff_home")
    prepared(house, [line])
    for headers in (
        {"X-Forwarded-User": "administrator"},
        {"X-Remote-User": "1"},
        {"Remote-User": "1"},
        {"X-Original-URL": "/staff/"},
        {"X-Rewrite-URL": "/staff/"},
    ):
        with undone():
            assert ask(house, line, "player", "", None, **headers).status_code == 403
        with undone():
            assert house.visitor("player").get("/en/terms/", headers=headers).context["request"].path == "/en/terms/"


# --- Markup ----------------------------------------------------------------------------------------------------------

# Pages that must show what was written; otherwise nothing was tried.
SHOWN = {"account_sessions", "live_chat", "lobby", "service_thread"}


def test_what_was_written_stays_text_on_every_page_of_players(house):
    """The last test of this house: its damage stays. `make test` checks a third of the pages."""
    lines = [line for line in OF_PLAYERS if line.method == "GET" and insider(line)]
    drawn = share(lines, parts=3)
    lines = [line for line in lines if line in drawn or line.name in SHOWN]
    prepared(house, lines)
    Session.objects.create(id=uuid4(), user=house.player.user, ip="192.0.2.7", browser="Firefox")
    addresses = [(line, line.url(house)) for line in lines]
    spoil()
    found, shown = {}, set()
    for line, address in addresses:
        visitor = house.visitor("player" if line.answers["player"] not in SHUT else insider(line) or "")
        visitor.raise_request_exception = False
        try:
            with undone():
                answer = visitor.get(address)
                sent = b"".join(answer.streaming_content) if answer.streaming else answer.content
                text = sent.decode("utf-8", "replace")
        except DatabaseError as error:
            found[line.name] = [repr(error)]
            continue
        if answer.status_code >= 500:
            found[line.name] = [f"{answer.status_code} {getattr(answer, 'exc_info', None) and answer.exc_info[1]!r}"]
        elif "html" in answer["Content-Type"]:
            if wrong := Written(text).faults:
                found[line.name] = wrong
            if PLACEHOLDER in text:
                shown.add(line.name)
        else:
            assert answer["X-Content-Type-Options"] == "nosniff"
    assert found == {}
    assert shown >= SHOWN
