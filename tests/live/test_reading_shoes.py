"""The public page of a shoe: the commitment, and the rounds dealt from it."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from games.engine.dealing import coup_at, cut_card_is_out, opening
from games.engine.shoe import commitment, shuffle
from games.models import LiveTable, Phase, Shoe, ShoeEnding
from games.shared import shoes
from tests.builders import a_player
from tests.harness.dealer import seed_of
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.voiding import cancel

MONEY = 1_000_000
LANGUAGES = ("sv", "da", "ro", "de", "en")
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
    assert seed_of(shoe).hex() not in seen
    for each in shoe.live_rounds.all():
        assert each.code in seen
        assert not each.cards or each.cards not in seen
    assert len(re.findall(r"(wins with|Tie,)", seen)) == 3
    assert seen.count("mini--") == 1, "the burn card alone"
    assert "First card" not in seen
    assert "data-cards" not in seen


def test_of_a_round_whose_cards_are_being_turned_up_it_tells_nothing(client: Client, live_table: LiveTable) -> None:
    dealt = advance_to(live_table, Phase.DEALT)
    assert dealt.cards
    seen = page(client, dealt.shoe)
    assert len(re.findall(r"(wins with|Tie,)", seen)) == 3
    assert "In progress" in seen


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_ended_it_tells_everything_to_anyone(client: Client, live_table: LiveTable, language: str) -> None:
    done = advance_to(live_table, Phase.SETTLED)
    shoes.end(done.shoe, ShoeEnding.RETIRED)
    assert shoes.publish(done.shoe_id) == ()
    seen = page(client, done.shoe, language)
    shoe = Shoe.objects.get(pk=done.shoe_id)
    assert bytes(shoe.seed or b"").hex() in seen
    assert seen.count("data-cards=") == 4
    for each in shoe.live_rounds.all():
        assert f'data-cards="{each.cards}" data-first="{each.first_card}"' in seen
    assert "--shoe" in seen


@pytest.mark.sweep
def test_a_round_voided_before_its_deal_has_a_cross_and_no_cards(client: Client, live_table: LiveTable) -> None:
    going = round_at(live_table)
    cancel(round_id=going.pk, by="staff:1")
    shoes.end(going.shoe, ShoeEnding.RETIRED)
    assert shoes.publish(going.shoe_id) == ()
    seen = page(client, going.shoe)
    assert seen.count("badge--void") == 1
    assert seen.count("data-cards=") == 3


def test_an_unknown_shoe_is_not_found(db: None, client: Client) -> None:
    assert client.get("/en/fair/shoe/00000000-0000-4000-8000-000000000000/").status_code == 404


@pytest.mark.sweep
def test_the_script_deals_the_shoe_that_was_dealt(live_table: LiveTable) -> None:
    done = advance_to(live_table, Phase.SETTLED)
    shoe = done.shoe
    printed = run(seed_of(shoe), "--shoe")
    assert printed[0] == f"burned      {shoe.burned} beginning with {shoe.burn_card}"
    assert printed[-1].split() == ["commitment", "matches"]
    for each in shoe.live_rounds.all():
        assert printed[each.number].split() == [str(each.number), str((each.first_card or 0) + 1), *each.cards.split()]
    first = run(seed_of(shoe), "--first-card", str((done.first_card or 0) + 1))
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
    assert [line.split() for line in run(seed, "--shoe")[1:-1]] == expected


@pytest.mark.sweep
def test_the_script_refuses_a_card_that_no_round_begins_with() -> None:
    for first in ("0", "412"):
        with pytest.raises(subprocess.CalledProcessError):
            run(bytes(32), "--first-card", first)


def run(seed: bytes, *more: str) -> list[str]:
    """Return the output of the script without surrounding white space."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), seed.hex(), commitment(seed), "--decks", "8", *more]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.splitlines()
