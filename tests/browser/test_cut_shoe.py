"""Two players cut the next shoe: their browsers add random bytes by themselves, and verify that they are in it."""

import psycopg
import pytest
from playwright.sync_api import expect

from games.engine.commitments import entropy_of
from games.models import Phase, Shoe, ShoeCut
from games.shared import moves
from tests.browser.at_table import (
    HOLD_WHAT_IS_LATER,
    LONG_CUTS,
    open_what_is_bound,
    windows_without_complaint,
)
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step
from tests.live.test_cut_shoes import spend

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]


def test_what_two_browsers_add_is_in_the_shoe_and_they_say_so(
    new_context: NewContext, web_server: WebServer, owner: psycopg.Connection
):
    owner.execute(LONG_CUTS)
    live_table = a_live_table()
    spend(owner)
    swede, german = a_player(real=1_000_000), a_player("DE", real=50_000)
    with (
        windows_without_complaint(new_context, web_server, swede) as swedish,
        windows_without_complaint(new_context, web_server, german) as german_one,
    ):
        first, second = swedish(), german_one(viewport=PHONE)
        for page in (first, second):
            page.add_init_script(HOLD_WHAT_IS_LATER)
        first.goto("/sv/table/live/real/")
        second.goto("/de/table/live/real/")
        bet(swede, live_table, player=5000)
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
        expect(first.locator(".live-call__what")).to_have_text("Den nya kortskon kuperas")
        expect(second.locator(".live-call__what")).to_have_text("Die Karten für den neuen Schlitten werden abgehoben")
        cut = ShoeCut.objects.get()
        expect(first.locator("#live-cut code")).to_have_text(cut.commitment)
        open_what_is_bound(cut, (first, second))
        hurry(live_table)
        step(live_table)
        for page, says in ((first, "Det som din webbläsare lade till finns med."), (second, "ist enthalten")):
            shown = page.locator("#live-chances [data-mine=added]")
            expect(shown).to_be_visible()
            expect(shown).to_contain_text(says)
        shoe = round_at(live_table).shoe
        assert len(moves.chances(shoe.pk)) == 2
        assert shoe.entropy == entropy_of(moves.chances(shoe.pk))
        assert Shoe.objects.filter(commitment=cut.commitment, pk=cut.shoe_id).exists()
