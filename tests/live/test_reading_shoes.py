"""The public page of a shoe: the commitment, and the rounds dealt from it."""

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from games.deals import shoe_binding
from games.engine.commitments import Binding, Purpose
from games.engine.dealing import coup_at, cut_card_is_out, opening
from games.engine.shoe import shuffle
from games.history.card_proofs import file_of
from games.models import DealtCards, LiveTable, Phase, Shoe
from tests.builders import a_player
from tests.dealt_shoes import ended, seed_of
from tests.engine.test_verify_round import named
from tests.examples.test_verify_round_in_perl import check as in_perl
from tests.harness.owner import create_as_owner
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.live.so_far import settle_before
from tests.voiding import cancel

MONEY = 1_000_000
LANGUAGES = ("sv", "da", "ro", "de", "en")
BINDING = Binding(Purpose.SHOE, "0198c6a0-1b2c-7d3e-8f40-112233445566", 7, 8, "ab" * 32)
SCRIPT = Path(__file__).parents[2] / "tools" / "verify_round.py"


@pytest.fixture
def live_table(db: None) -> LiveTable:
    """A table with three paid rounds and a fourth that takes bets."""
    table, player = a_live_table(), a_player(real=MONEY)
    for _ in range(3):
        bet(player, table, banker=25_000)
        advance_to(table, Phase.SETTLED)
        step(table)
    bet(player, table, banker=25_000)
    return table


def shoe_of(live_table: LiveTable) -> Shoe:
    return round_at(live_table).shoe


def page(client: Client, shoe: Shoe, language: str = "en") -> str:
    answer = client.get(f"/{language}/fair/shoe/{shoe.pk}/")
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


def test_gli19_4_18_2_in_play_it_tells_results_and_no_card_and_no_count(client: Client, live_table: LiveTable) -> None:
    shoe = shoe_of(live_table)
    seen = page(client, shoe)
    assert shoe.commitment in seen
    assert shoe.root in seen
    assert seed_of(shoe).hex() not in seen
    for each in shoe.live_rounds.all():
        assert each.code in seen
        assert not each.cards or each.cards not in seen
    assert len(re.findall(r"(wins with|Tie,)", seen)) == 3
    assert seen.count("mini--") == 1, "the burn card alone"
    assert "First card" not in seen
    assert "data-cards" not in seen


def test_it_shows_the_roads_of_settled_rounds_and_leads_to_the_shoes_next_to_it(
    client: Client, live_table: LiveTable
) -> None:
    shoe = shoe_of(live_table)
    settle_before(live_table, ["4H 2C 4D 3S"] * 2)
    seen = page(client, shoe)
    assert re.findall(r'class="road road--(\w+)"', seen) == ["beads", "big", "rings", "dots", "slashes"]
    plate = seen.split("<desc>")[1].split("</desc>")[0]
    assert sum(map(int, re.findall(r"\d+", plate))) == 5
    assert 'rel="prev"' not in seen
    later = Shoe.objects.get(pk=shoe.pk)
    later.pk, later.number, later.commitment = uuid4(), shoe.number + 1, "ab" * 32
    create_as_owner(later)
    assert f'rel="next" href="/en/fair/shoe/{later.pk}/"' in page(client, shoe)
    assert f'rel="prev" href="/en/fair/shoe/{shoe.pk}/"' in page(client, later)


def test_of_a_round_whose_cards_are_being_turned_up_it_tells_nothing(client: Client, live_table: LiveTable) -> None:
    dealt = advance_to(live_table, Phase.DEALT)
    assert dealt.cards
    seen = page(client, dealt.shoe)
    assert len(re.findall(r"(wins with|Tie,)", seen)) == 3
    assert "In progress" in seen


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_ended_it_tells_everything_to_anyone(client: Client, live_table: LiveTable, language: str) -> None:
    shoe = ended(advance_to(live_table, Phase.SETTLED).shoe)
    seen = page(client, shoe, language)
    assert bytes(shoe.seed or b"").hex() in seen
    assert seen.count("data-cards=") == 4
    for each in shoe.live_rounds.all():
        assert f'data-cards="{each.cards}" data-first="{each.first_card}"' in seen
    assert f"--purpose shoe --id {shoe.pk} --table {live_table.table_id} --decks 8 --rules {shoe.rules_digest}" in seen
    assert f"--root {shoe.root}" in seen


@pytest.mark.sweep
def test_a_round_voided_before_its_deal_has_a_cross_and_no_cards(client: Client, live_table: LiveTable) -> None:
    going = round_at(live_table)
    cancel(round_id=going.pk, by="staff:1")
    ended(going.shoe)
    seen = page(client, going.shoe)
    assert seen.count("badge--void") == 1
    assert seen.count("data-cards=") == 3


def test_an_unknown_shoe_is_not_found(db: None, client: Client) -> None:
    for file in ("", "proof.json"):
        assert client.get(f"/en/fair/shoe/00000000-0000-4000-8000-000000000000/{file}").status_code == 404


def proof(client: Client, shoe: Shoe) -> dict[str, Any]:
    answer = client.get(f"/en/fair/shoe/{shoe.pk}/proof.json")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="shoe-{shoe.pk}.json"'
    read: dict[str, Any] = answer.json()
    return read


def test_in_play_its_proof_has_the_rounds_that_are_over_and_no_card_to_come(
    client: Client, live_table: LiveTable, tmp_path: Path
) -> None:
    dealt = advance_to(live_table, Phase.DEALT)
    shown = proof(client, dealt.shoe)
    assert shown["seed"] is None
    over = dealt.shoe.live_rounds.filter(phase=Phase.SETTLED).order_by("number")
    assert [" ".join(card["card"] for card in each["cards"]) for each in shown["rounds"]] == [r.cards for r in over]
    assert [each["cards"][0]["place"] for each in shown["rounds"]] == [each.first_card for each in over]
    salts = bytes(DealtCards.objects.get(round_id=dealt.pk).salts).hex()
    assert salts[:32] not in str(shown), "a salt would tell a card by its leaf"
    assert_the_script_agrees(tmp_path, shown, dealt.shoe)


def test_ended_its_proof_has_every_round_and_the_seed(client: Client, live_table: LiveTable, tmp_path: Path) -> None:
    shoe = ended(advance_to(live_table, Phase.SETTLED).shoe)
    shown = proof(client, shoe)
    assert bytes.fromhex(shown["seed"]) == seed_of(shoe)
    assert len(shown["rounds"]) == 4
    assert_the_script_agrees(tmp_path, shown, shoe)
    shown["rounds"][1]["cards"] = shown["rounds"][2]["cards"]
    assert by_script(tmp_path, shown, shoe).returncode == 1


def test_the_proof_holds_without_the_house_in_perl_too(live_table: LiveTable, tmp_path: Path) -> None:
    shoe = advance_to(live_table, Phase.SETTLED).shoe
    for each in (shoe, ended(shoe)):
        file = tmp_path / "shoe.json"
        file.write_text(json.dumps(file_of(each)))
        ran = in_perl(file)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout.count("round 4") == (1 if each.seed is None else 2)


def assert_the_script_agrees(folder: Path, shown: dict[str, Any], shoe: Shoe) -> None:
    ran = by_script(folder, shown, shoe)
    assert (ran.returncode, ran.stderr) == (0, "")
    for each in shown["rounds"]:
        cards = " ".join(card["card"] for card in each["cards"])
        assert f"{each['number']:<5}{each['cards'][0]['place'] + 1:<7} {cards} matches" in ran.stdout


def by_script(folder: Path, shown: dict[str, Any], shoe: Shoe) -> subprocess.CompletedProcess[str]:
    file = folder / "shoe.json"
    file.write_text(json.dumps(shown))
    command = [sys.executable, "-I", "-S", str(SCRIPT), "--proof", str(file), "--root", shoe.root]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


@pytest.mark.sweep
def test_the_script_deals_the_shoe_that_was_dealt(live_table: LiveTable) -> None:
    done = advance_to(live_table, Phase.SETTLED)
    shoe = done.shoe
    printed = run(seed_of(shoe), shoe_binding(shoe), "--root", shoe.root)
    assert printed[0] == f"burned      {shoe.burned} beginning with {shoe.burn_card}"
    assert printed[-1].split() == ["commitment", "matches"]
    for each in shoe.live_rounds.all():
        assert printed[each.number].split() == [str(each.number), str((each.first_card or 0) + 1), *each.cards.split()]
    first = run(seed_of(shoe), shoe_binding(shoe), "--first-card", str((done.first_card or 0) + 1))
    assert first[0].split()[1:] == done.cards.split()


@pytest.mark.parametrize("number", sample(range(6), 1))
def test_the_script_deals_a_shoe_through_as_the_engine_does(number: int) -> None:
    seed = bytes([number]) * 32
    cards = shuffle(seed, 8)
    begins = opening(cards)
    gone, is_last = begins.burned, False
    expected: list[list[str]] = []
    while not is_last:
        is_last = cut_card_is_out(gone, begins.cut)
        coup = coup_at(cards, gone)
        expected.append([str(len(expected) + 1), str(gone + 1), *(card.code for card in coup.cards)])
        gone += len(coup.cards)
    assert [line.split() for line in run(seed, BINDING)[1:-2]] == expected


def run(seed: bytes, binding: Binding, *more: str) -> list[str]:
    """Return the lines that the script prints about a shoe of a shared table."""
    shown = [seed.hex(), binding.commitment(seed), *named(binding), *more]
    command = [sys.executable, "-I", "-S", str(SCRIPT), *shown]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.splitlines()
