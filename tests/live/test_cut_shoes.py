"""Players cut a new shoe: they add chance to its shuffle after the dealer has committed to the seed."""

from hashlib import sha256
from uuid import UUID, uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from audit.sealing import sealer
from games import deals
from games.engine.commitments import entropy_of
from games.engine.shoe import shuffle
from games.models import LiveTable, Phase, Shoe, ShoeChance, ShoeCut
from games.shared import moves, phases, shoes
from games.shared.pages import announcements
from games.shared.phases import read_awake
from games.shared.state import LATE
from players.models import Player
from tests.builders import a_player
from tests.harness.owner import OwnerWithin, as_owner
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step
from tests.people import a_visitor, events

RICH = 1_000_000
VALUE = "ab" * 16
OTHER = "cd" * 16


def digest_of(value: str) -> str:
    return sha256(value.encode()).hexdigest()


@pytest.fixture
def player(cloned_db) -> Player:
    return a_player(real=RICH)


@pytest.fixture
def cut(player: Player, owner: psycopg.Connection) -> ShoeCut:
    return a_cut_shoe(player, owner)


def a_cut_shoe(player: Player, owner: psycopg.Connection | OwnerWithin) -> ShoeCut:
    """Return the next shoe of a table whose player has bet on the last round of the one before."""
    live_table = a_live_table()
    spend(owner)
    bet(player, live_table, player=5000)
    advance_to(live_table, Phase.SETTLED)
    step(live_table)
    return ShoeCut.objects.get()


def spend(owner: psycopg.Connection | OwnerWithin) -> None:
    """Make each round on a table the last of its shoe."""
    owner.execute("ALTER TABLE games_liveround DISABLE TRIGGER USER")
    owner.execute("UPDATE games_liveround SET is_last = true")
    owner.execute("ALTER TABLE games_liveround ENABLE TRIGGER USER")


def all_bound(cut: ShoeCut) -> None:
    """Let the time pass in which players bind themselves."""
    as_owner("UPDATE games_shoecut SET bound_until = clock_timestamp()")


def put_on_the_table(cut: ShoeCut) -> Shoe:
    live_table = LiveTable.objects.get(pk=cut.live_table_id)
    step(live_table)
    return round_at(live_table).shoe


def test_a_shoe_has_what_its_players_have_added(cut, player, capsys):
    table, other = cut.live_table_id, a_player(real=RICH)
    seats_of(other, cut)
    assert moves.bind_chance(table, cut.shoe_id, player.pk, digest_of(VALUE))
    assert moves.bind_chance(table, cut.shoe_id, other.pk, digest_of(OTHER))
    all_bound(cut)
    assert moves.open_chance(table, cut.shoe_id, player.pk, VALUE)
    assert moves.open_chance(table, cut.shoe_id, other.pk, OTHER)
    shoe = put_on_the_table(cut)
    added = sorted(f"{digest_of(value)} {value}" for value in (VALUE, OTHER))
    assert (shoe.pk, shoe.commitment, shoe.entropy) == (cut.shoe_id, cut.commitment, entropy_of(added))
    assert [each["data"]["chances"] for each in events("shoe.opened")][-1] == added
    assert not ShoeCut.objects.exists()
    live_table = LiveTable.objects.get(pk=table)
    bet(player, live_table, player=5000)
    settled = advance_to(live_table, Phase.SETTLED)
    with transaction.atomic():
        shoes.retire(settled.shoe)
    assert shoes.publish(shoe.pk) == ()
    shoe.refresh_from_db()
    dealt = shuffle(bytes(shoe.seed or b""), shoe.decks, shoe.entropy)[settled.first_card :][
        : len(settled.cards.split())
    ]
    assert shoes.written(dealt) == settled.cards
    sealer.seal()
    call_command("verify_house", "--part", "rounds")


def address_of(live_table_id: int) -> str:
    live_table = LiveTable.objects.select_related("table").get(pk=live_table_id)
    return f"/en/table/{live_table.table.slug}/real/"


def seats_of(player: Player, cut: ShoeCut) -> None:
    """Open the table for a player, as its page does."""
    visitor = a_visitor()
    visitor.force_login(player.user)
    assert visitor.get(address_of(cut.live_table_id)).status_code == 200


def test_the_commitment_is_in_the_log_before_anybody_adds_anything(cut):
    (event,) = events("shoe.committed")
    assert event["data"]["commitment"] == cut.commitment
    assert not ShoeChance.objects.exists()


class TestAValue:
    def test_is_bound_once_and_before_any_is_opened(self, cut, player):
        table = cut.live_table_id
        assert moves.bind_chance(table, cut.shoe_id, player.pk, digest_of(VALUE))
        assert not moves.bind_chance(table, cut.shoe_id, player.pk, digest_of(OTHER))
        assert not moves.open_chance(table, cut.shoe_id, player.pk, VALUE)  # others may still choose theirs
        all_bound(cut)
        assert not moves.open_chance(table, cut.shoe_id, player.pk, OTHER)
        assert moves.open_chance(table, cut.shoe_id, player.pk, VALUE)

    def test_comes_too_late_when_others_are_known(self, cut, player):
        all_bound(cut)
        assert not moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, digest_of(VALUE))

    def test_that_is_not_opened_in_time_does_not_count(self, cut, player):
        moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, digest_of(VALUE))
        all_bound(cut)
        hurry(LiveTable.objects.get(pk=cut.live_table_id))
        assert not moves.open_chance(cut.live_table_id, cut.shoe_id, player.pk, VALUE)
        assert put_on_the_table(cut).entropy == ""
        opened = events("shoe.opened")[-1]["data"]
        assert (opened["chances"], opened["unopened"]) == ([], [digest_of(VALUE)])

    def test_is_of_somebody_who_is_at_the_table_and_for_this_shoe(self, cut, player):
        stranger = a_player()
        assert not moves.bind_chance(cut.live_table_id, cut.shoe_id, stranger.pk, digest_of(VALUE))
        assert not moves.bind_chance(cut.live_table_id, uuid4(), player.pk, digest_of(VALUE))
        assert not moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, VALUE)


class TestTheWebRole:
    @pytest.mark.parametrize("entropy", ["", "0" * 64, entropy_of([f"{digest_of(OTHER)} {OTHER}"])])
    def test_leaves_out_no_value_and_adds_none(self, cut, player, entropy):
        moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, digest_of(VALUE))
        all_bound(cut)
        moves.open_chance(cut.live_table_id, cut.shoe_id, player.pk, VALUE)
        live_table = LiveTable.objects.select_related("table").get(pk=cut.live_table_id)
        hurry(live_table)
        binding = shoes.next_binding(live_table, cut.shoe_id)
        with pytest.raises(moves.DoesNotFit):
            moves.open_shoe(live_table, deals.new_shoe(binding, entropy))

    def test_puts_no_other_shoe_on_the_table(self, cut):
        live_table = LiveTable.objects.select_related("table").get(pk=cut.live_table_id)
        hurry(live_table)
        with pytest.raises(moves.DoesNotFit):
            moves.open_shoe(live_table, deals.new_shoe(shoes.next_binding(live_table)))

    def test_opens_none_that_is_still_being_cut(self, cut):
        live_table = LiveTable.objects.select_related("table").get(pk=cut.live_table_id)
        binding = shoes.next_binding(live_table, cut.shoe_id)
        with pytest.raises(moves.DoesNotFit):
            moves.open_shoe(live_table, deals.new_shoe(binding))


def test_where_nobody_plays_nobody_cuts_and_the_page_says_so(cloned_db):
    live_table = a_live_table()
    assert not ShoeCut.objects.exists()
    player = a_player(real=RICH)
    visitor = a_visitor()
    visitor.force_login(player.user)
    assert "No player has added random numbers to this shoe" in visitor.get(address_of(live_table.pk)).text
    assert round_at(live_table).shoe.entropy == ""


def test_the_table_is_late_only_when_the_shoe_does_not_come_after_the_cut(cut):
    state = read_awake(cut.live_table_id)
    assert "as soon as cards can be dealt again" not in " ".join(announcements.notes(state.at(cut.open_until)))
    assert not state.at(cut.open_until + LATE).is_late
    assert state.at(cut.open_until + 2 * LATE).is_late


def test_a_cut_that_was_forgotten_is_repeated_with_another_seed(cut, owner):
    """The house was down, or was restored from a backup: the dealer may no longer have the seed."""
    owner.execute("UPDATE games_shoecut SET open_until = clock_timestamp() - interval '2 minutes'")
    assert phases.advance(cut.live_table_id)
    again = ShoeCut.objects.get()
    assert (again.shoe_id, again.commitment) != (cut.shoe_id, cut.commitment)
    assert put_on_the_table(again).commitment == again.commitment


class TestThePage:
    @pytest.fixture
    def visitor(self, cut, player) -> Client:
        visitor = a_visitor()
        visitor.force_login(player.user)
        return visitor

    def send(self, visitor: Client, shoe: UUID, **sent: str) -> object:
        address = address_of(ShoeCut.objects.get(shoe_id=shoe).live_table_id)
        answer = visitor.post(f"{address}cut/", {"cut": shoe, **sent})
        return answer.json()["is_in_time"] if answer.status_code == 200 else answer.status_code

    def test_shows_that_the_shoe_is_cut(self, visitor, cut):
        page = visitor.get(address_of(cut.live_table_id)).text
        assert f'data-shoe="{cut.shoe_id}"' in page
        assert cut.commitment in page
        assert read_awake(cut.live_table_id).is_cutting

    def test_sends_digest_and_value_each_in_its_time(self, visitor, cut):
        assert self.send(visitor, cut.shoe_id, digest=digest_of(VALUE)) is True
        assert self.send(visitor, cut.shoe_id, value=VALUE) is False
        all_bound(cut)
        assert self.send(visitor, cut.shoe_id, digest=digest_of(OTHER)) is False
        assert self.send(visitor, cut.shoe_id, value=VALUE) is True

    @pytest.mark.parametrize("sent", [{}, {"digest": "x"}, {"value": "Z" * 32}, {"digest": "0" * 64, "value": VALUE}])
    def test_sends_nothing_else(self, visitor, cut, sent):
        assert self.send(visitor, cut.shoe_id, **sent) == 400
