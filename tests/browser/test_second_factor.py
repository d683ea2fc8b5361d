"""Passkeys and codes in a real browser, with an authenticator that Chromium plays."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Page, expect

from players.account import closures
from players.demo import PASSWORD as DEMO_PASSWORD
from players.demo import create_demo_people
from players.login import locks
from players.models import ClosureState, User
from tests.builders import a_player
from tests.harness.browser import DESKTOP, NewContext
from tests.harness.web import WebServer
from tests.people import PASSWORD, a_member_of_staff, events

pytestmark = pytest.mark.browser

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
OpenPage = Callable[[], Page]


@pytest.fixture
def open_page(new_context: NewContext, web_server: WebServer) -> OpenPage:
    """Open a page in a separate browser that has an authenticator. Passkeys belong to names, not to numbers."""

    def opened() -> Page:
        address = web_server.url.replace("127.0.0.1", "localhost")
        page = new_context(base_url=address, viewport=DESKTOP).new_page()
        protocol = page.context.new_cdp_session(page)
        protocol.send("WebAuthn.enable")
        protocol.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        return page

    return opened


def log_in(page: Page, user: User, password: str) -> None:
    page.goto("/en/account/login/")
    page.get_by_label("E-mail address").fill(user.email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("main").get_by_role("button", name="Log in", exact=True).click()


def log_out(page: Page) -> None:
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Register").first).to_be_visible()


def add_passkey(page: Page) -> None:
    page.goto("/en/account/security/passkeys/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name of the passkey").fill("My finger")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def test_a_passkey_is_added_asked_for_after_the_password_and_lets_in_alone(open_page: OpenPage) -> None:
    player = a_player(password=PASSWORD)
    page = open_page()
    log_in(page, player.user, PASSWORD)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    add_passkey(page)
    assert events("passkey.added", on=str(player))
    log_out(page)

    log_in(page, player.user, PASSWORD)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    log_out(page)

    page.goto("/en/account/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()

    page.goto("/en/account/security/")
    expect(page.get_by_text("My finger")).to_be_visible()


@pytest.mark.sweep
def test_a_passkey_opens_a_lock(open_page: OpenPage) -> None:
    player = a_player(password=PASSWORD)
    page = open_page()
    log_in(page, player.user, PASSWORD)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    add_passkey(page)
    log_out(page)
    for _ in range(4):
        log_in(page, player.user, "wrong")
    expect(page.get_by_role("heading", name="Unlock your log-in")).to_be_visible()
    page.goto("/en/account/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    (opened,) = events("login.unlocked", on=str(player))
    assert opened["data"] == {"by": "second factor"}


@pytest.mark.sweep
def test_a_passkey_of_a_locked_account_lets_nobody_in_and_says_why(open_page: OpenPage) -> None:
    player = a_player(password=PASSWORD)
    page = open_page()
    log_in(page, player.user, PASSWORD)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    add_passkey(page)
    log_out(page)
    locks.lock(player=player, reason="stolen card", by=a_member_of_staff("compliance"))
    page.goto("/en/account/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("heading", name="Your account is locked")).to_be_visible()
    expect(page.get_by_text(settings.SUPPORT_EMAIL)).to_be_visible()
    page.goto("/en/account/security/")
    expect(page.get_by_role("button", name="Log in with a passkey")).to_be_visible()


@pytest.mark.sweep
def test_a_passkey_alone_closes_an_account(open_page: OpenPage) -> None:
    player = a_player(password=PASSWORD)
    page = open_page()
    log_in(page, player.user, PASSWORD)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    add_passkey(page)
    log_out(page)
    log_in(page, player.user, PASSWORD)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    page.goto("/en/account/close/")
    page.get_by_role("link", name="Use a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("I want to close my account permanently.").check()
    page.get_by_role("button", name="Close my account").click()
    expect(page.get_by_text("Your account is closed and you have been logged out.")).to_be_visible()
    assert closures.state_of(player) is ClosureState.CLOSED


@pytest.mark.sweep
def test_staff_of_the_demo_log_in_with_the_code_that_a_command_prints(open_page: OpenPage) -> None:
    create_demo_people()
    out = StringIO()
    call_command("demo_code", "operator", stdout=out)
    page = open_page()
    log_in(page, User.objects.get(email="operator@demo.example"), DEMO_PASSWORD)
    page.get_by_label("Code").fill(out.getvalue().strip())
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("navigation", name="Back office")).to_be_visible()
