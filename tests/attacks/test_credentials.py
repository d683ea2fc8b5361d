"""Statements that the role of web and workers sends about passwords, addresses, second factors and
tokens without our code.

Each is refused without a proof, and succeeds once the trigger is dropped.
"""

import hmac
import json
from uuid import uuid4

import psycopg
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth.hashers import make_password
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from ops.checks import check_credentials_key
from players.api import tokens
from players.login import credentials, second_factor
from players.models import ApiToken, Scope, User
from tests.builders import a_player
from tests.casino.test_checks import ANOTHER_KEY, GOOD_KEY
from tests.harness.owner import as_owner
from tests.people import PASSWORD, a_member_of_staff, a_visitor, log_in

NOT_PROVEN = "SB084"
TRIGGERS = {
    "players_user": "players_user_is_proven",
    "mfa_authenticator": "players_factor_is_proven",
    "account_emailaddress": "players_address_is_proven",
    "players_api_token": "players_api_token_is_proven",
}


def send(statement, *values):
    """Run a statement as the login role, and return its rows. Raises DatabaseError."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1
        return cursor.fetchall() if cursor.description else []


def refused(statement, *values, by=NOT_PROVEN):
    """Demand that the database refuses a statement with this SQLSTATE."""
    with pytest.raises(DatabaseError) as error:
        send(statement, *values)
    assert isinstance(error.value.__cause__, psycopg.Error)
    assert error.value.__cause__.sqlstate == by


def guarded_by(table, statement, *values):
    """Demand that the trigger alone refuses a statement."""
    refused(statement, *values)
    as_owner("SET CONSTRAINTS ALL IMMEDIATE")  # with checks that wait, PostgreSQL alters no table
    as_owner(f"DROP TRIGGER {TRIGGERS[table]} ON {table}")
    send(statement, *values)


@pytest.fixture
def player(db):
    found = a_player(password=PASSWORD)
    second_factor.give(found.user)
    with second_factor.belonging_to(found.user.pk):
        RecoveryCodes.activate(found.user)
    return found


@pytest.fixture
def supervisor(db):
    found = a_member_of_staff("supervisor", password=PASSWORD)
    with second_factor.belonging_to(found.user.pk):
        RecoveryCodes.activate(found.user)
    return found


class TestWithoutAProof:
    def test_a_supervisor_does_not_get_the_password_of_a_player(self, player, supervisor):
        theirs = "UPDATE players_user SET password = (SELECT password FROM players_user WHERE id = %s) WHERE id = %s"
        visitor = a_visitor()
        guarded_by("players_user", theirs, player.user_id, supervisor.user_id)
        log_in(visitor, supervisor.user)
        assert visitor.session.get("account_login")  # the password was right: the second factor is asked for

    @pytest.mark.parametrize("kind", ["totp", "recovery_codes"])
    def test_a_supervisor_does_not_get_the_second_factor_of_a_player(self, player, supervisor, kind):
        data = Authenticator.objects.values_list("data", flat=True)
        swapped = "UPDATE mfa_authenticator SET data = %s WHERE user_id = %s AND type = %s"
        mine = json.dumps(data.get(user=player.user, type=kind))
        guarded_by("mfa_authenticator", swapped, mine, supervisor.user_id, kind)
        assert data.get(user=supervisor.user, type=kind) == data.get(user=player.user, type=kind)

    def test_nobody_gets_another_second_factor(self, player, supervisor):
        copied = (
            "INSERT INTO mfa_authenticator (user_id, type, data, created_at)"
            " SELECT %s, 'webauthn', data, now() FROM mfa_authenticator WHERE user_id = %s AND type = 'totp'"
        )
        guarded_by("mfa_authenticator", copied, supervisor.user_id, player.user_id)

    def test_nobody_loses_one(self, player):
        guarded_by(
            "mfa_authenticator", "DELETE FROM mfa_authenticator WHERE user_id = %s AND type = 'totp'", player.user_id
        )

    def test_the_address_to_which_a_new_password_is_mailed_stays(self, supervisor):
        guarded_by("players_user", "UPDATE players_user SET email = 'x@example.com' WHERE id = %s", supervisor.user_id)

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE account_emailaddress SET email = 'x@example.com' WHERE user_id = %s",
            "UPDATE account_emailaddress SET verified = NOT verified WHERE user_id = %s",
            "DELETE FROM account_emailaddress WHERE user_id = %s",
            """INSERT INTO account_emailaddress (email, verified, "primary", user_id)
            VALUES ('x@example.com', true, false, %s)""",
        ],
    )
    def test_the_addresses_of_a_log_in_stay(self, supervisor, statement):
        guarded_by("account_emailaddress", statement, supervisor.user_id)

    def test_an_address_stays_with_its_user(self, player, supervisor):
        given = "UPDATE account_emailaddress SET user_id = %s WHERE user_id = %s"
        refused(given, player.user_id, supervisor.user_id, by="23001")

    def test_nobody_plays_with_a_token_of_somebody_else(self, player):
        made = (
            "INSERT INTO players_api_token (user_id, name, start, digest, scopes, per_minute, ends_at, used_from)"
            " VALUES (%s, 'x', 'x', sha256('mine'), '{play}', 60, now() + interval '1 day', '')"
        )
        guarded_by("players_api_token", made, player.user_id)

    @pytest.mark.parametrize("column", ["is_superuser", "is_active", "is_demo"])
    def test_what_gives_power_is_not_changed(self, supervisor, column):
        switch = f"UPDATE players_user SET {column} = NOT {column} WHERE id = %s"
        refused(switch, supervisor.user_id, by="42501")

    @pytest.mark.parametrize("table", ["players_credential", "players_credential_key", "players_credential_permit"])
    def test_nobody_reads_what_proofs_are_made_with(self, db, table):
        refused(f"SELECT * FROM {table}", by="42501")
        refused(f"DELETE FROM {table}", by="42501")


def message_of(user, change):
    ((message,),) = send("SELECT players_credential_message(%s, %s::jsonb)", user.pk, json.dumps(change))
    return message


def permit(user, change, proof):
    return ("SELECT players_permit_change(%s, %s::jsonb, %s)", user.pk, json.dumps(change), proof)


class TestAProof:
    def test_is_an_hmac_as_python_makes_it(self, db):
        for length in (1, 32, 63, 64):
            key, message = bytes(range(7, 7 + length)), uuid4().bytes * length
            pads = [credentials._combined(key, pad) for pad in (0x36, 0x5C)]
            ((found,),) = send("SELECT players_hmac(%s, %s, %s)", *pads, message)
            assert bytes(found) == hmac.digest(key, message, "sha256")

    def test_is_for_one_change_of_one_user_and_accepted_once(self, player, supervisor):
        change = ["password", make_password("another one entirely")]
        proof = credentials.proof(message_of(player.user, change))
        for user, other in ((supervisor.user, change), (player.user, ["email", "x@example.com"])):
            refused(*permit(user, other, proof))
        for wrong in (b"", bytes(32), None):
            refused(*permit(player.user, change, wrong))
        send(*permit(player.user, change, proof))
        refused(*permit(player.user, change, proof))

    def test_that_was_seen_brings_no_earlier_password_back(self, player):
        earlier = ["password", make_password("the first of two")]
        proof = credentials.proof(message_of(player.user, earlier))
        number = int(message_of(player.user, earlier).split(":")[1])
        player.user.password = earlier[1]
        player.user.save()
        player.user.set_password("the second of two")
        player.user.save()
        set_back = "UPDATE players_user SET password = %s WHERE id = %s"
        refused(*permit(player.user, earlier, proof))
        refused(set_back, earlier[1], player.user_id)
        as_owner("UPDATE players_credential SET version = %s WHERE user_id = %s", [number, player.user_id])
        send(*permit(player.user, earlier, proof))
        send(set_back, earlier[1], player.user_id)

    @pytest.mark.parametrize("change", ["pid = pid + 1", "at = at - interval '61 seconds'"])
    def test_permits_nothing_on_another_connection_or_later(self, player, change):
        credentials.prove(player.user_id, ["email", "x@example.com"], "default")
        as_owner(f"UPDATE players_credential_permit SET {change}")
        refused("UPDATE players_user SET email = 'x@example.com' WHERE id = %s", player.user_id)

    def test_under_another_key_is_refused(self, player, settings):
        settings.CREDENTIALS_KEY = GOOD_KEY
        player.user.set_password("another one entirely")
        with pytest.raises(credentials.WrongCredentialsKey), transaction.atomic():
            player.user.save()

    def test_costs_two_statements_for_one_change_and_none_for_no_change(self, player, django_assert_num_queries):
        user = User.objects.get(pk=player.user_id)
        user.last_login = timezone.now()
        with django_assert_num_queries(1):
            user.save(update_fields=["last_login"])
        held = Authenticator.objects.get(user=user, type="totp")
        with django_assert_num_queries(1):
            held.record_usage()
        with django_assert_num_queries(2 + 2 + 1):  # two in a separate savepoint
            held.save(update_fields=["data"])


class TestTheProduct:
    def test_changes_all_rows(self, player):
        user = player.user
        user.set_password("another one entirely")
        user.email = "next@example.com"
        user.save()
        assert User.objects.get(pk=user.pk).check_password("another one entirely")
        held = Authenticator.objects.get(user=user, type="totp")
        held.data = {**held.data, "spent_step": 3, "viewed_at": 1732724400.1234567, "name": 'Mönch "\\ \t ☃'}
        held.save()
        held.refresh_from_db()
        assert held.data["spent_step"] == 3
        Authenticator.objects.filter(user=user).delete()
        assert not Authenticator.objects.filter(user=user).exists()
        EmailAddress.objects.filter(user=user).delete()
        EmailAddress.objects.create(user=user, email="next@example.com", verified=True, primary=True)
        assert ApiToken.objects.filter(user=user).count() == 0
        tokens.make(user=user, name="mine", scopes=[Scope.READ], days=30, ip="192.0.2.1")
        assert ApiToken.objects.filter(user=user).count() == 1


class TestKeys:
    def test_are_replaced_without_a_pause(self, cloned_db, settings):
        user, owner = a_player(password=PASSWORD).user, connections["owner"]
        old = settings.CREDENTIALS_KEY

        def is_accepted():
            user.set_password(uuid4().hex)
            try:
                user.save()
            except credentials.WrongCredentialsKey:
                return False
            return True

        assert is_accepted()
        settings.CREDENTIALS_KEY = f"{old},{ANOTHER_KEY}"
        assert credentials.store_keys(owner) == 2
        for both in (settings.CREDENTIALS_KEY, f"{ANOTHER_KEY},{old}", ANOTHER_KEY):
            settings.CREDENTIALS_KEY = both
            assert is_accepted()
        credentials.store_keys(owner)
        settings.CREDENTIALS_KEY = old
        assert not is_accepted()

    def test_that_the_database_does_not_have_stop_a_production_house(self, db, settings):
        assert check_credentials_key(None, ["default"]) == []
        settings.DEMO = False
        assert check_credentials_key(None, ["default"]) == []
        settings.CREDENTIALS_KEY = GOOD_KEY
        assert [fault.id for fault in check_credentials_key(None, ["default"])] == ["sabot.E026"]
