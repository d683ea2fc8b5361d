"""Actions on a page before it is checked."""

import re
from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.browser.at_table import deal, put
from tests.harness.owner import as_owner
from tests.people import PASSWORD

CLERK = "clerk@example.com"  # who stops at the second step of a log-in


def play_a_round(page: Page) -> None:
    """Put a chip on a bet and deal."""
    put(page, "player")
    deal(page)


def bet_too_much(page: Page) -> None:
    """Put a chip that the player cannot pay for."""
    page.locator("#bet-player").click()
    expect(page.locator(".call__notice")).to_be_visible()


def bet_beyond_the_maximum(page: Page) -> None:
    """Put more on a bet than the table allows."""
    page.locator("[name=chip]").nth(3).check(force=True)
    page.locator("#bet-perfect_pair").click()
    expect(page.locator(".call__notice--error")).to_be_visible()


def open_panel(name: str) -> Callable[[Page], None]:
    """Open a panel next to a shared table, and have it filled."""

    def opened(page: Page) -> None:
        page.locator(f"#tab-{name}").click()
        expect(page.locator(f"#panel-{name}")).to_be_visible()
        expect(page.locator(f"#panel-{name} .side__wait")).to_have_count(0)

    return opened


def open_past_round(page: Page) -> None:
    """Open the latest round inside the history."""
    open_panel("history")(page)
    page.locator(".past__code").first.click()
    expect(page.locator(".past-one")).to_be_visible()


def begin_from_a_template(page: Page) -> None:
    """Begin a letter from a template that needs what the house does not know."""
    page.locator("#id_template").select_option(label="Chat ban at one table")
    page.locator("button[name=fill]").click()
    expect(page.locator("#id_mark_until")).to_be_visible()


def open_chat(page: Page) -> None:
    """Open what is said at a table."""
    page.locator("#tab-chat").click()
    expect(page.locator("#chat-log")).to_be_visible()


def open_chat_choices(page: Page) -> None:
    """Ask what can be done about a message."""
    open_chat(page)
    page.locator(".chat__choices").first.click()
    expect(page.locator("#chat-dialog")).to_be_visible()


def say_an_address(page: Page) -> None:
    """Write what is refused."""
    open_chat(page)
    page.locator("#chat-text").fill("write to me@example.com")
    page.locator("#chat-send").click()
    expect(page.locator("#chat-status")).to_be_visible()


def open_rebuy(page: Page) -> None:
    """Open the dialog that moves money into the game."""
    page.locator("#act-rebuy").click()
    expect(page.locator("#rebuy")).to_be_visible()


def send_nonsense(page: Page, **fields: str) -> None:
    """Send the form of a page past the browser's own checks."""
    page.locator("main form").first.evaluate("form => { form.noValidate = true }")
    for name, text in fields.items():
        page.locator(f"main form [name={name}]").first.fill(text)
    page.locator("main form button:not([type=button])").first.click()


def log_in_wrongly(page: Page) -> None:
    """Mistype the password. Each time another's: after a few tries the house would ask for a code."""
    send_nonsense(page, login=f"nobody.{uuid4().hex[:8]}@example.com", password="not this one")
    expect(page.locator(":is(.notice--error, .errorlist):visible").first).to_be_visible()


def register_with_nothing(page: Page) -> None:
    """Send the empty form."""
    send_nonsense(page, email="nobody")
    expect(page.locator(".errorlist").first).to_be_visible()


def deposit_nonsense(page: Page) -> None:
    """Ask to deposit no number."""
    send_nonsense(page, amount="a lot")
    expect(page.locator(".errorlist").first).to_be_visible()


def log_in_too_often(page: Page) -> None:
    """Send the empty form until the house has had enough. No password is in it, so each costs the house no hashing."""
    token = page.locator("main form [name=csrfmiddlewaretoken]").first.input_value()
    while page.request.post(page.url, form={"csrfmiddlewaretoken": token}).status != HTTPStatus.TOO_MANY_REQUESTS:
        pass
    with page.expect_navigation():
        send_nonsense(page)


def send_an_old_token(page: Page) -> None:
    """Send a form with a token from before the log-in."""
    page.locator("main form [name=csrfmiddlewaretoken]").first.evaluate("token => { token.value = 'old' }")
    send_nonsense(page, login="nobody@example.com", password="not this one")
    expect(page.locator(".trouble")).to_be_visible()


def open_the_menu(page: Page) -> None:
    """Open the menu that a narrow window hides behind a button."""
    page.locator(".bar__menu-button").click()
    expect(page.locator("#site-menu")).to_be_visible()


def open_preferences(page: Page) -> None:
    """Open the dialog of themes, cards, sound and motion."""
    page.locator("[data-opens=preferences]:visible").first.click()
    expect(page.locator("#preferences")).to_be_visible()


def open_shortcuts(page: Page) -> None:
    """Open the list of keys."""
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()


def sit_down_as_a_visitor(page: Page) -> None:
    """Confirm being of age, where that has not been done, and take a place."""
    if page.locator("#adult").count():
        page.locator("#adult").check()
    if page.locator("#to-play").count():
        page.locator("#to-play").click()
    expect(page.locator("#game")).to_be_visible()


def watch_as_a_visitor(page: Page) -> None:
    """Watch a demonstration to its end."""
    if page.locator("#adult").count():
        page.locator("#adult").check()
    page.locator("#to-watch").click()
    page.locator("#rest").click()
    expect(page.locator(".call__result")).to_be_visible()


def open_details(page: Page) -> None:
    """Unfold the first detail."""
    page.locator("main summary").first.click()
    expect(page.locator("main details[open]")).to_have_count(1)


def unfold_row(page: Page) -> None:
    """Unfold the first row of the floor, and the first action there."""
    row = page.locator(".floor-row").first
    row.locator("summary").first.click()
    row.locator(".staff-actions summary").first.click()
    expect(row.locator(".staff-actions details[open] input[name=reason]")).to_be_visible()


def show_the_letter(page: Page) -> None:
    """Have a letter shown as its readers will read it."""
    page.locator("main textarea").first.fill("Ditt kort vändes för tidigt.")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()


def send_nothing(page: Page) -> None:
    """Send a message that says nothing, past what the browser itself would hold back."""
    page.locator(".form--message").evaluate("form => { form.noValidate = true }")
    page.locator(".form--message .button--go").click()
    expect(page.locator(".form--message .field--error").first).to_be_visible()


def ask_for_no_roles(page: Page) -> None:
    """Ask for other roles of a staff member: none, and without a reason, which the browser would refuse."""
    page.locator("#ask-roles summary").click()
    form = page.locator("#ask-roles form")
    form.evaluate("form => { form.noValidate = true }")
    for ticked in form.locator("input:checked").all():
        ticked.uncheck()
    form.get_by_role("button").click()
    expect(page.get_by_text("The request was not sent.")).to_be_visible()


def show_a_decision(page: Page) -> None:
    """Have a decision on a complaint shown as its player will read it, and forget to tick it."""
    page.get_by_role("textbox", name="Answer").fill("We dealt the round again: the banker’s hand lost.")
    page.get_by_label("Verdict (for a decision)").select_option("rejected")
    page.get_by_role("button", name="Preview decision").click()
    page.get_by_role("button", name="Send decision").click()
    expect(page.get_by_text("Nothing was decided")).to_be_visible()


def check_a_round(page: Page) -> None:
    """Let the browser do the arithmetic."""
    page.locator("#check button").click()
    expect(page.locator("#check-result [data-verdict]:visible")).to_have_count(1)


def answer_about_the_session(page: Page, left: int, why: str | None) -> None:
    """Let the page ask about its session and be answered so. *left*: seconds until its end."""
    status = page.locator("#session-warning").get_attribute("data-status")
    page.route(f"**{status}", lambda route: route.fulfill(json={"left": left, "why": why}))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def time_out(page: Page) -> None:
    """Show what the page says when the session has ended."""
    answer_about_the_session(page, 0, "timed out")
    expect(page.locator("#session-over")).to_be_visible()


def warn_of_the_end(page: Page) -> None:
    """Show what the page asks shortly before the session ends."""
    answer_about_the_session(page, 42, None)
    expect(page.locator("#session-warning")).to_be_visible()


def refuse_form(page: Page) -> None:
    """Send the first form of a page past the browser's own checks, with nothing in it."""
    send_nonsense(page)
    expect(page.locator(".errorlist").first).to_be_visible()


def refuse_identity(page: Page) -> None:
    """Type nothing in place of what an eID would say."""
    page.locator("main .unfold summary").first.click()
    refuse_form(page)


def ask_for_no_table(page: Page) -> None:
    """Ask for a table with nothing filled in but what it begins with."""
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def see_what_it_comes_to(page: Page) -> None:
    """Fill in the form of another version of a table, and see what it would come to."""
    page.get_by_label("free money").uncheck()
    page.get_by_label("Reason").fill("for a look")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Send request")).to_be_visible()


def write_no_notice(page: Page) -> None:
    """Ask for a notice of work that is past, in words that do not say when."""
    send_nonsense(page, ends_at="2026-01-01T10:00", da="Lukket.")
    expect(page.locator(".errorlist").first).to_be_visible()


def unfold_the_withdrawal(page: Page) -> None:
    """Unfold the form that withdraws a notice."""
    page.locator("main summary", has_text="Withdraw notice").first.click()
    expect(page.get_by_label("Reason").first).to_be_visible()


def see_the_notice(page: Page) -> None:
    """See a notice as readers will, before it is published."""
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Publish")).to_be_visible()


def withdraw_nonsense(page: Page) -> None:
    """Ask for more than there is, to no account."""
    send_nonsense(page, amount="99999999", iban="SE00 1234")
    expect(page.locator(".errorlist").first).to_be_visible()


def limit_nonsense(page: Page) -> None:
    """Set no number as a limit."""
    page.locator("#deposit ~ details summary").click()
    page.locator("#set-deposit").evaluate("form => { form.noValidate = true }")
    page.locator("#set-deposit input:not([type=hidden])").first.fill("a lot")
    page.locator("#set-deposit .button--go").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def ask_to_pause(page: Page) -> None:
    """Press the button of every page header."""
    page.locator("#pause").click()
    expect(page.locator("#pause-ask")).to_be_visible()


def wait_for_the_check(page: Page) -> None:
    """Have played for so long that the reality check is due."""
    session = re.search(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        page.locator("#session-warning").get_attribute("data-status") or "",
    )
    assert session
    as_owner(
        "UPDATE players_playsession SET checked_at = clock_timestamp() - interval '61 minutes' WHERE session = %s",
        [session[0]],
    )
    page.reload()
    expect(page.locator("#check")).to_be_visible()


def be_locked_out(page: Page) -> None:
    """Mistype the password until a code is asked for."""
    while page.locator("[name=login]").count():
        with page.expect_navigation():
            send_nonsense(page, login="nobody.locked@example.com", password="not this one")
    expect(page.locator("[name=code]")).to_be_visible()


def give_a_wrong_code(page: Page) -> None:
    """Forget the password, then mistype the code that was mailed."""
    with page.expect_navigation():
        send_nonsense(page, email="nobody@example.com")
    send_nonsense(page, code="WRONG1")
    expect(page.locator(".errorlist").first).to_be_visible()


def confirm_password(page: Page) -> None:
    """Enter the password again if the page asks for it."""
    if page.locator("[name=password]").count():
        with page.expect_navigation():
            send_nonsense(page, password=PASSWORD)
    expect(page.locator("[name=password]")).to_have_count(0)


def change_the_address(page: Page) -> None:
    """Have a code sent to another address."""
    with page.expect_navigation():
        send_nonsense(page, email="another.address@example.com")
    confirm_password(page)
    expect(page.locator("[name=code]")).to_be_visible()


def make_codes(page: Page) -> None:
    """Have new recovery codes made."""
    confirm_password(page)
    page.locator("main .button--go").click()
    expect(page.locator(".codes")).to_be_visible()


def ask_for_no_token(page: Page) -> None:
    """Ask for a token with nothing filled in."""
    confirm_password(page)
    refuse_form(page)


def make_a_token(page: Page) -> None:
    """Have a token made, and look at its key."""
    confirm_password(page)
    page.locator("#id_name").fill("Chart of results")
    page.locator("[name=scopes]").first.check()
    page.locator("main .button--go").click()
    expect(page.locator("#key")).to_be_visible()


def unfold_an_action(page: Page) -> None:
    """Unfold the first thing that staff may do on a page."""
    page.locator("main .staff-action > summary").first.click()
    expect(page.locator("main .staff-action button").first).to_be_visible()


def choose_all_rows(page: Page) -> None:
    """Choose all rows of a page of a list, and the first thing that may be done to them."""
    page.get_by_label("All rows of this page").check()
    page.locator("[name=action]").first.click()
    expect(page.get_by_label("Reason")).to_be_visible()


def show_a_secret(page: Page) -> None:
    """Look at the secret of a partner's key."""
    page.get_by_role("button", name="Show secret").first.click()
    expect(page.locator("#key")).to_be_visible()


def set_up_wrongly(page: Page) -> None:
    """Scan the picture, then mistype the code."""
    confirm_password(page)
    send_nonsense(page, code="000000")
    expect(page.locator(".errorlist").first).to_be_visible()
    expect(page.locator(".qr img")).to_be_visible()


def show_staff_who_they_are(page: Page) -> None:
    """Mistype the code of the second step."""
    with page.expect_navigation():
        send_nonsense(page, login=CLERK, password=PASSWORD)
    send_nonsense(page, code="000000")
    expect(page.locator(".errorlist").first).to_be_visible()
