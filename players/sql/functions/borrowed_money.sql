-- Money that is known to be borrowed. Staff mark a player with a reason, which ends deposits; two people remove the
-- mark.

-- Return whether staff know that the player deposits borrowed money: the newest row of players_borrowed_money
-- decides.
CREATE OR REPLACE FUNCTION players_borrows(player bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        (SELECT m.is_marked FROM players_borrowed_money AS m WHERE m.player_id = player ORDER BY m.id DESC LIMIT 1), false)
$$;

-- Check a new mark or its removal. Trigger function, BEFORE INSERT on players_borrowed_money. Sets `at` to the
-- database's time.
-- Raises check_violation (23514) if the player is so already, restrict_violation (23001) if the staff member lacks
-- the permission players.set_limits, or if a removal is not what an approval of kind borrowed.remove for this
-- player says, whose two people both still hold it.
-- Locks advisory lock (1009, player id): waits for deposits that are being credited or begun, which hold it shared.
CREATE OR REPLACE FUNCTION players_begin_borrowed_money() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1009, NEW.player_id::integer);
    IF players_borrows(NEW.player_id) = NEW.is_marked THEN
        RAISE EXCEPTION 'player % is so already', NEW.player_id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_staff AS s
        WHERE s.id = NEW.by_id AND players_staff_may('staff:' || s.id, s.person, 'players', 'set_limits'))
        OR NOT NEW.is_marked AND NOT EXISTS (
            SELECT FROM audit_approval AS asked
            JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
            WHERE asked.id = NEW.approval_id AND asked.kind = 'borrowed.remove' AND asked."on" = 'player:' || NEW.player_id
              AND asked.request::jsonb @> jsonb_build_object('player', NEW.player_id, 'mark', (
                  SELECT max(m.id) FROM players_borrowed_money AS m WHERE m.player_id = NEW.player_id))
              AND decided."by" = 'staff:' || NEW.by_id
              AND players_staff_may(asked."by", asked.person, 'players', 'set_limits')
              AND players_staff_may(decided."by", decided.person, 'players', 'set_limits'))
    THEN
        RAISE EXCEPTION 'staff % may not do this alone', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
