"""The keys that second factors, documents, bank accounts and secrets of partners are sealed with are replaced while the
house plays: at every moment each row can be decrypted, and everything works after the older key is removed.
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

from games.errors import CommitmentSpent
from games.models import Participation
from ops import reencryption
from ops.backup import activation
from ops.backup.pg_tools import WrongKey
from players import encryption
from players.identity import duplicates, verification
from players.login import second_factor
from players.models import Document, DocumentContent, Ground, Trait
from players.search import by_trait
from tests.builders import a_player, a_round, a_seat, a_submission, a_table, a_verified_player
from tests.harness.killed import dies
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, round_at
from tests.operating.house import MONEY, playing, said
from tests.people import a_member_of_staff, events
from tests.wallet.payout_builders import IBAN, an_account
from tests.wallet.studios import a_partner
from wallet.models import PartnerKey, PayoutAccount
from wallet.payouts import accounts
from wallet.seamless_wallet import signing


def a_key():
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


@pytest.fixture(autouse=True)
def in_no_hurry(monkeypatch):
    monkeypatch.setattr(reencryption, "PAUSE", 0.05)


@pytest.fixture
def change(settings):
    """Follow docs/operating.md: both keys are configured, then the new one encrypts, then the old one is removed."""

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


class TestSecondFactorKey:
    @pytest.fixture
    def staff(self, cloned_db):
        return a_member_of_staff("operator").user

    @pytest.fixture
    def codes(self, staff):
        with second_factor.belonging_to(staff.pk):
            return RecoveryCodes.activate(staff).get_unused_codes()

    @pytest.mark.sweep
    def test_gli19_b_6_3_is_replaced_while_others_play_and_each_code_counts_at_every_step(
        self, staff, codes, change, settings
    ):
        table = a_table()
        with playing(table):
            for step, keys in enumerate(change("SECOND_FACTOR_KEY")):
                settings.SECOND_FACTOR_KEY = keys
                assert second_factor.accepts(staff, codes[step])
                assert not second_factor.accepts(staff, codes[step])
                if step == 1:
                    words = said("reseal")
                    assert "SECOND_FACTOR_KEY: second factors: 2 sealed again, 0 that no key opens." in words
                    assert "Nothing needs the older keys: take them out, on every machine." in words
        assert second_factor.accepts(staff, code_of(staff))
        assert "SECOND_FACTOR_KEY is the right key." in activation.demand_right()

    def test_is_still_needed_until_all_is_sealed_again(self, staff, change, settings):
        _, turned, alone = change("SECOND_FACTOR_KEY")
        settings.SECOND_FACTOR_KEY = alone
        with pytest.raises(InvalidTag):
            second_factor.code_of(staff)
        assert "1 open with none of the keys" in said("reseal")
        settings.SECOND_FACTOR_KEY = turned
        assert "second factors: 1 sealed again, 0 that no key opens." in said("reseal")
        (stated,) = events("keys.resealed")
        assert stated["data"] == {"key": "SECOND_FACTOR_KEY", "lost": 0, "rows": 1}
        assert "SECOND_FACTOR_KEY: 0 sealed again. Nothing needs the older keys" in said("reseal")
        settings.SECOND_FACTOR_KEY = alone
        assert "SECOND_FACTOR_KEY names one key, and all that is sealed opens with it." in said("reseal")
        assert second_factor.accepts(staff, code_of(staff))

    def test_a_factor_that_a_log_in_holds_is_left_until_it_is_free(
        self, cloned_db, staff, change, settings, monkeypatch
    ):
        monkeypatch.setattr(reencryption, "PASSES", 2)
        _, turned, alone = change("SECOND_FACTOR_KEY")
        settings.SECOND_FACTOR_KEY = turned
        with psycopg.connect(cloned_db.web_url) as log_in:
            log_in.execute("SELECT FROM mfa_authenticator WHERE user_id = %s FOR UPDATE", [staff.pk])
            with pytest.raises(CommandError, match="Not everything is under the first key yet"):
                said("reseal")
        assert "1 sealed again" in said("reseal")
        settings.SECOND_FACTOR_KEY = alone
        assert second_factor.accepts(staff, code_of(staff))


def replaced(shelf, **changes):
    return reencryption.Shelf(**(vars(shelf) | changes))


def test_processes_that_are_a_step_apart_read_each_other(settings):
    """One machine is started again after the other: no machine encrypts a value that the other cannot decrypt."""
    old, new = a_key(), a_key()
    steps = [old, f"{old},{new}", f"{new},{old}", new]
    for one, other in [*pairwise(steps), *pairwise(reversed(steps))]:
        settings.SECOND_FACTOR_KEY = settings.DOCUMENT_KEY = settings.PARTNER_KEY = one
        place = encryption.Purpose.DOCUMENT, 1, uuid4()
        content = encryption.seal(*place, b"a passport")
        with second_factor.belonging_to(1):
            secret = second_factor.MFAAdapter().encrypt("JBSWY3DP")
        key = PartnerKey(partner_id=1, name="sabot-1", sealed=signing.new_sealed(1, "sabot-1"))
        cursor = encryption.fingerprint("number", b"SAME1234")
        settings.SECOND_FACTOR_KEY = settings.DOCUMENT_KEY = settings.PARTNER_KEY = other
        assert encryption.unseal(*place, content) == b"a passport"
        with second_factor.belonging_to(1):
            assert second_factor.MFAAdapter().decrypt(secret) == "JBSWY3DP"
        assert signing.secret_of(key)
        assert cursor in encryption.fingerprints("number", b"SAME1234")


class TestWhoCannotSwap:
    """No key decrypts a value that was moved to another row."""

    def test_the_log_in_of_web_and_workers_changes_no_shoe_and_nothing_sealed(self, cloned_db):
        shoe = round_at(a_live_table()).shoe
        with psycopg.connect(cloned_db.web_url, autocommit=True) as web:
            for column in ("seed = seed", "commitment = commitment"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    web.execute(f"UPDATE games_shoe SET {column} WHERE id = %s", [shoe.pk])
            for table in ("wallet_partner_key", "wallet_payout_account", "players_documentcontent"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    web.execute(f"UPDATE {table} SET sealed = sealed")

    def test_the_owner_swaps_those_of_two_seats_and_neither_is_dealt(self, cloned_db, owner):
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


class TestDocumentKey:
    def test_is_replaced_and_duplicates_are_found_all_the_time(self, cloned_db, change, settings):
        known = a_player()
        submission = a_submission(known, document_number="SAME1234")
        account = an_account(a_verified_player(), IBAN)
        shown = {pk: verification.view_document(pk)[1] for pk in Document.objects.values_list("pk", flat=True)}
        assert shown
        for step, keys in enumerate(change("DOCUMENT_KEY")):
            settings.DOCUMENT_KEY = keys
            in_between = a_player()
            a_submission(in_between, document_number="SAME1234")
            flags = [flag for pair in duplicates.pairs_of(in_between) for flag in pair.flags]
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

    def test_a_document_deleted_in_the_meantime_stays_deleted(self, cloned_db, change, settings, monkeypatch):
        a_submission(a_player())
        _, settings.DOCUMENT_KEY, _ = change("DOCUMENT_KEY")
        shelf, *others = reencryption.SHELVES["DOCUMENT_KEY"]
        as_owner("DROP TRIGGER players_documentcontent_is_kept ON players_documentcontent")

        def late(owner, number, sealed):
            as_owner("DELETE FROM players_documentcontent WHERE document_id = %s", [str(number)])
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

    def test_each_row_opens_wherever_it_was_killed(self, cloned_db, change, settings, monkeypatch):
        """Before every statement of the owner's, of which there is one a batch; it is begun again from where it was."""
        for _ in range(4):
            a_partner()
        one_by_one = tuple(replaced(each, at_once=1) for each in reencryption.SHELVES["PARTNER_KEY"])
        monkeypatch.setattr(reencryption, "SHELVES", {"PARTNER_KEY": one_by_one})
        monkeypatch.setattr(reencryption, "SETTINGS", ["PARTNER_KEY"])
        secrets = open_secrets()
        _, turned, alone = change("PARTNER_KEY")
        settings.PARTNER_KEY = turned
        number, under_the_new = 1, []
        while dies(lambda: said("reseal"), "before", number, through="owner"):
            number += 1
            assert open_secrets() == secrets
            under_the_new.append(sum(opens_with(alone, settings)))
        assert number > 8
        assert under_the_new == sorted(under_the_new)
        assert {0, 1, 2, 3} <= set(under_the_new)
        said("reseal")
        settings.PARTNER_KEY = alone
        assert open_secrets() == secrets

    def test_a_row_that_somebody_holds_is_left_until_it_is_free(self, cloned_db, change, settings, monkeypatch):
        key = PartnerKey.objects.get(partner=a_partner())
        monkeypatch.setattr(reencryption, "PASSES", 2)
        _, turned, alone = change("PARTNER_KEY")
        settings.PARTNER_KEY = turned
        with psycopg.connect(cloned_db.owner_url) as somebody:
            somebody.execute("SELECT FROM wallet_partner_key WHERE id = %s FOR UPDATE", [key.pk])
            with pytest.raises(CommandError, match="Not everything is under the first key yet"):
                said("reseal")
        assert "1 sealed again" in said("reseal")
        settings.PARTNER_KEY = alone
        assert open_secrets()

    def test_a_secret_sealed_again_in_the_meantime_is_not_restored(
        self, cloned_db, owner, change, settings, monkeypatch
    ):
        """Between the reading of a batch and its writing, another process encrypts it again."""
        key = PartnerKey.objects.get(partner=a_partner())
        _, settings.PARTNER_KEY, alone = change("PARTNER_KEY")
        shelf, *_webhooks = reencryption.SHELVES["PARTNER_KEY"]
        theirs = shelf.resealed(key.partner_id, key.name, bytes(key.sealed))

        def late(partner, name, sealed):
            new = shelf.resealed(partner, name, sealed)
            if new:
                owner.execute("UPDATE wallet_partner_key SET sealed = %s", [theirs])
            return new

        monkeypatch.setattr(reencryption, "SHELVES", with_shelves("PARTNER_KEY", replaced(shelf, resealed=late)))
        said("reseal")
        settings.PARTNER_KEY = alone
        assert bytes(PartnerKey.objects.get().sealed) == theirs
        assert open_secrets()

    def test_nor_does_the_owner_change_more_than_the_ciphertext(self, cloned_db, owner):
        key = PartnerKey.objects.get(partner=a_partner())
        for change in ("sealed = ''", "name = 'other'", "sealed = set_byte(sealed, 0, 1), shown_at = now()"):
            with pytest.raises(psycopg.errors.RestrictViolation):
                owner.execute(f"UPDATE wallet_partner_key SET {change} WHERE id = %s", [key.pk])


def open_secrets():
    """Return every secret shared with a partner, by its key; raises an error if one cannot be decrypted."""
    return {key.pk: signing.secret_of(key) for key in PartnerKey.objects.all()}


def opens_with(keys, settings):
    before, settings.PARTNER_KEY = settings.PARTNER_KEY, keys
    try:
        for key in PartnerKey.objects.all():
            try:
                signing.secret_of(key)
            except InvalidTag:
                yield False
            else:
                yield True
    finally:
        settings.PARTNER_KEY = before


def test_somebody_else_s_key_is_refused(cloned_db, settings):
    a_member_of_staff("support")
    settings.SECOND_FACTOR_KEY = f"{a_key()},{a_key()}"
    with pytest.raises(WrongKey, match="SECOND_FACTOR_KEY is not the right key"):
        activation.demand_right()
