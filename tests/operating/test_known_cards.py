"""A copy of the database is older than the house, which has played on: a reader of those cards would know what the copy
deals. A naive copy has no key of the dealer's and deals nothing; one that is settled deals none of them.
"""

import subprocess
from datetime import timedelta

import psycopg
import pytest
from django.test import Client
from django.urls import reverse

from games.chemin.state.table_state import cards_on_table
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.deals import shoe_binding
from games.errors import PlayError
from games.models import Incident, LiveTable, Phase, Round, Shoe
from games.rounds.database_refusals import NotDealt
from games.rounds.integrity import WrongCard
from games.shared import malfunction, phases, shoes
from games.solo import play_round, solo_seat_at
from games.verification import verification_task
from ops.backup.activation import FURTHER
from ops.embedded import binaries
from players.models import ApiToken, Session
from tests.builders import a_player, a_seat, a_table
from tests.chemin.at_table import MONEY as PLAYER_MONEY
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, a_session, chemin_of, seated_players, sit
from tests.harness import databases
from tests.harness.dealer import dealing, the_dealer
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step
from tests.operating.house import MONEY, backed_up, naive_copy, restored, said
from tests.people import a_member_of_staff, last_mail
from tests.players.test_tokens import a_token
from wallet.models import Mode

SOME_TRANSACTIONS = 2_000  # more than it takes to restore
LATEST = "SELECT max(id) FROM players_staff_change WHERE user_id = %s"
AHEAD = """
UPDATE players_staff_change SET xid = (pg_current_xact_id()::text::bigint + %s)::text::xid8 WHERE id = %s
"""
COUNTS = "SELECT players_staff_changes(user_id, kind) FROM players_staff_change WHERE id = %s"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "house.dump"


class TestASoloTable:
    """The next round of each place is committed to before its bets."""

    @pytest.fixture
    def seat(self, cloned_db, file):
        table = a_table()
        player = a_player(real=MONEY)
        seat = a_seat(player, table, banker=5_000)
        backed_up(file)
        return seat

    @pytest.mark.sweep
    def test_a_naive_copy_takes_no_cards(self, seat, file):
        play(seat)
        with naive_copy(file), pytest.raises(NotDealt, match="nothing proves that the dealer dealt round"):
            play(seat)

    def test_a_settled_one_has_committed_to_other_cards_and_knows_nothing_of_that_round(self, seat, file):
        play(seat)
        with restored(file) as words:
            assert "Solo seats whose next round is replaced when the table is opened: 1." in words
            with pytest.raises(PlayError):
                play(seat)
            made_again = solo_seat_at(player=seat.player, table_id=seat.table_id, mode=Mode.REAL)
            assert (made_again.slip, made_again.commitment == seat.commitment) == ({"banker": 5_000}, False)
            assert play(made_again).commitment == made_again.commitment
            assert not Round.objects.filter(pk=seat.round_id).exists()


def play(seat):
    """Play the round that is committed to there, and return it."""
    played = play_round(
        player=seat.player,
        table_id=seat.table_id,
        mode=Mode.REAL,
        round_id=seat.round_id,
        slip_version=seat.slip_version,
    )
    return Round.objects.get(pk=played.round_id)


class TestALiveTable:
    """All cards of a shoe are committed to when it is opened."""

    @pytest.fixture
    def live_table(self, cloned_db, file):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=25_000)
        backed_up(file)
        return live_table

    @pytest.mark.sweep
    def test_a_naive_copy_is_given_no_cards(self, live_table, file):
        advance_to(live_table, Phase.DEALT)
        with naive_copy(file):
            advance_to(live_table, Phase.CLOSED)
            hurry(live_table)
            assert not phases.advance(live_table.pk)
            assert Incident.objects.get().live_round == round_at(live_table)

    def test_a_settled_one_has_put_that_shoe_away(self, live_table, file):
        before = round_at(live_table)
        advance_to(live_table, Phase.DEALT)
        with restored(file) as words:
            assert "0 rounds settled that were dealt, 1 cancelled that were not, 1 shoes retired." in words
            assert round_at(live_table).phase == Phase.VOID
            assert Shoe.objects.get(pk=before.shoe_id).ending == "retired"
            assert advance_to(live_table, Phase.BETTING).shoe_id != before.shoe_id

    def test_its_seed_is_published_where_the_dealer_has_it(self, live_table, file):
        advance_to(live_table, Phase.DEALT)
        with restored(file):
            shoe = Shoe.objects.get(live_table=live_table)
            assert "The dealer has been asked for its seed" in page_of(shoe)
            verification_task.publish_seeds()
            shoe.refresh_from_db()
            seed = bytes(shoe.seed or b"")
            assert seed.hex() in page_of(shoe)
            assert shoe_binding(shoe).commitment(seed) == shoe.commitment
            assert not Incident.objects.exists()

    def test_it_stays_without_one_where_the_dealer_has_lost_it_and_the_next_shoe_is_played(
        self, live_table, file, another_dealer, settings, monkeypatch
    ):
        settings.DEALER = another_dealer
        with restored(file):
            shoe = Shoe.objects.get(live_table=live_table)
            verification_task.publish_seeds()
            assert not Incident.objects.exists()
            bettor = a_player(real=MONEY)
            advance_to(live_table, Phase.BETTING)
            bet(bettor, live_table, player=25_000)
            assert advance_to(live_table, Phase.SETTLED).shoe_id != shoe.pk
            monkeypatch.setattr(Shoe, "SEED_ASKED_FOR", timedelta(0))  # a day later
            assert shoes.unpublished() == []
            assert "Its seed was lost, so it cannot be published." in page_of(shoe)

    def test_no_backup_has_the_seed_of_a_shoe_in_play(self, live_table, file, tmp_path):
        advance_to(live_table, Phase.DEALT)
        shoe = Shoe.objects.get(live_table=live_table)
        seed = the_dealer().shoes.of(shoe_binding(shoe)).seed
        again = backed_up(tmp_path / "again.dump")
        read = [str(binaries.client("pg_restore")), "--file=-", str(again)]
        whole = subprocess.run(read, capture_output=True, check=True, text=True).stdout
        assert shoe.commitment in whole
        assert seed.hex() not in whole


@pytest.fixture
def another_dealer(settings, tmp_path):
    """The dealer with the keys of the run, on a disk that has none of its shoes; gives its address."""
    at = tmp_path / "later"
    with dealing(Dealer(Keys.opened(settings.VAR_DIR / "dealer"), tmp_path / "shoes"), at):
        yield str(at)


def page_of(shoe):
    return Client().get(reverse("shoe", args=[shoe.pk])).text


class TestALiveTableThatIsStopped:
    """A round that is dealt and awaits a ruling cannot be settled before it; its shoe is put away with the next one."""

    @pytest.fixture
    def live_table(self, cloned_db, file):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=25_000)
        malfunction.report(round_id=advance_to(live_table, Phase.DEALT).pk, cause="a card was seen", by="staff:1")
        backed_up(file)
        return live_table

    @pytest.mark.sweep
    def test_goes_on_with_another_shoe(self, live_table, file):
        with restored(file) as words:
            live_round, incident = round_at(live_table), Incident.objects.get()
            assert f"is stopped over round {live_round.code}, which is dealt and awaits a ruling." in words
            malfunction.let_stand(incident_id=incident.pk, reason="nothing was seen", by="staff:2")
            with pytest.raises(malfunction.MalfunctionError, match="stays stopped until its round has ended"):
                malfunction.reopen(live_table_id=live_table.pk, reason="all is well", by="staff:2")
            assert step(live_table).phase == Phase.SETTLED
            malfunction.reopen(live_table_id=live_table.pk, reason="all is well", by="staff:2")
            assert Shoe.objects.get(pk=live_round.shoe_id).ending == "retired"
            assert advance_to(live_table, Phase.BETTING).shoe_id != live_round.shoe_id


class TestATableOfChemin:
    """So it is where players play each other; also, a person who is asked for a card would know which one comes."""

    @pytest.fixture
    def live_table(self, cloned_db, file):
        live_table = a_chemin_table()
        seated_players(live_table)
        a_dealt_coup(live_table)
        backed_up(file)
        return live_table

    @pytest.mark.sweep
    def test_a_naive_copy_has_no_card_of_the_coup_in_progress(self, live_table, file):
        """It has no key of the dealer, under which they are sealed."""
        frozen = chemin_of(live_table).state
        assert cards_on_table(frozen, LiveTable.objects.get(pk=live_table.pk).shoe)
        with naive_copy(file), pytest.raises(WrongCard):
            cards_on_table(frozen, LiveTable.objects.get(pk=live_table.pk).shoe)

    def test_a_settled_one_has_put_that_shoe_away_and_sent_the_players_home(self, live_table, file):
        with restored(file):
            shoe = Shoe.objects.get(live_table=live_table)
            assert (shoe.ending, chemin_of(live_table).tenure, chemin_of(live_table).sale_id) == ("retired", None, None)
            verification_task.publish_seeds()
            assert Shoe.objects.get(pk=shoe.pk).seed
            assert not Incident.objects.exists()
            assert not live_table.chemin_seats.filter(left_at=None).exists()
            newcomer = a_player(real=PLAYER_MONEY)
            sit(newcomer, live_table)


class TestALogIn:
    """Sessions that ended after the backup would be valid again in the copy."""

    @pytest.fixture
    def session(self, cloned_db, file):
        session = a_session(a_player())
        backed_up(file)
        return session

    @pytest.mark.sweep
    def test_runs_on_in_a_naive_copy(self, session, file):
        with naive_copy(file):
            assert Session.objects.get(pk=session).ended_at is None

    @pytest.mark.sweep
    def test_is_over_in_a_settled_one(self, session, file):
        with restored(file) as words:
            assert "Sessions ended: 1." in words
            assert Session.objects.get(pk=session).why == "ended by the house"


class TestAToken:
    """Tokens that were revoked after the backup would be valid again in the copy."""

    @pytest.fixture
    def token(self, cloned_db, file):
        token, _key = a_token(a_player().user)
        backed_up(file)
        return token

    @pytest.mark.sweep
    def test_holds_in_a_naive_copy(self, token, file):
        with naive_copy(file):
            assert ApiToken.objects.get(pk=token.pk).revoked_at is None

    @pytest.mark.sweep
    def test_is_revoked_in_a_settled_one_and_its_owner_informed(self, token, file):
        with restored(file) as words:
            assert "API tokens revoked: 1." in words
            assert ApiToken.objects.get(pk=token.pk).revoked_at
            assert "Chart" in last_mail(token.user.email, "token_revoked").body


class TestANumberOfATransaction:
    """A change of staff counts in its own transaction only, which is known by a number of the server."""

    @pytest.fixture
    def change(self, cloned_db, owner, file):
        """A change whose transaction number this server has not reached yet, like one from an older server."""
        number = owner.execute(LATEST, [a_member_of_staff("operator").user_id]).fetchone()[0]
        owner.execute("ALTER TABLE players_staff_change DISABLE TRIGGER USER")
        owner.execute(AHEAD, [SOME_TRANSACTIONS, number])
        owner.execute("ALTER TABLE players_staff_change ENABLE TRIGGER USER")
        backed_up(file)
        return number

    @pytest.mark.sweep
    def test_is_that_of_another_transaction_in_a_naive_copy(self, change, file):
        with naive_copy(file) as copy, psycopg.connect(copy.owner_url, autocommit=True) as owner:
            assert counts_when_its_number_comes(owner, change)

    @pytest.mark.sweep
    def test_belongs_to_no_other_in_a_settled_one(self, change, file):
        with databases.empty("settled") as copy:
            said("restore", str(file))
            with psycopg.connect(copy.owner_url, autocommit=True) as owner:
                assert number_of(owner, change) > FURTHER
                assert not counts_when_its_number_comes(owner, change)
                before = number_of(owner, change)
                said("after_restore")
                assert number_of(owner, change) == before


def number_of(owner, change):
    return int(owner.execute("SELECT xid::text FROM players_staff_change WHERE id = %s", [change]).fetchone()[0])


def counts_when_its_number_comes(owner, change):
    """Run transactions, and return whether the change counts in the one that has its number."""
    number = number_of(owner, change) % FURTHER
    while int(owner.execute("SELECT pg_current_xact_id()::text").fetchone()[0]) < number - 1:
        pass
    with owner.transaction(force_rollback=True):
        assert owner.execute("SELECT pg_current_xact_id()::text").fetchone() == (str(number),)
        return owner.execute(COUNTS, [change]).fetchone()[0]
