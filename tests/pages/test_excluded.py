"""A person who pauses or is excluded logs in, withdraws and reads, and can do nothing else at any address."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from games.models import SoloSeat
from players.models import Player
from players.protection import eligibility, exclusions
from tests.builders import PASSWORD, a_player, a_round, a_seat, a_table, a_verified_player
from tests.harness.owner import readable_tables
from tests.harness.sweeps import share, sweep
from tests.matrix import FORBIDDEN, LINES, PAGE, Line
from tests.pages.house import House, undone
from tests.pages.test_matrix import STATUS
from tests.people import a_visitor, log_in
from tests.wallet.payout_builders import IBAN
from wallet.ledger import accounts
from wallet.models import Journal, Mode, Withdrawal

# Actions that a player who does not play can still take, with the reasons.
LIMITS = "a stricter limit holds at once; a looser one waits, and limits outlive an exclusion"
SECURITY = "the account is kept safe"
STOPPING = "a player who has stopped may stop for longer, or choose how they are reminded of their time later"
OPEN = {
    "set_language": "the house speaks the reader's language",
    "account_logout": "leaving",
    "account_unlock": SECURITY,
    "account_email_verification_sent": SECURITY,
    "account_reset_password": "logging in to withdraw",
    "account_confirm_password_reset_code": "logging in to withdraw",
    "account_complete_password_reset": "logging in to withdraw",
    "mfa_authenticate": "logging in to withdraw",
    "account_email": SECURITY,
    "account_change_password": SECURITY,
    "mfa_activate_totp": SECURITY,
    "mfa_add_webauthn": SECURITY,
    "mfa_edit_webauthn": SECURITY,
    "mfa_remove_webauthn": SECURITY,
    "mfa_generate_recovery_codes": SECURITY,
    "mfa_deactivate_totp": SECURITY,
    "account_reauthenticate": SECURITY,
    "mfa_reauthenticate": SECURITY,
    "mfa_reauthenticate_webauthn": SECURITY,
    "identity": "who is not known to the house cannot withdraw",
    "documents": "who does not send the documents asked for cannot withdraw",
    "identity_confirm": "who is not known to the house cannot withdraw",
    "sandbox_eid": "an eID's own page: who is not known to the house cannot withdraw",
    "table_leave": "the money in a game returns to where it can be withdrawn from",
    "service_new": "complaints, and questions about the money",
    "service_thread": "complaints, and questions about the money",
    "service_close": "complaints, and questions about the money",
    "service_reopen": "complaints, and questions about the money",
    "pay_callback": "the provider speaks, not the player: money that has left a bank is credited, and can be withdrawn",
    "pay_return": "the provider speaks, not the player: money that has left a bank is credited, and can be withdrawn",
    "payout_callback": "the provider speaks, not the player",
    "sandbox_bank": "a bank's own page, for a payment begun before: declining it is one of its answers",
    "cashier_withdraw": "withdrawing",
    "cashier_withdraw_cancel": "money that was set aside comes back, to be withdrawn another way; nothing is deposited",
    "account_sessions_end": SECURITY,
    "account_session_end": SECURITY,
    "account_api_token_new": "a program does what its owner may do, and asks the same questions",
    "account_api_token_revoke": SECURITY,
    "favourite_table": "a table marked to be found again; nothing is staked there",
    "chemin_report": "a player of a table reports how others played there; nothing is played",
    "session_stay": "reading on without being logged out",
    "terms_agree": "the terms also say how withdrawals work",
    "account_close": "leaving for good",
    "account_data_export": "what the house knows of somebody is theirs",
    "pause": STOPPING,
    "time_out": STOPPING,
    "exclude_self": STOPPING,
    "reality_interval": STOPPING,
    "reality_check": STOPPING,
    "limits": LIMITS,
    "limits_withdraw": LIMITS,
    "limits_confirm": LIMITS,
    "limits_decline": LIMITS,
    "limits_review": LIMITS,
    "live_cut": "adds chance to a shuffle, and no stake",
    "live_squeeze": "shows the others a card that lies open, and no stake",
}
# Actions that are refused to such a player, also if an old page sends them.
BARRED = {
    "table_play",
    "table_now",
    "live_bet",
    "chemin_act",
    "chemin_seat",
    "live_chips",
    "live_favourites",
    "live_chat_say",
    "live_chat_name",
    "live_chat_report",
    "live_chat_block",
    "live_chat_unblock",
    "live_top_up",
    "table_rebuy",
    "cashier_deposit",
    "cashier_top_up",
    "demo_start",
    "demo_play",
    "demo_watch",
}
# For people who are not logged in; everyone else is redirected.
STRANGERS = {"account_login", "account_signup", "mfa_login_webauthn"}

POSTS = [line for line in LINES if line.method == "POST" and line.answers["player"] is not FORBIDDEN]
PLAYERS_PAGES = [line for line in LINES if line.method == "GET" and line.answers["player"] is not FORBIDDEN]


def exclude_self(player: Player) -> None:
    exclusions.exclude_self(player=player, months=12, by=str(player))


def pause(player: Player) -> None:
    exclusions.pause(player=player, by=str(player))


STOPS: list[Callable[[Player], None]] = [exclude_self, pause]
every_stop = pytest.mark.parametrize("stop", sweep(STOPS, always=[exclude_self]), ids=lambda stop: stop.__name__)
CLICKS = ("deal", "repeat-deal", "bet:player", "take:player", "double", "repeat", "clear", "undo", "keep")


def actions() -> list[tuple[str, str]]:
    """Return every row of the games and of the money, and players' own statements: all that a click could change."""
    models = [*apps.get_app_config("games").get_models(), *apps.get_app_config("wallet").get_models()]
    models = [model for model in models if not model.__name__.endswith("Notice")]  # what banks said
    models += [apps.get_model("players", name) for name in ("Exclusion", "LimitChange", "LimitOffer", "Conversation")]
    tables = sorted({model._meta.db_table for model in models} & set(readable_tables()))
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}', kept::text FROM {name} AS kept" for name in tables))
        return sorted(cursor.fetchall())


Ask = Callable[[Line, Client, str, dict[str, object]], object]
"""Sends the request of a line with a browser, an address and data, and returns the fault of the answer."""


def faults(house: House, lines: list[Line], stop: Callable[[Player], None], ask: Ask) -> dict[str, object]:
    """Stop the player of the house, then send the request of each line; return the faults, by line. Changes by an
    address are rolled back before the next one, and all of them at the end.
    """
    addresses = [(line, line.url(house), dict(line.data(house))) for line in lines]
    house.visitor("player")
    found = {}
    with undone():
        stop(house.player)
        for line, url, data in addresses:
            with undone():
                found[f"{line.name} {url}"] = ask(line, house.visitor("player"), url, data)
    return {line: fault for line, fault in found.items() if fault}


def test_every_form_that_a_player_meets_is_in_one_list_and_no_list_names_another():
    names = {line.name for line in POSTS}
    assert names == set(OPEN) | BARRED | STRANGERS
    assert len(names) == len(OPEN) + len(BARRED) + len(STRANGERS)


@pytest.mark.sweep
@every_stop
def test_what_stays_open_answers_as_before(stop, house):
    def fault(line, visitor, url, data):
        status = visitor.post(url, data).status_code
        return status != STATUS[line.answers["player"]] and f"{status}: {OPEN[line.name]}"

    assert faults(house, [line for line in POSTS if line.name in OPEN], stop, fault) == {}


@every_stop
def test_everything_else_changes_nothing_and_says_why(stop, house):
    def fault(line, visitor, url, data):
        before = actions()
        answer = visitor.post(url, data, follow=True)
        said = answer.status_code == 200 and eligibility.exclusion_message(house.player) in answer.text
        return "changes something" if actions() != before else not said and f"{answer.status_code}: {answer.text}"

    assert faults(house, [line for line in POSTS if line.name not in OPEN], stop, fault) == {}


@pytest.mark.sweep
@every_stop
def test_reading_an_address_moves_nothing(stop, house):
    def fault(line, visitor, url, data):
        before = actions()
        is_page = line.answers["player"] is PAGE
        answer = visitor.get(url, data, follow=is_page)
        return (
            "moves something" if actions() != before else is_page and answer.status_code != 200 and answer.status_code
        )

    assert faults(house, share(PLAYERS_PAGES, parts=3), stop, fault) == {}


@pytest.mark.django_db
@every_stop
@pytest.mark.parametrize("mode", sweep(Mode, always=[Mode.REAL]))
@pytest.mark.parametrize("action", sweep(CLICKS, always=["deal", "bet:player", "keep"]))
def test_no_click_on_a_page_from_before_changes_the_table(action, mode, stop):
    player, table = a_player(real=100_000, free=100_000), a_table()
    a_round(player, table, mode, player=1000)
    seat = a_seat(player, table, mode, player=1000)
    sent = {
        "action": action,
        "round_id": seat.round_id,
        "slip_version": seat.slip_version,
        "table_version": 1,
        "chip": 1000,
    }
    visitor = a_visitor()
    visitor.force_login(player.user)
    stop(player)
    before = actions()
    answer = visitor.post(reverse("table_play", args=[table.slug, mode]), sent, follow=True)
    assert actions() == before
    if action != "keep":
        assert eligibility.exclusion_message(player) in answer.text


@pytest.mark.django_db
@every_stop
def test_a_person_who_may_not_play_takes_no_seat(stop):
    player, table = a_player(real=100_000), a_table()
    visitor = a_visitor()
    visitor.force_login(player.user)
    stop(player)
    answer = visitor.post(reverse("table_play", args=[table.slug, Mode.REAL]), {"action": "clear"}, follow=True)
    assert eligibility.exclusion_message(player) in answer.text
    assert not SoloSeat.objects.exists()


@pytest.mark.django_db
@every_stop
def test_logs_in_withdraws_and_reads_what_was_played(stop):
    player = a_verified_player(real=100_000)
    player.user.set_password(PASSWORD)
    player.user.save()
    played = a_round(player, a_table(), player=1000)
    stop(player)
    visitor = a_visitor()
    assert log_in(visitor, player.user, PASSWORD).status_code == 302
    owned = accounts.balance(player.pk, Mode.REAL)
    asked = {"amount": "500", "iban": IBAN, "mine": "on", "key": uuid4()}
    assert (
        "We have received your withdrawal request."
        in visitor.post(reverse("cashier_withdraw"), asked, follow=True).text
    )
    assert Withdrawal.objects.get(player=player).amount == 50_000
    assert accounts.balance(player.pk, Mode.REAL) == owned - 50_000
    assert visitor.get(reverse("round", args=[played.round_id])).status_code == 200
    assert str(Journal.objects.filter(kind="withdraw").get().pk) in visitor.get(reverse("statement")).text
