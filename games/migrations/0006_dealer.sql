-- The keys with which the dealer proves what it dealt, as HMAC-SHA256 uses them: 64 bytes, combined
-- with 0x36 and with 0x5c. `manage.py migrate` writes them, and only functions of the owner read them
-- (sql/functions/dealer.sql).
CREATE TABLE games_dealer_key (
    number smallint PRIMARY KEY,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL,
    CONSTRAINT games_dealer_key_block CHECK (octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);
