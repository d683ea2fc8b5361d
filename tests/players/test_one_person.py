"""One person, one exclusion: nobody plays for real money before it is known who they are, and a pause holds for every
account of the same person.
"""

import re
from datetime import date
from html import unescape
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client

from games.chemin import play as chemin
from games.errors import NotEligible
from games.shared.seats import open_seat
from players.account import registration
from players.identity import confirmation, duplicates, verification
from players.identity.confirmation import NotConfirmed, RegisterSilent, Stated
from players.identity.sandbox import SILENT, UNKNOWN, number_of
from players.login import credentials
from players.models import (
    Duplicate,
    Ground,
    Identity,
    Jurisdiction,
    Player,
    RefusalReason,
    Resolution,
    Submission,
    Trait,
)
from players.protection import eligibility, exclusions
from players.protection.eligibility import Code
from tests.attacks.statements import refused, send
from tests.builders import a_player, a_round, a_submission, a_table
from tests.chemin.at_table import a_chemin_table
from tests.harness.owner import as_owner, without_guards
from tests.live.at_table import a_live_table
from tests.live.betting import chip
from tests.people import PASSWORD, a_member_of_staff, a_visitor, confirm_address, events
from wallet.ledger import accounts
from wallet.models import Mode, Payment
from wallet.payments import deposits

pytestmark = pytest.mark.django_db

MONEY = 1_000_00
BORN = date(1990, 1, 1)
ME = Stated("Søren Åge", "Groß", "Nørregade 2", "1165", "København")
AGAIN = Stated("GROSS", "Aage Soren", "Nørregade 2", "1165", "København")  # another spelling and order


def a_confirmed(stated: Stated = ME, code: str = "DK", *, serial: int = 1, real: int = MONEY) -> Player:
    """Return a player with money, confirmed by the register under this name and national number."""
    player = a_player(code, real=real, free=MONEY, is_known=False)
    confirm(player, stated, serial)
    return player


def confirm(player: Player, stated: Stated = ME, serial: int = 1) -> Submission:
    number = number_of(player.jurisdiction_id, player.birth_date, serial)
    return confirmation.confirm(player=player, stated=stated, number=number)


def browser_of(player: Player) -> Client:
    browser = a_visitor()
    browser.force_login(player.user)
    return browser


def why(player: Player, *, real: bool = True) -> Code | None:
    found = eligibility.check_play(player, real=real)
    return found.code if found else None


def resolve(first: Player, second: Player, resolution: Resolution) -> None:
    """Have staff decide about everything that is open between two players."""
    (pair,) = [pair for pair in duplicates.pairs_of(first) if pair.second == second]
    duplicates.resolve(
        first_id=first.pk,
        second_id=second.pk,
        shown=[flag.pk for flag in pair.open],
        resolution=resolution,
        note="seen",
        by=a_member_of_staff("support"),
    )


def correct(first: Player, second: Player, resolution: Resolution) -> None:
    """Have staff correct their finding on the page of the case."""
    support = a_member_of_staff("support")
    browser = a_visitor()
    browser.force_login(support.user)
    (pair,) = [pair for pair in duplicates.pairs_of(first) if pair.second == second]
    sent = {"shown": [flag.pk for flag in pair.flags], "before": pair.finding, "resolution": resolution, "note": "seen"}
    answer = browser.post(f"/staff/duplicates/{first.pk}/{second.pk}/", sent, follow=True)
    assert f"Resolved: player:{first.pk} and player:{second.pk}." in answer.text


def no_law(code: str = "DK") -> None:
    """Make a jurisdiction one that does not ask for a confirmed identity."""
    as_owner("UPDATE players_jurisdiction SET identity_before_play = false WHERE code = %s", [code])


def claim(player: Player, stated: Stated = ME, **changes: str) -> dict[str, str]:
    """Return what the form sends."""
    number = number_of(player.jurisdiction_id, player.birth_date, 7)
    return vars(stated) | ({"number": number} if number else {}) | changes


class TestAPausedPlayerWhoRegistersAnotherAddress:
    def test_plays_for_no_real_money_and_is_shown_why(self):
        first = a_confirmed(serial=7)
        exclusions.pause(player=first, by=str(first))
        browser = a_visitor()
        answers = {"email": "another@example.com", "password1": PASSWORD, "residence": "DK:DKK"}
        browser.post("/en/account/register/", answers | {"birth_date": BORN.isoformat(), "agrees": "on"})
        confirm_address(browser, "another@example.com")
        second = Player.objects.get(user__email="another@example.com")
        table = a_table()
        assert 'data-ineligibility="identity"' in browser.get("/en/cashier/").text
        kept_away = browser.get(f"/en/table/{table.slug}/real/")
        assert kept_away["Location"] == f"/en/account/identity/?next=%2Fen%2Ftable%2F{table.slug}%2Freal%2F"
        page = browser.post("/en/account/identity/confirm/", claim(second, AGAIN), follow=True)
        assert 'data-ineligibility="other_account"' in page.text
        assert "You are excluded from play until" in unescape(page.text)
        with pytest.raises(deposits.DepositNotEligible):
            deposits.begin(player=second, amount=500_00, key=uuid4())
        assert (why(second), why(second, real=False)) == (Code.OTHER_ACCOUNT, Code.OTHER_ACCOUNT)
        assert set(Duplicate.objects.filter(resolution="").values_list("ground", flat=True)) == {"name", "person"}

    def test_is_found_by_the_national_number_under_another_name(self):
        first = a_confirmed()
        exclusions.take_time_out(player=first, length="week", by=str(first))
        married = Stated("Sofie", "Holm", "Vestergade 9", "8000", "Aarhus")
        assert why(a_confirmed(married, serial=2)) is None
        assert why(a_confirmed(married, serial=1)) is Code.OTHER_ACCOUNT

    def test_is_stopped_at_once_where_both_accounts_were_there_before(self):
        first, second, table = a_confirmed(), a_confirmed(AGAIN), a_table()
        a_round(second, table, player=1000)
        exclusions.pause(player=first, by=str(first))
        with pytest.raises(NotEligible) as barred:
            a_round(second, table, player=1000)
        assert barred.value.ineligibility.code is Code.OTHER_ACCOUNT

    def test_plays_again_when_it_is_over_and_no_earlier(self):
        first, second = a_confirmed(), a_confirmed(AGAIN)
        exclusions.pause(player=first, by=str(first))
        assert why(second) is Code.OTHER_ACCOUNT
        with without_guards("players_exclusion"):
            as_owner("UPDATE players_exclusion SET begun = begun - interval '1 day', until = until - interval '1 day'")
        assert why(second) is None

    def test_is_somebody_else_once_staff_have_found_so(self):
        first, second = a_confirmed(code="GB"), a_confirmed(AGAIN, code="GB")
        exclusions.pause(player=first, by=str(first))
        assert why(second) is Code.OTHER_ACCOUNT
        resolve(first, second, Resolution.DIFFERENT)
        assert why(second) is None

    def test_is_somebody_else_with_another_national_number(self):
        first = a_confirmed(serial=1)
        exclusions.pause(player=first, by=str(first))
        second = a_confirmed(AGAIN, serial=2)
        assert why(second) is None
        assert why(a_confirmed(AGAIN, code="SE")) is Code.OTHER_ACCOUNT  # numbers of two countries prove nothing
        resolve(first, second, Resolution.SAME)
        assert why(second) is Code.OTHER_ACCOUNT

    def test_is_who_the_latest_finding_of_staff_says(self):
        first, second = a_confirmed(serial=1), a_confirmed(AGAIN, serial=2)
        exclusions.pause(player=first, by=str(first))
        resolve(first, second, Resolution.SAME)
        assert why(second) is Code.OTHER_ACCOUNT
        correct(first, second, Resolution.DIFFERENT)
        assert why(second) is None
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
        assert why(second) is None
        resolve(first, second, Resolution.SAME)
        assert why(second) is Code.OTHER_ACCOUNT

    def test_is_the_same_with_an_equal_number_that_staff_had_not_seen(self):
        first, second = (a_player("DK", real=MONEY, is_known=False) for _ in range(2))
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
        resolve(first, second, Resolution.DIFFERENT)
        confirm(first)
        confirm(second, Stated("Sofie", "Holm", "Vestergade 9", "8000", "Aarhus"))
        exclusions.pause(player=first, by=str(first))
        assert why(second) is Code.OTHER_ACCOUNT
        resolve(first, second, Resolution.DIFFERENT)
        assert why(second) is None

    def test_cannot_exclude_somebody_else_by_using_their_name(self):
        victim, nobody = a_confirmed(), a_player("DK", is_known=False)
        a_submission(nobody, given_names="Søren Åge", family_name="Groß")
        exclusions.pause(player=nobody, by=str(nobody))
        exclusions.exclude_self(player=nobody, months=None, by=str(nobody))
        assert why(victim) is None
        resolve(victim, nobody, Resolution.SAME)
        assert why(victim) is Code.OTHER_ACCOUNT

    def test_is_not_betrayed_to_who_uses_their_name(self):
        victim, nobody = a_confirmed(), a_player("DK", is_known=False)
        exclusions.take_time_out(player=victim, length="week", by=str(victim))
        browser = browser_of(nobody)
        before = [browser.get(page).text.count("xclu") for page in ("/en/cashier/", "/en/account/protection/")]
        a_submission(nobody, given_names="Søren Åge", family_name="Groß")
        assert (why(nobody), why(nobody, real=False)) == (Code.IDENTITY, Code.IDENTITY)
        after = [browser.get(page).text.count("xclu") for page in ("/en/cashier/", "/en/account/protection/")]
        assert after == before
        with pytest.raises(NotEligible) as barred:
            a_round(nobody, a_table(), Mode.FREE, player=1000)
        assert barred.value.ineligibility.code is Code.IDENTITY

    def test_keeps_nobody_else_from_playing(self):
        first = a_confirmed()
        exclusions.pause(player=first, by=str(first))
        other = Stated("Søren Åge", "Grohs", "Nørregade 2", "1165", "København")
        assert why(a_confirmed(other, serial=3)) is None


class TestWhoIsNotConfirmed:
    @pytest.mark.parametrize("code", ["SE", "DK", "GB", "DE", "RO"])
    def test_neither_deposits_nor_plays_for_real_money_and_plays_with_play_money(self, code):
        player, table = a_player(code, real=MONEY // 2, free=MONEY, is_known=False), a_table()
        assert table.version
        stake = table.version.limits[player.currency]["chips"][0]
        for refusing in (
            lambda: a_round(player, table, player=stake),
            lambda: open_seat(player, a_live_table("pairs")),
            lambda: chemin.join(
                player=player, live_table_id=a_chemin_table(currency=player.currency).pk, seat_number=1
            ),
        ):
            with pytest.raises(NotEligible) as barred:
                refusing()
            assert barred.value.ineligibility.code is Code.IDENTITY
        with pytest.raises(deposits.DepositNotEligible) as refusal:
            deposits.begin(player=player, amount=500_00, key=uuid4())
        assert refusal.value.page == "identity"
        a_round(player, table, Mode.FREE, player=stake)
        assert confirm(player).status == "verified"
        a_round(player, table, player=stake)
        assert deposits.begin(player=player, amount=100_00, key=uuid4())

    def test_loses_the_seat_of_before_with_the_next_chip(self):
        table = a_live_table("pairs")
        player = a_player("GB", real=MONEY)
        open_seat(player, table)
        with without_guards("players_identity"):
            as_owner("DELETE FROM players_identity WHERE player_id = %s", [player.pk])
        with pytest.raises(NotEligible) as barred:
            chip(player, table, "player", 10_00)
        assert barred.value.ineligibility.code is Code.IDENTITY

    def test_is_confirmed_by_staff_with_documents_too(self):
        player = a_player("SE", real=MONEY, is_known=False)
        by = a_member_of_staff("compliance")
        sent = a_submission(player)
        assert why(player) is Code.IDENTITY
        verification.verify(submission_id=sent.pk, by=by)
        assert why(player) is None
        assert Identity.objects.get(player=player).by == str(by)

    def test_of_an_operator_is_known_to_the_operator(self):
        player = a_player("GB", is_known=False)
        as_owner("UPDATE players_player SET uses_operator_wallet = true WHERE id = %s", [player.pk])
        player.refresh_from_db()
        assert why(player) is None


class TestTheRegister:
    def test_is_recorded_with_the_time_and_counts_as_verified(self):
        player = a_confirmed()
        (kept,) = Identity.objects.filter(player=player)
        (sent,) = Submission.objects.filter(player=player)
        assert (kept.by, sent.register, sent.status) == ("register:sandbox", "sandbox", "verified")
        assert sent.reviewed_at is not None
        assert verification.is_verified(player)
        (recorded,) = events("identity.confirmed", on=str(player))
        assert recorded["data"] == {"submission": sent.pk, "register": "sandbox"}

    def test_leaves_no_national_number_in_the_database(self):
        player = a_confirmed()
        digits = number_of("DK", BORN, 1).replace("-", "")
        assert Trait.objects.filter(player=player, ground="person").count() == 1
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                cursor.execute("SELECT has_table_privilege(%s, 'SELECT')", [table])
                if cursor.fetchone()[0]:
                    cursor.execute(
                        f"SELECT count(*) FROM {table} AS row WHERE replace(row::text, '-', '') LIKE %s",
                        [f"%{digits}%"],
                    )
                    assert cursor.fetchone()[0] == 0, table

    @pytest.mark.parametrize(
        ("stated", "born", "error"),
        [
            (Stated("A", "B", "C 1", UNKNOWN, "D"), BORN, NotConfirmed),
            (Stated("A", "B", "C 1", SILENT, "D"), BORN, RegisterSilent),
            (ME, date(1991, 1, 1), NotConfirmed),
        ],
        ids=["nobody", "silent", "born on another day"],
    )
    def test_that_does_not_confirm_leaves_everything_as_it_was(self, stated, born, error):
        player = a_player("DK", real=MONEY, is_known=False)
        with pytest.raises(error):
            confirmation.confirm(player=player, stated=stated, number=number_of("DK", born))
        assert why(player) is Code.IDENTITY
        assert not Submission.objects.exists()
        (recorded,) = events("identity.not_confirmed", on=str(player))
        assert recorded["data"] == {"register": "sandbox", "reason": error.__name__}

    def test_that_is_not_configured_leaves_documents(self, settings):
        settings.IDENTITY_REGISTERS = {}
        page = browser_of(a_player("DK", is_known=False)).get("/en/account/identity/").text
        assert 'id="claim-form"' not in page
        assert 'id="identity-form"' in page

    def test_has_one_form_that_leads_back_to_where_the_player_was(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        page = browser.get("/en/account/identity/?next=/en/cashier/").text
        assert 'name="next" value="/en/cashier/"' in page
        answer = browser.post("/en/account/identity/confirm/", claim(player, next="/en/cashier/"))
        assert (answer.status_code, answer.headers["Location"]) == (302, "/en/cashier/")
        assert 'id="deposit"' in browser.get("/en/cashier/").text
        assert "Confirmed" in browser.get("/en/account/identity/").text

    def test_is_left_for_no_other_site(self):
        player = a_player("SE", is_known=False)
        answer = browser_of(player).post(
            "/en/account/identity/confirm/", claim(player, next="https://elsewhere.example/")
        )
        assert answer.headers["Location"] == "/en/account/identity/"

    @pytest.mark.parametrize(("code", "asks"), [("SE", True), ("DK", True), ("RO", True), ("DE", False), ("GB", False)])
    def test_asks_for_a_national_number_where_there_is_one(self, code, asks):
        page = browser_of(a_player(code, is_known=False)).get("/en/account/identity/").text
        assert ('name="number"' in page) is asks

    def test_says_what_is_wrong(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        page = browser.post("/en/account/identity/confirm/", claim(player, number="12")).text
        assert "Enter the number with all its digits." in page
        page = browser.post("/en/account/identity/confirm/", claim(player, postal_code=UNKNOWN)).text
        assert "These details could not be confirmed." in page


class TestAnEid:
    """The sandbox's eID, whose answer comes through the player's browser."""

    def visit(self, browser: Client, **said: str) -> str:
        """Return the address to which the eID's page leads back, after it has confirmed a person."""
        page = browser.get("/en/account/identity/eid/?next=/en/cashier/").headers["Location"]
        person = {field.name: str(field.value()) for field in browser.get(page).context["form"]}
        return str(browser.post(page, person | {"say": "approve"} | said).headers["Location"])

    def test_confirms_a_person_who_types_nothing_and_leads_back_to_where_they_were(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        assert browser.get(self.visit(browser)).headers["Location"] == "/en/cashier/"
        assert Submission.objects.get(player=player).register == "sandbox"
        assert why(player) is not Code.IDENTITY
        assert Trait.objects.filter(player=player, ground=Ground.PERSON).exists()

    def test_confirms_nobody_who_was_born_on_another_day(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        assert browser.get(self.visit(browser, birth_date="1991-01-01")).headers["Location"] == "/en/account/identity/"
        assert why(player) is Code.IDENTITY
        (recorded,) = events("identity.not_confirmed", on=str(player))
        assert recorded["data"] == {"register": "sandbox", "reason": "NotConfirmed"}

    @pytest.mark.parametrize("code", ["SE", "GB"])
    def test_confirms_nobody_else_who_was_born_on_the_same_day(self, code):
        player = a_player(code, real=MONEY, is_known=False)
        browser = browser_of(player)
        browser.get(self.visit(browser))
        number = number_of(code, player.birth_date, 2)
        other = {"given_names": "Somebody", "family_name": "Else", "number": number}
        page = browser.get(self.visit(browser, **other), follow=True).text
        assert "Your identity cannot be confirmed in this way." in page
        assert Submission.objects.filter(player=player).count() == 1
        (recorded,) = events("identity.another_person", on=str(player))
        assert recorded["data"] == {"register": "sandbox"}
        assert not events("identity.not_confirmed", on=str(player))

    def test_confirms_a_person_under_a_new_name_with_the_same_number(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        browser.get(self.visit(browser))
        browser.get(self.visit(browser, family_name="Married"))
        assert [sent.family_name for sent in Submission.objects.filter(player=player)][1:] == ["Married"]

    def test_confirms_the_same_person_after_the_keys_of_the_hashes_were_replaced_and_nobody_else(self, settings):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        browser.get(self.visit(browser))
        settings.DOCUMENT_KEY = f"{'A' * 43}="
        browser.get(self.visit(browser))
        assert Submission.objects.filter(player=player).count() == 2
        assert not events("identity.another_person", on=str(player))
        other = {"number": number_of("SE", player.birth_date, 2)}
        for change in ({"family_name": "Else"}, {}):
            browser.get(self.visit(browser, **other | change))
        assert len(events("identity.another_person", on=str(player))) == 2

    def test_confirms_another_number_after_staff_have_examined_who_that_is(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        browser.get(self.visit(browser))
        new = {"given_names": "Ada", "family_name": "New", "number": number_of("SE", player.birth_date, 2)}
        browser.get(self.visit(browser, **new))
        sent = a_submission(player, given_names="Ada", family_name="New")
        verification.verify(submission_id=sent.pk, by=a_member_of_staff("support"))
        browser.get(self.visit(browser, **new))
        assert Submission.objects.filter(player=player).latest("pk").register == "sandbox"
        browser.get(self.visit(browser, **new | {"number": number_of("SE", player.birth_date, 3)}))
        assert Trait.objects.filter(player=player, ground=Ground.PERSON).count() == 2

    def test_counts_once_and_in_the_session_that_asked_only(self):
        player, other = a_player("SE", is_known=False), a_player("SE", is_known=False)
        mine, theirs = browser_of(player), browser_of(other)
        answer = self.visit(mine)
        self.visit(theirs)  # which waits for a separate answer
        theirs.get(answer)
        assert why(other) is Code.IDENTITY
        mine.get(answer)
        mine.get(answer)
        assert Submission.objects.filter(player=player).count() == 1

    def test_that_is_altered_confirms_nobody(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        browser.get(self.visit(browser) + "x")
        assert why(player) is Code.IDENTITY
        (recorded,) = events("identity.not_confirmed", on=str(player))
        assert recorded["data"]["reason"] == "RegisterSilent"

    def test_of_an_earlier_visit_does_not_answer_the_next_one(self):
        player = a_player("SE", is_known=False)
        browser = browser_of(player)
        earlier = self.visit(browser)
        state = self.visit(browser).split("state=")[1].split("&")[0]
        browser.get(re.sub("state=[^&]*", f"state={state}", earlier))
        assert why(player) is Code.IDENTITY

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_of_the_sandbox_has_no_page_in_a_house_that_is_no_demo(self, settings, method):
        browser = browser_of(a_player("SE", is_known=False))
        page = browser.get("/en/account/identity/eid/").headers["Location"]
        settings.DEMO = False
        assert getattr(browser, method)(page).status_code == 404

    def test_leaves_other_ways_to_those_who_cancel(self):
        browser = browser_of(a_player("SE", is_known=False))
        page = browser.get(self.visit(browser, say="cancel"), follow=True).text
        assert "You have not confirmed who you are." in page
        assert 'id="claim-form"' in page


class TestTheRegisterOverridesNoDecisionOfStaff:
    def refuse(self, player: Player, reason: RefusalReason) -> None:
        by = a_member_of_staff("compliance")
        verification.refuse(submission_id=a_submission(player).pk, reason=reason, note="", by=by)

    def remains_unknown(self, player: Player) -> None:
        page = browser_of(player).post("/en/account/identity/confirm/", claim(player)).text
        assert "Your identity cannot be confirmed in this way. Send us documents instead." in page
        assert not Identity.objects.filter(player=player).exists()
        assert not verification.is_verified(player)
        assert events("identity.not_confirmed", on=str(player))[-1]["data"]["reason"] == "LeftToStaff"

    def test_that_the_player_has_another_account(self):
        first, second = a_player("DK"), a_player("DK", is_known=False)
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
        self.remains_unknown(second)  # nobody has decided yet
        resolve(first, second, Resolution.SAME)
        self.remains_unknown(second)

    @pytest.mark.parametrize("reason", [RefusalReason.ALTERED, RefusalReason.ANOTHER_ACCOUNT])
    def test_that_the_papers_are_refused(self, reason):
        player = a_player("DK", is_known=False)
        self.refuse(player, reason)
        a_submission(player)  # other papers, which nobody has reviewed
        self.remains_unknown(player)

    def test_but_helps_who_sent_a_bad_picture(self):
        player = a_player("DK", is_known=False)
        self.refuse(player, RefusalReason.UNREADABLE)
        assert confirm(player).status == "verified"


class TestWhereTheLawAsksForNoConfirmation:
    def test_the_first_deposit_asks_for_name_and_address(self):
        no_law()
        player = a_player("DK", is_known=False)
        browser = browser_of(player)
        assert 'data-ineligibility="identity"' in browser.get("/en/cashier/").text
        page = browser.post("/en/account/identity/confirm/", vars(ME), follow=True).text
        assert "You have told us who you are" in page
        assert not verification.is_verified(player)
        assert deposits.begin(player=player, amount=500_00, key=uuid4())
        assert [each["data"]["register"] for each in events("identity.stated", on=str(player))] == [""]

    def test_it_is_held_against_exclusions_of_every_other_account(self):
        no_law()
        first, second = (a_player("DK", real=MONEY, is_known=False) for _ in range(2))
        confirmation.state(player=first, stated=ME)
        exclusions.pause(player=first, by=str(first))
        confirmation.state(player=second, stated=AGAIN)
        assert why(second) is Code.OTHER_ACCOUNT

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (("Ștefan", "Roș"), ("Ştefan", "Roş")),
            (("Ținca", "Ioniță"), ("Ţinca", "Ioniţă")),
            (("Søren", "Bø"), ("Soren", "Bo")),
            (("Åge", "Ågård"), ("Aage", "Aagaard")),
            (("Uwe", "Weiß"), ("Uwe", "WEISS")),
            (("Anna Maria", "Berg"), ("Berg", "Maria Anna")),
        ],
        ids=["ș", "ț", "ø", "å", "ß", "order"],
    )
    def test_each_spelling_of_the_excluded_name_is_found(self, one, other):
        """With the date of birth: somebody born on another day has only the same name."""
        no_law()
        excluded, same, namesake = (a_player("DK", real=MONEY, is_known=False) for _ in range(3))
        as_owner("UPDATE players_player SET birth_date = birth_date - 1 WHERE id = %s", [namesake.pk])
        namesake.refresh_from_db()

        def stated(given: str, family: str) -> Stated:
            return Stated(given, family, "Nørregade 2", "1165", "København")

        confirmation.state(player=excluded, stated=stated(*one))
        exclusions.pause(player=excluded, by=str(excluded))
        for player in (same, namesake):
            confirmation.state(player=player, stated=stated(*other))
        assert (why(same), why(namesake)) == (Code.OTHER_ACCOUNT, None)
        with pytest.raises(deposits.DepositNotEligible):
            deposits.begin(player=same, amount=500_00, key=uuid4())

    def test_a_statement_is_not_enough_anywhere_else(self):
        player = a_player("DK", real=MONEY, is_known=False)
        confirmation.state(player=player, stated=ME)
        assert why(player) is Code.IDENTITY


class TestTheDatabase:
    """Statements that the login role of web and workers sends without our code."""

    CONFIRM = "SELECT players_confirm_identity(%s, %s, %s::bytea[], %s)"

    def test_confirms_nobody_without_a_proof_for_this_player_and_transaction(self):
        player, other = a_player(is_known=False), a_player(is_known=False)
        by = "register:sandbox"
        with transaction.atomic():
            of_other = credentials.proof_here("identity", f"{other.pk}:{by}")
        for wrong in (b"", None, credentials.content_proof("identity:0", f"{player.pk}:{by}"), of_other):
            refused(self.CONFIRM, player.pk, by, [], wrong, by="SB085")
        refused("INSERT INTO players_identity (player_id, by) VALUES (%s, %s)", player.pk, by)
        for name in ("system", "register:", f"player:{other.pk}", None):
            proof = credentials.proof_here("identity", f"{player.pk}:{name}")
            refused(self.CONFIRM, player.pk, name, [], proof, by="SB085")
        proof = credentials.proof_here("identity", f"{player.pk}:{by}")
        refused(self.CONFIRM, player.pk, by, [b"number"], proof, by="SB085")
        send(self.CONFIRM, player.pk, by, [], proof)

    def test_keeps_the_number_that_a_register_has_confirmed(self):
        player = a_confirmed(serial=1)
        other = duplicates.hashes_of_number(player, number_of("DK", BORN, 2))

        def confirm(by: str, *hashes: bytes) -> list[object]:
            said = ":".join([str(player.pk), by, *(each.hex() for each in hashes)])
            return [player.pk, by, list(hashes), credentials.proof_here("identity", said)]

        for hashes in (other, []):
            refused(self.CONFIRM, *confirm("register:another", *hashes), by="SB087")
        by_staff = str(a_member_of_staff("support"))
        refused(self.CONFIRM, *confirm(by_staff, *other), by="SB085")
        send(self.CONFIRM, *confirm(by_staff))
        send(self.CONFIRM, *confirm("register:another", *other))
        assert Trait.objects.filter(player=player, ground=Ground.PERSON).count() == 2

    def test_begins_no_deposit_of_somebody_unknown_or_excluded(self):
        begin = (
            "INSERT INTO wallet_payment SELECT (jsonb_populate_record(p, jsonb_build_object("
            "'id', gen_random_uuid(), 'token', gen_random_uuid(), 'player_id', %s::bigint))).* FROM wallet_payment AS p"
        )
        known, unknown, paused = a_player(), a_player(is_known=False), a_player()
        deposits.begin(player=known, amount=500_00, key=uuid4())
        exclusions.pause(player=paused, by=str(paused))
        for player in (unknown, paused):
            refused(begin, player.pk, by="SB086")
        assert Payment.objects.count() == 1

    def test_finds_nobody_different_in_the_name_of_staff_who_may_not(self):
        first, second = a_confirmed(), a_confirmed(AGAIN)
        exclusions.pause(player=first, by=str(first))
        differ = (
            "UPDATE players_duplicate SET resolution = 'different', resolved_by_id = %s, resolved_at = '2001-01-01'"
            " WHERE first_id = %s"
        )
        refused(differ, a_member_of_staff("finance").pk, first.pk, by="SB082")
        assert why(second) is Code.OTHER_ACCOUNT
        by = a_member_of_staff("support").pk
        send(differ, by, first.pk)
        assert why(second) is None
        refused(differ, by, first.pk, by="23001")
        for change in ("resolved_at = now()", "resolution = '', resolved_by_id = NULL, resolved_at = NULL"):
            refused(f"UPDATE players_duplicate SET {change} WHERE first_id = %s", first.pk, by="23001")


def test_a_newcomer_has_no_identity():
    player = registration.register(
        email="n@example.com",
        password=None,
        jurisdiction=Jurisdiction.objects.get(pk="SE"),
        currency="SEK",
        birth_date=BORN,
        language="en",
        ip=None,
    )
    accounts.open_accounts(player)
    found = eligibility.check_deposit(player)
    assert found is not None
    assert found.code is Code.IDENTITY
