"""Two people adjust a balance: exactly as requested and decided, once, and in no other way."""

from functools import partial
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from audit import approvals
from audit.models import Decision, Verdict
from games.history.statement.figures import figures_between
from tests.builders import a_player
from tests.people import a_member_of_staff, events, last_mail
from tests.wallet import holds, wholeness
from tests.wallet.adjusting import ask, decide
from tests.wallet.money_moves import cash, write
from tests.wallet.test_at_once import at_once
from wallet import ledger
from wallet.ledger import adjustments
from wallet.ledger.accounts import balance, house_account, player_account
from wallet.models import Adjustment, Day, Journal, Mode


@pytest.fixture
def player():
    return a_player("SE", real=10_000)


@pytest.mark.django_db
class TestDecided:
    def test_gli19_b_2_3_posts_what_was_asked_for_and_names_both(self, player):
        asker, decider = a_member_of_staff("support"), a_member_of_staff("finance")
        asked = ask(player, 500, by=asker)
        assert balance(player.pk, Mode.REAL) == 10_000
        decide(asked, by=decider)
        assert balance(player.pk, Mode.REAL) == 10_500
        (event,) = events("balance.adjusted", on=str(player))
        assert (event["by"], event["data"]["asked_by"]) == (str(decider), str(asker))
        assert (event["data"]["balance_before"], event["data"]["balance_after"]) == (10_000, 10_500)
        assert event["data"]["reason"] == "ticket 12"

    def test_gli19_b_3_2_an_adjustment_is_on_record_with_every_field(self, player):
        """Id, element, value before and after, when, who altered it and who authorised it."""
        asker, decider = a_member_of_staff("support"), a_member_of_staff("finance")
        asked = ask(player, 500, by=asker)
        decide(asked, by=decider)
        (event,) = events("balance.adjusted", on=str(player))
        journal = Journal.objects.get(kind="adjustment")
        assert event["data"]["journal"] == journal.pk
        assert (event["on"], event["data"]["currency"], event["data"]["mode"]) == (str(player), "SEK", "R")
        assert (event["data"]["balance_before"], event["data"]["balance_after"]) == (10_000, 10_500)
        assert event["at"].startswith(f"{journal.at:%Y-%m-%dT%H:%M}")
        assert (event["data"]["asked_by"], event["by"]) == (str(asker), str(decider))

    def test_goes_down_too(self, player):
        decide(ask(player, -10_000))
        assert balance(player.pk, Mode.REAL) == 0

    def test_of_free_money_leaves_real_money_alone(self, player):
        free = balance(player.pk, Mode.FREE)
        decide(ask(player, 700, mode=Mode.FREE))
        assert (balance(player.pk, Mode.FREE), balance(player.pk, Mode.REAL)) == (free + 700, 10_000)

    def test_against_moves_nothing(self, player):
        decide(ask(player), yes=False)
        assert balance(player.pk, Mode.REAL) == 10_000
        assert not Adjustment.objects.exists()

    def test_keeps_every_invariant_of_the_ledger(self, player):
        decide(ask(player, -300))
        assert [check.rows for check in wholeness.checks() if check.rows] == []

    def test_is_no_deposit_and_counts_against_no_limit(self, player):
        before = list(Day.objects.filter(player=player).values())
        decide(ask(player))
        assert list(Day.objects.filter(player=player).values()) == before

    def test_gli19_2_5_7_an_adjustment_is_in_the_statement_with_its_time_and_number(self, player):
        decide(ask(player))
        mail = last_mail(player.user.email, "balance_adjusted")
        journal = Journal.objects.get(kind="adjustment")
        assert str(journal.pk) in mail.body
        with transaction.atomic():
            statement = figures_between(player, Mode.REAL, journal.at, journal.at.replace(year=2200), "UTC")
        ((lump,),) = (statement.money,)
        assert (lump.journal_id, lump.amount, lump.at) == (journal.pk, 500, journal.at)


@pytest.mark.django_db
class TestRefused:
    def test_more_than_there_is_is_said_at_the_asking(self, player):
        with pytest.raises(adjustments.CannotAdjust, match=r"has SEK.100\.00 available"):
            ask(player, -10_001)

    def test_more_than_is_free_at_the_deciding_does_nothing_and_leaves_it_undecided(self, player):
        asked = ask(player, -10_000)
        holds.hold(uuid4(), cash(player), 1)
        with pytest.raises(approvals.CannotExecute, match="less than the amount to deduct"):
            decide(asked)
        assert not Decision.objects.exists()
        assert balance(player.pk, Mode.REAL) == 10_000

    def test_of_an_asker_whose_role_was_taken(self, player):
        asked = ask(player, by=a_member_of_staff("operator"))
        with pytest.raises(approvals.CannotExecute, match="no longer has this role"):
            decide(asked)

    def test_by_a_decider_of_another_role(self, player):
        with pytest.raises(approvals.NotAllowed):
            decide(ask(player), by=a_member_of_staff("compliance"))

    def test_gli19_b_2_3_is_not_decided_by_one_person_with_two_accounts(self, player):
        asker = a_member_of_staff("support")
        with pytest.raises(approvals.OwnRequest):
            decide(ask(player, by=asker), by=a_member_of_staff("finance", person=asker.person))

    def test_twice_at_a_time(self, player):
        ask(player)
        with pytest.raises(approvals.AskedTwice):
            ask(player, 600)


def journal_of(player, amount, *, kind="adjustment", key=None, house="adjusted"):
    lines = (
        ledger.Line(player_account(player.pk, Mode.REAL), "SEK", "R", amount),
        ledger.Line(house_account(house, "SEK", "R"), "SEK", "R", -amount),
    )
    return ledger.Journal(key or uuid4(), kind, lines)


@pytest.mark.django_db
class TestTheDatabase:
    """A stolen web login may call the ledger's functions and insert approvals."""

    def test_gli19_b_2_3_posts_no_adjustment_without_an_approval(self, player):
        for kind, house in (("adjustment", "adjusted"), ("deposit", "adjusted"), ("adjustment", "cashier")):
            with pytest.raises(ledger.WrongPurpose), transaction.atomic():
                ledger.post(journal_of(player, 500, kind=kind, house=house))

    def test_takes_no_adjustment_back_by_a_reversal(self, player):
        decide(ask(player))
        journal = Journal.objects.get(kind="adjustment")
        for kind in ("void", "adjustment"):
            with pytest.raises(ledger.WrongPurpose), transaction.atomic():
                ledger.reverse({journal.pk: uuid4()}, kind=kind)

    def test_executes_what_is_asked_for_and_not_decided_nowhere(self, player):
        asked = ask(player)
        with pytest.raises(ledger.NotApproved), transaction.atomic():
            ledger.adjust(asked.pk)
        decide(asked, yes=False)
        with pytest.raises(ledger.NotApproved), transaction.atomic():
            ledger.adjust(asked.pk)

    def test_executes_an_approval_once(self, player):
        asked = ask(player)
        decide(asked)
        with pytest.raises(ledger.NotApproved), transaction.atomic():
            ledger.adjust(asked.pk)
        assert balance(player.pk, Mode.REAL) == 10_500

    def test_executes_no_approval_of_another_kind_nor_none(self, player):
        other = approvals.Description("Another thing", ())
        approvals.register(
            "test.other",
            title="other",
            then="It is done.",
            execute=lambda *_: None,
            permission="x",
            describe=lambda _: other,
        )
        try:
            staff = a_member_of_staff("support")
            request = {
                "player": player.pk,
                "currency": "SEK",
                "mode": "R",
                "amount": 5,
                "why": "round",
                "key": str(uuid4()),
            }
            asked = approvals.ask(
                kind="test.other", on="x", request=request, by=str(staff), person=staff.person, reason="r"
            )
        finally:
            approvals._kinds.pop("test.other")
        for number in (asked.pk, 404_404):
            with pytest.raises(ledger.NotApproved), transaction.atomic():
                ledger.adjust(number)

    def test_knows_who_may_ask_and_decide_whatever_an_approval_says(self, player):
        asked = ask(player)
        clerk = a_member_of_staff("operator")
        Decision.objects.create(
            approval=asked, verdict=Verdict.APPROVED, by=str(clerk), asker=asked.person, person=clerk.person, reason="r"
        )
        with pytest.raises(ledger.NotApproved), transaction.atomic():
            ledger.adjust(asked.pk)

    def test_lets_nobody_write_down_an_adjustment(self, player):
        with (
            pytest.raises(DatabaseError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("INSERT INTO wallet_adjustment SELECT * FROM wallet_adjustment")


class TestAtOnce:
    def test_two_deciders_see_that_nobody_has_decided_and_one_of_them_does(self, cloned_db):
        player = a_player("SE", real=10_000)
        asked, have_read = ask(player), Barrier(2)
        deciders = [a_member_of_staff("finance"), a_member_of_staff("finance")]

        def check_then_decide(staff):
            seen = approvals.waiting().filter(pk=asked.pk).exists()
            have_read.wait(timeout=300)
            try:
                decide(asked, by=staff)
            except approvals.AlreadyDecided:
                return seen, "late"
            return seen, "done"

        results = at_once([partial(check_then_decide, staff) for staff in deciders])
        assert sorted(results) == [(True, "done"), (True, "late")]
        assert balance(player.pk, Mode.REAL) == 10_500

    def test_down_and_a_bet_both_find_enough_and_one_of_them_is_done(self, cloned_db):
        player = a_player("SE", real=10_000)
        asked, decider, have_read = ask(player, -10_000), a_member_of_staff("finance"), Barrier(2)

        def look():
            seen = balance(player.pk, Mode.REAL)
            have_read.wait(timeout=300)
            return seen

        def adjust():
            seen = look()
            try:
                decide(asked, by=decider)
            except approvals.CannotExecute:
                return seen, False
            return seen, True

        def bet():
            seen = look()
            try:
                write(journal_of(player, -6000, kind="stake", house="escrow"))
            except ledger.InsufficientFunds:
                return seen, False
            return seen, True

        (seen, adjusted), (also_seen, staked) = at_once([adjust, bet])
        assert seen == also_seen == 10_000
        assert adjusted != staked
        assert balance(player.pk, Mode.REAL) == (0 if adjusted else 4000)
