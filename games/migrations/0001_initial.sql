-- The parts of the tables of `games` that Django cannot declare.

-- Nobody plays against the house's own seats for real money.
ALTER TABLE games_tableversion ADD CONSTRAINT games_tableversion_practice_is_free
    CHECK (NOT ('R' = ANY (modes) AND jsonb_path_exists(limits, '$.*.house_players ? (@ > 0)')));

-- The transaction in which games_lock_solo_seat found that the player may play. A savepoint that gives back its locks
-- gives back this too. games_finish_solo_round takes it away: it counts for one round.
ALTER TABLE games_soloseat ADD COLUMN xid xid8;

-- The event that settled a solo round, for its receipt: the log of a house has a table for each month.
ALTER TABLE games_round ADD COLUMN event_id bigint;

-- The bets of a participation, one element for each, in the order in which they were placed. A row of
-- their own for each would take twice the time of the settlement. Only functions of the owner write them.
ALTER TABLE games_participation
    ADD COLUMN bets text[] NOT NULL,
    ADD COLUMN stakes bigint[] NOT NULL,
    ADD COLUMN payouts bigint[] NOT NULL,
    ADD COLUMN commissions bigint[] NOT NULL,
    ADD COLUMN results text[] NOT NULL;

-- One row for each bet of a participation, as Django's model reads them.
CREATE VIEW games_wager AS
SELECT part.id * 64 + bet.number AS id, part.id AS participation_id, bet.bet, bet.stake, bet.payout, bet.commission,
    bet.result
FROM games_participation AS part
CROSS JOIN LATERAL unnest(part.bets, part.stakes, part.payouts, part.commissions, part.results)
    WITH ORDINALITY AS bet (bet, stake, payout, commission, result, number);

-- The keys with which the dealer proves what it dealt, as HMAC-SHA256 uses them: 64 bytes, combined
-- with 0x36 and with 0x5c. `manage.py migrate` writes them, and only functions of the owner read them
-- (sql/functions/dealer.sql).
CREATE TABLE games_dealer_key (
    number smallint PRIMARY KEY,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL,
    CONSTRAINT games_dealer_key_block CHECK (octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);
