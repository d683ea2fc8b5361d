"""Posting: valid and invalid movements, and answers to repeated requests."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.wallet.money_moves import a_round, cash, house, move, stake, write
from wallet import ledger
from wallet.ledger import Journal, accounts
from wallet.models import Entry, Mode
from wallet.models import Journal as StoredJournal

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player(real=1000, free=5000)


def balance(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


def refused(error, *journals):
    """Post, expecting *error* and no new rows."""
    before = StoredJournal.objects.count(), Entry.objects.count()
    with pytest.raises(error), transaction.atomic():
        write(*journals)
    assert (StoredJournal.objects.count(), Entry.objects.count()) == before


def test_a_posting_moves_money_and_says_what_is_left(player):
    (posted,) = write(stake(player, 300))
    assert not posted.repeated
    assert posted.balances == {cash(player): 700}
    assert balance(player) == 700


def test_journals_of_one_call_follow_each_other(player):
    staked, settled = a_round(player, staked=1000, paid=1950)
    assert staked.balances == {cash(player): 0}
    assert settled.balances == {cash(player): 1950}
    assert staked.journal_id < settled.journal_id


def test_money_that_is_only_won_later_cannot_be_staked_now(player):
    later = move((cash(player), 5000), (house("cashier", player), -5000))
    with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
        write(stake(player, 1001), Journal(uuid4(), "deposit", later))


def test_entries_tell_the_account_s_story(player):
    a_round(player, staked=100, paid=250)
    shown = Entry.objects.filter(account_id=cash(player)).order_by("version")
    assert list(shown.values_list("version", "amount", "balance_after")) == [
        (1, 1000, 1000),
        (2, -100, 900),
        (3, 250, 1150),
    ]


def test_accounts_of_the_house_keep_no_balance(player):
    a_round(player, staked=100, paid=0)
    theirs = Entry.objects.filter(account__owner=None)
    assert set(theirs.values_list("balance_after", "version", "account__balance")) == {(None, None, None)}


def test_one_account_may_stand_in_several_lines(player):
    lines = move((cash(player), -600), (house("escrow", player), 1000), (cash(player), -400))
    (posted,) = write(Journal(uuid4(), "stake", lines))
    assert posted.balances == {cash(player): 0}


class TestSums:
    @pytest.mark.parametrize("off", [-1, 1])
    def test_a_journal_that_does_not_sum_to_zero_is_refused(self, player, off):
        lines = move((cash(player), -100), (house("escrow", player), 100 + off))
        refused(ledger.UnbalancedJournal, Journal(uuid4(), "stake", lines))

    def test_journals_do_not_balance_each_other(self, player):
        out = Journal(uuid4(), "stake", move((cash(player), -100)))
        into = Journal(uuid4(), "stake", move((house("escrow", player), 100)))
        refused(ledger.UnbalancedJournal, out, into)

    def test_a_line_of_nothing_is_refused(self, player):
        refused(IntegrityError, Journal(uuid4(), "stake", move((cash(player), 0))))

    def test_a_journal_without_lines_is_refused(self, player):
        refused(ledger.UnbalancedJournal, Journal(uuid4(), "stake", ()))


class TestMoneyOfDifferentKinds:
    def test_real_and_free_money_never_meet(self, player):
        lines = move((cash(player, Mode.FREE), -100), mode="F") + move((cash(player), 100))
        refused(ledger.UnbalancedJournal, Journal(uuid4(), "stake", lines))

    def test_currencies_never_meet(self, player):
        dane = a_player("DK")
        lines = move((cash(player), -100)) + move((cash(dane), 100), currency="DKK")
        refused(ledger.UnbalancedJournal, Journal(uuid4(), "stake", lines))

    @pytest.mark.parametrize("disguise", [{"mode": "F"}, {"currency": "DKK"}])
    def test_a_line_cannot_disguise_its_account(self, player, disguise):
        lines = move((cash(player), -100), (house("escrow", player), 100), **disguise)
        refused(ledger.UnknownAccount, Journal(uuid4(), "stake", lines))

    def test_an_account_nobody_opened_is_unknown(self, player):
        refused(ledger.UnknownAccount, Journal(uuid4(), "stake", move((cash(player), -100), (10**12, 100))))


class TestBetweenPlayers:
    def test_gli19_2_5_6_no_journal_gives_one_players_money_to_another(self, player):
        other = a_player(real=1000)
        for kind in ("stake", "void_transfer"):
            refused(ledger.BetweenPlayers, Journal(uuid4(), kind, move((cash(player), -10), (cash(other), 10))))

    @pytest.mark.parametrize("kind", ["gift", "correction", "settle", "deposit", "withdraw", "bank"])
    def test_kinds_of_journals_and_what_they_move_are_a_closed_set(self, player, kind):
        invented = Journal(uuid4(), kind, move((cash(player), -10), (house("cashier", player), 10)))
        refused(ledger.WrongPurpose, invented)
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            write(invented)
        as_owner(
            "CREATE OR REPLACE FUNCTION public.wallet_line_fits("
            "journal_kind text, account_kind text, mode text, into_it boolean) RETURNS boolean"
            " LANGUAGE sql IMMUTABLE AS 'SELECT true'"
        )
        write(invented)

    @pytest.mark.parametrize("source", ["escrow", "house"])
    def test_a_payout_is_not_posted_by_the_application(self, player, source):
        """A stake of 10.00 that is settled with 1,000.00 under an invented round."""
        round_id = uuid4()
        write(stake(player, 1000, round_id=round_id))
        payout = Journal(uuid4(), "settle", move((house(source, player), -100_000), (cash(player), 100_000)), round_id)
        with pytest.raises(ledger.WrongPurpose), transaction.atomic():
            ledger.post(payout)
        as_owner(
            "CREATE OR REPLACE FUNCTION public.wallet_post(journals jsonb)"
            " RETURNS TABLE (journal_number integer, journal bigint, repeated boolean, account bigint, balance bigint)"
            " LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM public.wallet_write(journals, false)'"
        )
        ledger.post(payout)

    def test_nor_with_the_house_between_them(self, player):
        other, escrow = a_player(real=1000), house("escrow", player)
        lines = move((cash(player), -10), (escrow, 5), (cash(other), 5))
        refused(ledger.BetweenPlayers, Journal(uuid4(), "stake", lines))


class TestFunds:
    def test_more_than_there_is_moves_nothing(self, player):
        refused(ledger.InsufficientFunds, stake(player, 1001))
        assert balance(player) == 1000

    def test_the_last_minor_unit_can_be_staked(self, player):
        write(stake(player, 1000))
        assert balance(player) == 0

    def test_of_several_journals_none_is_posted_if_one_is_refused(self, player):
        refused(ledger.InsufficientFunds, stake(player, 400), stake(player, 700))
        assert balance(player) == 1000


class TestKeys:
    def test_the_same_request_again_answers_the_same_and_moves_nothing(self, player):
        journal = stake(player, 300)
        (first,), (again,) = write(journal), write(journal)
        assert again == replace(first, repeated=True)
        assert balance(player) == 700

    def test_the_answer_is_the_first_one_even_when_the_account_has_moved_on(self, player):
        journal = stake(player, 300)
        write(journal)
        write(stake(player, 700))
        (again,) = write(journal)
        assert again.balances == {cash(player): 700}

    def test_a_request_that_could_not_be_afforded_now_is_still_answered(self, player):
        journal = stake(player, 1000)
        write(journal)
        (again,) = write(journal)
        assert again.repeated

    @pytest.mark.parametrize("change", ["amount", "kind", "round", "lines"])
    def test_the_same_key_with_other_contents_is_a_conflict(self, player, change):
        journal = stake(player, 300)
        write(journal)
        other = {
            "amount": stake(player, 301, key=journal.key),
            "kind": replace(journal, kind="correction"),
            "round": replace(journal, round_id=uuid4()),
            "lines": replace(journal, lines=journal.lines[::-1]),
        }
        refused(ledger.PostingConflict, other[change])
        assert balance(player) == 700

    def test_a_call_may_mix_old_and_new(self, player):
        old, new = stake(player, 300), stake(player, 200)
        write(old)
        again, fresh = write(old, new)
        assert (again.repeated, fresh.repeated) == (True, False)
        assert fresh.balances == {cash(player): 500}

    def test_one_key_twice_in_one_call_posts_once(self, player):
        journal = stake(player, 300)
        first, second = write(journal, journal)
        assert (first.repeated, second.repeated) == (False, True)
        assert first.journal_id == second.journal_id
        assert balance(player) == 700

    def test_a_refused_request_leaves_its_key_free(self, player):
        journal = stake(player, 2000)
        refused(ledger.InsufficientFunds, journal)
        (posted,) = write(stake(player, 100, key=journal.key))
        assert not posted.repeated

    def test_what_a_key_has_posted_can_be_found(self, player):
        journal = stake(player, 300)
        assert ledger.find(journal.key) is None
        (posted,) = write(journal)
        assert ledger.find(journal.key) == replace(posted, repeated=True)

    def test_keys_of_the_house_are_the_same_every_time(self):
        round_id = uuid4()
        assert ledger.system_key(round_id, "settle") == ledger.system_key(round_id, "settle")
        assert ledger.system_key(round_id, "settle") != ledger.system_key(round_id, "stake")


@pytest.mark.usefixtures("without_voids")
class TestReversal:
    def test_a_reversal_is_the_exact_opposite_for_the_same_round(self, player):
        _, settled = a_round(player, staked=100, paid=250)
        (reversal,) = ledger.reverse({settled.journal_id: uuid4()}, kind="void")
        stored = StoredJournal.objects.get(pk=reversal.journal_id)
        original = StoredJournal.objects.get(pk=settled.journal_id)
        assert (stored.reverses_id, stored.round_id) == (original.pk, original.round_id)
        lines = original.entry_set.order_by("line").values_list("account", "amount")
        opposite = stored.entry_set.order_by("line").values_list("account", "amount")
        assert list(opposite) == [(account, -amount) for account, amount in lines]
        assert reversal.balances == {cash(player): 900}

    def test_a_repeated_reversal_answers_the_same(self, player):
        (posted,) = write(stake(player, 300))
        key = uuid4()
        (first,) = ledger.reverse({posted.journal_id: key}, kind="void")
        assert ledger.reverse({posted.journal_id: key}, kind="void") == (replace(first, repeated=True),)
        assert balance(player) == 1000

    def test_a_journal_is_reversed_once(self, player):
        (posted,) = write(stake(player, 300))
        ledger.reverse({posted.journal_id: uuid4()}, kind="void")
        with pytest.raises(ledger.AlreadyReversed), transaction.atomic():
            ledger.reverse({posted.journal_id: uuid4()}, kind="void")
        assert balance(player) == 1000

    def test_winnings_that_are_spent_cannot_be_taken_back(self, player):
        _, settled = a_round(player, staked=100, paid=2000)
        write(stake(player, 2900))
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            ledger.reverse({settled.journal_id: uuid4()}, kind="void")
        assert balance(player) == 0

    def test_what_journals_bring_back_comes_before_what_they_take_back(self, player):
        staked, settled = a_round(player, staked=1000, paid=800)
        write(stake(player, 800))
        undone = ledger.reverse({settled.journal_id: uuid4(), staked.journal_id: uuid4()}, kind="void")
        assert [posted.balances for posted in undone] == [{cash(player): 200}, {cash(player): 1000}]

    def test_an_unknown_journal_is_refused(self):
        with pytest.raises(ledger.UnknownJournal), transaction.atomic():
            ledger.reverse({}, kind="void")

    def test_what_does_not_exist_cannot_be_reversed(self, player):
        (posted,) = write(stake(player, 300))
        with pytest.raises(ledger.UnknownJournal), transaction.atomic():
            ledger.reverse({posted.journal_id: uuid4(), 10**12: uuid4()}, kind="void")
        assert balance(player) == 700


class TestAccounts:
    def test_every_player_has_a_real_and_a_free_account_in_their_currency(self):
        dane = a_player("DK")
        held = dane.accounts.values_list("kind", "currency", "mode", "balance")
        assert set(held) == {("cash", "DKK", "R", 0), ("cash", "DKK", "F", 0)}

    def test_opening_again_changes_nothing(self, player):
        before = set(player.accounts.values_list("pk", "balance"))
        accounts.open_accounts(player)
        assert set(player.accounts.values_list("pk", "balance")) == before

    @pytest.mark.parametrize("currency", ["SEK", "DKK", "RON", "EUR", "GBP"])
    @pytest.mark.parametrize(("mode", "source"), [("R", "cashier"), ("F", "mint")])
    def test_the_house_has_its_accounts_in_every_currency_and_mode(self, currency, mode, source):
        found = {accounts.house_account(kind, currency, mode) for kind in ("escrow", "house", source)}
        assert len(found) == 3

    def test_balances_are_listed_by_mode(self, player):
        assert accounts.totals(player.pk).balances() == {Mode.REAL: 1000, Mode.FREE: 5000}

    def test_a_locked_account_shows_what_it_holds(self, player):
        with transaction.atomic():
            assert accounts.lock_account(player.pk, Mode.FREE).balance == 5000
