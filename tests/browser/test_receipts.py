"""Receipts in a real browser: stored at tables, and compared with the public log by one button."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from games.engine.chemin import Phase as CoupPhase
from games.models import LiveTable, Participation, Phase, Round
from players.models import Player
from tests.audit.sealed import an_event, sign
from tests.audit.signing import Pens
from tests.browser.at_table import TABLE, a_window, deal, put
from tests.builders import PASSWORD, a_player, a_table
from tests.chemin.at_table import a_chemin_table, a_seated_player, a_staked_coup, answer, sit, step_to
from tests.harness.browser import NewContext
from tests.harness.databases import Database
from tests.harness.web import ServerStarter, WebServer
from tests.live.at_table import a_live_table, advance_to, hurry, round_at, step

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

HISTORY = "/en/history/"
KEPT = """() => new Promise((resolve) => {
    indexedDB.open("sabot-receipts").onsuccess = ({ target: { result } }) => {
        result.transaction("receipts").objectStore("receipts").getAll().onsuccess = (all) => resolve(all.target.result);
    };
})"""


@pytest.fixture
def pens() -> Pens:
    return Pens()


@pytest.fixture
def web_server(start_server: ServerStarter, pens: Pens) -> WebServer:
    return start_server(environment={"AUDIT_KEYS": pens.keys.replace("\n", ",")})


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=1_000_000, password=PASSWORD)


@pytest.fixture
def page(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Page]:
    """Open a window, logged in, and fail on errors of scripts. A missing round is not such an error."""
    opened = a_window(new_context, web_server, player).new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    assert errors == [], errors


def expect_kept(page: Page, receipt: str) -> None:
    """Wait until the browser has kept a receipt: of what, the round, and the number of the change of bets."""
    expect(page.locator("#receipts")).to_have_attribute("data-last", receipt)
    expect(page.locator("[data-state=kept]")).to_be_visible()


def play(page: Page, rounds: int = 3) -> list[Round]:
    """Play rounds at a solo table, and wait until the browser has kept the receipt of each."""
    a_table()
    page.goto(TABLE)
    put(page)
    for number in range(rounds):
        deal(page, "rebet_deal" if number else "deal")
        expect_kept(page, f"round {Round.objects.latest('at').pk} 0")
    return list(Round.objects.order_by("at"))


def check(page: Page, verdict: str) -> None:
    """Press the button, and wait for the result on the page."""
    page.goto(HISTORY)
    page.get_by_role("button", name="Check all my rounds").click()
    expect(page.locator(f"#all-rounds [data-verdict={verdict}]")).to_be_visible()
    expect(page.locator("#all-rounds-result")).to_be_focused()


def counted(page: Page) -> list[int]:
    """Return the numbers of rounds, of receipts that were kept, and of rounds that are too new."""
    return [int(each) for each in page.locator("#all-rounds [data-count]").all_inner_texts()]


def faults(page: Page) -> list[tuple[str, str]]:
    """Return the rounds that are named, each with what is wrong."""
    named = page.locator("#all-rounds-faults li")
    return [(each.locator("b").inner_text(), each.get_attribute("data-fault") or "") for each in named.all()]


def ticks(page: Page) -> list[str]:
    """Return the marks of the rounds in the list, newest first."""
    return [each.strip() for each in page.locator(".round-line__proof").all_inner_texts()]


def answers(page: Page, pattern: str, change: Callable[[Any], None]) -> None:
    """Change what the house answers, on its way to the browser."""

    def fulfil(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        change(said)
        route.fulfill(response=answer, json=said)

    page.route(pattern, fulfil)


def test_all_rounds_are_found_by_keyboard_and_an_entry_that_is_another_than_the_receipt_promised_is_named(page, pens):
    for number in range(300):
        an_event(number)
    played = play(page)
    for number in range(300):
        an_event(number)
    sign(pens)
    page.goto(HISTORY)
    expect(page.get_by_text("✓ Receipt kept")).to_have_count(3)
    page.locator("#check-all").press("Enter")
    expect(page.locator("#all-rounds-result")).to_be_focused()
    expect(page.get_by_role("status").get_by_text("is in the public log")).to_be_visible()
    assert counted(page) == [3, 3, 0]
    assert faults(page) == []
    assert ticks(page) == ["✓ In the public log"] * 3
    assert {each["round"] for each in page.evaluate(KEPT)} == {str(each.pk) for each in played}

    def swap(said: dict[str, Any]) -> None:
        said["rounds"][0]["leaf"], said["rounds"][1]["leaf"] = said["rounds"][1]["leaf"], said["rounds"][0]["leaf"]

    answers(page, "**/history/receipts.json*", swap)
    check(page, "wrong")
    assert faults(page) == [(each.code, "other") for each in (played[2], played[1])]


def test_rounds_that_are_too_new_are_counted_and_a_day_later_missed(page, pens):
    an_event(1)
    sign(pens)
    codes = [each.code for each in play(page, 2)]
    check(page, "right")
    assert counted(page) == [2, 2, 2]
    assert ticks(page) == ["✓ Receipt kept"] * 2
    page.clock.set_fixed_time(timezone.now() + timedelta(days=1, minutes=1))
    check(page, "wrong")
    assert faults(page) == [(code, "missing") for code in reversed(codes)]


def rewrite(database: psycopg.Connection[Any], played: Round) -> None:
    """Play for other stakes, in the event and in every row that Game logs reads."""
    database.execute(
        "UPDATE audit_event SET body = convert_to(regexp_replace(convert_from(body, 'UTF8'),"
        " '\"stake\":\\d+', '\"stake\":500'), 'UTF8') WHERE \"on\" = 'round:' || %s::uuid AND kind = 'round.settled'",
        [played.pk],
    )
    database.execute("UPDATE games_participation SET stakes = '{500}', staked = 500 WHERE round_id = %s", [played.pk])


def remove(database: psycopg.Connection[Any], played: Round) -> None:
    """Remove a round with its event."""
    event = "SELECT id FROM audit_event WHERE \"on\" = 'round:' || %s::uuid"
    database.execute(f"DELETE FROM audit_pending WHERE event_id IN ({event})", [played.pk])
    database.execute("DELETE FROM audit_event WHERE \"on\" = 'round:' || %s::uuid", [played.pk])
    for table, column in (
        ("games_verificationdue", "round_id"),
        ("games_participation", "round_id"),
        ("games_round", "id"),
    ):
        database.execute(f"DELETE FROM {table} WHERE {column} = %s", [played.pk])


def test_a_round_that_the_house_changes_or_removes_after_its_receipt_is_named(
    page: Page, pens: Pens, cloned_db: Database
):
    """In the seconds before it is sealed, when nothing in the house contradicts it afterwards."""
    removed, _true, changed = play(page)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
        database.execute("SET session_replication_role = replica")
        remove(database, removed)
        rewrite(database, changed)
    sign(pens)
    check(page, "wrong")
    assert faults(page) == [(changed.code, "changed"), (removed.code, "unknown")]
    assert ticks(page).count("✓ In the public log") == 1
    assert ticks(page).count("✕ Contradicts its proof") == 1
    with page.expect_download() as download:
        page.get_by_role("link", name="Save the evidence").click()
    evidence = json.loads(Path(download.value.path()).read_text())["rounds"]
    for played, saved in zip((changed, removed), evidence, strict=True):
        assert f"round={played.pk}\n" in saved["kept"][0]


def test_a_log_that_the_house_has_not_signed_is_no_log(page, pens):
    play(page, 1)
    sign(Pens())
    check(page, "unread")  # the house shows no checkpoint that its keys did not sign
    altered = pens.note(1, bytes(32)).replace("\n1\n", "\n2\n")
    page.route("**/log/checkpoint", lambda route: route.fulfill(body=altered, content_type="text/plain"))
    check(page, "log")


@pytest.fixture
def live_table(web_server: WebServer) -> LiveTable:
    return a_live_table()


def test_bets_at_a_live_table_have_their_receipt_before_they_are_closed(page, pens, player, live_table):
    page.goto("/en/table/live/real/")
    page.locator("#chip-5000").check(force=True)
    for version, bet in enumerate(("player", "tie"), 1):
        page.locator(f"#bet-{bet}").click()
        expect_kept(page, f"bet {round_at(live_table).pk} {version}")
    assert round_at(live_table).phase == Phase.BETTING
    assert "stakes=player=5000 tie=5000\n" in page.evaluate(KEPT)[0]["note"]
    advance_to(live_table, Phase.SETTLED)
    sign(pens)
    check(page, "right")
    assert counted(page) == [1, 1, 0] or counted(page) == [1, 2, 0]  # the round's own receipt may have come already


def test_a_live_round_that_was_played_with_other_bets_or_not_at_all_is_named(page, pens, cloned_db, live_table):
    page.goto("/en/table/live/real/")
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-player").click()
    expect_kept(page, f"bet {round_at(live_table).pk} 1")
    page.goto("/en/")
    played = advance_to(live_table, Phase.SETTLED)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
        database.execute("SET session_replication_role = replica")
        database.execute("UPDATE games_participation SET stakes = '{10000}', staked = 10000")
        sign(pens)
        check(page, "wrong")
        assert faults(page) == [(played.code, "bets")]
        database.execute("DELETE FROM games_participation")
        assert not Participation.objects.exists()
        database.execute("UPDATE games_liveseat SET round_id = NULL, stakes = '{}'")
    check(page, "wrong")
    assert faults(page) == [(played.code, "bets")]


@pytest.mark.sweep
def test_bets_that_were_all_taken_back_are_no_fault(page, pens, live_table):
    page.goto("/en/table/live/real/")
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-player").click()
    expect_kept(page, f"bet {round_at(live_table).pk} 1")
    page.locator("#act-undo").click()
    expect_kept(page, f"bet {round_at(live_table).pk} 2")
    hurry(live_table)
    step(live_table)
    an_event(1)
    sign(pens)
    check(page, "right")
    assert counted(page) == [0, 1, 0]


def test_a_stake_at_chemin_de_fer_has_its_receipt_before_the_cards_are_drawn(page, pens, player):
    table = a_chemin_table()
    sit(player, table, 1)
    a_seated_player(table, 2)
    page.add_init_script("Math.random = () => 0")  # of all browsers at the table, it asks first
    page.goto(f"/en/table/{table.table.slug}/real/")
    banker, punter = a_staked_coup(table, stake=4_000)
    coup = round_at(table)
    expect_kept(page, f"bet {coup.pk} 1")
    assert (coup.phase, coup.first_card) == (Phase.CLOSED, None)
    side = {banker.pk: "bank", punter.pk: "punter"}[player.pk]
    assert f"stakes={side}=4000\n" in page.evaluate(KEPT)[0]["note"]
    answer(banker, table, "deal_cards")
    step_to(table, CoupPhase.CHOICE, CoupPhase.OFFER)
    expect_kept(page, f"round {coup.pk} 0")
    sign(pens)
    check(page, "right")
    assert counted(page) == [1, 2, 0]
