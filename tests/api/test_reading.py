"""Reads by API clients: the lobby, a table, rules and odds from the engine, and pages of rounds."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from games import history as logs
from games.betting.limits import Limits
from games.engine.chemin.odds import chemin_odds_json
from games.engine.odds import exact
from games.help import rules_page
from games.lobby import selectors
from games.models import Round, Table
from games.tables.default_tables import baccarat_limits
from games.tables.status import pause_table
from games.variants import GAMES, VARIANTS
from players.models import Player
from players.protection import exclusions
from tests.api.at_solo import answered, refused
from tests.api.client import ApiClient
from tests.builders import a_chemin_live_table, a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.games.test_table_eligibility import serve
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, bet, step
from tests.voiding import void_unreproduced
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
CHIP = 5000
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def api_client(player: Player) -> ApiClient:
    return ApiClient(player.user)


class TestTheLobby:
    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", list(Mode), ids=["real", "free"])
    def test_is_the_one_of_the_page(self, api_client, player, mode):
        a_table()
        a_table("second", is_open=False)
        a_table("danish", limits={"DKK": baccarat_limits()["DKK"]})
        a_chemin_live_table("SEK")
        live = a_live_table()
        step(live)
        bet(player, live, player=100_000)
        shown = selectors.lobby(player, mode, "en")
        listed = answered(api_client.get("tables/", mode=mode.name.lower()))["items"]
        assert [each["slug"] for each in listed] == [each.slug for each in shown]
        for each, table in zip(listed, shown, strict=True):
            assert (each["minimum"], each["maximum"], each["currency"]) == (table.lowest, table.highest, table.currency)
            assert (each["status"] == "open") == table.is_open
            assert (each["name"], each["game"], each["decks"]) == (table.name, table.game, table.decks)
            assert (each["shape"] == "solo", each["is_favourite"]) == (table.is_solo, table.is_favourite)
        cards = {card.slug: card for card in selectors.lobby_cards(mode, player.currency, player.jurisdiction_id)}
        counted = {each["slug"]: each["players"] for each in listed if each["players"] is not None}
        assert counted == {slug: getattr(card, "players", getattr(card, "taken", None)) for slug, card in cards.items()}

    @pytest.mark.sweep
    def test_says_where_players_sit(self, api_client):
        live = a_chemin_table()
        seated_players(live, 2)
        (found,) = [each for each in answered(api_client.get("tables/"))["items"] if each["shape"] == "chemin"]
        assert (found["players"], found["seats"]) == (2, 9)

    @pytest.mark.sweep
    def test_takes_real_or_free_money_and_nothing_else(self, api_client):
        problem = refused(api_client.get("tables/", mode="play"), 400, "invalid")
        assert problem["errors"][0]["pointer"] == "/?mode"


class TestATable:
    def test_has_the_limits_in_force_in_the_player_s_currency(self, api_client):
        table = a_table()
        version = table.version
        assert version
        found, limits = answered(api_client.get("tables/baccarat/real/")), Limits.of(version.limits, "SEK")
        assert found["limits"]["chips"] == list(limits.chips)
        assert found["limits"]["minimum"] == {bet: each.minimum for bet, each in limits.bets.items()}
        assert found["limits"]["maximum"] == {bet: each.maximum for bet, each in limits.bets.items()}
        assert (found["limits"]["step"], found["limits"]["currency"]) == (limits.step, "SEK")
        assert (found["version"], found["rules_digest"]) == (version.number, VARIANTS["baccarat"].digest)
        assert found["obstacle"] is None

    @pytest.mark.sweep
    def test_says_what_keeps_the_player_from_playing_there(self, api_client, player):
        table = a_table()
        exclusions.pause(player=player, by=str(player))
        obstacle = answered(api_client.get("tables/baccarat/real/"))["obstacle"]
        assert (obstacle["code"], obstacle["ineligibility"]) == ("not-eligible", "excluded")
        serve(table, jurisdictions=["DK"])
        assert answered(api_client.get("tables/baccarat/real/"))["obstacle"]["code"] == "not-eligible-here"

    def test_of_another_currency_has_no_limits_for_the_player(self, api_client):
        a_table("danish", limits={"DKK": baccarat_limits()["DKK"]})
        found = answered(api_client.get("tables/danish/real/"))
        assert (found["limits"], found["obstacle"]["code"]) == (None, "other-currency")

    @pytest.mark.sweep
    def test_that_pauses_says_so(self, api_client):
        table = a_table()
        pause_table(table_id=table.pk, reason="for a test", by="staff:7")
        assert answered(api_client.get("tables/baccarat/real/"))["status"] == "paused"

    @pytest.mark.sweep
    def test_for_players_has_their_rules(self, api_client):
        a_chemin_live_table("SEK", seat_count=5, minimum=1_000, maximum=90_000)
        found = answered(api_client.get("tables/chemin/real/"))
        assert found["chemin"] == {
            "currency": "SEK",
            "seats": 5,
            "minimum": 1_000,
            "maximum": 90_000,
            "house_players": 0,
        }
        assert (found["limits"], found["bets"]) == (None, [])

    @pytest.mark.sweep
    @pytest.mark.parametrize("path", ["tables/none/real/", "tables/baccarat/both/", "tables/none/real/solo-seat/"])
    def test_an_unknown_one_is_not_found(self, api_client, path):
        a_table()
        refused(api_client.get(path), 404, "not-found")


class TestRulesAndOdds:
    @pytest.mark.sweep
    def test_every_game_is_listed(self, api_client):
        found = answered(api_client.get("games/"))["items"]
        assert [(each["slug"], each["digest"], each["decks"]) for each in found] == [
            (game.slug, game.digest, game.decks) for game in GAMES.values()
        ]

    @pytest.mark.sweep
    @pytest.mark.parametrize("slug", sample(VARIANTS, 2))
    def test_odds_are_those_of_the_engine_and_add_up(self, api_client, slug):
        found, odds = answered(api_client.get(f"games/{slug}/odds/")), exact(VARIANTS[slug])
        assert [each["bet"] for each in found["bets"]] == list(odds)
        for each in found["bets"]:
            shares = {name: Fraction(each[name]["fraction"]) for name in ("rtp", "edge", "win", "push", "lose")}
            assert shares == {name: getattr(odds[each["bet"]], name) for name in shares}
            assert shares["win"] + shares["push"] + shares["lose"] == shares["rtp"] + shares["edge"] == 1
            for name in shares:
                assert abs(Fraction(each[name]["decimal"]) - shares[name]) <= Fraction(1, 2 * 10**12)

    @pytest.mark.sweep
    def test_odds_of_a_game_between_players_are_those_of_the_engine(self, api_client):
        assert answered(api_client.get("games/chemin_de_fer/odds/"))["policies"] == chemin_odds_json(6)["policies"]

    @pytest.mark.parametrize("slug", sample(VARIANTS, 2))
    def test_a_paytable_says_what_settles_bets(self, api_client, slug):
        found = answered(api_client.get(f"games/{slug}/rules/"))
        for each, rule in zip(found["bets"], VARIANTS[slug].bets, strict=True):
            assert [(prize["when"], Fraction(prize["pays"])) for prize in each["prizes"]] == [
                (prize.when.name, prize.pays.fraction) for prize in rule.prizes
            ]
            assert set(each["needs"]) == set(rule.needs)
        excluded = {frozenset({each["bet"], *each["excludes"]}) for each in found["bets"] if each["excludes"]}
        assert excluded == set(VARIANTS[slug].exclusions)

    @pytest.mark.sweep
    def test_third_cards_are_drawn_as_the_rules_say(self, api_client):
        rules = answered(api_client.get("games/baccarat/rules/"))["third_card"]
        assert rules["player_draws"] == [0, 1, 2, 3, 4, 5]
        assert rules["banker"][3]["player_drew"] == [True] * 8 + [False, True]
        assert rules["banker"][6] == {
            "total": 6,
            "player_stood": False,
            "player_drew": [False] * 6 + [True, True, False, False],
        }

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    @pytest.mark.parametrize("slug", sample(GAMES, 1))
    def test_help_is_the_page_s_in_every_language(self, player, slug, language):
        found = answered(ApiClient(player.user, language=language).get(f"games/{slug}/rules/"))
        page = rules_page(GAMES[slug], language)
        assert (found["help"], found["name"]) == (page.body, page.name)

    @pytest.mark.sweep
    @pytest.mark.parametrize("rest", ["rules", "odds"])
    def test_an_unknown_game_has_none(self, api_client, rest):
        refused(api_client.get(f"games/poker/{rest}/"), 404, "not-found")


def every_page(api_client: ApiClient, **asked: Any) -> list[str]:
    """Return the ids of all rounds, page by page."""
    found: list[str] = []
    answer = answered(api_client.get("rounds/", **asked))
    while True:
        found += [each["id"] for each in answer["items"]]
        if answer["next"] is None:
            return found
        answer = answered(api_client.get("rounds/", cursor=answer["next"], **asked))


class TestRounds:
    @pytest.fixture
    def table(self) -> Table:
        return a_table()

    def test_are_those_of_the_page_newest_first(self, api_client, player, table):
        for _ in range(3):
            a_round(player, table, player=CHIP, tie=1000)
        page = logs.history(player, before=None, language="en")
        found = answered(api_client.get("rounds/"))["items"]
        assert [each["id"] for each in found] == [str(line.id) for line in page.rounds]
        for each, line in zip(found, page.rounds, strict=True):
            assert (each["staked"], each["paid"]) == (line.staked, line.paid)
            assert (each["balance_before"], each["balance_after"]) == (line.balance_before, line.balance_after)
            assert (each["code"], each["seed"], each["status"]) == (line.code, line.seed, "complete")
            assert [(bet["name"], bet["stake"], bet["payout"]) for bet in each["bets"]] == [
                (wager.name, wager.stake, wager.payout) for wager in line.wagers
            ]
            assert line.view
            assert (each["result"]["player"]["total"], each["result"]["outcome"]) == (
                line.view.player.total,
                line.view.outcome,
            )

    def test_a_cursor_goes_on_where_it_was_though_rounds_are_added(self, api_client, player, table):
        played = [str(a_round(player, table, player=CHIP).round_id) for _ in range(5)][::-1]
        first = answered(api_client.get("rounds/", limit=2))
        a_round(player, table, tie=CHIP)
        second = answered(api_client.get("rounds/", limit=2, cursor=first["next"]))
        a_round(player, table, tie=CHIP)
        third = answered(api_client.get("rounds/", limit=2, cursor=second["next"]))
        assert [each["id"] for each in (*first["items"], *second["items"], *third["items"])] == played
        assert third["next"] is None

    @pytest.mark.sweep
    def test_every_round_is_on_one_page(self, api_client, player, table):
        played = [str(a_round(player, table, player=CHIP).round_id) for _ in range(5)][::-1]
        for limit in (1, 2, 5, 100):
            assert every_page(api_client, limit=limit) == played

    def test_a_cursor_of_somebody_else_s_is_refused(self, player, table):
        other = a_player(real=MONEY)
        for _ in range(2):
            a_round(player, table, player=CHIP)
            a_round(other, table, player=CHIP)
        theirs = answered(ApiClient(player.user).get("rounds/", limit=1))["next"]
        for cursor in (theirs, "bm9uZQ", "%"):
            problem = refused(ApiClient(other.user).get("rounds/", cursor=cursor), 400, "invalid")
            assert problem["errors"][0]["pointer"] == "/?cursor"

    @pytest.mark.sweep
    def test_are_found_by_day_table_money_and_ending(self, api_client, player, table):
        second = a_table("second")
        here, there = a_round(player, table, player=CHIP), a_round(player, second, player=CHIP)
        free = a_round(player, table, Mode.FREE, player=CHIP)
        today = datetime.now(UTC).date()
        assert every_page(api_client, table="second") == [str(there.round_id)]
        assert every_page(api_client, mode="free") == [str(free.round_id)]
        assert every_page(api_client, since=today + timedelta(days=2)) == []
        assert every_page(api_client, since=today - timedelta(days=2), until=today + timedelta(days=2)) == [
            str(there.round_id),
            str(here.round_id),
        ]
        ended = {ending: every_page(api_client, ending=ending) for ending in ("won", "lost", "even", "void")}
        assert sorted(each for found in ended.values() for each in found) == sorted(every_page(api_client))
        assert ended["void"] == []

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("asked", "pointer"),
        [
            ({"since": "2026-02-30"}, "/?since"),
            ({"since": date(2026, 2, 2), "until": date(2026, 2, 1)}, "/?until"),
            ({"limit": 101}, "/?limit"),
            ({"ending": "drawn"}, "/?ending"),
            ({"before": 3}, "/?before"),
        ],
    )
    def test_cannot_be_found_by_guessing(self, api_client, asked, pointer):
        problem = refused(api_client.get("rounds/", **asked), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == [pointer]

    def test_that_were_voided_say_so_and_have_their_cards(self, api_client, player, table):
        played = a_round(player, table, player=CHIP)
        void_unreproduced(played.round_id)
        found = answered(api_client.get(f"rounds/{played.round_id}/"))
        assert (found["status"], found["result"]["cards"]) == ("void", Round.objects.get().cards.split())
        assert every_page(api_client, ending="void") == [str(played.round_id)]

    def test_in_progress_are_shown_without_cards(self, api_client, player):
        live = a_live_table()
        step(live)
        bet(player, live, player=100_000)
        (found,) = answered(api_client.get("rounds/playing/"))["items"]
        assert (found["status"], found["staked"], found["result"], found["seed"]) == ("playing", 100_000, None, None)
        assert answered(api_client.get(f"rounds/{found['id']}/")) == found
        assert answered(api_client.get("rounds/"))["items"] == []

    @pytest.mark.sweep
    def test_of_others_are_not_found(self, api_client, table):
        theirs = a_round(a_player(real=MONEY), table, player=CHIP)
        refused(api_client.get(f"rounds/{theirs.round_id}/"), 404, "not-found")

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_are_in_the_requested_language(self, player, table, language):
        played = a_round(player, table, player=CHIP)
        found = answered(ApiClient(player.user, language=language).get(f"rounds/{played.round_id}/"))
        line = logs.round_of(player, played.round_id, language)
        assert line
        assert [bet["name"] for bet in found["bets"]] == [wager.name for wager in line.wagers]
