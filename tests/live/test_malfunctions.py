"""Malfunctions at a shared table, caused for real: effects on money, table, players and staff."""

import html

import pytest
from django.conf import settings
from django.utils.translation import gettext, override

from games.models import (
    Incident,
    IncidentKind,
    IncidentRuling,
    LiveTable,
    Participation,
    Phase,
    Round,
    Ruling,
    Shoe,
    ShoeEnding,
    VerificationDue,
    Void,
    VoidReason,
)
from games.shared import malfunction, phases
from games.verification import verification_task
from players.models import Mail, User
from tests.builders import a_player
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, hurry, live_table_of, make_late, round_at
from tests.live.betting import held
from tests.live.spoilt import spoil
from tests.live.test_rulings import void_by_two
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet import wholeness
from wallet.ledger import accounts
from wallet.models import Account, Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
STAKE = 5000
LATE = settings.LIVE_LATE_SECONDS + 60
LANGUAGES = [code for code, _ in settings.LANGUAGES]


def balance(player):
    return accounts.balance(player.pk, Mode.REAL)


def nothing_is_held() -> bool:
    return not Account.objects.exclude(held=0).exists()


class Trouble:
    """A table with a bet, and a supervisor who receives mail."""

    def __init__(self):
        self.supervisor = a_member_of_staff("supervisor")
        self.live_table = a_live_table()
        self.player = a_player("SE", real=MONEY)
        bet(self.player, self.live_table, player=STAKE)

    @property
    def round(self):
        return round_at(self.live_table)

    @property
    def is_stopped(self) -> bool:
        return LiveTable.objects.get(pk=self.live_table.pk).stopped_by_id is not None

    def fails(self) -> Incident:
        """Make the table due, which stops it; return the incident."""
        hurry(self.live_table)
        assert not phases.advance(self.live_table.pk)
        assert self.is_stopped
        return Incident.objects.latest("pk")

    def stays(self) -> bool:
        """Return True if the table stays stopped without a new incident."""
        before, incidents = self.round.phase, Incident.objects.count()
        for _ in range(2):
            hurry(self.live_table)
            assert not phases.advance(self.live_table.pk)
        return (self.round.phase, Incident.objects.count()) == (before, incidents)

    def goes_on(self) -> None:
        """Reopen the table and play a round to its end."""
        malfunction.reopen(live_table_id=self.live_table.pk, reason="mended", by="staff:1")
        if self.round.phase not in (Phase.BETTING, Phase.CLOSED, Phase.DEALT):
            advance_to(self.live_table, Phase.BETTING)  # after players have cut the next shoe, if there is one
        bet(self.player, self.live_table, player=STAKE)
        advance_to(self.live_table, Phase.SETTLED)


@pytest.fixture
def trouble():
    return Trouble()


def stand(incident):
    return malfunction.let_stand(incident_id=incident.pk, reason="looked into it", by="staff:1")


def cancel(live_round):
    return malfunction.cancel(round_id=live_round.pk, reason="cannot be dealt", by="staff:1")


class TestBeforeTheDeal:
    """A phase that raises, or a shoe that was altered: nobody loses money."""

    @pytest.mark.parametrize(
        ("what", "kind"),
        sample(
            [
                ("leaves", IncidentKind.NOT_REPRODUCED),
                ("leaves, in one bit", IncidentKind.NOT_REPRODUCED),
                ("root", IncidentKind.NOT_REPRODUCED),
                ("commitment", IncidentKind.PHASE_RAISED),
                ("cards gone", IncidentKind.WRONG_CARD),
            ],
            1,
        ),
    )
    def test_a_shoe_that_cannot_be_dealt_stops_the_table_and_is_retired(self, trouble, owner, what, kind):
        closed = advance_to(trouble.live_table, Phase.CLOSED)
        spoil(owner, closed.pk, what)
        incident = trouble.fails()
        assert (incident.kind, incident.live_round_id, incident.cards) == (kind, closed.pk, "")
        assert incident.cause
        assert trouble.stays()
        assert (balance(trouble.player), held(trouble.player)) == (MONEY, STAKE)
        cancel(closed)
        assert balance(trouble.player) == MONEY
        assert IncidentRuling.objects.get(incident=incident).ruling == Ruling.VOID
        assert Shoe.objects.get(pk=closed.shoe_id).ending == ShoeEnding.RETIRED
        trouble.goes_on()
        assert trouble.round.shoe_id != closed.shoe_id

    def test_gli19_4_16_overdue_is_voided_at_once_and_the_supervisor_only_accepts_it(self, trouble):
        closed = advance_to(trouble.live_table, Phase.CLOSED)
        make_late(trouble.live_table, LATE)
        assert phases.advance(trouble.live_table.pk)
        assert (trouble.round.phase, balance(trouble.player)) == (Phase.VOID, MONEY)
        assert (Void.objects.get().reason, nothing_is_held()) == (VoidReason.OVERDUE, True)
        incident = Incident.objects.get(kind=IncidentKind.OVERDUE, live_round=closed)
        assert "The round is void" in incident.done[-1]
        assert trouble.is_stopped
        assert trouble.stays()
        with pytest.raises(malfunction.MalfunctionError, match="cannot stand"):
            stand(incident)
        malfunction.accept_void(incident_id=incident.pk, reason="the broker was away", by="staff:1")
        trouble.goes_on()

    @pytest.mark.sweep
    def test_overdue_with_bets_open_gives_back_what_is_held(self, trouble):
        make_late(trouble.live_table, LATE)
        phases.advance(trouble.live_table.pk)
        assert (trouble.round.phase, balance(trouble.player)) == (Phase.VOID, MONEY)
        assert nothing_is_held()
        assert Participation.objects.get(player=trouble.player).staked == STAKE

    @pytest.mark.sweep
    def test_a_little_late_is_no_malfunction(self, trouble):
        make_late(trouble.live_table, settings.LIVE_LATE_SECONDS // 2)
        phases.advance(trouble.live_table.pk)
        assert (trouble.round.phase, Incident.objects.count()) == (Phase.CLOSED, 0)


class TestAfterTheDeal:
    """A round with drawn cards is settled, however late. If in doubt, it waits for the supervisor."""

    @pytest.mark.sweep
    def test_overdue_is_settled_all_the_same(self, trouble):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        make_late(trouble.live_table, LATE)
        assert phases.advance(trouble.live_table.pk)
        assert trouble.round.phase == Phase.SETTLED
        part = Participation.objects.get(player=trouble.player)
        assert balance(trouble.player) == MONEY - STAKE + part.paid
        incident = Incident.objects.get(kind=IncidentKind.OVERDUE, live_round=dealt)
        assert (incident.cards, trouble.is_stopped) == (dealt.cards, True)
        assert trouble.stays()
        stand(incident)
        trouble.goes_on()

    def test_cards_that_the_shoe_does_not_give_are_not_settled(self, trouble, owner):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        spoil(owner, dealt.pk, "cards drawn")
        incident = trouble.fails()
        assert (incident.kind, incident.cards) == (IncidentKind.NOT_REPRODUCED, "9H 9D KS QC")
        assert {finding["what"] for finding in incident.findings} == {"cards"}
        assert trouble.stays()
        assert (balance(trouble.player), held(trouble.player)) == (MONEY, STAKE)
        void_by_two(incident)
        assert (trouble.round.phase, balance(trouble.player)) == (Phase.VOID, MONEY)
        assert Shoe.objects.get(pk=dealt.shoe_id).ending == ShoeEnding.RETIRED
        trouble.goes_on()

    @pytest.mark.parametrize(
        ("what", "kind"),
        sample(
            [
                ("cards dealt", IncidentKind.WRONG_CARD),
                ("cards dealt, none", IncidentKind.WRONG_CARD),
                ("leaves, in one bit", IncidentKind.NOT_REPRODUCED),
                ("root", IncidentKind.NOT_REPRODUCED),
            ],
            1,
        ),
    )
    def test_a_shoe_that_was_altered_since_pays_nothing(self, trouble, owner, what, kind):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        spoil(owner, dealt.pk, what)
        incident = trouble.fails()
        assert (incident.kind, incident.cards, len(incident.findings)) == (kind, dealt.cards, 1)
        assert trouble.stays()
        assert (balance(trouble.player), held(trouble.player)) == (MONEY, STAKE)
        void_by_two(incident)
        assert balance(trouble.player) == MONEY
        assert Shoe.objects.get(pk=dealt.shoe_id).ending == ShoeEnding.RETIRED
        trouble.goes_on()

    @pytest.mark.sweep
    def test_cards_that_there_are_not_are_no_reason_not_to_say_so(self, trouble, owner):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        spoil(owner, dealt.pk, "cards drawn that there are not")
        incident = trouble.fails()
        assert said("The table is stopped", "de") in public(trouble.live_table, "de")
        void_by_two(incident)
        assert balance(trouble.player) == MONEY
        message = "The shift supervisor voided this round. All stakes were returned and any payout was reversed."
        assert said(message, "de") in public(trouble.live_table, "de")
        assert Round.objects.get().outcome == ""

    def test_a_settlement_that_does_not_recompute_moves_nothing(self, trouble, owner):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        spoil(owner, dealt.pk, "slip")
        incident = trouble.fails()
        assert incident.kind == IncidentKind.NOT_RECOMPUTED
        assert (balance(trouble.player), held(trouble.player), Round.objects.count()) == (MONEY, STAKE, 0)
        assert trouble.stays()
        spoil(owner, dealt.pk, "slip, as it was")
        stand(incident)
        hurry(trouble.live_table)
        assert phases.advance(trouble.live_table.pk)
        assert trouble.round.phase == Phase.SETTLED
        wholeness.assert_whole()
        trouble.goes_on()

    @pytest.mark.sweep
    def test_what_still_cannot_be_settled_is_a_new_finding(self, trouble, owner):
        dealt = advance_to(trouble.live_table, Phase.DEALT)
        spoil(owner, dealt.pk, "cards drawn")
        stand(trouble.fails())
        again = trouble.fails()
        assert Incident.objects.filter(live_round=dealt, kind=again.kind).count() == 2
        assert trouble.stays()


class TestAFinishedRound:
    """A difference found by the later verification stops the table but voids nothing."""

    @pytest.mark.parametrize(
        ("what", "kind"),
        sample(
            [
                ("cards stored", IncidentKind.NOT_REPRODUCED),
                ("payout stored", IncidentKind.NOT_RECOMPUTED),
                ("part stored", IncidentKind.NOT_RECOMPUTED),
            ],
            1,
        ),
    )
    def test_that_is_not_reproduced_stops_its_table_alone(self, trouble, owner, what, kind):
        settled = advance_to(trouble.live_table, Phase.SETTLED)
        free = live_table_of(trouble.live_table.table, Mode.FREE)
        spoil(owner, settled.pk, what)
        had = balance(trouble.player)
        verification_task.verify_finished_rounds()
        incident = Incident.objects.get()
        assert (incident.kind, incident.live_round_id) == (kind, settled.pk)
        assert (Void.objects.count(), balance(trouble.player)) == (0, had)
        assert trouble.is_stopped
        assert phases.advance(free.pk)
        assert LiveTable.objects.get(pk=free.pk).stopped_by is None
        assert trouble.live_table.table.is_open
        assert not VerificationDue.objects.exists()
        void_by_two(incident)
        assert balance(trouble.player) == MONEY

    @pytest.mark.sweep
    def test_that_agrees_leaves_the_queue(self, trouble):
        for _ in range(3):
            advance_to(trouble.live_table, Phase.SETTLED)
            advance_to(trouble.live_table, Phase.BETTING)
            bet(trouble.player, trouble.live_table, banker=STAKE)
        assert verification_task.verify_finished_rounds().suspicious == ()
        assert (VerificationDue.objects.count(), Incident.objects.count()) == (0, 0)

    def test_a_wrong_position_in_the_shoe_reveals_no_card_to_come(self, trouble, owner):
        settled = advance_to(trouble.live_table, Phase.SETTLED)
        spoil(owner, settled.pk, "first card stored")
        verification_task.verify_finished_rounds()
        assert {finding["what"] for finding in Incident.objects.get().findings} == {"first card"}

    @pytest.mark.sweep
    def test_one_that_was_voided_is_not_dealt_again(self, trouble, owner):
        settled = advance_to(trouble.live_table, Phase.SETTLED)
        incident = malfunction.report(round_id=settled.pk, cause="A card fell.", by="staff:1")
        void_by_two(incident)
        spoil(owner, settled.pk, "cards stored")
        verification_task.verify_finished_rounds()
        assert (Incident.objects.count(), VerificationDue.objects.count()) == (1, 0)


@pytest.mark.django_db
class TestTheSupervisor:
    """Supervisors are alerted by mail and on every page of the back office."""

    @pytest.mark.sweep
    def test_is_written_to_with_everybody_whose_role_decides(self):
        trouble = Trouble()
        second, operator = a_member_of_staff("supervisor"), a_member_of_staff("operator")
        User.objects.filter(pk=second.user.pk).update(language="ro")
        incident = malfunction.report(round_id=trouble.round.pk, cause="A card lay face up.", by="staff:1")
        written = Mail.objects.filter(template="table_stopped")
        assert {mail.address for mail in written} == {trouble.supervisor.user.email, second.user.email}
        assert operator.user.email not in {mail.address for mail in written}
        for mail in written:
            assert (mail.language, "Live" in mail.subject) == ("en", True)
            for text in ("(Real)", trouble.round.code, "A card lay face up.", f"Incident {incident.pk}"):
                assert text in mail.body

    @pytest.mark.sweep
    def test_is_called_on_every_page_until_the_ruling(self):
        trouble = Trouble()
        incident = malfunction.report(round_id=trouble.round.pk, cause="A card lay face up.", by="staff:1")
        reader = a_visitor()
        reader.force_login(a_member_of_staff("supervisor").user)
        said = "Live (real money) is stopped: one incident awaits a ruling."
        for page in ("", "withdrawals/", "approvals/"):
            assert said in reader.get(f"/staff/{page}").text
        stand(incident)
        assert said not in reader.get("/staff/").text

    def test_is_called_once_for_one_finding(self):
        trouble = Trouble()
        for _ in range(3):
            malfunction.stop(live_round=trouble.round, kind=IncidentKind.PHASE_RAISED, cause="x", found=(), by="system")
        assert (Incident.objects.count(), Mail.objects.filter(template="table_stopped").count()) == (1, 1)
        assert len(events("incident.opened")) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
class TestThePlayers:
    """All players at the table are notified in their language, with or without bets."""

    @pytest.mark.sweep
    def test_read_that_the_table_is_stopped_and_their_bets_are_safe(self, language):
        trouble = Trouble()
        malfunction.report(round_id=trouble.round.pk, cause="A card lay face up.", by="staff:1")
        page = public(trouble.live_table, language)
        assert said("The table is stopped", language) in page
        assert (
            said(
                "Something went wrong. The shift supervisor has been called. Accepted bets are safe.",
                language,
            )
            in page
        )
        assert "A card lay face up." not in page

    @pytest.mark.sweep
    def test_read_that_the_round_is_final(self, language):
        trouble = Trouble()
        stand(malfunction.report(round_id=trouble.round.pk, cause="A card lay face up.", by="staff:1"))
        assert said("The shift supervisor has reviewed this round. The result stands.", language) in public(
            trouble.live_table, language
        )

    @pytest.mark.sweep
    def test_read_that_the_round_is_voided(self, language):
        trouble = Trouble()
        malfunction.report(round_id=trouble.round.pk, cause="A card lay face up.", by="staff:1")
        cancel(trouble.round)
        message = "This round was voided before any cards were dealt. All stakes were returned."
        assert said(message, language) in public(trouble.live_table, language)


def public(live_table, language) -> str:
    """Return the page of the table for a player without a bet."""
    reader = a_visitor()
    reader.force_login(a_player("SE", real=MONEY).user)
    return html.unescape(reader.get(f"/{language}/table/{live_table.table.slug}/real/").text)


def said(message: str, language: str) -> str:
    with override(language):
        return gettext(message)
