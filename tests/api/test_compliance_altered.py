"""The compliance API shows an altered value of a round together with the value that it should have."""

from tests.api.client import ApiClient
from tests.api.test_compliance_rounds import MONEY, answered
from tests.builders import a_player, a_round, a_table
from tests.games.corrupt import corrupt
from tests.people import a_member_of_staff


def test_what_was_altered_is_named(cloned_db, owner):
    round_id = a_round(a_player(real=MONEY), a_table(), player=1000).round_id
    corrupt(owner, round_id, "payout")
    played = answered(ApiClient(a_member_of_staff("compliance").user), round_id)
    assert played["differences"]
    assert all(each["stored"] != each["recomputed"] for each in played["differences"])
