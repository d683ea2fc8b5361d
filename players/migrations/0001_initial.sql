-- The parts of the tables of `players` that Django cannot declare.

ALTER TABLE players_limitchange ALTER asked_at SET DEFAULT clock_timestamp();

-- `xid` is the transaction that wrote the row: a change of staff counts in that transaction only.
ALTER TABLE players_staff_change
    ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    ADD CONSTRAINT players_staff_change_kind CHECK (kind IN ('staff.make', 'staff.roles', 'staff.suspend', 'staff.disable', 'staff.enable', 'staff.factors')),
    ADD CONSTRAINT players_staff_change_two_people CHECK (approval_id IS NOT NULL OR kind = 'staff.make');

-- No two notices in force announce overlapping times.
ALTER TABLE players_notice
    ADD CONSTRAINT players_notice_times CHECK (begins_at < ends_at AND shown_from < shown_until),
    ADD CONSTRAINT players_notice_withdrawal CHECK (
        (withdrawn_at IS NULL) = (withdrawn_by_id IS NULL) AND (withdrawn_at IS NULL) = (btrim(reason) = '')),
    ADD CONSTRAINT players_notice_once EXCLUDE USING gist (tstzrange(begins_at, ends_at) WITH &&) WHERE (withdrawn_at IS NULL);

ALTER TABLE players_api_token
    ADD CONSTRAINT players_api_token_rate CHECK (per_minute > 0),
    ADD CONSTRAINT players_api_token_is_hashed CHECK (octet_length(digest) = 32),
    ADD CONSTRAINT players_api_token_is_for_something CHECK (cardinality(scopes) > 0);

ALTER TABLE players_api_call
    ADD CONSTRAINT players_api_call_has_a_key CHECK (key <> ''),
    ADD CONSTRAINT players_api_call_is_hashed CHECK (octet_length(request_hash) = 32),
    ADD CONSTRAINT players_api_call_status CHECK (status = 0 OR status BETWEEN 200 AND 499);

-- Proofs of changes of credentials. Only the owner's functions read and write these tables
-- (sql/functions/credentials.sql).

-- The keys of CREDENTIALS_KEY as HMAC-SHA256 uses them: 64 bytes, combined with 0x36 and with 0x5c.
-- `manage.py migrate` writes them.
CREATE TABLE players_credential_key (
    number smallint PRIMARY KEY,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL,
    CONSTRAINT players_credential_key_block CHECK (octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);

-- The number of proven changes of each user. A proof names it, so that it is accepted once.
CREATE TABLE players_credential (
    user_id bigint PRIMARY KEY REFERENCES players_user,
    version bigint NOT NULL DEFAULT 0
);

-- Changes that were proven and not made yet, each for the connection that proved it.
CREATE TABLE players_credential_permit (
    user_id bigint NOT NULL REFERENCES players_credential,
    change text NOT NULL,
    pid integer NOT NULL DEFAULT pg_backend_pid(),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX players_credential_permit_of ON players_credential_permit (user_id);

-- Room in the pages, so that updates touch no index.
ALTER TABLE players_playsession SET (fillfactor = 70);
ALTER TABLE players_playtime SET (fillfactor = 70);

-- Django's migrations make it a bigint, and its model an integer.
ALTER TABLE auth_group_permissions ALTER id TYPE bigint;
