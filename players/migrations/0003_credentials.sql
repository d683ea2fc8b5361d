-- What changes of credentials are proven with. Only the owner's functions read and write these tables
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
