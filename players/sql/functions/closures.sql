-- Closing of accounts. Only these functions and players_forget write players_closure. Times are the
-- database's.
--
--   SB082 the person named may not do this to this player
--   SB134 an account that closes, or lets its player in again, without a proof

-- Begin to close an account, as its player asks.
-- `proof`: that of players_is_proven_here for "close" and the id of the player. A process that has the
-- key has seen the player ask.
-- Returns whether it is new: false if the account is closing, closed or erased.
-- Raises SB134 for a wrong proof.
-- Concurrent calls wait for each other.
CREATE OR REPLACE FUNCTION players_begin_closure(player bigint, proof bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF players_is_proven_here('close', player::text, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that player % closes the account', player USING ERRCODE = 'SB134';
    END IF;
    INSERT INTO players_closure (player_id, state, by, at) VALUES (player, 'closing', 'player:' || player, clock_timestamp())
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_begin_closure FROM PUBLIC;

-- Close an account that is closing, or close it again after players_reopen_log_in. Nobody can log in
-- afterwards: second factors and the e-mail address of the log-in are deleted.
-- `asked_by`: 'player:<id>' of the player, or 'system'.
-- Returns whether anything changed: false if the account is open, closed already or erased.
-- Raises no_data_found (P0002) for an unknown player, SB082 for another `asked_by`.
-- Locks the user.
CREATE OR REPLACE FUNCTION players_finish_closure(player bigint, asked_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    login players_user%ROWTYPE;
    last text;
BEGIN
    IF asked_by IN ('system', 'player:' || player) IS NOT TRUE THEN
        RAISE EXCEPTION '% does not close the account of player %', asked_by, player USING ERRCODE = 'SB082';
    END IF;
    SELECT u.* INTO STRICT login FROM players_user AS u JOIN players_player AS p ON p.user_id = u.id
    WHERE p.id = player FOR NO KEY UPDATE OF u;
    SELECT c.state INTO last FROM players_closure AS c WHERE c.player_id = player ORDER BY c.id DESC LIMIT 1;
    IF last = 'closing' THEN
        INSERT INTO players_closure (player_id, state, by, at) VALUES (player, 'closed', asked_by, clock_timestamp());
    ELSIF (last = 'closed' AND login.is_active) IS NOT TRUE THEN
        RETURN false;
    END IF;
    UPDATE players_user SET is_active = false WHERE id = login.id;
    DELETE FROM mfa_authenticator WHERE user_id = login.id;
    DELETE FROM account_emailaddress WHERE user_id = login.id;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION players_finish_closure FROM PUBLIC;

-- Let the player of a closed account log in again, until players_finish_closure runs again.
-- `proof`: that of players_is_proven_here for "let in" and the id of the player.
-- Returns whether anything changed: false if the account is not closed, or the player may log in.
-- Raises no_data_found (P0002) for an unknown player, SB134 for a wrong proof.
-- Locks the user.
CREATE OR REPLACE FUNCTION players_reopen_log_in(player bigint, proof bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    login players_user%ROWTYPE;
    last text;
BEGIN
    IF players_is_proven_here('let in', player::text, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that player % is let in', player USING ERRCODE = 'SB134';
    END IF;
    SELECT u.* INTO STRICT login FROM players_user AS u JOIN players_player AS p ON p.user_id = u.id
    WHERE p.id = player FOR NO KEY UPDATE OF u;
    SELECT c.state INTO last FROM players_closure AS c WHERE c.player_id = player ORDER BY c.id DESC LIMIT 1;
    IF login.is_active OR last IS DISTINCT FROM 'closed' THEN
        RETURN false;
    END IF;
    UPDATE players_user SET is_active = true WHERE id = login.id;
    INSERT INTO account_emailaddress (user_id, email, verified, "primary") VALUES (login.id, login.email, true, true);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION players_reopen_log_in FROM PUBLIC;

-- Begin to close an account, as two people agreed on a request of its player by law: an approval of kind account.erase
-- for this player, approved. The erasure follows by the retention of closed accounts, as for every other.
-- Returns whether it is new: false if the account is closing, closed or erased.
-- Raises SB082 unless both still may.
CREATE OR REPLACE FUNCTION players_close_as_asked(player bigint, approval bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    decider text;
BEGIN
    SELECT decided."by" INTO decider FROM audit_approval AS asked
    JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
    WHERE asked.id = approval AND asked.kind = 'account.erase' AND asked."on" = 'player:' || player
      AND asked.request::jsonb @> jsonb_build_object('player', player)
      AND players_staff_may(asked."by", asked.person, 'audit', 'handle_significant')
      AND players_staff_may(decided."by", decided.person, 'audit', 'handle_significant');
    IF decider IS NULL THEN
        RAISE EXCEPTION 'closing the account of player % takes two people', player USING ERRCODE = 'SB082';
    END IF;
    INSERT INTO players_closure (player_id, state, by, at) VALUES (player, 'closing', decider, clock_timestamp())
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_close_as_asked FROM PUBLIC;
