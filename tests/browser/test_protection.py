"""Pausing and the reality check as a person meets them, in real Chromium against the real server."""

from itertools import product

import psycopg
import pytest
from playwright.sync_api import ViewportSize, expect

from games.models import Participation
from players.models import Exclusion
from tests.browser.at_table import put, windows_without_complaint
from tests.builders import a_player, a_table
from tests.harness.browser import DESKTOP, PHONE
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer

pytestmark = pytest.mark.browser

MONEY = 1_000_000
# Makes the next round move the log-in back by an hour.
DUE_BY_THE_ROUND = """
CREATE FUNCTION an_hour_earlier() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.began := NEW.began - interval '61 minutes'; RETURN NEW; END $$;
CREATE TRIGGER due_by_the_round BEFORE UPDATE OF rounds ON players_playsession
    FOR EACH ROW EXECUTE FUNCTION an_hour_earlier();
"""
SIDEWAYS: ViewportSize = {"width": 844, "height": 390}
SMALL: ViewportSize = {"width": 320, "height": 640}
SIZES = (DESKTOP, PHONE, SIDEWAYS, SMALL)


@pytest.mark.sweep
def test_the_button_is_in_view_everywhere(new_context, web_server: WebServer):
    a_table()
    player = a_player(real=MONEY)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        for path, size in product(("/en/", "/en/table/baccarat/real/", "/en/history/"), SIZES):
            page.set_viewport_size(size)
            page.goto(path)
            expect(page.locator("#pause")).to_be_in_viewport(ratio=1)
            expect(page.locator(".bar__brand")).to_be_in_viewport(ratio=1)
            if size is not DESKTOP:
                expect(page.locator(".bar__menu-button")).to_be_in_viewport(ratio=1)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, size)


@pytest.mark.sweep
def test_one_click_pauses_where_the_law_lets_nobody_ask(new_context, web_server: WebServer):
    a_table()
    player = a_player("DE", free=50_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/free/")
        page.locator("#pause").click()
        expect(page.locator("[data-ineligibility=excluded]")).to_be_visible()
        page.goto("/en/table/baccarat/free/")
        expect(page.locator("[data-ineligibility=excluded]")).to_be_visible()
        assert Exclusion.objects.filter(player=player).count() == 1


@pytest.mark.parametrize(
    ("code", "script"),
    sweep(product(("SE", "DK", "RO", "GB"), (True, False)), always=[("SE", True)]),
)
def test_elsewhere_a_question_comes_first(new_context, web_server: WebServer, code, script):
    a_table()
    player = a_player(code, free=50_000)
    with windows_without_complaint(new_context, web_server, player, java_script_enabled=script) as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/free/")
        page.locator("#pause").click()
        question = page.locator("#pause-ask" if script else "main")
        expect(question.get_by_role("heading", name="Pause for 24 hours?")).to_be_visible()
        assert not Exclusion.objects.filter(player=player).exists()
        question.get_by_role("button", name="Pause now").click()
        expect(page.locator("main [data-ineligibility=excluded]")).to_be_visible()
        assert Exclusion.objects.filter(player=player).count() == 1


@pytest.mark.sweep
def test_the_question_can_be_answered_with_no(new_context, web_server: WebServer):
    player = a_player()
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        page.goto("/en/")
        page.locator("#pause").click()
        page.locator("#pause-ask").get_by_role("button", name="Continue playing").click()
        expect(page.locator("#pause-ask")).to_be_hidden()
        assert not Exclusion.objects.filter(player=player).exists()


@pytest.mark.sweep
@pytest.mark.parametrize("size", sweep(SIZES, always=[PHONE]), ids=lambda size: f"{size['width']}x{size['height']}")
def test_clock_length_and_net_stand_at_a_table_and_follow_each_round(new_context, web_server: WebServer, size):
    a_table()
    player = a_player(real=MONEY)
    with windows_without_complaint(new_context, web_server, player, viewport=size) as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/real/")
        for part in ("#play-session-clock", "#play-session-duration", "#play-session-net"):
            expect(page.locator(part)).to_be_in_viewport(ratio=1)
        net = page.locator("#play-session-net > [data-due]")
        expect(net).to_have_text("SEK\xa00.00")
        put(page, "tie")
        page.locator("#act-deal").click()
        expect(net).not_to_have_text("SEK\xa00.00")
        played = Participation.objects.get(player=player)
        expect(net).to_contain_text(f"{abs(played.paid - played.staked) / 100:.2f}")
        expect(net).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("money", sweep(["real", "free"], always=["real"]))
def test_the_reality_check_waits_for_an_answer(new_context, web_server: WebServer, owner: psycopg.Connection, money):
    a_table()
    player = a_player(real=MONEY, free=MONEY)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        page.goto(f"/en/table/baccarat/{money}/")
        put(page, "tie")
        owner.execute("UPDATE players_playsession SET began = began - interval '61 minutes'")
        page.locator("#act-deal").click()
        check = page.locator("#check")
        expect(check).to_be_visible()
        expect(check).to_contain_text("1:01")
        page.keyboard.press("Escape")
        expect(check).to_be_visible()
        assert not Participation.objects.filter(player=player).exists()
        check.get_by_role("button", name="Continue playing").click()
        expect(page.locator("#check")).to_have_count(0)
        page.locator("#act-deal").click()
        expect(page.locator(".call__result")).to_be_visible()
        assert Participation.objects.filter(player=player).count() == 1


def test_the_reality_check_interrupts_no_deal(new_context, web_server: WebServer, owner: psycopg.Connection):
    a_table()
    player = a_player(real=MONEY)
    with windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/real/")
        put(page, "tie")
        # It falls due within the round: asked before the deal, the answer is no; asked after it, yes.
        owner.execute(DUE_BY_THE_ROUND)
        page.locator("#act-deal").click()
        expect(page.locator("#game.game--fresh")).to_be_visible()
        expect(page.locator("#check")).to_be_hidden()
        expect(page.locator(".call__result.is-due")).to_be_visible()
        expect(page.locator("#check")).to_be_visible()
        assert Participation.objects.filter(player=player).count() == 1
