"""Letters are written in batches: after a crash another worker continues, and nobody gets two."""

from collections import Counter
from collections.abc import Iterator
from threading import Barrier

import pytest
from django.db import connection, transaction

from games.incidents import Case, letters
from games.models import Incident, IncidentLetter, LetterEnd, LetterKind
from games.shared import malfunction
from players.models import Conversation, Mail, Player
from tests.games.test_letters import LANGUAGES, a_reader, case, reported
from tests.harness import databases, killed
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.test_at_once import at_once


def decided(incident: Incident) -> IncidentLetter:
    staff = a_member_of_staff("supervisor")
    return letters.send(case=case(incident), kind=LetterKind.APOLOGY, sentences={}, staff=staff)


def sent_letters(found: Case) -> letters.Sent:
    (sent,) = letters.letters(found)
    return sent


@pytest.fixture
def incident(db) -> Incident:
    return reported(a_live_table(), *(a_reader(where) for where in LANGUAGES))


class TestALetter:
    @pytest.mark.sweep
    def test_is_decided_on_in_one_row_and_written_later(self, incident):
        letter = decided(incident)
        assert not letter.copies.exists()
        assert (sent_letters(case(incident)).copies, sent_letters(case(incident)).left) == (0, 5)
        assert letters.write_due() == 5
        sent = sent_letters(case(incident))
        assert (sent.copies, sent.left, sent.is_ended) == (5, 0, True)
        assert letters.write_due() == 0

    @pytest.mark.sweep
    def test_is_written_in_transactions_of_so_many_players(self, incident, monkeypatch):
        monkeypatch.setattr("games.incidents.letters.PART", 2)
        letter = decided(incident)
        assert [letters._write_part(letter.pk) for _ in range(4)] == [2, 2, 1, 0]
        (ended,) = events("incident.letter_ended")
        assert ended["data"] == {"incident": incident.pk, "letter": letter.pk, "copies": 5}

    @pytest.mark.sweep
    def test_ends_where_its_players_are_as_many_as_parts_hold(self, incident, monkeypatch):
        monkeypatch.setattr("games.incidents.letters.PART", 5)
        decided(incident)
        assert letters.write_due() == 5
        assert LetterEnd.objects.count() == 1

    @pytest.mark.sweep
    def test_an_outdated_one_ends_with_the_list_of_its_receivers(self, incident, monkeypatch):
        monkeypatch.setattr("games.incidents.letters.PART", 2)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        staff = a_member_of_staff("supervisor")
        letter = letters.send(case=case(incident), kind=LetterKind.CONFIRMED, sentences={}, staff=staff)
        assert letters._write_part(letter.pk) == 2
        monkeypatch.setattr("games.incidents.letters._is_true", lambda kind, case: False)
        assert letters.write_due() == 0
        assert letter.copies.count() == 2
        assert events("incident.letter_ended")[-1]["data"]["copies"] == 2

    @pytest.mark.sweep
    def test_shows_on_the_page_of_its_incident_how_far_it_is(self, incident, monkeypatch):
        monkeypatch.setattr("games.incidents.letters.PART", 2)
        letter = decided(incident)
        reader = a_visitor()
        reader.force_login(a_member_of_staff("operator").user)
        address = f"/staff/incidents/{incident.pk}/letters/"
        asks_again = f'hx-get="{address}" hx-trigger="every 2s"'
        letters._write_part(letter.pk)
        assert asks_again in reader.get(f"/staff/incidents/{incident.pk}/").text
        under_way = reader.get(address).text
        assert asks_again in under_way
        assert "2 of 5</span>" in under_way
        assert "<html" not in under_way
        letters.write_due()
        done = reader.get(address).text
        assert "hx-get" not in done
        assert "5 players" in done


@pytest.fixture(scope="module")
def house(django_db_setup, django_db_blocker) -> Iterator[databases.Database]:
    """A database in which batches are committed."""
    with django_db_blocker.unblock():
        with databases.clone("letters") as database:
            yield database
        databases.demand_untouched(django_db_setup)


def a_letter(slug: str) -> tuple[IncidentLetter, list[Player]]:
    """Return a letter to two players that was requested but not started."""
    readers = [a_reader("SE"), a_reader("GB")]
    return decided(reported(a_live_table(slug=slug), *readers)), readers


@pytest.mark.parametrize("when", sample(["before", "after"], 1))
def test_a_crash_at_any_statement_leaves_whole_parts_that_another_process_continues(house, when, monkeypatch, is_sweep):
    monkeypatch.setattr("games.incidents.letters.PART", 1)
    number = 1
    letter, readers = a_letter(f"{when}-{number}")
    while killed.dies(letters.write_due, when, number, every=is_sweep):
        copies = list(letter.copies.all())
        assert max(Counter(copy.player_id for copy in copies).values(), default=0) <= 1
        talks = Conversation.objects.filter(player__in=readers).values_list("pk", flat=True)
        assert sorted(talks) == sorted(copy.conversation for copy in copies)
        mails = Mail.objects.filter(template=letters.TEMPLATE, user__in=[each.user_id for each in readers])
        assert sorted(mails.values_list("pk", flat=True)) == sorted(copy.mail_id for copy in copies)
        if LetterEnd.objects.filter(letter=letter).exists():
            assert {copy.player_id for copy in copies} == {each.pk for each in readers}
            letter, readers = a_letter(f"{when}-{number}")
        number += 1
    assert {copy.player_id for copy in letter.copies.all()} == {each.pk for each in readers}
    assert LetterEnd.objects.filter(letter=letter).exists()
    assert number > (10 if is_sweep else 2)


class TestTwoWriters:
    def test_that_check_first_both_write_to_everybody(self, cloned_db, owner):
        """The race itself, on a table without guards: both see that nobody has the letter."""
        owner.execute("CREATE TABLE unguarded (player bigint)")
        owner.execute("GRANT SELECT, INSERT ON unguarded TO sabot_app")
        have_read = Barrier(2)

        def check_then_write() -> None:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT number FROM (VALUES (1), (2)) AS of (number) EXCEPT SELECT player FROM unguarded"
                )
                left = [number for (number,) in cursor.fetchall()]
                have_read.wait(timeout=300)
                for number in left:
                    cursor.execute("INSERT INTO unguarded VALUES (%s)", [number])

        at_once([check_then_write] * 2)
        assert owner.execute("SELECT count(*) FROM unguarded").fetchone() == (4,)

    def test_at_one_letter_write_each_copy_once(self, cloned_db, monkeypatch):
        monkeypatch.setattr("games.incidents.letters.PART", 1)
        letter = decided(reported(a_live_table(), *(a_reader(where) for where in LANGUAGES)))
        at_once([letters.write_due] * 4)
        letters.write_due()  # of four who try the lock together all but one may have passed the letter over
        assert sorted(letter.copies.values_list("language", flat=True)) == sorted(LANGUAGES.values())
        assert Mail.objects.filter(template=letters.TEMPLATE).count() == len(LANGUAGES)
        assert Conversation.objects.count() == len(LANGUAGES)

    @pytest.mark.sweep
    def test_the_second_passes_over_what_the_first_is_at(self, cloned_db):
        letter = decided(reported(a_live_table(), a_reader("SE")))
        with transaction.atomic():
            assert letters._is_ours(letter.pk)
            assert at_once([letters.write_due]) == [0]
        assert letters.write_due() == 1
