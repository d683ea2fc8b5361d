"""Payment of a shared round: every player as the engine computes, in every currency, all at once."""

from collections.abc import Mapping
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine.bets import SettlementError, Variant
from games.engine.settle import settle
from games.models import (
    LiveSeat,
    Participation,
    Phase,
    Round,
    VerificationDue,
)
from games.shared import phases, rounds
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player
from tests.harness.owner import as_owner, update_as_owner
from tests.harness.sweeps import examples, sample
from tests.live.at_table import (
    a_live_table,
    advance_to,
    bet,
    lay,
    live_table_of,
    round_at,
    slip_of,
    step,
)
from tests.wallet.money_moves import write
from wallet import ledger
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Entry, Journal, Mode

pytestmark = pytest.mark.django_db

RICH = 10**10
# The event of a round whose digest of the participations is that of what is stored.
LOGGED = """
SELECT FROM audit_event AS e WHERE e."on" = 'round:' || %(round)s AND e.kind = 'round.settled'
AND convert_from(e.body, 'UTF8')::jsonb -> 'data' ->> 'parts' = games_parts_digest(%(round)s)
"""


def balance(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.balance(player.pk, mode)


def deposit(player: Player, amount: int) -> None:
    cashier = accounts.house_account("cashier", player.currency, Mode.REAL)
    cash = accounts.player_account(player.pk, Mode.REAL)
    lines = tuple(
        ledger.Line(account, player.currency, Mode.REAL, each) for account, each in ((cashier, -amount), (cash, amount))
    )
    write(ledger.Journal(uuid4(), "deposit", lines))


def lines_of(part: Participation) -> list[tuple[str, int, int, int, str]]:
    return sorted(part.wagers.values_list("bet", "stake", "payout", "commission", "result"))


def slips(variant: Variant) -> st.SearchStrategy[dict[str, int]]:
    """Return a strategy for all bets that can be staked together, in uneven amounts too."""

    def is_allowed(stakes: Mapping[str, int]) -> bool:
        try:
            variant.check(stakes)
        except SettlementError:
            return False
        return True

    bets = st.sampled_from([each.code for each in variant.bets])
    return st.dictionaries(bets, st.integers(1, 10_000_019), min_size=1).filter(is_allowed)


class TestEverybodyIsPaid:
    @pytest.mark.parametrize("slug", sample(["no_commission", "pairs"], 1))
    def test_what_the_engine_says_each_by_each_in_every_currency(self, slug):
        variant = VARIANTS[slug]
        live_table = a_live_table(slug)
        players = [a_player(where, real=RICH) for where in ("SE", "RO", "GB", "DK", "SE")]

        @settings(max_examples=examples(3, 8), database=None)
        @given(st.lists(slips(variant), min_size=len(players), max_size=len(players)))
        def play(chosen: list[dict[str, int]]) -> None:
            before = {player.pk: balance(player) for player in players}
            for player, stakes in zip(players, chosen, strict=True):
                lay(player, live_table, stakes)
            dealt = advance_to(live_table, Phase.DEALT)
            coup = rounds.redeal(dealt)
            finished = Round.objects.get(pk=advance_to(live_table, Phase.SETTLED).pk)
            assert finished.cards == " ".join(card.code for card in coup.cards)
            assert finished.outcome == coup.outcome
            assert as_owner(LOGGED, {"round": finished.pk}) == 1
            for player, stakes in zip(players, chosen, strict=True):
                due = settle(variant, coup, stakes)
                part = Participation.objects.get(round=finished, player=player)
                assert lines_of(part) == sorted(
                    (line.bet, line.stake, line.payout, line.commission, str(line.result)) for line in due.lines
                )
                assert (part.staked, part.paid) == (due.staked, due.paid)
                assert part.commission == sum(line.commission for line in due.lines)
                assert part.balance_before == before[player.pk]
                assert part.balance_after == balance(player) == before[player.pk] - due.staked + due.paid
            step(live_table)

        play()
        assert [check.rows for check in verify.run() if check.rows] == []

    def test_and_the_round_is_kept_whole_to_be_dealt_again(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        settled = advance_to(live_table, Phase.SETTLED)
        kept = Round.objects.get(pk=settled.pk)
        assert (kept.code, kept.table_version_id, kept.mode) == (settled.code, settled.version_id, "R")
        assert (kept.shoe_id, kept.first_card, kept.cards) == (settled.shoe_id, settled.first_card, settled.cards)
        assert (kept.commitment, kept.seed, kept.player_value) == (settled.shoe.commitment, None, "")
        assert VerificationDue.objects.filter(pk=kept.pk).exists()

    def test_from_a_balance_that_other_things_have_moved_since_bets_closed(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        advance_to(live_table, Phase.CLOSED)
        deposit(player, 777)
        advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(player=player)
        assert part.balance_before == RICH + 777  # right before the stakes were posted
        assert part.balance_after == balance(player) == RICH - 25_000 + part.paid + 777

    def test_or_nothing_and_then_the_house_is(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        paid = None
        while paid != 0:  # nine of ten rounds are no tie
            lay(player, live_table, {"tie": 1001})
            settled = advance_to(live_table, Phase.SETTLED)
            paid = Participation.objects.get(round_id=settled.pk).paid
            step(live_table)
        entries = Entry.objects.filter(journal__round_id=settled.pk).order_by("journal", "amount")
        assert [(each.journal.kind, each.account.kind, each.amount) for each in entries] == [
            ("held_stake", "cash", -1001),
            ("held_stake", "escrow", 1001),
            ("settle", "escrow", -1001),
            ("settle", "house", 1001),
        ]

    def test_by_one_journal_of_stakes_and_one_of_payouts(self):
        live_table = a_live_table()
        players = [a_player("SE", real=RICH), a_player("SE", real=RICH), a_player("RO", real=RICH)]
        for player in players:
            lay(player, live_table, {"player": 1001, "banker": 999, "tie": 500})
        settled = advance_to(live_table, Phase.SETTLED)
        journals = Journal.objects.filter(round_id=settled.pk).order_by("pk")
        assert [journal.kind for journal in journals] == ["held_stake", "settle"]
        assert Entry.objects.filter(journal=journals[0], account__owner__isnull=False).count() == len(players)

    @pytest.mark.sweep
    def test_in_as_many_statements_as_one_is(self):
        """Closing and paying use one statement for all players, not one for each."""
        live_table, players = a_live_table(), [a_player("SE", real=RICH) for _ in range(6)]
        alone: dict[str, int] = {}
        for bettors in (players[:1], players):
            for player in bettors:
                lay(player, live_table, {"player": 1001, "tie": 500})
            for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
                with CaptureQueriesContext(connection) as asked:
                    assert step(live_table).phase == phase
                assert len(asked) <= alone.setdefault(phase, len(asked))
            step(live_table)
        assert Participation.objects.count() == 1 + len(players)

    @pytest.mark.sweep
    def test_and_the_counted_time_and_session_include_it(self):
        live_table, player, session = a_live_table(), a_player(real=RICH), uuid4()
        as_owner(
            "INSERT INTO players_playsession (session, player_id, began, rounds, staked_real, paid_real,"
            " staked_free, paid_free) VALUES (%s, %s, clock_timestamp(), 0, 0, 0, 0, 0)",
            [session, player.pk],
        )
        lay(player, live_table, {"player": 2500})
        update_as_owner(LiveSeat.objects.filter(player=player), session=session)
        advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(player=player)
        assert part.session == session
        with connection.cursor() as cursor:
            cursor.execute(
                ("SELECT rounds, staked_real, paid_real FROM players_playsession WHERE session = %s"), [session]
            )
            assert cursor.fetchone() == (1, 2500, part.paid)
            cursor.execute("SELECT count(*) FROM players_playtime WHERE player_id = %s", [player.pk])
            assert cursor.fetchone() == (1,)

    @pytest.mark.sweep
    def test_and_the_bets_lie_there_for_rebet(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        settled = advance_to(live_table, Phase.SETTLED)
        assert slip_of(player, settled) == {"player": 25_000}


class TestRealAndFreeMoney:
    def test_are_two_tables_with_a_round_and_a_shoe_each(self):
        real = a_live_table()
        free = live_table_of(real.table, Mode.FREE)
        assert phases.advance(free.pk)
        player = a_player(real=RICH, free=RICH)
        lay(player, real, {"player": 1000})
        lay(player, free, {"banker": 3000})
        assert round_at(real).shoe_id != round_at(free).shoe_id
        paid = Participation.objects.get(round_id=advance_to(real, Phase.SETTLED).pk).paid
        assert round_at(free).phase == Phase.BETTING
        assert (balance(player), balance(player, Mode.FREE)) == (RICH - 1000 + paid, RICH)
        won = Participation.objects.get(round_id=advance_to(free, Phase.SETTLED).pk)
        assert (won.mode, won.staked) == ("F", 3000)
        assert (balance(player), balance(player, Mode.FREE)) == (RICH - 1000 + paid, RICH - 3000 + won.paid)
