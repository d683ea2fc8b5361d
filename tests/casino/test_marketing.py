"""Denmark: no marketing without asking the register, and no money from player to player.

There is no marketing. Who adds some has to ask the register of each player before it is sent
(`players.protection.registers.ask_where_stale`, then `eligibility.check_play`), as these tests say.
"""

import json
import re
from uuid import uuid4

import pytest
from django.urls import get_resolver

from tests.attacks.statements import refused
from tests.builders import a_player
from tests.harness.product import PROJECT, mails, modules
from tests.wallet.money_moves import cash

LETTERS = {
    "about the account": {
        *("account_changed", "account_closed", "account_let_in", "account_locked", "account_unlocked"),
        *("already_registered", "no_account", "reset_password", "token_revoked", "unlock", "verify_address"),
    },
    "about identity and protection": {
        *("identity_refused", "identity_verified", "limits_by_house", "limits_reminder", "stopped_by_house"),
        *("documents_asked", "documents_refused", "documents_reminder"),
    },
    "answers of customer service": {
        *("complaint_decided", "complaint_reopened", "incident_letter", "service_answer", "service_closed"),
        "service_message",
    },
    "about money of the player": {
        *("balance_adjusted", "deposit_credited", "deposit_declined", "deposit_held"),
        *("deposit_returned", "withdrawal_approved", "withdrawal_cancelled", "withdrawal_paid"),
        *("withdrawal_refused", "withdrawal_requested"),
        "withdrawal_returned",
    },
}
"""Every letter to players, by its subject. None of them offers anything."""
PUSH = re.compile(
    r"PushManager|pushManager|showNotification|Notification\.requestPermission|webpush|\bfcm\b|apns", re.I
)
OFFER = re.compile(r"bonus|promo|campaign|marketing|newsletter|voucher|freebet|cashback|referral", re.I)
GIVE = re.compile(r"transfer|gift|donat|tip\b|send.?money|peer", re.I)
ANY = (
    "withdraw",
    "rebuy",
    "leave",
    "studio_stake",
    "operator_bet",
    "operator_return",
    "adjustment",
    "deposit",
    "stake",
)


def addresses(patterns=None, before: str = "") -> list[str]:
    """Return name and path of every URL of the house."""
    found = []
    for each in patterns if patterns is not None else get_resolver().url_patterns:
        path = before + str(each.pattern)
        inner = getattr(each, "url_patterns", None)
        found += addresses(inner, path) if inner is not None else [f"{getattr(each, 'name', '')} {path}"]
    return found


def test_dk_every_letter_to_players_is_a_service_letter():
    assert mails("mail") == set().union(*LETTERS.values())


def test_dk_no_push_message_is_sent():
    sources = [path for folder in ("static", "templates", "fragments") for path in (PROJECT / folder).rglob("*")]
    sources += [path for _, path in modules()]
    texts = [path for path in sources if path.suffix in {".py", ".js", ".html"} and "vendor" not in path.parts]
    assert len(texts) > 300
    assert [str(path) for path in texts if PUSH.search(path.read_text(encoding="utf-8"))] == []


def test_dk_no_page_offers_a_bonus_or_a_transfer():
    everywhere = addresses()
    assert len(everywhere) > 200
    assert [each for each in everywhere if OFFER.search(each) or GIVE.search(each)] == []


@pytest.mark.django_db
def test_dk_no_journal_that_the_application_posts_moves_money_between_players():
    """`tests/wallet/test_ledger.py` has those of the games, under `TestBetweenPlayers`."""
    giver, taker = a_player("DK", real=1_000_00), a_player("DK")
    amounts = [[cash(giver), "DKK", "R", -100_00], [cash(taker), "DKK", "R", 100_00]]
    for kind in ANY:
        gift = [{"key": str(uuid4()), "kind": kind, "round": None, "lines": amounts}]
        refused("SELECT count(*) FROM wallet_post(%s::jsonb)", json.dumps(gift), by="SB009")
    gift = [{"key": str(uuid4()), "kind": "void_transfer", "round": str(uuid4()), "lines": amounts}]
    refused("SELECT count(*) FROM wallet_post(%s::jsonb)", json.dumps(gift), by="SB010")
