"""Letters to the players of an incident's round: correct, in their language, once each."""

import html

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction
from django.test import Client

from accounts import data_export
from games import incidents
from games.incidents import Case, Concerned, concerned, letters
from games.incidents.letters import LetterError, written
from games.models import Incident, IncidentLetter, LetterCopy, LetterKind, LiveTable, Participation, Phase, VoidPart
from games.shared import malfunction
from players import mail
from players.datetime_format import written_moment
from players.models import Conversation, Mail, Player, ServiceMessage, User
from tests.builders import a_player
from tests.games.test_void import spend
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, lay, round_at
from tests.live.test_rulings import void_by_two
from tests.people import a_member_of_staff, a_visitor, events
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

LANGUAGES = {"SE": "sv", "DK": "da", "RO": "ro", "DE": "de", "GB": "en"}
MONEY = 90_000
STAKE = 5000
SUBJECTS = {
    "sv": "Din runda {} har annullerats",
    "da": "Din runde {} er annulleret",
    "ro": "Runda dumneavoastră {} a fost anulată",
    "de": "Ihre Runde {} wurde annulliert",
    "en": "Your round {} was voided",
}
BACK = {
    "sv": "Insatt på ditt konto: ",
    "da": "Indsat på din konto: ",
    "ro": "Creditat în contul dumneavoastră: ",
    "de": "Ihrem Konto gutgeschrieben: ",
    "en": "Credited to your account: ",
}
OWN = "Ditt kort vändes för tidigt."

pytestmark = pytest.mark.django_db


def a_reader(jurisdiction: str, language: str = "") -> Player:
    player = a_player(jurisdiction, real=MONEY)
    player.user.language = language or LANGUAGES[jurisdiction]
    player.user.save(update_fields=["language"])
    return player


def reported(live_table: LiveTable, *players: Player, phase: Phase = Phase.SETTLED) -> Incident:
    for player in players:
        lay(player, live_table, {"player": STAKE})
    return malfunction.report(round_id=advance_to(live_table, phase).pk, cause="A card lay face up.", by="staff:1")


def a_round_that_paid(live_table: LiveTable, player: Player, other: Player) -> Participation:
    """Play rounds of both players until *player* wins; return that player's part."""
    while True:
        for each in (player, other):
            lay(each, live_table, {"player": STAKE})
        played = advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(round_id=played.pk, player=player)
        if part.paid > part.staked:
            return part
        advance_to(live_table, Phase.BETTING)


def case(incident: Incident) -> Case:
    found = incidents.case_of(incident.pk)
    assert found
    return found


def send(incident: Incident, kind: LetterKind = LetterKind.APOLOGY, **sentences: str) -> IncidentLetter:
    """Send a letter and write it to all players."""
    letter = letters.send(case=case(incident), kind=kind, sentences=sentences, staff=a_member_of_staff("supervisor"))
    letters.write_due()
    return letter


def words_to(player: Player) -> str:
    return ServiceMessage.objects.get(conversation__player=player).text


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def voided(live_table) -> tuple[Incident, list[Player]]:
    """Return a round with a player of each language that was voided before payment."""
    players = [a_reader(where) for where in LANGUAGES]
    incident = reported(live_table, *players, phase=Phase.DEALT)
    void_by_two(incident)
    return incident, players


class TestTheWords:
    @pytest.mark.sweep
    def test_are_in_the_language_of_each_with_the_facts_of_their_round(self, voided):
        incident, players = voided
        send(incident, LetterKind.VOIDED)
        played = case(incident).finished
        assert played
        for player in players:
            language, zone = player.user.language, player.jurisdiction.time_zone
            text = words_to(player)
            assert text.startswith(SUBJECTS[language].format(played.code))
            assert played.table_version.table.name in text
            assert written_moment(incident.live_round.opened_at, language, zone) in text
            assert BACK[language] + format_money(STAKE, player.currency, language) in text

    @pytest.mark.sweep
    def test_of_english(self, voided):
        incident, players = voided
        send(incident, LetterKind.VOIDED, en="Your table is open again.")
        found = case(incident)
        assert found.finished
        moment = written_moment(incident.live_round.opened_at, "en", "Europe/London")
        assert words_to(players[-1]) == (
            f"Your round {found.code} was voided\n\n"
            f"Your round {found.code} at table {incident.table.name} on {moment} was voided because of an error.\n\n"
            "The round does not count. All stakes were returned.\n\n"
            "Your stake: £50.00\nCredited to your account: £50.00\n\n"
            "Your table is open again.\n\n"
            "We apologise for the inconvenience.\n\n"
            "If you have any questions, reply to this message in your account under “Customer service”."
        )

    @pytest.mark.sweep
    @pytest.mark.parametrize("kind", sample(list(LetterKind), 3))
    @pytest.mark.parametrize("language", sample(sorted(LANGUAGES.values()), 1))
    def test_of_every_kind_are_whole_in_every_language(self, live_table, kind, language):
        found = case(reported(live_table, a_reader("SE", language)))
        (who,) = concerned(found.round_id)
        about = letters.about(found)
        letter = written(kind, about, who)
        english = written(kind, about, Concerned(a_reader("GB"), "SEK", who.staked, who.paid))
        assert about.code in letter.subject
        assert format_money(STAKE, "SEK", language) in letter.text
        assert "%(" not in letter.text
        assert (letter.subject == english.subject) is (language == "en")

    @pytest.mark.sweep
    def test_say_that_a_shortfall_is_the_house_s_to_those_alone_who_had_one(self, live_table):
        poor, rich = a_reader("SE"), a_reader("GB")
        won = a_round_that_paid(live_table, poor, rich)
        spend(poor, accounts.balance(poor.pk, Mode.REAL))
        incident = malfunction.report(round_id=won.round_id, cause="A card lay face up.", by="staff:1")
        void_by_two(incident)
        short = won.paid - won.staked
        assert VoidPart.objects.get(void_id=won.round_id, player=poor).shortfall == short
        (shown, *_) = letters.preview(case(incident), letters.offers(case(incident))[LetterKind.VOIDED], {}, rich.pk)
        assert "All stakes were returned and any payout was reversed." in shown.text
        send(incident, LetterKind.SHORTFALL)
        assert f"Vi står för: {format_money(short, 'SEK', 'sv')}" in words_to(poor)
        assert not ServiceMessage.objects.filter(conversation__player=rich).exists()


class TestWhichMayBeWritten:
    def kinds(self, incident: Incident) -> set[LetterKind]:
        return set(letters.offers(case(incident)))

    @pytest.mark.sweep
    def test_only_an_apology_while_the_round_is_not_over(self, live_table):
        assert self.kinds(reported(live_table, a_reader("SE"), phase=Phase.CLOSED)) == {LetterKind.APOLOGY}

    @pytest.mark.sweep
    def test_none_where_nobody_was_in_the_round(self, live_table):
        nobody = malfunction.report(round_id=round_at(live_table).pk, cause="The camera failed.", by="staff:1")
        assert self.kinds(nobody) == set()

    @pytest.mark.sweep
    def test_one_that_was_ruled_to_stand(self, live_table):
        incident = reported(live_table, a_reader("SE"))
        assert LetterKind.CONFIRMED not in self.kinds(incident)
        malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
        assert LetterKind.CONFIRMED in self.kinds(incident)
        assert LetterKind.VOIDED not in self.kinds(incident)

    @pytest.mark.sweep
    def test_that_it_is_voided_once_it_is(self, voided):
        assert self.kinds(voided[0]) == {LetterKind.VOIDED, LetterKind.APOLOGY}

    def test_no_other_is_sent(self, live_table):
        incident = reported(live_table, a_reader("SE"))
        with pytest.raises(LetterError, match="does not apply to this round"):
            send(incident, LetterKind.VOIDED)
        assert not Mail.objects.filter(template=letters.TEMPLATE).exists()


class TestSending:
    def test_puts_a_message_among_theirs_and_the_same_words_in_a_mail(self, voided):
        incident, players = voided
        letter = send(incident, LetterKind.VOIDED, sv=OWN)
        assert letter.copies.count() == len(players)
        for player in players:
            sent = Mail.objects.get(user=player.user, template=letters.TEMPLATE)
            assert f"{sent.subject}\n\n{sent.body}" == words_to(player)
            assert sent.language == player.user.language
            assert (OWN in sent.body) is (player.user.language == "sv")
            talk = Conversation.objects.get(player=player)
            assert (talk.is_unread, talk.round_id) == (True, incident.live_round_id)
        (shown,) = events("incident.written")
        assert shown["data"]["languages"] == dict.fromkeys(LANGUAGES.values(), 1)
        assert OWN not in str(shown)

    @pytest.mark.sweep
    def test_is_read_under_customer_service(self, voided):
        incident, players = voided
        send(incident, LetterKind.VOIDED)
        visitor = a_visitor()
        visitor.force_login(players[0].user)
        talk = Conversation.objects.get(player=players[0])
        page = html.unescape(visitor.get(f"/sv/service/{talk.pk}/").text)
        assert words_to(players[0]).splitlines()[0] in page

    def test_a_second_press_sends_to_nobody(self, voided):
        incident, _players = voided
        send(incident, LetterKind.VOIDED)
        with pytest.raises(LetterError, match="has already sent this letter"):
            send(incident, LetterKind.VOIDED)
        assert Mail.objects.filter(template=letters.TEMPLATE).count() == len(LANGUAGES)

    @pytest.mark.sweep
    def test_nor_does_another_incident_of_the_same_round(self, voided):
        incident, _players = voided
        send(incident, LetterKind.APOLOGY)
        again = malfunction.report(round_id=incident.live_round_id, cause="Again.", by="staff:1")
        with pytest.raises(LetterError, match="has already sent this letter"):
            send(again, LetterKind.APOLOGY)

    @pytest.mark.sweep
    def test_the_result_is_given(self, voided):
        incident, players = voided
        update_as_owner(User.objects.filter(pk=players[0].user_id), email="no@address\n")
        send(incident, LetterKind.VOIDED)
        (before,) = letters.letters(case(incident))
        assert (before.copies, before.sent, before.waiting, before.given_up) == (5, 0, 5, 0)
        mail.send_due()
        Mail.objects.filter(sent_at=None).update(next_try_at=None)
        (after,) = letters.letters(case(incident))
        assert (after.copies, after.sent, after.waiting, after.given_up) == (5, 4, 0, 1)


def test_the_database_keeps_one_letter_of_a_kind_and_one_copy_for_each(voided):
    incident, _players = voided
    letter = send(incident)
    for row in (letter.copies.first(), IncidentLetter.objects.get()):
        assert row
        row.pk = None
        with pytest.raises(IntegrityError, match="_once"), transaction.atomic():
            row.save()


@pytest.mark.sweep
def test_a_player_has_it_among_what_the_house_keeps_of_them(voided):
    incident, players = voided
    send(incident)
    part = next(each for each in data_export.PARTS if each.name == "letters about rounds")
    (row,) = part.rows(players[0])
    assert (row["letter__kind"], row["letter__round_id"]) == ("apology", incident.live_round_id)


class TestThePage:
    @pytest.fixture
    def boss(self) -> Client:
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("supervisor").user)
        return visitor

    def post(self, boss: Client, incident: Incident, **form: str) -> str:
        answer = boss.post(f"/staff/incidents/{incident.pk}/letter/", form, follow=True)
        return html.unescape(answer.text)

    @pytest.mark.sweep
    def test_counts_readers_by_language(self, boss, voided):
        page = html.unescape(boss.get(f"/staff/incidents/{voided[0].pk}/letter/").text)
        for name in dict(settings.LANGUAGES).values():
            assert f"{name}: 1" in page

    @pytest.mark.sweep
    def test_shows_it_in_each_language_before_it_goes(self, boss, voided):
        incident, _players = voided
        page = self.post(boss, incident, kind="voided", action="preview", added_sv=OWN)
        for subject in SUBJECTS.values():
            assert subject.format(case(incident).code) in page
        assert page.count(OWN) == 2  # in its field, and in the letter
        assert "Send to 5 players." in page
        assert not Mail.objects.filter(template=letters.TEMPLATE).exists()

    @pytest.mark.sweep
    def test_shows_it_as_one_player_gets_it(self, boss, voided):
        incident, players = voided
        page = self.post(boss, incident, kind="voided", action="preview", player=str(players[2].pk))
        assert SUBJECTS["ro"].format(case(incident).code) in page
        assert SUBJECTS["de"].format(case(incident).code) not in page

    @pytest.mark.sweep
    def test_tells_who_names_somebody_else(self, boss, voided):
        other = a_player().pk
        page = self.post(boss, voided[0], kind="voided", action="preview", player=str(other))
        assert f"player:{other} was not in this round." in page

    def test_sends_once_it_is_confirmed(self, boss, voided):
        incident, _players = voided
        page = self.post(boss, incident, kind="voided", action="send")
        assert "Tick the confirmation." in page
        assert not IncidentLetter.objects.exists()
        page = self.post(boss, incident, kind="voided", action="send", sure="on")
        assert "The letter is being sent to 5 players." in page
        page = self.post(boss, incident, kind="voided", action="send", sure="on")
        assert "has already sent this letter. Each letter is sent only once." in page
        letters.write_due()
        assert LetterCopy.objects.count() == 5

    @pytest.mark.sweep
    @pytest.mark.parametrize("kind", sample(["shortfall", "nonsense", ""], 1))
    def test_refuses_a_kind_that_is_not_offered(self, boss, voided, kind):
        self.post(boss, voided[0], kind=kind, action="send", sure="on")
        assert not IncidentLetter.objects.exists()

    @pytest.mark.sweep
    def test_refuses_more_words_than_fit(self, boss, voided):
        self.post(boss, voided[0], kind="voided", action="send", sure="on", added_sv="x" * 501)
        assert not IncidentLetter.objects.exists()
