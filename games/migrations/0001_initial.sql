-- What Django cannot declare about the tables of `games`.

-- Nobody plays against the house's own seats for real money.
ALTER TABLE games_tableversion ADD CONSTRAINT games_tableversion_practice_is_free
    CHECK (NOT ('R' = ANY (modes) AND jsonb_path_exists(limits, '$.*.house_players ? (@ > 0)')));

-- Nobody looks up a wager by its id, so it has no index of it; games_wager_once makes wagers unique.
ALTER TABLE games_wager DROP CONSTRAINT games_wager_pkey;

-- The keys with which the dealer proves what it dealt, as HMAC-SHA256 uses them: 64 bytes, combined
-- with 0x36 and with 0x5c. `manage.py migrate` writes them, and only functions of the owner read them
-- (sql/functions/dealer.sql).
CREATE TABLE games_dealer_key (
    number smallint PRIMARY KEY,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL,
    CONSTRAINT games_dealer_key_block CHECK (octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);
