"""A player shows who they are in Chromium, and staff look at it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from players.identity import verification
from players.identity.sandbox import number_of
from tests.browser.at_table import log_in
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE
from tests.harness.sweeps import sweep
from tests.people import a_member_of_staff, documents_seen
from tests.players.papers import pdf, picture

pytestmark = pytest.mark.browser

SAID = {
    "given_names": "Åsa",
    "family_name": "Öberg",
    "street": "Storgatan 12 B",
    "postal_code": "111 22",
    "city": "Malmö",
    "document_number": "AB123456",
}


def fill(page: Page, folder: Path, front: bytes) -> None:
    page.goto("/en/account/identity/")
    page.get_by_text("Send documents instead").click()
    for field, text in SAID.items():
        page.locator(f"#identity-form [name={field}]").fill(text)
    page.locator("[name=document_kind]").select_option("passport")
    for name, content in (("front", front), ("address", pdf())):
        sent = folder / f"{name}.jpg"
        sent.write_bytes(content)
        page.locator(f"[name={name}]").set_input_files(sent)
    page.locator("#identity-form button").click()


@pytest.mark.parametrize("script", sweep([True, False], always=[True]), ids=["with script", "without"])
@pytest.mark.parametrize("size", sweep([DESKTOP, PHONE], always=[PHONE]), ids=["desktop", "phone"])
def test_a_player_sends_and_staff_verify(new_context, web_server, size, script, tmp_path):
    player, reviewer = a_player(), a_member_of_staff("compliance")
    window = new_context(base_url=web_server.url, viewport=size, java_script_enabled=script)
    log_in(window, web_server, player.user)
    page = window.new_page()
    fill(page, tmp_path, picture("ÅSA"))
    expect(page.locator("#identity-state")).to_have_text("We are reviewing what you sent")
    office = new_context(base_url=web_server.url, viewport=size)
    log_in(office, web_server, reviewer.user)
    desk = office.new_page()
    desk.goto("/staff/identity/")
    desk.get_by_role("link", name=str(player)).click()
    expect(desk.locator("#verify")).to_be_visible()
    assert documents_seen(player) == []
    with desk.expect_response("**/staff/documents/**"):
        desk.locator(".document summary").click()
    expect(desk.locator(".document__picture")).to_be_visible()
    assert documents_seen(player) == ["document: front"]
    desk.get_by_label("Name, date of birth, address and document agree.").check()
    desk.locator("#verify").click()
    expect(desk.get_by_text("No documents to review.")).to_be_visible()
    assert verification.is_verified(player)
    page.reload()
    expect(page.locator("#identity-state")).to_have_text("Your identity is verified")


@pytest.mark.parametrize("script", sweep([True, False], always=[True]), ids=["with script", "without"])
def test_a_newcomer_is_confirmed_in_one_step_and_led_back(new_context, web_server, script):
    player = a_player("DK", is_known=False)
    window = new_context(base_url=web_server.url, viewport=PHONE, java_script_enabled=script)
    log_in(window, web_server, player.user)
    page = window.new_page()
    page.goto("/en/cashier/")
    page.locator("#confirm-identity").click()
    page.locator("details:has(#claim-form) > summary").click()  # below the eID, which is the first way
    for field, text in (SAID | {"number": number_of("DK", player.birth_date)}).items():
        if field != "document_number":
            page.locator(f"#claim-form [name={field}]").fill(text)
    page.locator("#confirm-identity").click()
    expect(page.locator("#deposit")).to_be_visible()
    expect(page).to_have_url(f"{web_server.url}/en/cashier/")
    assert verification.is_verified(player)


@pytest.mark.sweep
def test_more_than_the_door_lets_in_is_answered_with_a_sentence(new_context, web_server, tmp_path):
    player = a_player()
    window = new_context(base_url=web_server.url, viewport=DESKTOP)
    log_in(window, web_server, player.user)
    page = window.new_page()
    fill(page, tmp_path, b"x" * 27_000_000)
    expect(page.get_by_text("Your files are too large in total.")).to_be_visible()
    assert verification.latest(player) is None
