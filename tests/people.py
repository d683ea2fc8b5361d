"""Staff, log-ins and what the event log says of them, for tests."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.test import Client

from audit.models import Event
from players.login import second_factor
from players.models import Mail, Player, Staff, User

PASSWORD = "walking-the-dog-7"
LEAST = "support"  # the role of the person who has none that matters
_hosts = count(1)
ROLES = {
    "operator": {
        "players.work",
        "players.answer_service",
        "players.publish_notices",
        "games.operate_table",
        "games.view_incident",
    },
    "supervisor": {
        "players.work",
        "players.publish_notices",
        "games.operate_table",
        "games.view_incident",
        "games.supervise_table",
        "games.examine_play",
        "games.moderate_chat",
        "games.read_chat",
        "players.write_replies",
        "games.view_returns",
        "games.change_stoppolicy",
        "games.change_table",
        "games.decide_table",
        "wallet.approve_withdrawal",
        "wallet.stop_house",
        "wallet.view_partners",
        "wallet.decide_partner",
    },
    "finance": {
        "players.work",
        "players.view_player",
        "players.note_players",
        "wallet.view_ledger",
        "wallet.approve_withdrawal",
        "wallet.decide_adjustment",
        "wallet.enter_exchange_rates",
        "wallet.reconcile",
        "wallet.handle_deposit",
        "wallet.release_withdrawal",
        "wallet.decide_deposit",
        "wallet.settle_operator_messages",
        "wallet.view_partners",
        "wallet.ask_partner",
        "audit.view_report",
        "audit.export_rows",
    },
    "administrator": {
        "players.work",
        "players.ask_staff",
        "players.decide_staff",
        "players.decide_national_rules",
        "wallet.manage_webhooks",
    },
    "compliance": {
        "players.work",
        "players.decide_staff",
        "players.ask_national_rules",
        "players.decide_national_rules",
        "audit.view_event",
        "players.view_player",
        "audit.view_approval",
        "audit.change_retention",
        "audit.view_report",
        "audit.export_rows",
        "audit.handle_significant",
        "audit.change_threshold",
        "games.decide_table",
        "games.view_returns",
        "wallet.view_ledger",
        "wallet.see_withdrawals",
        "wallet.see_statements",
        "wallet.see_deposits",
        "wallet.release_withdrawal",
        "wallet.decide_deposit",
        "wallet.view_partners",
        "games.view_incident",
        "games.view_table",
        "games.examine_play",
        "games.read_chat",
        "players.set_limits",
        "players.lock_player",
        "wallet.ask_adjustment",
        "players.review_identity",
        "players.answer_service",
        "players.decide_complaint",
        "players.exclude_player",
        "players.see_flags",
        "players.note_players",
        "players.write_replies",
        "players.use_tokens",
        "wallet.see_webhooks",
    },
    "support": {
        "players.work",
        "players.view_player",
        "players.set_limits",
        "players.lock_player",
        "wallet.ask_adjustment",
        "players.review_identity",
        "players.answer_service",
        "players.decide_complaint",
        "players.exclude_player",
        "players.see_flags",
        "players.note_players",
        "games.moderate_chat",
        "games.read_chat",
    },
}
"""The rights of each staff role. The database is compared with it; the back office's matrix is derived from it."""


def roles_with(permissions: Iterable[str]) -> tuple[str, ...]:
    """Return the roles that have any of these permissions."""
    wanted = set(permissions)
    return tuple(role for role, held in ROLES.items() if held & wanted)


def a_member_of_staff(
    *roles: str, password: str | None = None, name: str = "Someone", person: UUID | None = None, factor: bool = True
) -> Staff:
    """Someone who works here in these roles, with a second factor unless *factor* is false; without *password* only
    `Client.force_login` lets them in. *person* is that of another account of the same human.
    """
    user = User.objects.create_user(f"staff.{uuid4().hex[:8]}@example.com", password, verified=True)
    if factor:
        second_factor.give(user)
    return employed(user, *roles, name=name, person=person)


def employed(user: User, *roles: str, name: str = "Someone", person: UUID | None = None) -> Staff:
    """Return the member of staff that this log-in becomes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tests.employ(%s, %s, %s::text[], %s)", [user.pk, name, list(roles or [LEAST]), person])
        (number,) = cursor.fetchone()
    staff = Staff.objects.get(pk=number)
    staff.user = user
    return staff


def a_visitor(**options: Any) -> Client:
    """A browser with a unique IP address, so that no other test uses up its log-in attempts."""
    number = next(_hosts)
    address = f"10.{uuid4().int % 256}.{number // 256 % 256}.{number % 256}"
    return Client(REMOTE_ADDR=address, **options)


def log_in(visitor: Client, user: User, password: str = PASSWORD, **data: str) -> Any:
    """Send the log-in form in English and return the answer."""
    return visitor.post("/en/account/login/", {"login": user.email, "password": password} | data)


def last_mail(address: str, template: str = "") -> Mail:
    """Return the newest mail to an address, or the newest made from that template."""
    mails = Mail.objects.filter(address=address)
    return (mails.filter(template=template) if template else mails).latest("id")


def mailed_code(address: str, template: str = "") -> str:
    """Return the code in the newest mail to an address: it is on a separate line."""
    code = re.search(r"^ *([A-Z0-9]{4,}(?:-[A-Z0-9]{4,})*)$", last_mail(address, template).body, re.MULTILINE)
    assert code, "no code in the mail"
    return code[1]


def give_code(visitor: Client, user: User) -> Any:
    """Send the second step of a log-in, with a code of the authenticator app."""
    return visitor.post("/en/account/login/code/", {"code": second_factor.code_of(user)})


def confirm_address(visitor: Client, address: str) -> Any:
    """Send the code that was mailed to the address of the person who has just registered."""
    return visitor.post("/en/account/verify/", {"code": mailed_code(address, "verify_address")})


def events(kind: str, **filters: str) -> list[dict[str, Any]]:
    """Return the bodies of all events of a kind, oldest first."""
    return list(_bodies(kind, **filters))


def documents_seen(player: Player) -> list[str]:
    """Return the documents of a player that staff have looked at, in that order."""
    seen = (event["data"] for event in events("data.accessed", on=str(player)))
    return [said["what"] for said in seen if said["page"] == "staff_document"]


def _bodies(kind: str, **filters: str) -> Iterator[dict[str, Any]]:
    for event in Event.objects.filter(kind=kind, **filters).order_by("id"):
        yield json.loads(bytes(event.body))
