"""Cards and shuffles of played rounds are counted once, tested weekly, and shown to staff."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils.translation import override

from audit import hours
from audit.hours import HOUR
from audit.models import Event
from audit.reports.kinds import Interval
from audit.staff_text import recognised
from games.engine.cards import FULL_DECK
from games.engine.shoe import shuffle
from games.fairness.randomness import cards, hourly_counts, judgement, shuffles
from games.fairness.randomness.cards import FIRST_FOUR, Heap
from games.fairness.randomness.judgement import Scope, judge
from games.models import LiveRound, Phase, Round, Shoe, ShoeEnding
from games.shared import shoes
from tests.builders import a_player, a_round, a_table
from tests.games.counted import FAIR, dealt, keep, keep_unshuffled
from tests.harness.dealer import seed_of
from tests.harness.owner import update_as_owner, without_guards
from tests.hours import settle
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import a_member_of_staff, a_visitor
from wallet.models import Mode

MONEY = 1_000_000
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def roll_since(moment: datetime) -> None:
    """Count the hour of that moment and the next one, in case the hour changed."""
    for hour in (hour_of(moment), hour_of(moment) + HOUR):
        hourly_counts.roll_cards(hour)
        hourly_counts.roll_shuffles(hour)


@pytest.fixture
def table(db):
    return a_table()


@pytest.fixture
def watch(monkeypatch, db):
    """Test weeks after both sums were made for every hour from `MONDAY` on."""
    monkeypatch.setattr(hours, "_registered", {})
    for sums in (hourly_counts.CARDS, hourly_counts.SHUFFLES):
        hours.register(sums, roll=lambda hour: 0, first=lambda since: None if since else MONDAY)

    def in_turn() -> int:
        settle()
        hours.roll_due()
        return judgement.check_randomness()

    return in_turn


def alarms() -> list[tuple[str, dict]]:
    return [
        (event.on, json.loads(bytes(event.body))["data"])
        for event in Event.objects.filter(kind=judgement.ALARM).order_by("pk")
    ]


class TestRoundsWithShoesOfTheirOwn:
    def test_are_counted_card_by_card_in_the_hour_they_were_played(self, table):
        player = a_player(real=MONEY, free=MONEY)
        for mode in (Mode.REAL, Mode.REAL, Mode.FREE):
            a_round(player, table, mode, tie=1000)
        played = Round.objects.filter(mode=Mode.REAL).order_by("at")
        roll_since(played[0].at)
        counted = judge(Scope(Mode.REAL, "baccarat")).cards[0].counted
        assert (counted.rounds, counted.decks, counted.is_own_shoe) == (2, 1, True)
        for place in range(6):
            came = Counter(row[place] for row in (each.cards.split() for each in played) if len(row) > place)
            heap = counted.heaps.get(str(place + 1), Heap())
            assert dict(zip((card.code for card in FULL_DECK), heap.counts, strict=True)) == {
                card.code: came[card.code] for card in FULL_DECK
            }
        assert counted.outcomes == Counter(each.outcome for each in played)
        assert judge(Scope(Mode.FREE, "baccarat")).cards[0].counted.rounds == 1

    @pytest.mark.sweep
    def test_have_their_shuffles_dealt_again_up_to_a_bound(self, table, monkeypatch):
        monkeypatch.setattr(hourly_counts, "MOST", 2)
        player = a_player(real=MONEY)
        for _ in range(3):
            a_round(player, table, tie=1000)
        played = Round.objects.order_by("pk")
        roll_since(played[0].at)
        (found,) = judge(Scope(Mode.REAL, "baccarat")).shuffles
        again = [shuffle(bytes(each.seed or b""), 1, each.player_value) for each in played[:2]]
        assert found.counted == shuffles.count(again, decks=1, public=3)

    def test_are_found_to_differ_where_they_were_counted_otherwise(self, table):
        a_round(a_player(real=MONEY), table, tie=1000)
        hour = hour_of(Round.objects.get().at)
        interval = Interval(hour, hour + HOUR)
        assert [*hourly_counts.card_differences(interval), *hourly_counts.shuffle_differences(interval)] != []
        hourly_counts.roll_cards(hour)
        hourly_counts.roll_shuffles(hour)
        assert [*hourly_counts.card_differences(interval), *hourly_counts.shuffle_differences(interval)] == []


class TestShoesDealtThrough:
    def test_are_counted_whole_in_the_hour_they_ended(self, db):
        live_table = a_live_table()
        player = a_player(real=MONEY)
        bet(player, live_table, banker=10_000)
        advance_to(live_table, Phase.SETTLED)
        advance_to(live_table, Phase.BETTING)
        bet(player, live_table, banker=10_000)
        live_round = advance_to(live_table, Phase.SETTLED)
        shoe = live_round.shoe
        assert hourly_counts.count_cards(hour_of(live_round.opened_at)) == {}
        shoes.end(shoe, ShoeEnding.RETIRED)
        assert hourly_counts.first(None) == Round.objects.order_by("at")[0].participation_set.get().at
        ended = Shoe.objects.get(pk=shoe.pk)
        assert ended.ended_at
        assert shoes.publish(shoe.pk) == ()
        ended.refresh_from_db()
        roll_since(ended.ended_at)
        judged = judge(Scope(Mode.REAL, "no_commission"))
        (part,), (whole,) = judged.cards, judged.shuffles
        rounds = LiveRound.objects.filter(shoe=shoe).exclude(cards="")
        assert (part.counted.rounds, part.counted.decks, part.counted.is_own_shoe) == (2, 8, False)
        assert sum(part.counted.heaps[FIRST_FOUR].counts) == 8
        assert part.counted.heaps[FIRST_FOUR].spread == 8 * (416 - 8)
        assert sum(
            sum(part.counted.heaps[str(place)].counts) for place in range(1, 7) if str(place) in part.counted.heaps
        ) == sum(len(each.cards.split()) for each in rounds)
        assert whole.counted == shuffles.count([shuffle(bytes(ended.seed or b""), 8)], decks=8)

    def test_whose_seed_was_published_hours_later_are_counted_then(self, db):
        """The dealer was away when it ended, and its hour was counted in the meantime."""
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, banker=10_000)
        shoe = advance_to(live_table, Phase.SETTLED).shoe
        shoes.end(shoe, ShoeEnding.RETIRED)
        assert shoe.ended_at
        with without_guards("games_shoe"):
            update_as_owner(Shoe.objects.filter(pk=shoe.pk), ended_at=shoe.ended_at - 2 * HOUR)
        hour = hour_of(shoe.ended_at - 2 * HOUR)
        roll_since(hour)
        assert shoes.publish(shoe.pk) == ()
        assert [*hourly_counts.shuffle_differences(Interval(hour, hour + HOUR))] == []
        assert hourly_counts.first(hour + HOUR) is not None
        roll_since(Event.objects.get(kind=hourly_counts.PUBLISHED).at)
        (whole,) = judge(Scope(Mode.REAL, "no_commission")).shuffles
        assert whole.counted == shuffles.count([shuffle(seed_of(shoe), 8)], decks=8)


class TestEveryWeek:
    def test_is_tested_once_and_an_alarm_raised_once(self, table, watch):
        keep(MONDAY + timedelta(days=2), table.version_id, dealt(share=FAIR + 0.02))
        assert watch() == 1
        assert watch() == 0
        ((on, said),) = alarms()
        assert on == f"table_version:{table.version_id}"
        assert (said["week"], said["mode"], said["variant"]) == ("2026-03-02", "R", "baccarat")
        assert [test["test"] for test in said["tests"]] == ["Cards dealt first in a round"]
        assert float(said["tests"][0]["p"]) < judgement.ALARM_LEVEL

    @pytest.mark.sweep
    def test_is_tested_by_itself(self, table, watch):
        for weeks, share in ((0, FAIR), (2, FAIR + 0.02)):
            keep(MONDAY + timedelta(weeks=weeks, hours=5), table.version_id, dealt(share=share))
        assert watch() == 2
        assert [said["week"] for _, said in alarms()] == ["2026-03-16"]

    @pytest.mark.sweep
    def test_raises_no_alarm_over_fair_cards(self, table, watch):
        keep(MONDAY, table.version_id, dealt())
        assert watch() == 1
        assert alarms() == []
        tested = Event.objects.get(kind=judgement.TESTED)
        assert json.loads(bytes(tested.body))["data"] == {"families": 1, "tests": 1, "week": "2026-03-02"}

    @pytest.mark.sweep
    def test_raises_an_alarm_over_shuffles_of_so_many_decks(self, watch):
        keep_unshuffled(MONDAY, 8)
        watch()
        assert [on for on, _ in alarms()] == ["decks:8"]

    def test_waits_until_it_is_over_and_counted(self, table):
        keep(MONDAY, table.version_id, dealt(share=0.5))
        assert judgement.check_randomness() == 0
        assert alarms() == []


class TestThePage:
    @pytest.fixture
    def shown_for(self, db):
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("compliance").user)

        def show(**asked: str | int) -> str:
            return " ".join(visitor.get(reverse("staff_randomness"), asked).content.decode().split())

        return show

    def test_says_where_nothing_was_counted(self, shown_for):
        assert "No counts match this filter." in shown_for()

    def test_gli19_3_3_shows_statistic_degrees_p_value_sample_and_verdict_of_every_test_at_99_percent(
        self, shown_for, table
    ):
        keep(MONDAY, table.version_id, dealt())
        shown = shown_for(game="baccarat")
        (made,) = (test for test in judge(Scope(Mode.REAL, "baccarat")).tests if test.p is not None)
        assert "Tests together, at 99 %: 1." in shown
        for text in ("Cards dealt first in a round", "5200 cards", f"{made.statistic:.2f}", ">51<", f"{made.p:.4f}"):
            assert text in shown
        assert (
            shown.replace("not enough data for a chart", "").count("not enough data") == len(cards.tests(dealt())) - 1
        )
        assert "passed" in shown
        assert ">failed<" not in shown

    @pytest.mark.sweep
    def test_says_what_chance_does_not_explain(self, shown_for, table):
        keep(MONDAY, table.version_id, dealt(share=FAIR + 0.02))
        shown = shown_for(game="baccarat")
        assert "1 of 1 tests cannot be explained by chance at 99 %" in shown
        assert "failed" in shown

    @pytest.mark.sweep
    def test_says_where_there_is_too_little(self, shown_for, table):
        keep(MONDAY, table.version_id, dealt(rounds=20))
        assert "Not enough data for a test yet." in shown_for(game="baccarat")

    @pytest.mark.sweep
    def test_counts_one_version_kind_of_money_and_period_alone(self, shown_for, table):
        keep(MONDAY, table.version_id, dealt())
        other = a_table("second")
        keep(MONDAY, other.version_id, dealt(rounds=2600))
        assert "7800 rounds" in shown_for(game="baccarat")
        assert "2600 rounds" in shown_for(game="golden", version=other.version_id)
        for asked in ({"mode": "F"}, {"since": "2026-03-03"}, {"until": "2026-03-01"}, {"game": "golden"}):
            assert "No counts match this filter." in shown_for(**({"game": "baccarat"} | asked))
        assert "7800 rounds" in shown_for(game="baccarat", since="2026-03-02", until="2026-03-02")

    @pytest.mark.sweep
    def test_draws_the_counts_and_writes_them_next_to_it(self, shown_for, table):
        rounds = [cards.Dealt(number, "AC 2D 3H TS") for number in range(70)]
        keep(MONDAY, table.version_id, cards.count(rounds, decks=1, is_own_shoe=True, follows_tableau=True))
        shown = shown_for(game="baccarat")
        assert shown.count('<rect class="tone"') == 52
        assert '<th scope="row">10♠</th><td class="num" data-label="Observed">70</td>' in shown


@pytest.mark.parametrize("language", ["sv", "da", "ro", "de"])
def test_every_test_has_a_name_in_every_language(language):
    counts = {position: Heap() for position in (FIRST_FOUR, *"123456")}
    every = [
        *cards.tests(cards.CardCounts(decks=8, rounds=0, is_own_shoe=True, follows_tableau=True, heaps=counts)),
        *(each for decks in (1, 8) for each in shuffles.tests(shuffles.ShuffleCounts(decks=decks))),
    ]
    with override(language):
        untranslated = {each.name for each in every if recognised(each.name) == each.name}
    assert untranslated == set()
