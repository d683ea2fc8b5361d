"""Attacks on credentials: passwords, addresses, second factors, tokens, and the proofs of their changes."""

from tests.attacks.attack import Attack, changed, nothing, twice

USER, FACTOR, ADDRESS, TOKEN = "players_user", "mfa_authenticator", "account_emailaddress", "players_api_token"
NUMBER, KEY, PERMIT = "players_credential", "players_credential_key", "players_credential_permit"
ONE_TOTP = "(SELECT id FROM mfa_authenticator WHERE type = 'totp' ORDER BY id LIMIT 1)"
ONE_PLAYER = "(SELECT user_id FROM players_player ORDER BY id LIMIT 1)"
STAFF = "(SELECT user_id FROM players_staff ORDER BY id LIMIT 1)"


def unproven(table: str, guard: str, **actions: str) -> list[Attack]:
    """Return attacks of the login role without a proof; the owner's functions need no proof."""
    return [
        Attack(table, guard, action, name=name.replace("_", " "), by_login=True) for name, action in actions.items()
    ]


ATTACKS: list[Attack] = [
    *nothing(USER, "created_at email id is_active is_demo is_superuser language password"),
    *nothing(FACTOR, "created_at data id type user_id"),
    *nothing(ADDRESS, "email id primary user_id verified"),
    *nothing(NUMBER, "user_id version"),
    *nothing(KEY, "inner_pad number outer_pad"),
    *nothing(PERMIT, "at change pid user_id"),
    twice(USER, "players_user_pkey"),
    twice(USER, "players_user_email_key"),
    twice(FACTOR, "mfa_authenticator_pkey"),
    twice(FACTOR, "unique_authenticator_type", "type = 'totp'"),
    twice(ADDRESS, "account_emailaddress_pkey"),
    twice(ADDRESS, "account_emailaddress_user_id_email_987c8728_uniq"),
    twice(ADDRESS, "unique_primary_email", '"primary"'),
    twice(ADDRESS, "unique_verified_email", "verified"),
    twice(NUMBER, "players_credential_pkey"),
    twice(KEY, "players_credential_key_pkey"),
    changed(USER, "players_user_email_lower", "email = upper(email)"),
    changed(USER, "players_user_no_superuser", "is_superuser = true"),
    changed(FACTOR, "mfa_authenticator_user_id_0c3a50c0_fk_players_user_id", "user_id = -1"),
    changed(ADDRESS, "account_emailaddress_user_id_2c513194_fk_players_user_id", "user_id = -1"),
    changed(NUMBER, "players_credential_user_id_fkey", "user_id = -1"),
    changed(PERMIT, "players_credential_permit_user_id_fkey", "user_id = -1"),
    changed(KEY, "players_credential_key_block", "inner_pad = ''"),
    Attack(FACTOR, "players_factor_identity", f"UPDATE {FACTOR} SET user_id = {ONE_PLAYER} WHERE id = {ONE_TOTP}"),
    Attack(ADDRESS, "players_address_identity", f"UPDATE {ADDRESS} SET id = id + 1000000"),
    Attack(FACTOR, "players_factors_reset_is_approved", f"DELETE FROM {FACTOR}"),
    Attack(USER, "players_user_status_is_approved", f"UPDATE {USER} SET is_active = false WHERE id = {STAFF}"),
    *unproven(
        USER,
        "players_user_is_proven",
        hashed=f"UPDATE {USER} SET password = '' WHERE id = {STAFF}",
        address=f"UPDATE {USER} SET email = 'known@example.com' WHERE id = {STAFF}",
    ),
    *unproven(
        FACTOR,
        "players_factor_is_proven",
        another=f"INSERT INTO {FACTOR} (user_id, type, data, created_at) VALUES ({STAFF}, 'webauthn', '{{}}', now())",
        changed=f"UPDATE {FACTOR} SET data = '{{}}' WHERE id = {ONE_TOTP}",
    ),
    *unproven(
        ADDRESS,
        "players_address_is_proven",
        another=f"INSERT INTO {ADDRESS} (user_id, email, verified, \"primary\") VALUES ({STAFF}, 'x@y.z', true, false)",
        changed=f"UPDATE {ADDRESS} SET email = 'x@y.z' WHERE user_id = {STAFF}",
        removed=f"DELETE FROM {ADDRESS} WHERE user_id = {STAFF}",
    ),
    *unproven(
        "players_registercheck",
        "players_registercheck_begins",
        clear="INSERT INTO players_registercheck (player_id, register, outcome)"
        " SELECT id, 'national', 'clear' FROM players_player ORDER BY id LIMIT 1",
    ),
    *unproven(
        "audit_approval",
        "audit_approval_is_proven",
        forged='INSERT INTO audit_approval (kind, "on", request, sha256, "by", person, reason, expires_at)'
        " SELECT 'balance.adjust', 'player:1', '{}', sha256('{}'), 'staff:' || id, person, 'x', now() + interval '1 d'"
        " FROM players_staff ORDER BY id LIMIT 1",
    ),
    *unproven(
        "audit_decision",
        "audit_decision_is_proven",
        forged='INSERT INTO audit_decision (approval_id, verdict, "by", asker, person, reason)'
        " SELECT a.id, 'approved', 'staff:' || s.id, a.person, s.person, 'x' FROM audit_approval AS a"
        " JOIN players_staff AS s ON s.person <> a.person"
        " LEFT JOIN audit_decision AS d ON d.approval_id = a.id"
        " WHERE d IS NULL AND a.expires_at > now() ORDER BY a.id, s.id LIMIT 1",
    ),
    *unproven(
        TOKEN,
        "players_api_token_is_proven",
        another=f"INSERT INTO {TOKEN} (user_id, name, start, digest, scopes, per_minute, ends_at, used_from)"
        f" VALUES ({ONE_PLAYER}, 'x', 'x', sha256('mine'), '{{play}}', 60, now() + interval '1 day', '')",
    ),
]
