"""Statements that the role of web and workers sends about player protection and closed accounts without our code.

Each attack is refused, and succeeds once the right is granted or the trigger is dropped.
"""

from datetime import date
from uuid import uuid4

import pytest
from django.db import connection, transaction

from games.chemin.collusion import player_reports
from games.models import CheminSeat, PlayReason, PlayReport
from players import mail
from players.account import closures
from players.identity import duplicates, verification
from players.login import credentials
from players.models import (
    Closure,
    DocumentContent,
    Ground,
    Player,
    PlaySession,
    PlayTime,
    RealityCheck,
    Submission,
    Trait,
)
from players.protection import exclusions, play_sessions
from tests.attacks.statements import refused, send
from tests.builders import a_player, a_submission
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.harness.owner import as_owner, without
from tests.people import a_member_of_staff

pytestmark = pytest.mark.django_db

ERASE = "SELECT players_forget(%s)"
LONG_CLOSED = "INSERT INTO players_closure (player_id, state, by, at) VALUES (%s, 'closed', 'system', '2001-01-01')"


@pytest.fixture
def player():
    return a_player()


@pytest.fixture
def session(player):
    """A session in which the player has played a round."""
    session = uuid4()
    play_sessions.read_session(player, session)
    as_owner("SELECT players_note_round(%s, %s, 'R', 2500, 0)", [player.pk, session])
    return session


class TestPlayTime:
    @pytest.mark.parametrize(
        ("table", "change"),
        [
            ("players_playtime", "UPDATE players_playtime SET seconds = 0"),
            ("players_playtime", "UPDATE players_playtime SET last_at = last_at - interval '1 day'"),
            ("players_playsession", "UPDATE players_playsession SET checked_at = clock_timestamp()"),
            ("players_playsession", "UPDATE players_playsession SET began = clock_timestamp()"),
            ("players_playsession", "UPDATE players_playsession SET staked_real = 0, rounds = 0"),
            ("players_playsession", "UPDATE players_playsession SET player_id = (SELECT min(id) FROM players_player)"),
        ],
    )
    def test_is_not_reset(self, session, table, change):
        refused(change)
        as_owner(f"GRANT UPDATE ON {table} TO sabot_app")
        send(change)

    def test_is_not_begun_with_other_figures(self, player):
        begin = "INSERT INTO players_playsession (session, player_id, began) VALUES (%s, %s, now() + interval '1 day')"
        refused(begin, uuid4(), player.pk)
        as_owner("GRANT INSERT ON players_playsession TO sabot_app")
        send(begin, uuid4(), player.pk)

    def test_is_noted_by_functions_of_the_games_alone_and_only_grows(self, player, session):
        refused("SELECT players_note_round(%s, %s, 'R', 0, 0)", player.pk, session)
        as_owner("GRANT EXECUTE ON FUNCTION players_note_round, players_note_rounds TO sabot_app")
        for staked, paid, mode in ((-2500, 0, "R"), (0, -1, "R"), (None, 0, "R"), (0, 0, "X")):
            refused("SELECT players_note_round(%s, %s, %s, %s, %s)", player.pk, session, mode, staked, paid, by="SB081")
            arrays = [[each] for each in (player.pk, session, mode, staked, paid)]
            together = "SELECT players_note_rounds(%s::bigint[], %s::uuid[], %s::text[], %s::bigint[], %s::bigint[])"
            refused(together, *arrays, by="SB081")
        assert PlaySession.objects.get().staked_real == 2500
        as_owner("UPDATE players_playtime SET seconds = 100")
        send("SELECT players_note_round(%s, %s, 'R', 0, 0)", player.pk, session)
        assert PlayTime.objects.get().seconds >= 100

    def test_is_not_added_to_the_session_of_somebody_else(self, session):
        other = a_player()
        as_owner("SELECT players_note_round(%s, %s, 'R', 0, 10000)", [other.pk, session])
        assert PlaySession.objects.get().paid_real == 0
        refused("SELECT players_begin_play_session(%s, %s)", other.pk, session, by="SB080")

    def test_of_a_log_in_is_of_the_player_who_logged_in(self, player):
        log_in = "INSERT INTO players_session (id, user_id, ip, browser, why) VALUES (%s, %s, '', '', '')"
        session, other = uuid4(), a_player()
        send(log_in, session, player.user_id)
        refused("SELECT players_begin_play_session(%s, %s)", other.pk, session, by="SB080")
        send("SELECT players_begin_play_session(%s, %s)", player.pk, session)

    def test_does_not_begin_in_the_future(self, player):
        session = uuid4()
        send(
            "INSERT INTO players_session (id, user_id, ip, browser, why, began_at)"
            " VALUES (%s, %s, '', '', '', now() + interval '1 day')",
            session,
            player.user_id,
        )
        seen = play_sessions.read_session(player, session)
        assert seen.began <= seen.now


class TestRealityChecks:
    @pytest.mark.parametrize("usual", [0, -1000, 15])
    def test_are_not_answered_before_they_are_due(self, player, session, usual):
        send("SELECT players_answer_check(%s, %s, %s)", player.pk, session, usual)
        assert PlaySession.objects.get().checked_at is None
        as_owner("UPDATE players_playsession SET began = began - interval '16 minutes'")
        send("SELECT players_answer_check(%s, %s, %s)", player.pk, session, usual)
        assert PlaySession.objects.get().checked_at is not None

    def test_are_not_put_off_for_weeks(self, player):
        rarely = "INSERT INTO players_realitycheck (player_id, minutes) VALUES (%s, 32000)"
        refused(rarely, player.pk)
        for minutes in (0, 32_000, None):
            refused("SELECT players_choose_check_interval(%s, %s)", player.pk, minutes, by="SB081")
        as_owner("GRANT INSERT ON players_realitycheck TO sabot_app")
        send(rarely, player.pk)
        assert RealityCheck.objects.get().minutes == 32_000


class TestClosing:
    def test_has_the_time_of_the_database_so_nobody_is_erased_early(self, player):
        refused(LONG_CLOSED, player.pk)
        closures.begin(player=player, ip="192.0.2.1")
        closures.finish(player=player, by="system")
        refused(ERASE, player.pk, by="23514")
        assert {each.at.date() for each in Closure.objects.all()} == {today()}

    def test_with_a_date_of_2001_erases_a_person_once_the_right_is_restored(self, player):
        as_owner("GRANT INSERT ON players_closure TO sabot_app")
        as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [player.user_id])
        send(LONG_CLOSED, player.pk)
        send(ERASE, player.pk)
        assert Player.objects.get(pk=player.pk).user.email.endswith("@erased.invalid")

    def test_erases_nobody_who_can_log_in(self, player):
        as_owner(LONG_CLOSED, [player.pk])
        refused(ERASE, player.pk, by="23514")
        as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [player.user_id])
        send(ERASE, player.pk)

    def test_is_not_finished_before_it_has_begun_nor_in_another_name(self, player):
        send("SELECT players_finish_closure(%s, 'system')", player.pk)
        assert not Closure.objects.exists()
        closures.begin(player=player, ip="192.0.2.1")
        for name in ("staff:1", f"player:{player.pk + 1}", None):
            refused("SELECT players_finish_closure(%s, %s)", player.pk, name, by="SB082")

    def test_lets_nobody_in_whose_account_is_not_closed(self, player):
        closures.begin(player=player, ip="192.0.2.1")
        closures.let_in(player=player, by="system")
        send("SELECT players_finish_closure(%s, 'system')", player.pk)
        assert not Player.objects.get(pk=player.pk).user.is_active

    @pytest.mark.parametrize(
        ("function", "subject"), [("players_begin_closure", "close"), ("players_reopen_log_in", "let in")]
    )
    def test_begins_and_lets_in_again_with_a_proof_for_this_player_and_transaction(self, player, function, subject):
        closes = f"SELECT {function}(%s, %s)"
        with transaction.atomic():
            earlier = credentials.proof_here(subject, str(player.pk))
        other = credentials.content_proof(f"{subject}:0", str(player.pk))
        for wrong in (b"", None, other):
            refused(closes, player.pk, wrong, by="SB134")
        with connection.cursor() as cursor:  # the transaction of the test: one of another number is refused
            cursor.execute("SELECT pg_current_xact_id()::text::bigint + 1")
            (number,) = cursor.fetchone()
        refused(closes, player.pk, credentials.content_proof(f"{subject}:{number}", str(player.pk)), by="SB134")
        refused(closes, a_player().pk, earlier, by="SB134")
        without(function, f"players_is_proven_here('{subject}', player::text, proof) IS NOT TRUE")
        send(closes, player.pk, None)


class TestExclusions:
    @pytest.mark.parametrize("by", ["staff:0", "system", "player:0"])
    def test_are_of_the_player_or_of_staff_who_may(self, player, by):
        for kind in ("pause", "self", "staff"):
            exclude = "INSERT INTO players_exclusion (player_id, kind, until, reason, by) VALUES (%s, %s, %s, 'x', %s)"
            refused(exclude, player.pk, kind, date(2100, 1, 1), by, by="SB082")
        as_owner("DROP TRIGGER players_exclusion_begins_now ON players_exclusion")
        send(exclude, player.pk, "staff", date(2100, 1, 1), by)

    def test_do_not_begin_in_the_past(self, player):
        over = (
            "INSERT INTO players_exclusion (player_id, kind, begun, until, by)"
            " VALUES (%s, 'self', now() - interval '9 days', now() - interval '1 day', %s)"
        )
        send(over, player.pk, str(player))
        assert exclusions.in_force(player)
        as_owner("DROP TRIGGER players_exclusion_begins_now ON players_exclusion")
        other = a_player()
        send(over, other.pk, str(other))
        assert not exclusions.in_force(other)


class TestWhatStaffAndPlayersSaid:
    """The basis of a decision about a person: the identity they stated, the findings of staff, the notices sent."""

    def test_a_submission_stays_as_it_was_sent_and_reviewed(self, player):
        sent, by = a_submission(player), a_member_of_staff("support").pk
        refused("UPDATE players_submission SET family_name = 'Other'")
        review = (
            "UPDATE players_submission SET status = 'refused', reason = 'expired', reviewed_by_id = %s,"
            " reviewed_at = '2001-01-01'"
        )
        refused(review, a_member_of_staff("finance").pk, by="SB082")
        send(review, by)
        assert Submission.objects.filter(pk=sent.pk, reviewed_at__year__gt=2001).exists()
        refused(review, by, by="23001")
        refused("UPDATE players_submission SET note = 'another'", by="23001")
        send("SELECT players_forget_documents()")
        assert DocumentContent.objects.filter(document__submission=sent).exists()
        as_owner("DROP TRIGGER players_submission_is_kept ON players_submission")
        send(review, by)
        send("SELECT players_forget_documents()")
        assert not DocumentContent.objects.exists()

    def test_no_submission_is_there_that_staff_have_reviewed_before(self, player):
        sent = a_submission(player)
        copy = (
            "INSERT INTO players_submission SELECT (jsonb_populate_record(s, jsonb_build_object("
            "'id', s.id + 1, 'status', 'verified', 'reviewed_by_id', %s::bigint, 'reviewed_at', now()))).*"
            " FROM players_submission AS s WHERE s.id = %s"
        )
        refused(copy, a_member_of_staff("support").pk, sent.pk, by="23001")

    def test_a_note_on_a_likely_duplicate_comes_with_its_finding(self, player):
        other, by = a_player(), a_member_of_staff("support")
        for each in (player, other):
            duplicates.note(player=each, ground=Ground.PAYOUT, value="SAME1234")
        forge = "UPDATE players_duplicate SET note = 'forged'"
        refused(forge, by="23001")
        send("UPDATE players_duplicate SET resolution = 'same', resolved_by_id = %s, note = 'seen'", by.pk)
        refused(forge, by="23001")
        refused("UPDATE players_duplicate SET note = ''", by="23001")
        as_owner("DROP TRIGGER players_duplicate_is_resolved ON players_duplicate")
        send(forge)

    def test_a_mail_stays_as_it_was_written_and_sent(self, player):
        mail.write(user=player.user, template="identity_verified", context={})
        rewrite = "UPDATE players_mail SET subject = 'Something else'"
        for change in ("user_id = NULL", "written_at = '2001-01-01'"):
            refused(f"UPDATE players_mail SET {change}")
        refused(rewrite, by="23001")
        send("UPDATE players_mail SET sent_at = clock_timestamp(), next_try_at = NULL, sealed_body = ''")
        refused("UPDATE players_mail SET sent_at = NULL", by="23001")
        refused("UPDATE players_mail SET address = '', subject = '', sealed_body = ''", by="23001")
        as_owner("DROP TRIGGER players_mail_is_kept ON players_mail")
        send(rewrite)

    def test_a_session_keeps_where_it_came_from_and_that_it_ended(self, player):
        log_in = "INSERT INTO players_session (id, user_id, ip, browser, why) VALUES (%s, %s, '192.0.2.1', 'x', '')"
        send(log_in, uuid4(), player.user_id)
        for change in ("ip = '192.0.2.2'", "ip = '', browser = ''"):
            refused(f"UPDATE players_session SET {change}", by="23001")
        send("UPDATE players_session SET ended_at = '2001-01-01'")
        for change in ("ip = '', browser = ''", "ended_at = NULL", "ended_at = now()"):
            refused(f"UPDATE players_session SET {change}", by="23001")
        as_owner("DROP TRIGGER players_session_is_kept ON players_session")
        send("UPDATE players_session SET ip = '', browser = '', ended_at = NULL")

    def test_a_report_of_play_is_decided_once_and_by_who_may(self, player):
        table = a_chemin_table()
        reporter, reported = seated_players(table, 2)
        seat = CheminSeat.objects.get(player=reported)
        player_reports.report(
            player=reporter, live_table_id=table.pk, seat_id=seat.pk, reason=PlayReason.SOFT_PLAY, text="x"
        )
        decide = (
            "UPDATE games_playreport SET finding = 'nothing', note = 'x', decided_by = %s, decided_at = '2001-01-01'"
        )
        refused(decide, str(a_member_of_staff("finance")), by="SB082")
        supervisor = str(a_member_of_staff("supervisor"))
        send(decide, supervisor)
        assert PlayReport.objects.filter(decided_at__year__gt=2001).exists()
        for again in (decide, "UPDATE games_playreport SET note = %s"):
            refused(again, supervisor, by="23001")
        as_owner("DROP TRIGGER games_playreport_is_decided ON games_playreport")
        send(decide, supervisor)


class TestOnePerson:
    """Evidence that two accounts are of one person, so that an exclusion holds for both."""

    def test_is_not_forgotten(self, player):
        a_submission(player, document_number="SAME1234")
        for forget in ("DELETE FROM players_trait", "UPDATE players_trait SET fingerprint = ''"):
            refused(forget)
        as_owner("GRANT DELETE ON players_trait TO sabot_app")
        send("DELETE FROM players_trait")
        other = a_player()
        a_submission(other, document_number="SAME1234")
        assert "number" not in {flag.ground for pair in duplicates.pairs_of(other) for flag in pair.flags}

    def test_is_not_disproved_by_a_national_number_that_nobody_confirmed(self, player):
        other = a_player()
        duplicates.keep(player, [(Ground.NAME, b"the same")])
        verification.keep_confirmation(player, "register:sandbox", "19900101-1234")
        duplicates.keep(other, [(Ground.NAME, b"the same")])
        exclusions.exclude(player=player, days=30, reason="for a test", by=a_member_of_staff("support"))
        another = "INSERT INTO players_trait (player_id, ground, fingerprint) VALUES (%s, 'person', 'x')"
        refused(another, other.pk, by="SB084")
        assert exclusions.until_elsewhere(other)
        as_owner("DROP TRIGGER players_trait_number_is_proven ON players_trait")
        send(another, other.pk)
        assert not exclusions.until_elsewhere(other)

    def test_is_forgotten_with_the_person(self, player):
        a_submission(player)
        as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [player.user_id])
        as_owner(LONG_CLOSED, [player.pk])
        assert Trait.objects.filter(player=player).exists()
        send(ERASE, player.pk)
        assert not Trait.objects.filter(player=player).exists()


def today():
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_DATE")
        (now,) = cursor.fetchone()
    return now
