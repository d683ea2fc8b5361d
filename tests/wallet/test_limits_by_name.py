"""The rules of Great Britain, Sweden and Denmark for the names, the fields and the places of limits."""

import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from players.models import LimitKind, Period
from players.protection.limits import LIMIT_KINDS, decline_offer, own_limits, set_limit
from tests.builders import a_newcomer, a_player
from tests.wallet.money_moves import a_round
from wallet.limits import usage

pytestmark = pytest.mark.django_db

CODES = ["SE", "DK", "RO", "DE", "GB"]
LANGUAGES = [code for code, _ in settings.LANGUAGES]


def browser_of(player):
    browser = Client()
    browser.force_login(player.user)
    return browser


@pytest.mark.parametrize("language", LANGUAGES)
def test_gb_the_gross_limit_alone_is_called_a_deposit_limit(language):
    with override(language):
        name = str(LIMIT_KINDS[LimitKind.DEPOSIT].title)
        words = {"en": "deposit", "sv": "insättning", "da": "indbetaling", "ro": "depun", "de": "einzahlung"}
        assert words[language] in name.lower()
        assert words[language] in str(LIMIT_KINDS[LimitKind.DEPOSIT].reached[Period.DAY]).lower()
        for kind in set(LimitKind) - {LimitKind.DEPOSIT}:
            texts = LIMIT_KINDS[kind]
            for text in (texts.title, texts.meaning, *texts.reached.values()):
                assert words[language] not in str(text).lower()


def test_gb_a_withdrawal_gives_no_room_back():
    player = a_player("GB", real=10_000)
    a_round(player, staked=4_000, paid=1_000)
    used = usage(player)
    assert (used[LimitKind.DEPOSIT, Period.DAY], used[LimitKind.STAKE, Period.DAY]) == (10_000, 4_000)


def test_gb_the_deposit_limit_is_first_and_as_prominent_as_any_other():
    page = browser_of(a_player("GB")).get(reverse("limits")).text
    headings = re.findall(r'<h2 id="([a-z]+)">([^<]+)</h2>', page)
    assert headings[0] == (LimitKind.DEPOSIT, "Deposit limit")
    assert len(headings) == len(LimitKind)
    for kind in LimitKind:
        for period in Period:
            assert len(re.findall(rf'<input type="text" name="{kind.value}-{period.value}"', page)) == 1


@pytest.mark.parametrize(
    ("code", "typed"),
    [("SE", "1 234,56"), ("DK", "1.234,56"), ("RO", "1.234,56"), ("DE", "999,99"), ("GB", "1,234.56")],
)
def test_dk_gb_any_amount_is_typed_freely(code, typed):
    player = a_player(code)
    with override(player.jurisdiction.language):
        sent = {f"deposit-{period.value}": typed for period in Period} | {"deposit-kind": "deposit"}
        assert browser_of(player).post(reverse("limits"), sent).status_code == 302
    assert own_limits(player)[LimitKind.DEPOSIT, Period.MONTH] == int(re.sub(r"\D", "", typed))


@pytest.mark.parametrize("code", CODES)
def test_gb_the_limits_are_linked_where_players_arrive_and_where_they_deposit(code):
    browser = browser_of(a_player(code))
    for page in ("lobby", "cashier"):
        assert f'href="{reverse("limits")}"' in browser.get(reverse(page)).text


@pytest.mark.parametrize("code", CODES)
def test_no_deposit_begins_before_the_player_was_asked_for_limits(code):
    player = a_newcomer(code)
    reserve = "SELECT wallet_reserve(%s, %s, 1000)"
    with (
        pytest.raises(DatabaseError, match="was not asked for limits"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(reserve, [uuid4(), player.pk])
    if player.jurisdiction.deposit_limits == "required":
        for period in player.jurisdiction.deposit_periods:
            set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period(period), amount=5000, by=str(player))
    else:
        decline_offer(player=player)
    with connection.cursor() as cursor:
        cursor.execute(reserve, [uuid4(), player.pk])
