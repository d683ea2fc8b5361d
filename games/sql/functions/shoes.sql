-- Shoes of shared tables. A shoe keeps its commitment, and its cards are drawn once and in order.
--
-- The role of web and workers cannot write to games_shoe; it calls the functions below and those of
-- live_rounds.sql. games/shared/moves.py has a Python error for each SQLSTATE.
--   SB070 the table takes no new shoe or round now
--   SB071 the id or the commitment was used before
--   SB072 this does not fit the shoe, or the dealer has not said it
--   SB073 the shoe has ended, or the round is in another phase
--   SB074 the deadline has not passed
--   SB075 the bets of the round are not settled in this way
--   SB076 the table is not stopped in this way

-- Return the lines that name a shoe in what the dealer says: games.engine.commitments has them, too.
CREATE OR REPLACE FUNCTION games_shoe_binding(shoe games_shoe) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT concat('purpose=', CASE g.shape WHEN 'chemin' THEN 'chemin' ELSE 'shoe' END, E'\nid=', shoe.id, E'\ntable=', g.id,
                  E'\ndecks=', shoe.decks, E'\nrules=', shoe.rules_digest, E'\n')
    FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id WHERE t.id = shoe.live_table_id
$$;
REVOKE ALL ON FUNCTION games_shoe_binding FROM PUBLIC;

-- Return the leaf of a card in the tree of its shoe, as games.engine.card_tree does.
-- `place`: counted from 0 in dealing order.
CREATE OR REPLACE FUNCTION games_card_leaf(place integer, card text, salt bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT sha256('\x00'::bytea || convert_to(concat(
        E'sabot card v1\nplace=', place, E'\ncard=', card, E'\nsalt=', encode(salt, 'hex'), E'\n'), 'UTF8'))
$$;

-- Return whether cards with their salts, 16 bytes each, are those that the leaves of a shoe commit to.
-- `first`: number of cards that had left the shoe before. `cards`: such as "9H 4D KS 2C".
CREATE OR REPLACE FUNCTION games_are_committed(leaves bytea, first integer, cards text, salts bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT bool_and(games_card_leaf((first + c.n - 1)::integer, c.card, substr(salts, (16 * c.n - 15)::integer, 16))
                    = substr(leaves, (32 * (first + c.n) - 31)::integer, 32))
        AND octet_length(salts) = 16 * count(*)
    FROM unnest(string_to_array(cards, ' ')) WITH ORDINALITY AS c (card, n)
$$;

-- Put a new shoe on a live table, and return it. The dealer has committed to its seed and shuffled it.
-- `shoe`: its id, new everywhere: neither a round nor a solo seat has or had it.
-- `entropy`: what went into the shuffle in addition to the seed (games_entropy): "" unless players have cut the shoe.
-- A shoe that is being cut (games_begin_cut) is the next one, and is opened when that is over, and when the round of a
-- beacon that goes into it has come or is no longer awaited. `root` and `leaves`:
-- what the cards are committed to (games.engine.card_tree). `burned`: cards that have left the shoe
-- before the first round, of which `burn_card` is shown, with its salt.
-- Raises SB070 if there is no such table, or its shoe or its round has not ended, SB071 if the id or
-- the commitment was used before, SB072 if the dealer has not said this of the shoe, or burned cards or
-- the cut are outside the decks.
-- Locks the live table.
CREATE OR REPLACE FUNCTION games_open_shoe(
    live_table bigint, shoe uuid, commitment text, decks integer, rules text, entropy text, root text, leaves bytea,
    burn_card text, burn_salt bytea, burned integer, cut integer, dealer_key text, signature bytea, proof bytea)
RETURNS games_shoe
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    at_table games_livetable;
    opened games_shoe;
BEGIN
    SELECT t.* INTO at_table FROM games_livetable AS t WHERE t.id = live_table FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM games_shoe AS s WHERE s.id = at_table.shoe_id AND s.ended_at IS NULL)
       OR EXISTS (SELECT FROM games_liveround AS r
                  WHERE r.live_table_id = live_table AND r.phase IN ('betting', 'closed', 'dealt'))
    THEN
        RAISE EXCEPTION 'table % takes no new shoe now', live_table USING ERRCODE = 'SB070';
    END IF;
    IF EXISTS (SELECT FROM games_soloseat AS s WHERE s.round_id = shoe) OR EXISTS (SELECT FROM games_round AS r WHERE r.id = shoe)
       OR EXISTS (SELECT FROM games_liveround AS r WHERE r.id = shoe)
       OR EXISTS (SELECT FROM games_shoe AS s WHERE s.id = shoe OR s.commitment = games_open_shoe.commitment)
    THEN
        RAISE EXCEPTION 'shoe % has an id or a commitment that was used before', shoe USING ERRCODE = 'SB071';
    END IF;
    INSERT INTO games_shoe AS s (
        id, live_table_id, number, decks, rules_digest, commitment, entropy, root, burn_card, burn_salt, burned, cut, gone,
        dealer_key, signature, opened_at, ending)
    SELECT shoe, live_table, coalesce(max(before.number), 0) + 1, decks, rules, commitment, entropy, root, burn_card, burn_salt,
        burned, cut, burned, dealer_key, signature, clock_timestamp(), ''
    FROM games_shoe AS before WHERE before.live_table_id = live_table
    RETURNING s.* INTO opened;
    DELETE FROM games_shoecut AS c
    WHERE c.live_table_id = live_table AND c.shoe_id = shoe AND c.commitment = games_open_shoe.commitment
        AND c.open_until <= clock_timestamp();
    IF (NOT EXISTS (SELECT FROM games_shoecut AS c WHERE c.live_table_id = live_table)
        AND NOT EXISTS (SELECT FROM games_shoebeacon AS b
                        WHERE b.shoe_id = shoe AND b.signature = '' AND b.wait_until > clock_timestamp())
        AND entropy = games_entropy(shoe) AND decks BETWEEN 1 AND 8 AND burned < cut AND cut < 52 * decks AND (burn_card = '') = (burned = 0)
        AND burned BETWEEN 0 AND 11 AND octet_length(leaves) = 32 * 52 * decks
        AND (burned = 0 OR games_are_committed(leaves, 0, burn_card, burn_salt))
        AND games_is_of_dealer(concat(
            E'sabot shoe v1\nkey=', dealer_key, E'\n', games_shoe_binding(opened), 'commitment=', commitment, E'\nentropy=',
            encode(sha256(convert_to(entropy, 'UTF8')), 'hex'), E'\nroot=', root, E'\nburn=', burn_card, E'\nburned=', burned,
            E'\ncut=', cut, E'\nsignature=', encode(signature, 'hex'), E'\n'), proof)) IS NOT TRUE
    THEN
        RAISE EXCEPTION 'the dealer has not said that shoe % begins like this', shoe USING ERRCODE = 'SB072';
    END IF;
    INSERT INTO games_shoeleaves (shoe_id, leaves) VALUES (shoe, leaves);
    UPDATE games_livetable AS t SET shoe_id = shoe WHERE t.id = live_table;
    RETURN opened;
END $$;
REVOKE ALL ON FUNCTION games_open_shoe FROM PUBLIC;

-- Return the digest of the stakes of a round that takes no more bets, which binds the dealer to them: SHA-256
-- in hex of one line for each bet of a player, "player bet stake" at a shared table, "account stake" at
-- Chemin de Fer, separated by line feeds.
CREATE OR REPLACE FUNCTION games_stakes_digest(round uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(l.line, E'\n' ORDER BY l.player, l.line COLLATE "C"), ''), 'UTF8')), 'hex')
    FROM (
        SELECT s.player_id AS player, concat_ws(' ', s.player_id, bet.code, bet.stake) AS line
        FROM games_liveseat AS s CROSS JOIN LATERAL jsonb_each_text(s.stakes) AS bet (code, stake) WHERE s.round_id = round
        UNION ALL
        SELECT NULL, concat_ws(' ', stake.account, stake.amount) FROM games_coup_stakes(round) AS stake
        WHERE NOT EXISTS (SELECT FROM games_liveseat AS s WHERE s.round_id = round)
    ) AS l
$$;
REVOKE ALL ON FUNCTION games_stakes_digest FROM PUBLIC;

-- Return whether the transaction that wrote a version of a row has been committed: it is not this one.
-- `wrote`: the xmin of the row, which lacks the upper half of the number of its transaction.
CREATE OR REPLACE FUNCTION games_is_committed(wrote xid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(pg_xact_status((CASE
        WHEN x.following / x.epoch * x.epoch + x.low > x.following + x.epoch / 2
            THEN (x.following / x.epoch - 1) * x.epoch + x.low
        ELSE x.following / x.epoch * x.epoch + x.low END)::text::xid8) = 'committed', true)  -- NULL: long ago
    FROM (
        SELECT 4294967296 AS epoch, wrote::text::bigint AS low, pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS following
    ) AS x
$$;

-- Return the dealer's permission to take cards out of the shoe of a round now: how many cards have left
-- it, how many may follow (0 for those of a whole round), the digest of the stakes, and the HMAC of all.
-- No more bets are accepted then. That is committed, so nobody can see the cards and take it back: the
-- round of a shared table is closed and due, a coup of Chemin de Fer is closed for its first four cards.
-- The decision about a third card is not committed: the dealer proves to games_finish_coup
-- which cards it dealt, so a card that was seen cannot be replaced.
-- Raises SB073 if the shoe has ended or the round is in another phase, SB074 before its deadline.
CREATE OR REPLACE FUNCTION games_ask_for_cards(
    round uuid, OUT first integer, OUT count integer, OUT stakes text, OUT ticket bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    asks record;
BEGIN
    SELECT r.phase, r.deadline, r.shoe_id, s.gone, g.shape, games_is_committed(r.xmin) AS is_committed INTO asks
    FROM games_liveround AS r JOIN games_shoe AS s ON s.id = r.shoe_id AND s.ended_at IS NULL
    JOIN games_livetable AS t ON t.id = r.live_table_id JOIN games_table AS g ON g.id = t.table_id
    WHERE r.id = round;
    IF (asks.phase = 'closed' AND asks.is_committed OR asks.phase = 'dealt' AND asks.shape = 'chemin') IS NOT TRUE THEN
        RAISE EXCEPTION 'no card of round % is drawn now', round USING ERRCODE = 'SB073';
    END IF;
    IF asks.shape = 'shared' AND asks.deadline > clock_timestamp() THEN
        RAISE EXCEPTION 'round % is not due', round USING ERRCODE = 'SB074';
    END IF;
    first := asks.gone;
    count := CASE WHEN asks.shape = 'shared' THEN 0 WHEN asks.phase = 'closed' THEN 4 ELSE 1 END;
    stakes := games_stakes_digest(round);
    ticket := games_dealer_hmac(concat(
        E'sabot ticket v1\nshoe=', asks.shoe_id, E'\nround=', round, E'\nfirst=', first, E'\ncount=', count,
        E'\nstakes=', stakes, E'\n'));
END $$;
REVOKE ALL ON FUNCTION games_ask_for_cards FROM PUBLIC;

-- Let cards leave a shoe that the dealer has dealt for a round, and return the shoe.
-- `drawn`: the shoe, locked. The other values are those of the dealer's statement.
-- Raises SB072 if the dealer has not said this, or the shoe is not committed to these cards.
CREATE OR REPLACE FUNCTION games_take_cards(
    drawn games_shoe, round uuid, cards text, salts bytea, dealer_key text, signature bytea, proof bytea) RETURNS games_shoe
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    stakes text := games_stakes_digest(round);
BEGIN
    IF (cards ~ '^[2-9TJQKA][CDHS]( [2-9TJQKA][CDHS]){0,5}$' AND games_are_committed(
            (SELECT l.leaves FROM games_shoeleaves AS l WHERE l.shoe_id = drawn.id), drawn.gone, cards, salts)
        AND games_is_of_dealer(concat(
            E'sabot cards v1\nkey=', dealer_key, E'\n', games_shoe_binding(drawn), 'commitment=', drawn.commitment, E'\nround=',
            round, E'\nfirst=', drawn.gone, E'\nstakes=', stakes, E'\ncards=', cards, E'\nsalts=', encode(salts, 'hex'),
            E'\nsignature=', encode(signature, 'hex'), E'\n'), proof)) IS NOT TRUE
    THEN
        RAISE EXCEPTION 'shoe % does not give these cards', drawn.id USING ERRCODE = 'SB072';
    END IF;
    INSERT INTO games_dealtcards (shoe_id, first_card, round_id, cards, salts, sealed, stakes, dealer_key, signature)
    SELECT drawn.id, drawn.gone, round, CASE WHEN c.is_face_down THEN '' ELSE games_take_cards.cards END,
        CASE WHEN c.is_face_down THEN ''::bytea ELSE games_take_cards.salts END,
        CASE WHEN c.is_face_down
            THEN games_seal_cards(drawn.id, drawn.gone, convert_to(games_take_cards.cards, 'UTF8') || games_take_cards.salts)
            END,
        stakes, dealer_key, signature
    FROM (
        SELECT g.shape = 'chemin' AS is_face_down
        FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id WHERE t.id = drawn.live_table_id
    ) AS c;
    UPDATE games_shoe AS s SET gone = s.gone + cardinality(string_to_array(cards, ' ')) WHERE s.id = drawn.id
    RETURNING s.* INTO drawn;
    RETURN drawn;
END $$;
REVOKE ALL ON FUNCTION games_take_cards FROM PUBLIC;

-- Take cards of a coup of Chemin de Fer out of its shoe, where players decide whether to draw. Returns how
-- many cards have left it.
-- Raises SB073 if the shoe has ended or the coup takes no cards now, SB072 if the dealer has not dealt
-- these cards for it.
-- Locks the shoe.
CREATE OR REPLACE FUNCTION games_draw_cards(
    round uuid, cards text, salts bytea, dealer_key text, signature bytea, proof bytea) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    drawn games_shoe;
BEGIN
    SELECT s.* INTO drawn
    FROM games_shoe AS s JOIN games_liveround AS r ON r.shoe_id = s.id AND r.phase IN ('closed', 'dealt')
    JOIN games_livetable AS t ON t.id = r.live_table_id JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'chemin'
    WHERE r.id = round AND s.ended_at IS NULL FOR UPDATE OF s;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % takes no cards now', round USING ERRCODE = 'SB073';
    END IF;
    drawn := games_take_cards(drawn, round, cards, salts, dealer_key, signature, proof);
    RETURN drawn.gone;
END $$;
REVOKE ALL ON FUNCTION games_draw_cards FROM PUBLIC;

-- Encrypt cards with their salts, or decrypt them: combined with HMACs under the dealer's key over their place, which
-- has one content only. So a backup, which has no such key, has no card that is face down.
CREATE OR REPLACE FUNCTION games_seal_cards(shoe uuid, first integer, content bytea) RETURNS bytea
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    stream bytea := '';
    sealed bytea := content;
BEGIN
    FOR block IN 0 .. (octet_length(content) - 1) / 32 LOOP
        stream := stream || games_dealer_hmac(concat(
            E'sabot dealt cards v1\nshoe=', shoe, E'\nfirst=', first, E'\nblock=', block, E'\n'));
    END LOOP;
    FOR n IN 0 .. octet_length(content) - 1 LOOP
        sealed := set_byte(sealed, n, get_byte(content, n) # get_byte(stream, n));
    END LOOP;
    RETURN sealed;
END $$;
REVOKE ALL ON FUNCTION games_seal_cards FROM PUBLIC;

-- Return what was dealt from a shoe, in order, with cards and salts in clear.
-- `first`: only what left the shoe after this number of cards.
CREATE OR REPLACE FUNCTION games_dealt_cards(shoe uuid, first integer DEFAULT 0) RETURNS SETOF games_dealtcards
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    dealt games_dealtcards;
    content bytea;
    count integer;
BEGIN
    FOR dealt IN SELECT d.* FROM games_dealtcards AS d WHERE d.shoe_id = shoe AND d.first_card >= first ORDER BY d.first_card LOOP
        IF dealt.sealed IS NOT NULL THEN
            content := coalesce(games_seal_cards(shoe, dealt.first_card, dealt.sealed), '');  -- a copy without the key
            count := (octet_length(content) + 1) / 19;  -- two characters, a space but for the last, and a salt of 16 bytes
            dealt.salts := substr(content, 3 * count);
            BEGIN
                dealt.cards := convert_from(substr(content, 1, greatest(3 * count - 1, 0)), 'UTF8');
            EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
                dealt.cards := '';  -- sealed with another key
            END;
        END IF;
        RETURN NEXT dealt;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION games_dealt_cards FROM PUBLIC;

-- Return what the dealer dealt for a round, as a list for its event: {"cards", "dealer", "first_card", "salts",
-- "signature", "stakes"} each time cards left the shoe.
-- `first`: number of cards that had left the shoe before.
CREATE OR REPLACE FUNCTION games_dealt_for_event(shoe uuid, round uuid, first integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT concat('[', string_agg(concat(
        '{"cards":"', d.cards, '","dealer":"', d.dealer_key, '","first_card":', d.first_card, ',"salts":"',
        encode(d.salts, 'hex'), '","signature":"', encode(d.signature, 'hex'), '","stakes":"', d.stakes, '"}'),
        ',' ORDER BY d.first_card), ']')
    FROM games_dealt_cards(shoe, first) AS d WHERE d.round_id = round
$$;
REVOKE ALL ON FUNCTION games_dealt_for_event FROM PUBLIC;

-- End a shoe, and return the time. Its seed follows (games_publish_seed).
-- Raises SB073 if the shoe has ended already or a round of it has not, so that nobody bets on known
-- cards.
-- Locks the shoe.
CREATE OR REPLACE FUNCTION games_end_shoe(shoe uuid, ending text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ended games_shoe;
BEGIN
    SELECT s.* INTO ended FROM games_shoe AS s WHERE s.id = shoe AND s.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND OR EXISTS (
        SELECT FROM games_liveround AS r WHERE r.shoe_id = shoe AND r.phase IN ('betting', 'closed', 'dealt'))
    THEN
        RAISE EXCEPTION 'shoe % has ended, or its round has not', shoe USING ERRCODE = 'SB073';
    END IF;
    UPDATE games_shoe AS s SET ending = games_end_shoe.ending, ended_at = clock_timestamp()
    WHERE s.id = shoe RETURNING s.* INTO ended;
    RETURN ended.ended_at;
END $$;
REVOKE ALL ON FUNCTION games_end_shoe FROM PUBLIC;

-- Return the HMAC with which the dealer gives the seed of a shoe away: it has ended, and that is committed.
-- Raises SB073 otherwise.
CREATE OR REPLACE FUNCTION games_ask_for_seed(shoe uuid) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_shoe AS s WHERE s.id = shoe AND s.ended_at IS NOT NULL AND games_is_committed(s.xmin);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shoe % has not ended', shoe USING ERRCODE = 'SB073';
    END IF;
    RETURN games_dealer_hmac(concat(E'sabot end of shoe v1\nshoe=', shoe, E'\n'));
END $$;
REVOKE ALL ON FUNCTION games_ask_for_seed FROM PUBLIC;

-- Publish the seed of a shoe that has ended, and return whether it was not published before.
-- Raises SB073 if it has not ended, SB072 if the shoe is not committed to this seed.
CREATE OR REPLACE FUNCTION games_publish_seed(shoe uuid, seed bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    ended games_shoe;
BEGIN
    SELECT s.* INTO ended FROM games_shoe AS s WHERE s.id = shoe AND s.ended_at IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shoe % has not ended', shoe USING ERRCODE = 'SB073';
    END IF;
    IF games_shoe_commitment(ended, seed) IS DISTINCT FROM ended.commitment THEN
        RAISE EXCEPTION 'this is not the seed of shoe %', shoe USING ERRCODE = 'SB072';
    END IF;
    UPDATE games_shoe AS s SET seed = games_publish_seed.seed WHERE s.id = shoe AND s.seed IS NULL;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_publish_seed FROM PUBLIC;

-- Return the commitment to a seed of a shoe, in hex; NULL if it does not have 32 bytes.
CREATE OR REPLACE FUNCTION games_shoe_commitment(shoe games_shoe, seed bytea) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(
        concat(E'sabot commitment v2\n', games_shoe_binding(shoe), 'seed=', encode(seed, 'hex'), E'\n'), 'UTF8')), 'hex')
    WHERE octet_length(seed) = 32
$$;
REVOKE ALL ON FUNCTION games_shoe_commitment FROM PUBLIC;

-- Allow only forward changes of a shoe. Trigger function, BEFORE UPDATE on games_shoe.
-- The dealer's statements about it never change and drawn cards never return. After the shoe has ended,
-- nothing changes except that its seed is published: the one that was committed to.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.number, NEW.decks, NEW.rules_digest, NEW.commitment, NEW.entropy, NEW.root,
        NEW.burn_card, NEW.burn_salt, NEW.burned, NEW.cut, NEW.dealer_key, NEW.signature, NEW.opened_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.number, OLD.decks, OLD.rules_digest, OLD.commitment, OLD.entropy, OLD.root,
        OLD.burn_card, OLD.burn_salt, OLD.burned, OLD.cut, OLD.dealer_key, OLD.signature, OLD.opened_at)
    THEN
        RAISE EXCEPTION 'shoe % is committed to', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.gone < OLD.gone
       OR OLD.ended_at IS NOT NULL AND (NEW.gone, NEW.ended_at, NEW.ending) IS DISTINCT FROM (OLD.gone, OLD.ended_at, OLD.ending)
       OR OLD.seed IS NOT NULL AND NEW.seed IS DISTINCT FROM OLD.seed
    THEN
        RAISE EXCEPTION 'shoe % does not go back', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.seed IS NOT NULL AND games_shoe_commitment(OLD, NEW.seed) IS DISTINCT FROM NEW.commitment THEN
        RAISE EXCEPTION 'this is not the seed of shoe %', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
