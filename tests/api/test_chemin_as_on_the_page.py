"""What a decision at a Chemin de Fer table leaves behind is the same through the API as on the page, also where it is
refused, where the player has to get up for it, and where the table is stopped over it: a call of a program is within a
transaction of its own, and a click is not.
"""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from games.engine.chemin import Phase
from games.errors import TableStopped
from games.models import CheminSeat, Incident, LiveTable, WhyLeft
from players.models import LimitKind, Period, Player
from players.protection import exclusions, limits
from tests.api.at_live import at, client_of, refused
from tests.api.left_behind import left_by
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    a_staked_coup,
    answer,
    asked_at,
    chemin_of,
    let_pass,
    seated_players,
    state_of,
)
from tests.chemin.hands import next_seed, shoes_where, third_card_refused
from tests.harness.sweeps import sweep
from tests.live.spoilt import spoil
from tests.people import a_member_of_staff, events

ERROR = "a_rule_that_is_looked_at_with_the_commit"
LATE_RULE = f"""
CREATE FUNCTION {ERROR}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'found with the commit' USING ERRCODE = 'check_violation'; END $$;
CREATE CONSTRAINT TRIGGER {ERROR} AFTER INSERT ON games_cheminmove DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION {ERROR}();
"""


class Asked:
    """What a player is about to say at a table."""

    def __init__(self, player: Player, table: LiveTable, action: str, amount: int | None = None, **said: Any) -> None:
        self.player, self.table = player, table
        self.said: dict[str, Any] = {"question": chemin_of(table).question, "action": action} | said
        if amount is not None:
            self.said["amount"] = amount

    def on_the_page(self) -> Callable[[], Any]:
        """Say it on the page."""
        visitor, here = Client(), f"/en/table/{self.table.table.slug}/real/"
        visitor.force_login(self.player.user)
        visitor.get(here)
        form = {**self.said, "amount": f"{self.said['amount'] / 100}"} if "amount" in self.said else self.said
        return lambda: visitor.post(f"{here}act/", form, headers={"HX-Request": "true"})

    def through_the_api(self) -> Callable[[], Any]:
        """Say it with a program, which has a session already."""
        api_client = client_of(self.player)
        aside = a_chemin_table(slug=f"beside-{self.table.table.slug}")
        assert api_client.post(at(aside, "seat/away")).status_code == 422  # nobody sits there, but it is an action
        return lambda: api_client.post(at(self.table, "decisions"), self.said)


def under_the_minimum(table: LiveTable, owner: psycopg.Connection) -> Asked:
    first, _ = seated_players(table, 2)
    return Asked(first, table, "take_bank", 100)


def out_of_turn(table: LiveTable, owner: psycopg.Connection) -> Asked:
    _, second = seated_players(table, 2)
    return Asked(second, table, "take_bank", 10_000)


def to_a_question_that_has_passed(table: LiveTable, owner: psycopg.Connection) -> Asked:
    first, _ = seated_players(table, 2)
    late = Asked(first, table, "take_bank", 10_000)
    let_pass(table)
    return late


def of_a_player_who_is_excluded(table: LiveTable, owner: psycopg.Connection) -> Asked:
    first, _ = seated_players(table, 2)
    return Asked(first, table, "take_bank", 10_000)


def over_a_limit(table: LiveTable, owner: psycopg.Connection) -> Asked:
    first, _ = seated_players(table, 2)
    limits.set_limit(player=first, kind=LimitKind.STAKE, period=Period.DAY, amount=9_999, by=str(first))
    return Asked(first, table, "take_bank", 10_000)


def with_a_bidder_who_may_not_pay(table: LiveTable, owner: psycopg.Connection) -> Asked:
    banker, second, third, _ = seated_players(table, 4)
    a_bank(table, 10_000)
    while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
        let_pass(table)
    answer(banker, table, "give_suite")
    while state_of(table).phase is Phase.SUITE:
        let_pass(table)
    answer(second, table, "make_bid", 7_000)
    answer(third, table, "make_bid", 6_000)
    limits.set_limit(player=second, kind=LimitKind.STAKE, period=Period.DAY, amount=1, by=str(second))
    return Asked(asked_at(table), table, "pass")


def from_a_spoilt_shoe(table: LiveTable, owner: psycopg.Connection) -> Asked:
    seated_players(table, 2)
    banker, _ = a_staked_coup(table)
    spoil(owner, LiveTable.objects.get(pk=table.pk).round_id, "leaves")  # type: ignore[arg-type]
    return Asked(banker, table, "deal_cards")


def that_is_good(table: LiveTable, owner: psycopg.Connection) -> Asked:
    seated_players(table, 2)
    a_bank(table, 10_000)
    while state_of(table).phase is Phase.CALLS:
        let_pass(table)
    return Asked(asked_at(table), table, "lay_stake", 4_000)


DECISIONS = {
    that_is_good: (200, None),
    under_the_minimum: (422, "croupier-refuses"),
    out_of_turn: (422, "croupier-refuses"),
    to_a_question_that_has_passed: (409, "question-passed"),
    over_a_limit: (403, "limit-reached"),
    with_a_bidder_who_may_not_pay: (200, None),
    from_a_spoilt_shoe: (409, "table-stopped"),
}


@pytest.mark.parametrize(
    ("stage", "answered"),
    sweep(DECISIONS.items(), always=lambda case: case[0] in (that_is_good, over_a_limit)),
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_decision_leaves_the_same_rows(cloned_db, owner, stage, answered):
    a_member_of_staff("supervisor")
    one, other = (stage(a_chemin_table(slug=slug), owner) for slug in ("one", "other"))
    click, call = one.on_the_page(), other.through_the_api()
    by_the_page = left_by(owner, click)
    answers: list[Any] = []
    by_the_client = left_by(owner, lambda: answers.append(call()))
    status, code = answered
    assert answers[0].status_code == status, answers[0].content
    if code:
        refused(answers[0], status, code)
    assert by_the_client == by_the_page
    assert by_the_page


@pytest.mark.sweep
def test_a_player_who_may_no_longer_play_leaves_the_seat(cloned_db, owner):
    one, other = (of_a_player_who_is_excluded(a_chemin_table(slug=slug), owner) for slug in ("one", "other"))
    call = other.through_the_api()
    for asked in (one, other):
        exclusions.pause(player=asked.player, by=str(asked.player))

    def click() -> None:
        """As the page's own view does it, whose log-in has ended with the exclusion."""
        with pytest.raises(Exception, match="excluded"):
            answer(one.player, one.table, "take_bank", 10_000)

    by_the_service = left_by(owner, click)
    answers: list[Any] = []
    by_the_client = left_by(owner, lambda: answers.append(call()))
    refused(answers[0], 403, "not-eligible", ineligibility="excluded")
    assert CheminSeat.objects.get(player=other.player).why_left == WhyLeft.SESSION
    assert by_the_client == by_the_service


def test_no_row_keeps_what_would_reveal_a_face_down_hand(cloned_db, owner, monkeypatch):
    found = shoes_where(third_card_refused)  # the punter must draw
    tables = []
    for slug, (seed, _coup) in zip(("one", "other"), found, strict=False):
        table = a_chemin_table(slug=slug)
        seated_players(table, 3)
        next_seed(monkeypatch, seed)
        banker = a_bank(table, 10_000)
        while state_of(table).phase is Phase.CALLS:
            let_pass(table)
        while state_of(table).phase is Phase.STAKES:
            answer(asked_at(table), table, "lay_stake", 1_000)
        answer(banker, table, "deal_cards")
        tables.append(table)
    one, other = (Asked(asked_at(table), table, "stand") for table in tables)
    click, call = one.on_the_page(), other.through_the_api()
    kept = owner.execute("SELECT count(*) FROM players_api_call").fetchone()
    assert left_by(owner, click) == {}
    answers: list[Any] = []
    assert left_by(owner, lambda: answers.append(call())) == {}
    refused(answers[0], 422, "croupier-refuses", reason="rule_binds")
    assert owner.execute("SELECT count(*) FROM players_api_call").fetchone() == kept
    assert events("play.refused") == []


def test_what_is_found_with_the_commit_stops_the_table_for_a_api_client_as_for_a_click(cloned_db, owner, monkeypatch):
    """Without looking for it, a call would break where a click stops the table: its commit comes after all of it."""
    one, other = (that_is_good(a_chemin_table(slug=slug), owner) for slug in ("one", "other"))
    call = other.through_the_api()
    owner.execute(LATE_RULE)
    with pytest.raises(TableStopped):
        answer(one.player, one.table, "lay_stake", 4_000)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(connection, "check_constraints", lambda: None)
        with pytest.raises(IntegrityError), transaction.atomic():
            answer(other.player, other.table, "lay_stake", 4_000)
    assert not Incident.objects.filter(table=other.table.table).exists()
    refused(call(), 409, "table-stopped")
    assert Incident.objects.filter(table=other.table.table).exists()
