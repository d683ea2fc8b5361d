"""Letters sent by several people at once, and letters to erased players. Needs its own database."""

from functools import partial

from django.db import transaction

from accounts.retention import erase_due
from games.incidents import letters
from games.incidents.letters import LetterError
from games.models import LetterCopy, LetterKind
from games.shared import malfunction
from players.account import closures
from players.models import Conversation, Mail, Staff
from tests.ageing import age
from tests.games.test_letters import a_reader, case, reported, send
from tests.live.at_table import a_live_table
from tests.people import a_member_of_staff
from tests.wallet.test_at_once import at_once


def test_of_two_who_send_at_once_one_does(cloned_db):
    live_table, player = a_live_table(), a_reader("SE")
    incident = reported(live_table, player)
    members = [a_member_of_staff("supervisor") for _ in range(3)]

    def press(member: Staff) -> str:
        try:
            letters.send(case=case(incident), kind=LetterKind.APOLOGY, sentences={}, staff=member)
        except LetterError as error:
            return str(error)
        return "sent"

    shown = at_once([partial(press, member) for member in members])
    assert shown.count("sent") == 1
    assert sum("has already sent this letter" in each for each in shown) == 2
    assert letters.write_due() == 1
    assert Mail.objects.filter(user=player.user, template=letters.TEMPLATE).count() == 1
    assert Conversation.objects.filter(player=player).count() == 1
    assert LetterCopy.objects.count() == 1


def test_who_is_erased_has_no_words_left_in_the_mail_and_is_not_written_to(cloned_db, owner):
    player, other = a_reader("SE"), a_reader("GB")
    incident = reported(a_live_table(), player, other)
    send(incident)
    with transaction.atomic():
        closures.begin(player=player, ip="10.1.1.1")
    closures.finish(player=player, by="system")
    age(owner, "players_closure", "at", 6 * 365)
    erase_due()
    copy = LetterCopy.objects.get(player=player)
    assert (copy.mail.address, copy.mail.subject, copy.mail.body) == ("", "", "")
    malfunction.let_stand(incident_id=incident.pk, reason="seen", by="staff:1")
    assert [each.player for each in letters.offers(case(incident))[LetterKind.CONFIRMED].people] == [other]
