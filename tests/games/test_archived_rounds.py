"""Rounds whose journals have gone to an archive: what is kept of them is still shown, and nothing is done to them."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from django.db.models import Sum
from django.urls import reverse
from pypdf import PdfReader

from audit.reports.kinds import Interval
from backoffice.ledger import queries
from games.history.statement.figures import figures_between
from games.history.statement.movements import running
from games.models import Participation, Phase, Round, Void, VoidReason
from games.reports import reconciliation
from games.rounds.stored import problems
from games.rounds.void import void_round
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError
from games.solo.operator_money import play
from games.verification.service import recall
from tests import old_months
from tests.annulling import annul_unreproduced
from tests.builders import a_player, a_purse, a_round, a_table, a_verified_player
from tests.chemin.at_table import a_chemin_table, guests
from tests.chemin.evenings import play_until
from tests.games.recalled import differences
from tests.games.remote_books import STAKE
from tests.games.test_statement import this_month
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.old_months import beginning
from tests.people import a_member_of_staff, a_visitor
from tests.remote import MONEY as VISIT
from tests.remote import Operator, an_operator, make_due
from tests.reports_history import ask
from tests.wallet import payout_builders
from tests.wallet.coups import broken
from wallet import archives
from wallet.ledger import accounts, hourly_totals, statements
from wallet.ledger.round_reversal import RoundGone
from wallet.models import Account, AccountKind, Entry, Journal, MessageState, Mode, RemoteMessage
from wallet.operator_wallet import queue
from wallet.reports import payments

JULY, AUGUST = beginning(2025, 7), beginning(2025, 8)
MONEY = 1_000_000
GONE = "Older movements are kept in an archive. Customer service looks them up for you."


@pytest.fixture
def in_july(cloned_db, owner):
    """A house in July 2025; returns how it goes on in August, when July has gone."""
    old_months.make(owner, JULY)
    old_months.go_to(owner, JULY)

    def go_on():
        old_months.go_to(owner, AUGUST)
        for month in (None, JULY):
            old_months.leave(month)

    return go_on


def recalled(round_id):
    found = recall(round_id)
    assert found
    return found


class TestAnArchivedRound:
    def test_is_not_annulled_and_no_money_moves(self, in_july):
        player = a_player(real=MONEY)
        played = a_round(player, a_table(), player=1000)
        in_july()
        before = accounts.balance(player.pk, Mode.REAL)
        with pytest.raises(RoundGone, match=r"archive of 2025-07, file 2025-07\.zip"):
            annul_unreproduced(played.round_id)
        assert (accounts.balance(player.pk, Mode.REAL), Void.objects.count()) == (before, 0)
        assert broken() == {}

    @pytest.mark.sweep
    def test_that_was_annulled_answers_so_again(self, in_july):
        played = a_round(a_player(real=MONEY), a_table(), player=1000)
        void = annul_unreproduced(played.round_id)
        in_july()
        assert void_round(round_id=played.round_id, reason=VoidReason.NOT_REPRODUCED, by="system") == void

    @pytest.mark.sweep
    def test_is_recalled_with_its_cards_and_says_where_the_rest_is(self, in_july):
        played = a_round(a_player(real=MONEY), a_table(), player=1000, tie=1000)
        in_july()
        found = recalled(played.round_id)
        assert "archive of 2025-07, file 2025-07.zip" in found.deal.obstacle
        assert found.deal.view is not None
        assert [row.name for row in found.deal.parts[0].bets] == ["player", "tie"]
        assert found.differences == []

    @pytest.mark.sweep
    def test_one_of_august_is_annulled_and_recalled_as_ever(self, in_july):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, player=1000)
        in_july()
        played = a_round(player, table, player=1000)
        assert differences(Round.objects.get(pk=played.round_id)) == []
        annul_unreproduced(played.round_id)
        assert broken() == {}

    @pytest.mark.sweep
    def test_of_a_shared_table_cannot_be_asked_to_be_annulled(self, in_july):
        player, live_table = a_player(real=MONEY), a_live_table()
        bet(player, live_table, player=5_000)
        live = round_at(live_table)
        advance_to(live_table, Phase.SETTLED)
        in_july()
        incident = malfunction.report(round_id=live.pk, cause="a test", by="staff:1")
        with pytest.raises(MalfunctionError, match=r"file 2025-07\.zip"):
            malfunction.ask_void(incident_id=incident.pk, reason="a test", by=a_member_of_staff("supervisor"))
        found = recalled(live.pk)
        assert "2025-07" in found.deal.obstacle
        assert found.differences == []


class TestARoundOfAnOperatorsPlayer:
    """Its money lies with the operator: both books agree over the archive, whatever was still to be told."""

    @pytest.fixture
    def operator(self, cloned_db):
        with an_operator() as operator:
            yield operator

    @pytest.mark.sweep
    def test_and_all_books_agree_and_play_goes_on(self, operator, in_july):
        visitor, table = operator.visit(), a_table()
        visitor.plays(table, banker=STAKE)
        queue.send_due()
        in_july()
        assert differs(operator) == 0
        visitor.plays(table, banker=STAKE)
        queue.send_due()
        assert differs(operator) == 0
        assert not RemoteMessage.objects.filter(state=MessageState.WAITING).exists()

    @pytest.mark.sweep
    def test_whose_win_the_operator_had_not_heard_of_is_told_afterwards(self, operator, in_july):
        visitor, table = operator.visit(), a_table()
        while not Participation.objects.filter(player=visitor.player, paid__gt=0).exists():
            visitor.plays(table, banker=STAKE)
        in_july()
        assert not operator.host.named("win")
        make_due()
        queue.send_due()
        parts = Participation.objects.filter(player=visitor.player)
        assert sorted(said["amount"] for said in operator.host.named("win")) == sorted(part.paid for part in parts)
        assert differs(operator) == 0

    def test_is_found_again_by_the_same_click_and_not_annulled(self, operator, in_july):
        visitor, table = operator.visit(), a_table()
        click = visitor.click(table, banker=STAKE)
        played = play(click)
        queue.send_due()
        in_july()
        assert play(click).repeated
        with pytest.raises(RoundGone, match=r"file 2025-07\.zip"):
            annul_unreproduced(played.round_id)
        assert not operator.host.named("rollback")
        assert differs(operator) == 0


def differs(operator: Operator) -> int:
    """By how much the operator's book has more than ours, what was carried forward included; our own are whole."""
    assert broken() == {}
    accounts_there = Account.objects.filter(kind=AccountKind.OPERATOR)
    here = Entry.objects.filter(account__in=accounts_there).aggregate(sum=Sum("amount"))["sum"] or 0
    booked = here + sum(archives.opening(account.pk) or 0 for account in accounts_there)
    return sum(balance - VISIT for balance in operator.host.balances.values()) - booked


class TestWhatIsRead:
    @pytest.mark.sweep
    def test_the_statement_opens_with_what_was_carried(self, in_july):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, player=1000)
        a_purse(player, 10_000)
        owned = sum(account.balance or 0 for account in Account.objects.filter(owner=player, mode="R"))
        in_july()
        a_round(player, table, player=1000)
        now = sum(account.balance or 0 for account in Account.objects.filter(owner=player, mode="R"))
        begin = datetime.now(UTC) - timedelta(days=1)
        made = figures_between(player, Mode.REAL, begin, begin + timedelta(days=2), "UTC")
        assert (made.opening.total, made.closing.total) == (owned, now)
        assert made.opening.purse == 10_000
        period = this_month(player)
        assert next(running(player, Mode.REAL, period)) == (None, owned)

    @pytest.mark.sweep
    def test_the_cashiers_list_ends_where_the_archive_begins(self, in_july):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, player=1000)
        in_july()
        found = statements.statement(player.pk, Mode.REAL)
        assert found == statements.Statement((), None, gone=True)
        a_round(player, table, player=1000)
        found = statements.statement(player.pk, Mode.REAL)
        assert (found.older, found.gone, found.movements[-1].number > 1) == (None, True, True)
        visitor = a_visitor()
        visitor.force_login(player.user)
        for page in ("cashier", "statement"):
            assert GONE in visitor.get(reverse(page)).content.decode()
        sheet = visitor.get(reverse("statement_csv")).getvalue().decode().splitlines()
        assert (GONE in sheet[1], "Opening balance" in sheet[2]) == (True, True)
        paper = PdfReader(BytesIO(visitor.get(reverse("statement_pdf")).content)).pages[0].extract_text()
        assert GONE in " ".join(paper.split())

    @pytest.mark.sweep
    def test_a_newcomer_hears_nothing_of_archives(self, in_july):
        a_round(a_player(real=MONEY), a_table(), player=1000)
        in_july()
        player = a_player(real=MONEY)
        assert not statements.statement(player.pk, Mode.REAL).gone
        assert not statements.statement(a_player().pk, Mode.REAL).gone
        visitor = a_visitor()
        visitor.force_login(player.user)
        assert GONE not in visitor.get(reverse("statement_csv")).getvalue().decode()

    @pytest.mark.sweep
    def test_the_ledger_says_in_which_file_a_journal_is(self, in_july):
        player = a_player(real=MONEY)
        a_round(player, a_table(), player=1000)
        number, key = list(Journal.objects.values_list("pk", "key").order_by("pk"))[-1]
        in_july()
        finance = a_visitor()
        finance.force_login(a_member_of_staff("finance").user)
        assert (queries.find_journal(str(number)), queries.find_journal(str(key))) == (number, number)
        page = finance.get(reverse("staff_ledger_journal", args=[number])).content.decode()
        assert "2025-07.zip" in page
        account = Account.objects.get(owner=player, kind="cash", mode="R")
        assert queries.entries_of(account).carried == account.balance
        page = finance.get(reverse("staff_ledger_account", args=[account.pk])).content.decode()
        assert "Carried forward from archived months" in page

    @pytest.mark.sweep
    def test_a_replay_leaves_the_ledger_out(self, in_july):
        player, live_table = a_player(real=MONEY), a_live_table()
        ids = [a_round(player, a_table(), player=1000, banker=5000).round_id]
        bet(player, live_table, player=5_000)
        ids.append(round_at(live_table).pk)
        advance_to(live_table, Phase.SETTLED)
        in_july()
        assert [problem for _, problem in problems(ids)] == [None, None]

    @pytest.mark.sweep
    def test_a_coup_between_guests_is_replayed_and_recalled(self, in_july):
        live_table = a_chemin_table()
        guests(live_table)
        play_until(live_table, lambda standing: standing.tenure is None and Round.objects.count() > 2, seed=1)
        in_july()
        ids = list(Round.objects.values_list("pk", flat=True))
        assert ids
        assert {problem for _, problem in problems(ids)} == {None}
        for each in ids:
            found = recalled(each)
            assert "2025-07" in found.deal.obstacle
            assert found.differences == []
        assert broken() == {}

    @pytest.mark.sweep
    def test_reports_say_what_they_cannot_tell(self, in_july):
        withdrawal = payout_builders.paid(payout_builders.a_withdrawal(a_verified_player(real=MONEY)))
        in_july()
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        interval = Interval(hour, hour + timedelta(hours=1))
        told = payments.answer(ask(interval))
        assert [row[2] for row in told.rows] == [f"withdrawal:{withdrawal.pk}"]
        assert "archive" in told.notes()[-1]
        answer = reconciliation.answer(ask(interval))
        assert {row[4] for row in answer.rows if row[2] not in ("Held at the end",)} <= {None}
        assert "archives" in answer.notes()[-1]

    @pytest.mark.sweep
    def test_sums_of_hours_that_have_gone_are_not_added_up_anew(self, in_july):
        a_round(a_player(real=MONEY), a_table(), player=1000)
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        hourly_totals.roll(hour)
        in_july()
        assert list(hourly_totals.differences(Interval(hour, hour + timedelta(hours=1)))) == []
