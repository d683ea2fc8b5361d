"""The public page of a Chemin de Fer shoe: what it shows during play, and how to verify it later."""

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from games.chemin import shoes
from games.deals import shoe_binding
from games.engine.chemin import Phase
from games.engine.commitments import Binding, Purpose
from games.engine.shoe import shuffle
from games.history.card_proofs import file_of
from games.models import CheminCoup, LiveRound, LiveTable, Round, Shoe, ShoeEnding
from games.models import Phase as RoundPhase
from games.shared.shoes import publish
from tests.chemin.at_table import a_bank, a_chemin_table, let_pass, seated_players, state_of
from tests.chemin.evenings import play_evening, play_until
from tests.engine.test_verify_round import named
from tests.examples.test_verify_round_in_perl import check as in_perl
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sweep_languages
from tests.voiding import void_as_two_agree

pytestmark = pytest.mark.django_db

LANGUAGES = ("sv", "da", "ro", "de", "en")
BINDING = Binding(Purpose.CHEMIN, "0198c6a0-1b2c-7d3e-8f40-112233445566", 7, 6, "ab" * 32)
SCRIPT = Path(__file__).parents[2] / "tools" / "verify_round.py"
RESULT = re.compile(r"(The punters win,|The bank wins,|A draw at)")


@pytest.fixture
def live_table(db: None) -> LiveTable:
    """A table with four finished coups. Not shared by tests: the dealer does not take back what they dealt."""
    table = a_chemin_table()
    seated_players(table, 3)
    play_evening(table, 4, seed=11)
    return table


def shoe_of(live_table: LiveTable) -> Shoe:
    return Shoe.objects.get(live_table=live_table)


def page(client: Client, shoe: Shoe, language: str = "en") -> str:
    answer = client.get(f"/{language}/fair/shoe/{shoe.pk}/")
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


def end(shoe: Shoe) -> None:
    """End a shoe without a coup in progress."""
    update_as_owner(LiveRound.objects.filter(shoe=shoe, phase__in=(RoundPhase.BETTING,)), phase=RoundPhase.VOID)
    assert shoes.end(shoe, ShoeEnding.RETIRED) == ()
    assert publish(shoe.pk, shoes.dealt_otherwise) == ()


def test_gli19_4_18_2_in_play_it_tells_results_of_chemin_and_no_card_and_no_count(
    client: Client, live_table: LiveTable
) -> None:
    play_until(live_table, lambda table: table.state.phase is Phase.PUNTER, seed=12)
    shoe = shoe_of(live_table)
    seen = page(client, shoe)
    assert shoe.commitment in seen
    assert len(RESULT.findall(seen)) == Round.objects.count()
    assert "In progress" in seen
    assert "mini--" not in seen
    assert "First card" not in seen
    assert "data-cards" not in seen
    assert "Burn card" not in seen
    assert not any(played.cards in seen for played in Round.objects.all())


@pytest.mark.sweep
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
def test_ended_it_tells_everything_to_anyone(client: Client, live_table: LiveTable, language: str) -> None:
    shoe = shoe_of(live_table)
    end(shoe)
    seen = page(client, shoe, language)
    shoe.refresh_from_db()
    assert bytes(shoe.seed or b"").hex() in seen
    assert seen.count("data-cards=") == Round.objects.count()
    for played in Round.objects.all():
        assert f'data-cards="{played.cards}" data-first="{played.first_card}"' in seen
        assert played.code in seen
    assert 'data-purpose="chemin"' in seen
    assert f"--purpose chemin --id {shoe.pk} --table {live_table.table_id} --decks 6" in seen


def test_both_hands_lie_as_they_were_played(client: Client, live_table: LiveTable) -> None:
    end(shoe_of(live_table))
    seen = page(client, shoe_of(live_table))
    for coup in CheminCoup.objects.all():
        assert f":{coup.punter_total}</b>" in seen
        assert f":{coup.banker_total}</b>" in seen
    assert seen.count("small-hand--player") == seen.count("small-hand--banker") == Round.objects.count()


@pytest.mark.sweep
def test_a_coup_in_which_nobody_staked_is_no_round_of_the_shoe(client: Client) -> None:
    live_table = a_chemin_table(slug="other")
    seated_players(live_table, 3)
    a_bank(live_table)
    while state_of(live_table).phase in (Phase.CALLS, Phase.STAKES):
        let_pass(live_table)
    (nothing,) = LiveRound.objects.filter(phase=RoundPhase.VOID)
    seen = page(client, nothing.shoe)
    assert nothing.code not in seen
    assert "badge--void" not in seen


@pytest.mark.sweep
def test_the_script_prints_the_cards_in_the_order_that_coups_took_them(live_table: LiveTable) -> None:
    shoe = shoe_of(live_table)
    end(shoe)
    shoe.refresh_from_db()
    printed = run(bytes(shoe.seed or b""), shoe_binding(shoe))
    assert printed[-1].split() == ["commitment", "matches"]
    cards = [card for line in printed[:-2] for card in line.split()[1:]]
    assert [line.split()[0] for line in printed[:3]] == ["1", "11", "21"]
    assert len(cards) == 312
    for played in Round.objects.all():
        first = played.first_card or 0
        assert cards[first : first + len(played.cards.split())] == played.cards.split()


def test_each_finished_coup_is_proven_in_play_and_no_other_card(live_table: LiveTable, tmp_path: Path) -> None:
    play_until(live_table, lambda table: table.state.phase is Phase.PUNTER, seed=15)
    shoe = shoe_of(live_table)
    shown = file_of(shoe)
    proven = [(each["cards"][0]["place"], " ".join(card["card"] for card in each["cards"])) for each in shown["rounds"]]
    finished = Round.objects.order_by("first_card").values_list("first_card", "cards")
    assert proven == list(finished)
    assert len(proven[-1][1].split()) + proven[-1][0] == shoe.gone - 4, (
        "four cards of the coup in progress are left out"
    )
    file = tmp_path / "shoe.json"
    file.write_text(json.dumps(shown))
    command = [sys.executable, "-I", "-S", str(SCRIPT), "--proof", str(file), "--root", shoe.root]
    assert subprocess.run(command, check=False, capture_output=True, cwd="/").returncode == 0
    assert in_perl(file).returncode == 0


@pytest.mark.sweep
def test_the_script_prints_what_the_engine_shuffles() -> None:
    seed = bytes(range(32))
    cards = [card for line in run(seed, BINDING)[:-2] for card in line.split()[1:]]
    assert cards == [card.code for card in shuffle(seed, 6)]


def run(seed: bytes, binding: Binding) -> list[str]:
    """Return the output of the script without surrounding white space."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), seed.hex(), binding.commitment(seed), *named(binding)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.splitlines()


@pytest.mark.sweep
def test_the_cards_of_a_voided_coup_are_shown_and_it_has_a_cross(client: Client, live_table: LiveTable) -> None:
    coup = play_until(live_table, lambda table: table.state.phase is Phase.PUNTER, seed=13).live_round
    assert coup
    void_as_two_agree(coup.pk)
    seen, kept = page(client, coup.shoe), Round.objects.get(pk=coup.pk)
    assert len(kept.cards.split()) == 4
    assert f'data-cards="{kept.cards}" data-first="{kept.first_card}"' in seen
    assert seen.count("badge--void") == 1
