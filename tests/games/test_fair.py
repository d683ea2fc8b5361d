"""The page about fair dealing, and the command-line check that it names."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from games.engine.cards import FULL_DECK
from games.history.fairness_views import COMMAND
from tests.harness.sweeps import sample
from tests.vectors import ROUNDS

PROJECT = Path(__file__).resolve().parents[2]
LANGUAGES = ("sv", "da", "ro", "de", "en")
SEED = bytes(range(32))
ROUND = next(case for case in ROUNDS if case["player_value"] and case["decks"] == 8)


class Inputs(HTMLParser):
    """The values of the form's fields, and the scripts of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.scripts: list[dict[str, str | None]] = []
        self.cards: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "input" and given.get("type") not in ("hidden", "radio"):  # radio buttons are preferences
            self.values[given["name"] or ""] = given.get("value") or ""
        if tag == "script":
            self.scripts.append(given)
        if "card" in (given.get("class") or "").split():
            self.cards.append(given["aria-label"])


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_anyone_may_read_it_in_every_language(db: None, client: Client, language: str) -> None:
    answer = client.get(f"/{language}/fair/")
    assert answer.status_code == 200
    assert "SHA-256" in answer.text
    assert "tools/verify_round.py" in answer.text


def test_a_link_may_fill_the_form_in(db: None, client: Client) -> None:
    asked = {"commitment": "ab" * 32, "seed": SEED.hex(), "value": "kök \"<b>' 九", "decks": "8", "first": "77"}
    asked |= {"round": ROUND["id"], "table": "17", "rules": ROUND["rules"]}
    assert Inputs(client.get("/en/fair/", asked).text).values == asked


def test_without_a_link_the_form_asks_for_one_deck(db: None, client: Client) -> None:
    expected = {"commitment": "", "seed": "", "value": "", "decks": "1", "first": "1"}
    expected |= {"round": "", "table": "", "rules": ""}
    assert Inputs(client.get("/en/fair/").text).values == expected


def test_every_card_waits_in_the_page_in_the_order_of_the_unshuffled_deck(db: None, client: Client) -> None:
    cards = Inputs(client.get("/en/fair/").text).cards
    assert len(cards) == len(FULL_DECK)
    assert (cards[0], cards[13], cards[51]) == ("ace of clubs", "ace of diamonds", "king of spades")


def test_it_is_read_and_never_written_to(db: None, client: Client) -> None:
    assert client.post("/en/fair/", {"seed": SEED.hex()}).status_code == 405


def test_every_script_has_the_nonce_and_nothing_else_may_run(db: None, client: Client) -> None:
    answer = client.get("/en/fair/")
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    for script in Inputs(answer.text).scripts:
        assert f"'nonce-{script['nonce']}'" in policy


def test_the_command_it_names_checks_a_round() -> None:
    words = {"SEED": ROUND["seed"], "SEAL": ROUND["commitment"], "ID": ROUND["id"], "HEX": ROUND["rules"]}
    words |= {"--table N": f"--table {ROUND['table']}", "--decks N": f"--decks {ROUND['decks']}"}
    words |= {"TEXT": ROUND["player_value"].replace(" ", "\x00")}
    said = COMMAND
    for word, value in words.items():
        said = said.replace(word, value)
    _, script, *arguments = (word.replace("\x00", " ") for word in said.split())
    done = subprocess.run(
        [sys.executable, PROJECT / "tools" / script, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "matches" in done.stdout
