"""The scan for markers of harm: players scanned, flags raised once, their closing, and the work of
staff.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from accounts import tasks
from accounts.tasks import scan_harm_markers
from players import cases
from players.models import Case, CaseAction, CaseOutcome, ContactWay, HarmMarkerScan, Marker, Player, Sighting
from players.protection import harm_markers
from tests.builders import a_player, a_round
from tests.casino.at_risk import deposit, the_table
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once

DAY = timedelta(days=1)


def now() -> datetime:
    return datetime.now(UTC)


def at_risk(owner, deposits: int = 3) -> Player:
    """Return a player with this number of deposits today."""
    player = a_player("GB")
    more(owner, player, deposits)
    return player


def more(owner, player: Player, deposits: int = 1) -> None:
    for _ in range(deposits):
        deposit(owner, player, now())


def talk(flag: Case, staff, **changes):
    said: dict[str, Any] = {
        "made_at": now(),
        "way": ContactWay.PHONE,
        "said": "All is well.",
        "next_review": None,
    } | changes
    return harm_markers.record_contact(case_id=flag.pk, by=staff, **said)


def close(flag: Case, staff) -> Case:
    cases.act(case=flag, action=CaseAction.CLOSED, by=staff, to=CaseOutcome.TALKED.value)
    return Case.objects.get(pk=flag.pk)


class TestTheLook:
    def test_raises_a_flag_with_the_rows_behind_it(self, cloned_db, owner):
        player = at_risk(owner)
        scan_harm_markers()
        flag = Case.objects.get()
        (seen,) = flag.sightings.all()
        assert (flag.player, flag.subject, flag.closed_at) == (player, Marker.RAPID_DEPOSITS, None)
        assert (seen.degree, len(seen.rows)) == (3, 3)
        assert {row["amount"] for row in seen.rows} == {1000}
        (event,) = events("marker.flagged", on=str(player))
        assert (event["by"], event["data"]["case"], event["data"]["rows"]) == ("system", flag.pk, 3)

    @pytest.mark.sweep
    def test_again_raises_nothing_again(self, cloned_db, owner):
        at_risk(owner)
        assert [tasks.scan(), tasks.scan(), tasks.scan()] == [1, 0, 0]
        assert (Case.objects.count(), Sighting.objects.count()) == (1, 1)

    @pytest.mark.sweep
    def test_adds_to_an_open_flag_what_is_worse(self, cloned_db, owner):
        player = at_risk(owner)
        tasks.scan()
        more(owner, player)
        assert tasks.scan() == 1
        assert [seen.degree for seen in Case.objects.get().sightings.order_by("id")] == [3, 4]
        assert len(events("marker.worsened", on=str(player))) == 1

    def test_two_at_once_raise_one(self, cloned_db, owner):
        at_risk(owner)
        at_once([tasks.scan] * 2)
        assert (Case.objects.count(), Sighting.objects.count()) == (1, 1)

    def test_leaves_it_to_the_member_of_staff_who_works_on_it(self, cloned_db, owner):
        at_risk(owner)
        with transaction.atomic():
            assert tasks._take_turn()
            assert at_once([tasks.scan]) == [0]
        assert tasks.scan() == 1

    def test_tells_the_player_nothing_and_does_nothing_to_them(self, cloned_db, owner):
        player = at_risk(owner)
        mails = player.user.mail_set.count()
        tasks.scan()
        assert player.user.mail_set.count() == mails
        assert a_round(player, the_table(), player=1000)

    def test_goes_to_those_who_did_something_since_and_to_nobody_else(self, cloned_db, owner):
        at_risk(owner)
        a_player("GB")
        tasks.scan()
        assert HarmMarkerScan.objects.get().players == 1
        owner.execute("ALTER TABLE audit_event DISABLE TRIGGER USER")
        owner.execute("UPDATE audit_event SET at = at - interval '6 minutes'")
        tasks.scan()  # the last events are settled only now
        tasks.scan()
        assert list(HarmMarkerScan.objects.order_by("id").values_list("players", flat=True)) == [1, 1, 0]

    @pytest.mark.sweep
    def test_covers_the_time_since_the_last_check_however_long(self, cloned_db, owner):
        player = at_risk(owner, 0)
        HarmMarkerScan.objects.create(seen=now() - 10 * DAY, event_id=0, players=0, flags=0)
        for _ in range(3):
            deposit(owner, player, now() - 8 * DAY)
        assert tasks.scan() == 1

    @pytest.mark.sweep
    def test_of_another_player_is_another_flag(self, cloned_db, owner):
        at_risk(owner)
        at_risk(owner)
        assert tasks.scan() == 2


class TestAFlag:
    def test_is_closed_after_a_contact_and_only_then(self, cloned_db, owner):
        player, staff = at_risk(owner), a_member_of_staff("support")
        tasks.scan()
        flag = Case.objects.get()
        with pytest.raises(cases.NoContact):
            close(flag, staff)
        talk(flag, staff, next_review=date(2100, 1, 1))
        closed = close(flag, staff)
        assert (closed.closed_by, closed.outcome) == (staff, CaseOutcome.TALKED)
        assert [event["by"] for event in events("marker.contact", on=str(player))] == [str(staff)]
        assert [event["data"]["to"] for event in events("marker.closed", on=str(player))] == ["talked"]
        for again in (talk, close):
            with pytest.raises(cases.AlreadyDone):
                again(flag, staff)

    def test_is_raised_again_only_by_what_comes_after_it_was_closed(self, cloned_db, owner):
        player, staff = at_risk(owner), a_member_of_staff("support")
        tasks.scan()
        talk(Case.objects.get(), staff)
        close(Case.objects.get(), staff)
        more(owner, player, 2)
        assert tasks.scan() == 0
        more(owner, player)
        assert tasks.scan() == 1
        assert [len(seen.rows) for seen in Sighting.objects.order_by("id")] == [3, 3]

    def test_takes_no_contact_in_the_future_and_no_next_check_in_the_past(self, cloned_db, owner):
        at_risk(owner)
        tasks.scan()
        flag, staff = Case.objects.get(), a_member_of_staff("support")
        with pytest.raises(harm_markers.NotYet):
            talk(flag, staff, made_at=now() + DAY)
        with pytest.raises(harm_markers.NotYet):
            talk(flag, staff, next_review=(now() - 2 * DAY).date())

    @pytest.mark.parametrize(
        "change",
        sample(
            [
                "UPDATE players_contact SET said = 'nothing'",
                "DELETE FROM players_contact",
                "UPDATE players_sighting SET degree = 1",
                "DELETE FROM players_sighting",
                "DELETE FROM players_case",
                "UPDATE players_case SET subject = 'nights'",
                "UPDATE players_case_entry SET text = 'other'",
                "DELETE FROM players_marker_scan",
            ],
            2,
        ),
    )
    def test_and_what_was_done_about_it_is_kept(self, cloned_db, owner, change):
        at_risk(owner)
        tasks.scan()
        flag, staff = Case.objects.get(), a_member_of_staff("support")
        talk(flag, staff)
        close(flag, staff)
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)
        with pytest.raises(Exception, match=r"never changed|is closed"):
            owner.execute(change)
