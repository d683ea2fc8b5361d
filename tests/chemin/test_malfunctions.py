"""Malfunctions at Chemin de Fer, caused for real: effects on bank, stakes, players and staff."""

import html
from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client

from audit import approvals
from games.chemin.state import snapshots
from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.errors import TableStopped
from games.models import (
    CheminSeat,
    Incident,
    IncidentKind,
    IncidentRuling,
    LiveRound,
    LiveTable,
    Ruling,
    Shoe,
    ShoeEnding,
    VerificationDue,
    Void,
    VoidReason,
)
from games.models import Phase as RoundPhase
from games.shared import malfunction
from games.shared.malfunction import KIND, MalfunctionError
from games.tables import clock
from games.verification import verification_task
from players.models import Mail, Player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_staked_coup,
    answer,
    asked,
    before_the_croupier,
    cash,
    chemin_of,
    hurry,
    seated_players,
    state_of,
    step,
    step_to,
)
from tests.chemin.hands import next_seed, shoe_where, third_cards_on_advice
from tests.harness.owner import OwnerWithin
from tests.harness.sweeps import sample
from tests.live.spoilt import spoil
from tests.live.test_malfunctions import said
from tests.live.test_rulings import ask, decide, void_by_two
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet import wholeness
from wallet.invariants import verify
from wallet.models import AccountKind

pytestmark = pytest.mark.django_db
BANK, STAKE = 10_000, 4_000
LATE = settings.LIVE_LATE_SECONDS + 60
A_WHILE = 30  # seconds


class Trouble:
    """A table whose coup waits for its cards or for the punter, and a supervisor who receives mail."""

    def __init__(self, monkeypatch, *, dealt: bool):
        seed, self.first = shoe_where(third_cards_on_advice)
        next_seed(monkeypatch, seed)
        self.supervisor = a_member_of_staff("supervisor")
        self.live_table = a_chemin_table()
        self.players = seated_players(self.live_table)
        (a_dealt_coup if dealt else a_staked_coup)(self.live_table, BANK, STAKE)
        self.coup = self.latest()

    def latest(self) -> LiveRound:
        return LiveRound.objects.select_related("shoe").filter(live_table=self.live_table).latest("opened_at")

    @property
    def is_stopped(self) -> bool:
        return LiveTable.objects.get(pk=self.live_table.pk).stopped_by_id is not None

    @property
    def money(self) -> list[int | None]:
        return [cash(player).balance for player in self.players]

    @property
    def on_table(self) -> tuple[int, int]:
        """Return the amounts in the bank and on the coup."""
        return before_the_croupier(AccountKind.BANK), before_the_croupier(AccountKind.STAKES)

    def click(self, action: str) -> None:
        """Click for the player whose turn it is."""
        answer(there(asked(self.live_table)), self.live_table, action)

    def fails(self, seat_number: int, action: str) -> Incident:
        """Let the player at that seat answer, which stops the table; return the incident."""
        with pytest.raises(TableStopped):
            answer(self.players[seat_number - 1], self.live_table, action)
        assert self.is_stopped
        return Incident.objects.latest("pk")

    def stays(self) -> bool:
        """Return True if the table stays stopped without a new incident, for every request."""
        before, incidents = chemin_of(self.live_table).move, Incident.objects.count()
        for seat_number, action in ((1, "deal_cards"), (2, "stand"), (2, "draw_card"), (1, "keep_bank")):
            with pytest.raises(TableStopped):
                answer(self.players[seat_number - 1], self.live_table, action)
        for seconds in (0, A_WHILE, LATE):
            assert not step(self.live_table, seconds)
        return (chemin_of(self.live_table).move, Incident.objects.count()) == (before, incidents)

    def goes_on(self, *broken: str) -> None:
        """Reopen the table and play a coup to its end; only the first coup breaks invariants, and only *broken*."""
        malfunction.reopen(live_table_id=self.live_table.pk, reason="mended", by="staff:1")
        if state_of(self.live_table).phase is Phase.CHOICE:
            self.click("keep_bank")
        else:
            a_bank(self.live_table, BANK)
        step_to(self.live_table, Phase.STAKES)
        answer(there(asked(self.live_table)), self.live_table, "lay_stake", STAKE)
        step_to(self.live_table, Phase.CHOICE, Phase.OFFER)
        assert self.latest().phase == RoundPhase.SETTLED
        assert verification_task.verify_finished_rounds().suspicious == ()
        found = [(check.invariant.name, row) for check in verify.run() for row in check.rows]
        assert {name for name, _row in found} == set(broken)
        assert all(row.startswith(f"round {self.coup.pk}: ") for _name, row in found)


@pytest.fixture
def undealt(monkeypatch):
    return Trouble(monkeypatch, dealt=False)


@pytest.fixture
def dealt(monkeypatch):
    return Trouble(monkeypatch, dealt=True)


def stand(incident):
    return malfunction.let_stand(incident_id=incident.pk, reason="looked into it", by="staff:1")


def cancel(coup):
    return malfunction.cancel(round_id=coup.pk, reason="cannot be dealt", by="staff:1")


def report(coup):
    return malfunction.report(round_id=coup.pk, cause="A card lay face up.", by="staff:1")


# Damage of the shoe -> what is found.
SPOILT_SHOES = {
    "leaves": IncidentKind.NOT_REPRODUCED,
    "leaves, in one bit": IncidentKind.NOT_REPRODUCED,
    "root": IncidentKind.NOT_REPRODUCED,
    "commitment": IncidentKind.PHASE_RAISED,
    "cards gone": IncidentKind.WRONG_CARD,
}
every_spoilt_shoe = pytest.mark.parametrize(("what", "kind"), sample(SPOILT_SHOES.items(), 1))


class TestBeforeTheDraw:
    """Nothing is drawn from an altered shoe, and nobody loses money."""

    @every_spoilt_shoe
    def test_the_banker_s_click_stops_the_table_and_one_supervisor_cancels(self, undealt, owner, what, kind):
        spoil(owner, undealt.coup.pk, what)
        incident = undealt.fails(1, "deal_cards")
        assert (incident.kind, incident.live_round_id, incident.cards) == (kind, undealt.coup.pk, "")
        assert incident.done[-1] == "Bank and stakes are unchanged; no cards have been dealt."
        assert undealt.stays()
        assert (undealt.money, undealt.on_table) == ([MONEY - BANK, MONEY - STAKE, MONEY], (BANK, STAKE))
        cancel(undealt.coup)
        assert (undealt.money, undealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        assert IncidentRuling.objects.get(incident=incident).ruling == Ruling.VOID
        assert Shoe.objects.get(pk=undealt.coup.shoe_id).ending == ShoeEnding.RETIRED
        undealt.goes_on()
        assert undealt.latest().shoe_id != undealt.coup.shoe_id

    @pytest.mark.sweep
    @every_spoilt_shoe
    def test_the_croupier_draws_from_it_no_more_than_the_banker(self, undealt, owner, what, kind):
        spoil(owner, undealt.coup.pk, what)
        assert not step(undealt.live_table)
        assert Incident.objects.get().kind == kind
        assert (undealt.is_stopped, undealt.stays()) == (True, True)
        cancel(undealt.coup)
        undealt.goes_on()

    def test_overdue_is_voided_at_once_and_the_supervisor_only_accepts_it(self, undealt):
        assert step(undealt.live_table, LATE)
        assert (undealt.latest().phase, Void.objects.get().reason) == (RoundPhase.VOID, VoidReason.OVERDUE)
        assert (undealt.money, undealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        incident = Incident.objects.get(kind=IncidentKind.OVERDUE, live_round=undealt.coup)
        assert undealt.is_stopped
        with pytest.raises(MalfunctionError, match="cannot stand"):
            stand(incident)
        malfunction.accept_void(incident_id=incident.pk, reason="the broker was away", by="staff:1")
        undealt.goes_on()

    def test_an_amount_in_the_state_that_the_ledger_does_not_have_moves_nothing(self, undealt, owner):
        spoil_state(owner, undealt, "jsonb_set(state, '{bank}', '[1, 99000]')")
        incident = undealt.fails(1, "deal_cards")
        assert incident.kind == IncidentKind.NOT_RECOMPUTED
        assert undealt.stays()
        cancel(undealt.coup)
        assert (undealt.money, undealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        assert there(state_of(undealt.live_table).bank).amount == BANK
        undealt.goes_on()

    @pytest.mark.sweep
    def test_a_stake_in_the_state_that_nobody_laid_is_not_played_for(self, undealt, owner):
        spoil_state(owner, undealt, "jsonb_set(state, '{coup,stakes}', '[[2, 4000], [3, 6000]]')")
        assert undealt.fails(1, "deal_cards").kind == IncidentKind.NOT_RECOMPUTED
        assert undealt.stays()
        cancel(undealt.coup)
        assert (undealt.money, undealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        undealt.goes_on()


def spoil_state(owner: OwnerWithin, trouble: Trouble, becomes: str) -> None:
    """Change the stored state as only the owner of the database tables can."""
    statement = f"UPDATE games_chemintable SET state = {becomes} WHERE live_table_id = %s"
    assert owner.execute(statement, [trouble.live_table.pk]).rowcount


def said_otherwise(owner: OwnerWithin, coup: UUID) -> None:
    """Change a stored decision from draw to stand, as only the owner of the database tables can."""
    owner.execute("ALTER TABLE games_cheminmove DISABLE TRIGGER USER")
    changed = owner.execute(
        """UPDATE games_cheminmove SET events = replace(events::text, '"draws": true', '"draws": false')::jsonb
        WHERE round_id = %s AND kind = 'draw_card'""",
        [coup],
    )
    owner.execute("ALTER TABLE games_cheminmove ENABLE TRIGGER USER")
    assert changed.rowcount == 1


class TestAfterTheDraw:
    """A coup with drawn cards is finished, however late. If that is impossible, two people void it."""

    @pytest.mark.parametrize(
        ("what", "kind"),
        sample(
            [
                ("leaves", IncidentKind.NOT_REPRODUCED),
                ("root", IncidentKind.NOT_REPRODUCED),
                ("cards dealt", IncidentKind.WRONG_CARD),
                ("cards dealt, none", IncidentKind.WRONG_CARD),
            ],
            1,
        ),
    )
    def test_cards_that_are_lost_stop_the_table_and_two_people_void(self, dealt, owner, what, kind):
        spoil(owner, dealt.coup.pk, what)
        incident = dealt.fails(2, "stand")
        assert (incident.kind, incident.cards) == (kind, "– – – –")
        assert not any(card.code in str(incident.findings) for card in dealt.first.cards)
        assert incident.done[-1] == "The coup is on hold until the ruling."
        assert dealt.stays()
        assert (dealt.money, dealt.on_table) == ([MONEY - BANK, MONEY - STAKE, MONEY], (BANK, STAKE))
        void_by_two(incident)
        assert (dealt.money, dealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        shoe = Shoe.objects.get(pk=dealt.coup.shoe_id)
        assert (shoe.ending, shoe.seed) == (ShoeEnding.RETIRED, None)
        dealt.goes_on()
        assert dealt.latest().shoe_id != dealt.coup.shoe_id

    def test_nobody_else_can_void_it(self, dealt, owner):
        spoil(owner, dealt.coup.pk, "leaves")
        incident = dealt.fails(2, "stand")
        with pytest.raises(MalfunctionError, match="too late to cancel"):
            cancel(dealt.coup)
        with pytest.raises(MalfunctionError, match="is not void"):
            malfunction.accept_void(incident_id=incident.pk, reason="x", by="staff:1")
        supervisor = a_member_of_staff("supervisor")
        asked_for = ask(incident, supervisor)
        with pytest.raises(approvals.OwnRequest):
            decide(asked_for, supervisor)
        for role in ("operator", "finance", "support"):
            with pytest.raises(approvals.NotAllowed):
                decide(asked_for, a_member_of_staff(role))
        assert not Void.objects.exists()
        assert (dealt.money, dealt.on_table) == ([MONEY - BANK, MONEY - STAKE, MONEY], (BANK, STAKE))

    @pytest.mark.sweep
    def test_without_an_incident_nobody_can_ask_for_it(self, dealt):
        with pytest.raises(MalfunctionError, match="too late to cancel"):
            cancel(dealt.coup)
        stand(report(dealt.coup))
        with pytest.raises(MalfunctionError, match="was ruled on"):
            ask(Incident.objects.get())

    @pytest.mark.sweep
    def test_overdue_is_played_out_all_the_same(self, dealt):
        assert step(dealt.live_table, LATE)
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        assert (dealt.latest().phase, Void.objects.count()) == (RoundPhase.SETTLED, 0)

    @pytest.mark.sweep
    def test_what_still_cannot_be_played_out_is_a_new_finding(self, dealt, owner):
        spoil(owner, dealt.coup.pk, "leaves")
        stand(dealt.fails(2, "stand"))
        again = dealt.fails(2, "stand")
        assert Incident.objects.filter(live_round=dealt.coup, kind=again.kind).count() == 2
        assert dealt.stays()

    @pytest.mark.parametrize("stakes", sample(["[[2, 4000], [3, 6000]]", "[[3, 4000]]"], 1))
    def test_a_stake_in_the_state_that_nobody_placed_is_neither_paid_nor_returned(self, dealt, owner, stakes):
        spoil_state(owner, dealt, f"jsonb_set(state, '{{coup,stakes}}', '{stakes}')")
        assert not step(dealt.live_table)  # before the punter's decision could reveal anything
        assert Incident.objects.get().kind == IncidentKind.NOT_RECOMPUTED
        assert dealt.stays()
        void_by_two(Incident.objects.get())
        assert (dealt.money, dealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))
        dealt.goes_on()

    @pytest.mark.sweep
    def test_what_a_coup_comes_to_otherwise_by_its_record_is_named_without_a_figure(self, dealt, owner):
        dealt.click("draw_card")
        said_otherwise(owner, dealt.coup.pk)
        incident = dealt.fails(1, "draw_card")
        assert incident.kind == IncidentKind.NOT_RECOMPUTED
        assert "cards" in {finding["what"] for finding in incident.findings}
        stated = incident.cause + str([(finding["stored"], finding["recomputed"]) for finding in incident.findings])
        assert not any(sign.isdigit() for sign in stated)
        assert dealt.stays()
        void_by_two(incident)
        assert (dealt.money, dealt.on_table) == ([MONEY - BANK, MONEY, MONEY], (BANK, 0))

    @pytest.mark.sweep
    def test_a_state_that_cannot_be_read_is_given_up_and_everybody_gets_theirs(self, dealt, owner):
        spoil_state(owner, dealt, "'{}'")
        incident = dealt.fails(2, "stand")
        with pytest.raises(MalfunctionError, match="Break up the table"):
            stand(incident)
        void_by_two(incident)
        assert (dealt.money, dealt.on_table) == ([MONEY, MONEY, MONEY], (0, 0))
        assert not CheminSeat.objects.filter(left_at=None).exists()
        malfunction.reopen(live_table_id=dealt.live_table.pk, reason="mended", by="staff:1")
        seated_players(dealt.live_table, 2)
        a_dealt_coup(dealt.live_table, BANK, STAKE)
        wholeness.assert_whole()


NOT_SUMS = ("payout stored", "part stored")  # wagers that differ from their participation


class TestAFinishedCoup:
    """A difference found by the later verification stops the table but voids nothing."""

    @pytest.mark.parametrize(
        ("what", "kind"),
        sample(
            [
                ("cards stored", IncidentKind.NOT_REPRODUCED),
                ("payout stored", IncidentKind.NOT_RECOMPUTED),
                ("part stored", IncidentKind.NOT_RECOMPUTED),
                ("declared", IncidentKind.NOT_REPRODUCED),
                ("stake stored", IncidentKind.NOT_RECOMPUTED),
            ],
            2,
        ),
    )
    def test_that_is_not_reproduced_stops_its_table_and_two_people_void(self, dealt, owner, what, kind):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        spoil_record(owner, dealt.coup.pk, what)
        before = dealt.money, dealt.on_table
        verification_task.verify_finished_rounds()
        incident = Incident.objects.get()
        assert (incident.kind, incident.live_round_id) == (kind, dealt.coup.pk)
        assert ((dealt.money, dealt.on_table), Void.objects.count()) == (before, 0)
        assert (dealt.is_stopped, VerificationDue.objects.exists()) == (True, False)
        void_by_two(incident)
        assert (dealt.money, dealt.on_table) == ([MONEY, MONEY, MONEY], (0, 0))
        assert state_of(dealt.live_table).phase is Phase.OFFER
        dealt.goes_on(*(["wagers_are_sums"] if what in NOT_SUMS else []))

    @pytest.mark.sweep
    def test_at_a_table_whose_state_cannot_be_read_is_voided_all_the_same(self, dealt, owner):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        incident = report(dealt.latest())
        spoil_state(owner, dealt, "'{}'")
        void_by_two(incident)
        assert (dealt.money, dealt.on_table) == ([MONEY, MONEY, MONEY], (0, 0))
        assert not CheminSeat.objects.filter(left_at=None).exists()
        assert chemin_of(dealt.live_table).tenure is None
        wholeness.assert_whole()

    @pytest.mark.sweep
    def test_that_agrees_leaves_the_queue(self, dealt):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        assert verification_task.verify_finished_rounds().suspicious == ()
        assert (VerificationDue.objects.count(), Incident.objects.count()) == (0, 0)

    @pytest.mark.sweep
    def test_is_not_voided_while_another_one_is_in_progress(self, dealt):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        first = dealt.latest()
        if state_of(dealt.live_table).phase is Phase.CHOICE:
            dealt.click("keep_bank")
        else:
            a_bank(dealt.live_table, BANK)
        incident = report(first)
        asked_for = ask(incident)
        with pytest.raises(approvals.CannotExecute, match="is in progress"):
            decide(asked_for, a_member_of_staff("supervisor"))
        assert not IncidentRuling.objects.exists()
        cancel(dealt.latest())
        decide(asked_for, a_member_of_staff("supervisor"))
        assert IncidentRuling.objects.get(incident=incident).ruling == Ruling.VOID
        assert (dealt.money, dealt.on_table) == ([MONEY, MONEY, MONEY], (0, 0))


MORE_SPOILT = {
    "declared": "UPDATE games_chemincoup SET banker_draws = NOT banker_draws WHERE round_id = %(coup)s",
    "stake stored": "UPDATE games_cheminstake SET returned = returned + 1 WHERE coup_id = %(coup)s",
}


def spoil_record(owner: OwnerWithin, coup: UUID, what: str) -> None:
    """Change the records of a finished coup as only the owner of the database tables can."""
    if what not in MORE_SPOILT:
        spoil(owner, coup, what)
        return
    for each in ("games_chemincoup", "games_cheminstake"):
        owner.execute(f"ALTER TABLE {each} DISABLE TRIGGER USER")
    assert owner.execute(MORE_SPOILT[what], {"coup": coup}).rowcount
    for each in ("games_chemincoup", "games_cheminstake"):
        owner.execute(f"ALTER TABLE {each} ENABLE TRIGGER USER")


class TestTheTable:
    """The table waits for a ruling, and no deadline passes."""

    @pytest.mark.sweep
    def test_a_dealt_coup_goes_on_once_it_was_ruled_to_stand_with_all_the_time_again(self, dealt):
        incident = report(dealt.coup)
        assert dealt.stays()
        stand(incident)
        assert_all_the_time(dealt, "decide")
        dealt.click("stand")
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        assert (dealt.latest().phase, dealt.is_stopped) == (RoundPhase.SETTLED, True)
        dealt.goes_on()

    @pytest.mark.sweep
    def test_a_coup_that_is_not_dealt_waits_until_the_table_is_reopened(self, undealt):
        stand(report(undealt.coup))
        assert undealt.stays()
        malfunction.reopen(live_table_id=undealt.live_table.pk, reason="mended", by="staff:1")
        assert_all_the_time(undealt, "deal")
        undealt.click("deal_cards")
        assert undealt.latest().phase == RoundPhase.DEALT

    def test_is_reopened_when_every_incident_is_ruled_on(self, undealt):
        incident = report(undealt.coup)
        with pytest.raises(MalfunctionError, match="until a ruling on these incidents"):
            malfunction.reopen(live_table_id=undealt.live_table.pk, reason="x", by="staff:1")
        stand(incident)
        malfunction.reopen(live_table_id=undealt.live_table.pk, reason="mended", by="staff:1")
        assert [event["data"]["reason"] for event in events("table.reopened")] == ["mended"]

    @pytest.mark.sweep
    def test_between_two_coups_a_report_of_the_last_one_keeps_the_next_from_beginning(self, dealt):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        incident = report(dealt.latest())
        assert dealt.stays()
        stand(incident)
        dealt.goes_on()

    @pytest.mark.sweep
    def test_players_read_their_table_although_its_cards_are_lost(self, dealt, owner):
        spoil(owner, dealt.coup.pk, "cards dealt, none")
        dealt.fails(2, "stand")
        seen = snapshots.read_public(dealt.live_table.pk)
        assert (seen.is_stopped, there(seen.table_state.coup).hands) == (True, None)


STOPPED = "Something went wrong. The shift supervisor has been called, and your money is safe."
VOIDED = "The shift supervisor voided this round. All stakes were returned and any payout was reversed."
LANGUAGES = [code for code, _ in settings.LANGUAGES]


class TestThePlayers:
    """Players read at the table that it is stopped and the result of the coup; Game logs keep it."""

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_are_shown_at_the_table_and_in_game_logs(self, dealt, owner, language):
        spoil(owner, dealt.coup.pk, "leaves")
        incident = dealt.fails(2, "stand")
        punter, banker, onlooker = (log_in(dealt.players[seat_number]) for seat_number in (1, 0, 2))
        table = f"/{language}/table/{dealt.live_table.table.slug}/real/"
        for browser in (punter, banker, onlooker):
            assert said(STOPPED, language) in read(browser.get(table))
        void_by_two(incident)
        malfunction.reopen(live_table_id=dealt.live_table.pk, reason="mended", by="staff:1")
        for browser in (punter, banker):
            assert dealt.coup.code in read(browser.get(table))
            log = browser.get(f"/{language}/history/")
            assert (dealt.coup.code in read(log), "✕" in log.text) == (True, True)
            assert said(VOIDED, language) in read(browser.get(f"/{language}/history/{dealt.coup.pk}/"))
        assert dealt.coup.code not in read(onlooker.get(f"/{language}/history/"))


def log_in(player: Player) -> Client:
    browser = a_visitor()
    browser.force_login(player.user)
    return browser


def read(answered) -> str:
    assert answered.status_code == 200
    return html.unescape(answered.text)


def assert_all_the_time(trouble: Trouble, name: str) -> None:
    """Check that the player whose turn it is has the full time."""
    chemin = chemin_of(trouble.live_table)
    left = there(chemin.deadline) - clock.now()
    lasts = timedelta(milliseconds=there(trouble.live_table.table.version).clock[name])  # type: ignore[index]
    assert timedelta(0) < lasts - left < timedelta(seconds=A_WHILE)


class TestTheSupervisor:
    @pytest.mark.sweep
    def test_is_written_to_once_for_one_finding(self, undealt, owner):
        spoil(owner, undealt.coup.pk, "leaves")
        undealt.fails(1, "deal_cards")
        assert undealt.stays()
        (mail,) = Mail.objects.filter(template="table_stopped", address=undealt.supervisor.user.email)
        for text in ("(Real)", undealt.coup.code, f"Incident {Incident.objects.get().pk}"):
            assert text in mail.body

    def test_reads_the_open_cards_and_no_others(self, dealt):
        dealt.click("draw_card")
        facts = facts_of(ask(report(dealt.coup)))
        punter, banker, third = dealt.first.punter, dealt.first.banker, dealt.first.thirds[0]
        shown = f"– {banker[0].code} – {banker[1].code} {third.code}"
        assert facts["Round"].endswith(f"cards {shown}")
        assert not any(card.code in " ".join(facts.values()) for card in punter)
        assert (facts["Seed reproduces it"], facts["Settlement confirmed"]) == ("yes", "not settled yet")

    @pytest.mark.sweep
    def test_reads_that_a_finished_coup_is_borne_out(self, dealt):
        step_to(dealt.live_table, Phase.CHOICE, Phase.OFFER)
        facts = facts_of(ask(report(dealt.latest())))
        assert (facts["Seed reproduces it"], facts["Settlement confirmed"]) == ("yes", "yes")

    @pytest.mark.sweep
    def test_reads_that_a_seed_is_lost(self, dealt, owner):
        spoil(owner, dealt.coup.pk, "leaves")
        facts = facts_of(ask(dealt.fails(2, "stand")))
        assert facts["Seed reproduces it"].startswith("no: leaves")

    @pytest.mark.sweep
    def test_of_a_coup_voided_with_its_seed_lost_the_record_has_no_cards(self, dealt, owner):
        spoil(owner, dealt.coup.pk, "leaves")
        void_by_two(dealt.fails(2, "stand"))
        assert (Void.objects.get().round.cards, Void.objects.get().round.first_card) == ("", 0)


def facts_of(asked_for) -> dict[str, str]:
    return dict(approvals.kind(KIND).describe(approvals.thaw(asked_for)).facts)


@pytest.mark.sweep
def test_a_table_made_due_a_while_ago_gives_the_player_all_the_time_again(dealt):
    hurry(dealt.live_table, A_WHILE)
    assert step(dealt.live_table, A_WHILE)
    assert state_of(dealt.live_table).phase is Phase.PUNTER
    assert_all_the_time(dealt, "decide")
