"""A variant is one folder: no style sheet, template or script outside names its slug or the codes
of its bets.
"""

import re
from pathlib import Path

import pytest

from games.engine.coup import Outcome
from games.variants import GAMES, VARIANTS

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    path
    for ending in ("css", "js", "html")
    for top in ("static", "templates", "fragments")
    for path in (ROOT / top).rglob(f"*.{ending}")
]
CODES = {bet.code for variant in VARIANTS.values() for bet in variant.bets}
# "player", "banker" and "tie" are also outcomes and hands; as bets they follow one of these.
NAMED = re.compile(
    rf"(?:spots?|take|favourite__bet)--(?:{'|'.join(CODES | set(GAMES))})\b"
    rf"|\b(?:bet|take)[-:](?:{'|'.join(CODES)})\b"
    rf"|\b(?:{'|'.join(CODES - set(Outcome))})\b"
    rf"|[\"'](?:{'|'.join(GAMES)})[\"']"
)


@pytest.mark.parametrize("named", [".spot--tie {", "spots--pairs", "#bet-player", "super_6", 'data-felt="golden"'])
def test_what_names_a_bet_or_a_game_is_seen(named: str):
    assert NAMED.search(named)


def test_nothing_outside_the_folders_of_the_variants_names_a_game_or_a_bet():
    found = {path.relative_to(ROOT).as_posix(): NAMED.findall(path.read_text()) for path in FILES}
    assert {name: names for name, names in found.items() if names} == {}
