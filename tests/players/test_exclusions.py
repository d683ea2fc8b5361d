"""Duration of pauses, time-outs and exclusions; none gets shorter; who may end which."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from audit import approvals
from audit.models import Approval
from players.datetime_format import written_moment
from players.models import Exclusion, ExclusionKind, ExclusionLift, Player, Staff
from players.protection import eligibility, exclusions
from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def lasts(made: Exclusion) -> timedelta:
    assert made.until is not None
    return made.until - made.begun


@pytest.mark.parametrize("code", ["SE", "DK", "RO", "DE", "GB"])
class TestByProfile:
    def test_a_pause_lasts_24_hours(self, code):
        player = a_player(code)
        assert lasts(exclusions.pause(player=player, by=str(player))) == DAY

    def test_a_self_exclusion_is_never_shorter_than_the_law_says(self, code):
        player = a_player(code)
        for months in exclusions.months_offered(player):
            made = exclusions.exclude_self(player=player, months=months, by=str(player))
            assert lasts(made) >= player.jurisdiction.exclusion_days * DAY

    def test_a_shorter_one_is_not_offered(self, code):
        player = a_player(code)
        shortest = exclusions.months_offered(player)[0]
        assert shortest == (6 if code == "GB" else 1)
        with pytest.raises(exclusions.TooShort):
            exclusions.exclude_self(player=player, months=shortest - 1, by=str(player))


class TestATimeOut:
    @pytest.mark.parametrize(
        ("length", "least", "most"), [("day", 1, 1), ("week", 7, 7), ("month", 28, 31)], ids=["day", "week", "month"]
    )
    def test_lasts_as_long_as_chosen(self, length, least, most):
        player = a_player()
        made = exclusions.take_time_out(player=player, length=length, by=str(player))
        assert least * DAY <= lasts(made) <= most * DAY

    def test_ends_where_the_player_is_when_their_day_begins(self):
        player = a_player("RO")
        day = exclusions.now().date() + 10 * DAY
        made = exclusions.take_time_out(player=player, until=day, by=str(player))
        assert made.until is not None
        assert written_moment(made.until, "en", "Europe/Bucharest") == f"{day:%-d %B %Y}, 00:00"

    @pytest.mark.parametrize("days", [-1, 44], ids=["past", "too late"])
    def test_ends_within_six_weeks(self, days):
        player = a_player()
        with pytest.raises(exclusions.UntilOutOfRange):
            exclusions.take_time_out(player=player, until=exclusions.now().date() + days * DAY, by=str(player))

    def test_is_chosen_on_the_page(self):
        player, browser = a_player(), a_visitor()
        browser.force_login(player.user)
        until = exclusions.now().date() + 5 * DAY
        browser.post("/en/protection/time-out/", {"length": "own", "until": until.isoformat()})
        made = exclusions.in_force(player)
        assert made
        assert made.kind == ExclusionKind.TIME_OUT

    @pytest.mark.sweep
    @pytest.mark.parametrize("until", ["", "2001-01-01", "nonsense"])
    def test_is_refused_on_the_page_with_a_wrong_date(self, until):
        player, browser = a_player(), a_visitor()
        browser.force_login(player.user)
        answer = browser.post("/en/protection/time-out/", {"length": "own", "until": until})
        assert answer.status_code == 200
        assert 'class="errorlist' in answer.content.decode()
        assert exclusions.in_force(player) is None


def test_a_self_exclusion_needs_to_be_meant():
    player, browser = a_player(), a_visitor()
    browser.force_login(player.user)
    browser.post("/en/protection/exclusion/", {"months": "6"})
    assert exclusions.in_force(player) is None
    browser.post("/en/protection/exclusion/", {"months": "good", "is_sure": "on"})
    made = exclusions.in_force(player)
    assert made
    assert (made.kind, made.until) == (ExclusionKind.SELF, None)
    (recorded,) = events("player.excluded", on=str(player))
    assert (recorded["by"], recorded["data"]["until"]) == (str(player), None)


def test_gli19_a_3_7_the_longest_of_several_holds():
    player = a_player()
    longer = exclusions.take_time_out(player=player, length="week", by=str(player))
    exclusions.pause(player=player, by=str(player))
    assert exclusions.in_force(player) == longer


class TestNobodyMakesOneShorter:
    def test_one_in_the_past_begins_now_and_keeps_its_length(self):
        player = a_player()
        long_ago = exclusions.now() - 30 * DAY
        made = Exclusion.objects.create(
            player=player, kind="self", begun=long_ago, until=long_ago + DAY, by=f"{player}"
        )
        made.refresh_from_db()
        assert timedelta(0) <= exclusions.now() - made.begun < timedelta(minutes=5)
        assert lasts(made) == DAY

    @pytest.mark.parametrize(
        "make",
        [
            lambda player: exclusions.pause(player=player, by=str(player)),
            lambda player: exclusions.take_time_out(player=player, length="month", by=str(player)),
            lambda player: exclusions.exclude_self(player=player, months=12, by=str(player)),
            lambda player: exclusions.exclude_self(player=player, months=None, by=str(player)),
        ],
        ids=["pause", "time-out", "self", "permanent"],
    )
    def test_gli19_a_3_7_two_people_do_not_end_it_before_its_time(self, make):
        made = make(a_player())
        with pytest.raises(exclusions.EndsAtItsTime):
            exclusions.ask(exclusion=made, reason="please", by=a_member_of_staff("support"))
        with pytest.raises(exclusions.EndsAtItsTime):
            exclusions.lift(exclusion_id=made.pk, reason="please", asked_by="staff:1", decided_by="staff:2")
        with pytest.raises(DatabaseError, match="ends at its time"), transaction.atomic():
            ExclusionLift.objects.create(exclusion=made, reason="x", asked_by="staff:1", decided_by="staff:2")
        assert exclusions.in_force(made.player) == made


def agree(asked: Approval, staff: Staff) -> None:
    may = staff.user.has_perm
    approvals.decide(approval_id=asked.pk, yes=True, by=str(staff), person=staff.person, reason="seen", may=may)


class TestTwoPeople:
    def asked(self, player: Player, staff: Staff) -> tuple[Exclusion, Approval]:
        made = exclusions.exclude(player=player, days=None, reason="a tip", by=staff)
        return made, exclusions.ask(exclusion=made, reason="the tip was wrong", by=staff)

    def test_gli19_b_2_3_lift_what_staff_began(self):
        player = a_player()
        made, asked = self.asked(player, a_member_of_staff("support"))
        second = a_member_of_staff("compliance")
        agree(asked, second)
        assert exclusions.in_force(player) is None
        assert eligibility.check_play(player, real=True) is None
        lift = ExclusionLift.objects.get(exclusion=made)
        assert (lift.asked_by, lift.decided_by) == (asked.by, str(second))

    def test_gli19_2_8_5_what_was_excluded_when_why_and_until_when_is_kept(self):
        player, first, second = a_player(), a_member_of_staff("support"), a_member_of_staff("compliance")
        made, asked = self.asked(player, first)
        agree(asked, second)
        lift = ExclusionLift.objects.get(exclusion=made)
        assert (made.kind, made.until, made.reason, made.by) == ("staff", None, "a tip", str(first))
        assert (lift.reason, lift.asked_by, lift.decided_by) == ("the tip was wrong", str(first), str(second))
        assert asked.at >= made.begun
        assert lift.at >= asked.at
        (begun,), (ended,) = (events(kind, on=str(player)) for kind in ("player.excluded", "exclusion.lifted"))
        assert (begun["by"], begun["data"]["kind"], begun["data"]["reason"]) == (str(first), "staff", "a tip")
        assert (ended["by"], ended["data"]["asked_by"]) == (str(second), str(first))

    def test_are_two(self):
        player, staff = a_player(), a_member_of_staff("support")
        made, asked = self.asked(player, staff)
        with pytest.raises(approvals.OwnRequest):
            agree(asked, staff)
        with pytest.raises(DatabaseError), transaction.atomic():
            ExclusionLift.objects.create(exclusion=made, reason="x", asked_by=str(staff), decided_by=str(staff))
        assert exclusions.in_force(player) == made

    def test_have_agreed_whatever_is_written_past_the_code(self):
        player, staff = a_player(), a_member_of_staff("support")
        made, _asked = self.asked(player, staff)
        with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic():
            ExclusionLift.objects.create(exclusion=made, reason="x", asked_by=str(staff), decided_by="staff:0")
        assert exclusions.in_force(player) == made
