"""The page that verifies proofs, saved to a file and opened with the network off: right for a true proof, and wrong for
one in which a card, the seed, a stake, the value or the signature is another.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.utils.translation import gettext, override
from playwright.sync_api import Page, expect

from games.models import LiveTable, Phase, Table
from tests.browser.at_table import log_in
from tests.builders import a_player, a_round, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet
from tests.vectors import DEALS, ROUNDS, SHOES

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

PROJECT = Path(__file__).parents[2]
NUMBERS = count(1)  # of shared tables
Spoil = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def table(server_of_module: WebServer) -> Table:
    """The solo table of all tests here."""
    return a_table()


@pytest.fixture
def web_server(kept_server: WebServer, table: Table) -> WebServer:
    return kept_server


@pytest.fixture
def live_table(web_server: WebServer) -> LiveTable:
    """A separate shared table for the test."""
    return a_live_table(slug=f"live-{next(NUMBERS)}")


@pytest.fixture
def offline(new_context: NewContext) -> Page:
    """A page without a network."""
    return new_context(offline=True, viewport=DESKTOP).new_page()


def download(new_context: NewContext, web_server: WebServer, address: str, folder: Path, user: Any = None) -> Path:
    """Save the file at an address, as a link in a page would."""
    context = new_context(base_url=web_server.url)
    if user is not None:
        log_in(context, web_server, user)
    answer = context.request.get(address)
    assert answer.ok, answer.status
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    path = folder / "proof.html"
    path.write_bytes(answer.body())
    return path


def with_proof(saved: Path, proof: Any) -> Path:
    """Return the saved page with another proof in it."""
    inside = json.dumps(proof).replace("<", "\\u003c")
    text = re.sub(
        r'(<script type="application/json" id="proof">).*?(</script>)',
        lambda found: found[1] + inside + found[2],
        saved.read_text(),
        flags=re.DOTALL,
    )
    path = saved.with_name("other.html")
    path.write_text(text)
    return path


def proof_in(saved: Path) -> Any:
    found = re.search(r'<script type="application/json" id="proof">(.*?)</script>', saved.read_text(), re.DOTALL)
    assert found
    return json.loads(found[1])


def verdict(page: Page, path: Path, which: str) -> None:
    page.goto(path.as_uri())
    expect(page.locator("[data-verdict]:visible")).to_have_count(1)
    expect(page.locator(f"[data-verdict={which}]")).to_be_visible()


def wrong(page: Page) -> list[str | None]:
    return [line.get_attribute("data-check") for line in page.locator("[data-check][data-holds=false]:visible").all()]


def other_card(code: str) -> str:
    return "KS" if code != "KS" else "AC"


def first_card(proof: dict[str, Any]) -> None:
    proof["cards"] = other_card(proof["cards"][:2]) + proof["cards"][2:]


def first_bit(name: str) -> Spoil:
    """Return what changes one digit of a value in hex."""
    return lambda proof: proof.update({name: ("1" if proof[name][0] != "1" else "2") + proof[name][1:]})


SPOILT_ROUND: dict[str, tuple[Spoil, list[str]]] = {
    "a card": (first_card, ["cards"]),
    "the seed": (first_bit("seed"), ["cards"]),
    "the seal": (first_bit("commitment"), ["cards"]),
    "the table": (lambda proof: proof.update(table=proof["table"] + 1), ["cards"]),
    "the value": (lambda proof: proof.update(player_value="another"), ["cards"]),
    "a stake": (lambda proof: proof["stakes"].update(player=1), ["deal"]),
    "the signature": (first_bit("signature"), ["deal"]),
    "the dealer": (first_bit("dealer"), ["deal"]),
    "the number of the deal": (lambda proof: proof.update(deal=proof["deal"] + 1), ["deal"]),
}


def test_a_solo_round_is_verified_from_a_saved_file_with_the_network_off(
    new_context: NewContext, web_server: WebServer, table: Table, offline: Page, tmp_path: Path
) -> None:
    player = a_player(real=1_000_000)
    played = a_round(player, table, player=5_000, tie=1_000)
    saved = download(new_context, web_server, f"/en/history/{played.round_id}/proof.html", tmp_path, player.user)
    asked: list[str] = []
    offline.on("request", lambda request: asked.append(request.url))
    verdict(offline, saved, "match")
    expect(offline.locator("[data-check]:visible")).to_have_count(2)
    proof = proof_in(saved)
    expect(offline.locator("[data-fact=cards]")).to_have_text(proof["cards"])
    expect(offline.locator("[data-fact=stakes]")).to_have_text("player 5000, tie 1000")
    for name, (spoil, found) in SPOILT_ROUND.items():
        other = deepcopy(proof)
        spoil(other)
        verdict(offline, with_proof(saved, other), "mismatch")
        assert wrong(offline) == found, name
    assert {address.split("/")[-1] for address in asked} == {"proof.html", "other.html"}


def of_hand(proof: dict[str, Any]) -> dict[str, Any]:
    """Return the first card of the first round."""
    card: dict[str, Any] = proof["rounds"][0]["cards"][0]
    return card


def change(proof: dict[str, Any], name: str, value: object) -> None:
    of_hand(proof)[name] = value


SPOILT_HAND: dict[str, tuple[Spoil, list[str]]] = {
    "a card": (lambda proof: change(proof, "card", other_card(of_hand(proof)["card"])), ["root"]),
    "a place": (lambda proof: change(proof, "place", of_hand(proof)["place"] + 1), ["root"]),
    "a salt": (lambda proof: first_bit("salt")(of_hand(proof)), ["root"]),
    "a card left out": (lambda proof: proof["rounds"][0]["cards"].pop(), ["root"]),
    "the root": (first_bit("root"), ["root", "shoe"]),
    "the seal": (first_bit("commitment"), ["shoe"]),
    "the signature": (first_bit("signature"), ["shoe"]),
    "the cut card": (lambda proof: proof.update(cut=proof["cut"] - 1), ["shoe"]),
}


def test_a_round_of_a_shoe_in_play_and_the_shoe_are_verified_from_saved_files(
    new_context: NewContext, web_server: WebServer, live_table: LiveTable, offline: Page, tmp_path: Path
) -> None:
    player = a_player(real=1_000_000)
    bet(player, live_table, banker=25_000)
    done = advance_to(live_table, Phase.SETTLED)
    for address in (f"/en/history/{done.pk}/proof.html", f"/en/fair/shoe/{done.shoe_id}/proof.html"):
        saved = download(new_context, web_server, address, tmp_path, player.user)
        verdict(offline, saved, "match")
        expect(offline.locator("#rounds li[data-holds=true]")).to_have_count(1)
        proof = proof_in(saved)
        for name, (spoil, found) in SPOILT_HAND.items():
            other = deepcopy(proof)
            spoil(other)
            verdict(offline, with_proof(saved, other), "mismatch")
            assert wrong(offline) == found, name


def test_other_programs_read_the_saved_pages(
    new_context: NewContext, web_server: WebServer, table: Table, live_table: LiveTable, tmp_path: Path
) -> None:
    player = a_player(real=1_000_000)
    bet(player, live_table, banker=25_000)
    done, played = advance_to(live_table, Phase.SETTLED), a_round(player, table, player=5_000)
    for address in (
        f"/en/history/{played.round_id}/proof.html",
        f"/en/history/{done.pk}/proof.html",
        f"/en/fair/shoe/{done.shoe_id}/proof.html",
    ):
        saved = download(new_context, web_server, address, tmp_path, player.user)
        other = proof_in(saved)
        spoil = SPOILT_HAND["a salt"] if "rounds" in other else SPOILT_ROUND["a card"]
        spoil[0](other)
        for path, status in ((saved, 0), (with_proof(saved, other), 1)):
            for command in ([sys.executable, "tools/verify_round.py", "--proof"], ["perl", "examples/verify_round.pl"]):
                ran = subprocess.run([*command, path], cwd=PROJECT, capture_output=True, text=True, check=False)
                assert ran.returncode == status, (address, command, ran.stdout, ran.stderr)


@pytest.mark.parametrize(("sent", "found"), [("", []), ("another", ["value"])])
def test_the_proof_that_a_table_saves_after_a_fault_is_verified(
    new_context: NewContext, web_server: WebServer, offline: Page, tmp_path: Path, sent: str, found: list[str]
) -> None:
    """Its form is that of player_value.js: what the browser kept, and what the server said in "proof"."""
    shown = published_round(1)
    kept = {name: shown[name] for name in ("purpose", "table", "decks", "rules", "commitment")}
    kept |= {"round": shown["id"], "keys": ["00" * 32, shown["dealer"]], "sent": [sent or shown["player_value"]]}
    said = {name: shown[name] for name in ("seed", "player_value", "cards", "epoch", "deal", "stakes", "signature")}
    saved = download(new_context, web_server, "/en/fair/checker/", tmp_path)
    verdict(
        offline, with_proof(saved, kept | {"proof": said | {"round": shown["id"]}}), "mismatch" if found else "match"
    )
    assert wrong(offline) == found


def test_what_was_noted_before_the_bets_is_compared(
    new_context: NewContext, web_server: WebServer, offline: Page, tmp_path: Path
) -> None:
    """A house that swaps seal and key after the bets makes a proof that matches itself."""
    saved = with_proof(download(new_context, web_server, "/en/fair/checker/", tmp_path), published_round())
    verdict(offline, saved, "match")
    proof = proof_in(saved)
    for field, true in (("seal", proof["commitment"]), ("key", proof["dealer"])):
        offline.locator(f"#noted-{field}").fill(f" {true.upper()} ")
        expect(offline.locator("[data-verdict=match]")).to_be_visible()
        offline.locator(f"#noted-{field}").fill("0" * 64)
        expect(offline.locator("[data-verdict=mismatch]")).to_be_visible()
        assert wrong(offline) == [f"noted-{field}"]
        offline.locator(f"#noted-{field}").fill("")
        expect(offline.locator("[data-verdict=match]")).to_be_visible()


def published_round(place: int = 0) -> dict[str, Any]:
    """Return a round of the published vectors as a proof."""
    deal = DEALS[place]
    case = next(each for each in ROUNDS if each["id"] == deal["round"])
    signed = {name: deal[name] for name in ("epoch", "deal", "signature", "stakes")}
    return case | signed | {"dealer": deal["key"], "code": "vector"}


SHOE = ("purpose", "id", "table", "decks", "rules", "seed", "entropy", "commitment", "root", "burned", "cut")


def published_shoe(case: dict[str, Any]) -> dict[str, Any]:
    """Return a shoe of the published vectors as a proof of one round."""
    signed: dict[str, Any] = {"dealer": case["key"], "signature": case["shoe_signature"]}
    signed["burn"] = {"place": 0, "card": case["burn"], "salt": case["first_salts"][0]} if case["burn"] else None
    named = {name: case[name] for name in SHOE}
    cards = case["coup"][:4] if case["purpose"] == "chemin" else case["coup"]  # five would be none: it has a natural
    return named | signed | {"rounds": [{"id": case["round"], "number": 1, "code": "vector", "cards": cards}]}


def test_the_published_vectors_match_in_every_language_and_on_a_phone(
    new_context: NewContext, web_server: WebServer, tmp_path: Path, languages: tuple[str, ...]
) -> None:
    proofs = [*map(published_round, range(len(DEALS))), *map(published_shoe, SHOES)]
    for language in languages:
        saved = download(new_context, web_server, f"/{language}/fair/checker/", tmp_path)
        page = new_context(offline=True, viewport=PHONE, has_touch=True, is_mobile=True).new_page()
        page.goto(saved.as_uri())
        assert page.locator("html").get_attribute("lang") == language
        with override(language):
            expect(page.locator("h1")).to_have_text(gettext("Verify without a network"))
        expect(page.locator("[data-verdict]:visible")).to_have_count(0)
        for number, proof in enumerate(proofs):
            file = tmp_path / f"{number}.json"
            file.write_text(json.dumps(proof))
            page.locator("#open").set_input_files(file)
            expect(page.locator("[data-fact=id]")).to_have_text(proof["id"])
            expect(page.locator("[data-verdict=match]")).to_be_visible()
            assert wrong(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_what_is_no_proof_is_said(
    new_context: NewContext, web_server: WebServer, offline: Page, tmp_path: Path
) -> None:
    saved = download(new_context, web_server, "/en/fair/checker/", tmp_path)
    nothing: list[Any] = [{}, [], 7, {"purpose": "shoe", "rounds": [{}]}]
    for proof in nothing:
        verdict(offline, with_proof(saved, proof), "unread")


def test_a_script_in_a_proof_does_not_run(
    new_context: NewContext, web_server: WebServer, offline: Page, tmp_path: Path
) -> None:
    saved = download(new_context, web_server, "/en/fair/checker/", tmp_path)
    hostile = '</script><script>document.title = "run"</script><img src=x onerror="document.title=1">'
    verdict(offline, with_proof(saved, published_round() | {"code": hostile}), "match")
    raw = saved.with_name("raw.html")
    raw.write_text(saved.read_text().replace('id="proof">', f'id="proof">{hostile}', 1))
    offline.goto(raw.as_uri())
    assert offline.title().endswith("Sabot")
