"""Players of a Chemin de Fer table cut its shoe, as at a shared table: see test_cut_shoe.py."""

import psycopg
import pytest
from playwright.sync_api import expect

from games.engine.commitments import entropy_of
from games.models import Shoe, ShoeCut
from games.shared import moves
from tests.browser.at_table import (
    HOLD_WHAT_IS_LATER,
    LONG_CUTS,
    open_what_is_bound,
    windows_without_complaint,
)
from tests.builders import a_player
from tests.chemin.at_table import MONEY, a_chemin_table, finish_cut, sit
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]


@pytest.mark.sweep
def test_what_the_players_browsers_add_is_in_the_shoe_and_they_say_so(
    new_context: NewContext, web_server: WebServer, owner: psycopg.Connection
) -> None:
    owner.execute(LONG_CUTS)
    live_table = a_chemin_table()
    banker, punter, onlooker = (a_player(real=MONEY) for _ in range(3))
    sit(banker, live_table, 1)
    sit(punter, live_table, 2)
    with (
        windows_without_complaint(new_context, web_server, banker) as swedish,
        windows_without_complaint(new_context, web_server, punter) as danish,
        windows_without_complaint(new_context, web_server, onlooker) as romanian,
    ):
        first, second, third = swedish(), danish(viewport=PHONE), romanian()
        for page, language in ((first, "sv"), (second, "da"), (third, "ro")):
            page.add_init_script(HOLD_WHAT_IS_LATER)
            page.goto(f"/{language}/table/chemin/real/")
        first.locator("#act-take_bank").click()
        for page, says in (
            (first, "Den nya kortskon kuperas"),
            (second, "Kortene til den nye sko tages af"),
            (third, "Se taie noul sabot"),
        ):
            expect(page.locator(".croupier__announcement")).to_have_text(says)
            expect(page.locator(".croupier__clock [data-seconds]")).to_be_visible()
        cut = ShoeCut.objects.get()
        expect(first.locator("#live-cut code")).to_have_text(cut.commitment)
        open_what_is_bound(cut, (first, second))
        expect(third.locator("#live-cut[data-added]")).to_have_count(0)
        finish_cut(live_table)
        for page, says in ((first, "Det som din webbläsare lade till finns med."), (second, "tilføjede, er med")):
            shown = page.locator("#live-chances [data-mine=added]")
            expect(shown).to_be_visible()
            expect(shown).to_contain_text(says)
        expect(third.locator("#live-chances")).to_be_visible()
        expect(third.locator("#live-chances [data-mine]:visible")).to_have_count(0)
        for page in (first, second):
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    shoe = Shoe.objects.get()
    assert (shoe.pk, shoe.commitment) == (cut.shoe_id, cut.commitment)
    assert len(moves.chances(shoe.pk)) == 2
    assert shoe.entropy == entropy_of(moves.chances(shoe.pk))
