"""Likely duplicates of one person: detection, concurrent registrations, and the work of staff."""

from datetime import date
from functools import partial
from io import StringIO
from threading import Barrier

import pytest
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse

from players import cases, encryption
from players.identity import duplicates
from players.identity.uploads import check_upload
from players.models import (
    Case,
    CaseAction,
    CaseEntry,
    CaseKind,
    Duplicate,
    Ground,
    Player,
    Resolution,
    Trait,
)
from tests.builders import a_player, a_submission
from tests.harness.databases import Database
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.players.papers import pdf, picture
from tests.wallet.test_at_once import at_once

HOME = {"street": "Storgatan 12 B", "postal_code": "111 22", "city": "Malmö"}


def found(player: Player) -> set[str]:
    """Return the grounds on which *player* may be a duplicate."""
    return {flag.ground for pair in duplicates.pairs_of(player) for flag in pair.flags}


@pytest.mark.django_db
class TestGrounds:
    @pytest.mark.parametrize(
        ("one", "other"),
        sample(
            [
                (
                    {"given_names": "Åsa Maria", "family_name": "Öberg"},
                    {"given_names": "MARIA ASA", "family_name": "oberg"},
                ),
                (
                    {"given_names": "Jürgen", "family_name": "Müller"},
                    {"given_names": "Juergen", "family_name": "MUELLER"},
                ),
                (
                    {"given_names": "Ștefan", "family_name": "Popescu"},
                    {"given_names": "Popescu", "family_name": "Stefan"},
                ),
            ],
            1,
        ),
        ids=["accents and order", "machine-readable", "swapped"],
    )
    def test_the_same_name_and_date_of_birth(self, one, other):
        first, second = a_player(), a_player()
        a_submission(first, **one)
        a_submission(second, **other)
        assert found(first) == found(second) == {Ground.NAME}

    @pytest.mark.sweep
    def test_the_same_name_of_people_born_on_other_days_is_nothing(self):
        first, second = a_player(), a_player()
        second.birth_date = date(1991, 1, 1)
        a_submission(first, given_names="Anna", family_name="Svensson")
        a_submission(second, given_names="Anna", family_name="Svensson")
        assert found(second) == set()

    def test_the_same_document_number(self):
        first, second = a_player(), a_player()
        a_submission(first, document_number="AB 123-456")
        a_submission(second, document_number="ab123456")
        assert found(second) == {Ground.NUMBER}

    @pytest.mark.sweep
    def test_the_same_telephone_number(self):
        first, second = a_player(), a_player()
        a_submission(first, phone="+46701234567")
        a_submission(second, phone="+46701234567")
        assert found(second) == {Ground.PHONE}

    @pytest.mark.sweep
    def test_the_same_address_and_last_name(self):
        first, second, neighbour = a_player(), a_player(), a_player()
        a_submission(first, family_name="Öberg", **HOME)
        a_submission(second, family_name="OBERG", street="storgatan 12b", postal_code="11122", city="MALMO")
        a_submission(neighbour, family_name="Lindqvist", **HOME)
        assert found(second) == {Ground.ADDRESS}
        assert found(neighbour) == set()

    @pytest.mark.parametrize("kind", ["picture", "PDF"])
    def test_the_same_picture_or_file(self, kind):
        first, second = a_player(), a_player()
        one, other = (
            (picture("ME", kind="PNG"), picture("ME", kind="PNG", compress_level=1))
            if kind == "picture"
            else (pdf("ME"), pdf("ME"))
        )
        duplicates.keep(first, [(Ground.PICTURE, check_upload(one).sight)])
        duplicates.keep(second, [(Ground.PICTURE, check_upload(other).sight)])
        assert found(second) == {Ground.PICTURE}

    def test_the_same_account_to_be_paid_to(self):
        first, second = a_player(), a_player()
        duplicates.note(player=first, ground=Ground.PAYOUT, value="SE45 5000 0000 0583 9825 7466")
        duplicates.note(player=second, ground=Ground.PAYOUT, value="se4550000000058398257466")
        assert found(second) == {Ground.PAYOUT}

    def test_nobody_has_nothing_in_common(self):
        first, second = a_player(), a_player()
        a_submission(first)
        a_submission(second)
        assert found(second) == set()


@pytest.mark.django_db
class TestFlags:
    @pytest.mark.sweep
    def test_the_first_to_register_comes_first_whatever_the_order_of_documents(self):
        first, second = a_player(), a_player()
        a_submission(second, document_number="SAME1234")
        a_submission(first, document_number="SAME1234")
        (pair,) = duplicates.pairs_of(second)
        assert (pair.first, pair.second) == (first, second)

    def test_are_in_the_log_without_what_was_the_same(self):
        first, second = a_player(), a_player()
        a_submission(first, document_number="SAME1234")
        a_submission(second, document_number="SAME1234")
        (event,) = events("duplicate.found", on=str(second))
        assert event["data"] == {"other": str(first), "ground": "number"}

    def test_are_made_once(self):
        first, second = a_player(), a_player()
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
        assert Duplicate.objects.filter(second=second).count() == 1
        assert duplicates.search_all() == 0

    def test_are_keyed_hashes(self, settings):
        player = a_player()
        a_submission(player, document_number="SAME1234")
        kept = bytes(Trait.objects.get(player=player, ground=Ground.NUMBER).fingerprint)
        assert kept == encryption.fingerprint("number", b"SAME1234")
        settings.DOCUMENT_KEY = "A" * 43 + "="
        assert kept != encryption.fingerprint("number", b"SAME1234")

    @pytest.mark.sweep
    def test_everyone_can_be_searched_again(self):
        """Data stored by an older comparison is stored and compared again."""
        first, second = a_player(), a_player()
        a_submission(first, document_number="SAME1234")
        as_owner("DELETE FROM players_trait WHERE player_id = %s", [first.pk])
        a_submission(second, document_number="SAME1234")
        assert found(second) == set()
        said = StringIO()
        call_command("find_duplicates", stdout=said)
        assert said.getvalue() == "1 new flag\n"
        assert found(second) == {Ground.NUMBER}

    @pytest.mark.parametrize(
        "change", ["DELETE FROM players_duplicate", "UPDATE players_duplicate SET ground = 'name'"]
    )
    def test_nobody_who_works_here_unmakes_one(self, change):
        with (
            connection.cursor() as cursor,
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
        ):
            cursor.execute(change)


@pytest.mark.django_db
class TestResolving:
    @pytest.fixture
    def pair(self) -> duplicates.Pair:
        first, second = a_player(), a_player()
        a_submission(first, document_number="SAME1234")
        a_submission(second, document_number="SAME1234")
        return duplicates.pairs_of(second)[0]

    def resolve(self, pair: duplicates.Pair, resolution: Resolution = Resolution.DIFFERENT) -> None:
        duplicates.resolve(
            first_id=pair.first.pk,
            second_id=pair.second.pk,
            shown=[flag.pk for flag in pair.open],
            resolution=resolution,
            note="Twins.",
            by=a_member_of_staff("support"),
        )

    def test_closes_what_was_shown(self, pair):
        assert [flag.second for flag in duplicates.waiting_flags()] == [pair.second]
        self.resolve(pair)
        assert not duplicates.waiting_flags()
        (now,) = duplicates.pairs_of(pair.second)
        assert not now.open
        assert not now.is_same
        (event,) = events("duplicate.resolved", on=str(pair.second))
        assert event["data"] == {"other": str(pair.first), "grounds": ["number"], "resolution": "different"}
        assert "Twins" not in str(event)

    @pytest.mark.sweep
    def test_leaves_open_what_was_found_since(self, pair):
        for player in (pair.first, pair.second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="LATER1234")
        self.resolve(pair)
        (now,) = duplicates.pairs_of(pair.second)
        assert [flag.ground for flag in now.open] == [Ground.PAYOUT]

    def test_is_done_once(self, pair):
        self.resolve(pair)
        with pytest.raises(duplicates.AlreadyResolved):
            self.resolve(pair, Resolution.SAME)

    @pytest.mark.sweep
    def test_the_last_finding_counts(self, pair):
        self.resolve(pair)
        for player in (pair.first, pair.second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="LATER1234")
        self.resolve(duplicates.pairs_of(pair.second)[0], Resolution.SAME)
        assert duplicates.pairs_of(pair.second)[0].is_same


class TestAtOnce:
    def test_searching_without_a_lock_nobody_sees_the_other(self, cloned_db: Database, monkeypatch):
        """The race: both have stored their common data, neither has committed, both search."""
        players = [a_player(), a_player()]
        have_kept, have_read = Barrier(2), Barrier(2)
        flag = duplicates._flag
        monkeypatch.setattr(duplicates, "hold_still", lambda: None)

        def search_when_both_have_kept(player: Player) -> int:
            have_kept.wait(timeout=30)
            flagged = flag(player)
            have_read.wait(timeout=30)
            return flagged

        monkeypatch.setattr(duplicates, "_flag", search_when_both_have_kept)
        at_once([partial(duplicates.note, player=player, ground=Ground.PHONE, value="1") for player in players])
        assert Duplicate.objects.count() == 0
        assert Trait.objects.count() == 2

    @pytest.mark.parametrize("many", sample([2, 6], 1))
    def test_the_lock_makes_the_later_one_see_the_earlier(self, cloned_db: Database, many):
        players = [a_player() for _ in range(many)]
        at_once([partial(a_submission, player, document_number="SAME1234") for player in players])
        assert Duplicate.objects.filter(ground=Ground.NUMBER).count() == many * (many - 1) // 2


@pytest.mark.django_db
class TestCase:
    """Each pair is a case of the later player, from the first ground to the finding."""

    def a_pair(self) -> tuple[Player, Player]:
        first, second = a_player(), a_player()
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PHONE, value="SAME1234")
        return first, second

    def resolve(self, second: Player, resolution: Resolution, before: str = "") -> None:
        (pair,) = duplicates.pairs_of(second)
        duplicates.resolve(
            first_id=pair.first.pk,
            second_id=pair.second.pk,
            shown=[flag.pk for flag in (pair.open or pair.flags)],
            resolution=resolution,
            note="Twins.",
            by=a_member_of_staff("support"),
            before=before,
        )

    def test_is_one_for_all_grounds_and_ends_with_the_finding(self):
        first, second = self.a_pair()
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="LATER1234")
        case = Case.objects.get()
        assert (case.player, case.kind, case.subject) == (second, CaseKind.DUPLICATE, str(first))
        self.resolve(second, Resolution.DIFFERENT)
        case.refresh_from_db()
        assert (case.outcome, bool(case.closed_by)) == ("different", True)
        self.resolve(second, Resolution.SAME, before="different")
        case.refresh_from_db()
        assert case.outcome == "same"
        entries = list(CaseEntry.objects.order_by("pk").values_list("action", "to"))
        assert [action for action, _ in entries] == ["opened", "noted", "closed", "reopened", "closed"]
        assert [to for action, to in entries if action == "closed"] == ["different", "same"]

    def test_a_ground_found_after_the_finding_is_another_case(self):
        first, second = self.a_pair()
        self.resolve(second, Resolution.DIFFERENT)
        for player in (first, second):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="LATER1234")
        assert Case.objects.filter(closed_at=None).count() == 1

    def test_is_worked_on_by_who_reviews_identities_and_closed_by_a_finding_only(self):
        _, second = self.a_pair()
        case, staff = Case.objects.get(player=second), a_member_of_staff("support")
        cases.act(case=case, action=CaseAction.ASSIGNED, by=staff, to=str(staff))
        with pytest.raises(cases.DoesNotFit):
            cases.act(case=case, action=CaseAction.CLOSED, by=staff, to="different", words="unseen")
        with pytest.raises(cases.MayNot):
            cases.act(case=case, action=CaseAction.NOTED, by=a_member_of_staff("finance"), words="x")
        desk = Client()
        desk.force_login(staff.user)
        page = desk.get(reverse("staff_case", args=[case.pk])).text
        assert page.count("Same telephone number") == 2  # the pair, and the history
        assert "Same telephone number" in desk.get(reverse("staff_duplicates")).text
        (flag,) = Duplicate.objects.all()
        address = reverse("staff_duplicate", args=[flag.first_id, flag.second_id])
        sent = {"shown": flag.pk, "resolution": "different", "note": "Twins.", "case": case.pk}
        answer = desk.post(address, sent, follow=True)
        assert answer.redirect_chain[-1][0] == reverse("staff_case", args=[case.pk])
        assert "Twins." in answer.text
