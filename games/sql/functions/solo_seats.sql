-- Seats at solo tables. A seat is committed to its next round before anything is staked on it.

-- Create a player's seat at a solo table, commit it to its first round, and record `seat.committed`.
-- An existing seat keeps its commitment.
-- `mode`: R or F. `round`: id of the round. `commitment`: the dealer's, in hex. `sealed_seed`: the seed,
-- encrypted by the dealer. `rules`: digest of the rules that the commitment names.
-- Raises SB062 for a table of another shape.
CREATE OR REPLACE FUNCTION games_take_solo_seat(
    player bigint, game_table bigint, mode text, round uuid, commitment text, sealed_seed bytea, rules text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_table AS t WHERE t.id = game_table AND t.shape = 'solo';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no solo seats', game_table USING ERRCODE = 'SB062';
    END IF;
    INSERT INTO games_soloseat (
        player_id, table_id, mode, round_id, commitment, sealed_seed, rules_digest, slip, slip_version, undo, last_stakes
    ) VALUES (
        player, game_table, games_take_solo_seat.mode, round, games_take_solo_seat.commitment,
        games_take_solo_seat.sealed_seed, rules, '{}', 0, '[]', '{}'
    ) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM games_note_commitment(player, game_table, mode, round, commitment, rules, 'taken', NULL);
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_take_solo_seat FROM PUBLIC;

-- Commit a seat to another round because the round it is committed to cannot be dealt, and record
-- `seat.committed` with the reason. Its bets stay. Return whether the seat was committed to `spent`.
-- `reason`: expired, dealt or foreign, with the dealer's `proof` that it does not deal this commitment
-- (refusal_text in games/engine/commitments.py); rules, or restored in a restored copy, if the seat is
-- committed to a round of other rules than those in force. The others as for games_take_solo_seat.
-- Raises SB060 for another reason, a round without a commitment, or rules that are not in force; SB066
-- without a proof.
--
-- Locks the seat.
CREATE OR REPLACE FUNCTION games_renew_solo_seat(
    seat bigint, spent uuid, reason text, proof bytea, round uuid, commitment text, sealed_seed bytea, rules text
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held record;
BEGIN
    SELECT s.player_id, s.table_id, s.mode, s.commitment, s.sealed_seed, s.rules_digest, v.rules_digest AS in_force, c.decks
    INTO held
    FROM games_soloseat AS s
    JOIN games_table AS t ON t.id = s.table_id
    LEFT JOIN games_tableversion AS v ON v.id = t.version_id
    LEFT JOIN games_betcombinations AS c ON c.rules_digest = s.rules_digest
    WHERE s.id = seat AND s.round_id = spent
    FOR UPDATE OF s;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF reason IN ('expired', 'dealt', 'foreign') THEN
        IF games_is_of_dealer(concat(
            E'sabot refusal v1\nreason=', reason, E'\npurpose=solo\nid=', spent, E'\ntable=', held.table_id, E'\ndecks=',
            held.decks, E'\nrules=', held.rules_digest, E'\ncommitment=', held.commitment, E'\nsealed=',
            encode(sha256(held.sealed_seed), 'hex'), E'\n'), proof) IS NOT TRUE THEN
            RAISE EXCEPTION 'nothing proves that the dealer does not deal round %', spent USING ERRCODE = 'SB066';
        END IF;
    ELSIF (reason = CASE WHEN held.rules_digest = '' THEN 'restored' WHEN held.rules_digest <> held.in_force THEN 'rules' END)
          IS NOT TRUE THEN
        RAISE EXCEPTION 'round % of seat % can be dealt', spent, seat USING ERRCODE = 'SB060';
    END IF;
    IF rules IS DISTINCT FROM held.in_force OR round IS NULL OR round = spent OR commitment !~ '^[0-9a-f]{64}$'
       OR octet_length(sealed_seed) IS NOT DISTINCT FROM 0 THEN
        RAISE EXCEPTION 'seat % cannot be committed to round %', seat, round USING ERRCODE = 'SB060';
    END IF;
    UPDATE games_soloseat AS s
    SET round_id = round, commitment = games_renew_solo_seat.commitment,
        sealed_seed = games_renew_solo_seat.sealed_seed, rules_digest = rules
    WHERE s.id = seat;
    PERFORM games_note_commitment(held.player_id, held.table_id, held.mode, round, commitment, rules, reason, spent);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION games_renew_solo_seat FROM PUBLIC;

-- Record `seat.committed`: a commitment that does not come with the event of the round before.
-- `spent`: the round that it replaces, or NULL.
CREATE OR REPLACE FUNCTION games_note_commitment(
    player bigint, game_table bigint, mode text, round uuid, commitment text, rules text, reason text, spent uuid
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    done text;
BEGIN
    done := audit_append('seat.committed', 'player:' || player, 'round:' || round, concat(
        '{"by":"player:', player, '","data":{"commitment":', to_json(commitment), ',"mode":', to_json(mode), ',"reason":"',
        reason, '","rules":', to_json(rules), ',"spent":', coalesce('"' || spent || '"', 'null'), ',"table":', game_table,
        '},"kind":"seat.committed","on":"round:', round, '"}'));
END $$;
REVOKE ALL ON FUNCTION games_note_commitment FROM PUBLIC;

-- Lock a player's seat at a solo table and the account that the game plays on until the transaction
-- ends, and return everything that decides whether a round may begin there, and what its page shows.
-- `mode`: R or F. `purses`: the variants that are played on a purse. `terms`, `playing`, `usual`: as for
-- players_ineligibility. `deals`: whether a round is to be finished in this transaction. Then, if the player may play
-- and the house is open, the seat notes that for games_finish_solo_round, which does not ask again.
-- Returns no row without a seat. First come the columns of the seat, then those of the table, as their
-- models have them. `account`: id; `balance`, `held`: minor units. `reason`: why the player may not play,
-- or NULL. `is_stopped`: whether the house is. `room`: as of wallet_room, for a stake of real money.
-- `sits`: whether the player plays here: the jurisdiction allows play at several tables, or the player
-- opened this one last. `elsewhere`: if it does not, as of games_round_elsewhere. `wait`: seconds until another game may begin here, of games_wait_of.
-- `play_session`: that of `playing`, NULL if it has not begun. `moment`: the time.
-- `has_announcements`: whether staff have a notice to everybody that is not over. `has_void_notices`:
-- whether the player has to be notified of a void round.
--
-- Exclusions, a house stop, changes of the table and the opening of another table wait until the
-- transaction ends. The table is locked before the seat, and the account last.
CREATE OR REPLACE FUNCTION games_lock_solo_seat(
    player bigint, game_table bigint, mode text, purses text[], terms text, playing uuid, usual integer, deals boolean
) RETURNS TABLE (
    seat games_soloseat, of_table games_table, account bigint, balance bigint, held bigint, reason text,
    is_stopped boolean, room text, sits boolean, elsewhere text, wait double precision, play_session players_playsession, moment timestamptz,
    has_announcements boolean, has_void_notices boolean
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    held_off_exclusions text := players_hold_off_exclusions(player);
    held_off_stops text := wallet_hold_off_stops();
    read record;
BEGIN
    WITH last AS MATERIALIZED (SELECT o.table_id, o.mode FROM games_opentable AS o WHERE o.player_id = player FOR SHARE)
    SELECT s AS seat, t AS of_table, a.id AS account, a.balance, a.held,
           r.reason, EXISTS (SELECT FROM wallet_housestop AS h WHERE h.ended_at IS NULL) AS is_stopped,
           CASE WHEN s.mode = 'R' AND EXISTS (
               SELECT FROM players_limitchange AS c WHERE c.player_id = player AND c.kind = ANY (wallet_limits_on('stake'))
           ) THEN wallet_room(player, 'stake') END AS room,
           j.may_play_in_parallel OR EXISTS (SELECT FROM last WHERE last.table_id = s.table_id AND last.mode = s.mode) AS sits,
           CASE WHEN NOT j.may_play_in_parallel THEN games_round_elsewhere(player, s.round_id) END AS elsewhere,
           w.seconds AS wait, l AS play_session,
           EXISTS (SELECT FROM players_notice AS n WHERE n.withdrawn_at IS NULL AND n.shown_until > clock_timestamp())
               AS has_announcements,
           EXISTS (SELECT FROM games_voidpart AS v WHERE v.player_id = player
               AND NOT EXISTS (SELECT FROM games_voidnotice AS n WHERE n.part_id = v.id)) AS has_void_notices
    INTO read
    FROM games_table AS t
    JOIN games_soloseat AS s ON s.player_id = player AND s.table_id = t.id AND s.mode = games_lock_solo_seat.mode
    JOIN wallet_account AS a ON a.owner_id = player AND a.mode = s.mode
        AND a.kind = CASE WHEN t.variant = ANY (purses) THEN 'purse' ELSE 'cash' END
    JOIN players_player AS p ON p.id = player
    JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    CROSS JOIN players_reason_against_play(player, terms, s.mode = 'R' AND NOT p.uses_operator_wallet, playing, usual) AS r
    CROSS JOIN games_wait_of(player, games_lock_solo_seat.mode) AS w
    LEFT JOIN players_playsession AS l ON l.session = playing AND l.player_id = player
    WHERE t.id = game_table
    FOR SHARE OF t FOR UPDATE OF s, a;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    seat := read.seat;
    of_table := read.of_table;
    account := read.account;
    balance := read.balance;
    held := read.held;
    reason := read.reason;
    is_stopped := read.is_stopped;
    room := read.room;
    sits := read.sits;
    elsewhere := read.elsewhere;
    wait := read.wait;
    play_session := read.play_session;
    moment := clock_timestamp();
    has_announcements := read.has_announcements;
    has_void_notices := read.has_void_notices;
    IF deals AND reason IS NULL AND NOT is_stopped THEN
        UPDATE games_soloseat AS s SET xid = pg_current_xact_id() WHERE s.id = seat.id;
    END IF;
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION games_lock_solo_seat FROM PUBLIC;
