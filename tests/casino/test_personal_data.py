"""All data about a player can be exported by the player, and is erased when the law allows it."""

import csv
import io
import json
import zipfile
from typing import Any

import psycopg
import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model
from django.db.utils import IntegrityError, ProgrammingError

from accounts import data_export, retention
from accounts.retention import erase_due
from audit import log
from audit.models import Event, Personal
from games.engine.chemin import Phase as TablePhase
from games.models import ChipSet, FavouriteBet, FavouriteTable, LiveTable, PlayReason, PlayReport, Table
from players import cases
from players import staff as notes
from players.account import closures, registration
from players.models import (
    Case,
    CaseAction,
    CaseEntry,
    CaseKind,
    ClosureState,
    Contact,
    ContactWay,
    Note,
    Player,
    PlayerTag,
    SearchWord,
    Session,
    Topic,
    User,
    WordField,
)
from players.support import conversations
from tests.ageing import age
from tests.builders import PASSWORD, a_player, a_round, a_table, a_verified_player
from tests.chemin.at_table import a_chemin_table, a_seat_as_owner, a_staked_coup, seated_players, step_to
from tests.harness.databases import Database
from tests.people import a_member_of_staff, a_visitor, events
from tests.players.test_sessions import a_browser
from tests.wallet.money_moves import cash
from tests.wallet.payout_builders import IBAN, an_account
from wallet.invariants import verify
from wallet.models import PayoutAccount
from wallet.payouts import accounts


def export(player: Player) -> dict[str, bytes]:
    """Return the files of the export, by name."""
    archive = zipfile.ZipFile(io.BytesIO(b"".join(data_export.export(player))))
    assert archive.testzip() is None
    return {name: archive.read(name) for name in archive.namelist()}


def rows(player: Player, name: str) -> list[dict[str, Any]]:
    """Return one list of the export."""
    return list(json.loads(export(player)[f"{name}.json"]))


@pytest.mark.django_db
class TestTheExport:
    def test_has_every_table_that_points_to_a_player_or_a_log_in(self):
        pointing = {model for model in apps.get_models() if _points_to_someone(model)}
        shown = {part.model for part in data_export.PARTS}
        assert pointing - shown == set(data_export.LEFT_OUT)
        assert not shown & set(data_export.LEFT_OUT)

    @pytest.mark.sweep
    def test_shows_which_staff_accessed_the_data_and_not_from_where(self):
        player, visitor = a_player(), a_visitor(HTTP_USER_AGENT="of the house")
        visitor.force_login(a_member_of_staff("support").user)
        visitor.get(f"/staff/players/{player.pk}/")
        (look,) = (row for row in rows(player, "events") if row["kind"] == "data.accessed")
        assert look["by"].startswith("staff:")
        assert look["personal"] == {}

    @pytest.mark.sweep
    def test_can_read_every_part(self):
        assert {f"{part.name}.json" for part in data_export.PARTS} <= set(export(a_player()))

    def test_tells_rounds_bets_money_and_log(self):
        player, table = a_verified_player(real=100_000), a_table()
        played = a_round(player, table, player=1000, tie=1000)
        (profile,) = rows(player, "profile")
        assert profile["user__email"] == player.user.email
        (one,) = rows(player, "rounds")
        assert one["round_id"] == str(played.round_id)
        assert {bet["bet"] for bet in rows(player, "bets")} == {"player", "tie"}
        assert sum(entry["amount"] for entry in rows(player, "movements") if entry["mode"] == "R") > 0
        (settled,) = (event for event in rows(player, "events") if event["kind"] == "round.settled")
        assert json.loads(settled["body"])["kind"] == "round.settled"

    @pytest.mark.sweep
    def test_tells_personal_values_with_their_events(self):
        player = a_player()
        registration.record_failed_login(email=player.user.email, ip="10.1.2.3")
        log.record("x.y", by=str(player), on="somewhere", data={}, personal={"ip": "10.9.9.9"})
        assert {"ip": "10.9.9.9"} in [event["personal"] for event in rows(player, "events")]

    @pytest.mark.sweep
    def test_tells_what_was_done_at_chemin_tables_and_no_other_player(self):
        table = a_chemin_table()
        players = seated_players(table)
        banker, punter = a_staked_coup(table)
        step_to(table, TablePhase.OFFER, TablePhase.CHOICE)
        assert [row["amount"] for row in rows(punter, "decisions in coups") if row["kind"] == "lay_stake"] == [4_000]
        assert [row["stake"] for row in rows(punter, "stakes in coups")] == [4_000]
        assert [row["put_up"] for row in rows(banker, "banks held")] == [10_000]
        assert len(rows(banker, "coups as banker")) == 1
        (seat,) = rows(players[2], "seats at Chemin de Fer tables")
        assert seat["number"] == 3
        assert {row["player_id"] for row in rows(players[2], "stakes in coups")} == set()

    @pytest.mark.sweep
    def test_has_each_list_as_csv_too(self):
        player = a_player(real=1000)
        read = list(csv.DictReader(io.StringIO(export(player)["movements.csv"].decode())))
        assert [int(row["amount"]) for row in read] == [row["amount"] for row in rows(player, "movements")]

    @pytest.mark.sweep
    def test_tells_the_numbers_of_bank_accounts_whole(self):
        player = a_player()
        kept = an_account(player, IBAN)
        assert rows(player, "bank account numbers") == [{"id": str(kept.pk), "iban": IBAN}]

    def test_tells_nothing_of_anyone_else(self):
        player, other = a_player(real=1000), a_player(real=1000)
        a_browser(other.user)
        text = b"".join(export(player).values()).decode()
        assert other.user.email not in text
        assert {row["player_id"] for row in rows(player, "agreements")} == {player.pk}

    def test_gives_away_no_key_or_secret(self):
        names = {name for part in data_export.PARTS for name in part.columns}
        assert not names & {"password", "sealed_seed", "sealed", "data", "token", "fingerprint", "seed"}

    def test_makes_no_formulas_of_what_somebody_wrote(self):
        assert data_export._cell("=1+1") == "'=1+1"

    def test_is_a_download_on_record(self):
        player = a_player()
        answer = a_browser(player.user).post("/en/account/data/sabot.zip")
        assert answer["Content-Type"] == "application/zip"
        assert zipfile.ZipFile(io.BytesIO(answer.getvalue())).testzip() is None
        (event,) = events("personal.exported")
        assert event["by"] == event["on"] == str(player)

    @pytest.mark.sweep
    def test_reads_a_long_history_in_batches(self, monkeypatch):
        player = a_player()
        monkeypatch.setattr(data_export, "BATCH", 3)
        for number in range(10):
            log.record("x.y", by=str(player), on="somewhere", data={"number": number})
        assert len([event for event in rows(player, "events") if event["kind"] == "x.y"]) == 10

    def test_is_for_players_only(self):
        assert "account/login" in a_visitor().get("/en/account/data/")["Location"]


def _points_to_someone(model: type[Model]) -> bool:
    return any(field.related_model in (Player, User) and field.concrete for field in model._meta.get_fields()) and (
        model._meta.auto_created is False
    )


@pytest.fixture
def gone(cloned_db: Database, owner: psycopg.Connection) -> Player:
    """A player whose account was closed longer ago than the retention time."""
    player = a_verified_player(real=100_000)
    a_round(player, a_table(), player=1000)
    a_browser(player.user)
    accounts.keep(player=player, iban=IBAN)
    conversations.begin(player=player, topic=Topic.QUESTION, text="My name is Somebody Else.")
    log.record("x.y", by=str(player), on=str(player), data={}, personal={"name": "Somebody"})
    with transaction.atomic():
        closures.begin(player=player, ip="10.1.1.1")
    closures.finish(player=player, by="system")
    return player


def a_seat(table: LiveTable, player: Player) -> dict[str, Any]:
    """Return the fields of a seat at a Chemin de Fer table, numbered after the player."""
    return {"live_table": table, "number": player.pk % 1000, "player": player, "account_id": cash(player)}


def bodies() -> dict[int, bytes]:
    """Return the bodies of all events, by event."""
    return {event: bytes(body) for event, body in Event.objects.values_list("pk", "body")}


class TestErasure:
    def test_waits_as_long_as_the_law_has_the_house_keep_it(self, gone, owner):
        age(owner, "players_closure", "at", 5 * 365)
        erase_due()
        assert closures.state_of(gone) is ClosureState.CLOSED
        with pytest.raises(IntegrityError, match="not closed for long enough"):
            retention.erase(gone)

    def test_then_forgets_whose_it_was(self, gone, owner):
        email = gone.user.email
        before, personal = bodies(), Personal.objects.count()
        assert personal
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        after = bodies()
        assert {number: after[number] for number in before} == before
        (event,) = events("personal.erased")
        assert event["on"] == str(gone)
        assert event["data"]["values"] > 0
        text = b"".join(export(gone).values()).decode()
        assert email not in text
        assert '"name": "Somebody"' not in text
        assert "10.1.1.1" not in text
        assert {json.dumps(row["personal"]) for row in rows(gone, "events")} == {"{}"}
        gone.refresh_from_db()
        assert (gone.birth_date.month, gone.birth_date.day) == (1, 1)
        assert not Session.objects.filter(user=gone.user_id).exclude(ip="", browser="").exists()
        assert not EmailAddress.objects.filter(user=gone.user_id).exists()

    def test_forgets_the_numbers_of_bank_accounts_and_keeps_that_there_were_some(self, gone, owner):
        (kept,) = PayoutAccount.objects.filter(player=gone)
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        (left,) = PayoutAccount.objects.filter(player=gone)
        assert (left.pk, left.country, left.last_four, bytes(left.sealed)) == (kept.pk, "SE", "", b"")
        assert bytes(left.fingerprint) != bytes(kept.fingerprint)
        assert IBAN not in b"".join(export(gone).values()).decode()

    def test_forgets_what_staff_wrote_of_contacts_and_flags_and_keeps_that_there_were_some(self, gone, owner):
        cases.open_case(gone.pk, CaseKind.MARKER, subject="nights")
        case, staff = Case.objects.get(player=gone), a_member_of_staff("support")
        Contact.objects.create(case=case, staff=staff, made_at=case.opened_at, way=ContactWay.PHONE, said="Her mother")
        cases.act(case=case, action=CaseAction.CLOSED, by=staff, to="talked", words="Moved house")
        with (
            pytest.raises(IntegrityError, match="never changed before"),
            transaction.atomic(),
            connection.cursor() as c,
        ):
            c.execute("SELECT players_forget_markers(%s)", [gone.pk])
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        (contact,), (kept,) = Contact.objects.all(), CaseEntry.objects.filter(action=CaseAction.CLOSED)
        assert (contact.said, contact.way, kept.text, kept.to) == ("", "phone", "", "talked")

    def test_forgets_what_staff_noted_and_the_words_they_find_people_by(self, gone, owner):
        note = notes.add(player=gone, text="Her mother called.", restricted=True, by=a_member_of_staff("compliance"))
        assert SearchWord.objects.filter(player=gone, field=WordField.NAME, word="ada").exists()
        with (
            pytest.raises(IntegrityError, match="never changed before"),
            transaction.atomic(),
            connection.cursor() as c,
        ):
            c.execute("SELECT players_forget_notes(%s)", [gone.pk])
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        (kept,) = Note.objects.filter(player=gone)
        assert (kept.text, kept.by_id, kept.at) == ("", note.by_id, note.at)
        assert not notes.notes(gone, restricted_too=True)
        assert not SearchWord.objects.filter(player=gone).exists()
        for action in ("UPDATE players_note SET text = 'another'", "DELETE FROM players_note", "TRUNCATE players_note"):
            with pytest.raises(psycopg.errors.RestrictViolation):
                owner.execute(action)
        with pytest.raises(psycopg.errors.CheckViolation, match="says something"):
            owner.execute(
                "INSERT INTO players_note (player_id, by_id, text, restricted)"
                " SELECT player_id, by_id, '  ', false FROM players_note"
            )

    def test_forgets_the_tags_of_the_player_and_of_nobody_else(self, gone, owner):
        by, other = a_member_of_staff("compliance"), a_player()
        with connection.cursor() as cursor:
            cursor.execute("SELECT players_make_tag(%s, 'Watch')", [by.pk])
            (tag,) = cursor.fetchone()
            for player in (gone, other):
                cursor.execute("SELECT players_tag_player(%s, %s, %s, true)", [by.pk, player.pk, tag])
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        assert [each.player for each in PlayerTag.objects.all()] == [other]

    @pytest.mark.sweep
    def test_forgets_what_players_arranged_for_themselves_and_called_as_they_liked(self, gone, owner):
        other = a_player()
        for player in (gone, other):
            FavouriteBet.objects.create(player=player, variant="no_commission", name="For Bo", stakes={"tie": 100})
            FavouriteTable.objects.create(player=player, table=Table.objects.get())
            ChipSet.objects.create(player=player, chips=[100])
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        for arranged in (FavouriteBet, FavouriteTable, ChipSet):
            assert [each.player for each in arranged.objects.all()] == [other]

    def test_forgets_the_words_of_reports_of_how_players_play_and_keeps_that_there_were_some(self, gone, owner):
        table, other = a_chemin_table(), a_player(real=1000)
        theirs, own = (a_seat_as_owner(**a_seat(table, player)) for player in (other, gone))
        for reporter, seat in ((gone, theirs), (other, own), (other, theirs)):
            PlayReport.objects.create(
                live_table=table, reporter=reporter, seat=seat, reason=PlayReason.SIGNS, text="It is Ada", note="seen"
            )
        refused = pytest.raises(IntegrityError, match="is not erased")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT games_forget_reports(%s)", [gone.pk])
        assert [row["text"] for row in rows(gone, "reports of other players")] == ["It is Ada"]
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        kept = PlayReport.objects.order_by("pk").values_list("text", "note")
        assert list(kept) == [("", ""), ("", ""), ("It is Ada", "seen")]

    @pytest.mark.sweep
    def test_gli19_a_4_4_leaves_what_was_written_to_the_house_its_five_years(self, gone, owner):
        assert rows(gone, "customer service messages")[0]["text"] == "My name is Somebody Else."
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        assert rows(gone, "customer service messages")
        age(owner, "players_conversation", "changed_at", 6 * 366)
        age(owner, "players_servicemessage", "at", 6 * 366)
        conversations.forget_old()
        assert rows(gone, "customer service messages") == rows(gone, "customer service") == []

    def test_breaks_no_record_that_stays(self, gone, owner):
        played = len(rows(gone, "rounds"))
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        assert len(rows(gone, "rounds")) == played == 1
        assert not [check.invariant.name for check in verify.run() if check.rows]

    def test_happens_once(self, gone, owner):
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        erase_due()
        assert len(events("personal.erased")) == 1
        assert closures.state_of(gone) is ClosureState.ERASED

    def test_spares_everyone_else(self, gone, owner):
        other = a_player()
        log.record("x.y", by=str(other), on=str(other), data={}, personal={"name": "Other"})
        age(owner, "players_closure", "at", 5 * 366)
        erase_due()
        assert "Other" in export(other)["events.json"].decode()
        assert other.user.email in export(other)["profile.json"].decode()


@pytest.mark.django_db
class TestTheDatabase:
    def test_lets_nobody_erase_past_its_own_function(self):
        for statement in ("DELETE FROM audit_personal", "SELECT audit_erase('player:1')"):
            with (
                pytest.raises(ProgrammingError, match="permission denied"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement)

    def test_keeps_bank_accounts_of_players_it_has_not_erased(self):
        player = a_player()
        accounts.keep(player=player, iban=IBAN)
        with pytest.raises(IntegrityError, match="stays as it is"), transaction.atomic():
            accounts.forget(player)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            PayoutAccount.objects.update(last_four="")

    def test_forgets_nobody_whose_account_is_open(self):
        player = a_player(password=PASSWORD)
        with pytest.raises(IntegrityError, match="not closed for long enough"), transaction.atomic():
            closures.forget(player)
