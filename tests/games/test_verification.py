"""Verification of any round finds no difference; after one change it shows exactly that change."""

import psycopg
import pytest

from games.models import LiveTable, Phase, Round, Shoe
from games.variants import GAMES
from games.verification.service import verify_round
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_table
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.chemin.evenings import play_evening
from tests.chemin.test_verified_coups import KEPT
from tests.games.verified_rounds import differences
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, lay, step
from wallet.models import Mode

MONEY = 10_000_000


def a_shared_evening(variant: str, rounds: int, **options) -> LiveTable:
    """Play rounds of two players at a shared table, one with stakes that are no sum of chips."""
    live_table = a_live_table(variant, **options)
    players = [a_player(real=MONEY), a_player(real=MONEY)]
    for number in range(rounds):
        bet(players[0], live_table, player=5_000, tie=5_000)
        lay(players[1], live_table, {"banker": 5_000 + number})
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
    return live_table


@pytest.mark.django_db
class TestAnyRoundIsVerifiedWithoutADifference:
    @pytest.mark.sweep
    def test_of_a_solo_table_in_both_kinds_of_money(self):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        for mode in (Mode.REAL, Mode.FREE) * 4:
            a_round(player, table, mode, player=1000, banker=5000, tie=1000)
        assert [differences(each) for each in Round.objects.all()] == [[]] * 8

    @pytest.mark.sweep
    def test_of_golden_played_from_a_purse(self):
        player, table = a_player(real=MONEY), a_golden_table()
        a_purse(player, MONEY // 2)
        for _ in range(4):
            a_round(player, table, player=10_000)
        assert [differences(each) for each in Round.objects.all()] == [[]] * 4

    @pytest.mark.sweep
    @pytest.mark.parametrize("variant", sample(["no_commission", "pairs"], 1))
    def test_of_shared_tables_while_the_shoe_is_in_play(self, variant):
        a_shared_evening(variant, 4)
        assert [differences(each) for each in Round.objects.all()] == [[]] * 4


IN_PARTS = "participation_id IN (SELECT id FROM games_participation WHERE round_id = %(round)s)"
OF_ROUND = "WHERE round_id = %(round)s"
ANOTHER = "CASE outcome WHEN 'tie' THEN 'player' ELSE 'tie' END"
DRAW = "CASE outcome WHEN 'draw' THEN 'punter' ELSE 'draw' END"

# A change by the owner of the tables -> its statement and the expected differences. P is the player
# who bet on Player.
SOLO = {
    "cards": ("UPDATE games_round SET cards = '9H 4D KS 2C' WHERE id = %(round)s", ["Cards, in dealing order"]),
    "outcome": (f"UPDATE games_round SET outcome = {ANOTHER} WHERE id = %(round)s", ["Outcome"]),
    "seed": (r"UPDATE games_round SET seed = decode(repeat('ab', 32), 'hex') WHERE id = %(round)s", ["Seed"]),
    "seed of another length": (r"UPDATE games_round SET seed = '\x00' WHERE id = %(round)s", ["Seed"]),
    "seal": (
        "UPDATE games_round SET commitment = repeat('0', 64) WHERE id = %(round)s",
        ["Seal"],
    ),
    "value": ("UPDATE games_round SET player_value = 'x' WHERE id = %(round)s", ["Player seed"]),
    "stake": (f"UPDATE games_wager SET stake = stake + 1 WHERE bet = 'player' AND {IN_PARTS}", ["P, player: stake"]),
    "payout": (
        f"UPDATE games_wager SET payout = payout + 1 WHERE bet = 'player' AND {IN_PARTS}",
        ["P, player: paid back"],
    ),
    "staked": (f"UPDATE games_participation SET staked = staked + 1 {OF_ROUND}", ["P: total staked"]),
    "paid": (f"UPDATE games_participation SET paid = paid + 1 {OF_ROUND}", ["P: total paid back"]),
    "balance before": (
        f"UPDATE games_participation SET balance_before = balance_before + 1 {OF_ROUND}",
        ["P: balance before, per ledger"],
    ),
    "balance after": (
        f"UPDATE games_participation SET balance_after = balance_after + 1 {OF_ROUND}",
        ["P: balance after, per ledger"],
    ),
    "money": (f"UPDATE games_participation SET mode = 'F' {OF_ROUND}", ["P: money"]),
    "a bet removed": (
        f"DELETE FROM games_wager WHERE bet = 'player' AND {IN_PARTS}",
        ["P, player: stake", "P, player: paid back", "P, player: commission", "P, player: result"],
    ),
    "ledger": (
        """UPDATE wallet_entry SET amount = amount - 1 WHERE line = 1
           AND journal_id = (SELECT min(id) FROM wallet_journal WHERE round_id = %(round)s)""",
        ["P: balance before, per ledger", "P: taken, per ledger"],
    ),
    "event": (
        """UPDATE audit_event SET body = convert_to(replace(convert_from(body, 'UTF8'), '"cards":"', '"cards":"2C '),
           'UTF8') WHERE kind = 'round.settled' AND "on" = 'round:' || %(round)s""",
        ["Signature of the dealer", "Cards in the audit log"],
    ),
}
SHARED = {name: SOLO[name] for name in ("cards", "outcome", "seal", "stake", "payout", "staked", "balance after")} | {
    "first card": (
        "UPDATE games_round SET first_card = first_card + 1 WHERE id = %(round)s",
        ["Cards dealt from the shoe before"],
    ),
    "bet": (f"UPDATE games_wager SET bet = 'nowhere' WHERE bet = 'player' AND {IN_PARTS}", None),
}
STAKE = "S: stake"
COUPS = {
    "cards": SOLO["cards"],
    "first card": SHARED["first card"],
    "outcome": (f"UPDATE games_round SET outcome = {DRAW} WHERE id = %(round)s", ["Outcome"]),
    "who won": (f"UPDATE games_chemincoup SET outcome = {DRAW} {OF_ROUND}", ["Won by"]),
    "tax": (f"UPDATE games_chemincoup SET tax = tax + 1 {OF_ROUND}", ["Tax"]),
    "bank": (f"UPDATE games_chemincoup SET bank = bank + 1 {OF_ROUND}", ["Bank at its opening"]),
    "covered": (f"UPDATE games_chemincoup SET at_risk = at_risk + 1 {OF_ROUND}", ["Covered"]),
    "punter": (f"UPDATE games_chemincoup SET punter_id = banker_id {OF_ROUND}", ["Held the punters’ cards"]),
    "declared": (
        f"UPDATE games_chemincoup SET punter_draws = (CASE WHEN punter_draws IS NULL THEN true END) {OF_ROUND}",
        ["Punter declared"],
    ),
    "stake": ("UPDATE games_cheminstake SET stake = stake - 1 WHERE coup_id = %(round)s", [STAKE]),
    "returned": ("UPDATE games_cheminstake SET returned = returned + 1 WHERE coup_id = %(round)s", ["S: returned"]),
    "decision": (
        "UPDATE games_cheminmove SET kind = 'pass' WHERE kind = 'deal_cards' AND round_id = %(round)s",
        ["Decision"],
    ),
    "who decided": (
        "UPDATE games_cheminmove SET decider = 'croupier' WHERE kind = 'deal_cards' AND round_id = %(round)s",
        ["Decision"],
    ),
}


def altered(owner: psycopg.Connection, played: Round, statement: str) -> list[str]:
    """Change one thing with all guards disabled; return the differences with P, S and so on."""
    for table in (*KEPT, "games_cheminmove", "wallet_entry", "audit_event"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    assert owner.execute(statement, {"round": played.pk}).rowcount
    return [without_whose(what) for what, _, _ in differences(played)]


def without_whose(what: str) -> str:
    """Remove the player, seat or move from a name."""
    if what.startswith("Decision"):
        return "Decision"
    who, colon, of = what.rpartition(": ")
    if who.startswith("seat"):
        return f"S: {of}"
    if not who.startswith("player:"):
        return what
    return "P" + "".join(f", {bet}" for bet in who.split(", ")[1:]) + f"{colon}{of}"


class TestWhateverIsAlteredShowsAlone:
    def test_gli19_4_14_whatever_is_altered_of_a_solo_round_shows(self, cloned_db, owner):
        player, table = a_player(real=MONEY), a_table()
        rounds = [a_round(player, table, player=1000, tie=5000).round_id for _ in SOLO]
        found = {
            what: altered(owner, Round.objects.get(pk=pk), statement)
            for pk, (what, (statement, _)) in zip(rounds, SOLO.items(), strict=True)
        }
        assert found == {what: seen for what, (_, seen) in SOLO.items()}

    @pytest.mark.sweep
    def test_of_a_shared_round(self, cloned_db, owner):
        a_shared_evening("no_commission", len(SHARED) + 1)
        *rounds, last = Round.objects.order_by("at")
        found = {
            what: altered(owner, played, statement)
            for played, (what, (statement, _)) in zip(rounds, SHARED.items(), strict=True)
        }
        bet = ["nowhere", "player"]
        four = ("stake", "paid back", "commission", "result")
        whole = sorted(f"P, {each}: {what}" for each in bet for what in four)
        assert sorted(found.pop("bet")) == whole
        assert {what: sorted(set(each)) for what, each in found.items()} == {
            what: seen for what, (_, seen) in SHARED.items() if seen
        }
        owner.execute("ALTER TABLE games_shoe DISABLE TRIGGER USER")
        owner.execute("UPDATE games_shoe SET burned = burned + 1")
        burned = Shoe.objects.get().burned
        verified = verify_round(last.pk)
        assert verified
        assert verified.deal.obstacle == (
            f"The shoe was not dealt in order. (first card: stored {burned - 1}, recomputed {burned})"
        )
        assert not verified.differences

    @pytest.mark.sweep
    def test_of_a_coup_between_players(self, cloned_db, owner):
        live_table = a_chemin_table(seat_count=3)
        seated_players(live_table, 2)
        play_evening(live_table, len(COUPS), seed=2)
        rounds = Round.objects.order_by("at")
        found = {
            what: altered(owner, played, statement)
            for played, (what, (statement, _)) in zip(rounds, COUPS.items(), strict=True)
        }
        assert found == {what: seen for what, (_, seen) in COUPS.items()}

    def test_of_the_rules_of_a_table(self, cloned_db, owner):
        played = Round.objects.get(pk=a_round(a_player(real=MONEY), a_table(), player=1000).round_id)
        version = played.table_version_id
        owner.execute("UPDATE games_tableversion SET rules_digest = repeat('0', 64) WHERE id = %s", [version])
        digest = GAMES["baccarat"].digest
        assert differences(played) == [("Rules (SHA-256 of all rules that affect money)", "0" * 64, digest)]
