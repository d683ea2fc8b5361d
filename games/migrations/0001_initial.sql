-- What Django cannot declare about the tables of `games`.

-- Nobody plays against the house's own seats for real money.
ALTER TABLE games_tableversion ADD CONSTRAINT games_tableversion_practice_is_free
    CHECK (NOT ('R' = ANY (modes) AND jsonb_path_exists(limits, '$.*.house_players ? (@ > 0)')));

-- Nobody looks up a wager by its id, so it has no index of it; games_wager_once makes wagers unique.
ALTER TABLE games_wager DROP CONSTRAINT games_wager_pkey;
