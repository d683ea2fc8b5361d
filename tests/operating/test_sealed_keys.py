"""The keys that seeds, second factors, documents, bank accounts and secrets of partners are sealed with are replaced
while the house plays: at every moment each row opens, and once the older key has gone everything goes on.
"""

import base64
import os
from itertools import pairwise
from uuid import uuid4

import psycopg
import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from cryptography.exceptions import InvalidTag
from django.core.management import CommandError
from django.db import connections, transaction

from audit.models import Event
from games.chemin import shoes as chemin_shoes
from games.engine.commitments import Purpose
from games.engine.shoe import commitment
from games.errors import CommitmentSpent
from games.models import Participation, Phase, Round, Shape, Shoe, ShoeEnding
from games.seeds import new_sealed_seed, unseal
from games.shared import shoes
from games.solo import solo_seat_at
from games.verification import service as recalling
from ops import reencryption
from ops.backup import activation
from ops.backup.errors import WrongKey
from players import encryption
from players.identity import duplicates, verification
from players.login import second_factor
from players.models import Document, DocumentContent, Ground, Trait
from players.search import by_trait
from tests.builders import a_player, a_round, a_seat, a_submission, a_table, a_verified_player
from tests.chemin.at_table import play_out
from tests.harness.killed import dies
from tests.live.at_table import a_live_table, advance_to, round_at
from tests.operating.house import MONEY, STAKE, an_evening, playing, said
from tests.people import a_member_of_staff, events
from tests.wallet.payout_builders import IBAN, an_account
from tests.wallet.studios import a_partner
from wallet.models import Mode, PartnerKey, PayoutAccount
from wallet.payouts import accounts
from wallet.seamless_wallet import signing


def a_key():
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


@pytest.fixture(autouse=True)
def in_no_hurry(monkeypatch):
    monkeypatch.setattr(reencryption, "PAUSE", 0.05)


@pytest.fixture
def change(settings):
    """Go the steps of docs/operating.md: both keys are known, then the new one seals, then it is alone."""

    def steps(name):
        old, new = getattr(settings, name), a_key()
        for keys in (f"{old},{new}", f"{new},{old}", new):
            setattr(settings, name, keys)
            yield keys

    return steps


def code_of(user):
    code = second_factor.code_of(user)
    assert code
    return code


def with_shelves(setting, *shelves):
    return {**reencryption.SHELVES, setting: shelves}


def open_seeds():
    """Every seed of a shoe that is not over, by its shoe; raises where one does not open."""
    open_shoes = Shoe.objects.filter(ended_at=None)
    return {shoe.pk: unseal(Purpose.SHOE, shoe.pk, bytes(shoe.sealed_seed)) for shoe in open_shoes}


class TestSeedKey:
    @pytest.mark.sweep
    def test_is_replaced_while_others_play(self, cloned_db, change, settings):
        evening = an_evening()
        staff = a_member_of_staff("operator").user
        with second_factor.belonging_to(staff.pk):
            codes = RecoveryCodes.activate(staff).get_unused_codes()
        last = Round.objects.filter(participation__player=evening.regular).latest("pk")
        seeds = open_seeds()
        both, turned, alone = change("SEED_KEY")
        settings.SEED_KEY = both
        with playing(evening.solo):
            assert set(open_seeds().values()) & set(seeds.values())
            settings.SEED_KEY = turned
            words = said("reseal")
            assert "SEED_KEY: " in words
            assert "Nothing needs the older keys: take them out, on every machine." in words
            settings.SEED_KEY = alone
        now = open_seeds()
        assert {number: seed for number, seed in now.items() if number in seeds} == {
            number: seed for number, seed in seeds.items() if number in now
        }
        assert "SEED_KEY is the right key." in activation.demand_right()

        play_goes_on(evening)
        assert second_factor.accepts(staff, code_of(staff))
        assert second_factor.accepts(staff, codes[0])
        assert not second_factor.accepts(staff, codes[0])
        recalled = recalling.verify_round(last.pk)
        assert recalled
        assert not recalled.differences

        nothing_of_it_is_told([*seeds.values(), *now.values()])

    def test_is_replaced_at_once_where_somebody_knows_it_and_nothing_that_it_opened_is_dealt(
        self, cloned_db, change, settings
    ):
        """*A seed key is known*, from 2 to 4, in docs/operating.md: all programs are stopped."""
        evening = an_evening()
        staff = a_member_of_staff("operator").user
        with second_factor.belonging_to(staff.pk):
            RecoveryCodes.activate(staff)
        known = set(open_seeds().values())
        assert len(known) > 3
        _, settings.SEED_KEY, alone = change("SEED_KEY")
        connections.close_all()
        said("after_restore")
        assert "Nothing needs the older keys" in said("reseal")
        settings.SEED_KEY = alone
        assert "SEED_KEY is the right key." in activation.demand_right()
        assert not known & set(open_seeds().values())
        committed = solo_seat_at(player=evening.regular, table_id=evening.solo.pk, mode=Mode.REAL).commitment
        played = a_round(evening.regular, evening.solo, player=1_000)
        assert Round.objects.get(pk=played.round_id).commitment == committed
        assert second_factor.accepts(staff, code_of(staff))

    @pytest.mark.sweep
    def test_is_still_needed_until_all_is_sealed_anew(self, cloned_db, change, settings):
        a_live_table()
        both, turned, alone = change("SEED_KEY")
        settings.SEED_KEY = alone
        with pytest.raises(InvalidTag):
            open_seeds()
        assert "1 open with none of the keys" in said("reseal")
        settings.SEED_KEY = turned
        assert "open shoes: 1 sealed again, 0 that no key opens." in said("reseal")
        (told,) = events("keys.resealed")
        assert told["data"] == {"key": "SEED_KEY", "lost": 0, "rows": 1}
        assert "SEED_KEY: 0 sealed again. Nothing needs the older keys" in said("reseal")
        settings.SEED_KEY = alone
        assert "SEED_KEY names one key, and all that is sealed opens with it." in said("reseal")
        assert both != alone

    def test_each_row_opens_wherever_it_was_killed(self, cloned_db, change, settings, monkeypatch):
        """Before every statement of the owner's, of which there is one a batch; it is begun again from where it was."""
        for number in range(4):
            round_at(a_live_table(slug=f"live-{number}"))
        one_by_one = tuple(replaced(each, at_once=1) for each in reencryption.SHELVES["SEED_KEY"])
        monkeypatch.setattr(reencryption, "SHELVES", {"SEED_KEY": one_by_one})
        monkeypatch.setattr(reencryption, "SETTINGS", ["SEED_KEY"])
        seeds = open_seeds()
        _, turned, alone = change("SEED_KEY")
        settings.SEED_KEY = turned
        number, under_the_new = 1, []
        while dies(lambda: said("reseal"), "before", number, through="owner"):
            number += 1
            assert open_seeds() == seeds
            under_the_new.append(sum(opens_with(alone, settings)))
        assert number > 8
        assert under_the_new == sorted(under_the_new)
        assert {0, 1, 2, 3} <= set(under_the_new)
        said("reseal")
        settings.SEED_KEY = alone
        assert open_seeds() == seeds

    def test_a_row_that_play_holds_is_left_until_it_is_free(self, cloned_db, change, settings, monkeypatch):
        shoe = round_at(a_live_table()).shoe
        monkeypatch.setattr(reencryption, "PASSES", 2)
        _, turned, alone = change("SEED_KEY")
        settings.SEED_KEY = turned
        with psycopg.connect(cloned_db.web_url) as player:
            player.execute("SELECT FROM games_shoe WHERE id = %s FOR UPDATE", [shoe.pk])
            with pytest.raises(CommandError, match="Not everything is under the first key yet"):
                said("reseal")
        assert "1 sealed again" in said("reseal")
        settings.SEED_KEY = alone
        assert open_seeds()

    def test_a_seed_that_was_sealed_anew_meanwhile_is_not_put_back(
        self, cloned_db, owner, change, settings, monkeypatch
    ):
        """Between the reading of a batch and its writing somebody else seals it again."""
        shoe = round_at(a_live_table()).shoe
        _, settings.SEED_KEY, alone = change("SEED_KEY")
        shelf, *others = reencryption.SHELVES["SEED_KEY"]
        theirs = shelf.resealed(shoe.pk, bytes(shoe.sealed_seed))

        def late(number, sealed):
            new = shelf.resealed(number, sealed)
            if new:
                owner.execute("UPDATE games_shoe SET sealed_seed = %s", [theirs])
            return new

        monkeypatch.setattr(reencryption, "SHELVES", with_shelves("SEED_KEY", replaced(shelf, resealed=late), *others))
        said("reseal")
        settings.SEED_KEY = alone
        assert bytes(Shoe.objects.get().sealed_seed) == theirs
        assert open_seeds()


def replaced(shelf, **changes):
    return reencryption.Shelf(**(vars(shelf) | changes))


def opens_with(keys, settings):
    before, settings.SEED_KEY = settings.SEED_KEY, keys
    try:
        for number, sealed in Shoe.objects.values_list("pk", "sealed_seed"):
            try:
                unseal(Purpose.SHOE, number, bytes(sealed))
            except InvalidTag:
                yield False
            else:
                yield True
    finally:
        settings.SEED_KEY = before


def play_goes_on(evening):
    """At every kind of table, with what was committed to before."""
    seat = solo_seat_at(player=evening.regular, table_id=evening.solo.pk, mode=Mode.REAL)
    committed = seat.commitment
    played = a_round(evening.regular, evening.solo, player=1_000)
    assert Round.objects.get(pk=played.round_id).commitment == committed
    for phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT):
        before = round_at(evening.tables[phase]).shoe_id
        settled = advance_to(evening.tables[phase], Phase.SETTLED)
        assert settled.shoe_id == before
        assert Participation.objects.filter(round=settled.pk, player=evening.bettors[phase], staked=STAKE).exists()
    for live_table in (evening.drawn, evening.staked):
        coup = round_at(live_table).pk
        play_out(live_table)
        assert Participation.objects.filter(round=coup).exists()
    for shoe in Shoe.objects.filter(ended_at=None).select_related("live_table__table"):
        of_guests = shoe.live_table.table.shape == Shape.CHEMIN
        assert not (chemin_shoes.demand_in_order if of_guests else shoes.dealt_otherwise)(shoe)
    sound = round_at(evening.tables[Phase.BETTING]).shoe
    with transaction.atomic():
        malfunction_free(sound.live_table)
        shoes.end(sound, ShoeEnding.RETIRED)
    sound.refresh_from_db()
    assert sound.seed is not None


def malfunction_free(live_table):
    """Have the round that has opened meanwhile played, so that its shoe may end."""
    if round_at(live_table).phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT):
        advance_to(live_table, Phase.SETTLED)


def nothing_of_it_is_told(seeds):
    """No seed is in the log before it is spent, nor in what was said while it was sealed anew."""
    for body in Event.objects.filter(kind="keys.resealed").values_list("body", flat=True):
        assert not any(seed.hex().encode() in bytes(body) for seed in seeds)
    unspent = set(open_seeds().values())
    whole = b"".join(bytes(body) for body in Event.objects.values_list("body", flat=True))
    assert not any(seed.hex().encode() in whole for seed in unspent)


def test_processes_that_are_a_step_apart_read_each_other(settings):
    """One machine is started again after the other: never does one seal what the next cannot open."""
    old, new = a_key(), a_key()
    steps = [old, f"{old},{new}", f"{new},{old}", new]
    for one, other in [*pairwise(steps), *pairwise(reversed(steps))]:
        settings.SEED_KEY = settings.DOCUMENT_KEY = settings.PARTNER_KEY = one
        seed, place = new_sealed_seed(Purpose.SHOE), (encryption.Purpose.DOCUMENT, 1, uuid4())
        content = encryption.seal(*place, b"a passport")
        with second_factor.belonging_to(1):
            secret = second_factor.MFAAdapter().encrypt("JBSWY3DP")
        key = PartnerKey(partner_id=1, name="sabot-1", sealed=signing.new_sealed(1, "sabot-1"))
        mark = encryption.fingerprint("number", b"SAME1234")
        settings.SEED_KEY = settings.DOCUMENT_KEY = settings.PARTNER_KEY = other
        assert commitment(unseal(Purpose.SHOE, seed.round_id, seed.sealed)) == seed.commitment
        assert encryption.unseal(*place, content) == b"a passport"
        with second_factor.belonging_to(1):
            assert second_factor.MFAAdapter().decrypt(secret) == "JBSWY3DP"
        assert signing.secret_of(key)
        assert mark in encryption.fingerprints("number", b"SAME1234")


class TestWhoCannotSwapSeeds:
    """The database does not see a seed; what is put in another's place no key opens there."""

    def test_the_log_in_of_web_and_workers_changes_no_shoe(self, cloned_db):
        shoe = round_at(a_live_table()).shoe
        with psycopg.connect(cloned_db.web_url, autocommit=True) as web:
            for column in ("sealed_seed = sealed_seed", "commitment = commitment"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    web.execute(f"UPDATE games_shoe SET {column} WHERE id = %s", [shoe.pk])
            for table in ("wallet_partner_key", "wallet_payout_account", "players_documentcontent"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    web.execute(f"UPDATE {table} SET sealed = sealed")

    def test_the_owner_swaps_those_of_two_places_and_neither_is_dealt(self, cloned_db, owner):
        one, other, table = a_player(real=MONEY), a_player(real=MONEY), a_table()
        first, second = a_seat(one, table, player=1_000), a_seat(other, table, player=1_000)
        swap = (
            "UPDATE games_soloseat AS it SET sealed_seed = that.sealed_seed, commitment = that.commitment"
            " FROM games_soloseat AS that WHERE (it.id, that.id) IN ((%(a)s, %(b)s), (%(b)s, %(a)s))"
        )
        both = {"a": first.pk, "b": second.pk}
        web = psycopg.connect(cloned_db.web_url, autocommit=True)
        with web, pytest.raises(psycopg.errors.InsufficientPrivilege):
            web.execute(swap, both)
        owner.execute(swap, both)
        for player in (one, other):
            with pytest.raises(CommitmentSpent, match="foreign"):
                a_round(player, table)
        assert not Participation.objects.filter(player__in=(one, other)).exists()

    def test_nor_does_the_owner_change_more_than_the_ciphertext(self, cloned_db, owner):
        one, other = (round_at(a_live_table(slug=slug)).shoe for slug in ("one", "other"))
        for change in (
            "sealed_seed = sealed_seed || '\\x00'",
            "sealed_seed = ''",
            "sealed_seed = set_byte(sealed_seed, 0, 1 + get_byte(sealed_seed, 0) %% 200), gone = gone + 1",
            "sealed_seed = set_byte(sealed_seed, 0, 1 + get_byte(sealed_seed, 0) %% 200), commitment = repeat('0', 64)",
        ):
            with pytest.raises(psycopg.errors.RestrictViolation):
                owner.execute(f"UPDATE games_shoe SET {change} WHERE id = %s", [one.pk])
        owner.execute(
            "UPDATE games_shoe SET sealed_seed = (SELECT sealed_seed FROM games_shoe WHERE id = %s) WHERE id = %s",
            [other.pk, one.pk],
        )
        assert not shoes.is_sound(Shoe.objects.get(pk=one.pk))
        assert shoes.is_sound(other)


class TestDocumentKey:
    def test_is_replaced_and_whoever_is_the_same_person_is_found_all_the_time(self, cloned_db, change, settings):
        known = a_player()
        submission = a_submission(known, document_number="SAME1234")
        account = an_account(a_verified_player(), IBAN)
        shown = {pk: verification.view_document(pk)[1] for pk in Document.objects.values_list("pk", flat=True)}
        assert shown
        for step, keys in enumerate(change("DOCUMENT_KEY")):
            settings.DOCUMENT_KEY = keys
            meanwhile = a_player()
            a_submission(meanwhile, document_number="SAME1234")
            flags = [flag for pair in duplicates.pairs_of(meanwhile) for flag in pair.flags]
            assert Ground.NUMBER in {flag.ground for flag in flags}, step
            again = an_account(account.player, IBAN)
            assert again.pk == account.pk
            assert account.player_id in {hit.player_id for hit in by_trait(Ground.PAYOUT, [IBAN], 0, 10)}
            assert accounts.reveal(PayoutAccount.objects.get(pk=account.pk)) == IBAN
            for pk, content in shown.items():
                assert verification.view_document(pk)[1] == content
            if step == 1:
                words = said("reseal")
                assert "documents: " in words
                assert "bank accounts: 1 sealed again" in words
                assert "DOCUMENT_KEY: hashes of " in words
                assert "cannot be made again, since pictures are not kept as they came" in words
        assert "DOCUMENT_KEY is the right key." in activation.demand_right()
        assert submission.player == known
        numbers = Trait.objects.filter(ground=Ground.NUMBER)
        assert numbers.count() == numbers.values("fingerprint", "player").distinct().count() == 5

    def test_an_account_that_was_kept_twice_at_once_stays_readable(self, cloned_db, change, settings):
        """By two processes, one of which did not know the new key as the first yet."""
        player = a_verified_player()
        both, turned, alone = change("DOCUMENT_KEY")
        settings.DOCUMENT_KEY = alone
        newer = an_account(player, IBAN)
        settings.DOCUMENT_KEY = both.split(",")[0]
        older = an_account(player, IBAN)
        assert newer != older
        settings.DOCUMENT_KEY = turned
        said("reseal")
        settings.DOCUMENT_KEY = alone
        for each in (newer, older):
            assert accounts.reveal(PayoutAccount.objects.get(pk=each.pk)).startswith("SE")
        assert an_account(player, IBAN) == newer

    def test_a_document_that_is_deleted_meanwhile_stays_deleted(self, cloned_db, change, settings, monkeypatch):
        a_submission(a_player())
        _, settings.DOCUMENT_KEY, _ = change("DOCUMENT_KEY")
        shelf, *others = reencryption.SHELVES["DOCUMENT_KEY"]

        def late(owner, number, sealed):
            DocumentContent.objects.filter(pk=number).delete()
            return shelf.resealed(owner, number, sealed)

        monkeypatch.setattr(
            reencryption, "SHELVES", with_shelves("DOCUMENT_KEY", replaced(shelf, resealed=late), *others)
        )
        said("reseal")
        assert not DocumentContent.objects.exists()


class TestPartnerKey:
    def test_is_replaced_and_partners_notice_nothing(self, cloned_db, change, settings):
        key = PartnerKey.objects.get(partner=a_partner())
        secret = signing.secret_of(key)
        for keys in change("PARTNER_KEY"):
            settings.PARTNER_KEY = keys
            assert signing.secret_of(PartnerKey.objects.get(pk=key.pk)) == secret
            said("reseal")  # at the first step it has nothing to do
        assert signing.secret_of(PartnerKey.objects.get(pk=key.pk)) == secret

    def test_nor_does_the_owner_change_more_than_the_ciphertext(self, cloned_db, owner):
        key = PartnerKey.objects.get(partner=a_partner())
        for change in ("sealed = ''", "name = 'other'", "sealed = set_byte(sealed, 0, 1), shown_at = now()"):
            with pytest.raises(psycopg.errors.RestrictViolation):
                owner.execute(f"UPDATE wallet_partner_key SET {change} WHERE id = %s", [key.pk])


def test_somebody_else_s_key_is_refused_as_before(cloned_db, settings):
    a_seat(a_player(), a_table())
    round_at(a_live_table())
    settings.SEED_KEY = f"{a_key()},{a_key()}"
    with pytest.raises(WrongKey, match="SEED_KEY is not the right key"):
        activation.demand_right()
