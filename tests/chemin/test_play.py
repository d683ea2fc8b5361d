"""An evening at a Chemin de Fer table, through the services: who sits where, what is asked of whom, and what every
answer does to money and to rows.
"""

import pytest

from games.engine.chemin import Phase
from tests.chemin.at_table import (
    a_chemin_table,
    a_dealt_coup,
    guests,
    step_to,
)
from wallet import verify

pytestmark = pytest.mark.django_db


def test_a_coup_from_sitting_down_to_its_end():
    table = a_chemin_table()
    players = guests(table, 3)
    banker, _ = a_dealt_coup(table)
    assert banker == players[0]
    step_to(table, Phase.CHOICE, Phase.OFFER)
    assert not [row for check in verify.run() for row in check.rows]
