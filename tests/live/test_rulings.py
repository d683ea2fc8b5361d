"""Rulings of the supervisor, and actions that need two people, as in the event table."""

import html

import pytest

from audit import approvals
from games.models import Incident, IncidentKind, IncidentRuling, Phase, Ruling, Void, VoidReason
from games.shared import malfunction, phases
from games.shared.malfunction import KIND, MalfunctionError
from games.shared.round_status import in_hands
from players.models import Staff
from tests.attacks.test_four_eyes import disabled
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.test_at_once import at_once
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000
STAKE = 5000


def ask(incident: Incident, by: Staff | None = None):
    return malfunction.ask_void(
        incident_id=incident.pk, reason="A card was wrong.", by=by or a_member_of_staff("supervisor")
    )


def decide(asked, by: Staff, *, yes: bool = True):
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(by), person=by.person, reason="I saw it too.", may=by.user.has_perm
    )


def void_by_two(incident: Incident) -> None:
    """Void the round of an incident with a supervisor and a compliance officer."""
    decide(ask(incident), a_member_of_staff("supervisor"))


def report(live_round, cause="A card lay face up."):
    return malfunction.report(round_id=live_round.pk, cause=cause, by="staff:1")


def balance(player):
    return accounts.balance(player.pk, Mode.REAL)


@pytest.fixture
def live_table(db):
    return a_live_table()


@pytest.fixture
def player(live_table):
    bettor = a_player("SE", real=MONEY)
    bet(bettor, live_table, player=STAKE)
    return bettor


@pytest.mark.parametrize("phase", sample([Phase.DEALT, Phase.SETTLED], 1))
class TestAfterTheDeal:
    def test_a_round_is_voided_by_two_people(self, live_table, player, phase):
        live_round = advance_to(live_table, phase)
        incident = report(live_round)
        asker, decider = a_member_of_staff("supervisor"), a_member_of_staff("supervisor")
        asked = ask(incident, asker)
        assert not Void.objects.exists()
        decide(asked, decider)
        assert (Void.objects.get().reason, Void.objects.get().by) == (VoidReason.DECIDED, str(decider))
        assert balance(player) == MONEY
        ruling = IncidentRuling.objects.get(incident=incident)
        assert (ruling.ruling, ruling.by) == (Ruling.VOID, str(decider))
        assert str(asker) in ruling.reason

    def test_nobody_agrees_to_what_they_asked_for_themselves(self, live_table, player, phase):
        incident = report(advance_to(live_table, phase))
        supervisor = a_member_of_staff("supervisor")
        asked = ask(incident, supervisor)
        with pytest.raises(approvals.OwnRequest):
            decide(asked, supervisor)
        again = a_member_of_staff("supervisor", person=supervisor.person)
        with pytest.raises(approvals.OwnRequest):
            approvals.decide(
                approval_id=asked.pk, yes=True, by=str(again), person=again.person, reason="x", may=lambda _: True
            )
        assert not Void.objects.exists()

    def test_a_role_that_does_not_supervise_decides_nothing(self, live_table, player, phase):
        asked = ask(report(advance_to(live_table, phase)))
        for role in ("operator", "finance", "support"):
            with pytest.raises(approvals.NotAllowed):
                decide(asked, a_member_of_staff(role))
        assert not Void.objects.exists()

    def test_one_person_cannot_cancel_it(self, live_table, player, phase):
        live_round = advance_to(live_table, phase)
        report(live_round)
        with pytest.raises(MalfunctionError, match="too late to cancel"):
            malfunction.cancel(round_id=live_round.pk, reason="x", by="staff:1")
        incident = Incident.objects.get()
        with pytest.raises(MalfunctionError, match="is not void"):
            malfunction.accept_void(incident_id=incident.pk, reason="x", by="staff:1")

    @pytest.mark.sweep
    def test_who_decides_reads_that_seed_and_settlement_bear_the_round_out(self, live_table, player, phase):
        asked = ask(report(advance_to(live_table, phase)))
        facts = dict(approvals.kind(KIND).describe(approvals.thaw(asked)).facts)
        assert facts["Seed reproduces it"] == "yes"
        assert facts["Settlement confirmed"] == ("yes" if phase == Phase.SETTLED else "not settled yet")
        assert "A card lay face up." in facts["Incident"]

    @pytest.mark.sweep
    def test_a_round_that_was_ruled_to_stand_in_the_meantime_is_not_voided(self, live_table, player, phase):
        incident = report(advance_to(live_table, phase))
        asked = ask(incident)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        with pytest.raises(approvals.CannotExecute, match="was ruled on"):
            decide(asked, a_member_of_staff("supervisor"))
        assert not Void.objects.exists()
        with pytest.raises(MalfunctionError, match="was ruled on"):
            ask(incident)

    def test_of_two_people_who_may_not_both_any_more_nothing_is_done(self, live_table, player, phase):
        asker = a_member_of_staff("supervisor")
        asked = ask(report(advance_to(live_table, phase)), asker)
        disabled(asker)
        with pytest.raises(approvals.CannotExecute, match="no longer has this role"):
            decide(asked, a_member_of_staff("supervisor"))
        assert not Void.objects.exists()

    @pytest.mark.sweep
    def test_it_cannot_be_asked_for_twice(self, live_table, player, phase):
        incident = report(advance_to(live_table, phase))
        ask(incident)
        with pytest.raises(approvals.AskedTwice):
            ask(incident)

    @pytest.mark.sweep
    def test_a_refusal_leaves_everything_as_it_was(self, live_table, player, phase):
        incident = report(advance_to(live_table, phase))
        decide(ask(incident), a_member_of_staff("supervisor"), yes=False)
        assert not Void.objects.exists()
        assert not IncidentRuling.objects.exists()
        ask(incident)


class TestBeforeTheDeal:
    @pytest.mark.sweep
    @pytest.mark.parametrize("phase", [Phase.BETTING, Phase.CLOSED])
    def test_one_supervisor_cancels_with_a_reason(self, live_table, player, phase):
        live_round = round_at(live_table) if phase == Phase.BETTING else advance_to(live_table, phase)
        with pytest.raises(MalfunctionError, match="Enter a reason"):
            malfunction.cancel(round_id=live_round.pk, reason=" ", by="staff:7")
        malfunction.cancel(round_id=live_round.pk, reason="The light went out.", by="staff:7")
        assert (balance(player), Void.objects.get().reason) == (MONEY, VoidReason.CANCELLED)
        (event,) = events("round.cancelled")
        assert (event["by"], event["data"]["reason"]) == ("staff:7", "The light went out.")
        hurry(live_table)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING

    @pytest.mark.sweep
    def test_two_people_are_not_asked(self, live_table, player):
        with pytest.raises(MalfunctionError, match="Cancel it instead"):
            ask(report(round_at(live_table)))

    def test_cancelling_twice_is_refused_and_moves_nothing(self, live_table, player):
        live_round = round_at(live_table)
        malfunction.cancel(round_id=live_round.pk, reason="x", by="staff:7")
        with pytest.raises(MalfunctionError, match="too late"):
            malfunction.cancel(round_id=live_round.pk, reason="x", by="staff:7")
        assert (Void.objects.count(), balance(player)) == (1, MONEY)


class TestReopening:
    def test_waits_for_the_ruling_on_every_incident(self, live_table, player):
        live_round = advance_to(live_table, Phase.SETTLED)
        reported = report(live_round)
        found = malfunction.stop(
            live_round=live_round, kind=IncidentKind.NOT_RECOMPUTED, cause="x", found=(), by="system"
        )
        for incident in (reported, found):
            with pytest.raises(MalfunctionError, match="until a ruling on these incidents"):
                malfunction.reopen(live_table_id=live_table.pk, reason="x", by="staff:1")
            malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        malfunction.reopen(live_table_id=live_table.pk, reason="mended", by="staff:1")
        assert phases.advance(live_table.pk)
        assert [event["data"]["reason"] for event in events("table.reopened")] == ["mended"]

    @pytest.mark.sweep
    def test_gives_a_round_that_is_not_dealt_all_its_time_again(self, live_table, player):
        incident = report(round_at(live_table))
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        malfunction.reopen(live_table_id=live_table.pk, reason="mended", by="staff:1")
        assert not phases.advance(live_table.pk)
        bet(player, live_table, player=STAKE)
        assert advance_to(live_table, Phase.SETTLED)

    @pytest.mark.sweep
    def test_is_for_a_table_that_is_stopped(self, live_table):
        with pytest.raises(MalfunctionError, match="is not stopped"):
            malfunction.reopen(live_table_id=live_table.pk, reason="x", by="staff:1")

    @pytest.mark.sweep
    def test_a_round_reported_twice_is_one_incident(self, live_table, player):
        live_round = round_at(live_table)
        first = report(live_round)
        with pytest.raises(MalfunctionError, match=f"incident {first.pk} awaits"):
            report(live_round)
        malfunction.let_stand(incident_id=first.pk, reason="seen", by="staff:1")
        assert report(live_round).pk != first.pk


def seen(answer) -> str:
    return html.unescape(answer.text)


def log_in(user):
    visitor = a_visitor()
    visitor.force_login(user)
    return visitor


class TestThePages:
    @pytest.mark.sweep
    def test_of_a_table_shows_what_goes_on_and_no_card_before_its_time(self, live_table, player):
        reader = log_in(a_member_of_staff("supervisor").user)
        page = seen(reader.get(f"/staff/floor/live-{live_table.pk}/"))
        assert round_at(live_table).code in page
        assert "1 player, " in page
        assert "SEK\u00a050.00" in page
        dealt = advance_to(live_table, Phase.DEALT)
        page = seen(reader.get(f"/staff/floor/live-{live_table.pk}/"))
        assert dealt.cards[:2] in page
        assert dealt.cards not in page
        advance_to(live_table, Phase.SETTLED)
        assert in_hands(dealt.cards) in seen(reader.get(f"/staff/floor/live-{live_table.pk}/"))

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("role", "offered"),
        sample([("operator", (True, False)), ("supervisor", (True, True)), ("compliance", (False, False))], 1),
    )
    def test_offer_what_the_role_may_do(self, live_table, player, role, offered):
        page = seen(log_in(a_member_of_staff(role).user).get(f"/staff/floor/live-{live_table.pk}/"))
        assert ("Report round" in page, "Cancel round" in page) == offered
        assert ("Close Live" in page) is (role != "compliance")

    @pytest.mark.sweep
    def test_do_nothing_final_without_confirmation_or_reason(self, live_table, player):
        live_round = round_at(live_table)
        boss = log_in(a_member_of_staff("supervisor").user)
        for form in ({"reason": "x"}, {"sure": "on"}, {"reason": " ", "sure": "on"}):
            for action in ("report", "cancel"):
                answer = boss.post(f"/staff/rounds/{live_round.pk}/{action}/", form, follow=True)
                assert "Enter a reason and tick the confirmation." in seen(answer)
        assert not Incident.objects.exists()
        assert not Void.objects.exists()

    @pytest.mark.sweep
    def test_of_incidents_offer_a_ruling_once(self, live_table, player):
        incident = report(advance_to(live_table, Phase.DEALT))
        boss = log_in(a_member_of_staff("supervisor").user)
        page = seen(boss.get(f"/staff/incidents/{incident.pk}/"))
        assert "Let the round stand" in page
        assert "Request to void the round" in page
        assert "Cancel round" not in page
        assert "Let the round stand" not in seen(
            log_in(a_member_of_staff("operator").user).get(f"/staff/incidents/{incident.pk}/")
        )
        ruling = f"/staff/incidents/{incident.pk}/ruling/"
        form = {"reason": "seen", "sure": "on", "decision": "stands"}
        assert "the round stands" in seen(boss.post(ruling, form, follow=True))
        assert "was ruled on by" in seen(boss.post(ruling, form, follow=True))
        assert "Request to void" not in seen(boss.get(f"/staff/incidents/{incident.pk}/"))

    @pytest.mark.sweep
    def test_of_a_settled_round_lead_to_its_void(self, live_table, player):
        live_round = advance_to(live_table, Phase.SETTLED)
        boss = log_in(a_member_of_staff("supervisor").user)
        assert "Report round" in seen(boss.get(f"/staff/rounds/{live_round.pk}/"))
        boss.post(f"/staff/rounds/{live_round.pk}/report/", {"reason": "complained of", "sure": "on"})
        void_by_two(Incident.objects.get())
        page = seen(boss.get(f"/staff/rounds/{live_round.pk}/"))
        assert "void since" in page
        assert "Reported by staff" in page
        assert "Report round" not in page


class TestAtOnce:
    def test_of_two_rulings_one_holds(self, cloned_db):
        live_table = a_live_table()
        bet(a_player("SE", real=MONEY), live_table, player=STAKE)
        incident = report(round_at(live_table))

        def rule(action) -> bool:
            try:
                action()
            except MalfunctionError:
                return False
            return True

        done = at_once(
            [
                lambda: rule(lambda: malfunction.let_stand(incident_id=incident.pk, reason="x", by="staff:1")),
                lambda: rule(lambda: malfunction.cancel(round_id=incident.live_round_id, reason="x", by="staff:2")),
            ]
        )
        ruling = IncidentRuling.objects.get()
        assert Void.objects.exists() is done[1]
        assert ruling.ruling == (Ruling.CONFIRMED if done[0] else Ruling.VOID)

    def test_a_finding_made_by_two_workers_is_one_incident(self, cloned_db):
        live_table = a_live_table()
        live_round = round_at(live_table)
        found = at_once(
            [
                lambda: malfunction.stop(
                    live_round=live_round, kind=IncidentKind.PHASE_RAISED, cause="x", found=(), by="system"
                )
            ]
            * 4
        )
        assert len({incident.pk for incident in found}) == Incident.objects.count() == 1
