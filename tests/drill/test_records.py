"""The records of a client are compared with the house, and each difference is found."""

from typing import Any

import pytest

from tests.drill.records import Record, at_a_loss, disagreements, nothing_done

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
    """Record of a client who lost 100 in one round, and does not know whether the last chip of another was placed."""
    record = Record("Ada", MONEY)
    record.lay("r", {"player": 100})
    record.paid["r"] = 0
    record.bets["s"] = ({"tie": 100}, {"tie": 200})
    return record


@pytest.fixture
def reported() -> list[dict[str, Any]]:
    return [a_round("s", tie=(200, 1800)), a_round("r", player=(100, 0))]


HAS = MONEY - 100 + 1600


def found(record: Record, reported: list[dict[str, Any]], has: int = HAS) -> list[str]:
    return [*disagreements(record, reported, has)]


def test_nothing_is_found_where_they_agree(record, reported):
    assert found(record, reported) == []


def test_a_bet_that_was_taken_and_that_the_house_lost_is_found(record, reported):
    del reported[1]
    assert found(record, reported, HAS + 100) == ["Ada: r was taken with ({'player': 100},), the house has none of it"]


def test_a_bet_that_may_not_have_been_taken_is_not_missed(record, reported):
    record.bets["t"] = ({"tie": 100}, {})
    assert found(record, reported) == []


def test_a_bet_that_the_client_never_made_is_found(record, reported):
    reported.append(a_round("u", banker=(50, 50)))
    assert found(record, reported) == ["Ada: u has {'banker': 50}, and was told of nothing"]


@pytest.mark.parametrize("bets", [{"player": (150, 0)}, {"player": (100, 0), "tie": (50, 0)}, {"banker": (100, 0)}])
def test_other_stakes_than_were_taken_are_found(record, reported, bets):
    reported[1] = a_round("r", **bets)
    (first, *_) = found(record, reported)
    assert first.endswith("and was told of ({'player': 100},)")


def test_another_outcome_than_reported_is_found(record, reported):
    reported[1] = a_round("r", player=(100, 200))
    assert found(record, reported, HAS + 200) == ["Ada: r paid 200, and 0 was told"]


def test_a_round_that_is_there_twice_is_found(record, reported):
    reported.append(reported[1])
    assert found(record, reported, HAS - 100) == ["Ada: the house has r 2 times"]


def test_a_round_that_was_voided_is_found(record, reported):
    reported[1] |= {"status": "void"}
    assert found(record, reported) == ["Ada: r is void"]


def test_bets_that_are_not_what_was_staked_and_paid_are_found(record, reported):
    reported[1] |= {"staked": 90, "paid": 10}
    assert found(record, reported, HAS + 20) == [
        "Ada: the bets of r are not what was staked",
        "Ada: the bets of r are not what was paid",
        "Ada: r paid 10, and 0 was told",
    ]


@pytest.mark.parametrize("missing", [1, -1])
def test_money_that_differs_from_the_report_is_found(record, reported, missing):
    assert found(record, reported, HAS - missing) == [f"Ada has {HAS - missing}, and by what was told {HAS}"]


def test_a_deposit_that_was_lost_and_a_withdrawal_that_was_paid_twice_are_found(record, reported):
    record.deposited, record.withdrawn = 700, 300
    assert found(record, reported, HAS + 400) == []
    assert found(record, reported, HAS - 300) == [f"Ada has {HAS - 300}, and by what was told {HAS + 400}"]
    assert found(record, reported, HAS + 100) == [f"Ada has {HAS + 100}, and by what was told {HAS + 400}"]


def test_a_player_who_did_nothing_is_found(record, reported):
    assert [*nothing_done(record, 1, reported, pays=False)] == []
    assert [*nothing_done(record, 0, reported, pays=False)] == ["Ada: nothing was confirmed"]


def test_a_player_who_clicked_and_has_no_certain_round_is_found(record, reported):
    """Every click is recorded before it is sent; refused each time, it leaves the possible stakes as they were."""
    record.bets = {"r": ({}, {"player": 100})}
    assert [*nothing_done(record, 1, reported, pays=False)] == [
        "Ada: the house has no round in which a bet of theirs was taken"
    ]


@pytest.mark.parametrize(("deposited", "withdrawn"), [(700, 0), (0, 300)])
def test_a_player_who_pays_one_way_alone_is_found(record, deposited, withdrawn):
    record.deposited, record.withdrawn = deposited, withdrawn
    assert [*nothing_done(record, 1, [], pays=True)] == [f"Ada paid in {deposited} and was paid {withdrawn}"]
    record.deposited = record.withdrawn = 300
    assert [*nothing_done(record, 1, [], pays=True)] == []


def of_a_bank(name: str, bank: int, at_risk: int, paid: int) -> dict[str, Any]:
    return a_coup(name, bank, at_risk, bank=(at_risk, paid))


class TestAmongPlayers:
    """A part in a coup against a bank."""

    @pytest.fixture
    def record(self) -> Record:
        """Return the record of a client who took a bank of 500 and kept it once, called banco against another one, and
        staked against a third; the client's bids for one failed.
        """
        record = Record("Ada", MONEY, banks=[500, 400], kept=1)
        record.calls["banco"] = 800
        record.lay("stake", {"punter": 100})
        return record

    @pytest.fixture
    def reported(self) -> list[dict[str, Any]]:
        return [
            a_coup("stake", 900, 200, punter=(100, 200)),
            a_coup("banco", 800, 800, punter=(600, 600)),
            of_a_bank("kept", 785, 785, 0),
            of_a_bank("bank", 500, 300, 585),
        ]

    HAS = MONEY + 285 - 785 + 100

    def test_nothing_is_found_where_they_agree(self, record, reported):
        assert found(record, reported, self.HAS) == []

    @pytest.mark.parametrize(
        ("place", "other"),
        [
            (3, of_a_bank("bank", 501, 300, 585)),
            (2, of_a_bank("kept", 786, 785, 0)),
            (1, a_coup("banco", 800, 700, punter=(600, 600))),
            (1, a_coup("banco", 800, 800, punter=(900, 900))),
            (0, a_coup("stake", 900, 200, punter=(90, 190))),
        ],
    )
    def test_another_part_than_was_taken_is_found(self, record, reported, place, other):
        reported[place] = other
        assert any(other["id"] in each for each in found(record, reported, self.HAS))

    def test_a_bank_that_was_never_taken_is_found(self, record, reported):
        reported.insert(0, of_a_bank("new", 700, 700, 700))
        (only,) = found(record, reported, self.HAS)
        assert only == "Ada: new was played against their bank of 700, and they took [500, 400]"

    def test_a_bank_that_was_not_kept_is_found(self, record, reported):
        record.kept = 0
        (only,) = found(record, reported, self.HAS)
        assert only.startswith("Ada: kept was played against their bank of 785")

    def test_a_bank_that_was_lost_cannot_be_kept(self, record, reported):
        record.kept = 2
        reported.insert(2, of_a_bank("lost", 0, 0, 0))
        (only,) = found(record, reported, self.HAS)
        assert only.startswith("Ada: lost was played against")

    def test_one_that_somebody_else_s_came_after_cannot_be_kept(self, record, reported):
        reported[2], reported[1] = reported[1], reported[2]
        (only,) = found(record, reported, self.HAS)
        assert only.startswith("Ada: kept was played against")

    def test_what_outgrows_the_table_goes_home(self, record, reported):
        record.largest_bank = 600
        reported[2] = of_a_bank("kept", 600, 600, 0)
        assert found(record, reported, MONEY + 285 - 600 + 100) == []

    @pytest.mark.parametrize(("place", "changed"), [(1, 0), (0, 100)])
    def test_a_part_that_the_house_lost_is_found(self, record, reported, place, changed):
        del reported[place]
        (only,) = found(record, reported, self.HAS - changed)
        assert only.endswith("the house has none of it")


class TestWhatPlayersReportedOfOneAnother:
    """A coup of two, where each player sees their own part."""

    @pytest.fixture
    def records(self) -> list[Record]:
        return [Record("Ada", MONEY, banks=[500]), Record("Bob", MONEY, against={"c"})]

    @pytest.fixture
    def reported(self) -> list[list[dict[str, Any]]]:
        return [[of_a_bank("c", 500, 300, 585)], [a_coup("c", 500, 300, punter=(300, 0))]]

    @pytest.fixture(autouse=True)
    def taxed(self, reported) -> None:
        for (each,) in reported:
            each["coup"]["tax"] = 15

    def test_nothing_is_found_where_it_comes_out_even(self, records, reported):
        assert [*at_a_loss(records, reported)] == []

    def test_a_bank_that_was_taken_and_that_the_house_lost_is_found_however_briefly_it_stood(self, records, reported):
        reported[0].clear()
        assert [*at_a_loss(records, reported)] == ["c: 0 of the players were shown it as their bank"]

    def test_a_coup_that_the_house_lost_whole_is_found(self, records, reported):
        reported = [[], []]
        assert [*at_a_loss(records, reported)] == ["c: 0 of the players were shown it as their bank"]

    def test_a_bank_that_two_had_is_found(self, records, reported):
        reported[1] = reported[0]
        assert [*at_a_loss(records, reported)] == ["c: 2 of the players were shown it as their bank"]

    def test_a_stake_that_the_house_has_of_nobody_is_found(self, records, reported):
        reported[1][0]["staked"] = 200
        assert [*at_a_loss(records, reported)] == ["c: 300 was at risk, the bank staked 300, the others 200"]

    def test_money_that_came_from_nowhere_is_found(self, records, reported):
        reported[1][0]["paid"] = 1
        assert [*at_a_loss(records, reported)] == ["c: 586 was paid of twice 300 less 15"]
