"""What a client remembers is held to what the house says: whatever differs is found."""

from typing import Any

import pytest

from tests.drill.records import Record, disagreements

MONEY = 10_000


def a_round(name: str = "r", **bets: tuple[int, int]) -> dict[str, Any]:
    """A round as the API tells it: stake and payout of each bet."""
    lines = [{"bet": bet, "stake": stake, "payout": payout} for bet, (stake, payout) in bets.items()]
    return {
        "id": name,
        "status": "complete",
        "bets": lines,
        "staked": sum(stake for stake, _ in bets.values()),
        "paid": sum(payout for _, payout in bets.values()),
        "coup": None,
    }


def a_coup(name: str, bank: int, at_risk: int, /, **bets: tuple[int, int]) -> dict[str, Any]:
    return a_round(name, **bets) | {"coup": {"bank": bank, "at_risk": at_risk}}


@pytest.fixture
def record() -> Record:
    """Of a client who lost 100 in one round, and does not know whether the last chip of another one lay there."""
    record = Record("Ada", MONEY)
    record.lay("r", {"player": 100})
    record.paid["r"] = 0
    record.bets["s"] = ({"tie": 100}, {"tie": 200})
    return record


@pytest.fixture
def told() -> list[dict[str, Any]]:
    return [a_round("s", tie=(200, 1800)), a_round("r", player=(100, 0))]


HAS = MONEY - 100 + 1600


def found(record: Record, told: list[dict[str, Any]], has: int = HAS) -> list[str]:
    return [*disagreements(record, told, has)]


def test_nothing_is_found_where_they_agree(record, told):
    assert found(record, told) == []


def test_a_bet_that_was_taken_and_that_the_house_lost_is_found(record, told):
    del told[1]
    assert found(record, told, HAS + 100) == ["Ada: r was taken with ({'player': 100},), the house has none of it"]


def test_a_bet_that_may_not_have_been_taken_is_not_missed(record, told):
    record.bets["t"] = ({"tie": 100}, {})
    assert found(record, told) == []


def test_a_bet_that_the_client_never_made_is_found(record, told):
    told.append(a_round("u", banker=(50, 50)))
    assert found(record, told) == ["Ada: u has {'banker': 50}, and was told of nothing"]


@pytest.mark.parametrize("bets", [{"player": (150, 0)}, {"player": (100, 0), "tie": (50, 0)}, {"banker": (100, 0)}])
def test_other_stakes_than_were_taken_are_found(record, told, bets):
    told[1] = a_round("r", **bets)
    (first, *_) = found(record, told)
    assert first.endswith("and was told of ({'player': 100},)")


def test_another_outcome_than_was_told_is_found(record, told):
    told[1] = a_round("r", player=(100, 200))
    assert found(record, told, HAS + 200) == ["Ada: r paid 200, and 0 was told"]


def test_a_round_that_is_there_twice_is_found(record, told):
    told.append(told[1])
    assert found(record, told, HAS - 100) == ["Ada: the house has r 2 times"]


def test_a_round_that_was_annulled_is_found(record, told):
    told[1] |= {"status": "void"}
    assert found(record, told) == ["Ada: r is void"]


def test_bets_that_are_not_what_was_staked_and_paid_are_found(record, told):
    told[1] |= {"staked": 90, "paid": 10}
    assert found(record, told, HAS + 20) == [
        "Ada: the bets of r are not what was staked",
        "Ada: the bets of r are not what was paid",
        "Ada: r paid 10, and 0 was told",
    ]


@pytest.mark.parametrize("missing", [1, -1])
def test_money_that_is_not_what_was_told_is_found(record, told, missing):
    assert found(record, told, HAS - missing) == [f"Ada has {HAS - missing}, and by what was told {HAS}"]


def test_a_deposit_that_was_lost_and_a_withdrawal_that_was_paid_twice_are_found(record, told):
    record.deposited, record.withdrawn = 700, 300
    assert found(record, told, HAS + 400) == []
    assert found(record, told, HAS - 300) == [f"Ada has {HAS - 300}, and by what was told {HAS + 400}"]
    assert found(record, told, HAS + 100) == [f"Ada has {HAS + 100}, and by what was told {HAS + 400}"]


class TestAmongGuests:
    """A part in a coup against a bank."""

    @pytest.fixture
    def record(self) -> Record:
        """Of a client who took a bank, called banco against another one, and staked against a third."""
        record = Record("Ada", MONEY)
        record.banks["bank"] = 500
        record.calls["banco"] = 800
        record.lay("stake", {"punter": 100})
        return record

    @pytest.fixture
    def told(self) -> list[dict[str, Any]]:
        return [
            a_coup("bank", 500, 300, bank=(300, 0)),
            a_coup("banco", 800, 800, punter=(600, 600)),
            a_coup("stake", 900, 200, punter=(100, 200)),
            a_coup("kept", 700, 700, bank=(700, 700)),
        ]

    def test_nothing_is_found_where_they_agree(self, record, told):
        assert found(record, told, MONEY - 200) == []

    @pytest.mark.parametrize(
        ("place", "other"),
        [
            (0, a_coup("bank", 400, 300, bank=(300, 0))),
            (1, a_coup("banco", 800, 700, punter=(600, 600))),
            (1, a_coup("banco", 800, 800, punter=(900, 900))),
            (2, a_coup("stake", 900, 200, punter=(90, 190))),
        ],
    )
    def test_another_part_than_was_taken_is_found(self, record, told, place, other):
        told[place] = other
        (only,) = found(record, told, MONEY - 200)
        assert other["id"] in only

    @pytest.mark.parametrize(("place", "moved"), [(0, -300), (1, 0), (2, 100)])
    def test_a_part_that_the_house_lost_is_found(self, record, told, place, moved):
        del told[place]
        (only,) = found(record, told, MONEY - 200 - moved)
        assert only.endswith("the house has none of it")
