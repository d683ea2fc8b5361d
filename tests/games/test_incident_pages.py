"""The list of incidents and the page of each: findings, players, decisions and timeline."""

import html
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.approvals import AlreadyDecided, OwnRequest
from backoffice.incidents import note
from backoffice.lists.staff_list import StaffList
from games import incidents
from games.incidents import letters
from games.models import Incident, IncidentKind, IncidentNote, LetterKind, LiveTable, Phase, Round
from games.shared import malfunction
from players.models import Mail
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.test_rulings import ask, decide
from tests.people import a_member_of_staff, a_visitor, events
from tests.voiding import void_unreproduced
from wallet.models import Entry

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
CAUSE = "A card lay face up."


def reader(*roles: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(*roles).user)
    return visitor


def text(answer) -> str:
    return " ".join(html.unescape(answer.text).split())


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def incident(live_table) -> Incident:
    for number in range(2):
        bet(a_player("SE", real=MONEY), live_table, player=5000 * (number + 1))
    return malfunction.report(round_id=advance_to(live_table, Phase.SETTLED).pk, cause=CAUSE, by="staff:1")


def ids(listing: StaffList | None) -> list[int]:
    """Return the incidents of a list."""
    return [case.incident.pk for case in listing.shown] if listing else []


class TestTheList:
    @pytest.mark.sweep
    def test_has_a_line_with_state_table_kind_and_money(self, incident):
        page = text(reader("operator").get("/staff/incidents/"))
        for stated in (
            f'href="/staff/incidents/{incident.pk}/"',
            "awaiting ruling",
            incident.table.name,
            "Reported by staff",
            incident.live_round.code,
            "2 with SEK\u00a0150.00",
        ):
            assert stated.replace("\u00a0", " ") in page

    @pytest.mark.sweep
    def test_says_what_was_asked_for_and_ruled(self, incident):
        boss = reader("supervisor")
        asked = ask(incident)
        assert "void requested" in text(boss.get("/staff/incidents/"))
        decide(asked, a_member_of_staff("supervisor"))
        assert "the round is void" in text(boss.get("/staff/incidents/"))

    @pytest.mark.sweep
    def test_is_narrowed_by_state_table_and_kind(self, incident):
        other = a_live_table(slug="other")
        bet(a_player("SE", real=MONEY), other, player=5000)
        second = malfunction.report(round_id=advance_to(other, Phase.SETTLED).pk, cause=CAUSE, by="staff:1")
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        boss = reader("supervisor")
        for query, found in (
            ("", {incident.pk, second.pk}),
            ("state=awaiting", {second.pk}),
            (f"table={incident.table_id}", {incident.pk}),
            ("kind=reported", {incident.pk, second.pk}),
            ("kind=overdue", set()),
            (f"state=awaiting&table={incident.table_id}", set()),
        ):
            shown = boss.get(f"/staff/incidents/?{query}").context
            assert {*ids(shown["waiting"]), *ids(shown["list"])} == found, query

    @pytest.mark.sweep
    def test_begins_with_what_awaits_a_ruling_oldest_first_and_pages_through_the_rest(self, incident, monkeypatch):
        monkeypatch.setattr("backoffice.incidents.MOST_WAITING", 2)
        monkeypatch.setattr("backoffice.incidents.Incidents.size", 2)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        old = [incident.pk]
        for number in range(2):
            again = malfunction.report(round_id=incident.live_round_id, cause=f"Again {number}.", by="staff:1")
            malfunction.let_stand(incident_id=again.pk, reason="seen", by="staff:1")
            old.append(again.pk)
        waiting = []
        for slug in ("one", "two", "three"):
            live_table = a_live_table(slug=slug)
            bet(a_player("SE", real=MONEY), live_table, player=5000)
            waiting.append(
                malfunction.report(round_id=advance_to(live_table, Phase.SETTLED).pk, cause=CAUSE, by="x").pk
            )
        boss = reader("supervisor")
        first = boss.get("/staff/incidents/?kind=reported")
        assert ids(first.context["waiting"]) == waiting[:2]
        assert ids(first.context["list"]) == old[:0:-1]
        assert 'href="?kind=reported&state=awaiting">All incidents awaiting a ruling' in text(first)
        second = boss.get(f"/staff/incidents/?before={old[1]}&kind=reported")
        assert not second.context["waiting"]
        assert ids(second.context["list"]) == [old[0]]
        awaiting = boss.get("/staff/incidents/?state=awaiting").context["list"]
        assert ids(awaiting) == waiting[:0:-1]

    @pytest.mark.sweep
    def test_keeps_what_was_asked_for_from_page_to_page(self, incident, monkeypatch):
        monkeypatch.setattr("backoffice.incidents.Incidents.size", 1)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        again = malfunction.report(round_id=incident.live_round_id, cause="Again.", by="staff:1")
        malfunction.let_stand(incident_id=again.pk, reason="seen", by="staff:1")
        page = text(reader("supervisor").get("/staff/incidents/?kind=reported"))
        assert f'href="?kind=reported&before={again.pk}"' in page


class TestThePage:
    @pytest.mark.sweep
    def test_tells_who_was_in_the_round_and_with_what(self, incident):
        page = text(reader("operator").get(f"/staff/incidents/{incident.pk}/"))
        for part in incident.live_round.shoe.round_set.get(pk=incident.live_round_id).participation_set.all():
            assert f"player:{part.player_id}" in page
        assert CAUSE in page
        assert f'href="/staff/rounds/{incident.live_round_id}/"' in page

    @pytest.mark.sweep
    def test_tells_its_course_in_order_with_who_and_why(self, incident):
        asker, decider = (a_member_of_staff("supervisor", name=name) for name in ("Ada", "Bo"))
        decide(ask(incident, asker), decider)
        malfunction.reopen(live_table_id=incident.live_round.live_table_id, reason="Mended.", by=str(decider))
        answer = reader("compliance").get(f"/staff/incidents/{incident.pk}/")
        stated = [moment.what for moment in answer.context["timeline"]]
        in_order = [
            "No more bets",
            "Cards drawn",
            "Round settled and paid",
            "Incident opened, state of the round saved",
            "Round voided: stakes returned, payouts reversed",
            "Ruling made",
            "Table resumed after a stop",
        ]
        assert [what for what in stated if what in in_order] == in_order
        assert {"Void of the round requested", "Void request approved"} < set(stated)
        page = text(answer)
        for words in (f"Ada ({asker})", f"Bo ({decider})", "A card was wrong.", "I saw it too.", "Mended."):
            assert words in page
        assert f"/staff/events/?on=round:{incident.live_round_id}" in page

    def test_tells_that_a_decision_was_refused_and_why(self, incident):
        asker = a_member_of_staff("supervisor", name="Ada")
        asked = ask(incident, asker)
        with pytest.raises(OwnRequest):
            decide(asked, asker)
        decide(asked, a_member_of_staff("supervisor"))
        with pytest.raises(AlreadyDecided):
            decide(asked, a_member_of_staff("supervisor"))
        visitor = reader("compliance")
        answer = visitor.get(f"/staff/incidents/{incident.pk}/")
        stated = [moment.why for moment in answer.context["timeline"] if moment.what.startswith("Decision on")]
        assert stated == ["The same person had made the request.", "Already decided or withdrawn."]
        assert visitor.get(f"/staff/incidents/{incident.pk}/export/").status_code == 200

    @pytest.mark.sweep
    def test_tells_what_a_api_client_noted_under_a_name_of_its_own(self, incident):
        note(incident=incident, text="Found at night.", by="staff:night-watch")
        assert "staff:night-watch" in text(reader("operator").get(f"/staff/incidents/{incident.pk}/"))

    @pytest.mark.sweep
    def test_leads_from_each_step_to_its_event_in_the_log(self, incident):
        note(incident=incident, text="Found at night.", by="staff:1")
        decide(ask(incident), a_member_of_staff("supervisor"))
        boss = a_member_of_staff("supervisor")
        case = incidents.case_of(incident.pk)
        assert case
        letter = letters.send(case=case, kind=LetterKind.VOIDED, sentences={}, staff=boss)
        letters.write_due()
        malfunction.reopen(live_table_id=incident.live_round.live_table_id, reason="Mended.", by=str(boss))
        visitor = reader("compliance")
        visitor.get(f"/staff/incidents/{incident.pk}/export/")
        answer = visitor.get(f"/staff/incidents/{incident.pk}/")
        course = {moment.what: moment for moment in answer.context["timeline"]}
        assert [what for what, moment in course.items() if not moment.event] == ["Betting opened"]
        for what, why in (
            ("Note", "Found at night."),
            ("Void of the round requested", "A card was wrong."),
            ("Void request approved", "I saw it too."),
            ("Letter to the players ordered", letter.get_kind_display()),
            ("Letter to the players completed", "Letters: 2"),
            ("Exported for the regulator", ""),
        ):
            assert course[what].why == why
            address = f"/staff/events/?on={course[what].on}&before={course[what].event + 1}"
            assert f'href="{address}"' in text(answer)
            assert visitor.get(address).context["page"].rows[0].id == course[what].event

    @pytest.mark.sweep
    def test_links_no_event_for_staff_who_may_not_read_them(self, incident):
        assert "/staff/events/" not in text(reader("operator").get(f"/staff/incidents/{incident.pk}/"))

    def test_is_in_the_access_log_of_its_players(self, incident):
        reader("operator").get(f"/staff/incidents/{incident.pk}/")
        seen = events("data.accessed")[-1]
        assert (seen["data"]["what"], seen["data"]["count"]) == ("an incident", 2)

    @pytest.mark.sweep
    def test_shows_of_a_round_in_progress_who_bet_and_no_payout(self, live_table):
        player = a_player("SE", real=MONEY)
        bet(player, live_table, player=5000)
        dealt = advance_to(live_table, Phase.DEALT)
        found = malfunction.report(round_id=dealt.pk, cause=CAUSE, by="staff:1")
        page = text(reader("operator").get(f"/staff/incidents/{found.pk}/"))
        assert f"player:{player.pk}" in page
        assert "in progress</td>" in page
        assert dealt.cards not in page

    def test_shows_the_seed_to_the_decider_and_a_face_down_card_to_nobody(self, live_table):
        bet(a_player("SE", real=MONEY), live_table, player=5000)
        dealt = advance_to(live_table, Phase.DEALT)
        found = malfunction.report(round_id=dealt.pk, cause=CAUSE, by="staff:1")
        address = f"/staff/incidents/{found.pk}/"
        page = text(reader("supervisor").get(address))
        assert "<h2>Stored and recomputed</h2>" in page
        assert "<dt>Seed reproduces it</dt><dd>yes</dd>" in page
        assert dealt.cards not in page
        assert "Seed reproduces it" not in text(reader("operator").get(address))

    @pytest.mark.sweep
    def test_offers_to_cancel_first_while_no_card_is_drawn(self, live_table):
        bet(a_player("SE", real=MONEY), live_table, player=5000)
        found = malfunction.report(round_id=round_at(live_table).pk, cause=CAUSE, by="staff:1")
        page = text(reader("supervisor").get(f"/staff/incidents/{found.pk}/"))
        assert page.index("<summary>Cancel round") < page.index("<summary>Let the round stand")
        assert '<button class="button button--go">Cancel round' in page
        assert '<button class="button">Let the round stand' in page
        assert "no cards drawn yet" in page

    @pytest.mark.sweep
    def test_says_that_a_round_was_cancelled_and_leads_on_to_its_table(self, live_table):
        bet(a_player("SE", real=MONEY), live_table, player=5000)
        going = round_at(live_table)
        found = malfunction.report(round_id=going.pk, cause=CAUSE, by="staff:1")
        malfunction.cancel(round_id=going.pk, reason="No card is out.", by="staff:2")
        boss = reader("supervisor")
        page = text(boss.get(f"/staff/incidents/{found.pk}/"))
        assert "The round was cancelled: " in page
        assert "Round cancelled before the deal" in page
        assert "All stakes returned; nothing had been paid" in page
        assert "payouts reversed" not in page
        assert f'href="/staff/floor/live-{live_table.pk}/">Resume it on the Floor' in page
        assert "SEK 50.00 returned" in page
        assert "the round was cancelled" in text(boss.get("/staff/incidents/"))
        assert "A supervisor can resume it." in text(reader("operator").get(f"/staff/incidents/{found.pk}/"))
        malfunction.reopen(live_table_id=live_table.pk, reason="Mended.", by="staff:2")
        assert "Resume table" not in text(boss.get(f"/staff/incidents/{found.pk}/"))

    @pytest.mark.sweep
    def test_names_who_asked_for_an_void_and_the_role_that_decides_it(self, incident):
        asker, decider = (a_member_of_staff("supervisor", name=name) for name in ("Ada", "Bo"))
        asked = ask(incident, asker)
        address = f"/staff/incidents/{incident.pk}/"
        page = text(reader("compliance").get(address))
        why = "<q>A card was wrong.</q><br>A second person must approve, with the role supervisor"
        assert f">Ada ({asker})</a>, {why}" in page
        assert f'href="/staff/approvals/{asked.pk}/"' in page
        stated = text(reader("compliance").get(f"/staff/approvals/{asked.pk}/"))
        assert "It needs another person with the role supervisor." in stated
        decide(asked, decider)
        page = text(reader("compliance").get(address))
        assert f"Bo ({decider})" in page
        assert f"<q>Ada ({asker}): A card was wrong.</q>" in page

    @pytest.mark.sweep
    def test_offers_a_letter_by_a_button_only_once_it_is_ruled_on(self, incident):
        boss = reader("supervisor")
        address = f"/staff/incidents/{incident.pk}/"
        assert "Write to players" not in text(boss.get(address))
        assert "Awaiting ruling:" in text(boss.get(f"{address}letter/"))
        malfunction.let_stand(incident_id=incident.pk, reason="It stands.", by="staff:2")
        assert "Write to players" in text(boss.get(address))
        assert "Awaiting ruling:" not in text(boss.get(f"{address}letter/"))

    @pytest.mark.sweep
    @pytest.mark.parametrize("number", sample([1, 2**63 - 1, 2**63, 10**40], 1))
    def test_another_number_is_not_found(self, number):
        assert reader("supervisor").get(f"/staff/incidents/{number}/").status_code == 404

    def test_offers_only_what_the_role_may_do(self, incident):
        pages = {role: text(reader(role).get(f"/staff/incidents/{incident.pk}/")) for role in ROLES}
        stated = {
            role: [word in page for word in ("Let the round stand", "/letter/", "/export/")]
            for role, page in pages.items()
        }
        assert stated == {
            "operator": [False, False, False],
            "supervisor": [True, True, False],
            "compliance": [False, False, True],
        }


ROLES = ("operator", "supervisor", "compliance")


class TestNotes:
    @pytest.mark.sweep
    def test_are_kept_with_who_wrote_them_and_the_log_has_no_words(self, incident):
        visitor = reader("operator")
        page = text(
            visitor.post(f"/staff/incidents/{incident.pk}/note/", {"text": "The cloth was changed."}, follow=True)
        )
        assert "Note saved." in page
        assert page.count("The cloth was changed.") == 2  # as a note, and in the timeline
        (stated,) = events("incident.noted")
        assert stated["data"] == {"incident": incident.pk, "note": IncidentNote.objects.get().pk}

    @pytest.mark.sweep
    @pytest.mark.parametrize("words", sample(["", "   ", "x" * 1001], 1), ids=["none", "blank", "too long"])
    def test_say_something_and_not_too_much(self, incident, words):
        page = text(reader("operator").post(f"/staff/incidents/{incident.pk}/note/", {"text": words}, follow=True))
        assert "Enter a note of at most 1000 characters." in page
        assert not IncidentNote.objects.exists()


class TestASoloRound:
    @pytest.fixture
    def played(self) -> Round:
        return Round.objects.get(pk=a_round(a_player(real=MONEY), a_table(), player=1000).round_id)

    def report(self, role: str, played: Round) -> Any:
        said = {"reason": CAUSE, "sure": "on"}
        return reader(role).post(reverse("staff_round_report", args=[played.pk]), said, follow=True)

    @pytest.mark.parametrize("role", ["operator", "supervisor"])
    def test_is_reported_once_from_its_page_and_keeps_its_result(self, role, played):
        supervisor, balance = a_member_of_staff("supervisor"), list(Entry.objects.values_list("pk", flat=True))
        page = text(reader(role).get(reverse("staff_round", args=[played.pk])))
        said = "The report does not stop the table. The round is void only if its verification finds a fault."
        assert said in page
        assert f"round {played.code}: Supervisors notified by e-mail." in text(self.report(role, played))
        incident = Incident.objects.get()
        assert (incident.round, incident.kind, incident.cause) == (played, IncidentKind.REPORTED, CAUSE)
        (mail,) = Mail.objects.filter(user=supervisor.user)
        assert mail.subject.startswith("A round was reported")
        assert f"/staff/incidents/{incident.pk}/" in mail.body
        assert said in " ".join(mail.body.split())
        shown = text(reader(role).get(f"/staff/incidents/{incident.pk}/"))
        assert CAUSE in shown
        assert "awaiting ruling" not in shown
        assert "reported, no ruling needed" in text(reader(role).get("/staff/incidents/"))
        assert list(Entry.objects.values_list("pk", flat=True)) == balance
        assert f"already reported: incident {incident.pk}" in text(self.report(role, played))
        assert Incident.objects.count() == 1

    def test_that_is_void_is_not_reported(self, played):
        void_unreproduced(played.pk)
        assert f"Round {played.code} is already void." in text(self.report("operator", played))
        assert not Incident.objects.filter(kind=IncidentKind.REPORTED).exists()

    @pytest.mark.parametrize("role", ["finance", "support", "compliance", "administrator"])
    def test_is_reported_by_no_other_role(self, role, played):
        assert self.report(role, played).status_code == 403
        assert not Incident.objects.exists()
        page = reader(role).get(reverse("staff_round", args=[played.pk]))
        assert "Report round" not in text(page)
