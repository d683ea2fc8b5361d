-- Squeezes: which player turns the cards of a hand at a shared table, and how far. Everybody sees it, and it decides
-- nothing. Only these functions write games_squeeze, which has one row for each table and hand.

-- Let the players with the largest stakes on Player and on Banker turn the cards of that hand. A hand that nobody
-- has bet on is turned by the house. Called when bets close.
-- Stakes in several currencies are compared in smallest bets of the table. Of equal stakes the seat that was taken
-- first counts.
CREATE OR REPLACE FUNCTION games_grant_squeezes(round uuid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO games_squeeze AS q (live_table_id, side, round_id, player_id, card, share, turned, at)
    SELECT DISTINCT ON (hand.side) r.live_table_id, hand.side, r.id, s.player_id, 0, 0, '{}', NULL
    FROM games_liveround AS r JOIN games_tableversion AS v ON v.id = r.version_id
    JOIN games_liveseat AS s ON s.round_id = r.id
    CROSS JOIN (VALUES ('player'), ('banker')) AS hand (side)
    WHERE r.id = round AND s.stakes ? hand.side
    ORDER BY hand.side, (s.stakes ->> hand.side)::numeric / (v.limits -> s.currency -> 'bets' -> hand.side ->> 0)::numeric DESC,
        s.id
    ON CONFLICT (live_table_id, side) DO UPDATE SET (round_id, player_id, card, share, turned, at)
        = (excluded.round_id, excluded.player_id, excluded.card, excluded.share, excluded.turned, excluded.at)
$$;
REVOKE ALL ON FUNCTION games_grant_squeezes FROM PUBLIC;

-- Note how far a player has lifted a card of the hand that is theirs to turn, and return whether that was noted.
-- `side`: the hand, player or banker. `card`: its first, second or third card; 0 before the deal, when the player says
-- that they will turn the cards. `share`: percent; a card that is turned over (100) stays so.
-- Only the player that games_grant_squeezes chose, in the table's current round, after its bets have closed; nothing
-- is dealt, paid or delayed by it. Ten a second are noted, and each turned card.
CREATE OR REPLACE FUNCTION games_squeeze(
    live_table bigint, round uuid, player bigint, side text, card integer, share integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    UPDATE games_squeeze AS q SET card = card, share = share, at = clock_timestamp(),
        turned = CASE WHEN share = 100 THEN q.turned || card::smallint ELSE q.turned END
    FROM games_livetable AS t JOIN games_liveround AS r ON r.id = t.round_id
    WHERE t.id = live_table AND r.id = round AND q.live_table_id = t.id AND q.side = side AND q.round_id = r.id
        AND q.player_id = player AND share BETWEEN 0 AND 100 AND card <> ALL (q.turned)
        AND CASE WHEN card = 0 THEN r.phase = 'closed' AND share = 0 AND q.at IS NULL
            ELSE card BETWEEN 1 AND 3 AND r.phase IN ('dealt', 'settled') AND q.at IS NOT NULL
                AND (share = 100 OR q.at < clock_timestamp() - interval '100 milliseconds') END;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_squeeze FROM PUBLIC;
